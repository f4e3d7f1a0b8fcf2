"""Rewriting of student code so that every step, operator, call and index goes through a meter.

The code still does what it did before. It reaches the meter by one global name, and passes to each hook the line that
the hook was called from.
"""

from __future__ import annotations

import ast
from typing import Any

from grader.sandbox.worker.meters.values import BINARY_SYMBOLS, COMPARE_SYMBOLS, UNARY_SYMBOLS

SLICE = "attn_slice"  # `slice`, even if the student reuses that name
METER = "attn_meter"  # no leading underscores: Python would mangle the name inside a class
# These look at their caller's frame, so the student's code must call them directly.
_FRAME_BOUND = {"super", "locals", "globals", "vars", "dir"}
PLACES = 1_000_000  # a place in the code is file · PLACES + line
# Attributes that make an array. All others of an array are views or numbers, and a hook for each would be slow.
_MAKING = {"imag", "I", "H"}
_COPYING = {"flat", "real", "imag"}  # attributes that copy what is assigned to them
_CODE_RUNNERS = {"exec", "eval"}


def rewrite(tree: ast.Module, file: int, *, annotations: bool = True) -> ast.Module:
    """Return the tree with hooks; `file` is the index of this file or cell in the meter's list.

    Annotations get hooks, too, as Python evaluates them; `annotations` is false if they are only texts in this file.
    """
    tree = _Rewriter(file, annotations).visit(tree)
    return ast.fix_missing_locations(tree)


def place(file: int, line: int) -> int:
    """Return the number for a line of a file."""
    return file * PLACES + line


def file_of(at: int) -> int:
    """Return the index of the file that a place is in."""
    return at // PLACES


