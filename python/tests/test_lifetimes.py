"""Lifetimes, errors and threads: a wrong call is a sentence, never a crash."""

import contextlib
import copy
import gc
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import filum
from worlds import cube, falling_rods, floor


HERE = os.path.dirname(os.path.abspath(__file__))


def run(code, status=0, *arguments, **environment):
    """Run Python of its own; what it printed, or said."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True,
                          timeout=60, check=False, env={**os.environ, **environment})
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


# ------------------------------------------------------------------------------------------ errors

def test_errors_are_the_sentences_of_the_library():
    with pytest.raises(filum.Error, match=r"^length is -1; it must be") as caught:
        filum.Rod(length=-1)
    assert caught.value.status == filum.FIL_E_ARGUMENT
    world = filum.World()
    with pytest.raises(filum.Error, match="material"):
        world.set_friction(0, 7, 0.3)
    with pytest.raises(filum.Error, match="there is no rod 3; the world has 0"):
        world.rod(3)


def test_a_field_that_does_not_exist_is_told_with_the_one_that_was_meant():
    with pytest.raises(AttributeError, match="FilRodDef has no field lenght; did you mean length"):
        filum.FilRodDef(lenght=1.0)
    with pytest.raises(AttributeError, match="did you mean radius"):
        filum.FilRodDef().section.raduis = 1.0


def test_values_of_the_wrong_kind_are_refused():
    rod = filum.FilRodDef()
    with pytest.raises(TypeError):
        rod.length = "long"
    with pytest.raises(TypeError):
        rod.element_count = 2.5
    with pytest.raises(filum.Error, match=r"gravity has the shape \(2,\); it must be \(3,\)"):
        rod.gravity = (0, 0)
    with pytest.raises(TypeError, match="FilSection"):
        rod.section = filum.FilPose()
    with pytest.raises(TypeError, match="takes a FilRodDef"):
        filum.Rod(filum.FilPose())
    with pytest.raises(filum.Error, match="gravity has the shape"):
        filum.World().set_gravity((1, 2))


def test_an_array_of_another_length_than_the_counts_say_never_reaches_the_library():
    with pytest.raises(filum.Error, match=r"element_lengths holds 3 numbers; it must hold "
                                          r"element_count \(10\)"):
        filum.Rod(element_lengths=[0.1, 0.1, 0.1], length=0.3)
    rod = filum.FilRodDef(natural_curvatures=[[0, 1, 0]] * 10)
    assert rod.natural_count == 10
    rod.natural_count = 11
    with pytest.raises(filum.Error, match="natural_curvatures holds 30 numbers"):
        filum.World().add_rod(rod)


# --------------------------------------------------------------------------------------- lifetimes

def test_using_what_was_destroyed_is_an_error():
    world = falling_rods()
    rod = world.rod(0)
    world.destroy()
    world.destroy()
    assert world.is_destroyed and rod.is_destroyed
    for use in (world.step, lambda: world.time, lambda: world.contacts, world.frame,
                lambda: rod.length, lambda: rod.at(0.1), lambda: world.rod(0)):
        with pytest.raises(filum.Error, match="this world was destroyed"):
            use()


def test_a_world_ends_with_its_block():
    with floor() as world:
        cube(world)
        world.step()
    with pytest.raises(filum.Error, match="destroyed"):
        world.step()


def test_a_rod_keeps_its_world():
    rod = falling_rods().rod(1)
    gc.collect()
    assert rod.length == pytest.approx(0.3)
    with pytest.raises(filum.Error, match="belongs to a world"):
        rod.step(1e-3)


def test_objects_may_go_in_any_order():
    for order in itertools.permutations(range(4)):
        world = falling_rods()
        recorder = filum.Recorder(world)
        frame = recorder.frame()
        held = {0: world, 1: recorder, 2: frame, 3: frame.position}
        del world, recorder, frame
        for key in order:
            del held[key]
            gc.collect()


def test_what_lives_at_the_end_of_the_program_is_no_trouble():
    code = ("import filum, sys; sys.path.insert(0, {!r}); from worlds import falling_rods\n"
            "world = falling_rods(); world.step(); frame = world.frame()\n"
            "held = [world.contacts, frame.position, filum.Rod()]\n"
            "held.append(held)\nprint('fine')").format(os.path.dirname(os.path.abspath(__file__)))
    assert run(code) == "fine\n"


CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * 0.1 - 0.05
TRIANGLES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
             (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]


def test_what_a_world_points_to_may_end_with_its_block():
    world = floor()
    with filum.Mesh(CORNERS, TRIANGLES) as mesh:
        body = {"kind": filum.FIL_SHAPE_MESH, "mesh": mesh}
        number = world.add_rigid(shape=body, mass=1.0, pose={"position": (0, 0, 0.05)})
    churn = [np.full(24, 7.0) for _ in range(4000)]  # what was freed would be overwritten
    assert world.step().contact_count > 0 and len(churn) == 4000
    with pytest.raises(filum.Error, match="this mesh was destroyed"):
        world.add_rigid(shape=body)
    again = floor()
    shape = filum.FilObstacleDef(shape=world.rigid(number).shape, pose={"position": (0, 0, 1)})
    del world, mesh
    gc.collect()
    again.add_obstacle(shape)
    del shape
    gc.collect()
    assert again.step().outcome == filum.FIL_CONVERGED


def test_a_stage_does_without_its_scene():
    text = """{ "name": "s", "duration": 1, "step": 0.001, "materials": { "m": {} },
      "rods": [ { "name": "r", "material": "m", "length": 0.1, "radius": 1e-3 } ] }"""
    with filum.Scene.read_text("s.json", text) as scene:
        stage = filum.Stage(scene, threads=1)
        rod = copy.copy(scene.rods[0].def_)
    del scene
    gc.collect()
    for _ in range(5):
        stage.step()
    rod.length = 0.3  # a copy can be changed
    world = filum.World()
    world.add_material()
    assert world.rod(world.add_rod(rod)).length == pytest.approx(0.3)


def test_what_a_function_was_shown_may_be_kept():
    poses, problems = [], []
    world = floor()
    cube(world)
    world.add_obstacle(shape={"kind": filum.FIL_SHAPE_SPHERE, "radius": 0.1},
                       pose={"position": (0, 0, 1)}, motion=lambda time, pose: poses.append(pose))
    world.watch_problems(lambda problem, r, fresh: problems.append(problem))
    for _ in range(3):
        world.step()
    world.destroy()
    assert all(np.array_equal(pose.position, (0, 0, 1)) for pose in poses) and len(poses) > 2
    solution = filum.friction_solve(problems[0])
    assert solution.info.outcome == filum.FIL_CONVERGED
    assert solution.r[0::3].sum() == pytest.approx(9.81e-3, rel=1e-6)


def test_a_motion_that_raises_when_it_is_added_is_kept():
    def broken(_time, _pose):
        raise ZeroDivisionError

    world = floor()
    with pytest.raises(ZeroDivisionError):
        world.add_obstacle(shape={"kind": filum.FIL_SHAPE_SPHERE, "radius": 0.1}, motion=broken)
    del broken
    gc.collect()
    churn = [filum.FilRodEnd(motion=lambda time, pose: None) for _ in range(50)]
    with pytest.raises(ZeroDivisionError):
        world.step()
    assert len(churn) == 50


def test_a_part_of_a_struct_may_be_set_to_itself():
    problem = filum.problem_from_dense(np.eye(3), [-1.0, 1, 0], 0.5)
    problem.blocks = problem.blocks
    gc.collect()
    assert np.allclose(filum.friction_solve(problem).r, (1, -0.5, 0))


# ---------------------------------------------------------------------------- copying and pickling

def copies(thing):
    return [copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))]


def test_structs_are_copied_and_pickled_with_their_arrays():
    kappa = np.ones((10, 3))
    rod = filum.FilRodDef(natural_curvatures=kappa, section={"radius": 1e-3},
                          loads=[filum.FilRodLoad(s=0.1, force=(1, 2, 3))])
    for other in copies(rod):
        assert other == rod and other.section.radius == 1e-3 and other.natural_count == 10
        other.length = 3.0
        assert rod.length == 0.2
        filum.Rod(other)
    shared, own = copy.copy(rod), copy.deepcopy(rod)
    kappa[0, 0] = 5.0
    assert shared.natural_curvatures[0, 0] == 5.0 and own.natural_curvatures[0, 0] == 1.0
    assert rod != own
    info = floor().step()
    assert copies(info) == [info] * 3
    assert [e.status for e in copies(filum.Error("no", 3))] == [3] * 3


def test_objects_of_the_library_are_not_copied_and_say_so():
    world = falling_rods()
    things = [world, world.rod(0), filum.Rigid(), filum.Recorder(world), filum.FrictionWorkspace(),
              filum.Generated(filum.FIL_GENERATE_RIGID), filum.Mesh(CORNERS, TRIANGLES)]
    for thing in things:
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="can be neither copied nor pickled"):
                duplicate(thing)
    problem = filum.Generated(filum.FIL_GENERATE_RIGID).problem
    with pytest.raises(TypeError, match="mu is memory of C"):
        pickle.dumps(problem)
    frame = world.frame()
    with pytest.raises(TypeError, match="its arrays can"):
        pickle.dumps(frame)
    assert np.array_equal(copy.deepcopy(frame).position, pickle.loads(pickle.dumps(frame.position)))


# -------------------------------------------------------------------------------- Ctrl-C, and fork

def test_ctrl_c_ends_a_long_solve_and_a_long_settling():
    made = filum.Generated(filum.FIL_GENERATE_FIBRES, contact_count=200, seed=5)
    calls = (lambda: filum.friction_solve(made.problem, solver=filum.FIL_SOLVER_GAUSS_SEIDEL,
                                          max_iterations=10**9, tolerance=1e-300, thread_count=1),
             lambda: falling_rods().settle(max_steps=10**9, tolerance=1e-300))
    for use in calls:
        timer = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            use()
        timer.join()


def test_ctrl_c_ends_a_long_step_and_takes_it_back(tmp_path):
    # a tolerance below round-off, and no limit to the work: its first step does not end
    scene = {"duration": 0.75, "step": 0.005, "friction_default": 1,
             "solver": {"name": "gauss-seidel", "iterations": 1000000000, "tolerance": 1e-300},
             "braids": [{"rod": {"model": "corde", "elements": 60, "length": 0.1, "radius": 2e-4,
                                 "contact_pieces": 4},
                         "width": 0.005, "thickness": 0.002, "pitch": 0.03}]}
    (tmp_path / "long.json").write_text(json.dumps(scene))
    stage = filum.Stage(str(tmp_path / "long.json"), threads=1)
    before = stage.world.state.copy()
    for use in (stage.step, stage.world.step):
        timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            use()
        timer.join()
        assert stage.world.time == 0.0 and stage.world.step_count == 0
        assert np.array_equal(stage.world.state, before)


def test_an_exception_ends_what_would_take_long():
    def fails_later(time, pose):
        if time > 0.003:
            raise ZeroDivisionError

    for fields in ({}, {"on_step": lambda step, residual: True}):
        world = falling_rods()
        world.add_obstacle(shape={"kind": filum.FIL_SHAPE_SPHERE, "radius": 0.1},
                           pose={"position": (0, 0, 1)}, motion=fails_later)
        for _ in range(4):
            with contextlib.suppress(ZeroDivisionError):
                world.step()
        with pytest.raises(ZeroDivisionError):
            world.settle(max_steps=10**9, tolerance=1e-300, **fields)


def test_interrupts_at_any_moment_cost_no_memory_that_is_in_use():
    """Python may be interrupted inside the allocator that it lends to the library, too."""
    code = """
