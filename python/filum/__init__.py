"""Filum from Python: elastic slender structures in contact, with exact Coulomb friction.

The names are those of C (`help(filum.FilRodDef)` shows the header): FilRodDef, FIL_ROD_DER;
fil_world_step(world) is World.step(), what only reads is a property: world.time. Errors are
filum.Error with the library's sentence. Arrays are views of the library's memory where it has them.
docs/python.md is a tour.

    import filum
    world = filum.World(step=1e-3)
    steel = world.add_material()
    world.set_friction(steel, steel, 0.3)
    world.add_obstacle(shape={"kind": filum.FIL_SHAPE_PLANE})
    world.add_rigid(pose={"position": (0, 0, 0.01)})
    while world.time < 0.1:
        info = world.step()
    print(info.residual.scaled, world.contacts["impulse"])
"""

from typing import Any, Dict, List

from ._library import VERSION, ffi, lib  # first: it says what is missing
from . import _cdef  # type: ignore[attr-defined]
from ._errors import Error
from ._structs import ENUMS, STRUCTS, dtype_of
from .friction import (Fclib, FrictionSolution, FrictionWorkspace, Generated, curve_evaluate,
                       fclib_write, friction_check, friction_residual, friction_solve, local_solve,
                       problem_from_blocks, problem_from_dense, problem_from_global,
                       problem_from_product)
from .runs import (Frame, Recorder, Result, Scene, Stage, field_range, field_unit, result_mend)
from .world import Mesh, Rigid, Rod, World, rods_step

__version__ = VERSION

__all__ = ["Error", "Fclib", "Frame", "FrictionSolution", "FrictionWorkspace", "Generated", "Mesh",
           "Recorder", "Result", "Rigid", "Rod", "Scene", "Stage", "World", "curve_evaluate",
           "dtype_of", "fclib_write", "ffi", "field_range", "field_unit", "friction_check",
           "friction_residual", "friction_solve", "lib", "local_solve", "problem_from_blocks",
           "problem_from_dense", "problem_from_global", "problem_from_product", "result_mend",
           "rods_step", "thread_count", "version"]


def version() -> str:
    """Of the library that is running."""
    return ffi.string(lib.fil_version()).decode()


def thread_count(requested: int = 0) -> int:
    """Threads that a request stands for: 0 means all that OpenMP offers."""
    return lib.fil_thread_count(requested)


def _export() -> None:
    """Structs, enums, their members and the constants of the headers, under their names in C."""
    names: List[str] = []
    classes: Dict[str, Any] = {**STRUCTS, **ENUMS}
    for name, made in classes.items():
        made.__module__ = __name__
        globals()[name] = made
        names.append(name)
    for members in ENUMS.values():
        globals().update(members.__members__)
        names.extend(members.__members__)
    fields = {name: getattr(lib, name) for name in dir(lib) if name.startswith("FIL_")}
    for name, value in {**fields, **_cdef.CONSTANTS}.items():
        globals().setdefault(name, value)
        names.append(name)
    __all__.extend(sorted(set(names) - set(__all__)))


_export()


def __getattr__(name: str) -> Any:
    raise AttributeError(f"filum has no {name}; the functions of C are in filum.lib, as they are")
