"""Finds libfilum.so and loads it: `ffi` knows the C types, `lib` has the functions.

The library is looked for in this order: the file that the environment variable FILUM_LIBRARY names;
beside this package, where the build puts it; the lib folder of the prefix that the package was
installed to; where the system looks. It must be of the version that the package was made from.
"""

import contextlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any, Iterator

HERE = Path(__file__).resolve().parent
DEBIAN = "on Debian: apt-get install python3-cffi python3-numpy, and run /usr/bin/python3"

try:
    importlib.import_module("numpy")  # found out here, once, with a sentence that helps
    from cffi import FFI, FFIError
except ImportError as error:
    raise ImportError(f"filum needs NumPy and cffi, and {sys.executable} has no {error.name}; "
                      f"{DEBIAN}") from error
try:
    from . import _cdef  # type: ignore[attr-defined]
except ImportError as error:
    raise ImportError(f"{HERE} holds the sources of the package; `make build` makes the one to "
                      "use: PYTHONPATH=build/python") from error

VERSION: str = _cdef.VERSION


def _parsed() -> Any:
    try:
        from ._cffi import ffi as parsed  # type: ignore[import]
        return parsed
    except ImportError:  # made without cffi: parse now
        parsing = FFI()
        parsing.cdef(_cdef.CDEF)
        return parsing


def _candidates() -> Iterator[str]:
    given = os.environ.get("FILUM_LIBRARY")
    if given:
        yield given
        return  # nothing else will do
    names = ["libfilum.so", f"libfilum.so.{VERSION.split('.', maxsplit=1)[0]}"]
    for name in names:
        if (HERE / name).exists():
            yield str(HERE / name)
    for parent in HERE.parents:
        if parent.name in ("lib", "lib64"):
            yield from (str(path) for name in names for path in sorted(parent.glob(f"**/{name}"))
                        if path.parent != HERE)
            break
    yield from names


def _load() -> Any:
    tried = []
    for path in _candidates():
        try:
            library = ffi.dlopen(path)
        except OSError as error:
            tried.append(str(error))
            continue
        try:
            version = ffi.string(library.fil_version()).decode()
        except NO_SUCH_SYMBOL as error:
            raise ImportError(f"{path} is not the library of Filum: {error}") from error
        if version != VERSION:
            raise ImportError(f"{path} is version {version} of Filum; this package is {VERSION}")
        return library
    raise ImportError("libfilum.so cannot be loaded. Build it with `make build`, or name it in the "
                      f"environment variable FILUM_LIBRARY. Tried: {'; '.join(tried)}")


def _end_threads() -> None:
    """Before a fork: the threads of OpenMP do not come along, and a child that waits for them, in
    a Pool of multiprocessing for example, waits for ever. New ones are made when needed."""
    with contextlib.suppress(*NO_SUCH_SYMBOL):
        lib.omp_pause_resource_all(2)  # omp_pause_hard


ffi: Any = _parsed()
# what a library says that has no such function, whether its names were parsed beforehand or now
NO_SUCH_SYMBOL = (AttributeError, getattr(ffi, "error", FFIError))
lib: Any = _load()
os.register_at_fork(before=_end_threads)
