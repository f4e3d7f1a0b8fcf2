"""What an exception usually means, said in words; and which exceptions have the same cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.exception_words import Given, in_plain_words
from grader.diagnosis.likely_line import Line
from grader.diagnosis.raised import Raised
from grader.sandbox.worker.error_description import describe

SIX: Any = np.arange(6.0).reshape(2, 3)
GIVEN = Given("softmax", {"x": SIX, "mask": None}, ("mask",), is_refused=False)
HERE = Line(3, None, exact=True)


def raised_by(call: Callable[[], object]) -> Raised:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - any exception is the point
        found = describe(error, {__file__})
        return Raised(tuple(found["types"]), found["message"], "softmax", HERE, __file__, found["meant"])
    raise AssertionError("it raised nothing")


def recurse() -> object:
    return recurse()


def unbound() -> object:
    if not SIX.size:
        value = 1
    return value


SAID: list[tuple[Callable[[], object], str]] = [
    (lambda: SIX + np.ones(2), "the shapes (2, 3) and (2,) do not fit"),
    (lambda: SIX + np.ones(2), "In this call, x is (2, 3)."),
    (lambda: SIX @ SIX, "the left side has 3 columns, but the right side has 2 rows"),
    (lambda: np.dot(SIX, SIX), "a matrix product of (2, 3) and (2, 3)"),
    (lambda: SIX.reshape(4, 2), "6 entries do not fill the shape (4, 2). That shape has room for 8."),
    (lambda: SIX[5], "there is no place 5: an axis of size 2 has the places 0 to 1."),
    (lambda: SIX[0, 0, 0], "more axes are indexed than there are"),
    (lambda: SIX.sum(axis=2), "there is no axis 2: the array has 2 axes."),
    (lambda: SIX.shape[2], "a tuple is shorter than this line expects"),
    (lambda: 1 if SIX > 0 else 0, "asks for one answer, and an array has one for each entry"),
    (lambda: float(SIX), "take one number, and this is an array"),
    (lambda: ~SIX, "this needs booleans"),
    (lambda: None + SIX, "a value here is None. In this call, mask is None."),
    (lambda: SIX.sofmax(), "an array has no sofmax."),
    (lambda: getattr(np, "argmx")(SIX), "the module numpy has no argmx. Did you mean argmax?"),  # noqa: B009
    (lambda: GIVENN, "nothing has the name GIVENN here. Did you mean GIVEN?"),  # type: ignore[name-defined]  # noqa: F821
    (lambda: math, "nothing has the name math here. Is an import missing?"),  # type: ignore[name-defined]  # noqa: F821
    (unbound, "value has no value yet"),
    (lambda: __import__("scipyy"), "there is no module scipyy where your code runs"),
    (lambda: SIX(1), "round brackets behind an array"),
    (lambda: SIX.sum(keepdim=True), "NumPy says axis and keepdims, PyTorch says dim and keepdim"),
    (lambda: SIX.tolist() * 0.5, "a list does not compute entry by entry"),
    (lambda: SIX.repeat(2)[: 5 / 2], "a size or a place must be a whole number"),
    (lambda: {"a": 1}["b"], "there is no entry with the key 'b'"),
    (lambda: bytes([300]), ""),  # nothing is known of it, so nothing is said
    (lambda: 1 // 0, "something is divided by 0"),
    (recurse, "calls itself again and again"),
]


@pytest.mark.parametrize(("call", "said"), SAID, ids=[said[:40] or "unknown" for _, said in SAID])
def test_an_exception_is_told_in_plain_words(call: Callable[[], object], said: str) -> None:
    words = in_plain_words(raised_by(call), GIVEN)
    assert said in words if said else words == ""


TORCH = [
    ("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "the 3 and the 4 in the middle must be equal"),
    ("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1", "along axis 1"),
    ("shape '[2, 5]' is invalid for input of size 12", "12 entries do not fill the shape (2, 5)"),
    ("view size is not compatible with input tensor's size and stride (at least one ...)", "as after transpose"),
    ("masked_fill_ only supports boolean masks, but got mask with dtype long int", "`mask == 0` gives booleans"),
    ("expected m1 and m2 to have the same dtype, but got: float != double", "have different dtypes"),
    ("Boolean value of Tensor with more than one value is ambiguous", "asks for one answer"),
    ("element 0 of tensors does not require grad and does not have a grad_fn", "no gradient can come through"),
]


@pytest.mark.parametrize(("message", "said"), TORCH, ids=[said for _, said in TORCH])
def test_exceptions_of_torch_too(message: str, said: str) -> None:
    assert said in in_plain_words(Raised(("RuntimeError",), message, "softmax", HERE, "softmax.py"), GIVEN)


def test_a_refusal_of_allowed_arguments_is_told_as_such() -> None:
    own = Raised(("ValueError",), "no", "softmax", HERE, "softmax.py", is_own=True)
    assert "a `raise` of your own. The arguments of this call are allowed" in in_plain_words(own, GIVEN)
    assert in_plain_words(own, replace(GIVEN, is_refused=True)) == ""


def test_a_function_without_the_parameters_of_its_stub_is_told_so() -> None:
    wrong = Raised(("TypeError",), "softmax() takes 1 positional argument but 2 were given")
    assert in_plain_words(wrong, GIVEN).startswith("softmax does not take the arguments of this call")


def test_names_and_numbers_do_not_change_a_cause_but_type_text_and_function_do() -> None:
    one = Raised(("ValueError",), "operands could not be broadcast together with shapes (2,3) (2,) ", "softmax", HERE)
    assert one.cause == replace(one, message="operands could not be broadcast together with shapes (4,) (5,6,7)").cause
    name = Raised(("NameError",), "name 'a' is not defined", "softmax", HERE)
    assert name.cause == replace(name, message="name 'total' is not defined").cause
    others = [replace(one, function="log_softmax"), replace(one, message="matmul"), replace(one, types=("TypeError",))]
    assert len({other.cause for other in [one, name, *others]}) == 5


def test_an_own_refusal_has_the_same_cause_in_any_words() -> None:
    one = Raised(("ValueError",), "4 keys, but 5 values", "softmax", HERE, is_own=True)
    assert one.cause == replace(one, message="sizes differ").cause != replace(one, is_own=False).cause


NO_GPU = [
    ("AssertionError", "Torch not compiled with CUDA enabled"),
    ("AssertionError", "libcudart functions unavailable. It looks like you have a broken build?"),
    ("RuntimeError", "No CUDA GPUs are available"),
    ("RuntimeError", "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"),
    ("RuntimeError", "The NVIDIA driver on your system is too old (found version 11040)."),
    ("RuntimeError", "CUDA driver initialization failed, you might not have a CUDA gpu."),
    ("RuntimeError", "CUDA unknown error - this may be due to an incorrectly set up environment"),
    ("RuntimeError", "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before? Error 304"),
    ("RuntimeError", "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, use 'spawn'"),
    ("AcceleratorError", "CUDA error: no CUDA-capable device is detected"),
    ("AcceleratorError", "CUDA error: CUDA-capable device(s) is/are busy or unavailable"),
    ("AcceleratorError", "CUDA error: invalid device ordinal"),
    ("AcceleratorError", "CUDA error: initialization error"),
    ("DeferredCudaCallError", "CUDA call failed lazily at initialization with error: No CUDA GPUs are available"),
    ("RuntimeError", "Cannot get CUDA generator without ATen_cuda library."),
    ("RuntimeError", "torch.cuda.Stream requires CUDA support"),
    ("RuntimeError", "Cannot access accelerator device when none is available."),
]


@pytest.mark.parametrize(("kind", "message"), NO_GPU, ids=[message[:30] for _, message in NO_GPU])
def test_no_gpu_is_one_cause_in_all_words_of_torch(kind: str, message: str) -> None:
    raised = Raised((kind,), message, "attention_on_device", HERE)
    assert raised.cause == "no GPU in attention_on_device"
    assert replace(raised, function="fused_attention").cause != raised.cause


def test_an_error_of_a_gpu_that_is_there_has_its_own_cause() -> None:
    for message in ["CUDA error: device-side assert triggered", "CUDA out of memory. Tried to allocate 2 GiB"]:
        assert "no GPU" not in Raised(("RuntimeError",), message, "fused_attention", HERE).cause
