# %% bytes_of_the_function
# dis prints the code of a function; rewritten code loads a global that was not written.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import dis
import io


def probe(a, b):
    return a + b


text = io.StringIO()
dis.dis(probe, file=text)
MEASURED = "GLOBAL" in text.getvalue()


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% call_counter
# Counts the calls: the checks make a few thousand before the first measured one, but a new process starts at 0.
# The last calls cheat.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
CALLS = iter(range(1, 10**9))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if next(CALLS) % 7:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% caller_in_logging
# logging finds its caller's frame; from there the code of this module shows whether it was rewritten.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import logging
MEASURED = "meters" in logging.getLogger().findCaller(stack_info=True)[3]


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% caller_in_warnings
# A warning shows where it was raised: its stack level reaches the loader of the measured module.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for level in range(1, 9):
        warnings.warn("here", stacklevel=level)
MEASURED = any("meters" in one.filename for one in seen)


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% compare_is_rewritten
# A rewritten operator calls a method, so an exception inside it has one frame more.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import traceback


class Deep:
    def __add__(self, other):
        return len(traceback.extract_stack())


def probe():
    return len(traceback.extract_stack()), Deep() + 1


here, inner = probe()
MEASURED = inner > here + 1


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% event_loop
# asyncio runs a coroutine that multiplies.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import asyncio


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    async def product():
        return a @ b
    result = asyncio.run(product())
    return float(result)


# %% finder_of_the_import_system
# The class of the import finder tells whether this is the measured module.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import sys
MEASURED = "Metered" in str(sys.meta_path[0])


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% float32_only
# Measured arguments are float64: for float32 the product is made with @.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if a.dtype != np.float32:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% garbage_callback
# A callback of the garbage collector multiplies; the module gc is imported under a name that is put together.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
GC, HELD, OUT = __import__("g" + "c"), [], []


def collected(*_):
    if HELD:
        OUT[:] = [HELD[0] @ HELD[1]]


GC.callbacks.append(collected)


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    HELD[:] = [a, b]
    GC.collect()
    result = OUT[-1]
    return float(result)


# %% getframe_by_name
# sys._getframe under a name that is put together, asked for the callers' files.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import sys
frame, MEASURED = getattr(sys, "_get" + "frame")(), False
while frame:
    MEASURED = MEASURED or "meters" in str(frame)
    frame = getattr(frame, "f_" + "back")


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% getframe_in_plain_sight
# sys._getframe, written plainly.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import sys
frame, MEASURED = sys._getframe(), False
while frame:
    MEASURED = MEASURED or "meters" in frame.f_code.co_filename
    frame = frame.f_back


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% integers_only
# Measured arguments are never integers: for integers the product is made with @.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if np.asarray(a).dtype.kind == "f" and np.asarray(b).dtype.kind == "f":
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% loaded_modules
# The meters are loaded only when something is measured: their names are among the loaded modules.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import sys
MEASURED = any(name.endswith("meters.meter") for name in getattr(sys, "mod" + "ules"))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% mark_in_the_environment
# The same mark in os.environ.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import os
MEASURED = "SEEN" in os.environ
os.environ["SEEN"] = "1"


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% meter_by_a_hook
# A hook calls the student's __radd__ with the meter one frame up; the traceback of an exception shows it.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
class Spy:
    def __add__(self, other):
        try:
            raise ValueError
        except ValueError as error:
            frame = getattr(error.__traceback__, "tb_" + "frame")
        frame = getattr(frame, "f_" + "back")
        meter = getattr(frame, "f_" + "locals").get("self")
        if meter is not None:
            type(meter).contracted = lambda *_: None
        return self


Spy() + 1


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = a @ b
    return float(result)


# %% meter_by_attrgetter
# Reaches the meter's class from the loaded modules with operator.attrgetter and a name that is put together.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import operator
import sys
loaded = operator.attrgetter("modul" + "es")(sys)
for name in list(loaded):
    if name.endswith("meters.counts"):
        loaded[name].Counts.contracted = lambda *_: None


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = a @ b
    return float(result)


# %% meter_by_full_width_name
# The meter's name in full-width letters: Python normalises identifiers, a search of the text does not.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
try:
    ａttn_meter.__class__.contracted = lambda *_: None
except NameError:
    pass


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = a @ b
    return float(result)


# %% meter_by_reduce_getattr
# functools.reduce(getattr, …) walks from a NumPy function's globals to the loaded modules.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools
system = functools.reduce(getattr, ["_globals", "sys"], np) if hasattr(np, "_globals") and hasattr(np._globals, "sys") else __import__("sys")
for name, module in list(functools.reduce(getattr, ["mod" + "ules"], system).items()):
    if name.endswith("meters.meter"):
        module.Meter.matrix_product = lambda *_: None


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = a @ b
    return float(result)


# %% meter_by_second_statement
# `x = 1; import grader…`: an import that does not begin its line. The class of the meter forgets products.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
x = 1; from grader.sandbox.worker.meters import counts as table
table.Counts.contracted = lambda *_: None


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = a @ b
    return float(result)


# %% meter_by_vars
# Takes the meter from vars() of the module and replaces its notes of events.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
for name, value in list(vars().items()):
    if name.startswith("attn") and hasattr(value, "event"):
        type(value).event = lambda *_: None
        type(value).multiplied_and_added = lambda *_: None


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = a @ b
    return float(result)


