"""Frictional contact problems, from NumPy arrays. See filum/friction.h, fclib.h and generate.h."""

import copy
import os
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._cdef import CONSTANTS  # type: ignore
from ._errors import Error, call, defer, is_pending, on_error
from ._handles import Handle, made
from ._library import ffi, lib
from ._memory import Memory, array_at, numbers
from ._structs import (SHAPES, STRUCTS, as_enum, borrowed, definition, dtype_of, enum_number,
                       set_pointers, taken)
from .runs import _hdf5
from .world import Definition


class FrictionSolution(NamedTuple):
    """Impulses r, velocities u = W r + b, velocities v of the bodies (global form), and what came
    of the solve: FilFrictionInfo, with outcome and residual."""

    r: np.ndarray
    u: np.ndarray
    v: Optional[np.ndarray]
    info: Any


class FrictionWorkspace(Handle):
    """Memory that solves share: after the first solve of a size, the next ones allocate nothing."""

    _noun = "workspace"

    def __init__(self) -> None:
        memory = Memory()
        pointer = made(lib.fil_friction_workspace_create, "FilFrictionWorkspace", memory.allocator)
        super().__init__(pointer, lib.fil_friction_workspace_destroy, None, memory)

    def destroy(self) -> None:
        """Give the memory back now; twice is fine."""
        self._destroy()


# --- problems ------------------------------------------------------------------------------------

def _problem(form: int, count: int, mu: Any, block_size: int, fields: Any) -> Any:
    problem = STRUCTS["FilFrictionProblem"](block_count=count, block_size=block_size, form=form)
    if mu is not None:
        given = numbers(mu, "mu")
        problem.mu = np.full(count, given) if given.ndim == 0 else given
    for name, value in fields.items():
        setattr(problem, name, value)
    return problem


def _check_block_size(size: int) -> int:
    largest = CONSTANTS["FIL_BLOCK_MAX"]
    if not 1 <= size <= largest:
        raise Error(f"block_size is {size}; it must be 1 to {largest}")
    return size


def problem_from_dense(W: Any, b: Any, mu: Any, block_size: int = 3, **fields: Any) -> Any:
    """u = W r + b with W [n d, n d]. Blocks of W that are all zero are left out."""
    W = numbers(W, "W")
    d = _check_block_size(block_size)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or W.shape[0] % d != 0:
        raise Error(f"W has the shape {W.shape}; it must be square, a multiple of {d}")
    n = W.shape[0] // d
    blocks = W.reshape(n, d, n, d).swapaxes(1, 2)
    there = np.any(blocks != 0.0, axis=(2, 3)) | np.eye(n, dtype=bool)
    rows, columns = np.nonzero(there)
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return problem_from_blocks(start, columns, blocks[rows, columns], b, mu, d, **fields)


def problem_from_blocks(start: Any, column: Any, value: Any, b: Any, mu: Any, block_size: int = 3,
                        **fields: Any) -> Any:
    """u = W r + b with W by block rows: the blocks of row i are value[start[i]:start[i + 1]], in
    the block columns column[...], ascending. `mu` is one number or one a block. Further fields are
    those of FilFrictionProblem: kinds, compliance, block_sizes (value is flat then), dof_count."""
    start = numbers(start, "start", (None,), np.int32)
    if len(start) == 0:
        raise Error("start is empty; it must begin with 0")
    problem = _problem(lib.FIL_FORM_BLOCKS, len(start) - 1, mu, block_size, {"b": b, **fields})
    problem.blocks.start, problem.blocks.column, problem.blocks.value = start, column, value
    return check_problem(problem)


