"""The structs and enums of C as Python classes of the same names, made from the headers.

A struct behaves as in C: FilRodDef().section.radius = 1e-3. It starts from the library's defaults
where there are any, else from zeros (a FilPose from the axes of the world). Numbers are numbers,
arrays of numbers are NumPy views of the struct's own memory, structs within it are views too. A
member of an enum may be given by its word in scenes: kind="sphere" is kind=FIL_SHAPE_SPHERE. A
pointer takes a NumPy array (not copied when it has the type and the order that C wants), a list of
structs, or a Python function; what it points to lives as long as the struct. Structs can be copied
and pickled; a copy holds the same arrays, a deep copy its own.
"""

import contextlib
import copy
import difflib
import enum
import keyword
import os
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Type

import numpy as np

from . import _cdef  # type: ignore[attr-defined]
from ._errors import Error, defer, is_pending, on_error
from ._library import ffi, lib
from ._memory import Lease, Memory, array_at, numbers

# What pointers point to: fields of the same struct that count, then numbers.
ARRAYS: Dict[str, Dict[str, Tuple[Any, ...]]] = {
    "FilRodDef": {"element_lengths": ("element_count",), "sections": ("element_count",),
                  "natural_curvatures": ("natural_count", 3),
                  "start_curvatures": ("start_count", 3), "joints": ("element_count",),
                  "loads": ("load_count",)},
    "FilMotion": {"keys": ("key_count",)},
    "FilFrictionProblem": {"block_sizes": ("block_count",), "kinds": ("block_count",),
                           "mu": ("block_count",)},
    "FilResultDef": {"rods": ("rod_count",), "lines": ("line_count",), "points": ("point_count",),
                     "rigids": ("rigid_count",), "obstacles": ("obstacle_count",),
                     "meshes": ("mesh_count",)},
    "FilResultMesh": {"vertices": ("vertex_count", 3), "triangles": ("triangle_count", 3)},
    "FilScene": {"materials": ("material_count",), "rods": ("rod_count",),
                 "obstacles": ("obstacle_count",), "bodies": ("body_count",),
                 "joints": ("joint_count",), "events": ("event_count",),
                 "friction": ("material_count", "material_count")},
    "FilCheckpoint": {"state": ("state_count",)},
}
# Shapes that only a function knows: it takes the struct and the name of a pointer in it.
SHAPES: Dict[str, Callable[[Any, str], Tuple[int, ...]]] = {}
# Counts that say nothing but how long an array is: set with the array.
FOLLOWING = {"natural_count", "start_count", "load_count", "key_count"}


class Named(enum.IntEnum):
    """A number with a name in C, which is how it is printed, and a word, as scenes have it."""

    @property
    def word(self) -> str:
        """"der" of FIL_ROD_DER."""
        return WORDS[type(self).__name__].get(int(self), self.name)

    def __str__(self) -> str:
        return self.name

    def __format__(self, form: str) -> str:
        return format(int(self), form) if form else self.name


ENUMS: Dict[str, Type[enum.IntEnum]] = {}
WORDS: Dict[str, Dict[int, str]] = {}  # of the members of each enum, counts left out
STRUCTS: Dict[str, Type["Struct"]] = {}


# --- types of NumPy ------------------------------------------------------------------------------

_dtypes: Dict[Any, np.dtype] = {}


def dtype_of(ctype: Any) -> np.dtype:
    """The NumPy type with the layout of a type of C. Pointers are whole numbers in it."""
    if isinstance(ctype, str):
        ctype = ffi.typeof(ctype)
    if ctype not in _dtypes:
        _dtypes[ctype] = _make_dtype(ctype)
    return _dtypes[ctype]


def _make_dtype(ctype: Any) -> np.dtype:
    size = ffi.sizeof(ctype)
    if ctype.kind == "struct":
        fields = ctype.fields
        return np.dtype({"names": [name for name, _ in fields],
                         "formats": [dtype_of(field.type) for _, field in fields],
                         "offsets": [field.offset for _, field in fields], "itemsize": size})
    if ctype.kind == "array":
        if ctype.item.cname == "char":
            return np.dtype(f"S{size}")
        item = dtype_of(ctype.item)
        return np.dtype((item.base, (ctype.length, *item.shape)))
    if ctype.kind == "pointer" or ctype.kind == "function":
        return np.dtype(np.uintp)
    if ctype.cname == "_Bool":
        return np.dtype(np.bool_)
    if ctype.cname in ("double", "float"):
        return np.dtype(f"f{size}")
    signed = ctype.kind == "enum" or int(ffi.cast(ctype, -1)) < 0  # enums of ours start at 0
    return np.dtype(f"{'i' if signed else 'u'}{size}")


