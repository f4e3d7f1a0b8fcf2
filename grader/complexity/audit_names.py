"""What a student's file says: its cells, what its names stand for, and the lists of names that the audit knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.core import syntax
from grader.core.syntax import without_magic

MOST_MAGIC = 200  # IPython lines in a cell


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules that solutions need. Their functions are counted where they are called, or make a cost undecided.
_PYTHON = """__future__ abc argparse array bisect builtins cmath collections collections.abc contextlib copy dataclasses
    decimal doctest enum fractions functools heapq inspect io itertools json logging math numbers operator os os.path
    pathlib pprint random re statistics string sys textwrap threading time timeit types typing typing_extensions
    unittest warnings weakref"""
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
# Libraries that students know, and import although they are not installed.
USUAL_LIBRARIES = words("scipy sklearn pandas jax cupy tensorflow numba einops seaborn")
MODULES_ALLOWED = words(f"{_PYTHON} {_NUMPY} {_TORCH} {_TRITON} {_SCREEN} {_COURSE}")

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
UNWATCHED_PARTS = words(f"{_BEHIND} {_UNWATCHED}")
# Of these modules, solutions need only some names.
ONLY_THESE = {
    "builtins": words("abs all any bool float int len list max min pow print range round set sum tuple"),
    "doctest": words("testmod"),
    "inspect": words("signature Signature Parameter BoundArguments getdoc cleandoc isfunction isclass ismethod"),
    "io": words("StringIO BytesIO"),
    "threading": words("Lock RLock"),
    "weakref": words("WeakKeyDictionary WeakValueDictionary ref"),
    "os": words("environ path getcwd sep linesep cpu_count name"),
    "re": words("""compile escape findall finditer fullmatch match search split sub subn Match Pattern error ASCII
        IGNORECASE MULTILINE DOTALL VERBOSE UNICODE A I M S X U"""),
    "sys": words("""argv byteorder executable exit float_info getsizeof hash_info int_info
        maxsize path
        platform stderr stdin stdout version version_info"""),
    "triton": words("Config autotune cdiv heuristics jit language next_power_of_2"),
    "types": words("SimpleNamespace MappingProxyType NoneType EllipsisType FunctionType GeneratorType"),
}

# Functions that run code or reach names, and attributes that lead to frames, memory or the modes of torch.
NEVER_NAMES = words("""exec eval compile globals locals vars open input breakpoint memoryview __import__
    __builtins__ __loader__
    __spec__ __build_class__ RecursionError get_ipython""")
NEVER_ATTRIBUTES = words("""ctypes ctypeslib data_ptr as_subclass untyped_storage storage tb_frame tb_next
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
DUNDER_NAMES = frozenset(f"__{name}__" for name in words(_GIVEN))
# Private names that are everyday: those of named tuples and of layers.
KNOWN_PRIVATE = words("_ _replace _asdict _fields _make _modules _parameters _buffers")

# Classes that a student may extend. Lists, numbers, arrays and tensors are not among them: the meters know their sizes
# by their exact types.
BUILT_IN_CLASSES = words("""object BaseException Exception ArithmeticError AssertionError AttributeError IndexError
    KeyError LookupError
    NotImplementedError OverflowError RuntimeError TypeError ValueError Warning UserWarning ZeroDivisionError""")
LIBRARY_CLASSES = words("""
    abc.ABC contextlib.ContextDecorator contextlib.AbstractContextManager collections.abc.Callable
    collections.abc.Iterable collections.abc.Iterator collections.abc.Mapping collections.abc.Sequence enum.Enum
    enum.IntEnum enum.Flag enum.StrEnum typing.Generic typing.NamedTuple typing.Protocol typing.TypedDict
    typing_extensions.Protocol typing_extensions.TypedDict torch.autograd.Function unittest.TestCase
    torch.autograd.function.Function""")
NOT_LAYERS = frozenset(
    {"torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer"}
)


@dataclass(frozen=True)
class ParsedCell:
    """A cell, or a script: its name in messages, and its tree. There is no tree if it is too much for the parser."""

    name: str
    tree: ast.Module | None


def parse_cells(file: str, cells: Sequence[bytes], *, notebook: bool) -> list[ParsedCell]:
    """Return the cells of a student's file as the worker would run them. One that is not Python never runs."""
    found: list[ParsedCell] = []
    for number, cell in enumerate(cells, 1):
        name = f"{file}[{number}]" if notebook else file
        try:
            tree = parse_cell(cell.decode("utf-8", "replace"), notebook=notebook)
        except (RecursionError, MemoryError, ValueError):
            found.append(ParsedCell(name, None))
            continue
        if tree is not None:
            found.append(ParsedCell(name, tree))
    return found


