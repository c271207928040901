"""Hashes everything in our packages, this one and those of papers elsewhere, that a function's result depends
on, and nothing else.

The hash covers the syntax trees, without comments and docstrings, of the function and of all top-level names
that it uses directly or indirectly, across modules, and the package's data files (`published.csv`, a
template) that they name. Snakemake passes it to each job as a parameter, so that an edit reruns exactly the
jobs it affects.

In doubt, a name counts as used: for example, a local variable with the name of a top-level function. Names
computed at run time are not seen: `getattr(module, name)` counts as the whole module, and a data file must be
named in a single string.

What a module does when it is imported, besides defining names (`storage.effects`), counts for every symbol
whose module imports it, directly or indirectly, or lies in its package.
"""

import ast
import gc
import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from reprise import sources
from reprise.storage.effects import effects, run_at_import

PACKAGE = "reprise"
DATA_FILE = re.compile(r"[\w.-]+\.(?:csv|j2)")
"""Names of the package's data files."""

IMPORTS = (ast.Import, ast.ImportFrom)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of a statement that hold other statements, or parts of it that do."""

Symbol = tuple[str, str]
"""(module, top-level name); an empty name stands for the whole module, and `AT_IMPORT` for its effects."""
AT_IMPORT = "<import>"


def closure_hash(*symbols: Symbol, extra: bytes = b"") -> str:
    """16 hexadecimal digits over everything that `symbols` depend on in the package, and over `extra`.

    Args:
        extra: content from outside the package that they depend on.

    Raises:
        LookupError: if a module or one of the names does not exist.
    """
    digest = hashlib.sha256(extra)
    for symbol in sorted(closure(*symbols)):
        digest.update(_code(symbol))
    return digest.hexdigest()[:16]


def closure(*symbols: Symbol) -> set[Symbol]:
    """The definitions of the symbols, and of every symbol of the package that they use, directly or
    indirectly."""
    reached: set[Symbol] = set()
    imported: set[str] = set()
    with _without_collection():
        queue = [definition for symbol in symbols for definition in _follow(symbol)]
        while queue:
            symbol = queue.pop()
            if symbol not in reached:
                reached.add(symbol)
                queue.extend(_uses(symbol))
                queue.extend(_effects_of_importing(symbol, imported))
    return reached


def libraries(*symbols: Symbol) -> set[str]:
    """The libraries of others that the closure of the symbols uses, by the names that are imported."""
    return {library for symbol in closure(*symbols) for library in _libraries(symbol)}


def _effects_of_importing(symbol: Symbol, imported: set[str]) -> Iterator[Symbol]:
    """The effects of importing a symbol's module, and what its definition imports, once for each module."""
    imports = _definition(symbol).imports
    queue = [symbol[0], *(name for node in imports for name in _module(symbol[0]).run_by(node))]
    while queue:
        name = queue.pop()
        if name not in imported:
            imported.add(name)
            queue.extend(_module(name).runs)
            if _module(name).effects:
                yield (name, AT_IMPORT)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Garbage collection would search the growing syntax trees again and again, for a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Foreign(NamedTuple):
    """Dependencies of a computation through a file outside the package.

    Attributes:
        symbols: the package's symbols that the file and its local modules use.
        files: the file and the local modules that it imports, directly or indirectly.
        libraries: the libraries of others that these import.
    """

    symbols: frozenset[Symbol]
    files: frozenset[Path]
    libraries: frozenset[str] = frozenset()

    @property
    def content(self) -> bytes:
        """Digests of all the files, independent of their paths and order."""
        return b"".join(sorted(hashlib.sha256(file.read_bytes()).digest() for file in self.files))