# --- functions that C calls ----------------------------------------------------------------------

def _callback(ctype: Any, function: Callable[..., Any]) -> Any:
    """`function` for C: the pointer `user` is left out, structs come as structs. What it raises is
    raised again when the library returns; until then it counts as None, or False."""
    shown = [k for k, kind in enumerate(ctype.args) if kind.cname != "void *"]

    def called(*arguments: Any) -> Any:
        try:
            with contextlib.ExitStack() as ends:
                answer = function(*(_shown(arguments[k], ends) for k in shown))
            return bool(answer) and not is_pending() if ctype.result.cname == "_Bool" else None
        except BaseException as error:  # noqa: B902 (it travels on, see defer())
            defer(error)
            return False if ctype.result.cname == "_Bool" else None

    return ffi.callback(ctype, called, onerror=on_error)


def _shown(value: Any, ends: contextlib.ExitStack) -> Any:
    """An argument for Python. Structs are copies, which may be kept; changes are written back."""
    if isinstance(value, ffi.CData):
        kind = ffi.typeof(value)
        if kind.kind == "pointer" and kind.item.kind == "struct":
            name = _name(kind.item)
            own = ffi.new(name + " *", value[0])
            ends.callback(_write_back, value, own, ffi.buffer(own)[:])
            return STRUCTS[name]._at(own, own)
        if kind.kind == "pointer" and kind.item.cname == "char":
            return _text(value)
    return value


def _write_back(place: Any, own: Any, before: bytes) -> None:
    if ffi.buffer(own)[:] != before:
        place[0] = own[0]


def _name(ctype: Any) -> str:
    return ctype.cname.replace("struct ", "").replace("enum ", "").replace(" const", "")


def enum_number(kind: str, value: Any, name: str) -> int:
    """The number of a member of an enum, which was given as a number or by its word; `name` is what
    errors call it."""
    known = WORDS[kind]
    if isinstance(value, str):
        for number, word in known.items():
            if value == word:
                return number
        near = difflib.get_close_matches(value, known.values(), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise Error(f"{name} is {value!r}; it must be {_one_of(known)}{hint}")
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} takes {_one_of(known)}, not {value!r}")
    if int(value) not in known:
        raise Error(f"{name} is {int(value)}; it must be {_one_of(known)}")
    return int(value)


def _one_of(known: Dict[int, str]) -> str:
    *first, last = (repr(word) for word in known.values())
    return f"{', '.join(first)} or {last}" if first else last


