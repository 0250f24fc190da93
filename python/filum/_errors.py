"""The library's sentences as exceptions, and exceptions that cross the library."""

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


# exceptions of callbacks, which may not travel through C: raised when the call returns
_raised: List[BaseException] = []


def defer(error: BaseException) -> None:
    _raised.append(error)


def raise_deferred() -> None:
    if _raised:
        error = _raised[0]
        _raised.clear()
        raise error


def call(function: Any, *arguments: Any) -> None:
    """Call a function of C whose last parameter is a FilError; raise what it says."""
    error = ffi.new("FilError *")
    status = function(*arguments, error)
    raise_deferred()
    if status != lib.FIL_OK:
        text = ffi.string(error.text).decode("utf-8", "replace")
        raise Error(text, status, error.line, error.column)