import random, signal, sys
sys.path.insert(0, sys.argv[1])
from worlds import falling_rods

armed = False

def ring(*_):
    if armed:
        raise KeyboardInterrupt

def run():
    world = falling_rods()
    for _ in range(20):
        world.step()
    places = world.frame().position
    world.destroy()
    return places.sum()

good = run()
signal.signal(signal.SIGALRM, ring)
for k in range(200):
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + 2e-2 * random.Random(k).random())
        assert run() == good
        armed = False
    except KeyboardInterrupt:
        pass
    armed = False
    signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
assert run() == good
print("fine")
"""
    assert run(code, 0, HERE) == "fine\n"


def test_a_child_of_fork_has_threads_of_its_own():
    code = """
import os, signal, filum
rods = [filum.Rod(element_count=10) for _ in range(64)]
filum.rods_step(rods, 1e-3, threads=2)
child = os.fork()
signal.alarm(60)
filum.rods_step(rods, 1e-3, threads=2)
if child == 0:
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""
    assert run(code) == "0\n"


def test_a_run_belongs_to_the_process_that_opened_it(tmp_path):
    code = """
import os, sys, filum
sys.path.insert(0, sys.argv[1])
from worlds import falling_rods
recorder = filum.Recorder(falling_rods())
result = filum.Result.create(sys.argv[2], recorder.def_)
result.append(recorder.frame())
child = os.fork()
if child == 0:
    try:
        result.append(recorder.frame())
    except filum.Error as error:
        sys.exit("before the fork" not in str(error))
    sys.exit(2)
assert os.waitpid(child, 0)[1] == 0
result.append(recorder.frame())
result.close()
print(len(filum.Result(sys.argv[2])))
"""
    assert run(code, 0, HERE, str(tmp_path / "r.h5")) == "2\n"


