"""Probes of 07_gpu_path: calls that tell its misconceptions apart, on the CPU and on a simulated GPU."""

import numpy as np
import torch

from grader.diagnosis.probe import probe

PICK, MANUAL, FUSED = "pick_device", "attention_on_device", "fused_attention"
HALF, MOVE = "half_precision_attention", "move_batch"
RNG = np.random.default_rng(707)
EXAMPLE = "the token The of the shared example"
# Operations that need a more specific name than the kind of their finding.
READS = {"item", "__bool__", "__float__", "__int__", "__index__", "__contains__", "__repr__", "__format__", "tolist"}
COUNTS = {"mask", "nonzero", "masked_select", "unique", "_unique2", "where", "argwhere", "__getitem__"}


def floats(*rows):
    """Return rows of numbers as a float32 tensor."""
    return torch.tensor(rows, dtype=torch.float32)


def eighths(*shape, size=12):
    """Return numbers between -size/8 and size/8 that 16 bits hold exactly, the same in every run."""
    return torch.from_numpy(RNG.integers(-size, size + 1, size=shape)).float() / 8


# What is compared of a call on a device ----------------------------------------------------------------------


def picked(result):
    """Describe the device that was picked."""
    value = result["value"]
    if type(value) is not torch.device:
        return {"what it is": type(value).__name__}
    return {"what it is": "a torch.device", "its type": value.type, "its number": value.index}


def picked_type(result):
    """Describe the device that was picked without its number, since cuda may have a number or not."""
    return {name: fact for name, fact in picked(result).items() if name != "its number"}


def kind_of(finding):
    """Return a short name for a finding."""
    kind, name = finding
    if kind != "host_sync":
        return kind
    if name == "synchronize":
        return "waits"
    return "reads a number" if name in READS else "counts" if name in COUNTS else "goes to the CPU"


def lived(result):
    """Describe the devices of the results, and the problems on a GPU."""
    kinds = sorted({kind_of(finding) for finding in result["findings"]})
    return {
        "the device of the results": ", ".join(sorted({one.partition(":")[0] for one in result["devices"]})),
        "what a GPU would mind": ", ".join(kinds) or "nothing",
    }


def moved(result):
    """Describe the devices of the tensors of a batch, whether the CPU waits for a copy, and the problems on a GPU."""
    return {
        "the devices of its tensors": ", ".join(one.partition(":")[0] for one in result["devices"]),
        "the copies": "hold up the CPU" if result["waits"] else "go on by themselves",
        "what a GPU would mind": ", ".join(sorted({kind_of(one) for one in result["findings"]})) or "nothing",
    }


def outline(value):
    """Return a batch as text: its containers, keys, tensors and other values."""
    if type(value) is dict:
        inside = ", ".join(f"{key!r}: {outline(one)}" for key, one in value.items())
        return "{" + inside + "}"
    if type(value) in (list, tuple):
        inside = ", ".join(map(outline, value))
        return f"[{inside}]" if type(value) is list else f"({inside})"
    if type(value) is torch.Tensor:
        return f"{str(value.dtype)[6:]} {value.tolist()}"
    if type(value) is np.ndarray:
        return f"array {value.tolist()}"
    return repr(value) if value is None or type(value) in (bool, int, float, str) else type(value).__name__


def outlined(result):
    """Describe the batch that was returned."""
    return {"the batch": outline(result)}


def kinds(result):
    """Return the dtypes or types in a result."""
    if type(result) is tuple:
        return {"result": ", ".join(str(getattr(part, "dtype", type(part).__name__)) for part in result)}
    return {"result": str(getattr(result, "dtype", type(result).__name__))}


def rounded(result):
    """Return the results rounded to bfloat16, so that they are compared only to that precision."""
    if type(result) is not tuple or len(result) != 2 or not all(type(part) is torch.Tensor for part in result):
        return "no pair of tensors"
    return tuple(part.detach().to(torch.bfloat16) for part in result)


def fine(result):
    """Describe which of the two products was rounded to 16 bits."""
    if type(result) is not tuple or len(result) != 2 or not all(type(part) is torch.Tensor for part in result):
        return "no pair of tensors"
    output, weights = (part.detach().double().flatten() for part in result)
    if (len(output), len(weights)) != (1, 2):
        return "other shapes"
    return {
        "scores": "rounded" if abs(float(weights[0] - weights[1])) < 0.05 else "exact",
        "output": f"{float(output[0]):.0f}",
    }


def arrived(result):
    """Return for each gradient whether it is missing, finite or NaN."""
    grads = dict(zip("qkv", result["grads"], strict=False))
    return {
        f"the gradient of {name}": "no gradient"
        if grad is None
        else "a gradient"
        if bool(grad.isfinite().all())
        else "NaN"
        for name, grad in grads.items()
    }


