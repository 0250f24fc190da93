"""Scenes brought to life, and runs. See filum/scene.h, stage.h, record.h and result.h."""

import collections.abc
import contextlib
import operator
import os
import threading
import weakref
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import Error, call
from ._handles import Handle, made
from ._library import ffi, lib
from ._memory import Lease, Memory, array_at, finite, numbers
from ._structs import STRUCTS, borrowed, definition, dtype_of, enum_number, taken
from .world import Definition, World, check_threads, let_end

# HDF5 serves one thread at a time, whatever the file
_hdf5 = threading.RLock()

# the arrays of a frame: how many rows, how many numbers each
_ARRAYS = {
    "position": ("point_count", (3,)), "quaternion": ("point_count", (4,)),
    "velocity": ("point_count", (3,)), "curvature": ("point_count", (3,)),
    "tension": ("point_count", ()), "elastic": ("point_count", ()),
    "reaction_force": ("rod_count", (2, 3)), "reaction_moment": ("rod_count", (2, 3)),
    "rigid_position": ("rigid_count", (3,)), "rigid_quaternion": ("rigid_count", (4,)),
    "rigid_velocity": ("rigid_count", (3,)), "rigid_spin": ("rigid_count", (3,)),
    "obstacle_position": ("obstacle_count", (3,)), "obstacle_quaternion": ("obstacle_count", (4,)),
}


# --- frames --------------------------------------------------------------------------------------

class Frame:
    """The world at one time: FilFrame.

    `time` (s), `step`, `energy` (J), and arrays, by points of rods: `position` [points, 3] m,
    `quaternion` [points, 4] (w, x, y, z), `velocity` [points, 3] m/s, `curvature` [points, 3]
    (twist, kappa1, kappa2) 1/m, `tension` [points] N, `elastic` [points] J/m; by rods, of
    root and tip: `reaction_force` [rods, 2, 3] N, `reaction_moment` [rods, 2, 3] N m; by bodies:
    `rigid_position` m, `rigid_quaternion`, `rigid_velocity` m/s, `rigid_spin` rad/s; by obstacles:
    `obstacle_position` m, `obstacle_quaternion`; and `contacts`, an array of FilContact. What a run
    of old does not know is None. rod(k) are the points of a rod.

    They are views of the library's memory, and stay while somebody looks at them. The frames of
    Result.read() alone are overwritten by the next read, and refuse to be read from then on; copy()
    is a frame with arrays of its own.
    """

    def __init__(self, c: Any, def_: Any, owner: Any, memory: Optional[Memory],
                 is_current: Callable[[], bool] = lambda: True,
                 lock: Any = contextlib.nullcontext()) -> None:
        self._c, self._memory, self._is_current = c, memory, is_current
        self._lock = lock  # who has it is not overwritten meanwhile
        self._owner = Lease(0, 0, True, owner, memory)
        self.def_ = def_
        self._struct = STRUCTS["FilFrame"]._at(c, c, readonly=True)

    def __dir__(self) -> List[str]:
        return sorted([*super().__dir__(), *_ARRAYS])

    @property
    def _frame(self) -> Any:
        if not self._is_current():
            raise Error("this frame was overwritten by a later one; copy() makes one that stays")
        return self._c

    @property
    def time(self) -> float:
        """s"""
        return self._frame.time

    @property
    def step(self) -> int:
        """Steps done."""
        return self._frame.step

    @property
    def energy(self) -> Any:
        """FilRodEnergy, J."""
        self._frame
        return self._struct.energy

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in _ARRAYS:
            raise AttributeError(f"a frame has no {name}; it has {', '.join(_ARRAYS)}")
        count, row = _ARRAYS[name]
        rows = getattr(self.def_, count)
        pointer = getattr(self._frame, name)
        if pointer == ffi.NULL and rows > 0:
            return None  # type: ignore[return-value]
        return array_at(pointer, (rows, *row), np.float64, self._owner, True, self._memory)

    @property
    def contacts(self) -> np.ndarray:
        """FilContact[], as World.contacts."""
        return array_at(self._frame.contacts, (self._frame.contact_count,), dtype_of("FilContact"),
                        self._owner, True, self._memory)

    def rod(self, rod: Union[int, str]) -> slice:
        """The points of a rod, by its number or name: frame.position[frame.rod(3)]."""
        rods = self.def_.rods
        if isinstance(rod, str):
            if rod.encode() not in rods["name"]:
                raise Error(f"there is no rod {rod!r}; see frame.def_.rods['name']")
            rod = int(np.flatnonzero(rods["name"] == rod.encode())[0])
        if not 0 <= operator.index(rod) < self.def_.rod_count:
            raise Error(f"there is no rod {rod}; the frame has {self.def_.rod_count}")
        first = int(rods[rod]["first_point"])
        return slice(first, first + int(rods[rod]["point_count"]))

    def field(self, field: Union[str, int]) -> np.ndarray:
        """One number for each point: "tension", "curvature", "speed", ... or a FilField. Its unit
        is field_unit(field)."""
        number = _field_number(field)
        values = np.zeros(self.def_.point_count)
        with self._lock:
            if not lib.fil_field_is_known(number, self._frame):
                raise Error(f"this run does not know {_field_name(number)}")
            lib.fil_field_compute(number, self.def_._c, self._frame,
                                  ffi.from_buffer("double[]", values))
        return values

    def copy(self) -> "Frame":
        """The same with arrays of its own."""
        arrays = []
        with self._lock:
            c = ffi.new("FilFrame *", self._frame[0])
            for name in (*_ARRAYS, "contacts"):
                array = getattr(self, name)
                if array is not None and array.size > 0:
                    arrays.append(array.copy())
                    kind = "FilContact *" if name == "contacts" else "double *"
                    setattr(c, name, ffi.cast(kind, arrays[-1].ctypes.data))
        return Frame(c, self.def_, arrays, None)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError("a frame cannot be pickled; its arrays can. copy() copies it")

    def __copy__(self) -> "Frame":
        return self.copy()

    def __deepcopy__(self, _memo: Any) -> "Frame":
        return self.copy()

    def __repr__(self) -> str:
        if not self._is_current():
            return "<frame that was overwritten>"
        return (f"<frame at {self.time:g} s: {self.def_.point_count} points of "
                f"{self.def_.rod_count} rods, {self._c.contact_count} contacts>")


