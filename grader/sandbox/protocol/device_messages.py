"""Messages about findings for the student: what happened, and what to do about it."""

from __future__ import annotations

STEPS = {
    "mixed_devices": "Make every tensor on the device of the input, with device=q.device or torch.full_like(q, ...). "
    "Move an argument from another device once, with .to(q.device).",
    "host_sync": "Keep the numbers in tensors. The CPU queues work for the GPU and should not wait for its results.",
    "round_trip": "Stay on the GPU: it can do this operation too.",
    "made_on_cpu": "Make it on the device of the input: device=q.device.",
    "moved_more_than_once": "Move it once, before its first use, and keep the result of the move.",
    "left_on_cpu": "Return every tensor on the device of the input.",
}
# Why it is unknown what a line did on the GPU. This is not a mistake: an instructor must check.
UNWATCHED = {
    "compiled": "compiled code runs",
    "memory": "the memory of a tensor is read directly",
    "subclass": "a class of your own stands in for a tensor",
    "thread": "a thread runs",
    "watching_off": "operations run that the simulated GPU cannot see",
}
KINDS = frozenset(STEPS) | {"unwatched"}
# What the student wrote, by torch's name for it.
WRITTEN = {
    "": "an operation",
    "__array__": "a tensor passed to NumPy",
    "__bool__": "a tensor used as a condition (by `if`, `while`, `assert`, `and`, max() or bool())",
    "__contains__": "`in` on a tensor",
    "__float__": "float() of a tensor",
    "__format__": "a tensor formatted as text",
    "__getitem__": "indexing",
    "__index__": "a tensor used as an integer (in range(), a slice or a list)",
    "__int__": "int() of a tensor",
    "__repr__": "a tensor printed",
    "__setitem__": "an assignment by index",
    "mask": "a boolean mask as an index",
} | {name: f".{name}()" for name in ("cpu", "item", "numpy", "to", "tolist", "type", "type_as")}


def what_happened(kind: str, name: str, origin: int) -> str:
    """Describe a finding, given the torch function and the line that a tensor came from."""
    did = WRITTEN.get(name) or f"{name.strip('_')}()"
    where = f" in line {origin}" if origin else ""
    match kind:
        case "unwatched":
            return UNWATCHED[name]
        case "mixed_devices":
            made = f", made{where}" if origin else ""
            return f"{did} of a tensor on cuda:0 and one on the CPU{made}"
        case "host_sync":
            return f"{did}: the CPU waits for the GPU"
        case "round_trip":
            return f"a tensor that was copied to the CPU{where} is copied back to the GPU"
        case "made_on_cpu":
            return f"a tensor made on the CPU{where} is copied to the GPU"
        case "moved_more_than_once":
            return "the same tensor is copied to the GPU again"
        case _:
            return "a tensor of the result is on the CPU, but the input is on the GPU"