# ----------------------------------------------------------------------------------------- threads

def test_the_library_runs_while_python_does_something_else():
    """A call that writes more into a pipe than it holds returns only when another thread of Python
    reads the other end: when the interpreter is free meanwhile."""
    code = """
import fcntl, os, threading, filum
end, start = os.pipe()
assert fcntl.fcntl(start, 1031, 4096) == 4096  # F_SETPIPE_SZ
text = []
def read():
    with os.fdopen(end, "rb") as file:
        text.append(file.read())
reader = threading.Thread(target=read)
reader.start()
with os.fdopen(start, "wb") as file:
    filum.lib.fil_scene_schema_write(file)
del file  # with it goes the FILE of C
reader.join()
print(len(text[0]) > 4096)
"""
    assert run(code) == "True\n"


def test_a_world_is_used_by_one_thread_at_a_time():
    world = falling_rods()
    told, entered, leave = [], threading.Event(), threading.Event()

    def wait(step, _residual):
        entered.set()
        leave.wait(60)
        return step < 1

    thread = threading.Thread(target=lambda: world.settle(on_step=wait))
    thread.start()
    assert entered.wait(60)
    for use in (world.step, world.destroy, lambda: world.contacts, lambda: world.rod(0).length):
        with pytest.raises(filum.Error, match="in use by another thread"):
            use()
        told.append(use)
    leave.set()
    thread.join()
    assert len(told) == 4
    world.step()


