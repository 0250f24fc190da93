"""Filum from Python: elastic slender structures in contact, with exact Coulomb friction.

The names are those of C (`help(filum.FilRodDef)` shows the header): FilRodDef, FIL_ROD_DER;
fil_world_step(world) is World.step(), what only reads is a property: world.time. SI units: m, kg,
s, N, J, rad. Errors are filum.Error with the library's sentence. Arrays are views of the library's
memory where it has them. docs/python.md is a tour.

    World, Rod, Rigid, Mesh    rods, bodies and obstacles, in time and at rest
    Scene, Stage               a scene file, brought to life: for info in Stage(path).run(): ...
    Frame                      world.frame(): position, velocity, curvature, tension, ...
    Result, Recorder           a run, read and written: Result(path)[-1].position
    friction_solve             a friction problem: problem_from_dense, _blocks, _global, _product
    Generated, Fclib           hard problems from a seed; problems from files
    FilRodDef, FilWorldDef ... structs, by the fields they have in C; a dict will do, too
    kind="sphere"              members of enums, by their words in scenes; FIL_SHAPE_SPHERE will do
    lib, ffi                   the whole of C as it is

help(filum.World), help(filum.Frame), ... tell more than this page, which goes on with everything.

    import filum
    world = filum.World(step=1e-3)
    steel = world.add_material()
    world.set_friction(steel, steel, 0.3)
    world.add_obstacle(shape={"kind": "plane"})
    world.add_rigid(pose={"position": (0, 0, 0.01)})
    while world.time < 0.1:
        info = world.step()
    print(info.residual.scaled, world.contacts["impulse"])
"""

import difflib as _difflib

from ._library import ffi, lib  # first: it says what is missing
from . import _cdef, _library, _structs  # type: ignore[attr-defined]
from ._errors import Error
from ._structs import dtype_of
from .friction import (Fclib, FrictionSolution, FrictionWorkspace, Generated, curve_evaluate,
                       fclib_write, friction_check, friction_residual, friction_solve, local_solve,
                       problem_from_blocks, problem_from_dense, problem_from_global,
                       problem_from_product)
from .runs import (Frame, Frames, Recorder, Result, Scene, Stage, field_range, field_unit,
                   result_mend)
from .world import Mesh, Rigid, Rod, World, check_threads as _check_threads, rods_step

__version__ = _library.VERSION

__all__ = ["Error", "Fclib", "Frame", "Frames", "FrictionSolution", "FrictionWorkspace",
           "Generated", "Mesh", "Recorder", "Result", "Rigid", "Rod", "Scene", "Stage", "World",
           "curve_evaluate", "dtype_of", "fclib_write", "ffi", "field_range", "field_unit",
           "friction_check", "friction_residual", "friction_solve", "lib", "local_solve",
           "problem_from_blocks", "problem_from_dense", "problem_from_global",
           "problem_from_product", "result_mend", "rods_step", "thread_count", "version"]


def version() -> str:
    """Of the library that is running."""
    return ffi.string(lib.fil_version()).decode()


def thread_count(requested: int = 0) -> int:
    """Threads that a request stands for: 0 means all that OpenMP offers."""
    return lib.fil_thread_count(_check_threads(requested, "requested"))


def _export() -> None:
    """Structs, enums, their members and the constants of the headers, under their names in C."""
    for made in (*_structs.STRUCTS.values(), *_structs.ENUMS.values()):
        made.__module__ = __name__
    members = {name: value for made in _structs.ENUMS.values()
               for name, value in made.__members__.items()}
    fields = {name: getattr(lib, name) for name in dir(lib) if name.startswith("FIL_")}
    names = {**fields, **_cdef.CONSTANTS, **members, **_structs.STRUCTS, **_structs.ENUMS}
    globals().update(names)
    __all__.extend(sorted(names))


_export()


def __dir__() -> list:
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"])


def __getattr__(name: str) -> object:
    near = [] if name.startswith("fil_") else _difflib.get_close_matches(name, __all__, 1)
    hint = (f"did you mean {near[0]}?" if near
            else "the functions of C are in filum.lib, as they are")
    raise AttributeError(f"filum has no {name}; {hint}")
