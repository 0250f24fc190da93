"""Objects of the library and their lifetimes.

A handle owns a pointer of C. It is given back by destroy(), by the end of a `with` block, or when
nobody holds the handle any more. Whatever the library borrows (the functions that move obstacles,
meshes, the scene of a stage) is kept until then. What belongs to another object, a rod of a world,
holds that object; after destroy() both say so instead of crashing. So does an object that is used
while another thread steps it: the library lets one thread at a time use it.

    with self._changing() as pointer    a call that changes the object
    with self._looking() as pointer     calls that look at it: short, others wait for their end
    self._ask(function, ...)            function(pointer, ...), looking
"""

import contextlib
import threading
import weakref
from typing import Any, Iterator, List, Optional, TypeVar

from ._errors import Error, call
from ._library import ffi
from ._memory import Lease, Memory

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
        self._lock = threading.RLock()  # of the root alone
        self._kept: List[Any] = [] if owner is None else owner._kept
        self._end = weakref.finalize(self, _give_back, destroy, pointer, self._kept, self._memory)

    @property
    def _root(self) -> "Handle":
        """What it belongs to in the end. (Not an attribute: what holds itself is not given back
        when nobody else holds it.)"""
        return self if self._owner is None else self._owner._root

    @property
    def is_destroyed(self) -> bool:
        """Whether it, or what it belongs to, was given back."""
        return not self._end.alive or (self._owner is not None and self._owner.is_destroyed)

    @property
    def _pointer(self) -> Any:
        part: Optional[Handle] = self
        while part is not None:
            if not part._end.alive:
                raise Error(f"this {part._noun} was destroyed")
            part = part._owner
        root = self._root
        if root._user is not None and root._user != threading.get_ident():
            raise Error(f"this {root._noun} is in use by another thread")
        return self._raw

    @contextlib.contextmanager
    def _looking(self) -> Iterator[Any]:
        """The pointer, for calls that look at the object."""
        self._pointer  # an error at once, not after another thread's long step
        with self._root._lock:
            yield self._pointer

    def _ask(self, function: Any, *arguments: Any) -> Any:
        with self._looking() as pointer:
            return function(pointer, *arguments)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[Any]:
        """The pointer, for a call that changes the object: nobody else may, meanwhile."""
        with self._looking() as pointer:
            root = self._root
            if root._user is not None:
                raise Error(f"a function that this {root._noun} called may not change it")
            root._user = threading.get_ident()
            try:
                yield pointer
            finally:
                root._user = None

    def _lease(self) -> Lease:
        """What keeps its memory even when it is destroyed: for those who point to it."""
        return Lease(0, 0, True, self, self._memory)

    def _destroy(self) -> None:
        if self._end.alive:
            with self._changing():
                self._end()

    def _about(self) -> str:
        return ""

    def __repr__(self) -> str:
        try:
            self._pointer
            return f"<{self._noun}{self._about()}>"
        except Error as error:
            return f"<{error}>"

    def __enter__(self: Self) -> Self:
        self._pointer
        return self

    def __exit__(self, *_: Any) -> None:
        self._destroy()

    def __reduce_ex__(self, _protocol: Any) -> Any:
        hint = "; its state, an array, can" if hasattr(type(self), "state") else ""
        raise TypeError(f"a {self._noun} can be neither copied nor pickled{hint}")


def made(function: Any, ctype: str, *arguments: Any) -> Any:
    """What fil_..._create() writes to its parameter `out`."""
    out = ffi.new(ctype + " **")
    call(function, *arguments, out)
    return out[0]
