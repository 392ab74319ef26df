"""Loops over `gpu.prange` in a function's source: what they read and write, and each body as a function of its own.

The function is taken from its source, so that messages point at its lines. A loop's body becomes a device function of
the loop variable, of what it reads from around it, and of the reductions that it adds to; where the loop stood, the
function calls what launches it. Variables that an iteration would hand to the next are refused.
"""

from __future__ import annotations

import ast
import copy
import inspect
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ._errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable

LOOPS, ATOMIC, FACTORY = "_gpu_loops", "_gpu_atomic", "_gpu_factory"

# Operators of a reduction, by what combines its parts; of an update in memory, by the atomic operation.
_COMBINES = {
    ast.Add: "add", ast.Sub: "add", ast.Mult: "mul", ast.Div: "mul",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip
_ATOMICS = {ast.Add: "add", ast.Sub: "sub", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_CALLS = {"min": "min", "max": "max", "minimum": "min", "maximum": "max", "fmin": "min", "fmax": "max"}
_OF_ARRAYS = ("shape", "size", "ndim", "dtype", "T", "real", "imag", "strides", "itemsize", "nbytes", "flat")
_ORDERS = {ast.Gt: "max", ast.GtE: "max", ast.Lt: "min", ast.LtE: "min"}


class Loop(NamedTuple):
    """A loop as a device function.

    Attributes
    ----------
    body : function
        Of the loop variable, the values of `live`, and the reductions so far; it returns the reductions.
    live : tuple of str
        Variables of the function around it that it reads.
    reductions : tuple of (str, str)
        Variables that it adds to, and the operations that combine them.
    """

    body: FunctionType
    live: tuple[str, ...]
    reductions: tuple[tuple[str, str], ...]


class _Source:
    """The function's syntax tree, with the positions that its file has."""

    def __init__(self, function: FunctionType) -> None:
        self.function, self.file = function, function.__code__.co_filename
        if function.__name__ == "<lambda>":
            raise UnsupportedError("gpu.parallel takes a function made by def, and this is a lambda")
        missing = (
            f"gpu.parallel: the source of {function.__name__} isn't there, and loops are found in it: put the function "
            "into a file"
        )
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise UnsupportedError(missing) from None
        self.lines = {first + k: line.rstrip("\n") for k, line in enumerate(lines)}
        indented = lines[0][:1].isspace()
        tree = ast.parse(("if 1:\n" if indented else "") + "".join(lines))
        ast.increment_lineno(tree, first - 1 - indented)
        found = tree.body[0].body[0] if indented else tree.body[0]  # type: ignore[attr-defined]
        # Code made by exec() may count as the program's own "<string>": then this is something else.
        if not isinstance(found, ast.FunctionDef) or found.name != function.__code__.co_name:
            raise UnsupportedError(missing)
        found.decorator_list = []
        self.tree = found

    def refuse(self, node: Any, message: str, advice: str) -> NoReturn:
        """Raise an error that shows a place."""
        line, col, end = node.lineno, node.col_offset, node.end_col_offset
        text = self.lines.get(line, "")
        if node.end_lineno != line:
            end = len(text)
        place = f"{self.file}:{line}:{col + 1}"
        caret = f"      | {' ' * col}{'^' * max(1, end - col)}"
        whole = f"{place}: error: {message}\n{line:5} | {text}\n{caret}\n   help: {advice}"
        what = {"code": "PARALLEL", "message": message, "file": self.file, "line": line, "col": col + 1, "help": advice}
        raise UnsupportedError(f"{whole}\n   in parallel function {self.function.__name__}", [what])


def split(function: FunctionType, prange: Any) -> tuple[FunctionType, list[Loop], CellType]:
    """Take the parallel loops out of a function.

    Parameters
    ----------
    function : function
    prange : object
        What the name of a parallel range stands for.

    Returns
    -------
    function, list of Loop, cell
        The function with calls in place of the loops; the cell is for the list of what it calls, by number.

    Raises
    ------
    gpu.UnsupportedError
        No source, or a loop whose iterations depend on each other.
    """
    source = _Source(function)
    finder = _Finder(source, prange)
    finder.visit(source.tree)
    if not finder.found:
        source.refuse(
            _head(source.tree), f"{function.__name__} has no loop over gpu.prange", "write 'for i in gpu.prange(n):'"
        )
    code = _compiled(source, [source.tree], function.__code__.co_freevars)
    cell = CellType()
    return _bound(function, code, {LOOPS: cell}), [_made(source, b) for b in finder.found], cell


def _head(tree: ast.FunctionDef) -> ast.AST:
    """The line of ``def``, for a message."""
    name = ast.Name(tree.name, lineno=tree.lineno, col_offset=tree.col_offset + 4)
    name.end_lineno, name.end_col_offset = tree.lineno, tree.col_offset + 4 + len(tree.name)
    return name


def _compiled(source: _Source, body: list[Any], free: Iterable[str]) -> CodeType:
    """The code of a function whose free variables are those of `free`, and ours."""
    names = [*free, LOOPS, ATOMIC]
    args = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    factory = ast.FunctionDef(FACTORY, args, body, [], None)
    if hasattr(factory, "type_params"):
        factory.type_params = []
    tree = ast.fix_missing_locations(ast.Module([factory], []))
    code = compile(tree, source.file, "exec", dont_inherit=True)
    outer = next(c for c in code.co_consts if isinstance(c, CodeType))
    return next(c for c in outer.co_consts if isinstance(c, CodeType) and c.co_name == body[0].name)


def _bound(function: FunctionType, code: CodeType, ours: dict[str, CellType]) -> FunctionType:
    """A function of new code, with globals and free variables of an old one."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)) | ours
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__, made.__qualname__, made.__module__ = (
        function.__kwdefaults__,
        function.__qualname__,
        function.__module__,
    )
    return made


def _made(source: _Source, found: _Body) -> Loop:
    """The body of a loop as a function."""
    from . import _names

    function = source.function
    args = [found.variable, *found.live, *(name for name, _ in found.reductions)]
    definition = ast.FunctionDef(
        function.__name__,
        ast.arguments([], [ast.arg(name) for name in args], None, [], [], None, []),
        [*found.statements, ast.Return(found.result())],
        [],
        None,
    )
    if hasattr(definition, "type_params"):
        definition.type_params = []
    ast.copy_location(definition, source.tree)
    code = _compiled(source, [definition], ())
    body = _bound(function, code, {ATOMIC: CellType(_names.intrinsics["atomic"])})
    body.__defaults__ = body.__kwdefaults__ = None
    return Loop(body, tuple(found.live), tuple(found.reductions))


# ---- finding the loops


class _Finder(ast.NodeTransformer):
    """Puts calls in place of the outermost parallel loops."""

    def __init__(self, source: _Source, prange: Any) -> None:
        self.source, self.prange = source, prange
        self.found: list[_Body] = []
        function = source.function
        self.own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
        self.free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def value(self, node: ast.AST) -> Any:
        """What a dotted name stands for when the function is decorated; None: not known."""
        if isinstance(node, ast.Attribute):
            return getattr(self.value(node.value), node.attr, None)
        if not isinstance(node, ast.Name) or node.id in self.own:
            return None
        if node.id in self.free:
            try:
                return self.free[node.id].cell_contents
            except ValueError:
                return None
        return self.source.function.__globals__.get(node.id)

    def is_prange(self, node: Any) -> bool:
        """Tell a call of prange."""
        return isinstance(node, ast.Call) and self.value(node.func) is self.prange

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self.generic_visit(node) if node is self.source.tree else node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_For(self, node: ast.For) -> Any:
        if not self.is_prange(node.iter):
            return self.generic_visit(node)
        call = node.iter
        assert isinstance(call, ast.Call)
        if not isinstance(node.target, ast.Name):
            self.source.refuse(node.target, "a parallel loop has one variable", "write 'for i in gpu.prange(n):'")
        if node.orelse:
            self.source.refuse(node.orelse[0], "a parallel loop has no 'else'", "write it after the loop")
        if call.keywords or not 1 <= len(call.args) <= 3 or any(isinstance(a, ast.Starred) for a in call.args):
            self.source.refuse(call, "prange takes one to three numbers", "write gpu.prange(start, stop, step)")
        body = _Body(self, node)
        number = len(self.found)
        self.found.append(body)
        return [ast.fix_missing_locations(ast.copy_location(s, node)) for s in self.launch(number, call, body)]

    def launch(self, number: int, call: ast.Call, body: _Body) -> list[ast.stmt]:
        """The statements in place of a loop."""
        reductions = [name for name, _ in body.reductions]
        values = [ast.Tuple(list(call.args), ast.Load())]
        values.append(ast.Tuple([body.live_value(name) for name in body.live], ast.Load()))
        values.append(ast.Tuple([ast.Name(name, ast.Load()) for name in reductions], ast.Load()))
        function = ast.Subscript(ast.Name(LOOPS, ast.Load()), ast.Constant(number), ast.Load())
        launch = ast.Call(function, values, [])
        statements: list[ast.stmt] = [ast.Expr(launch)]
        if reductions:
            targets = ast.Tuple([ast.Name(name, ast.Store()) for name in reductions], ast.Store())
            statements = [ast.Assign([targets], launch)]
        lost = sorted(body.private | {body.variable})  # no value that an iteration leaves behind can be read
        for name in lost:
            if name in self.own:
                statements.append(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)))
        if lost:
            statements.append(ast.Delete([ast.Name(name, ast.Del()) for name in lost if name in self.own]))
        return statements


# ---- one loop


class _Body:
    """What a loop's body reads and writes.

    Attributes
    ----------
    variable : str
    live, private : names
        Read from around the loop; assigned in each iteration before they are read.
    reductions : list of (str, str)
    statements : list of ast.stmt
        The body, with ``return`` for ``continue``.
    """

    def __init__(self, finder: _Finder, loop: ast.For) -> None:
        self.finder, self.source, self.loop = finder, finder.source, loop
        assert isinstance(loop.target, ast.Name)
        self.variable = loop.target.id
        self.fields = self.take_fields()
        nodes = [n for s in loop.body for n in ast.walk(s)]
        hidden = _bound_in_comprehensions(nodes)
        names = [n for n in nodes if isinstance(n, ast.Name) and n.id not in hidden]
        self.assigned = {n.id for n in names if isinstance(n.ctx, ast.Store)} - {self.variable}
        loaded = [n.id for n in names if isinstance(n.ctx, ast.Load)]
        self.refuse_statements(nodes)
        self.reductions = self.find_reductions(names)
        reduced = {name for name, _ in self.reductions}
        self.private = self.assigned - reduced
        around = finder.own | set(finder.free) | {n for n in loaded if self.is_array(n)}
        outside = [n for n in dict.fromkeys(loaded) if n in around or n in self.fields]
        self.live = [n for n in outside if n not in self.assigned and n != self.variable and not self.is_module(n)]
        _Flow(self).run()
        self.check_after(names)
        self.tainted = self.find_tainted()
        self.original = copy.deepcopy(loop.body)
        rewritten = [_Rewriter(self).visit(s) for s in loop.body]
        self.check_stores(loop.body, True)
        _Neighbours(self).check()
        self.statements = rewritten

    def take_fields(self) -> dict[str, tuple[str, str]]:
        """Attributes of objects that the loop only reads attributes of, ``self.weights``, as variables of their own."""
        nodes = [n for s in self.loop.body for n in ast.walk(s)]
        called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
        found = [
            n
            for n in nodes
            if isinstance(n, ast.Attribute)
            and isinstance(n.value, ast.Name)
            and isinstance(n.ctx, ast.Load)
            and id(n) not in called
            and n.attr not in _OF_ARRAYS
        ]
        uses = [n.id for n in nodes if isinstance(n, ast.Name)]
        reads = [n.value.id for n in found if isinstance(n.value, ast.Name)]
        objects = {name for name in reads if name in self.finder.own and uses.count(name) == reads.count(name)}
        fields: dict[str, tuple[str, str]] = {}
        for n in found:
            if isinstance(n.value, ast.Name) and n.value.id in objects:
                fields[f"_{n.value.id}_{n.attr}"] = (n.value.id, n.attr)
        taker = _FieldTaker(set(fields.values()))
        self.loop.body = [taker.visit(s) for s in self.loop.body]
        return fields

    def live_value(self, name: str) -> ast.expr:
        """What a live variable is called around the loop."""
        if name not in self.fields:
            return ast.Name(name, ast.Load())
        base, attr = self.fields[name]
        return ast.Attribute(ast.Name(base, ast.Load()), attr, ast.Load())

    def is_module(self, name: str) -> bool:
        """A free variable that is a module stays one."""
        return name in self.finder.free and inspect.ismodule(self.finder.value(ast.Name(name, ast.Load())))

    def is_array(self, name: str) -> bool:
        """A global array is passed, so that the loop sees what it holds now; other globals are constants."""
        return hasattr(self.finder.value(ast.Name(name, ast.Load())), "__array__")

    def result(self) -> ast.expr | None:
        """What the function returns: its reductions."""
        names: list[ast.expr] = [ast.Name(name, ast.Load()) for name, _ in self.reductions]
        return ast.Tuple(names, ast.Load()) if names else None

    def refuse_statements(self, nodes: list[ast.AST]) -> None:
        """What would leave the loop, or belongs to the host."""
        inner = {id(n) for k in nodes if isinstance(k, (ast.For, ast.While)) for s in k.body for n in ast.walk(s)}
        for n in nodes:
            if isinstance(n, ast.Return):
                self.source.refuse(n, "'return' in a parallel loop", "keep the result in a variable: min, max or a sum")
            if isinstance(n, ast.Break) and id(n) not in inner:
                self.source.refuse(
                    n, "'break' in a parallel loop: the other iterations run at the same time", "use a range or a while"
                )
            if isinstance(n, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Yield, ast.YieldFrom)):
                self.source.refuse(n, "a parallel loop can't do this", "do it before or after the loop")

    # ---- reductions

    def find_reductions(self, names: list[ast.Name]) -> list[tuple[str, str]]:
        """Variables that every statement with them only adds to, with one kind of operation."""
        uses: dict[str, int] = {}
        for n in names:
            uses[n.id] = uses.get(n.id, 0) + 1
        covered: dict[str, int] = {}
        kinds: dict[str, set[str]] = {}
        for statement in (n for s in self.loop.body for n in ast.walk(s)):
            form = _reduction(statement)
            if form:
                name, kind, count = form
                covered[name] = covered.get(name, 0) + count
                kinds.setdefault(name, set()).add(kind)
        found = []
        for name, count in covered.items():
            before = name in self.finder.own or name in self.finder.free
            if count == uses[name] and len(kinds[name]) == 1 and before and self.exists_before(name):
                found.append((name, kinds[name].pop()))
        return found

    def exists_before(self, name: str) -> bool:
        """Whether something outside the loop assigns a variable."""
        args = self.source.tree.args
        params = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
        inside = {id(n) for n in ast.walk(self.loop)}
        stores = (n for n in ast.walk(self.source.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        return any(a.arg == name for a in params) or any(n.id == name and id(n) not in inside for n in stores)

    # ---- what would depend on order

    def check_after(self, names: list[ast.Name]) -> None:
        """Nothing reads after the loop what an iteration assigned."""
        end = (self.loop.end_lineno or 0, self.loop.end_col_offset or 0)
        skipped = {id(n) for loop in ast.walk(self.source.tree) if self.is_parallel(loop) for n in ast.walk(loop)}
        later = [
            n
            for n in ast.walk(self.source.tree)
            if isinstance(n, ast.Name) and id(n) not in skipped and (n.lineno, n.col_offset) >= end
        ]
        later.sort(key=lambda n: (n.lineno, n.col_offset))
        for name in sorted(self.private | {self.variable}):
            uses = [n for n in later if n.id == name]
            if uses and not any(isinstance(n.ctx, ast.Store) for n in uses) and isinstance(uses[0].ctx, ast.Load):
                self.source.refuse(
                    uses[0],
                    f"'{name}' is assigned in the parallel loop of line {self.loop.lineno}, and the iteration that "
                    "does it last isn't known",
                    f"write it to an array, {name}s[i] = ..., or make it a sum, a product, a min or a max",
                )

    def is_parallel(self, node: ast.AST) -> bool:
        return isinstance(node, ast.For) and self.finder.is_prange(node.iter)

    def find_tainted(self) -> set[str]:
        """Names whose values differ between iterations."""
        tainted = {self.variable}
        while True:
            before = len(tainted)
            for n in (n for s in self.loop.body for n in ast.walk(s)):
                if isinstance(n, ast.Assign):
                    value, targets = n.value, list(n.targets)
                elif isinstance(n, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and n.value is not None:
                    value, targets = n.value, [n.target]
                elif isinstance(n, ast.For):
                    value, targets = n.iter, [n.target]
                else:
                    continue
                if _names_in(value) & tainted or any(isinstance(m, ast.Subscript) for m in ast.walk(value)):
                    tainted |= {m.id for t in targets for m in ast.walk(t) if _is_store(m)}
            if len(tainted) == before:
                return tainted

    def is_shared(self, target: ast.Subscript) -> bool:
        """Whether an assignment is to an array from around the loop."""
        base: ast.AST = target
        while isinstance(base, (ast.Subscript, ast.Attribute)):
            base = base.value
        return isinstance(base, ast.Name) and base.id not in self.assigned

    def check_stores(self, statements: list[ast.stmt], always: bool) -> None:
        """Refuse an element that all iterations assign."""
        for s in statements:
            targets: list[Any] = s.targets if isinstance(s, ast.Assign) else []
            for t in (m for target in targets for m in ast.walk(target)):
                written = isinstance(t, ast.Subscript) and isinstance(t.ctx, ast.Store) and self.is_shared(t)
                if written and always and not self.varies(t):
                    self.source.refuse(
                        t,
                        "all iterations assign this element, and which one does it last isn't known",
                        f"index by '{self.variable}', or make it a variable: a sum, a product, a min or a max",
                    )
            if isinstance(s, ast.For):
                self.check_stores(s.body, always)
            elif isinstance(s, (ast.If, ast.While)):
                self.check_stores([*s.body, *s.orelse], False)

    def varies(self, target: ast.Subscript) -> bool:
        """Whether iterations have elements of their own, as far as names tell."""
        node: ast.AST = target
        while isinstance(node, (ast.Subscript, ast.Attribute)):
            if isinstance(node, ast.Subscript) and _names_in(node.slice) & self.tainted:
                return True
            node = node.value
        return False


class _FieldTaker(ast.NodeTransformer):
    """Puts names in place of attributes."""

    def __init__(self, fields: set[tuple[str, str]]) -> None:
        self.fields = fields

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.value, ast.Name) and (node.value.id, node.attr) in self.fields:
            return ast.copy_location(ast.Name(f"_{node.value.id}_{node.attr}", ast.Load()), node)
        return self.generic_visit(node)


class _Neighbours:
    """Sees elements that an iteration writes and another one uses: ``x[i]`` and ``x[i - 1]``, ``x[i]`` and ``x[0]``."""

    def __init__(self, body: _Body) -> None:
        self.body = body
        call = body.loop.iter
        assert isinstance(call, ast.Call)
        self.first, self.step = _constant(call.args[0]) if len(call.args) > 1 else 0, 1
        if len(call.args) == 3:
            self.step = _constant(call.args[2]) or 0  # 0: not known

    def check(self) -> None:
        """Refuse the first pair."""
        nodes = [n for s in self.body.original for n in ast.walk(s) if isinstance(n, ast.Subscript)]
        uses = [n for n in nodes if isinstance(n.value, ast.Name) and self.body.is_shared(n)]
        for store in (n for n in uses if isinstance(n.ctx, ast.Store)):
            for use in uses:
                assert isinstance(use.value, ast.Name) and isinstance(store.value, ast.Name)
                if use.value.id == store.value.id and self.meet(_items(store), _items(use)):
                    self.refuse(store, use)

    def refuse(self, store: ast.Subscript, use: ast.Subscript) -> NoReturn:
        name, where = ast.unparse(use.value), ast.unparse(store)
        self.body.source.refuse(
            use,
            f"another iteration writes this element: {where} is assigned in the same loop",
            f"write the results to another array than '{name}'",
        )

    def meet(self, a: list[ast.expr], b: list[ast.expr]) -> bool:
        """Whether indices of two iterations are evidently the same element."""
        found = False
        for x, y in zip(a, b, strict=False):
            one, other = self.offset(x), self.offset(y)
            if one is not None and other is not None:
                if one == other:
                    return False  # the same iteration's
                found |= self.step != 0 and (one - other) % self.step == 0
            elif one == 0 and _constant(y) is not None:
                at = _constant(y)
                assert at is not None
                found |= self.step == 1 and self.first is not None and 0 <= self.first <= at
            elif _constant(x) is not None and _constant(y) is not None and _constant(x) != _constant(y):
                return False
            elif ast.dump(x) != ast.dump(y):
                return False  # nothing is known
        return found

    def offset(self, node: ast.expr) -> int | None:
        """C of ``i + c``; None: another expression."""
        if isinstance(node, ast.Name):
            return 0 if node.id == self.body.variable else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            sign = 1 if isinstance(node.op, ast.Add) else -1
            left, right = self.offset(node.left), _constant(node.right)
            if left is not None and right is not None:
                return left + sign * right
            left_number, right_offset = _constant(node.left), self.offset(node.right)
            if sign == 1 and left_number is not None and right_offset is not None:
                return left_number + right_offset
        return None


def _items(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _constant(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


class _Rewriter(ast.NodeTransformer):
    """The body for one iteration: it returns for ``continue``, and updates that may meet are atomic."""

    def __init__(self, body: _Body) -> None:
        self.body, self.depth = body, 0

    def loop(self, node: Any) -> Any:
        self.depth += 1
        node.body = [self.visit(s) for s in node.body]
        self.depth -= 1
        node.orelse = [self.visit(s) for s in node.orelse]
        return node

    def visit_For(self, node: ast.For) -> Any:
        if self.body.finder.is_prange(node.iter):
            assert isinstance(node.iter, ast.Call)
            node.iter.func = ast.copy_location(ast.Name("range", ast.Load()), node.iter.func)
        return self.loop(node)

    def visit_While(self, node: ast.While) -> Any:
        return self.loop(node)

    def visit_Continue(self, node: ast.Continue) -> Any:
        if self.depth:
            return node
        return ast.fix_missing_locations(ast.copy_location(ast.Return(self.body.result()), node))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target = node.target
        if not isinstance(target, ast.Subscript) or not self.body.is_shared(target):
            return node
        names = _names_in(target.slice)
        if not self.body.varies(target) and not names & self.body.assigned:
            self.body.source.refuse(
                target,
                "all iterations change this element at the same time",
                "add to a variable, s += ..., and assign it after the loop",
            )
        if self.body.varies(target) and not _is_indirect(target.slice, self.body):
            return node
        kind = _ATOMICS.get(type(node.op))
        if kind is None:
            self.body.source.refuse(
                target,
                "two iterations may change this element at the same time",
                "only +=, -=, &=, |= and ^= are atomic; index by the loop variable",
            )
        function = ast.Attribute(ast.Name(ATOMIC, ast.Load()), kind, ast.Load())
        call = ast.Call(function, [target.value, target.slice, node.value], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(ast.copy_location(call, node)), node))


def _is_indirect(index: ast.expr, body: _Body) -> bool:
    """Whether two iterations may have the same index: it's read from an array, or computed by more than + - *."""
    for n in ast.walk(index):
        if isinstance(n, (ast.Subscript, ast.Call)):
            return True
        if isinstance(n, ast.BinOp) and not isinstance(n.op, (ast.Add, ast.Sub, ast.Mult)):
            return True
        if isinstance(n, ast.Name) and n.id in body.tainted and n.id != body.variable:
            return True
    return False


def _reduction(statement: ast.AST) -> tuple[str, str, int] | None:
    """The variable of ``v += e``, ``v = v + e``, ``v = min(v, e)``, ``if e < v: v = e``, its kind and uses."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        name, kind = statement.target.id, _COMBINES.get(type(statement.op))
        return (name, kind, 1) if kind and name not in _names_in(statement.value) else None
    if isinstance(statement, ast.If):
        return _of_condition(statement)
    if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name):
        return None
    if isinstance(value, ast.BinOp):
        kind = _COMBINES.get(type(value.op))
        sides = [value.left] if isinstance(value.op, (ast.Sub, ast.Div)) else [value.left, value.right]
        mine = [s for s in sides if isinstance(s, ast.Name) and s.id == target.id]
        once = sum(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(value)) == 1
        return (target.id, kind, 2) if kind and mine and once else None
    if isinstance(value, ast.Call) and not value.keywords and len(value.args) == 2:
        called = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        mine = [a for a in value.args if isinstance(a, ast.Name) and a.id == target.id]
        once = sum(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(value)) == 1
        return (target.id, _CALLS[called], 2) if called in _CALLS and mine and once else None
    return None


def _of_condition(statement: ast.If) -> tuple[str, str, int] | None:
    """``if e < v: v = e``."""
    test, inner = statement.test, statement.body
    if statement.orelse or len(inner) != 1 or not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    one = inner[0]
    if not (isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name)):
        return None
    name, kind = one.targets[0].id, _ORDERS.get(type(test.ops[0]))
    left, right = test.left, test.comparators[0]
    if isinstance(left, ast.Name) and left.id == name:  # v > e
        left, right = right, left
        kind = {"min": "max", "max": "min"}.get(kind or "")
    same = isinstance(right, ast.Name) and right.id == name and ast.dump(left) == ast.dump(one.value)
    return (name, kind, 2) if kind and same and name not in _names_in(left) else None


def _names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _bound_in_comprehensions(nodes: list[ast.AST]) -> set[str]:
    """Names of comprehensions and lambdas, which are their own."""
    found: set[str] = set()
    for n in nodes:
        if isinstance(n, ast.comprehension):
            found |= _names_in(n.target)
        elif isinstance(n, ast.Lambda):
            found |= {a.arg for a in n.args.args}
    return found


class _Flow:
    """Sees that each iteration assigns its variables before it reads them."""

    def __init__(self, body: _Body) -> None:
        self.body = body
        self.hidden = _bound_in_comprehensions([n for s in body.loop.body for n in ast.walk(s)])

    def run(self) -> None:
        """Refuse a variable that comes from the iteration before."""
        self.block(self.body.loop.body, set())

    def block(self, statements: list[ast.stmt], assigned: set[str]) -> set[str] | None:
        """What is assigned after statements; None: nothing comes after them."""
        for s in statements:
            after = self.statement(s, assigned)
            if after is None:
                return None
            assigned = after
        return assigned

    def statement(self, s: ast.stmt, assigned: set[str]) -> set[str] | None:
        if isinstance(s, (ast.Continue, ast.Break, ast.Raise)):
            return None
        if isinstance(s, ast.If):
            if _of_condition(s) and _of_condition(s)[:2] in self.body.reductions:  # type: ignore[index]
                return assigned
            self.reads(s.test, assigned)
            yes, no = self.block(s.body, set(assigned)), self.block(s.orelse, set(assigned))
            return no if yes is None else yes if no is None else yes & no
        if isinstance(s, ast.For):
            self.reads(s.iter, assigned)
            self.block(s.body, assigned | _names_in(s.target))
            self.block(s.orelse, set(assigned))
            return assigned
        if isinstance(s, ast.While):
            self.reads(s.test, assigned)
            self.block(s.body, set(assigned))
            self.block(s.orelse, set(assigned))
            return assigned
        if isinstance(s, ast.Assign):
            self.reads(s.value, assigned)
            for t in s.targets:
                self.reads(t, assigned)
            return assigned | {n.id for t in s.targets for n in ast.walk(t) if _is_store(n)}
        self.reads(s, assigned)
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            self.read(s.target, assigned)
        stored = {n.id for n in ast.walk(s) if _is_store(n)}
        return assigned | stored

    def reads(self, node: ast.AST, assigned: set[str]) -> None:
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                self.read(n, assigned)

    def read(self, n: ast.Name, assigned: set[str]) -> None:
        name = n.id
        if name not in self.body.private or name in assigned or name in self.hidden:
            return
        if self.body.exists_before(name):
            message = f"'{name}' is handed from one iteration to the next, and they run at the same time"
            advice = (
                "a variable that every iteration only adds to, multiplies, or takes the min or max of, by one "
                "operation, is a reduction; others are assigned in the iteration before they are read"
            )
        else:
            message = f"'{name}' isn't assigned before this on every path through an iteration"
            advice = "assign it first, in the loop; a reduction has a value before the loop, such as s = 0.0"
        self.body.source.refuse(n, message, advice)


def _is_store(n: Any) -> bool:
    return isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