def foreign(file: Path) -> Foreign:
    """A user's file with the local modules that it imports, and the package's symbols that they use.

    Raises:
        SyntaxError: if one of them is not Python.
    """
    symbols: set[Symbol] = set()
    files: set[Path] = set()
    queue = [file.resolve()]
    while queue:
        path = queue.pop()
        if path in files:
            continue
        files.add(path)
        module = _Module(path.stem, path)
        uses = _uses_of(module, _contents(module.tree.body))
        symbols.update(symbol for symbol in uses if _is_ours(symbol[0]))
        queue.extend(_local_imports(module.tree, path.parent, file.resolve().parent))
    return Foreign(frozenset(symbols), frozenset(files), imported(files))


def imported(files: Iterable[Path]) -> frozenset[str]:
    """The libraries of others that files import, also inside functions, by the names that are imported. Names
    of the files themselves and of their folders are none.

    Raises:
        SyntaxError: if one of the files is not Python.
    """
    modules = {path: ast.parse(path.read_bytes(), str(path)) for path in files}
    nodes = [node for tree in modules.values() for node in ast.walk(tree)]
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    libraries = {library for node in imports for _, library in _from_libraries(node)}
    return frozenset(libraries - {name for path in modules for name in (path.stem, path.parent.name)})


def _local_imports(tree: ast.AST, folder: Path, top: Path) -> Iterator[Path]:
    """The files of the modules that a tree imports, from `top` or relative to `folder`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(top, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = folder.joinpath(*[".."] * (node.level - 1)) if node.level else top
            module = node.module or ""
            names = [(base, f"{module}.{alias.name}".strip(".")) for alias in node.names]
        else:
            continue
        for base, name in names:
            parts = name.split(".")
            for depth in range(1, len(parts) + 1):  # a package's __init__.py runs before its modules
                yield from _source_files(base.joinpath(*parts[:depth]))


def _source_files(path: Path) -> Iterator[Path]:
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return (file.resolve() for file in candidates if file.is_file())


def read_again() -> None:
    """Clears the caches of file contents, for programs that edit the package's files."""
    for cached in (_module, _definition, _uses, _code, _libraries):
        cached.cache_clear()


def functions(module: str, *arguments: str) -> list[str]:
    """The functions that a module imports from the package and that require exactly these arguments."""
    matches = []
    for name, targets in _module(module).imports.items():
        for source, inner in targets:
            nodes = _module(source).definitions.get(inner, []) if inner else []
            if any(
                isinstance(node, ast.FunctionDef) and _required(node) == list(arguments) for node in nodes
            ):
                matches.append(name)
    return matches


def _required(function: ast.FunctionDef) -> list[str]:
    """Names of the arguments without a default."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    keyword_only = [argument for argument, default in defaults if default is None]
    required = [*positional[: len(positional) - len(arguments.defaults)], *keyword_only]
    return [argument.arg for argument in required]


@cache
def _code(symbol: Symbol) -> bytes:
    """The code of a symbol's definition, and the content of the data files that it names."""
    module = _module(symbol[0])
    nodes = module.nodes_of(symbol[1])
    content = f"{symbol[0]}:{symbol[1]}\n" + "\n".join(map(ast.dump, nodes)) + "\n"
    files = _data_files(module.path, _definition(symbol).files)
    return content.encode() + b"".join(file.read_bytes() for file in files)


def _data_files(path: Path, names: Iterable[str]) -> list[Path]:
    """The package's data files of these names, in a module's folder or a folder above, and those that they
    name in turn, such as a template included by another."""
    queue = [(path, name) for name in names]
    files: set[Path] = set()
    while queue:
        origin, name = queue.pop()
        folders = [folder for folder in origin.parents if (folder / "__init__.py").is_file()]
        file = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if file and file not in files:
            files.add(file)
            if file.suffix == ".j2":
                queue.extend((file, inner) for inner in DATA_FILE.findall(file.read_text(encoding="utf-8")))
    return sorted(files)