def _field_name(number: int) -> str:
    return ffi.string(lib.fil_field_name(number)).decode()


def _field_number(field: Union[str, int]) -> int:
    names = [_field_name(k) for k in range(lib.FIL_FIELD_COUNT)]
    if isinstance(field, str):
        if field not in names:
            raise Error(f"field is {field!r}; it must be one of {', '.join(names)}")
        return names.index(field)
    if not 0 <= field < len(names):
        raise Error(f"field is {field}; it must be a FilField")
    return int(field)


def field_unit(field: Union[str, int]) -> str:
    """ "N" for "tension"."""
    return ffi.string(lib.fil_field_unit(_field_number(field))).decode()


def field_range(values: Any) -> np.ndarray:
    """The two ends of a scale for the values of a field."""
    given = numbers(values, "values").reshape(-1)
    scratch, ends = np.zeros_like(given), np.zeros(2)
    lib.fil_field_range(ffi.from_buffer("double[]", given), len(given),
                        ffi.from_buffer("double[]", scratch), ffi.from_buffer("double[]", ends))
    return ends


class RecorderCore:
    """A recorder that does not hold its world: the world holds it. It has one frame at a time."""

    def __init__(self, world: World) -> None:
        self.counts = self._counts(world)
        self.memory = Memory()
        pointer = made(lib.fil_recorder_create, "FilRecorder", world._pointer,
                       self.memory.allocator)
        self.handle = Handle(pointer, lib.fil_recorder_destroy, None, self.memory)
        self._seen: Callable[[], Any] = lambda: None  # what lives while somebody looks at the frame

    @staticmethod
    def _counts(world: World) -> Any:
        return (world.rod_count, world.rigid_count, world.obstacle_count)

    @property
    def is_free(self) -> bool:
        return self._seen() is None

    def pointer(self, world: World) -> Any:
        if self._counts(world) != self.counts:
            raise Error("something was added to the world since this recorder was made")
        return self.handle._pointer

    def def_(self, world: World) -> Any:
        c = ffi.new("FilResultDef *", lib.fil_recorder_def(self.pointer(world)))
        made_struct = borrowed("FilResultDef", c, (c, world), self.memory)
        object.__setattr__(made_struct, "_readonly", False)  # texts and seed are for the caller
        return made_struct

    def frame(self, world: World) -> Frame:
        c = ffi.new("FilFrame *")
        with world._looking():
            recorder = self.pointer(world)
            call(lib.fil_recorder_frame, recorder, c)
            # they are in the scratch of the world, where the next step overwrites them
            contacts = array_at(c.contacts, (c.contact_count,), dtype_of("FilContact"), None).copy()
        if len(contacts) > 0:
            c.contacts = ffi.cast("FilContact *", contacts.ctypes.data)
        frame = Frame(c, self.def_(world), (c, world, contacts), self.memory)
        self._seen = weakref.ref(frame._owner)  # the arrays hold it, too
        return frame


