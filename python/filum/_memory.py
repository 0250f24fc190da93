"""Memory that C owns and NumPy looks at.

A view must never dangle: neither when the world is destroyed, nor when it moves its arrays because
they grow. So every object of the package gives the library an allocator of its own. While a view of
the object's memory lives, blocks that the library gives back are kept, those that it enlarges, too;
when the last view is gone, they go. A view may be stale, it may not crash.

    Memory      the allocator of one object: counts its leases, holds what was given back
    Lease       the base of every array that shows memory of C; NumPy keeps it while it needs it

Towards C, numbers() takes what a caller gives for an array, and refuses what NumPy would bend:
None, texts, complex numbers, fractions for whole numbers.
"""

import contextlib
from typing import Any, Dict, Optional, Tuple

import numpy as np

from ._errors import Error, defer, on_error
from ._library import ffi, lib


class Memory:
    """The allocator of one object of the library."""

    def __init__(self) -> None:
        self.leases = 0
        self.kept: Dict[Any, Any] = {}  # what the library gave back while views lived
        self.bytes = 0  # that the library holds
        self._handle = ffi.new_handle(self)
        self.allocator: Any = ffi.new("FilAllocator *", [_resize, self._handle])

    def lease(self) -> None:
        self.leases += 1

    def release(self) -> None:
        self.leases -= 1
        if self.leases == 0:
            self.empty()

    def empty(self) -> None:
        kept, self.kept = self.kept, {}
        for block in kept:
            lib.free(block)  # interrupted here, the rest is lost, and nothing is freed twice

    def __del__(self) -> None:
        self.empty()  # of a lease that ended while the library was giving something back


@ffi.callback("void *(void *, void *, size_t, size_t)", error=ffi.NULL, onerror=on_error)
def _resize(user: Any, block: Any, old_size: int, new_size: int) -> Any:
    """Python may raise KeyboardInterrupt after any call here, even before what it returns is noted.
    So the old block is given back after the new one is complete, by an entry in `kept`, and that is
    noted without a call between. At worst a new block is lost."""
    moved, given_back = ffi.NULL, block == ffi.NULL
    try:
        memory = ffi.from_handle(user)
        if new_size > 0:
            moved = lib.malloc(new_size)
            if moved == ffi.NULL:
                return ffi.NULL
        if block != ffi.NULL:
            ffi.memmove(moved, block, min(old_size, new_size))
            memory.kept[block] = old_size
            given_back = True
            memory.bytes -= old_size
        memory.bytes += new_size
        if memory.leases == 0:
            memory.empty()
    except BaseException as error:  # noqa: B902 (it travels on, see defer())
        with contextlib.suppress(BaseException):  # a second Ctrl-C
            defer(error)
        if not given_back and new_size > 0:
            return ffi.NULL  # the library goes on with the old one, or stops
    return moved


class Lease:
    """What an array that shows memory of C is based on: it keeps that memory, and `owner`."""

    def __init__(self, address: int, size: int, readonly: bool, owner: Any,
                 memory: Optional[Memory] = None) -> None:
        self.owner = owner
        self.memory = memory
        self.__array_interface__ = {"version": 3, "shape": (size,), "typestr": "|u1",
                                    "data": (address, readonly)}
        if memory is not None:
            memory.lease()

    def __del__(self) -> None:
        if self.memory is not None:
            self.memory.release()


def array_at(pointer: Any, shape: Tuple[int, ...], dtype: Any, owner: Any, readonly: bool = True,
             memory: Optional[Memory] = None) -> np.ndarray:
    """A NumPy array over memory of C, without a copy. Empty where the pointer is NULL."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if pointer == ffi.NULL or size == 0:
        return np.zeros(shape if size == 0 else (0,) + tuple(shape[1:]), dtype)
    address = int(ffi.cast("uintptr_t", pointer))
    return np.asarray(Lease(address, size, readonly, owner, memory)).view(dtype).reshape(shape)


def numbers(value: Any, name: str, shape: Optional[Tuple[Optional[int], ...]] = None,
            dtype: Any = np.float64) -> np.ndarray:
    """`value` as an array for C, lent where it has the type and the order that C wants. A None in
    `shape` stands for any count."""
    try:
        given = np.asarray(value)
    except ValueError as error:
        raise Error(f"{name} is no array: {error}") from None
    dtype = np.dtype(dtype)
    whole = dtype.kind in "iub"
    if given.dtype.kind not in ("iub" if whole else "fiub") and given.size > 0:
        raise TypeError(f"{name} must hold {'whole ' if whole else ''}numbers, not "
                        f"{_described(value, given)}")
    array = np.ascontiguousarray(given, dtype).reshape(given.shape)
    if whole and not np.array_equal(array, given):
        raise Error(f"{name} holds whole numbers that do not fit {8 * dtype.itemsize} bits")
    if shape is not None and (array.ndim != len(shape) or any(
            want is not None and have != want for have, want in zip(array.shape, shape))):
        rule = ", ".join("count" if n is None else str(n) for n in shape)
        raise Error(f"{name} has the shape {array.shape}; it must be "
                    f"({rule}{',' if len(shape) == 1 else ''})")
    return array


def _described(value: Any, array: np.ndarray) -> str:
    return repr(value) if array.ndim == 0 else f"an array of {array.dtype}"


def finite(value: Any, name: str, shape: Optional[Tuple[Optional[int], ...]] = None) -> np.ndarray:
    """The same; every number must be finite."""
    array = numbers(value, name, shape)
    if not np.isfinite(array).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        index = f"[{', '.join(str(k) for k in place)}]" if place else ""
        raise Error(f"{name}{index} is {array[place]}; it must be finite")
    return array
