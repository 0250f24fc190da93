"""Objects of the library and their lifetimes.

A handle owns a pointer of C. It is given back by destroy(), by the end of a `with` block, or when
nobody holds the handle any more. Whatever the library borrows (the functions that move obstacles,
meshes, the scene of a stage) is kept until then. What belongs to another object, a rod of a world,
holds that object; after destroy() both say so instead of crashing. So does an object that is used
while another thread steps it: the library lets one thread at a time use it.
"""

import contextlib
import threading
import weakref
from typing import Any, Iterator, List, Optional, TypeVar

from ._errors import Error
from ._library import ffi
from ._memory import Memory

Self = TypeVar("Self", bound="Handle")


def _give_back(destroy: Any, pointer: Any, *_: Any) -> None:
    """The rest is what must live until then: what was borrowed, and the memory."""
    if destroy is not None:
        destroy(pointer)


class Handle:
    """An object of the library."""

    _noun = "object"

    def __init__(self, pointer: Any, destroy: Any = None, owner: Optional["Handle"] = None,
                 memory: Optional[Memory] = None) -> None:
        self._raw = pointer
        self._owner = owner
        self._memory = memory if memory is not None else Memory()
        self._user: Optional[int] = None  # the thread that is inside a call that changes it
        self._kept: List[Any] = [] if owner is None else owner._kept
        self._end = weakref.finalize(self, _give_back, destroy, pointer, self._kept, self._memory)

    @property
    def is_destroyed(self) -> bool:
        """Whether it, or what it belongs to, was given back."""
        return not self._end.alive or (self._owner is not None and self._owner.is_destroyed)

    @property
    def _pointer(self) -> Any:
        root = self
        while True:
            if not root._end.alive:
                raise Error(f"this {root._noun} was destroyed")
            if root._user is not None and root._user != threading.get_ident():
                raise Error(f"this {root._noun} is in use by another thread")
            if root._owner is None:
                return self._raw
            root = root._owner

    @contextlib.contextmanager
    def _changing(self) -> Iterator[Any]:
        """The pointer, for a call that changes the object: nobody else may, meanwhile."""
        pointer = self._pointer
        root: Handle = self
        while root._owner is not None:
            root = root._owner
        if root._user is not None:
            raise Error(f"a function that this {root._noun} called may not change it")
        root._user = threading.get_ident()
        try:
            yield pointer
        finally:
            root._user = None

    def _destroy(self) -> None:
        if self._end.alive:
            with self._changing():
                pass
            self._end()

    def __enter__(self: Self) -> Self:
        self._pointer
        return self

    def __exit__(self, *_: Any) -> None:
        self._destroy()


def made(function: Any, ctype: str, *arguments: Any) -> Any:
    """What fil_..._create() writes to its parameter `out`."""
    from ._errors import call
    out = ffi.new(ctype + " **")
    call(function, *arguments, out)
    return out[0]
