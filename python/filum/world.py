"""Worlds and what is in them: rods, rigid bodies, obstacles, joints. See filum/world.h."""

import contextlib
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import Error, call, guarded, is_pending, on_error
from ._handles import Handle, made
from ._library import ffi, lib
from ._memory import Memory, array_at, finite, numbers
from ._structs import (STRUCTS, Struct, borrowed, definition, dtype_of, enum_number,
                       struct_array, taken, value_of, vector)

Vector = Sequence[float]
Definition = Union[Struct, Dict[str, Any]]  # a struct, or its fields; {}: the defaults


def check_threads(threads: int, name: str = "threads") -> int:
    if threads < 0:
        raise Error(f"{name} is {threads}; it must not be negative (0: all)")
    return threads


@ffi.callback("bool(void *, int, double)", error=False, onerror=on_error)
def _go_on(*_: Any) -> bool:
    """What settle() calls after every step where the caller gave nothing: here Python notices
    Ctrl-C, which it does not while the library works."""
    return not is_pending()


@ffi.callback("bool(void *)", error=True, onerror=on_error)
def _wants_end(_: Any) -> bool:
    """What a step asks, many times: here Python notices Ctrl-C. The world is then as before it."""
    return is_pending()


def let_end(world: Any) -> None:
    """Let the next steps of a FilWorld end where Python has something to raise."""
    lib.fil_world_set_stop(world, _wants_end, ffi.NULL)


def _many(places: Any, name: str, end: float = np.inf) -> Tuple[np.ndarray, bool]:
    """A place or several, as an array; whether there were several."""
    given = finite(places, name)
    if given.ndim > 1:
        raise Error(f"{name} has the shape {given.shape}; it must be a number or a list of numbers")
    if end < np.inf and np.any((given < 0.0) | (given > end)):
        wrong = given[(given < 0.0) | (given > end)].flat[0]
        raise Error(f"{name} is {wrong:g}; it must be 0 to {end:g}")
    return given.reshape(-1), given.ndim > 0


def _poses(count: int) -> Tuple[np.ndarray, np.ndarray, Any, Any]:
    pose, rate = np.zeros(count, dtype_of("FilPose")), np.zeros(count, dtype_of("FilRate"))
    return (pose, rate, ffi.from_buffer("FilPose[]", pose, require_writable=True),
            ffi.from_buffer("FilRate[]", rate, require_writable=True))


class Mesh(Handle):
    """A closed triangle mesh of vertices (m) and triangles (numbers of three vertices each, seen
    anticlockwise from outside); it never changes. Mesh.read(path) reads a file."""

    _noun = "mesh"

    def __init__(self, vertices: Any, triangles: Any) -> None:
        places = numbers(vertices, "vertices", (None, 3))
        corners = numbers(triangles, "triangles", (None, 3), np.int32)
        memory = Memory()
        self._make(memory, lib.fil_mesh_create, ffi.from_buffer("double[]", places), len(places),
                   ffi.from_buffer("int[]", corners), len(corners))

    def _make(self, memory: Memory, function: Any, *arguments: Any) -> None:
        pointer = made(function, "FilMesh", *arguments, memory.allocator)
        super().__init__(pointer, lib.fil_mesh_destroy, None, memory)

    @classmethod
    def read(cls, path: Any, scale: float = 1.0) -> "Mesh":
        """Read an OBJ or PLY file; its numbers times `scale` are metres."""
        mesh = cls.__new__(cls)
        mesh._make(Memory(), lib.fil_mesh_read, os.fsencode(path), scale)
        return mesh

    @property
    def vertices(self) -> np.ndarray:
        """[count, 3] m, a view."""
        return array_at(self._ask(lib.fil_mesh_vertices),
                        (self._ask(lib.fil_mesh_vertex_count), 3), np.float64, self, True,
                        self._memory)

    @property
    def triangles(self) -> np.ndarray:
        """[count, 3] numbers of vertices, a view."""
        return array_at(self._ask(lib.fil_mesh_triangles),
                        (self._ask(lib.fil_mesh_triangle_count), 3), np.int32, self, True,
                        self._memory)


