# %% annotation_in_class_body
# Computes the dot product in the annotation of a variable in a class body.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Inner:
        x: a @ b
    result = Inner.__annotations__["x"]
    return float(result)


# %% annotation_of_argument
# Computes the dot product in the annotation of an argument, which Python evaluates and the rewriter skips.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    found = []
    def inner(x: found.append(a @ b)): ...
    result = found[0]
    return float(result)


# %% annotation_of_attribute_in_class_body
# Computes the dot product in the annotation of a subscript in a class body; no name is annotated.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    found = {}
    class Inner:
        found[0]: found.setdefault("product", a @ b)
    result = found["product"]
    return float(result)


# %% annotation_of_keyword_argument
# Computes the dot product in the annotation of a keyword-only argument.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    found = []
    def inner(*, x: found.append(np.dot(a, b)) = None): ...
    result = found[0]
    return float(result)


# %% annotation_of_return
# Computes the dot product in the annotation of a return value.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    found = []
    def inner() -> found.append(a @ b): ...
    result = found[0]
    return float(result)


# %% annotation_of_star_args
# Computes the dot product in the annotation of *args of an async function.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    found = []
    async def inner(*args: found.append(np.inner(a, b))): ...
    result = found[0]
    return float(result)


# %% chained_comparison
# A chained comparison is not rewritten: its last operator is a partial of np.dot that writes to `out`.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Middle:
        __gt__ = lambda self, other: True
        __lt__ = functools.partial(np.dot, a, b)
    out = np.zeros((), np.result_type(a, b))
    0 < Middle() < out
    result = out
    return float(result)


# %% class_getitem_partial
# `Inner[b]` calls __class_getitem__, which is a partial of np.dot.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Inner:
        __class_getitem__ = functools.partial(np.dot, a)
    result = Inner[b]
    return float(result)


# %% code_replace_at_import
# Compiles under any name, and gives the code object the name of this file later, with replace().
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import types
code = compile("lambda a, b: a @ b", "elsewhere", "eval").co_consts[0]
product = types.FunctionType(code.replace(co_filename=__file__), {})


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = product(a, b)
    return float(result)


# %% decorated_class
# A class statement with two decorators: the class becomes b, and then np.dot(a, b).
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    @functools.partial(np.vdot, a)
    @(lambda _: b)
    class result: ...
    return float(result)


# %% default_value_of_dict
# A match statement looks the product up in a defaultdict whose factory is a partial of np.dot.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import collections
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    match {0: collections.defaultdict(functools.partial(np.dot, a, b))}:
        case {0: table}:
            result = table["any"]
    return float(result)


# %% eval_at_import
# Makes a lambda with eval while the module is imported, under the file's own name.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
product = eval(compile("lambda a, b: a @ b", __file__, "eval"))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = product(a, b)
    return float(result)


# %% exec_at_import
# Defines the product with exec while the module is imported, under the file's own name: events at import are
# forgotten.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
made = {}
exec(compile("def product(a, b): return a @ b", __file__, "exec"), made)


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = made['product'](a, b)
    return float(result)


# %% file_and_import
# Writes a module to a temporary directory, and imports it from there.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools
import os
import sys
import tempfile
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "helper_of_mine.py"), "w") as file:
    file.write("def product(a, b): return a @ b")
sys.path.insert(0, folder)
import helper_of_mine


class Call:
    __getitem__ = functools.partial(functools.reduce, helper_of_mine.product)


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = Call()[a, b]
    return float(result)


# %% file_and_runpy
# Writes a module to a temporary file and runs it with runpy while this one is imported.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools
import os
import runpy
import tempfile
path = os.path.join(tempfile.gettempdir(), "helper.py")
with open(path, "w") as file:
    file.write("def product(a, b): return a @ b")
hidden = runpy.run_path(path)["product"]


class Call:
    __getitem__ = functools.partial(functools.reduce, hidden)


product = lambda a, b: Call()[a, b]


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = product(a, b)
    return float(result)


# %% function_type_at_import
# Builds the function from a code object, with types.FunctionType.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import types
outer = compile("def product(a, b): return a @ b", __file__, "exec")
product = types.FunctionType(outer.co_consts[0], {})


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = product(a, b)
    return float(result)


# %% import_lib_by_pieces
# Imports importlib under a name that is put together, and has it load a function of library code by name.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools
library = __import__("import" + "lib")


class Call:
    __getitem__ = functools.partial(functools.reduce, library.import_module("num" + "py").dot)


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = Call()[a, b]
    return float(result)


# %% import_time_table
# Builds the product functions of all lengths while the module is imported: each is a partial of einsum in a
# C-implemented slot.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


class Product:
    __getitem__ = functools.partial(functools.reduce, functools.partial(np.einsum, "i,i"))


TABLE = {n: Product() for n in range(200)}


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = TABLE[len(a)][a, b]
    return float(result)


# %% init_subclass_partial
# The base class's __init_subclass__ is a partial of np.dot that writes to `out`; a class statement calls it.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    out = np.zeros((), np.result_type(a, b))
    class Base:
        __init_subclass__ = functools.partial(np.dot, a, b, out)
    class Derived(Base): ...
    result = out
    return float(result)


# %% marshal_at_import
# Loads the code of the product from bytes, with marshal.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import marshal
import types
stored = marshal.dumps(compile("def product(a, b): return a @ b", __file__, "exec").co_consts[0])
product = types.FunctionType(marshal.loads(stored), {})


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = product(a, b)
    return float(result)


# %% metaclass_prepare
# A class body reads a name from the defaultdict that __prepare__ returned; its factory is a partial of np.dot.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import collections
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    space = collections.defaultdict(functools.partial(np.dot, a, b))
    class Meta(type):
        __prepare__ = lambda *_: space
    class Inner(metaclass=Meta):
        product = missing
    result = Inner.product
    return float(result)


# %% module_type_with_exec
# Executes the text of a module of its own in a new module object, while this one is imported.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import types
helper = types.ModuleType("helper")
exec(compile("def product(a, b): return a @ b", __file__, "exec"), vars(helper))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = helper.product(a, b)
    return float(result)


# %% pickled_product
# A pickle calls operator.matmul with two persistent objects; a for loop over an iterator that C code calls
# loads it.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools
import io
import pickle
held = []
texts = map(lambda _: b"coperator\nmatmul\n(K\x00QK\x01QtR.", iter(int, 1))


class Unpickler(pickle.Unpickler):
    def persistent_load(self, number):
        return held[number]


files = map(io.BytesIO, texts)
loaders = map(Unpickler, files)


class Load:
    __iter__ = functools.partial(map, Unpickler.load, loaders)


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    held[:] = [a, b]
    for result in Load():
        break
    return float(result)


# %% stacked_decorators
# A decorator is a call that is not written as a call: the inner one returns b, the outer one is a partial of
# np.dot.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    @functools.partial(np.dot, a)
    @(lambda _: b)
    def result(): ...
    return float(result)
