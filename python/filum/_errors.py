"""The library's sentences as exceptions, and exceptions that cross the library."""

import threading
from typing import Any, List

from ._library import ffi, lib


class Error(Exception):
    """What the library, or this package, has to say against a call: one sentence.

    `status` is its FilStatus, `line` and `column` the place in a file where there is one (else 0).
    """

    def __init__(self, text: str, status: int = 1, line: int = 0, column: int = 0) -> None:
        super().__init__(text)
        self.status = status
        self.line = line
        self.column = column


# Exceptions of functions that the library calls may not travel through C: they are raised when the
# call returns, in the thread that made it. What happens in a thread of the library's own is raised
# by the next call that returns.
_calls = threading.local()
_astray: List[BaseException] = []


def defer(error: BaseException) -> None:
    open_calls = getattr(_calls, "stack", None)
    (open_calls[-1] if open_calls else _astray).append(error)


def is_pending() -> bool:
    """Whether something is to be raised when the library returns: then it should return soon."""
    open_calls = getattr(_calls, "stack", None)
    return bool(_astray or (open_calls and open_calls[-1]))


def on_error(_kind: Any, error: BaseException, _trace: Any) -> None:
    """What cffi calls when a function fails that C called."""
    defer(error)


def guarded(function: Any, *arguments: Any) -> Any:
    """Call a function of C, then raise what the functions raised that it called."""
    stack = _calls.__dict__.setdefault("stack", [])
    raised: List[BaseException] = []
    stack.append(raised)
    try:
        answer = function(*arguments)
    finally:
        stack.pop()
    if _astray and not raised:
        raised.extend(_astray)
        _astray.clear()
    if raised:
        raise raised[0]
    return answer


def call(function: Any, *arguments: Any) -> None:
    """Call a function of C whose last parameter is a FilError; raise what it says."""
    error = ffi.new("FilError *")
    status = guarded(function, *arguments, error)
    if status != lib.FIL_OK:
        text = ffi.string(error.text).decode("utf-8", "replace")
        raise Error(text, status, error.line, error.column)