class Rod(Handle):
    """An elastic rod, alone or in a world. filum.Rod(FilRodDef(), length=0.3) makes one alone."""

    _noun = "rod"
    _number = -1  # in its world

    def __init__(self, def_: Definition = {}, /, **fields: Any) -> None:
        given = definition("FilRodDef", def_, fields)
        memory = Memory()
        pointer = made(lib.fil_rod_create, "FilRod", given._c, memory.allocator)
        super().__init__(pointer, lib.fil_rod_destroy, None, memory)
        self._kept.extend(given.lasting())

    def _about(self) -> str:
        return f" of {self.element_count} elements, {self.length:g} m long"

    @classmethod
    def _in(cls, pointer: Any, world: "World", number: int) -> "Rod":
        rod = cls.__new__(cls)
        Handle.__init__(rod, pointer, None, world, world._memory)
        rod._number = number
        return rod

    def destroy(self) -> None:
        """Give a rod back that stands alone; twice is fine."""
        if self._owner is not None:
            raise Error("this rod belongs to a world")
        self._destroy()

    def step(self, dt: float) -> Any:
        """Advance by dt seconds: FilRodStepInfo. A rod of a world is stepped by the world."""
        if self._owner is not None:
            raise Error("this rod belongs to a world, which steps it")
        info = STRUCTS["FilRodStepInfo"]()
        with self._changing() as rod:
            call(lib.fil_rod_step, rod, dt, info._c)
        return info

    @property
    def time(self) -> float:
        """s"""
        return self._ask(lib.fil_rod_time)

    @property
    def length(self) -> float:
        """m, now"""
        return self._ask(lib.fil_rod_length)

    @property
    def element_count(self) -> int:
        return self._ask(lib.fil_rod_element_count)

    @property
    def dof_count(self) -> int:
        """Degrees of freedom, held ones left out."""
        return self._ask(lib.fil_rod_dof_count)

    def largest_step(self) -> float:
        """A step (s) that is safe for the rod as it moves now."""
        return self._ask(lib.fil_rod_largest_step)

    def at(self, s: Any) -> Tuple[Any, Any]:
        """Pose and rate of the section at arc length s (m, clamped to the rod): FilPose, FilRate.
        For several s: arrays of them, with the fields position [n, 3] (m), axis [n, 3, 3] (rows are
        tangent, n1, n2); velocity [n, 3] (m/s), spin [n, 3] (rad/s)."""
        places, many = _many(s, "s")
        pose, rate, c_pose, c_rate = _poses(len(places))
        with self._looking() as rod:
            for k, place in enumerate(places):
                lib.fil_rod_at(rod, place, c_pose + k, c_rate + k)
        return (pose, rate) if many else _single(pose, rate)

    def element_at(self, element: int, u: Any) -> Tuple[Any, Any]:
        """The same at the fraction(s) u (0 .. 1) of an element."""
        self._check_element(element)
        places, many = _many(u, "u", 1.0)
        pose, rate, c_pose, c_rate = _poses(len(places))
        with self._looking() as rod:
            for k, place in enumerate(places):
                lib.fil_rod_element_at(rod, element, place, c_pose + k, c_rate + k)
        return (pose, rate) if many else _single(pose, rate)

    def _check_element(self, element: int) -> None:
        if not 0 <= element < self.element_count:
            raise Error(f"element is {element}; the rod has {self.element_count}")

    def _curvature(self, function: Any, element: int, u: Any) -> np.ndarray:
        self._check_element(element)
        places, many = _many(u, "u", 1.0)
        kappa = np.zeros((len(places), 3))
        c_kappa = ffi.from_buffer("double[][3]", kappa)
        with self._looking() as rod:
            for k, place in enumerate(places):
                function(rod, element, place, c_kappa[k])
        return kappa if many else kappa[0]

    def curvature_at(self, element: int, u: Any) -> np.ndarray:
        """(twist, kappa1, kappa2) at the fraction(s) u of an element, 1/m: [3], or [n, 3]."""
        return self._curvature(lib.fil_rod_curvature_at, element, u)

    def natural_at(self, element: int, u: Any) -> np.ndarray:
        """The same of the natural shape."""
        return self._curvature(lib.fil_rod_natural_at, element, u)

    def elastic_at(self, element: int, u: Any) -> Any:
        """Energy of bending and twist by length there, J/m."""
        self._check_element(element)
        places, many = _many(u, "u", 1.0)
        with self._looking() as rod:
            found = np.array([lib.fil_rod_elastic_at(rod, element, place) for place in places])
        return found if many else float(found[0])

    @property
    def energy(self) -> Any:
        """FilRodEnergy, J."""
        return value_of("FilRodEnergy", self._ask, lib.fil_rod_energy)

    def momentum(self, about: Vector = (0, 0, 0)) -> Tuple[np.ndarray, np.ndarray]:
        """Linear (kg m/s) and angular momentum (kg m^2/s) about a place (m)."""
        linear, angular = np.zeros(3), np.zeros(3)
        with self._looking() as rod:
            lib.fil_rod_momentum(rod, vector(about, "about"), ffi.from_buffer("double[]", linear),
                                 ffi.from_buffer("double[]", angular))
        return linear, angular

    def reaction(self, tip: bool = False) -> Tuple[np.ndarray, np.ndarray]:
        """What holds the root, or the tip, does to the rod: force (N) on the end and moment (N m)
        about it; of the last step, or at rest. In a world with all that touches the rod."""
        world: Any = self._owner
        if world is not None:
            return world.reaction(self._number, tip)
        force, moment = np.zeros(3), np.zeros(3)
        with self._looking() as rod:
            lib.fil_rod_reaction(rod, tip, ffi.from_buffer("double[]", force),
                                 ffi.from_buffer("double[]", moment))
        return force, moment

    @property
    def state(self) -> np.ndarray:
        """All that the next step depends on; setting it goes back there."""
        with self._looking() as rod:
            state = np.zeros(lib.fil_rod_state_count(rod))
            lib.fil_rod_get_state(rod, ffi.from_buffer("double[]", state))
        return state

    @state.setter
    def state(self, value: Any) -> None:
        with self._changing() as rod:
            state = finite(value, "state", (lib.fil_rod_state_count(rod),))
            call(lib.fil_rod_set_state, rod, ffi.from_buffer("double[]", state))

    def set_loads(self, loads: Sequence[Definition]) -> None:
        """Forces and torques, a list of FilRodLoad; they replace those before."""
        array, _, given = struct_array(ffi.typeof("FilRodLoad"), loads, "loads")
        with self._changing() as rod:
            call(lib.fil_rod_set_loads, rod, array, len(given))

    def set_gravity(self, gravity: Vector) -> None:
        with self._changing() as rod:
            call(lib.fil_rod_set_gravity, rod, vector(gravity, "gravity"))

    def set_natural(self, curvatures: Any) -> None:
        """The rest shape: (twist, kappa1, kappa2), 1/m, one for each element, or one more: at the
        joints, linear between. [element_count or element_count + 1, 3]."""
        array = numbers(curvatures, "curvatures", (None, 3))
        with self._changing() as rod:
            call(lib.fil_rod_set_natural, rod, ffi.from_buffer("double[]", array), len(array))

    def set_length(self, length: float) -> None:
        with self._changing() as rod:
            call(lib.fil_rod_set_length, rod, length)

    def launch(self, velocity: Vector, spin: Vector = (0, 0, 0)) -> None:
        """Set the rod in motion as one rigid piece."""
        with self._changing() as rod:
            call(lib.fil_rod_launch, rod, vector(velocity, "velocity"), vector(spin, "spin"))

    def release(self, tip: bool = False) -> None:
        """Let go an end. Of a rod of a world: World.release()."""
        if self._owner is not None:
            raise Error("this rod belongs to a world: let go its end with World.release()")
        with self._changing() as rod:
            call(lib.fil_rod_release, rod, tip)

    def hold_shape(self) -> None:
        """Choose the natural shape for which the present one is an equilibrium: helix, clothoid."""
        with self._changing() as rod:
            call(lib.fil_rod_hold_shape, rod)

    def equilibrium(self, settings: Definition = {}, **fields: Any) -> Any:
        """Bring the rod to an equilibrium: FilStaticsInfo. FilStaticsSettings, or its fields."""
        given = definition("FilStaticsSettings", settings, fields)
        info = STRUCTS["FilStaticsInfo"]()
        with self._changing() as rod:
            call(lib.fil_rod_equilibrium, rod, given._c, info._c)
        return info

    def stability(self) -> Any:
        """Whether the present shape is a stable equilibrium: FilStability."""
        info = STRUCTS["FilStability"]()
        with self._changing() as rod:
            call(lib.fil_rod_stability, rod, info._c)
        return info

    def frequencies(self, count: int) -> np.ndarray:
        """The lowest natural frequencies, rad/s."""
        if count < 0:
            raise Error(f"count is {count}; it must not be negative")
        found = np.zeros(count)
        with self._changing() as rod:
            call(lib.fil_rod_frequencies, rod, count, ffi.from_buffer("double[]", found))
        return found