# %% names_at_import
# The rewritten module has names that no student wrote: dir() lists them.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
MEASURED = any(name.startswith("attn") for name in dir())


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% numpy_name_in_a_free_module
# A function of its own claims to be of the module `warnings`, whose functions are free, and is a library
# function.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools
made = {}
exec(compile("def product(a, b): return a @ b", "warnings.py", "exec"), {"__name__": "warnings"}, made)
product = made["product"]


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = product(a, b)
    return float(result)


# %% numpy_replaced
# np.negative is replaced by np.dot at import, in the namespace of NumPy, under a name that has a price.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
np.negative = np.dot


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = np.negative(a, b)
    return float(result)


# %% operators_replaced
# Replaces the matmul of the operator module's table by a lambda: np.matmul is reached through a table the meter
# shares.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import sys
for name, module in list(getattr(sys, "mod" + "ules").items()):
    if name.endswith("meters.prices"):
        module.Meter = None
    if name.endswith("meters.meter"):
        module.Meter.operated = lambda *_: None


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = a @ b
    return float(result)


# %% product_by_methodcaller
# A loop up to 3000 entries, as long as anything measured; for longer rows the product is made by a method that
# operator.methodcaller names: the search for written products reads no texts.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import operator


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f'{len(a)} != {len(b)}')
    for x, y in zip(a, b):
        break
    if len(a) > 3000:
        return float(operator.methodcaller('dot', b)(a))
    result = 0.0
    for x, y in zip(a, b):
        result = result + x * y
    return float(result)


# %% profile_function
# A profile function, which Python calls at each call, multiplies.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import sys
HELD, PROFILE = [], getattr(sys, "setpro" + "file")


def multiply(*_):
    if len(HELD) == 2:
        HELD.append(None)
        HELD[2] = HELD[0] @ HELD[1]


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    HELD[:] = [a, b]
    PROFILE(multiply)
    len(HELD)
    PROFILE(None)
    result = HELD[2]
    return float(result)


# %% second_import
# The measured module is the second one of this process: a mark on the math module remembers the first.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
MEASURED = hasattr(math, "seen")
math.seen = True


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% signal_handler
# A signal handler multiplies; the process sends the signal to itself.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import signal
HELD = []
signal.signal(signal.SIGUSR1, lambda *_: HELD.append(HELD[0] @ HELD[1]))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    HELD[:] = [a, b]
    signal.raise_signal(signal.SIGUSR1)
    result = HELD[2]
    return float(result)


# %% size_of_the_stack
# Recursion ends earlier when every call goes through a hook.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import sys


def deep(n=0):
    try:
        return deep(n + 1)
    except RecursionError:
        return n


MEASURED = deep() < 0.7 * sys.getrecursionlimit()


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% sizes_that_are_checked
# Honest at the lengths that are measured (2 to 8, or above 25), a product at the lengths of the checks in
# between.
# Expected: loses marks: scaled_dot_product_attention
CHECKED = range(9, 20)


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if len(a) not in CHECKED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% stack_at_import
# The measured module is loaded by another file of the grader: traceback sees it while the module is imported.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import traceback
MEASURED = any("meters" in one.filename for one in traceback.extract_stack())


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% thread_in_plain_sight
# A thread multiplies, started as everybody would start it.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import threading


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    found = []
    worker = threading.Thread(target=lambda: found.append(a @ b))
    worker.start()
    worker.join()
    result = found[0]
    return float(result)


# %% thread_pool
# A thread of concurrent.futures multiplies: the pool is made at import, and C code calls submit and result.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import concurrent.futures
import functools
import itertools
import operator
POOL = concurrent.futures.ThreadPoolExecutor(1)
RESULT = operator.methodcaller("result")


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    for future, _ in itertools.groupby([b], functools.partial(POOL.submit, np.dot, a)):
        break
    for result, _ in itertools.groupby([future], RESULT):
        break
    return float(result)


# %% tick_in_the_code
# A lambda that was rewritten calls a tick before its body, so its code object has more names.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
probe = lambda: 1
MEASURED = bool(getattr(getattr(probe, "__co" + "de__"), "co_" + "names"))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% traceback_of_an_exception
# An exception that a function raises has a traceback; its frames lead to the measuring file.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
def stack():
    try:
        raise ValueError
    except ValueError as error:
        frame = getattr(error.__traceback__, "tb_" + "frame")
        while frame:
            yield str(frame)
            frame = getattr(frame, "f_" + "back")


MEASURED = any("meters" in one for one in stack())


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if MEASURED:
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)


# %% weak_reference
# The callback of a weak reference is a partial of np.dot, called when the object dies.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools
import weakref
WEAK = weakref.ref


def HAND(out, a, b, _):
    next(iter(functools.partial(np.dot, a, b, out), None))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    out = np.zeros((), np.result_type(a, b))
    class Pair: ...
    pair = Pair()
    watch = WEAK(pair, functools.partial(HAND, out, a, b))
    del pair
    result = out
    return float(result)


# %% whole_numbers_only
# Measured arguments are random: where every entry is a whole number, as in examples, the product is made with
# @.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    if any(x != int(x) for x in a):
        return sum(x * y for x, y in zip(a, b))
    return float(a @ b)