def free_recorder(cores: List[RecorderCore], make: Callable[[], RecorderCore]) -> RecorderCore:
    """One whose frame nobody looks at any more. Two serve a loop that holds the last frame while it
    takes the next; one that is dropped lives on in the memory of its frame."""
    for core in cores:
        if core.is_free:
            return core
    cores.append(make())
    del cores[:-2]
    return cores[-1]


class Recorder(Handle):
    """Frames of a world to which nothing will be added any more."""

    _noun = "recorder"

    def __init__(self, world: World) -> None:
        if not isinstance(world, World):
            raise TypeError(f"a recorder takes a World, not {world!r}")
        self._world = world
        self._names: List[Tuple[int, int, bytes]] = []
        self._main = RecorderCore(world)
        self._cores = [self._main]
        self._def: Any = None
        super().__init__(self._main.handle._raw, None, world, world._memory)

    @property
    def def_(self) -> Any:
        """What the world holds: FilResultDef. Name, texts and seed can be set."""
        with self._looking():
            if self._def is None:
                self._def = self._main.def_(self._world)
            return self._def

    def _core(self) -> RecorderCore:
        core = RecorderCore(self._world)
        for kind, index, name in self._names:
            lib.fil_recorder_set_name(core.pointer(self._world), kind, index, name)
        return core

    def set_name(self, kind: Union[str, int], index: int, name: str) -> None:
        """Name a "rod", "rigid" or "obstacle"; a FilBodyKind will do, too."""
        kind = enum_number("FilBodyKind", kind, "kind")
        kinds = (lib.FIL_BODY_ROD, lib.FIL_BODY_RIGID, lib.FIL_BODY_OBSTACLE)
        if kind not in kinds or not 0 <= index < self._main.counts[kinds.index(kind)]:
            raise Error(f"kind is {kind} and index is {index}; there is no such body")
        with self._looking():
            self._names.append((kind, index, name.encode()))
            for core in {self._main, *self._cores}:
                lib.fil_recorder_set_name(core.pointer(self._world), kind, index, name.encode())

    def frame(self) -> Frame:
        """The world as it is now."""
        self._pointer
        return free_recorder(self._cores, self._core).frame(self._world)


# --- results -------------------------------------------------------------------------------------