def _single(pose: np.ndarray, rate: np.ndarray) -> Tuple[Any, Any]:
    """The only entries of two arrays, as structs on the same memory."""
    return tuple(STRUCTS[name]._at(ffi.from_buffer(name + " *", array), array)
                 for name, array in (("FilPose", pose), ("FilRate", rate)))  # type: ignore


def rods_step(rods: Sequence[Rod], dt: float, threads: int = 0) -> List[Any]:
    """Advance many rods that stand alone, on up to `threads` threads (0: all)."""
    check_threads(threads)
    for k, rod in enumerate(rods):
        if not isinstance(rod, Rod):
            raise TypeError(f"rods[{k}] is {rod!r}; it must be a Rod")
        if rod._owner is not None:
            raise Error("a rod that belongs to a world is stepped by the world")
    if len({id(rod) for rod in rods}) < len(rods):
        raise Error("a rod is in the list twice")
    infos = ffi.new("FilRodStepInfo[]", max(len(rods), 1))
    with contextlib.ExitStack() as steps:
        array = ffi.new("FilRod *[]", [steps.enter_context(rod._changing()) for rod in rods])
        call(lib.fil_rods_step, array, len(rods), dt, threads, infos)
    return [STRUCTS["FilRodStepInfo"]._at(infos + k, infos) for k in range(len(rods))]