def test_a_function_that_a_world_calls_may_look_at_it_but_not_destroy_it():
    world = falling_rods()
    seen = []

    def look(_step, _residual):
        seen.append(world.time)
        world.destroy()

    with pytest.raises(filum.Error, match="may not change it"):
        world.settle(on_step=look)
    assert seen == [0.0]
    world.step()


def test_an_exception_is_raised_by_the_call_that_it_happened_in():
    def broken(_time, _pose):
        raise ZeroDivisionError

    def go(motion, seen):
        world = floor()
        for k in range(100):
            try:
                if k == 0:
                    world.add_obstacle(shape={"kind": filum.FIL_SHAPE_SPHERE, "radius": 0.1},
                                       pose={"position": (0, 0, 1)}, motion=motion)
                world.step()
            except ZeroDivisionError:
                seen.append(k)

    bad, good = [], []
    threads = [threading.Thread(target=go, args=(broken, bad)),
               threading.Thread(target=go, args=(lambda time, pose: None, good))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bad) == 100 and good == []


def test_threads_may_look_at_a_world_between_its_steps():
    world, done, found = falling_rods(), threading.Event(), []

    def look():
        while not done.is_set():
            try:
                seen = (world.energy.kinetic, world.contacts["gap"].sum(), world.state.sum(),
                        world.frame().position.sum(), world.rod(0).at([0.1])[0]["position"].sum())
                found.append(np.isfinite(seen).all())
            except filum.Error as error:
                assert "in use by another thread" in str(error)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        world.step()  # waits for those who look, never fails
    done.set()
    for thread in threads:
        thread.join()
    assert all(found)


def test_worlds_are_stepped_side_by_side_by_threads():
    def fall(states, k):
        world = falling_rods()
        for _ in range(80):
            world.step()
        states[k] = world.state.tobytes()

    states = {}
    threads = [threading.Thread(target=fall, args=(states, k)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(states) == 3 and len(set(states.values())) == 1


# -------------------------------------------------------------------------------- finding its parts

def test_a_library_that_is_not_there_is_told_with_what_to_do():
    assert "FILUM_LIBRARY" in run("import filum", 1, FILUM_LIBRARY="/nowhere/libfilum.so")
    text = run("import filum", 1, FILUM_LIBRARY="libc.so.6")
    assert "libc.so.6 is not the library of Filum" in text


def test_a_library_that_is_named_is_taken():
    there = os.path.join(os.path.dirname(filum.__file__), "libfilum.so")
    assert run("import filum; print(filum.version())", FILUM_LIBRARY=there) == (
        filum.__version__ + "\n")


@pytest.mark.parametrize("module", ["numpy", "cffi"])
def test_a_python_without_its_modules_is_told_which_to_use(module):
    text = run(f"import sys; sys.modules[{module!r}] = None; import filum", 1)
    assert "filum needs NumPy and cffi" in text and "/usr/bin/python3" in text
    assert f"has no {module}" in text