def reached(result):
    """Return whether a gradient reaches the first argument."""
    return {"the gradient": "there" if result["grads"][0] is not None else "cut"}


# Arguments ----------------------------------------------------------------------------------------------

SENTENCE = (
    floats([1, 0, 1, 0]),
    floats([0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]),
    floats([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]),
)
PAIR = (eighths(2, 4), eighths(3, 4), eighths(3, 4))
UNEVEN = (eighths(2, 4), eighths(3, 4), eighths(3, 2))
FOUR = (eighths(4, 4), eighths(4, 4), eighths(4, 4))
BATCH = (eighths(2, 2, 4), eighths(2, 3, 4), eighths(2, 3, 4))
HEADS = (eighths(1, 2, 2, 4), eighths(1, 2, 3, 4), eighths(1, 2, 3, 4))
GAP = torch.tensor([[1, 0, 1], [0, 1, 1]])
NO_SECOND = torch.tensor([[1, 1, 0], [0, 0, 0]])
ALL = torch.ones(2, 3, dtype=torch.int64)
BY_SENTENCE = torch.tensor([[[1, 0, 1]], [[0, 0, 0]]])
STEEP = (floats([1]), floats([300], [299]), floats([1], [0]))
LOW_SCORES = (floats([1]), floats([-2e10], [-4e10], [0]), floats([1], [0], [5]), floats([1, 1, 0]))
FAR_APART = (floats([1]), floats([0], [1024], [2048]), floats([1], [2], [5]), torch.zeros(1, 3))
LARGE = (torch.full((1, 16), 112.0), floats([112.0] * 16, [112.0] * 16, [100.0] * 16), floats([1, 0], [3, 0], [9, 9]))
SMALL_V = floats([1, 0], [0, 1], [1, 1])
COT, WEIGHTS_COT = floats([1, 2, 0, -1], [-1, 3, 1, 0]), floats([1, 0, 2], [0, -1, 1])
# Two keys that only the last bits of q tell apart, and values that 16 bits cannot hold
FINE_Q, FINE_K = torch.zeros(1, 16), torch.zeros(2, 16)
FINE_Q[0, 0], FINE_Q[0, 1] = 1 + 2.0**-9, 1.0
FINE_K[0, 0] = FINE_K[1, 1] = 2048.0
FINE_V = floats([257], [257])
FINER_Q, FINER_K, FINER_V = FINE_Q.clone(), 4 * FINE_K, floats([2049], [2049])
FINER_Q[0, 0] = 1 + 2.0**-12
MIXED = {"b": torch.tensor([3, 4]), 7: [torch.ones(1), "ab"], "a": (torch.tensor([True]), None, 2.5), "n": 3}
WEIGHTS_ONLY = {"look": arrived, "cotangent": (None, WEIGHTS_COT)}


def on_devices(path, args, masks=(), **kwargs):
    """Return probes of a function on a GPU, with the mask on the GPU and on the CPU, and with everything on the CPU."""
    found = [probe(path, *args, on_device=True, look=lived, kwargs=kwargs)]
    for mask in masks:
        given = {"mask": mask, **kwargs}
        found += [
            probe(path, *args, on_device=True, look=lived, kwargs=given),
            probe(path, *args, on_device=True, elsewhere=("mask",), look=lived, kwargs=given),
            probe(path, *args, on_device=True, elsewhere=(0, 1, 2, "mask"), look=lived, kwargs=given),
        ]
    return found


