"""Sentences about findings, for the student: what happened, and what to do about it."""

from __future__ import annotations

STEPS = {
    "mixed_devices": "Make every tensor where the input lives, with device=q.device or torch.full_like(q, ...), and "
    "move one that was given on another device once, with .to(q.device).",
    "host_sync": "Keep the numbers in tensors: the CPU queues work for the GPU and should not wait for its results.",
    "round_trip": "Stay on the GPU: it has the operation, too.",
    "made_on_cpu": "Make it where the input lives from the start: device=q.device.",
    "moved_more_than_once": "Move it once, before it is first used, and keep what comes back.",
    "left_on_cpu": "Return every tensor on the device of the input.",
}
KINDS = frozenset(STEPS)
# What a student wrote, by the name torch has for it.
WRITTEN = {
    "": "an operation",
    "__array__": "a tensor given to NumPy",
    "__bool__": "a tensor asked whether it is true (by `if`, `while`, `assert`, `and`, max() or bool())",
    "__contains__": "`in` on a tensor",
    "__float__": "float() of a tensor",
    "__format__": "a tensor in a text",
    "__getitem__": "indexing",
    "__index__": "a tensor used as a whole number (in range(), a slice or a list)",
    "__int__": "int() of a tensor",
    "__repr__": "a tensor printed",
    "__setitem__": "an assignment to an index",
    "mask": "a boolean mask as an index",
} | {name: f".{name}()" for name in ("cpu", "item", "numpy", "to", "tolist", "type", "type_as")}


def what_happened(kind: str, name: str, origin: int) -> str:
    """Return what was found, given the function of torch's at work and the line that a tensor came from."""
    did = WRITTEN.get(name) or f"{name.strip('_')}()"
    where = f" in line {origin}" if origin else ""
    match kind:
        case "mixed_devices":
            made = f", made{where}" if origin else ""
            return f"{did} of a tensor on cuda:0 and one on the CPU{made}"
        case "host_sync":
            return f"{did}: the CPU waits for the GPU"
        case "round_trip":
            return f"a tensor that was copied to the CPU{where} comes back to the GPU"
        case "made_on_cpu":
            return f"a tensor made on the CPU{where} is copied to the GPU"
        case "moved_more_than_once":
            return "the same tensor is copied to the GPU again"
        case _:
            return "a tensor of the result is on the CPU, though the input is on the GPU"