def parse_cell(cell: str, *, notebook: bool) -> ast.Module | None:
    """Return the tree of a cell; None if it is not Python. One that is too much raises an error, such as ValueError."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if notebook else 0
    for _ in range(MOST_MAGIC):  # each IPython line costs a new attempt: a file of nothing else must not take minutes
        try:
            return syntax.parse(cell, "<audit>", flags=flags)
        except SyntaxError as error:
            fixed = without_magic(cell, error.lineno or 0) if notebook else None
            if fixed is None:
                return None
            cell = fixed
    raise ValueError("too many IPython lines")


def without_main(tree: ast.Module) -> ast.Module:
    """Leave out `if __name__ == "__main__":`. A file that is graded is never the main program."""
    return ast.Module([node for node in tree.body if not _is_for_main(node)], tree.type_ignores)


def _is_for_main(node: ast.stmt) -> bool:
    test = node.test if isinstance(node, ast.If) and not node.orelse else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    (other,) = test.comparators
    return is_name(test.left, "__name__") and isinstance(other, ast.Constant) and other.value == "__main__"


@dataclass(frozen=True)
class BoundNames:
    """What the names of a student's file stand for, wherever they are bound."""

    libraries: Mapping[str, str]  # a name, and the path in a library that it stands for
    own: frozenset[str]  # names of the student's functions, classes and attributes
    classes: frozenset[str]
    may_change_others: bool  # whether attributes of anything but `self` are given a value
    may_read_any: bool  # whether attributes are read whose names are not in the text
    has_vmap: bool  # whether torch.vmap is named

    @classmethod
    def of(cls, trees: list[ast.Module]) -> BoundNames:
        """Collect the names of all cells of a file."""
        nodes = [node for tree in trees for node in ast.walk(tree)]
        libraries: dict[str, str] = {}
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    path = alias.name if alias.asname else alias.name.partition(".")[0]
                    libraries[alias.asname or path] = path
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    libraries[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
                    if (node.module, alias.name) == ("torch.nn", "*"):
                        libraries["Module"] = "torch.nn.Module"  # what a layer extends
        assigned = [
            (node.targets[0].id, node.value)
            for node in nodes
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        ]
        for _ in range(3):  # an alias of an alias of an alias
            for name, value in assigned:
                if (known := library_path(value, libraries)) is not None:
                    libraries.setdefault(name, known)
        own = {name for node in nodes for name in _bound(node)}
        classes = frozenset(node.name for node in nodes if isinstance(node, ast.ClassDef))
        changes, reads, vmap = (any(map(is_one, nodes)) for is_one in (_changes_another, _reads_any, _is_vmap))
        return cls(libraries, frozenset(own), classes, changes, reads, vmap)

    @property
    def libraries_may_be_values(self) -> bool:
        """Whether a library as a value is harmless: all that is done with it is to read attributes that are checked."""
        return not (self.may_change_others or self.may_read_any or self.own & UNWATCHED_PARTS)

    def path(self, node: ast.AST) -> str | None:
        """Return the path in a library that an expression stands for, such as `numpy.add.reduce`."""
        return library_path(node, self.libraries)

    def paths(self, node: ast.AST) -> Iterator[str]:
        """Yield what a node names in a library, also by a text: `getattr(F, "relu")`, `methodcaller("dot")`."""
        if isinstance(node, ast.Name | ast.Attribute) and (path := self.path(node)):
            yield path
        elif isinstance(node, ast.Call) and (is_name(node.func, "getattr") or self.path(node.func) in NAME_TAKERS):
            texts = {one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            yield from (f"{root}.{text}" for text in texts - self.own for root in ("numpy", "torch"))


def library_path(node: ast.AST, libraries: Mapping[str, str]) -> str | None:
    """Return the path in a library that a name or a chain of attributes stands for."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in libraries:
        return None
    return ".".join([libraries[node.id], *reversed(parts)])


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names and attributes that a node gives a value."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "register_buffer":
        yield from (one.value for one in node.args[:1] if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _changes_another(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load):
        return False
    return not (is_name(node.value, "self") or is_name(node.value, "cls"))


def _reads_any(node: ast.AST) -> bool:
    """Whether a node can read any attribute: `x.__dict__`, or `getattr` with a name that is put together."""
    if isinstance(node, ast.Call) and is_name(node.func, "getattr") and len(node.args) > 1:
        return not isinstance(node.args[1], ast.Constant)
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _is_vmap(node: ast.AST) -> bool:
    names = (getattr(node, key, None) for key in ("id", "attr", "name", "value"))
    return any(type(name) is str and name == "vmap" for name in names)


def is_name(node: ast.AST | None, name: str = "") -> bool:
    """Whether a node is a name, or this one."""
    return isinstance(node, ast.Name) and name in ("", node.id)