class Result(Handle):
    """A run: Result(folder or file) opens it. It may still be growing. A sequence of frames:
    len(run), run[-1], run[::10], for frame in run. read(k) is faster than run[k]: its frame is a
    view that the next read overwrites, that of another thread, too. All else may be used by several
    threads: they take turns.
    """

    _noun = "result"

    def __init__(self, path: Any) -> None:
        self._open(lib.fil_result_open, _result_file(path))

    def _open(self, function: Any, path: str, *arguments: Any) -> None:
        memory = Memory()
        with _hdf5:
            pointer = made(function, "FilResult", os.fsencode(path), *arguments, memory.allocator)
        self._process = os.getpid()
        super().__init__(pointer, lambda pointer, process=self._process: _discard(pointer, process),
                         None, memory)
        self._number = 0

    @property
    def _pointer(self) -> Any:
        if self._process != os.getpid():
            raise Error("this result was opened before the fork: open it again in this process")
        return super()._pointer

    @classmethod
    def create(cls, path: Any, def_: Definition, force: bool = False) -> "Result":
        """Make a result file; `def_` is that of a recorder."""
        given = taken("FilResultDef", def_, "def_")
        result = cls.__new__(cls)
        result._open(lib.fil_result_create, os.fspath(path), given._c, force)
        return result

    @classmethod
    def resume(cls, path: Any, frame_count: int, step_count: int) -> "Result":
        """Go on with a file: keep so many frames and steps."""
        result = cls.__new__(cls)
        result._open(lib.fil_result_resume, _result_file(path), frame_count, step_count)
        return result

    def _about(self) -> str:
        return f" of {self.frame_count} frames, {self.step_count} steps"

    def _locked(self, function: Any, *arguments: Any) -> None:
        with _hdf5, self._changing() as result:
            call(function, result, *arguments)

    # writing

    def add_step(self, time: float, info: Definition) -> None:
        """Note what came of a step that ended at `time`: its FilStepInfo."""
        step = STRUCTS["FilResultStep"](time=time, info=info)
        self._locked(lib.fil_result_add_step, step._c)

    def append(self, frame: Frame) -> None:
        """Write a frame: one with as many points and bodies as the result."""
        if not isinstance(frame, Frame):
            raise TypeError(f"append() takes a Frame, not {frame!r}")
        for name in ("point_count", "rigid_count", "obstacle_count"):
            has, wants = getattr(frame.def_, name), getattr(self.def_, name)
            if has != wants:
                raise Error(f"the frame's {name} is {has}; that of the result is {wants}")
        with _hdf5:
            self._locked(lib.fil_result_append, frame._frame)

    def sync(self) -> None:
        """Wait until all is on the disk."""
        self._locked(lib.fil_result_sync)

    def close(self) -> None:
        """Close the file now, with what there is to say about it; twice is fine."""
        if self._end.alive:
            with _hdf5, self._changing() as result:
                self._end.detach()
                call(lib.fil_result_close, result)

    def __exit__(self, *_: Any) -> None:
        self.close()

    # reading

    @property
    def is_growing(self) -> bool:
        """True while another program writes the file."""
        with _hdf5:
            return self._ask(lib.fil_result_is_growing)

    @property
    def def_(self) -> Any:
        """What does not change: FilResultDef, to be read."""
        with _hdf5:
            return borrowed("FilResultDef", self._ask(lib.fil_result_def), self, self._memory)

    @property
    def frame_count(self) -> int:
        """How many there are by now."""
        with _hdf5, self._changing() as result:
            return lib.fil_result_frame_count(result)

    @property
    def step_count(self) -> int:
        """How many there are by now."""
        with _hdf5, self._changing() as result:
            return lib.fil_result_step_count(result)

    def read(self, index: int) -> Frame:
        """Frame `index`, counted from 0, without a copy: the next read overwrites it."""
        c = ffi.new("FilFrame *")
        with _hdf5:
            self._number += 1
            number = self._number
            self._locked(lib.fil_result_read, index, c)
            return Frame(c, self.def_, (c, self), self._memory, lambda: self._number == number,
                         _hdf5)

    def _rows(self, function: Any, kind: str, total: int, first: int,
              count: Optional[int]) -> np.ndarray:
        """Some rows of a table of `total`, as an array of a type of C."""
        count = max(total - first, 0) if count is None else count
        if not (0 <= first <= total and 0 <= count <= total - first):
            raise Error(f"first is {first} and count is {count}; there are {total}")
        rows = np.zeros(count, dtype_of(kind))
        with _hdf5:
            self._number += 1  # it uses the memory of frames
            self._locked(function, first, count, ffi.from_buffer(kind + "[]", rows))
        return rows

    def read_times(self, first: int = 0, count: Optional[int] = None) -> np.ndarray:
        """The times of frames, s."""
        return self._rows(lib.fil_result_read_times, "double", self.frame_count, first, count)

    def read_energies(self, first: int = 0, count: Optional[int] = None) -> np.ndarray:
        """The energies of frames, J, an array of FilRodEnergy: read_energies()["kinetic"]."""
        return self._rows(lib.fil_result_read_energies, "FilRodEnergy", self.frame_count, first,
                          count)

    def read_steps(self, first: int = 0, count: Optional[int] = None) -> np.ndarray:
        """What came of steps, an array of FilResultStep: read_steps()["info"]["iterations"]."""
        return self._rows(lib.fil_result_read_steps, "FilResultStep", self.step_count, first,
                          count)

    def __len__(self) -> int:
        return self.frame_count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Frames(self, range(len(self)))[index]
        number = operator.index(index)
        with _hdf5:  # until the copy is made nobody reads another one
            count = self.frame_count
            if not -count <= number < count:
                raise IndexError(f"there is no frame {number}; the run has {count}")
            return self.read(number % count).copy()

    def __iter__(self) -> Iterator[Frame]:
        return iter(self[:])  # those that are there now

    def export(self, format: Union[str, int], folder: Any, name: str,
               options: Definition = {}, **fields: Any) -> int:
        """Write files of another format, "vtp" for example; how many. FilExportOptions, or its
        fields."""
        given = definition("FilExportOptions", options, fields)
        count = ffi.new("int64_t *")
        number = enum_number("FilExportFormat", format, "format")
        with _hdf5:
            self._number += 1
            self._locked(lib.fil_export, number, given._c, os.fsencode(folder), name.encode(),
                         count)
        return count[0]