def _enum_numbers(ctype: Any, value: Any, name: str) -> Any:
    """An array for C of members of an enum, some of which may be words."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "U":
        return value
    kind = _name(ctype)
    if not isinstance(value, (list, tuple, np.ndarray)):
        raise TypeError(f"{name} takes a list of {_one_of(WORDS[kind])}, not {value!r}")
    return np.array([enum_number(kind, one if isinstance(one, str) else int(one), f"{name}[{k}]")
                     for k, one in enumerate(value)], dtype_of(ctype))


def _text(pointer: Any) -> Optional[str]:
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


# --- structs -------------------------------------------------------------------------------------

class Struct:
    """A struct of C. Fields have the names, units and meaning that they have there."""

    # _c lies in memory that _owner keeps; _keep: by field, what a pointer points to and how it was
    # given; "field<" is kept for C alone. A struct within this one has its keys, with a _prefix.
    _ctype: Any = None
    _fields: Dict[str, Any] = {}
    __slots__ = ("_c", "_owner", "_keep", "_prefix", "_readonly", "_outer")

    def __init__(self, /, **fields: Any) -> None:
        self._set("_c", ffi.new(self._ctype.cname + " *"))
        self._set("_owner", self._c)
        self._set("_keep", {})
        self._set("_prefix", "")
        self._set("_readonly", False)
        self._set("_outer", None)
        _start(self)
        for name, value in fields.items():
            setattr(self, name, value)

    @classmethod
    def _at(cls, pointer: Any, owner: Any, keep: Optional[Dict[str, Any]] = None, prefix: str = "",
            readonly: bool = False) -> Any:
        """The struct that lies at `pointer`; `owner` is what keeps it there."""
        made = cls.__new__(cls)
        for name, value in (("_c", pointer), ("_owner", owner), ("_prefix", prefix),
                            ("_keep", {} if keep is None else keep), ("_readonly", readonly),
                            ("_outer", None)):
            made._set(name, value)
        return made

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _field(self, name: str) -> Tuple[str, Any]:
        if name.endswith("_") and keyword.iskeyword(name[:-1]):
            name = name[:-1]  # def_, for def is a word of Python
        if name not in self._fields:
            near = difflib.get_close_matches(name, self._fields, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise AttributeError(f"{type(self).__name__} has no field {name}{hint}")
        return name, self._fields[name].type

    # reading

    def __getattr__(self, name: str) -> Any:
        name, ctype = self._field(name)
        value = getattr(self._c, name)
        if ctype.kind == "struct":
            part = STRUCTS[_name(ctype)]._at(ffi.addressof(self._c, name), self._owner, self._keep,
                                             f"{self._prefix}{name}.", self._readonly)
            part._set("_outer", (self, name))
            return part
        if ctype.kind == "array":
            return self._get_array(value, ctype)
        if ctype.kind == "pointer":
            return self._get_pointer(name, value, ctype)
        if ctype.kind == "function":
            return self._keep.get(self._prefix + name, (None, None))[1]
        if ctype.kind == "enum":
            return as_enum(ctype, value)
        return value

    def _get_array(self, value: Any, ctype: Any) -> Any:
        if ctype.item.cname == "char":
            return ffi.string(value).decode("utf-8", "replace")
        kind = dtype_of(ctype)
        return array_at(value, kind.shape, kind.base, self._owner, self._readonly)

    def _get_pointer(self, name: str, value: Any, ctype: Any) -> Any:
        kept = self._keep.get(self._prefix + name)
        if kept is not None:
            return kept[1]
        if value == ffi.NULL:
            return None
        if ctype.item.cname.startswith("char"):
            return _text(value)
        shape = ARRAYS.get(type(self).__name__, {}).get(name)
        if shape is None:
            shape = self._known_shape(name)
        if shape is None:
            if ctype.item.kind == "struct" and _name(ctype.item) in STRUCTS:
                return STRUCTS[_name(ctype.item)]._at(value, self._owner, None, "", True)
            return value
        counts = tuple(getattr(self._c, n) if isinstance(n, str) else n for n in shape)
        if ctype.item.kind == "struct" and _has_pointers(ctype.item):
            made = STRUCTS[_name(ctype.item)]
            return [made._at(value + k, self._owner, None, "", True)
                    for k in range(counts[0])]
        return array_at(value, counts, dtype_of(ctype.item), self._owner)

    def _known_shape(self, name: str) -> Optional[Tuple[int, ...]]:
        """Of an array in a struct of SHAPES, this one or one that this one is in."""
        struct = self
        while type(struct).__name__ not in SHAPES:
            if struct._outer is None:
                return None
            struct, part = struct._outer
            name = f"{part}.{name}"
        return SHAPES[type(struct).__name__](struct, name)

    # writing

    def __setattr__(self, name: str, value: Any) -> None:
        name, ctype = self._field(name)
        if self._readonly:
            raise AttributeError(f"this {type(self).__name__} belongs to the library: read only")
        if ctype.kind == "struct":
            self._set_struct(name, value)
        elif ctype.kind == "array" and ctype.item.cname == "char":
            setattr(self._c, name, value.encode()[:ctype.length - 1])
        elif ctype.kind == "array":
            array = getattr(self, name)
            array[...] = numbers(value, name, array.shape, array.dtype)
        elif ctype.kind == "pointer" and ctype.item.kind == "function" or ctype.kind == "function":
            self._set_function(name, ctype, value)
        elif ctype.kind == "pointer":
            self._set_pointer(name, ctype, value)
        else:
            self._set_number(name, ctype, value)

    def _set_number(self, name: str, ctype: Any, value: Any) -> None:
        if ctype.cname == "_Bool" and value not in (False, True):
            raise TypeError(f"{name} takes True or False, not {value!r}")
        if ctype.kind == "enum":
            value = enum_number(_name(ctype), value, name)
        try:
            setattr(self._c, name, value)
        except (TypeError, OverflowError) as error:
            if ctype.cname in ("double", "float"):
                rule = "a number"
            else:
                rule = f"a whole number of {8 * ffi.sizeof(ctype)} bits"
            raise type(error)(f"{name} takes {rule}, not {value!r}") from None

    def _set_struct(self, name: str, value: Any) -> None:
        part = getattr(self, name)
        if isinstance(value, dict):
            for field, one in value.items():
                setattr(part, field, one)
        elif isinstance(value, type(part)):
            given = {part._prefix + key[len(value._prefix):]: kept
                     for key, kept in value._keep.items() if key.startswith(value._prefix)}
            ffi.memmove(part._c, value._c, ffi.sizeof(self._fields[name].type))
            for key in [k for k in self._keep if k.startswith(part._prefix)]:
                del self._keep[key]
            self._keep.update(given)
            if value._readonly:  # it may point to memory of the library
                self._keep[part._prefix + "<"] = (value._owner, None)
        else:
            raise TypeError(f"{name} is a {type(part).__name__}; it takes one, or a dict of fields")

    def _set_function(self, name: str, ctype: Any, value: Any) -> None:
        key = self._prefix + name
        self._keep.pop(key, None)
        if value is None:
            setattr(self._c, name, ffi.NULL)
        elif isinstance(value, STRUCTS["FilMotion"]) and name == "motion":
            value.check_arrays()
            self._c.motion, self._c.user = lib.fil_motion_apply, value._c
            self._keep[key] = (value, value)
        elif isinstance(value, ffi.CData):
            setattr(self._c, name, value)
            self._keep[key + "<"] = (value, None)
        elif callable(value):
            made = _callback(ctype, value)
            setattr(self._c, name, made)
            self._keep[key] = (made, value)
        else:
            raise TypeError(f"{name} takes a function")

    def _set_pointer(self, name: str, ctype: Any, value: Any) -> None:
        key = self._prefix + name
        if value is None or isinstance(value, ffi.CData):
            setattr(self._c, name, ffi.NULL if value is None else value)
            self._keep.pop(key, None)
            self._keep[key + "<"] = (value, None)
            return
        if isinstance(value, str) and _name(ctype.item) == "char":
            pointer = kept = ffi.new("char[]", value.encode())
        elif isinstance(value, Struct):
            pointer, kept = value._c, value
        elif hasattr(value, "_lease"):  # a mesh, for example
            pointer, kept = value._pointer, value._lease()
        elif ctype.item.kind == "struct":
            pointer, kept, value = struct_array(ctype.item, value, name)
        else:
            if ctype.item.kind == "enum":
                value = _enum_numbers(ctype.item, value, name)
            value = numbers(value, name, None, dtype_of(ctype.item))
            # cffi gives an address of the right type; `value` itself keeps the memory
            pointer, kept = ffi.cast(ctype, ffi.from_buffer(value, require_writable=False)), value
        setattr(self._c, name, pointer)
        self._keep[key] = (kept, value)
        count = ARRAYS.get(type(self).__name__, {}).get(name, (None,))[0]
        if count in FOLLOWING:
            setattr(self._c, count, _length(value, ARRAYS[type(self).__name__][name]))

    # using

    def check_arrays(self) -> None:
        """Raise when an array is not as long as the struct's counts say."""
        for name, shape in ARRAYS.get(type(self).__name__, {}).items():
            kept = self._keep.get(self._prefix + name)
            if kept is None:
                continue
            want = int(np.prod([getattr(self._c, n) if isinstance(n, str) else n for n in shape]))
            have = np.size(kept[1]) if not isinstance(kept[1], (list, tuple)) else (
                len(kept[1]) * int(np.prod(shape[1:], dtype=int)))
            if have != want:
                rule = " x ".join(f"{n} ({getattr(self._c, n)})" if isinstance(n, str) else str(n)
                                  for n in shape)
                raise Error(f"{self._prefix}{name} holds {have} numbers; it must hold {rule}")

    def lasting(self) -> List[Any]:
        """What the library goes on using after the call that took the struct: functions, meshes."""
        return [kept for kept, _ in self._keep.values() if not isinstance(kept, np.ndarray)]

    def __dir__(self) -> List[str]:
        return list(self._fields)

    def __repr__(self) -> str:
        shown = []
        for name, field in self._fields.items():
            value = getattr(self, name)
            if field.type.kind in ("pointer", "function"):
                if value is None:
                    continue
                if isinstance(value, (list, np.ndarray)):
                    value = f"<{len(value)}>"
            elif isinstance(value, np.ndarray):
                value = value.tolist()
            shown.append(f"{name}={value}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: Any) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self._fields)

    def __copy__(self) -> Any:
        """It points to what this one points to, and keeps that."""
        made = type(self)()
        ffi.memmove(made._c, self._c, ffi.sizeof(self._ctype))
        made._keep.update({key[len(self._prefix):]: kept for key, kept in self._keep.items()
                           if key.startswith(self._prefix)})
        if self._owner is not self._c:
            made._keep["<"] = (self._owner, None)
        return made

    def __reduce_ex__(self, _protocol: Any) -> Any:
        kept = {key[len(self._prefix):]: value for key, (_, value) in self._keep.items()
                if key.startswith(self._prefix) and not key.endswith("<")}
        foreign = [name for name in set_pointers(self._c, self._ctype) if name not in kept]
        if foreign:
            raise TypeError(f"this {type(self).__name__} cannot be pickled, nor copied with what "
                            f"it points to: {foreign[0]} is memory of C")
        return _remade, (type(self).__name__, ffi.buffer(self._c)[:], kept)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a == b


def set_pointers(c: Any, ctype: Any, prefix: str = "") -> Iterator[str]:
    """The pointers in a struct that are not NULL. What goes with a function is left out."""
    for name, field in ctype.fields:
        if field.type.kind == "struct":
            yield from set_pointers(getattr(c, name), field.type, f"{prefix}{name}.")
        elif field.type.kind in ("pointer", "function") and field.type.cname != "void *":
            if getattr(c, name) != ffi.NULL:
                yield prefix + name


def _remade(name: str, data: bytes, kept: Dict[str, Any]) -> Struct:
    """A copy of a struct: its bytes, then what its pointers point to."""
    made = STRUCTS[name]()
    ffi.memmove(made._c, data, len(data))
    for key, value in kept.items():
        *parts, last = key.split(".")
        part = made
        for field in parts:
            part = getattr(part, field)
        setattr(part, last, value)
    return made


def _length(value: Any, shape: Tuple[Any, ...]) -> int:
    if isinstance(value, np.ndarray):
        return value.size // int(np.prod(shape[1:], dtype=int))
    return len(value)


def _has_pointers(ctype: Any) -> bool:
    return any(field.type.kind in ("pointer", "function")
               or (field.type.kind == "struct" and _has_pointers(field.type))
               for _, field in ctype.fields)


def struct_array(ctype: Any, value: Any, name: str) -> Tuple[Any, Any, Any]:
    """An array of structs from structs, or from a NumPy array of their type: its address, what
    keeps it, and the value itself."""
    kind = _name(ctype)
    if isinstance(value, np.ndarray):
        if value.dtype != dtype_of(ctype):
            raise TypeError(f"{name} takes an array of the type filum.dtype_of('{kind}')")
        value = np.ascontiguousarray(value)
        return ffi.cast(ffi.typeof(kind + " *"), ffi.from_buffer(value)), value, value
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} takes a list of {kind}, not {value!r}")
    value = [taken(kind, one, f"{name}[{k}]") for k, one in enumerate(value)]
    made = ffi.new(kind + "[]", max(len(value), 1))
    for k, one in enumerate(value):
        made[k] = one._c[0]
    return made, (made, value), value