class Rigid(Handle):
    """A rigid body, alone or in a world. filum.Rigid(FilRigidDef(), mass=1) makes one alone."""

    _noun = "rigid body"

    def __init__(self, def_: Definition = {}, /, **fields: Any) -> None:
        given = definition("FilRigidDef", def_, fields)
        memory = Memory()
        pointer = made(lib.fil_rigid_create, "FilRigid", given._c, memory.allocator)
        super().__init__(pointer, lib.fil_rigid_destroy, None, memory)
        self._kept.extend(given.lasting())

    @classmethod
    def _in(cls, pointer: Any, world: "World") -> "Rigid":
        rigid = cls.__new__(cls)
        Handle.__init__(rigid, pointer, None, world, world._memory)
        return rigid

    def destroy(self) -> None:
        """Give a body back that stands alone; twice is fine."""
        if self._owner is not None:
            raise Error("this rigid body belongs to a world")
        self._destroy()

    def step(self, dt: float) -> None:
        """Advance by dt seconds in free flight. A body of a world is stepped by the world."""
        if self._owner is not None:
            raise Error("this rigid body belongs to a world, which steps it")
        with self._changing() as rigid:
            call(lib.fil_rigid_step, rigid, dt)

    @property
    def shape(self) -> Any:
        """FilShape, a view."""
        return borrowed("FilShape", self._ask(lib.fil_rigid_shape), self, self._memory)

    @property
    def mass(self) -> float:
        """kg"""
        return self._ask(lib.fil_rigid_mass)

    @property
    def inertia(self) -> np.ndarray:
        """kg m^2, [3, 3], about the centre of mass, along the world's axes, now."""
        found = np.zeros((3, 3))
        self._ask(lib.fil_rigid_inertia, ffi.from_buffer("double[][3]", found))
        return found

    @property
    def pose(self) -> Any:
        """FilPose of the shape; it can be set."""
        return value_of("FilPose", self._ask, lib.fil_rigid_pose)

    @pose.setter
    def pose(self, value: Definition) -> None:
        self.set_pose(value)

    @property
    def rate(self) -> Any:
        """FilRate of the centre of mass; it can be set."""
        return value_of("FilRate", self._ask, lib.fil_rigid_rate)

    @rate.setter
    def rate(self, value: Definition) -> None:
        self.set_rate(value)

    @property
    def centre(self) -> np.ndarray:
        """Of mass, m."""
        found = np.zeros(3)
        self._ask(lib.fil_rigid_centre, ffi.from_buffer("double[]", found))
        return found

    @property
    def angular_momentum(self) -> np.ndarray:
        """kg m^2/s, about the centre of mass."""
        found = np.zeros(3)
        self._ask(lib.fil_rigid_angular_momentum, ffi.from_buffer("double[]", found))
        return found

    @property
    def energy(self) -> Any:
        """FilRigidEnergy, J."""
        return value_of("FilRigidEnergy", self._ask, lib.fil_rigid_energy)

    def set_pose(self, pose: Definition) -> None:
        """Put the shape at a FilPose."""
        given = taken("FilPose", pose, "pose")
        with self._changing() as rigid:
            call(lib.fil_rigid_set_pose, rigid, given._c)

    def set_rate(self, rate: Definition) -> None:
        """Give the centre of mass a FilRate."""
        given = taken("FilRate", rate, "rate")
        with self._changing() as rigid:
            call(lib.fil_rigid_set_rate, rigid, given._c)

    def set_gravity(self, gravity: Vector) -> None:
        with self._changing() as rigid:
            call(lib.fil_rigid_set_gravity, rigid, vector(gravity, "gravity"))

    def set_load(self, force: Vector, torque: Vector = (0, 0, 0)) -> None:
        """A force (N) on the centre of mass and a torque (N m), until changed."""
        with self._changing() as rigid:
            call(lib.fil_rigid_set_load, rigid, vector(force, "force"), vector(torque, "torque"))

    @property
    def state(self) -> np.ndarray:
        """All that the next step depends on; setting it goes back there."""
        state = np.zeros(13)
        self._ask(lib.fil_rigid_get_state, ffi.from_buffer("double[]", state))
        return state

    @state.setter
    def state(self, value: Any) -> None:
        state = finite(value, "state", (13,))
        with self._changing() as rigid:
            call(lib.fil_rigid_set_state, rigid, ffi.from_buffer("double[]", state))