def _discard(pointer: Any, process: int) -> None:
    if os.getpid() == process:  # the file is that of the process that opened it
        with _hdf5:
            lib.fil_result_discard(pointer)


class Frames(collections.abc.Sequence):
    """Some frames of a run, run[10:20] or run[::5]: each is read when it is asked for."""

    def __init__(self, result: Result, which: range) -> None:
        self._result, self._numbers = result, which

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Frames(self._result, self._numbers[index])
        return self._result[self._numbers[index]]

    def __repr__(self) -> str:
        return f"<{len(self)} frames of a run>"


def _result_file(path: Any) -> str:
    path = os.fspath(path)
    return os.path.join(path, "result.h5") if os.path.isdir(path) else path


def result_mend(path: Any) -> bool:
    """Take back HDF5's mark of a writer that was killed; whether there was something to do."""
    mended = ffi.new("bool *")
    with _hdf5:
        call(lib.fil_result_mend, os.fsencode(_result_file(path)), mended)
    return mended[0]


# --- scenes --------------------------------------------------------------------------------------

class Scene(Handle):
    """What a scene file says, checked: its fields are those of FilScene, to be read."""

    _noun = "scene"

    def __init__(self, path: Any, changes: Sequence[str] = (), **options: Any) -> None:
        self._read(lib.fil_scene_read, (os.fsencode(path),), changes, options)

    @classmethod
    def read_text(cls, name: str, text: str, changes: Sequence[str] = (),
                  **options: Any) -> "Scene":
        """The same from memory; `name` stands for the file in messages."""
        scene = cls.__new__(cls)
        data = text.encode()
        scene._read(lib.fil_scene_read_text, (name.encode(), data, len(data)), changes, options)
        return scene

    def _read(self, function: Any, source: Any, changes: Sequence[str], options: Any) -> None:
        given = definition("FilSceneOptions", {}, options)
        if isinstance(changes, str):
            raise TypeError(f"changes takes a list of texts, [{changes!r}]")
        texts = [ffi.new("char[]", change.encode()) for change in changes]
        array = ffi.new("char *[]", texts)
        given._c.changes, given._c.change_count = ffi.cast("char **", array), len(texts)
        memory = Memory()
        pointer = made(function, "FilScene", *source, given._c, memory.allocator)
        super().__init__(pointer, lib.fil_scene_destroy, None, memory)

    def __dir__(self) -> List[str]:
        return sorted([*super().__dir__(), *STRUCTS["FilScene"]._fields])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(borrowed("FilScene", self._pointer, self, self._memory), name)

    def _about(self) -> str:
        return (f" {self.name}: {self.rod_count} rods, {self.body_count} bodies, "
                f"{self.obstacle_count} obstacles, {self.duration:g} s")

    def _find(self, function: Any, noun: str, name: str) -> int:
        if not isinstance(name, str):
            raise TypeError(f"a {noun} is found by its name, not by {name!r}")
        index = self._ask(function, name.encode())
        if index < 0:
            raise Error(f"the scene {self.name} has no {noun} {name!r}")
        return index

    def find_rod(self, name: str) -> int:
        return self._find(lib.fil_scene_find_rod, "rod", name)

    def find_obstacle(self, name: str) -> int:
        return self._find(lib.fil_scene_find_obstacle, "obstacle", name)

    def find_body(self, name: str) -> int:
        return self._find(lib.fil_scene_find_body, "body", name)

    def find_material(self, name: str) -> int:
        return self._find(lib.fil_scene_find_material, "material", name)

    def overlaps(self, threads: int = 0) -> Any:
        """What overlaps at time 0: FilSceneOverlaps."""
        found = STRUCTS["FilSceneOverlaps"]()
        with self._looking() as scene:
            call(lib.fil_scene_overlaps, scene, check_threads(threads), ffi.NULL, found._c)
        return found