def as_enum(ctype: Any, value: int) -> int:
    known = ENUMS.get(_name(ctype))
    try:
        return known(value) if known is not None else value
    except ValueError:
        return value


# --- what they start from, and the classes themselves --------------------------------------------

_defaults: Dict[str, Optional[str]] = {}


def _default_of(name: str) -> Optional[str]:
    """fil_rod_def_default for FilRodDef, where there is one without parameters."""
    words = re.sub(r"(?<!^)([A-Z])", r"_\1", name[3:]).lower()
    function = f"fil_{words}_default"
    return function if f" {function}(void);" in _cdef.CDEF else None


def _start(made: Struct) -> None:
    name = type(made).__name__
    if name not in _defaults:
        _defaults[name] = _default_of(name)
    default = _defaults[name]
    if default is not None:
        made._c[0] = getattr(lib, default)()
    elif name == "FilPose":
        made.axis[...] = np.eye(3)
    elif name in ("FilObstacleDef", "FilSceneObstacle", "FilSceneBody"):
        made.pose.axis[...] = np.eye(3)


def _docs() -> Dict[str, str]:
    """Each struct as the header has it, with the comment before it."""
    parts = re.split(r"^typedef struct (\w+) \{\n", _cdef.CDEF, flags=re.MULTILINE)
    found = {}
    for before, name, after in zip(parts[0::2], parts[1::2], parts[2::2]):
        comment = before[before.rstrip("\n").rfind("\n\n"):] if before.endswith("\n") else ""
        about = [line[4:] for line in comment.splitlines() if line.startswith("/// ")]
        body = after[:after.find(f"\n}} {name};")]
        found[name] = "\n".join([*about, *([""] if about else []), body])
    return found


