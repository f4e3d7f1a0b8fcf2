"""Exceptions in plain words: what one usually means, said of the call that raised it.

A sentence holds only what the exception itself says, and what is true of the arguments of the call.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from grader.core.compare import shape_of
from grader.core.safe_text import one_line
from grader.diagnosis.raised import Raised

_AXIS_WORDS = ("axis", "dim", "keepdims", "keepdim")
_SHAPE = re.compile(r"\(([\d, ]*)\)")


@dataclass(frozen=True)
class Given:
    """The arguments of the call, by the names of the stub."""

    path: str
    values: dict[str, object]
    are_none: tuple[str, ...]  # the arguments that are None, or left out where None stands for them
    is_refused: bool  # whether these arguments must be refused

    @property
    def shapes(self) -> str:
        """Say which shapes the arrays among the arguments have."""
        found = [f"{name} is {_tuple(shape)}" for name, value in self.values.items() if (shape := shape_of(value))]
        return f" In this call, {_joined(found)}." if 0 < len(found) <= 4 else ""

    @property
    def dtypes(self) -> str:
        """Say which dtypes they have."""
        found = [f"{name} is {value.dtype}" for name, value in self.values.items() if hasattr(value, "dtype")]
        return f" In this call, {_joined(found)}." if 0 < len(found) <= 4 else ""


def in_plain_words(raised: Raised, given: Given) -> str:
    """Return what an exception usually means; empty if nothing can be said for sure."""
    if raised.is_own:
        return _own(raised, given)
    if "RecursionError" in raised.types:
        return "a function calls itself again and again, and nothing makes it stop."
    if raised.place is None and "TypeError" in raised.types and (said := _wrong_call(raised.message, given)):
        return said
    for kind in _KINDS:
        if kind.type in raised.types and (found := kind.text.search(raised.message)):
            said = kind.words if isinstance(kind.words, str) else kind.words(found, given)
            meant = (
                f" Did you mean {raised.meant}?"
                if raised.meant and kind.type in ("NameError", "AttributeError")
                else ""
            )
            return one_line(f"{said}{meant}", 500)
    return ""


def _own(raised: Raised, given: Given) -> str:
    if "NotImplementedError" in raised.types:
        return f"{raised.function or 'this part'} is not written yet, or not this part of it."
    what = "an `assert`" if "AssertionError" in raised.types else "a `raise`"
    if given.is_refused:
        return ""
    return f"this is {what} of your own. The arguments of this call are allowed, and must give a result."


def _wrong_call(message: str, given: Given) -> str:
    """Say that a function does not take the arguments of its stub: the call itself raised."""
    if not re.search(r"positional argument|keyword argument|takes no arguments", message):
        return ""
    name = given.path.rpartition(".")[2]
    if f"{name}()" not in message and "__init__()" not in message:
        return ""
    first = " The first parameter of a method is self." if "." in given.path else ""
    return f"{name} does not take the arguments of this call. Keep the parameters that the stub has.{first}"


# The sentences that need numbers out of the message ---------------------------------------------------------


def _broadcast(found: re.Match[str], given: Given) -> str:
    shapes = [f"({_spaced(one)})" for one in _SHAPE.findall(found[1])]
    said = f"arrays of the shapes {_joined(shapes)} do not fit" if len(shapes) > 1 else "the shapes do not fit"
    return f"{said}: counted from the right, two sizes must be the same, or one of them 1.{given.shapes}"


def _sizes(found: re.Match[str], given: Given) -> str:
    a, b, axis = found.groups()
    return (
        f"along axis {axis}, one tensor has the size {a} and the other {b}. They must be equal, or one 1.{given.shapes}"
    )


def _product(found: re.Match[str], given: Given) -> str:
    right, left = found.groups()
    return (
        f"in a matrix product, the left side has {_count(int(left), 'column', 'columns')}, but the right side has "
        f"{_count(int(right), 'row', 'rows')}: these two numbers must be equal.{given.shapes}"
    )


def _torch_product(found: re.Match[str], given: Given) -> str:
    rows, columns, other_rows, other_columns = found.groups()
    return (
        f"in a matrix product of {rows} × {columns} and {other_rows} × {other_columns}, the {columns} and the "
        f"{other_rows} in the middle must be equal.{given.shapes}"
    )


def _dot(found: re.Match[str], given: Given) -> str:
    left, right = (f"({_spaced(one)})" for one in found.groups())
    return f"a matrix product of {left} and {right}: the sizes that meet in it must be equal.{given.shapes}"


def _batched_product(found: re.Match[str], given: Given) -> str:
    wanted, got = (f"({_spaced(one)})" for one in found.groups())
    return f"in a matrix product, the right side should begin with {wanted}, and begins with {got}.{given.shapes}"


def _reshape(found: re.Match[str], given: Given) -> str:
    entries = next(int(one) for one in (found["size"], found["entries"]) if one)
    sizes = [int(one) for one in re.findall(r"-?\d+", found["into"] or found["shape"])]
    full = f" That shape has room for {prod(sizes)}." if -1 not in sizes else ""
    return f"{entries} entries do not fill the shape {_tuple(sizes)}.{full}{given.shapes}"


def _into(found: re.Match[str], given: Given) -> str:
    one, other = (f"({_spaced(text)})" for text in found.groups())
    return f"an array of the shape {one} does not fit into a place of the shape {other}.{given.shapes}"


def _index(found: re.Match[str], given: Given) -> str:
    index, size = int(found[1]), int(found[2])
    places = f"has the places 0 to {size - 1}" if size > 1 else "has only the place 0" if size else "has no place"
    return f"there is no place {index}: an axis of size {size} {places}.{given.shapes}"


def _axis(found: re.Match[str], given: Given) -> str:
    axis, count = int(found[1]), int(found[2])
    return f"there is no axis {axis}: the array has {_count(count, 'axis', 'axes')}.{given.shapes}"


def _torch_axis(found: re.Match[str], given: Given) -> str:
    count, axis = int(found[1]) + 1, int(found[2])
    return f"there is no axis {axis}: the tensor has {_count(count, 'axis', 'axes')}.{given.shapes}"


def _unpacking(found: re.Match[str], given: Given) -> str:
    count = found[1]
    return f"this line takes {count} values out of something that has another number of them.{given.shapes}"


def _undefined(found: re.Match[str], given: Given) -> str:
    missing = " Is an import missing?" if found[1] in {"np", "torch", "nn", "F"} | sys.stdlib_module_names else ""
    return f"nothing has the name {found[1]} here.{missing}"


def _unbound(found: re.Match[str], given: Given) -> str:
    return f"{found[1]} has no value yet: the line that gives it one comes later, or did not run."


def _module(found: re.Match[str], given: Given) -> str:
    return f"there is no module {found[1]} where your code runs. Use what the stub imports."


def _none(found: re.Match[str], given: Given) -> str:
    if given.are_none:
        return f"a value here is None. In this call, {_joined(given.are_none)} {'is' if len(given.are_none) == 1 else 'are'} None."
    return "a value here is None. Does a function that is called here have no `return`?"


def _attribute(found: re.Match[str], given: Given) -> str:
    owner, name = found.groups()
    if owner == given.path.partition(".")[0]:
        return f"no line has set self.{name} before this one."
    if owner in ("list", "tuple") and hasattr(np.ndarray, name):
        return f"a {owner} is not an array: it has no {name}. np.asarray makes an array of it."
    return f"{_article(owner)} has no {name}."


def _no_member(found: re.Match[str], given: Given) -> str:
    return f"the module {found[1]} has no {found[2]}."


def _not_callable(found: re.Match[str], given: Given) -> str:
    return f"round brackets behind {_article(found[1])} try to call it. Is an operator missing, or should they be [ ]?"


def _not_boolean(found: re.Match[str], given: Given) -> str:
    return f"this needs booleans, and the numbers here are not. For a mask of numbers, `mask == 0` gives booleans.{given.dtypes}"


def _dtypes(found: re.Match[str], given: Given) -> str:
    return f"two tensors that meet here have different dtypes.{given.dtypes}"


def _cast(found: re.Match[str], given: Given) -> str:
    return f"the result has another dtype than the array that it is written into.{given.dtypes}"


def _not_for(found: re.Match[str], given: Given) -> str:
    return f"torch cannot compute this with the dtype {found[1]}.{given.dtypes}"


def _operands(found: re.Match[str], given: Given) -> str:
    kinds = [one for one in found.groups() if one]
    more = " A list does not compute entry by entry: np.asarray makes an array of it." if "list" in kinds else ""
    more += " A function with several results returns a tuple of them." if "tuple" in kinds else ""
    return f"the operator does not work on {_joined([_article(one) for one in kinds])}.{more}"


def _no_choice(found: re.Match[str], given: Given) -> str:
    called = " Are the round brackets of a call missing?" if "function" in found[1] or "method" in found[1] else ""
    return f"[ ] does not work on {_article(found[1])}.{called}"


def _no_sequence(found: re.Match[str], given: Given) -> str:
    return f"{_article(found[1])} has no entries to go through."


def _no_length(found: re.Match[str], given: Given) -> str:
    return f"{_article(found[1])} has no length."


def _key(found: re.Match[str], given: Given) -> str:
    return f"there is no entry with the key {found[0]}."


def _keyword(found: re.Match[str], given: Given) -> str:
    both = " NumPy says axis and keepdims, PyTorch says dim and keepdim." if found[2] in _AXIS_WORDS else ""
    name = "the function that is called" if found[1].rpartition(".")[2].startswith("_") else found[1]
    return f"{name} has no parameter {found[2]}.{both}"


def _arguments(found: re.Match[str], given: Given) -> str:
    return f"this line calls {found[1]} with another number of arguments than it takes."


def _returned(found: re.Match[str], given: Given) -> str:
    wanted, got = (f"({_spaced(text)})" for text in found.groups())
    return f"the result has the shape {got}, and should have {wanted}."


@dataclass(frozen=True)
class _Kind:
    """A type of exception, a pattern of its text, and what it means."""

    type: str
    text: re.Pattern[str]
    words: str | Callable[[re.Match[str], Given], str]


def _kind(type_name: str, text: str, words: str | Callable[[re.Match[str], Given], str]) -> _Kind:
    return _Kind(type_name, re.compile(text), words)


_LIST = r"[\[(]([\d, -]*)[\])]"
_KINDS = (
    # shapes
    _kind("ValueError", r"could not be broadcast together with (?:remapped )?shapes (.*)", _broadcast),
    _kind("RuntimeError", r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at .*dimension (\d+)", _sizes),
    _kind("ValueError", r"matmul: .*\(size (\d+) is different from (\d+)\)", _product),
    _kind("RuntimeError", r"cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", _torch_product),
    _kind("ValueError", r"shapes \(([\d, ]*)\) and \(([\d, ]*)\) not aligned", _dot),
    _kind("RuntimeError", rf"batch2 tensor to be: {_LIST} but got: {_LIST}", _batched_product),
    _kind(
        "ValueError", r"cannot reshape array of size (?P<size>\d+) into shape \((?P<into>[^)]*)\)(?P<entries>)(?P<shape>)", _reshape
    ),
    _kind(
        "RuntimeError", r"shape '\[(?P<shape>[^\]]*)\]' is invalid for input of size (?P<entries>\d+)(?P<size>)(?P<into>)", _reshape
    ),
    _kind("ValueError", r"broadcast input array from shape \(([\d, ]*)\) into shape \(([\d, ]*)\)", _into),
    _kind("RuntimeError", rf"Mismatch in shape: grad_output.*torch.Size\({_LIST}\) and output.*torch.Size\({_LIST}\)", _returned),
    _kind("ValueError", r"inhomogeneous", "the rows have different lengths, so they do not make one array."),
    _kind("ValueError", r"setting an array element with a sequence", "an array is put where there is room for one number."),
    _kind("ValueError", r"all input arrays must have the same shape", "arrays of different shapes cannot be stacked."),
    _kind("ValueError", r"values to unpack \(expected (\d+)", _unpacking),
    _kind("ValueError", r"einstein sum|einsum|subscript", "the letters of einsum do not fit the arrays."),
    _kind("RuntimeError", r"einsum\(\)", "the letters of einsum do not fit the tensors."),
    _kind("RuntimeError", r"expanded size of the tensor|must match the existing size|Sizes of tensors must match", "the shapes of two tensors do not fit."),
    # places and axes
    _kind("IndexError", r"index (-?\d+) is out of bounds for (?:axis|dimension) \d+ with size (\d+)", _index),
    _kind("IndexError", r"too many indices", lambda _, given: f"more axes are indexed than there are.{given.shapes}"),
    _kind("IndexError", r"tuple index out of range", lambda _, given: f"a tuple is shorter than this line expects; of a shape: there are fewer axes.{given.shapes}"),
    _kind("IndexError", r"list (?:assignment )?index out of range", lambda _, given: f"the list is shorter than this line expects.{given.shapes}"),
    _kind("IndexError", r"invalid index to scalar variable|invalid index of a 0-dim", "this is a single number already: it has no entries to choose from."),
    _kind("IndexError", r"Dimension out of range \(expected to be in range of \[-\d+, (-?\d+)\], but got (-?\d+)\)", _torch_axis),
    _kind("IndexError", r"shape of the mask|boolean index did not match", "the mask in [ ] has another shape than the array."),
    _kind("IndexError", r"only integers, slices|arrays used as indices must be of integer", "a place must be a whole number. `/` gives a float, `//` a whole number."),
    _kind("IndexError", r"index out of range in self", "an embedding has no row for one of these numbers."),
    _kind("ValueError", r"axis (-?\d+) is out of bounds for array of dimension (\d+)", _axis),
    _kind("ValueError", r"axes don't match array", lambda _, given: f"transpose needs each axis of the array exactly once.{given.shapes}"),
    _kind("RuntimeError", r"number of dimensions in the tensor input does not match the length of the desired ordering", lambda _, given: f"permute needs each axis of the tensor exactly once.{given.shapes}"),
    _kind("TypeError", r"slice indices must be integers|cannot be interpreted as an integer|must be tuple of ints, ?but got float", "a size or a place must be a whole number. `/` gives a float, `//` a whole number."),
    _kind("RuntimeError", r"Index tensor must have the same number of dimensions", "the indices need as many axes as the tensor that they choose from."),
    _kind("RuntimeError", r"probability tensor contains", "some of these probabilities are negative, NaN or infinite."),
    # one answer for many entries
    _kind(
        "ValueError",
        r"truth value of an array",
        "an `if`, `and`, `or`, `not`, max() or min() asks for one answer, and an array has one for each entry. `&`, `|` "
        "and `~` work entry by entry; .any() and .all() give one answer.",
    ),
    _kind(
        "RuntimeError",
        r"Boolean value of Tensor",
        "an `if`, `and`, `or`, `not`, max() or min() asks for one answer, and a tensor has one for each entry. `&`, `|` "
        "and `~` work entry by entry; .any() and .all() give one answer.",
    ),
    _kind("TypeError", r"only (?:length-1|0-dimensional|size-1) arrays can be converted", "float(), int() and the functions of math take one number, and this is an array. NumPy's functions work on arrays."),
    _kind("ValueError", r"can only convert an array of size 1", "this makes one number of an array, which has more than one."),
    _kind("ValueError", r"only one element tensors can be converted", "float(), int() and the functions of math take one number, and this tensor has more."),
    _kind("RuntimeError", r"Tensor with \d+ elements cannot be converted to Scalar", "float(), int() and .item() take one number, and this tensor has more."),
    # names
    _kind("UnboundLocalError", r"local variable '(\w+)'", _unbound),
    _kind("NameError", r"name '(\w+)' is not defined", _undefined),
    _kind("ModuleNotFoundError", r"No module named '([\w.]+)'", _module),
    _kind("ImportError", r"cannot import name '(\w+)' from '([\w.]+)'", lambda found, _: f"the module {found[2]} has no {found[1]}."),
    _kind("AttributeError", r"cannot assign \w+ before Module.__init__", "in __init__, super().__init__() must come first."),
    _kind("AttributeError", r"NoneType", _none),
    _kind("TypeError", r"NoneType", _none),
    _kind("AttributeError", r"module '([\w.]+)' has no attribute '(\w+)'", _no_member),
    _kind("AttributeError", r"'([\w.]+)' object has no attribute '(\w+)'", _attribute),
    # dtypes
    _kind("TypeError", r"ufunc '(?:invert|bitwise_and|bitwise_or)' not supported|unary ~|invert\) is only implemented", _not_boolean),
    _kind("RuntimeError", r"masked_fill.* only supports boolean masks", _not_boolean),
    _kind("RuntimeError", r"expected m1 and m2 to have the same dtype|must have the same dtype", _dtypes),
    _kind("RuntimeError", r"expected scalar type (\w+) but found (\w+)", lambda found, given: f"torch needs {found[1]} here, and this tensor is {found[2]}.{given.dtypes}"),
    _kind("TypeError", r"Cannot cast ufunc", _cast),
    _kind("RuntimeError", r"result type .* can't be cast", _cast),
    _kind("TypeError", r"numpy boolean subtract", "`-` does not work on booleans. `~` turns them round."),
    _kind("RuntimeError", r"with a bool tensor is not supported", "`-` does not work on booleans. `~` turns them round."),
    _kind("NotImplementedError", r"not implemented for '(\w+)'", _not_for),
    _kind("RuntimeError", r"not implemented for '(\w+)'", _not_for),
    _kind("RuntimeError", r"could not infer output dtype", lambda _, given: f"a mean of whole numbers has no dtype: make them floats first.{given.dtypes}"),
    _kind("RuntimeError", r"value cannot be converted to type", "the number is too large for the dtype of this tensor."),
    # what something is
    _kind("TypeError", r"'([\w.]+)' object is not callable", _not_callable),
    _kind("TypeError", r"'([\w.]+)' object is not subscriptable", _no_choice),
    _kind("TypeError", r"'([\w.]+)' object is not iterable", _no_sequence),
    _kind("TypeError", r"object of type '([\w.]+)' has no len", _no_length),
    _kind("TypeError", r"unsupported operand type\(s\) for [^:]+: '([\w.]+)' and '([\w.]+)'", _operands),
    _kind("TypeError", r"bad operand type for unary .: '([\w.]+)'", _operands),
    _kind("TypeError", r"can't multiply sequence|can only concatenate (list)", "a list does not compute entry by entry. np.asarray makes an array of it."),
    _kind("TypeError", r"must be Tensor, not ([\w.]+)", lambda found, _: f"torch needs a tensor here, and this is {_article(found[1])}."),
    _kind("TypeError", r"list indices must be integers or slices, not (\w+)", "a list takes one place in [ ]. np.asarray makes an array, which takes one for each axis."),
    _kind("TypeError", r"tuple indices must be integers or slices, not (\w+)", "a tuple takes one whole number or a slice in [ ]."),
    _kind("TypeError", r"must be real number, not", "the functions of math take one number. NumPy's and PyTorch's work on arrays."),
    # calls
    _kind("TypeError", r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", _keyword),
    _kind("TypeError", r"([\w.]+)\(\) (?:takes|missing) .*argument", _arguments),
    _kind("TypeError", r"([\w.]+)\(\) (?:received an invalid combination of|got multiple values for) argument", _arguments),
    _kind("KeyError", r".{1,60}", _key),
    # memory and gradients
    _kind("RuntimeError", r"view size is not compatible", "view cannot read a tensor in another order than it lies in memory, as after transpose. reshape can: it copies if needed."),
    _kind("ValueError", r"read-only", "this array may not be written to: NumPy made it from another one, as broadcast_to does. .copy() makes one of your own."),
    _kind("RuntimeError", r"more than one element of the written-to tensor refers to a single memory", "several entries of this tensor are one place in memory, as after expand. .clone() makes one of your own."),
    _kind("RuntimeError", r"does not require grad and does not have a grad_fn", "no gradient can come through: .detach(), .data, .item(), NumPy, torch.tensor or no_grad cuts the result off from the inputs."),
    _kind("RuntimeError", r"Can't call numpy\(\) on Tensor that requires grad", "NumPy does not know gradients. Stay in PyTorch, so that they come through."),
    _kind("RuntimeError", r"modified by an inplace operation|leaf Variable that requires grad", "a tensor that the gradients need is changed in place. Compute a new one instead."),
    # numbers
    _kind("ZeroDivisionError", r"", "something is divided by 0."),
    _kind("OverflowError", r"", "a number is too large for its type."),
    _kind("ValueError", r"math domain error", "a function of math has no value there, such as the root or logarithm of a negative number, or a logarithm of 0."),
)  # fmt: skip


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _article(name: str) -> str:
    """Return the name of a type with its article."""
    usual = {"NoneType": "None", "numpy.ndarray": "an array", "ndarray": "an array", "Tensor": "a tensor"}
    if name not in usual and name not in dir(builtins) and name not in ("function", "method"):
        return f"an object of the class {name}"
    return usual.get(name) or f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _spaced(text: str) -> str:
    """Return the sizes of a shape, as Python writes them."""
    sizes = re.findall(r"-?\d+", text)
    return f"{sizes[0]}," if len(sizes) == 1 else ", ".join(sizes)


def _tuple(sizes: Sequence[int]) -> str:
    return str(tuple(sizes))


def _joined(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