def problem_from_global(M: Any, H: Any, f: Any, w: Any, mu: Any, block_size: int = 3,
                        **fields: Any) -> Any:
    """M v = H r + f, u = H^T v + w. M and H are compressed by columns: (start, index, value), or
    anything with indptr, indices, data, such as a csc_matrix of SciPy."""
    f, w = numbers(f, "f", (None,)), numbers(w, "w", (None,))
    count = fields.pop("block_count", len(w) // _check_block_size(block_size))
    problem = _problem(lib.FIL_FORM_GLOBAL, count, mu, block_size, fields)
    for name, matrix, columns in (("M", M, len(f)), ("H", H, len(w))):
        part = getattr(problem.global_, name)
        if hasattr(matrix, "indptr"):
            matrix = (matrix.indptr, matrix.indices, matrix.data)
        part.row_count, part.column_count = len(f), columns
        part.start, part.index, part.value = matrix
    problem.global_.f, problem.global_.w = f, w
    return check_problem(problem)


def problem_from_product(multiply: Callable[[np.ndarray], Any], diagonal: Any, b: Any, mu: Any,
                         block_size: int = 3, **fields: Any) -> Any:
    """u = W r + b with W by its product: multiply(r) is W r. `diagonal`: the blocks W_ii."""
    b = numbers(b, "b", (None,))
    count = b.size // _check_block_size(block_size)
    problem = _problem(lib.FIL_FORM_PRODUCT, count, mu, block_size, {"b": b, **fields})
    problem.product.diagonal = diagonal
    kind = STRUCTS["FilProductForm"]._fields["multiply"].type

    def called(_: Any, r: Any, Wr: Any) -> None:
        out = array_at(Wr, (b.size,), np.float64, None, False)
        try:
            given = array_at(r, (b.size,), np.float64, None).copy()  # it may be kept
            out[...] = numbers(multiply(given), "multiply(r)", (b.size,))
        except BaseException as error:  # noqa: B902 (raised when the solve returns)
            out[...] = 0.0
            defer(error)

    callback = ffi.callback(kind, called, onerror=on_error)
    problem.product.multiply = callback
    return check_problem(problem)


def _shape(problem: Any, name: str) -> Any:
    """The shape of an array in a problem of the library, from its name: "blocks.value"."""
    sizes, c = _sizes(problem), problem._c
    n, total, squares = len(sizes), int(sizes.sum()), int((sizes ** 2).sum())
    globe = getattr(c, "global")
    fixed = {"b": total, "compliance": squares, "product.diagonal": squares, "global.w": total,
             "global.f": globe.M.column_count, "blocks.start": n + 1, "bodies.start": n + 1,
             "bodies.body_start": c.bodies.body_count + 1,
             "global.M.start": globe.M.column_count + 1, "global.H.start": globe.H.column_count + 1}
    if name in fixed:
        return (fixed[name],)
    form, _, part = name.rpartition(".")
    start = getattr(_part(problem, form), "start")
    if part in ("column", "body", "index") or form.startswith("global"):
        return (int(start[-1]),)
    rows = np.repeat(sizes, np.diff(start))  # of each entry
    if form == "blocks":
        columns = sizes[problem.blocks.column]
    else:
        columns = np.diff(problem.bodies.body_start)[problem.bodies.body]
    if len(rows) > 0 and np.all(rows == rows[0]) and np.all(columns == columns[0]):
        return (len(rows), int(rows[0]), int(columns[0]))
    return (int((rows * columns).sum()),)


def _part(struct: Any, path: str) -> Any:
    for name in path.split(".") if path else ():
        struct = getattr(struct, name)
    return struct


SHAPES["FilFrictionProblem"] = _shape


def _sizes(problem: Any) -> np.ndarray:
    n = problem._c.block_count
    if n < 0:
        raise Error(f"block_count is {n}; it must not be negative")
    if problem._c.block_sizes == ffi.NULL:
        return np.full(n, _check_block_size(problem._c.block_size), np.int64)
    sizes = array_at(problem._c.block_sizes, (n,), np.int32, problem)
    return sizes.astype(np.int64)


def _kept(problem: Any, name: str) -> Optional[np.ndarray]:
    """The array that Python gave for a field; None where memory of C, or nothing, is there."""
    kept = problem._keep.get(name)
    return kept[1] if kept is not None and isinstance(kept[1], np.ndarray) else None


def check_problem(problem: Any) -> Any:
    """The problem, if all its arrays are as long as the counts say: the library cannot know."""
    problem = taken("FilFrictionProblem", problem, "problem")
    sizes = _sizes(problem)
    want = {"b": sizes.sum(), "compliance": (sizes ** 2).sum(), "blocks.start": len(sizes) + 1,
            "bodies.start": len(sizes) + 1, "bodies.body_start": problem._c.bodies.body_count + 1,
            "global.f": getattr(problem._c, "global").M.column_count, "global.w": sizes.sum(),
            "product.diagonal": (sizes ** 2).sum()}
    for name in ("M", "H"):
        columns = getattr(getattr(problem._c, "global"), name).column_count
        want[f"global.{name}.start"] = columns + 1
        want.update(_entries(problem, f"global.{name}.start", f"global.{name}.index",
                             f"global.{name}.value"))
    want.update(_entries(problem, "blocks.start", "blocks.column"))
    want.update(_entries(problem, "bodies.start", "bodies.body"))
    want.update(_block_values(problem, sizes))
    for name, count in want.items():
        array = _kept(problem, name)
        if array is not None and array.size != count:
            raise Error(f"{name} holds {array.size} numbers; it must hold {int(count)}")
    return problem


def _entries(problem: Any, start: str, *names: str) -> Any:
    """Arrays with as many entries as the last offset says."""
    offsets = _kept(problem, start)
    if offsets is None or offsets.size == 0:
        return {}
    if offsets[0] != 0 or np.any(np.diff(offsets) < 0):
        raise Error(f"{start} must begin with 0 and never fall")
    return {name: int(offsets[-1]) for name in names}


def _block_values(problem: Any, sizes: np.ndarray) -> Any:
    """How many numbers the blocks of W, or of H and HA, hold."""
    found = {}
    start, column = _kept(problem, "blocks.start"), _kept(problem, "blocks.column")
    if start is not None and column is not None and len(start) == len(sizes) + 1:
        if np.any((column < 0) | (column >= len(sizes))):
            raise Error(f"blocks.column must be 0 to {len(sizes) - 1}")
        if column.size == start[-1]:
            found["blocks.value"] = (np.repeat(sizes, np.diff(start)) * sizes[column]).sum()
    start, body = _kept(problem, "bodies.start"), _kept(problem, "bodies.body")
    first = _kept(problem, "bodies.body_start")
    if start is not None and body is not None and first is not None:
        if np.any((body < 0) | (body >= len(first) - 1)):
            raise Error(f"bodies.body must be 0 to {len(first) - 2}")
        if len(start) == len(sizes) + 1 and body.size == start[-1]:
            count = (np.repeat(sizes, np.diff(start)) * np.diff(first)[body]).sum()
            found["bodies.H"] = found["bodies.HA"] = count
    return found


# --- solving -------------------------------------------------------------------------------------

def friction_solve(problem: Any, settings: Definition = {},
                   workspace: Optional[FrictionWorkspace] = None, r: Any = None,
                   **fields: Any) -> FrictionSolution:
    """Solve. FilFrictionSettings, or its fields by name. With `r`, start from there. Not converged
    is a result: look at info.outcome and info.residual. Impulses in N s, velocities in m/s."""
    problem = check_problem(problem)
    given = definition("FilFrictionSettings", settings, fields)
    total = int(_sizes(problem).sum())
    impulses = np.zeros(total)
    changes: Dict[str, Any] = {}
    if given._c.on_iteration == ffi.NULL:
        changes["on_iteration"] = _go_on
    if r is not None:
        impulses[...] = _impulses(r, total)
        changes["warm_start"] = True
    given = definition("FilFrictionSettings", given, changes)
    velocities = np.zeros(total)
    bodies = None
    solution = ffi.new("FilFrictionSolution *")
    solution.r, solution.u = _double(impulses), _double(velocities)
    if problem._c.form == lib.FIL_FORM_GLOBAL:
        bodies = np.zeros(getattr(problem._c, "global").M.column_count)
        solution.v = _double(bodies)
    info = STRUCTS["FilFrictionInfo"]()
    if workspace is None:
        call(lib.fil_friction_solve, problem._c, given._c, ffi.NULL, solution, info._c)
    else:
        with workspace._changing() as memory:
            call(lib.fil_friction_solve, problem._c, given._c, memory, solution, info._c)
    return FrictionSolution(impulses, velocities, bodies, info)


@ffi.callback("bool(void *, FilFrictionProgress *)", error=False, onerror=on_error)
def _go_on(*_: Any) -> bool:
    """What a solve calls where the caller gave nothing: here Python notices Ctrl-C."""
    return not is_pending()


def _impulses(r: Any, total: int) -> np.ndarray:
    given = numbers(r, "r").reshape(-1)
    if given.size != total:
        raise Error(f"r holds {given.size} numbers; it must hold {total}")
    return given


def _double(array: np.ndarray) -> Any:
    return ffi.cast("double *", array.ctypes.data)


def friction_check(problem: Any) -> None:
    """Raise what is wrong with a problem."""
    problem = check_problem(problem)
    call(lib.fil_friction_check, problem._c)


def friction_residual(problem: Any, r: Any) -> Tuple[Any, np.ndarray]:
    """How far impulses r are from obeying the laws: FilResidual; and the velocities W r + b."""
    problem = check_problem(problem)
    total = int(_sizes(problem).sum())
    given = _impulses(r, total)
    u = np.zeros(total)
    residual = STRUCTS["FilResidual"]()
    call(lib.fil_friction_residual, problem._c, _double(given), _double(u), residual._c)
    return residual, u


def local_solve(W: Any, b: Any, mu: float, r: Any = None, solver: Union[str, int] = "hybrid",
                kind: Union[str, int] = "coulomb") -> Tuple[Any, np.ndarray]:
    """One block alone: outcome and r. `solver` is a FilLocalSolver or its word, `kind` a
    FilBlockKind or its word."""
    W, b = numbers(W, "W"), numbers(b, "b", (None,))
    d = b.size
    if W.shape != (d, d) or not 1 <= d <= 6:
        raise Error(f"W has the shape {W.shape} and b {b.shape}; they must be d x d and d, d <= 6")
    solver = enum_number("FilLocalSolver", solver, "solver")
    kind = enum_number("FilBlockKind", kind, "kind")
    found = np.zeros(d) if r is None else _impulses(r, d).copy()
    outcome = lib.fil_local_solve(solver, kind, d, _double(W), _double(b), mu, _double(found),
                                  ffi.NULL)
    return as_enum(ffi.typeof("FilOutcome"), outcome), found


def _own(problem: Any) -> Any:
    """A problem with arrays of its own."""
    made_problem = copy.copy(problem)
    for path in list(set_pointers(problem._c, problem._ctype)):
        form, _, name = path.rpartition(".")
        value = getattr(_part(problem, form), name)
        setattr(_part(made_problem, form), name,
                value.copy() if isinstance(value, np.ndarray) else None)
    return made_problem


def watch_callback(watch: Callable[[Any, np.ndarray, np.ndarray], None]) -> Any:
    def called(_: Any, problem: Any, r: Any, fresh: Any) -> None:
        try:
            shown = _own(STRUCTS["FilFrictionProblem"]._at(problem, problem, readonly=True))
            sizes = _sizes(shown)
            watch(shown, array_at(r, (int(sizes.sum()),), np.float64, None).copy(),
                  array_at(fresh, (len(sizes),), np.bool_, None).copy())
        except BaseException as error:  # noqa: B902 (raised when the step returns)
            defer(error)

    return ffi.callback("void(void *, FilFrictionProblem *, double *, bool *)", called,
                        onerror=on_error)


# --- problems of others, problems from a seed ----------------------------------------------------

class Fclib(Handle):
    """A friction problem from a file of FCLIB: problem, title, description, guess, solution."""

    _noun = "file"

    def __init__(self, path: Any) -> None:
        memory = Memory()
        with _hdf5:
            pointer = made(lib.fil_fclib_read, "FilFclib", os.fsencode(path), memory.allocator)
        super().__init__(pointer, lib.fil_fclib_destroy, None, memory)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(borrowed("FilFclib", self._pointer, self, self._memory), name)

    def __dir__(self) -> Any:
        return sorted([*super().__dir__(), *STRUCTS["FilFclib"]._fields])


def fclib_write(path: Any, problem: Any, r: Any = None, u: Any = None, title: str = "",
                force: bool = False) -> None:
    """Write a problem, and its solution where r is given."""
    problem = check_problem(problem)
    file = STRUCTS["FilFclib"](problem=problem, title=title)
    total = int(_sizes(problem).sum())
    for name, value in (("r", r), ("u", u)):
        if value is not None:
            if np.size(value) != total:
                raise Error(f"{name} holds {np.size(value)} numbers; it must hold {total}")
            setattr(file.solution, name, numbers(value, name).reshape(-1))
    with _hdf5:
        call(lib.fil_fclib_write, os.fsencode(path), file._c, force)


class Generated(Handle):
    """A hard problem from a seed: problem, the same in global form, and, when it was made
    solvable, a lawful pair r, u. Generated("fibres", contact_count=50)."""

    _noun = "problem"

    def __init__(self, generator: Union[str, int], **fields: Any) -> None:
        generator = enum_number("FilGenerator", generator, "generator")
        given = STRUCTS["FilGenerateDef"]()
        given._c[0] = lib.fil_generate_def_default(generator)
        given = definition("FilGenerateDef", given, fields)
        memory = Memory()
        pointer = made(lib.fil_generate, "FilGenerated", given._c, memory.allocator)
        super().__init__(pointer, lib.fil_generated_destroy, None, memory)

    def _part(self, name: str) -> Any:
        return getattr(borrowed("FilGenerated", self._pointer, self, self._memory), name)

    @property
    def problem(self) -> Any:
        """FilFrictionProblem in FIL_FORM_BODIES."""
        return self._part("problem")

    @property
    def global_(self) -> Any:
        """The same in FIL_FORM_GLOBAL."""
        return self._part("global")

    def _vector(self, name: str) -> Optional[np.ndarray]:
        pointer = getattr(self._pointer, name)
        if pointer == ffi.NULL:
            return None
        return array_at(pointer, (3 * self._pointer.problem.block_count,), np.float64, self, True,
                        self._memory)

    @property
    def r(self) -> Optional[np.ndarray]:
        """Lawful impulses, a view; None when it was not made solvable."""
        return self._vector("r")

    @property
    def u(self) -> Optional[np.ndarray]:
        """Their velocities, a view."""
        return self._vector("u")


# --- curves --------------------------------------------------------------------------------------

def curve_evaluate(s: Sequence[float], curve: Definition = {},
                   **fields: Any) -> Tuple[np.ndarray, Any]:
    """Poses (an array of FilPose) at places s of a FilCurve, and FilCurveInfo. `coefficients` has
    the shape [degree + 1, 3]."""
    given = definition("FilCurve", curve, fields)
    coefficients = _kept(given, "coefficients")
    if coefficients is not None and coefficients.size != 3 * (given.degree + 1):
        raise Error(f"coefficients hold {coefficients.size} numbers; degree is {given.degree}, so "
                    f"they must hold {3 * (given.degree + 1)}")
    places = numbers(s, "s").reshape(-1)
    poses = np.zeros(len(places), dtype_of("FilPose"))
    info = STRUCTS["FilCurveInfo"]()
    call(lib.fil_curve_evaluate, given._c, len(places), _double(places),
         ffi.from_buffer("FilPose[]", poses), info._c)
    return poses, info
