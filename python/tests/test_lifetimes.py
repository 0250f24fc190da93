"""Lifetimes, errors and threads: a wrong call is a sentence, never a crash."""

import gc
import itertools
import os
import subprocess
import sys
import threading

import pytest

import filum
from worlds import cube, falling_rods, floor


def run(code, status=0, **environment):
    """Run Python of its own; what it printed, or said."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, **environment})
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
    with pytest.raises(ValueError):
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
