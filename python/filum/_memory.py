"""Memory that C owns and NumPy looks at.

A view must never dangle: neither when the world is destroyed, nor when it moves its arrays because
they grow. So every object of the package gives the library an allocator of its own. While a view of
the object's memory lives, blocks that the library gives back are kept, and blocks that it enlarges
are moved instead of freed; when the last view is gone, they go too. A view may be stale, it may not
crash.

    Memory      the allocator of one object: counts its leases, holds what was given back
    Lease       the base of every array that shows memory of C; NumPy keeps it while it needs it
"""

from typing import Any, Dict, Optional, Tuple

import numpy as np

from ._library import ffi, lib


class Memory:
    """The allocator of one object of the library."""

    def __init__(self) -> None:
        self.leases = 0
        self.kept: Dict[Any, Any] = {}  # what the library gave back while views lived
        self.bytes = 0  # that the library holds
        self._handle = ffi.new_handle(self)
        self.allocator: Any = ffi.new("FilAllocator *", [_resize, self._handle])

    def resize(self, block: Any, old_size: int, new_size: int) -> Any:
        if self.leases == 0:
            if new_size == 0:
                lib.free(block)
                moved = ffi.NULL
            else:
                moved = lib.realloc(block, new_size)
        else:
            moved = lib.malloc(new_size) if new_size > 0 else ffi.NULL
            if moved != ffi.NULL and block != ffi.NULL:
                ffi.memmove(moved, block, min(old_size, new_size))
            if block != ffi.NULL and (moved != ffi.NULL or new_size == 0):
                self.kept[block] = old_size
        if moved != ffi.NULL or new_size == 0:
            self.bytes += new_size - (old_size if block != ffi.NULL else 0)
        return moved

    def lease(self) -> None:
        self.leases += 1

    def release(self) -> None:
        self.leases -= 1
        if self.leases == 0:
            self._empty()

    def _empty(self) -> None:
        kept, self.kept = self.kept, {}
        for block in kept:
            lib.free(block)


@ffi.callback("void *(void *, void *, size_t, size_t)", error=ffi.NULL)
def _resize(user: Any, block: Any, old_size: int, new_size: int) -> Any:
    memory: Memory = ffi.from_handle(user)
    return memory.resize(block, old_size, new_size)


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