class World(Handle):
    """Rods and rigid bodies that touch each other and obstacles, with exact friction.

    World(FilWorldDef(), step=1e-3, gravity=(0, 0, -9.81)): fields of the definition by name.
    """

    _noun = "world"

    def __init__(self, def_: Definition = {}, /, **fields: Any) -> None:
        given = definition("FilWorldDef", def_, fields)
        check_threads(given.solver.thread_count, "solver.thread_count")
        memory = Memory()
        pointer = made(lib.fil_world_create, "FilWorld", given._c, memory.allocator)
        super().__init__(pointer, lib.fil_world_destroy, None, memory)
        self._kept.extend(given.lasting())
        self._recorders: List[Any] = []

    @classmethod
    def _in(cls, pointer: Any, stage: Handle, recorders: List[Any]) -> "World":
        world = cls.__new__(cls)
        Handle.__init__(world, pointer, None, stage, stage._memory)
        world._recorders = recorders
        return world

    def _about(self) -> str:
        return (f" at {self.time:g} s: {self.rod_count} rods, {self.rigid_count} bodies, "
                f"{self.obstacle_count} obstacles")

    def destroy(self) -> None:
        """Give the world back now; twice is fine. Arrays that show it stay readable."""
        if self._owner is not None:
            raise Error("this world belongs to a stage: destroy that")
        self._destroy()
        self._recorders.clear()

    # what is in it

    def _add(self, function: Any, def_: Any, surface: Definition, material: Optional[int]) -> int:
        number = ffi.new("int *")
        given = taken("FilSurface", surface, "surface")
        if material is not None:
            given = definition("FilSurface", given, {"material": material})
        with self._changing() as world:
            self._recorders.clear()  # they would not know what comes now
            self._kept.extend(def_.lasting())  # first: a motion may raise, and yet be in the world
            call(function, world, def_._c, given._c, number)
        return number[0]

    def add_material(self, restitution: float = 0.0) -> int:
        """A kind of surface, for friction and restitution; its number. The first is 0, which is
        that of everything that is added without one."""
        number = ffi.new("int *")
        with self._changing() as world:
            call(lib.fil_world_add_material, world, restitution, number)
        return number[0]

    def set_friction(self, a: int, b: int, mu: float) -> None:
        """The coefficient of friction between two materials."""
        with self._changing() as world:
            call(lib.fil_world_set_friction, world, a, b, mu)

    def add_rod(self, def_: Definition = {}, surface: Definition = {}, *,
                material: Optional[int] = None, **fields: Any) -> int:
        """Add a rod, FilRodDef and FilSurface; its number. What it is made of, young and density,
        is in its section; `material`, a number of add_material(), says how it rubs."""
        return self._add(lib.fil_world_add_rod, definition("FilRodDef", def_, fields), surface,
                         material)

    def add_rigid(self, def_: Definition = {}, surface: Definition = {}, *,
                  material: Optional[int] = None, **fields: Any) -> int:
        """Add a rigid body, FilRigidDef and FilSurface; its number. `material` as of add_rod()."""
        return self._add(lib.fil_world_add_rigid, definition("FilRigidDef", def_, fields), surface,
                         material)

    def add_obstacle(self, def_: Definition = {}, surface: Definition = {}, *,
                     material: Optional[int] = None, **fields: Any) -> int:
        """Add something that nothing moves but its own motion, FilObstacleDef; its number.
        `material` as of add_rod()."""
        return self._add(lib.fil_world_add_obstacle, definition("FilObstacleDef", def_, fields),
                         surface, material)

    def add_joint(self, def_: Definition = {}, **fields: Any) -> int:
        """Join two places, FilJointDef; its number."""
        number = ffi.new("int *")
        given = definition("FilJointDef", def_, fields)
        with self._changing() as world:
            call(lib.fil_world_add_joint, world, given._c, number)
        return number[0]

    @property
    def rod_count(self) -> int:
        return self._ask(lib.fil_world_rod_count)

    @property
    def rigid_count(self) -> int:
        return self._ask(lib.fil_world_rigid_count)

    @property
    def obstacle_count(self) -> int:
        return self._ask(lib.fil_world_obstacle_count)

    def rod(self, rod: int) -> Rod:
        """The rod of that number; it belongs to the world."""
        pointer = self._ask(lib.fil_world_rod, rod)
        if pointer == ffi.NULL:
            raise Error(f"there is no rod {rod}; the world has {self.rod_count}")
        return Rod._in(pointer, self, rod)

    def rigid(self, rigid: int) -> Rigid:
        """The rigid body of that number; it belongs to the world."""
        pointer = self._ask(lib.fil_world_rigid, rigid)
        if pointer == ffi.NULL:
            raise Error(f"there is no rigid body {rigid}; the world has {self.rigid_count}")
        return Rigid._in(pointer, self)

    def obstacle_at(self, obstacle: int) -> Tuple[Any, Any]:
        """Where an obstacle is now, and how it moves over the next step: FilPose, FilRate."""
        if not 0 <= obstacle < self.obstacle_count:
            raise Error(f"there is no obstacle {obstacle}; the world has {self.obstacle_count}")
        pose, rate, c_pose, c_rate = _poses(1)
        with self._looking() as world:
            guarded(lib.fil_world_obstacle_at, world, obstacle, c_pose, c_rate)
        return _single(pose, rate)

    # in time

    def step(self) -> Any:
        """Advance by the step of the definition: FilStepInfo, with outcome and residual. Ctrl-C, or
        an exception of a function that the world calls, ends it: the world is as before the
        step."""
        info = STRUCTS["FilStepInfo"]()
        with self._changing() as world:
            let_end(world)
            call(lib.fil_world_step, world, info._c)
        return info

    @property
    def time(self) -> float:
        """s"""
        return self._ask(lib.fil_world_time)

    @property
    def step_count(self) -> int:
        return self._ask(lib.fil_world_step_count)

    def settle(self, settings: Definition = {}, **fields: Any) -> Any:
        """Bring the world to an equilibrium with friction: FilSettleInfo. FilSettleSettings, or its
        fields; on_step(step, residual) is called after every step, False stops."""
        given = definition("FilSettleSettings", settings, fields)
        if given._c.on_step == ffi.NULL:
            given = definition("FilSettleSettings", given, {"on_step": _go_on})
        info = STRUCTS["FilSettleInfo"]()
        with self._changing() as world:
            let_end(world)
            call(lib.fil_world_settle, world, given._c, info._c)
        return info

    def is_asleep(self, kind: Union[str, int], index: int) -> bool:
        """Whether a "rod" or a "rigid" (or FIL_BODY_ROD, FIL_BODY_RIGID) of that number sleeps."""
        return self._ask(lib.fil_world_is_asleep, enum_number("FilBodyKind", kind, "kind"), index)

    def wake(self, kind: Union[str, int], index: int) -> None:
        kind = enum_number("FilBodyKind", kind, "kind")
        with self._changing() as world:
            lib.fil_world_wake(world, kind, index)

    # looking at it

    @property
    def contacts(self) -> np.ndarray:
        """The contacts of the last step, a view of FilContact[]: fields a, b, normal, gap, mu,
        impulse, velocity, state; a and b have kind, index, s, point. It is stale after the next
        step: copy what you want to keep."""
        count = ffi.new("int *")
        with self._looking() as world:
            first = lib.fil_world_contacts(world, count)
            return array_at(first, (count[0],), dtype_of("FilContact"), self, True, self._memory)

    @property
    def energy(self) -> Any:
        """Kinetic and potential energy of all bodies, J: FilRodEnergy."""
        return value_of("FilRodEnergy", self._ask, lib.fil_world_energy)

    def frame(self) -> Any:
        """All places, axes, velocities, ... of rods and bodies as they are now: a Frame of views.
        It stays as it is; its memory is used again when nobody looks at it any more."""
        from .runs import RecorderCore, free_recorder
        return free_recorder(self._recorders, lambda: RecorderCore(self)).frame(self)

    def set_names(self, name: Optional[Callable[[int, int], Optional[str]]]) -> None:
        """Messages call a rod or a rigid body what name(kind, index) says; None: by its number."""
        told = {}  # the texts live as long as the function

        @ffi.callback("FilBodyName *", error=ffi.NULL, onerror=on_error)
        def callback(_: Any, kind: int, index: int) -> Any:
            text = name(kind, index) if name is not None else None
            told[kind, index] = ffi.new("char[]", (text or "").encode())
            return told[kind, index]

        with self._changing() as world:
            self._kept.append(callback)
            lib.fil_world_set_names(world, ffi.NULL if name is None else callback, ffi.NULL)

    def watch_problems(self,
                       watch: Optional[Callable[[Any, np.ndarray, np.ndarray], None]]) -> None:
        """Call watch(problem, r, fresh) with every friction problem before it is solved: a
        FilFrictionProblem, first guesses, and which of them are new. They are copies, and yours to
        keep; of a problem by its product the product is left out."""
        from .friction import watch_callback
        made_callback = ffi.NULL if watch is None else watch_callback(watch)
        with self._changing() as world:
            self._kept.append(made_callback)
            lib.fil_world_watch_problems(world, made_callback, ffi.NULL)

    # state and changes

    @property
    def state(self) -> np.ndarray:
        """All that the next step depends on; setting it goes back there, bit for bit."""
        with self._looking() as world:
            state = np.zeros(lib.fil_world_state_count(world))
            lib.fil_world_get_state(world, ffi.from_buffer("double[]", state))
        return state

    @state.setter
    def state(self, value: Any) -> None:
        state = finite(value, "state", (None,))
        with self._changing() as world:
            call(lib.fil_world_set_state, world, ffi.from_buffer("double[]", state), len(state))

    def set_gravity(self, gravity: Vector) -> None:
        with self._changing() as world:
            call(lib.fil_world_set_gravity, world, vector(gravity, "gravity"))

    def set_wind(self, wind: Vector) -> None:
        with self._changing() as world:
            call(lib.fil_world_set_wind, world, vector(wind, "wind"))

    def get_gravity(self) -> np.ndarray:
        """m/s^2"""
        gravity = np.zeros(3)
        self._ask(lib.fil_world_get_gravity, ffi.from_buffer("double[]", gravity))
        return gravity

    def get_wind(self) -> np.ndarray:
        """m/s"""
        wind = np.zeros(3)
        self._ask(lib.fil_world_get_wind, ffi.from_buffer("double[]", wind))
        return wind

    def get_friction(self, a: int, b: int) -> float:
        """Of two materials; below 0: nobody set it."""
        return self._ask(lib.fil_world_get_friction, a, b)

    def grab_make(self, rod: int, part: float) -> Any:
        """A FilGrab that holds the rod where it is, at a part of its length."""
        grab = STRUCTS["FilGrab"]()
        with self._changing() as world:
            call(lib.fil_world_grab_make, world, rod, part, grab._c)
        return grab

    def set_grab(self, grab: Any = None) -> None:
        """Grab a rod, move the hand, or, with None, let go."""
        given = ffi.NULL if grab is None else taken("FilGrab", grab, "grab")._c
        with self._changing() as world:
            call(lib.fil_world_set_grab, world, given)

    def grab(self) -> Optional[Tuple[np.ndarray, float]]:
        """Force (N) and torque about the tangent (N m) of the hand in the last step, or None."""
        force, torque = np.zeros(3), np.zeros(1)
        held = self._ask(lib.fil_world_grab, ffi.from_buffer("double[]", force),
                         ffi.from_buffer("double[]", torque))
        return None if held == ffi.NULL else (force, float(torque[0]))

    def set_wind_share(self, rod: int, share: float) -> None:
        with self._changing() as world:
            call(lib.fil_world_set_wind_share, world, rod, share)

    def release(self, rod: int, tip: bool = False) -> None:
        """Let go the root, or the tip, of a rod."""
        with self._changing() as world:
            call(lib.fil_world_release, world, rod, tip)

    def reaction(self, rod: int, tip: bool = False) -> Tuple[np.ndarray, np.ndarray]:
        """What holds the root, or the tip, of a rod does to it in the last step: force (N) on the
        end and moment (N m) about it."""
        force, moment = np.zeros(3), np.zeros(3)
        with self._looking() as world:
            call(lib.fil_world_reaction, world, rod, tip, ffi.from_buffer("double[]", force),
                 ffi.from_buffer("double[]", moment))
        return force, moment

    def remove_joint(self, joint: int) -> None:
        with self._changing() as world:
            call(lib.fil_world_remove_joint, world, joint)