PROBES = [
    # pick_device
    *(probe(PICK, name, on_device=True, look=picked_type) for name in ("cuda", "cpu", "xpu", torch.device("cuda"))),
    probe(PICK, "cuda", on_device=True, gpu=False, look=picked_type),
    probe(PICK, on_device=True, look=picked_type),
    probe(PICK, "cuda:0", on_device=True, look=picked),
    probe(PICK, "cuda:0", on_device=True, gpu=False, look=picked_type),
    probe(PICK, "cuda:5", on_device=True, look=picked_type),
    *(probe(PICK, name, look=str, names=(0,) if "0" in name else ()) for name in ("gpu", "cuda0", "")),
    # attention_on_device
    probe(MANUAL, *SENTENCE, said=EXAMPLE),
    probe(MANUAL, *PAIR),
    probe(MANUAL, *UNEVEN),
    probe(MANUAL, *FOUR),
    probe(MANUAL, *BATCH),
    probe(MANUAL, *HEADS),
    probe(MANUAL, *PAIR, GAP),
    probe(MANUAL, *PAIR, NO_SECOND),
    probe(MANUAL, *BATCH, BY_SENTENCE),
    probe(MANUAL, *STEEP),
    probe(MANUAL, *LOW_SCORES),
    probe(MANUAL, *FAR_APART),
    probe(MANUAL, *PAIR, look=kinds),
    probe(MANUAL, *(x.double() for x in PAIR), look=kinds, said="float64"),
    probe(MANUAL, *PAIR, cotangent=(COT, None), look=arrived),
    probe(MANUAL, *PAIR, cotangent=(None, WEIGHTS_COT), look=arrived),
    probe(MANUAL, *PAIR, kwargs={"mask": NO_SECOND}, cotangent=(COT, None), look=arrived),
    *on_devices(MANUAL, PAIR, [GAP]),
    probe(MANUAL, *PAIR, kwargs={"mask": GAP}, on_device=True, gpu=False, look=lived),
    # fused_attention
    probe(FUSED, *SENTENCE, said=EXAMPLE),
    probe(FUSED, *PAIR),
    probe(FUSED, *UNEVEN),
    probe(FUSED, *BATCH),
    probe(FUSED, *HEADS),
    probe(FUSED, *PAIR, GAP),
    probe(FUSED, *PAIR, GAP.bool()),
    probe(FUSED, *PAIR, GAP.float()),
    probe(FUSED, *PAIR, NO_SECOND),
    probe(FUSED, *HEADS, NO_SECOND.float()),
    probe(FUSED, *BATCH, BY_SENTENCE),
    probe(FUSED, *FOUR, None, True),
    probe(FUSED, *PAIR, None, True),
    probe(FUSED, *PAIR, ALL, True),
    probe(FUSED, *PAIR, GAP, True),
    probe(FUSED, *PAIR, GAP.bool(), True),
    probe(FUSED, *PAIR, GAP.float(), True),
    probe(FUSED, *(x.double() for x in PAIR), look=kinds, said="float64"),
    probe(FUSED, *HEADS, cotangent=torch.ones(1, 2, 2, 4), look=arrived),
    *on_devices(FUSED, PAIR, [GAP]),
    *on_devices(FUSED, PAIR, [GAP], is_causal=True),
    # half_precision_attention
    probe(HALF, *SENTENCE, look=rounded, said=EXAMPLE),
    probe(HALF, *UNEVEN, look=rounded),
    probe(HALF, *FOUR, look=rounded),
    probe(HALF, *BATCH, look=rounded),
    probe(HALF, *UNEVEN, GAP, look=rounded),
    probe(HALF, *UNEVEN, NO_SECOND, look=rounded),
    probe(HALF, *STEEP, look=rounded),
    probe(HALF, *LARGE, kwargs={"dtype": torch.float16}, look=rounded),
    probe(HALF, floats([0]), floats([0], [0]), floats([257], [-256]), look=rounded),
    probe(HALF, FINE_Q, FINE_K, FINE_V, look=fine, said="numbers that bfloat16 cannot hold"),
    probe(HALF, FINE_Q, FINE_K, FINE_V, kwargs={"dtype": torch.float16}, look=fine, said="numbers for float16"),
    probe(
        HALF,
        FINER_Q,
        FINER_K,
        FINER_V,
        kwargs={"dtype": torch.float16},
        look=fine,
        said="numbers that float16 cannot hold",
    ),
    probe(HALF, *PAIR, look=kinds),
    probe(HALF, *(x.bfloat16() for x in PAIR), look=kinds, said="bfloat16"),
    probe(HALF, *PAIR, kwargs={"mask": NO_SECOND}, cotangent=(COT, None), look=arrived),
    *on_devices(HALF, PAIR, [GAP]),
    # move_batch
    probe(MOVE, MIXED, "cpu", look=outlined, said="a small batch"),
    probe(MOVE, [torch.ones(1), [torch.zeros(1)]], "cpu", look=outlined),
    probe(MOVE, (torch.ones(1), {"a": ()}), "cpu", look=outlined),
    probe(MOVE, np.array([1.0, 2.0]), "cpu", look=outlined),
    probe(MOVE, "ab", "cpu", look=outlined),
    probe(MOVE, MIXED, "cuda", on_device=True, elsewhere=(0,), look=moved, said="a small batch"),
    probe(MOVE, [torch.ones(1), [torch.ones(1)]], "cuda", on_device=True, elsewhere=(0,), look=moved),
    probe(MOVE, (torch.ones(1), (torch.ones(1),)), "cuda", on_device=True, elsewhere=(0,), look=moved),
    probe(MOVE, torch.ones(2), "cpu", on_device=True, elsewhere=(0,), look=moved),
    probe(MOVE, torch.ones(2), "cpu", cotangent=torch.ones(2), look=reached),
    probe(MOVE, MIXED, "meta", look=lambda _: "", said="a small batch"),
]