@cache
def _uses(symbol: Symbol) -> frozenset[Symbol]:
    """The symbols that a symbol's definition uses."""
    module = _module(symbol[0])
    used = set(_uses_of(module, _definition(symbol)))
    if not symbol[1]:  # a module gives access to what it imports
        for targets in module.imports.values():
            used.update(definition for target in targets for definition in _follow(target))
    return frozenset(used)


@cache
def _libraries(symbol: Symbol) -> frozenset[str]:
    """The libraries of others that a symbol's definition uses."""
    module, contents = _module(symbol[0]), _definition(symbol)
    names = {name for name, *_ in contents.chains}
    used = {library for name, library in module.libraries if name in names}
    return frozenset(used | {library for node in contents.imports for _, library in _from_libraries(node)})


def _from_libraries(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import statement binds to libraries of others, each with the library."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            path, bound = alias.name, alias.asname or alias.name.split(".")[0]
        elif node.level or not node.module:
            continue
        else:
            path, bound = node.module, alias.asname or alias.name
        library = path.split(".")[0]
        if not _is_ours(library) and library not in sys.stdlib_module_names:
            yield bound, library


def _uses_of(module: "_Module", contents: "_Contents") -> Iterator[Symbol]:
    """The symbols used by some of a module's statements."""
    imports = {name: set(targets) for name, targets in module.imports.items()}
    for inner in contents.imports:  # inside a function
        _bind(imports, module.imported_by(inner))
    for name, *attributes in contents.chains:
        if name in module.definitions:
            yield (module.name, name)
        for target in imports.get(name, ()):
            yield from _follow(target, *attributes)


def _follow(symbol: Symbol, *attributes: str) -> Iterator[Symbol]:
    """Finds where a symbol is defined, through re-exports; for a module, follows the attribute used."""
    name = symbol[0]
    if symbol[1]:
        module = _module(name)
        targets = module.imports.get(symbol[1], set()) - {symbol}
        if symbol[1] in module.definitions:
            yield symbol
        for target in targets:
            yield from _follow(target, *attributes)
        if symbol[1] in module.definitions or targets:
            return
        name = f"{name}.{symbol[1]}"
        if not _is_module(name):
            raise LookupError(f"{symbol[0]} has no top-level name '{symbol[1]}'")
    if attributes and (_module(name).binds(attributes[0]) or _is_module(f"{name}.{attributes[0]}")):
        yield from _follow((name, attributes[0]), *attributes[1:])
    else:
        yield (name, "")


class _Contents(NamedTuple):
    """The contents of some statements.

    Attributes:
        chains: each name with the attributes accessed on it: `a.b(c).d` gives [a, b] and [c].
        imports: import statements, also those inside a function.
        files: strings that name a data file.
    """

    chains: list[list[str]]
    imports: list[ast.Import | ast.ImportFrom]
    files: list[str]


@cache
def _definition(symbol: Symbol) -> _Contents:
    return _contents(_module(symbol[0]).nodes_of(symbol[1]))


def _contents(nodes: Iterable[ast.AST]) -> _Contents:
    """Walks the trees once: this is most of the time that a plan takes."""
    contents = _Contents([], [], [])
    queue = list(nodes)
    while queue:
        node = queue.pop()
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            contents.chains.append([node.id, *attributes])
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and DATA_FILE.fullmatch(node.value):
                contents.files.append(node.value)
        else:
            if isinstance(node, IMPORTS):
                contents.imports.append(node)
            for field in node._fields:
                value = getattr(node, field, None)
                if isinstance(value, list):
                    queue.extend(item for item in value if isinstance(item, ast.AST))
                elif isinstance(value, ast.AST):
                    queue.append(value)
    return contents


class _Module:
    """A module's top-level definitions, and the names that its imports bind to the package's symbols and to
    libraries of others."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.tree = _without_docstrings(ast.parse(path.read_text(encoding="utf-8"), str(path)))
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, set[Symbol]] = {}
        self.libraries: set[tuple[str, str]] = set()
        for node in self.tree.body:
            for inner in _statements(node):
                if isinstance(inner, IMPORTS):
                    _bind(self.imports, self.imported_by(inner))
                    self.libraries.update(_from_libraries(inner))
            for defined in _defined_names(node):
                self.definitions.setdefault(defined, []).append(node)
        for node in self.tree.body:
            if isinstance(node, ast.Expr):  # a call may modify what it names: TABLE.update(...)
                for changed in {name for name, *_ in _contents([node]).chains} & set(self.definitions):
                    self.definitions[changed].append(node)

    def binds(self, name: str) -> bool:
        return name in self.definitions or name in self.imports

    def nodes_of(self, name: str) -> Sequence[ast.AST]:
        if name == AT_IMPORT:
            return self.effects
        return self.definitions[name] if name else self.tree.body

    @cached_property
    def effects(self) -> list[ast.AST]:
        return effects(self.tree, {PACKAGE, *sources.PACKAGES})

    @cached_property
    def runs(self) -> set[str]:
        """The package's modules that importing this one imports, and the package that it lies in."""
        imports = [each for each in run_at_import(self.tree.body) if isinstance(each, IMPORTS)]
        parent = self.name.rpartition(".")[0]
        return {name for node in imports for name in self.run_by(node)} | ({parent} if parent else set())

    def run_by(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        """The package's modules that an import statement imports."""
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_ours(alias.name))
        for _, (source, name) in self.imported_by(node):
            yield source
            if name and _is_module(f"{source}.{name}"):
                yield f"{source}.{name}"

    def imported_by(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Symbol]]:
        """The names that an import statement binds to the package's symbols."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name):
                    top = alias.name.partition(".")[0]
                    yield (alias.asname, (alias.name, "")) if alias.asname else (top, (top, ""))
            return
        if node.level and not self.package:  # beside a user's file
            return
        source = importlib.util.resolve_name("." * node.level + (node.module or ""), self.package)
        if not _is_ours(source):
            return
        for alias in node.names:
            if alias.name == "*":
                exporter = _module(source)
                yield from ((name, (source, name)) for name in {**exporter.definitions, **exporter.imports})
            else:
                yield alias.asname or alias.name, (source, alias.name)


@cache
def _module(name: str) -> _Module:
    file = _file(name)
    if file is None:
        raise LookupError(f"no module {name} with a file of its own")
    return _Module(name, file)


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in (PACKAGE, *sources.PACKAGES)


def _is_module(name: str) -> bool:
    return _file(name) is not None


def _file(name: str) -> Path | None:
    """The file of a module. Imports only the top-level package, since its modules may need torch."""
    package, *inner = name.split(".")
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent.joinpath(*inner)
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in candidates if file.is_file()), None)


def _bind(imports: dict[str, set[Symbol]], bound: Iterator[tuple[str, Symbol]]) -> None:
    for name, symbol in bound:
        imports.setdefault(name, set()).add(symbol)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """A top-level statement and its branches, without the bodies of functions and classes."""
    yield node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
        for child in ast.iter_child_nodes(node):
            yield from _statements(child)


def _defined_names(node: ast.stmt) -> set[str]:
    """The names that a top-level statement binds or modifies, in all its branches, except by imports."""
    names: set[str] = set()
    for inner in _statements(node):
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(inner.name)
        targets: list[ast.expr | None] = list(getattr(inner, "targets", []))
        targets += [getattr(inner, "target", None), getattr(inner, "optional_vars", None)]
        names.update(name for name, *_ in _contents(filter(None, targets)).chains)
    return names


def _without_docstrings(tree: ast.Module) -> ast.Module:
    queue: list[ast.AST] = [tree]
    while queue:
        node = queue.pop()
        for block in BLOCKS:
            queue.extend(getattr(node, block, ()))
        body = getattr(node, "body", None)
        if not body:
            continue
        # A string on its own is the docstring of a function or of the attribute above it.
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