class _Rewriter(ast.NodeTransformer):
    def __init__(self, file: int, annotations: bool) -> None:
        self.file = file
        self.annotations = annotations
        self.classes: list[str] = []

    def hook(self, name: str, node: Any, *args: ast.expr) -> ast.Call:
        """Return a call of a hook, at the line of a node."""
        line = ast.Constant(place(self.file, getattr(node, "lineno", 0)))
        meter = ast.Attribute(ast.Name(METER, ast.Load()), name, ast.Load())
        return ast.copy_location(ast.Call(meter, [line, *args], []), node)

    def with_tick(self, body: list[ast.stmt], node: ast.AST) -> list[ast.stmt]:
        """Return a body that counts one step first; a docstring stays in front."""
        tick = ast.copy_location(ast.Expr(self.hook("tick", node)), node)
        documented = bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        return [*body[:1], tick, *body[1:]] if documented else [tick, *body]

    # steps ----------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        returns, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = self.annotation(returns)
        node.body = self.with_tick(node.body, node)
        self.watch_decorators(node)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - named by ast

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        node.body = ast.copy_location(ast.BoolOp(ast.Or(), [self.hook("tick", node), node.body]), node)
        return node

    def visit_For(self, node: ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body = self.with_tick(node.body, node)
        return node

    visit_While = visit_For  # noqa: N815

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.ifs.insert(0, self.hook("tock", node.target))  # an element that is filtered out is also a step
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.classes.append(node.name)
        self.generic_visit(node)
        self.classes.pop()
        self.watch_decorators(node)
        return node

    def watch_decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Let the meter call the decorators: one of them may be a function of a library."""
        node.decorator_list = [self.hook("decorator", one, one) for one in node.decorator_list]

    def annotation(self, node: ast.expr | None) -> ast.expr | None:
        return self.visit(node) if node is not None and self.annotations else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = self.annotation(node.annotation) or node.annotation
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.defaults = [self.visit(default) for default in node.defaults]
        node.kw_defaults = [default and self.visit(default) for default in node.kw_defaults]
        for argument in (*node.posonlyargs, *node.args, node.vararg, *node.kwonlyargs, node.kwarg):
            if argument is not None:
                argument.annotation = self.annotation(argument.annotation)
        return node

    # patterns cost nothing, so they get no hooks
    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.guard = node.guard and self.visit(node.guard)
        node.body = [self.visit(statement) for statement in node.body]
        return node

    # work -----------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        self.generic_visit(node)
        if name in _CODE_RUNNERS:  # called directly, because they use the caller's frame; the hook only notes it
            note = self.hook("hatched", node, ast.Constant(name))
            return ast.copy_location(ast.BoolOp(ast.Or(), [note, node]), node)
        if name in _FRAME_BOUND:
            return node
        call = self.hook("call", node, node.func, *node.args)
        for keyword in node.keywords:
            if keyword.arg is None:  # `f(**settings)`
                keyword.value = self.hook("unpacked", node, keyword.value)
        call.keywords = node.keywords
        return call

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self.hook("binary", node, ast.Constant(BINARY_SYMBOLS[type(node.op)]), node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant):
            return node
        return self.hook("unary", node, ast.Constant(UNARY_SYMBOLS[type(node.op)]), node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if all(isinstance(one, ast.Is | ast.IsNot) for one in node.ops):
            return node
        if len(node.ops) != 1:  # a chained comparison is between numbers: an array has no truth value
            node.comparators = [self.hook("chained", one, one) for one in node.comparators]
            return node
        name = ast.Constant(COMPARE_SYMBOLS[type(node.ops[0])])
        return self.hook("compare", node, name, node.left, node.comparators[0])

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            return self.hook("item", node, node.value, _index(node.slice))
        node.value = self.hook("place", node, node.value)  # assigned to, or deleted
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and node.attr in _MAKING:
            return self.hook("attribute", node, node.value, ast.Constant(node.attr))
        if not isinstance(node.ctx, ast.Load) and node.attr in _COPYING:
            node.value = self.hook("overwritten", node, node.value)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = self.hook("formatted", node, self.visit(node.value))
        for part in node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else ():
            if isinstance(part, ast.FormattedValue):
                part.value = self.hook("width", node, self.visit(part.value))
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        parts = zip(node.keys, node.values, strict=True)
        node.values = [self.hook("unpacked", value, value) if key is None else value for key, value in parts]
        node.keys = [key and self.key(key) for key in node.keys]
        return node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        node.elts = [one if isinstance(one, ast.Starred) else self.key(one) for one in node.elts]
        return node

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        self.generic_visit(node)
        node.key = self.key(node.key)
        return node

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        node.elt = self.key(node.elt)
        return node

    def key(self, node: ast.expr) -> ast.expr:
        """Return a key with a hook, unless it is written down as it is: only a tuple takes longer than a step."""
        return node if isinstance(node, ast.Constant) else self.hook("key", node, node)

    def visit_Match(self, node: ast.Match) -> ast.AST:
        self.generic_visit(node)
        patterns = [part for case in node.cases for part in ast.walk(case.pattern)]
        if any(isinstance(one, ast.MatchStar) or getattr(one, "rest", None) for one in patterns):
            node.subject = self.hook("unpacked", node, node.subject)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = self.hook("spread", node, node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        parts = [part for target in node.targets for part in ast.walk(target)]
        if any(isinstance(part, ast.Starred) and isinstance(part.ctx, ast.Store) for part in parts):
            node.value = self.hook("spread", node, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        operator, value = ast.Constant(BINARY_SYMBOLS[type(node.op)]), self.visit(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            loaded = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            augmented = self.hook("augment", node, operator, loaded, value)
            return ast.copy_location(ast.Assign([target], augmented), node)
        owner = self.visit(target.value)
        if isinstance(target, ast.Subscript):
            held = self.hook("held", node, owner, _index(self.visit(target.slice)))
            call = self.hook("augment_item", node, operator, held, value)
        else:
            held = self.hook("held_attribute", node, owner, ast.Constant(self.mangled(target.attr)))
            call = self.hook("augment_attribute", node, operator, held, value)
        return ast.copy_location(ast.Expr(call), node)

    def mangled(self, name: str) -> str:
        """Return the name Python gives to `self.__name` inside a class."""
        if not self.classes or not name.startswith("__") or name.endswith("__"):
            return name
        return f"_{self.classes[-1].lstrip('_')}{name}"


def _index(node: ast.expr) -> ast.expr:
    """Return an index as an ordinary expression: `1:n` is only allowed inside brackets."""
    if isinstance(node, ast.Slice):
        parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        return ast.copy_location(ast.Call(ast.Name(SLICE, ast.Load()), parts, []), node)
    if isinstance(node, ast.Tuple):
        node.elts = [_index(part) for part in node.elts]
        node.ctx = ast.Load()
    return node
