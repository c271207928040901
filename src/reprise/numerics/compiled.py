"""Loops compiled for the CPU, which pass over the data once where PyTorch needs a pass per operation.

The contract of a compiled loop:

- It is private to its module. One public function beside it chooses between the loop and plain PyTorch.
- That function checks shapes first, because compiled code does not check bounds. It takes the plain path
  where the loop's arithmetic could overflow.
- Where the loop replaces automatic differentiation, a test compares its gradients with those of the plain
  path.
- A replica's results do not depend on the other replicas in its stack.
- Every compiled function that it calls is `inlined_rows`. Otherwise a process that compiles it would link it
  with functions compiled on their own, and one that loads it from numba's cache would run copies that were
  optimised within it, whose sums may be rounded differently.
- It reads no name of another module of the package but `inlined_rows` functions. An edit of such a constant
  would be hard to see in the loop's module; it is an argument instead.

numba keeps machine code on disk until the function's file changes. Here everything that it is made from
decides in which folder it lies: constants and inlined functions, also of other modules, and options.
"""

import dis
import hashlib
import inspect
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from torch import Tensor

REORDERED = {"reassoc", "contract", "nsz"}
"""Sums along a row may be reordered for SIMD, identically for all rows of a length, and products fused with
sums. What is not finite stays so: a run that diverges is seen."""
PLACES = 8
"""Folders of machine code that are kept for a function: one for each content, the last ones used."""
NO_MATTER = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_DEBUG_CACHE"}
"""numba's environment variables that do not change machine code."""


class _Cache(FunctionCache):
    """numba's cache of a function, in a folder named after everything that the machine code is made from.

    The folder follows the values in memory, which the compiler reads, and not the files, which may have been
    edited since they were imported.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher.py_func)
        self._dispatcher, self._folder = dispatcher, Path(self.cache_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        digest = frozen(self._dispatcher)
        place = self._folder / f"{self._stem}{digest}"
        with suppress(OSError):
            place.mkdir(exist_ok=True)
            os.utime(place)
            self._forget_others()
        self._digest, self._cache_path = digest, str(place)
        # A file for each signature: processes that write two of them at a time would number their code alike.
        key = hashlib.sha256(repr((sig, target_context.codegen().magic_tuple())).encode()).hexdigest()[:16]
        self._cache_file = IndexDataCacheFile(self._cache_path, key, digest)
        return super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        if frozen(self._dispatcher) == self._digest:  # nothing was set while it was compiled
            with suppress(OSError):
                super().save_overload(sig, data)

    @property
    def _stem(self) -> str:
        function = self._dispatcher.py_func
        return f"{Path(inspect.getfile(function)).stem}.{function.__qualname__}-"

    def _forget_others(self) -> None:
        """Deletes all but the last used machine code of the function."""
        places = sorted(self._folder.glob(f"{self._stem}*"), key=os.path.getmtime)
        for place in places[:-PLACES]:
            if place.is_dir():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)


def _kept(**options: Any) -> Callable[[Callable], Any]:
    def decorate(function: Callable) -> Any:
        dispatcher = njit(**options)(function)
        if isinstance(dispatcher, Dispatcher):  # not with NUMBA_DISABLE_JIT
            dispatcher._cache = _Cache(dispatcher)  # type: ignore[attr-defined]
        return dispatcher

    return decorate


compiled = _kept(error_model="numpy")
"""Compiles a function whose sums keep their written order."""
compiled_rows = _kept(error_model="numpy", fastmath=REORDERED)
"""Compiles a function with `REORDERED` sums.

Outputs must not share memory with inputs, or the loop will not be vectorised.
"""
inlined_rows = njit(error_model="numpy", fastmath=REORDERED, forceinline=True)
"""Compiles a function with `REORDERED` sums that other compiled functions call."""


def frozen(dispatcher: Dispatcher) -> str:
    """16 hexadecimal digits over everything that goes into a function's machine code: its byte code and
    options, the values of the names that it reads, the same of the functions that it calls, and the compiler.

    Raises:
        TypeError: if it reads a name whose value has no digest, such as a dict or a module of the package.
    """
    settings = sorted(f"{key}={os.environ[key]}" for key in os.environ if key.startswith("NUMBA_"))
    parts = [numba.__version__, llvmlite.__version__, np.__version__]
    parts += [setting for setting in settings if setting.partition("=")[0] not in NO_MATTER]
    parts += _parts(dispatcher, dispatcher.py_func.__qualname__, set())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _parts(value: Any, name: str, seen: set[int]) -> Iterator[str]:
    """The digest's parts for what a name stands for."""
    inner = partial(_parts, name=name, seen=seen)
    yield f"{name} {type(value).__name__}"
    if isinstance(value, Dispatcher):
        function = value.py_func
        if id(function) in seen:
            return
        seen.add(id(function))
        for key, option in sorted(value.targetoptions.items()):
            yield from _parts(option, f"{name} {key}", seen)
        yield from inner((function.__defaults__, tuple((function.__kwdefaults__ or {}).items())))
        yield from inner(tuple(cell.cell_contents for cell in function.__closure__ or ()))
        yield from inner(function.__code__)
        for key in sorted(_globals_read(function.__code__)):
            if key in function.__globals__:
                yield from _parts(function.__globals__[key], f"{name}.{key}", seen)
    elif isinstance(value, CodeType):
        names = value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars
        yield f"{value.co_code.hex()} {names} {value.co_flags}"
        yield from inner(value.co_consts)
    elif isinstance(value, (tuple, list)):
        yield str(len(value))
        for item in value:
            yield from inner(item)
    elif isinstance(value, (set, frozenset)):
        yield str(len(value))
        yield from sorted(" ".join(inner(item)) for item in value)
    elif isinstance(value, (bool, int, float, complex, str, bytes, range, type(None), type(...), np.generic)):
        yield repr(value)
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield f"{value.dtype.str} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, ModuleType):
        if _is_ours(value.__name__):
            raise TypeError(
                f"compiled code reads {name}, a module of the package; import what it uses by name"
            )
        yield f"{value.__name__} {getattr(value, '__version__', '')}"
    elif hasattr(value, "__name__") and not _is_ours(getattr(value, "__module__", None) or ""):
        yield f"{getattr(value, '__module__', '')} {value.__name__}"  # a function or type of a library
    else:
        raise TypeError(
            f"compiled code reads {name}, of type {type(value).__name__}, whose edits could not be seen; "
            "pass it as an argument, or make it a number or tuple"
        )


def _globals_read(code: CodeType) -> set[str]:
    names = {
        each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    return names.union(*(_globals_read(item) for item in code.co_consts if isinstance(item, CodeType)))


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


def arrays(*tensors: Tensor) -> list[np.ndarray[Any, Any]]:
    """CPU tensors as contiguous arrays; contiguous tensors share their memory with the arrays."""
    return [tensor.contiguous().numpy(force=True) for tensor in tensors]