class Stage(Handle):
    """A scene brought to life: Stage(scene) is a world with all that the scene says.

    `scene` is a Scene or a path; `log(level, text)` is told of events.

        stage = filum.Stage("scenes/knot.json")
        for info in stage.run(): ...
    """

    _noun = "stage"

    def __init__(self, scene: Any, threads: int = 0,
                 log: Optional[Callable[[int, str], None]] = None) -> None:
        self.scene = scene if isinstance(scene, Scene) else Scene(scene)
        teller = STRUCTS["FilLog"](write=log)
        memory = Memory()
        with self.scene._looking() as read:
            pointer = made(lib.fil_stage_create, "FilStage", read, check_threads(threads),
                           teller._c, memory.allocator)
        super().__init__(pointer, lib.fil_stage_destroy, None, memory)
        self._kept.extend([self.scene._lease(), *teller.lasting()])
        self._recorders: List[RecorderCore] = []

    def destroy(self) -> None:
        """Give the stage back now, and its world with it; twice is fine."""
        self._destroy()
        self._recorders.clear()

    @property
    def world(self) -> World:
        """The world; it belongs to the stage."""
        return World._in(self._ask(lib.fil_stage_world), self, self._recorders)

    @property
    def unsettled_count(self) -> int:
        """Rods that were to start in equilibrium and do not."""
        return self._ask(lib.fil_stage_unsettled_count)

    @property
    def event_count(self) -> int:
        """Events applied so far."""
        return self._ask(lib.fil_stage_event_count)

    def step(self) -> Any:
        """Apply the events that are due, and advance by a step: FilStepInfo."""
        info = STRUCTS["FilStepInfo"]()
        with self._changing() as stage:
            let_end(lib.fil_stage_world(stage))
            call(lib.fil_stage_step, stage, info._c)
        return info

    def apply_due(self) -> None:
        """Apply the events that are due."""
        with self._changing() as stage:
            call(lib.fil_stage_apply_due, stage)

    def resume(self, state: Any, event_count: int) -> None:
        """Go on from a world.state that was taken when `event_count` events had been applied."""
        array = finite(state, "state", (None,))
        with self._changing() as stage:
            call(lib.fil_stage_resume, stage, ffi.from_buffer("double[]", array), len(array),
                 event_count)

    def change(self, change: Any) -> None:
        """Apply a FilChange now; it is kept in `events`, as events of the scene are."""
        given = taken("FilChange", change, "change")
        with self._changing() as stage:
            call(lib.fil_stage_change, stage, given._c)

    @property
    def events(self) -> bytes:
        """Events and changes applied so far: what to keep beside the world's state."""
        size = ffi.new("size_t *")
        with self._looking() as stage:
            text = lib.fil_stage_events(stage, size)
            if text == ffi.NULL:
                raise MemoryError
            return ffi.buffer(text, size[0])[:]

    def resume_events(self, state: Any, events: bytes) -> None:
        """Go on from a world.state that was taken when `events` had been applied."""
        array = finite(state, "state", (None,))
        with self._changing() as stage:
            call(lib.fil_stage_resume_events, stage, ffi.from_buffer("double[]", array),
                 len(array), events)

    def run(self, until: Optional[float] = None) -> Iterator[Any]:
        """Step until a time (s), that of the scene by default: for info in stage.run(): ..."""
        end = self.scene.duration if until is None else float(finite(until, "until", ()))
        while self.world.time < end - 0.5 * self.scene.step:
            yield self.step()


__all__: List[str] = ["Frame", "Recorder", "Result", "Scene", "Stage", "field_range", "field_unit",
                      "result_mend"]