def _words(members: Dict[str, int]) -> Dict[int, str]:
    """The words of an enum: those of its table, else what the names of its members end in."""
    own = {name: number for name, number in members.items() if not name.endswith("_COUNT")}
    stem = len(os.path.commonprefix(list(own)).rpartition("_")[0]) + 1
    return {number: _cdef.WORDS.get(name, name[stem:].lower().replace("_", "-"))
            for name, number in own.items()}


_FUNCTIONS = ("FilProblemWatch", "FilBodyName")  # types of functions, which cffi has no type of


def _make_classes() -> None:
    docs = _docs()
    for name in ffi.list_types()[0]:
        known = name.startswith("Fil") and name not in _FUNCTIONS
        ctype = ffi.typeof(name) if known else None
        if ctype is None:
            continue
        if ctype.kind == "enum":
            members = {text: number for number, text in sorted(ctype.elements.items())}
            ENUMS[name] = Named(name, members)  # type: ignore
            WORDS[name] = _words(members)
        elif ctype.kind == "struct" and ctype.fields is not None:
            body = {"_ctype": ctype, "_fields": dict(ctype.fields), "__slots__": (),
                    "__doc__": docs.get(name, name)}
            STRUCTS[name] = type(name, (Struct,), body)


_make_classes()


def value_of(name: str, function: Any, *arguments: Any) -> Any:
    """What a function of C writes to its last parameter, a struct."""
    pointer = ffi.new(name + " *")
    made = STRUCTS[name]._at(pointer, pointer)
    function(*arguments, pointer)
    return made


def borrowed(name: str, pointer: Any, owner: Any, memory: Memory) -> Any:
    """A struct in memory of the library, to be read; that memory stays while it is looked at."""
    return STRUCTS[name]._at(pointer, Lease(0, 0, True, owner, memory), readonly=True)


def taken(name: str, value: Any, what: str = "this") -> Any:
    """The struct that was given, or one of that name with the fields of a dict."""
    if isinstance(value, dict):
        value = STRUCTS[name](**value)
    if not isinstance(value, STRUCTS[name]):
        shown = "None" if value is None else type(value).__name__
        raise TypeError(f"{what} takes a {name}, or a dict of its fields, not {shown}")
    value.check_arrays()
    return value


def definition(name: str, given: Any, fields: Dict[str, Any]) -> Any:
    """The struct that was given, with `fields` set in a copy of it."""
    if isinstance(given, dict):
        return taken(name, {**given, **fields})
    made = copy.copy(taken(name, given)) if fields else given
    for field, value in fields.items():
        setattr(made, field, value)
    return taken(name, made)


def vector(value: Sequence[float], name: str) -> Any:
    """Three numbers for C."""
    return ffi.from_buffer("double[]", numbers(value, name, (3,)))
