"""Finds what a module does when it is imported, besides defining its own names.

A call of `torch.set_default_dtype`, an attribute that is set in another module, or a loop with calls may
change what any other module computes.
"""

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator

PURE = {
    "collections", "contextlib", "contextvars", "dataclasses", "datetime", "enum", "functools", "itertools",
    "math", "operator", "pathlib", "pydantic", "re", "types", "typing", "zlib",
}  # fmt: skip
"""Modules whose functions change nothing but what they are called on."""
BUILTIN = {
    "abs", "all", "any", "bool", "bytes", "classmethod", "dict", "divmod", "enumerate", "float", "frozenset",
    "hasattr", "int", "isinstance", "issubclass", "len", "list", "max", "min", "object", "pow", "property",
    "range", "repr", "reversed", "round", "set", "slice", "sorted", "staticmethod", "str", "sum", "super",
    "tuple", "type", "zip",
}  # fmt: skip
"""Built-in functions that change nothing but what they are called on."""
TABLES = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)


def effects(tree: ast.Module, packages: Collection[str]) -> list[ast.AST]:
    """The statements, and calls within definitions, that may do more than define names of the module.

    In doubt, a call has an effect. A definition may call a function of the package, unless it is one of the
    same module that calls what may have an effect. A statement that changes a table of the module has none.

    Args:
        packages: imports from them are followed by the use of their names.
    """
    found = _Effects(tree, packages)
    return [effect for statement in tree.body for effect in found.of(statement)]


def run_at_import(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, and the statements in them, that run when the module is imported; without those for type
    checking, or for a module that is run as a program."""
    for statement in statements:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for field in ("body", "orelse", "finalbody"):
            if not (field == "body" and isinstance(statement, ast.If) and _is_never(statement.test)):
                yield from run_at_import(getattr(statement, field, ()))
        for branch in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from run_at_import(branch.body)


class _Effects:
    def __init__(self, tree: ast.Module, packages: Collection[str]) -> None:
        self._foreign: dict[str, str] = {}
        self._own: dict[str, ast.stmt] = {}
        self._looked_into: list[str] = []
        self._values: dict[str, list[ast.expr | None]] = {}
        for node in run_at_import(tree.body):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._foreign[alias.asname or alias.name.split(".")[0]] = alias.name.split(".")[0]
            elif isinstance(node, ast.ImportFrom):
                origin = "" if node.level else (node.module or "").split(".")[0]
                self._foreign.update((alias.asname or alias.name, origin) for alias in node.names)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._own[node.name] = node
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        self._values.setdefault(target.id, []).append(node.value)
        self._followed = {"", *PURE, *packages}

    def of(self, node: ast.stmt) -> Iterator[ast.AST]:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)):
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from self._decorated(node)
            for default in (*node.args.defaults, *node.args.kw_defaults):
                yield from self._calls(default)
        elif isinstance(node, ast.ClassDef):
            yield from self._decorated(node)
            for base in (*node.bases, *node.keywords):
                yield from self._calls(base)
            for statement in node.body:
                yield from self.of(statement)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from self._calls(node.value) if all(map(self._is_own, targets)) else [node]
        elif isinstance(node, (ast.If, ast.Try)):
            inner = list(run_at_import([node]))[1:]
            if any(True for statement in inner for _ in self.of(statement)):
                yield node
            elif isinstance(node, ast.If):
                yield from self._calls(node.test)
        elif isinstance(node, ast.Expr) and self._changes_a_table(node.value):
            yield from self._calls(node.value)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield node

    def _decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.AST]:
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call):
                yield from self._calls(decorator)
            elif self._may_have_an_effect(decorator):
                yield decorator

    def _calls(self, node: ast.AST | None) -> Iterator[ast.AST]:
        """The calls of functions that may have an effect, as far as they happen at once."""
        if node is None or isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        if isinstance(node, ast.Call) and self._may_have_an_effect(node.func):
            yield node
            return
        for child in ast.iter_child_nodes(node):
            yield from self._calls(child)

    def _may_have_an_effect(self, function: ast.expr) -> bool:
        root: ast.expr = function
        while isinstance(root, (ast.Attribute, ast.Call, ast.Subscript)):
            root = root.func if isinstance(root, ast.Call) else root.value
        if not isinstance(root, ast.Name):  # a string's method, or an expression
            return not isinstance(root, (ast.Constant, ast.JoinedStr, *TABLES))
        if root.id in self._foreign:
            return self._foreign[root.id] not in self._followed
        if root.id in self._own:
            return self._acts(root.id)
        return root.id not in {*BUILTIN, *self._values} and root.id in dir(builtins)

    def _acts(self, name: str) -> bool:
        """Tells if a function of the module calls what may have an effect, or sets an attribute."""
        function = self._own[name]
        if name in self._looked_into or not isinstance(function, ast.FunctionDef):
            return False
        self._looked_into.append(name)
        try:
            return any(
                isinstance(inner, ast.Attribute) and not isinstance(inner.ctx, ast.Load)
                for statement in function.body
                for inner in ast.walk(statement)
            ) or any(True for statement in function.body for _ in self._calls(statement))
        finally:
            self._looked_into.pop()

    def _is_own(self, target: ast.expr) -> bool:
        """Tells if setting a target only defines names of the module, or changes a table of the module."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return all(map(self._is_own, target.elts))
        if isinstance(target, ast.Starred):
            return self._is_own(target.value)
        if isinstance(target, ast.Subscript):
            return self._is_table(target.value)
        return isinstance(target, ast.Name)

    def _changes_a_table(self, node: ast.expr) -> bool:
        """`TABLE.update(...)`"""
        function = node.func if isinstance(node, ast.Call) else None
        return isinstance(function, ast.Attribute) and self._is_table(function.value)

    def _is_table(self, node: ast.expr) -> bool:
        values = self._values.get(node.id, []) if isinstance(node, ast.Name) else []
        return bool(values) and all(isinstance(value, TABLES) for value in values)


def _is_never(test: ast.expr) -> bool:
    """Tells if a condition holds for type checking, or in a program, but never in an import."""
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'")
