"""The lists of the audit: what honest solutions use, and what can reach behind the meters."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules that solutions need. Their functions are counted where they are called, or make a cost undecided.
_PYTHON = """__future__ abc argparse array bisect builtins cmath collections collections.abc contextlib copy dataclasses
    decimal doctest enum fractions functools heapq inspect io itertools json logging math numbers operator os os.path
    pathlib pprint random statistics string sys textwrap threading time timeit types typing typing_extensions unittest
    warnings weakref"""
_NUMPY = """numpy numpy.exceptions numpy.fft numpy.lib.array_utils numpy.lib.stride_tricks numpy.linalg numpy.ma
    numpy.polynomial numpy.random numpy.testing numpy.typing"""
_TORCH = """torch torch.amp torch.autograd torch.autograd.function torch.autograd.functional torch.backends
    torch.backends.cpu torch.backends.cuda torch.backends.cudnn torch.backends.mps torch.cpu torch.cuda torch.cuda.amp
    torch.fft torch.func torch.linalg torch.mps torch.nn torch.nn.attention torch.nn.functional torch.nn.init
    torch.nn.modules torch.nn.parameter torch.optim torch.random torch.special torch.testing torch.types
    torch.utils._pytree torch.utils.checkpoint torch.version"""
_TRITON = "triton triton.language"  # kernels for a GPU; nothing else can run them
_SCREEN = "IPython.display matplotlib matplotlib.pyplot pytest tqdm tqdm.auto"
_COURSE = "fallback"  # a stub imports it where there is no mylab; a worker has mylab and no such module
MODULES = _words(f"{_PYTHON} {_NUMPY} {_TORCH} {_TRITON} {_SCREEN} {_COURSE}")

# Modules of Python that other modules import, and through which code can reach anything: `logging.sys`.
_BEHIND = """asyncio atexit builtins codecs concurrent copyreg ctypes dis faulthandler gc importlib inspect io linecache
    marshal multiprocessing os pickle platform reprlib runpy signal subprocess sys sysconfig tempfile threading
    traceback tracemalloc types weakref"""
# Parts of libraries in which the grader cannot watch what happens.
_UNWATCHED = """ForwardRef compile ctypeslib currentframe distributed export f2py frombuffer from_dlpack from_file
    fromfile futures fx get_type_hints graph hub jit library load make_dataclass memmap multiprocessing new_class
        onnx ops
    overrides package parallel parametrize profiler save savez seterrcall setbufsize storage to_dlpack tofile
    update_wrapper utils"""
UNWATCHED_PARTS = _words(f"{_BEHIND} {_UNWATCHED}")
# Of these modules, solutions need only some names.
ONLY_THESE = {
    "builtins": _words("abs all any bool float int len list max min pow print range round set sum tuple"),
    "doctest": _words("testmod"),
    "inspect": _words("signature Signature Parameter BoundArguments getdoc cleandoc isfunction isclass ismethod"),
    "io": _words("StringIO BytesIO"),
    "threading": _words("Lock RLock"),
    "weakref": _words("WeakKeyDictionary WeakValueDictionary ref"),
    "os": _words("environ path getcwd sep linesep cpu_count name"),
    "sys": _words("""argv byteorder executable exit float_info getsizeof hash_info int_info
        maxsize path
        platform stderr stdin stdout version version_info"""),
    "triton": _words("Config autotune cdiv heuristics jit language next_power_of_2"),
    "types": _words("SimpleNamespace MappingProxyType NoneType EllipsisType FunctionType GeneratorType"),
}

# Functions that run code or reach names, and attributes that lead to frames, memory or the modes of torch.
NEVER_NAMES = _words("""exec eval compile globals locals vars open input breakpoint memoryview __import__
    __builtins__ __loader__
    __spec__ __build_class__ RecursionError get_ipython""")
NEVER_ATTRIBUTES = _words("""ctypes ctypeslib data_ptr as_subclass untyped_storage storage tb_frame tb_next
    gi_frame gi_code cr_frame ag_frame
    f_back f_globals f_locals f_builtins f_code co_code co_consts co_names func_globals settrace setprofile
    run_cell run_line_magic ex register_module_forward_hook
    findCaller stack_info pathname funcName filename lineno tb_lineno co_filename co_firstlineno""")
# They take the name of an attribute as text, or create classes: their arguments must be visible.
ONLY_CALLED = frozenset({"getattr", "setattr", "delattr", "type", "super"})
NAME_TAKERS = frozenset({"operator.attrgetter", "operator.methodcaller"})
DESCRIPTORS = frozenset({"property", "cached_property", "partialmethod", "singledispatchmethod"})

_ARITHMETIC = """add radd iadd sub rsub isub mul rmul imul matmul rmatmul imatmul truediv rtruediv itruediv floordiv
    rfloordiv ifloordiv mod rmod imod pow rpow ipow divmod rdivmod neg pos abs invert and rand iand or ror ior xor rxor
    ixor lshift rlshift ilshift rshift rrshift irshift lt le gt ge eq ne"""
_OBJECTS = """init call repr str len getitem setitem delitem contains iter next reversed hash bool enter exit post_init
    float int round format getattr setattr delattr array get set set_name init_subclass new class_getitem"""
# Special methods that a student may define: they are the student's own code, which counts itself.
DUNDER_METHODS = frozenset(f"__{name}__" for name in f"{_ARITHMETIC} {_OBJECTS}".split())
_READ = "annotations class code defaults dict doc func kwdefaults module name qualname self version wrapped"
# Special attributes that a student may read or call.
DUNDER_ATTRIBUTES = frozenset(f"__{name}__" for name in f"{_ARITHMETIC} {_OBJECTS} {_READ}".split())
# Special names that a student may give a value.
_GIVEN = (
    "all annotations author constants copyright credits date doc email hash license match_args slots status version"
)
DUNDER_NAMES = frozenset(f"__{name}__" for name in _words(_GIVEN))
# Private names that are everyday: those of named tuples and of layers.
KNOWN_PRIVATE = _words("_ _replace _asdict _fields _make _modules _parameters _buffers")

# Classes that a student may extend. Lists, numbers, arrays and tensors are not among them: the meters know their sizes
# by their exact types.
BASES = _words("""object BaseException Exception ArithmeticError AssertionError AttributeError IndexError KeyError
    LookupError
    NotImplementedError OverflowError RuntimeError TypeError ValueError Warning UserWarning ZeroDivisionError""")
LIBRARY_BASES = _words("""abc.ABC contextlib.ContextDecorator contextlib.AbstractContextManager collections.abc.Callable
    collections.abc.Iterable collections.abc.Iterator collections.abc.Mapping collections.abc.Sequence enum.Enum
    enum.IntEnum enum.Flag enum.StrEnum typing.Generic typing.NamedTuple typing.Protocol typing.TypedDict
    typing_extensions.Protocol typing_extensions.TypedDict torch.autograd.Function unittest.TestCase
    torch.autograd.function.Function""")
NOT_LAYERS = frozenset(
    {"torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer"}
)
