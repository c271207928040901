"""A hash of everything that a function's result depends on in this package, and of nothing else.

The hash runs over the syntax trees, without comments and docstrings, of the function, the top-level names it uses, and
theirs, across modules. Snakemake gets it as a parameter of each job, so that an edit reruns exactly what it touches.
"""

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = "reprise"

Symbol = tuple[str, str]
"""(module, top-level name); an empty name stands for the whole module."""


def closure_hash(*symbols: Symbol) -> str:
    """16 hexadecimal digits over all that `symbols` need.

    Raises:
        LookupError: when a module or one of the names does not exist.
    """
    digest = hashlib.sha256()
    for module, name in sorted(closure(*symbols)):
        dump = "\n".join(ast.dump(node) for node in _module(module).nodes_of(name))
        digest.update(f"{module}:{name}\n{dump}\n".encode())
    return digest.hexdigest()[:16]


def closure(*symbols: Symbol) -> set[Symbol]:
    """The symbols themselves and every symbol of the package that they use, directly or not."""
    found: set[Symbol] = set()
    waiting = list(symbols)
    while waiting:
        symbol = waiting.pop()
        if symbol not in found:
            found.add(symbol)
            waiting.extend(_uses(symbol))
    return found


def _uses(symbol: Symbol) -> Iterator[Symbol]:
    module = _module(symbol[0])
    for node in module.nodes_of(symbol[1]):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in module.definitions:
                yield (symbol[0], inner.id)
            elif isinstance(inner, ast.Name) and inner.id in module.imports:
                yield module.imports[inner.id]
            elif isinstance(inner, (ast.Import, ast.ImportFrom)):
                yield from _imports(inner, symbol[0]).values()


class _Module:
    """A module's top-level definitions and its imports from the package."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.tree = _without_docstrings(ast.parse(path.read_text(), str(path)))
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, Symbol] = {}
        for node in self.tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imports.update(_imports(node, name))
            for defined in _defined_names(node):
                self.definitions.setdefault(defined, []).append(node)

    def nodes_of(self, name: str) -> list[ast.stmt]:
        if not name:
            return self.tree.body
        if name in self.definitions:
            return self.definitions[name]
        if name in self.imports:  # a name that a package's __init__ passes on
            module, inner = self.imports[name]
            return _module(module).nodes_of(inner)
        raise LookupError(f"{self.name} has no top-level name '{name}'")


@cache
def _module(name: str) -> _Module:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise LookupError(f"no module {name}")
    return _Module(name, Path(spec.origin))


def _defined_names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]
    return []


def _imports(node: ast.Import | ast.ImportFrom, module: str) -> dict[str, Symbol]:
    """The package's symbols that an import statement binds, by the name it binds them to."""
    if isinstance(node, ast.Import):
        return {
            (alias.asname or alias.name.split(".")[0]): (alias.name, "")
            for alias in node.names
            if alias.name.split(".")[0] == PACKAGE
        }
    if node.level or not node.module or node.module.split(".")[0] != PACKAGE:
        return {}
    bound = {}
    for alias in node.names:
        submodule = f"{node.module}.{alias.name}"
        is_module = importlib.util.find_spec(node.module).submodule_search_locations is not None and (  # type: ignore[union-attr]
            importlib.util.find_spec(submodule) is not None
        )
        bound[alias.asname or alias.name] = (submodule, "") if is_module else (node.module, alias.name)
    return bound


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        # A string that stands alone is a docstring, of a function or of the attribute above it.
        kept = [
            stmt
            for stmt in body
            if not (
                isinstance(stmt, ast.Expr)
                and isinstance(stmt.value, ast.Constant)
                and isinstance(stmt.value.value, str)
            )
        ]
        node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return tree
