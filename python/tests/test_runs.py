"""Scenes, stages and runs."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import filum
from worlds import falling_rods

HERE = os.path.dirname(os.path.abspath(__file__))
SCENE = """{
  "name": "strand", "duration": "0.1 s", "step": "1 ms",
  "materials": { "hair": { "young": "3.9 GPa", "density": 1300 } },
  "friction": [ { "between": ["hair", "hair"], "mu": 0.3 } ],
  "rods": [ { "name": "lock", "model": "der", "elements": 10, "material": "hair", "length": "10 cm",
              "radius": "0.5 mm", "root": { "at": [0, 0, 0], "along": [0, 0, -1] } } ],
  "events": [ { "time": "50 ms", "gravity": [0, 9.81, 0] } ]
}"""


def record(path, steps=30, every=10):
    """A run of two rods that fall: the frames that went into it."""
    world = falling_rods()
    recorder = filum.Recorder(world)
    recorder.set_name(filum.FIL_BODY_ROD, 1, "upper")
    def_ = recorder.def_
    def_.name, def_.seed = "falling", 7
    frames = []
    with filum.Result.create(path, def_) as result:
        for k in range(steps + 1):
            if k % every == 0:
                frame = recorder.frame()
                result.append(frame)
                frames.append(frame.copy())
            if k < steps:
                info = world.step()
                result.add_step(world.time, info)
    return frames


# ------------------------------------------------------------------------------------------ scenes

def test_a_scene_is_read_and_run_with_its_events():
    scene = filum.Scene.read_text("strand.json", SCENE)
    assert scene.name == "strand" and scene.rod_count == 1 and scene.duration == pytest.approx(0.1)
    assert scene.materials[0].name == "hair" and scene.materials[0].density == 1300
    assert scene.rods[0].def_.element_count == 10 and scene.find_rod("lock") == 0
    told = []
    stage = filum.Stage(scene, threads=1, log=lambda level, text: told.append(text))
    del scene
    infos = list(stage.run())
    assert len(infos) == 100 and stage.event_count == 1 and len(told) == 1
    assert stage.world.rod_count == 1 and stage.world.time == pytest.approx(0.1)
    tip = stage.world.rod(0).at(0.1)[0].position
    assert tip[1] > 1e-4  # gravity turned
    world = stage.world
    stage.destroy()
    with pytest.raises(filum.Error, match="this stage was destroyed"):
        world.step()


def test_changes_and_mistakes_of_a_scene():
    scene = filum.Scene.read_text("strand.json", SCENE, changes=["rods[0].radius=2 mm"])
    assert scene.rods[0].def_.section.radius == pytest.approx(2e-3)
    with pytest.raises(filum.Error, match=r"^strand.json:\d+:\d+: .*radius is -1") as caught:
        filum.Scene.read_text("strand.json", SCENE.replace('"0.5 mm"', "-1"))
    assert caught.value.line == 6 and caught.value.column > 0
    with pytest.raises(filum.Error, match="nowhere.json"):
        filum.Stage("nowhere.json")
    with pytest.raises(filum.Error, match="has no rod 'beard'"):
        scene.find_rod("beard")


def test_a_stage_goes_on_from_a_state_bit_for_bit():
    first, again = (filum.Stage(filum.Scene.read_text("strand.json", SCENE), threads=1)
                    for _ in range(2))
    for _ in first.run(until=0.06):
        pass
    again.resume(first.world.state, first.event_count)
    for stage in (first, again):
        for _ in stage.run():
            pass
    assert first.world.state.tobytes() == again.world.state.tobytes()


def test_fields_are_one_number_for_each_point():
    stage = filum.Stage(filum.Scene.read_text("strand.json", SCENE), threads=1)
    for _ in stage.run():
        pass
    frame = stage.world.frame()
    speed = frame.field("speed")
    assert np.allclose(speed, np.linalg.norm(frame.velocity, axis=1))
    assert np.array_equal(speed, frame.field(filum.FIL_FIELD_SPEED))
    assert filum.field_unit("speed") == "m/s"
    low, high = filum.field_range(speed)
    assert speed.min() <= low <= high <= speed.max()
    with pytest.raises(filum.Error, match="one of .*tension"):
        frame.field("colour")


def test_the_tension_of_a_hanging_rod_is_the_weight_below():
    stage = filum.Stage(filum.Scene.read_text("strand.json", SCENE), threads=1)
    for _ in stage.run(until=0.05):
        pass
    frame = stage.world.frame()
    if frame.tension is None:
        with pytest.raises(filum.Error, match="does not know tension"):
            frame.field("tension")
        pytest.skip("frames of a world do not know the tension yet")
    weight = np.pi * 0.5e-3**2 * 1300 * 9.81 * (0.1 - frame.def_.points["s"])
    assert np.allclose(frame.field("tension"), weight, atol=0.1 * weight[0])


# -------------------------------------------------------------------------------------------- runs

def test_what_is_recorded_is_read(tmp_path):
    frames = record(tmp_path / "result.h5")
    with filum.Result(tmp_path) as run:  # the folder will do
        assert len(run) == run.frame_count == 4 and run.step_count == 30 and not run.is_growing
        assert run.def_.name == "falling" and run.def_.seed == 7
        assert run[0].rod("upper") == run[0].rod(1) and repr(run) == (
            "<result of 4 frames, 30 steps>")
        assert run.def_.rods["name"][1] == b"upper" and run.def_.version == filum.version()
        assert np.allclose(run.read_times(), [0, 0.01, 0.02, 0.03])
        assert np.allclose(run.read_energies()["kinetic"], [f.energy.kinetic for f in frames])
        steps = run.read_steps()
        assert np.allclose(steps["time"], np.arange(1, 31) * 1e-3)
        assert np.all(steps["info"]["outcome"] == filum.FIL_CONVERGED)
        assert np.all(steps["info"]["residual"]["scaled"] <= 1e-8)
        for got, want in zip(run, frames):
            assert got.time == want.time and got.step == want.step
            assert np.array_equal(got.position, want.position)
            assert np.allclose(got.velocity, want.velocity, atol=1e-6)
            assert np.allclose(got.contacts["impulse"], want.contacts["impulse"])
        assert run[-1].time == pytest.approx(0.03)
        with pytest.raises(IndexError):
            run[4]


def test_a_frame_that_was_read_is_a_view_and_is_old_after_the_next(tmp_path):
    record(tmp_path / "result.h5")
    run = filum.Result(tmp_path / "result.h5")
    first = run.read(0)
    places = first.position
    assert not places.flags.owndata and not places.flags.writeable
    run.read(2)
    with pytest.raises(filum.Error, match="overwritten"):
        first.position
    last = run.read(3)
    run.close()
    assert last.position[0, 2] < 0.01
    assert np.isfinite(places).all()  # stale, but there
    with pytest.raises(filum.Error, match="this result was destroyed"):
        run.read(0)
    assert run.is_destroyed


def test_a_run_is_a_sequence_of_frames_that_stay(tmp_path):
    frames = record(tmp_path / "result.h5")
    heights = [frame.position[0, 2] for frame in frames]
    run = filum.Result(tmp_path)
    places = [frame.position[0] for frame in run]  # of frames that nobody holds
    assert [x[2] for x in places] == heights
    assert [frame.position[0, 2] for frame in list(run)] == heights
    some = run[1:3]
    assert len(some) == 2 and repr(some) == "<2 frames of a run>"
    assert [frame.position[0, 2] for frame in some] == heights[1:3]
    assert [frame.position[0, 2] for frame in run[::-2]] == heights[::-2]
    assert some[1:][0].time == run[np.int64(-2)].time and len(run[9:]) == 0
    assert list(reversed(run[:2]))[0].time == run[1].time
    for wrong in (4, -5, 2**70):
        with pytest.raises(IndexError, match="the run has 4"):
            run[wrong]
    with pytest.raises(TypeError):
        run[1.0]
    run.close()
    assert places[0][2] == heights[0]
    with pytest.raises(filum.Error, match="this result was destroyed"):
        some[0]


def side_by_side(work, count):
    """Run work(0), work(1), ... in threads that take turns as often as can be."""
    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)


def test_threads_that_share_a_run_each_get_the_frame_that_they_asked_for(tmp_path):
    frames = record(tmp_path / "result.h5", steps=30, every=2)
    run = filum.Result(tmp_path)
    wrong = []

    def check(got, want):
        if got.time != want.time or not np.array_equal(got.position, want.position):
            wrong.append((got.time, want.time))

    def look(first):
        try:
            for k in range(first, first + 150):
                check(run[k % 16], frames[k % 16])
                assert len(run.read_times()) == run.def_.rod_count * 8
            for got, want in zip(run, frames):
                check(got, want)
            for got, want in zip(run[::3], frames[::3]):
                check(got, want)
        except Exception as error:
            wrong.append(error)

    side_by_side(look, 6)
    assert wrong == []


def test_a_copy_of_a_view_is_whole_or_refused_whoever_reads_meanwhile(tmp_path):
    record(tmp_path / "result.h5", steps=30, every=2)
    run = filum.Result(tmp_path)
    want = {frame.time: frame.position for frame in run}
    wrong = []

    def look(first):
        for k in range(first, first + 150):
            try:
                got = run.read(k % 16).copy()
                if not np.array_equal(got.position, want[got.time]):
                    wrong.append(got.time)
            except filum.Error as error:
                if "overwritten by a later one" not in str(error):
                    wrong.append(error)

    side_by_side(look, 4)
    assert wrong == []


def test_what_is_not_in_a_run_is_told(tmp_path):
    record(tmp_path / "result.h5")
    run = filum.Result(tmp_path)
    assert np.allclose(run.read_times(1, 2), (0.01, 0.02)) and len(run.read_times(4)) == 0
    for first, count in ((-1, None), (5, None), (0, -1), (2, 3)):
        with pytest.raises(filum.Error, match=f"first is {first} .* there are 4"):
            run.read_times(first, count)


def test_the_name_that_a_definition_was_given_is_written(tmp_path):
    recorder = filum.Recorder(falling_rods())
    recorder.def_.name = "falling"
    recorder.frame()
    recorder.set_name(filum.FIL_BODY_ROD, 0, "lower")
    with pytest.raises(filum.Error, match="there is no such body"):
        recorder.set_name(filum.FIL_BODY_ROD, 7, "none")
    filum.Result.create(tmp_path / "r.h5", recorder.def_).close()
    def_ = filum.Result(tmp_path / "r.h5").def_
    assert def_.name == "falling" and def_.rods["name"][0] == b"lower"


def test_a_block_that_fails_closes_its_run(tmp_path):
    recorder = filum.Recorder(falling_rods())
    with pytest.raises(ZeroDivisionError):
        with filum.Result.create(tmp_path / "r.h5", recorder.def_) as result:
            result.append(recorder.frame())
            raise ZeroDivisionError
    assert len(filum.Result(tmp_path / "r.h5")) == 1 and result.is_destroyed


def test_a_run_can_be_read_while_it_grows(tmp_path):
    code = """
import sys, filum
sys.path.insert(0, sys.argv[2])
from worlds import falling_rods
world = falling_rods()
recorder = filum.Recorder(world)
result = filum.Result.create(sys.argv[1], recorder.def_)
while True:
    result.append(recorder.frame())
    result.sync()
    print("written", flush=True)
    if not sys.stdin.readline().strip():
        break
    world.step()
result.close()
print("closed", flush=True)
"""
    path = tmp_path / "result.h5"
    with subprocess.Popen([sys.executable, "-c", code, str(path), HERE], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "written\n"
        run = filum.Result(path)
        assert run.is_growing and run.frame_count == 1
        for count in (2, 3):
            writer.stdin.write("more\n")
            writer.stdin.flush()
            assert writer.stdout.readline() == "written\n"
            assert run.frame_count == count and run[count - 1].step == count - 1
        writer.stdin.write("\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "closed\n"
        assert not run.is_growing


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(filum.Error, match="nothing.h5"):
        filum.Result(tmp_path / "nothing.h5")
    (tmp_path / "text.h5").write_text("not a run")
    with pytest.raises(filum.Error, match="text.h5"):
        filum.Result(tmp_path / "text.h5")
    frames = record(tmp_path / "result.h5")
    with pytest.raises(filum.Error, match="exists"):
        record(tmp_path / "result.h5")
    assert len(frames) == 4


def test_runs_are_exported(tmp_path):
    record(tmp_path / "result.h5")
    with filum.Result(tmp_path) as run:
        count = run.export("npy", tmp_path, "falling")
        assert count == len([n for n in os.listdir(tmp_path) if n.startswith("falling")]) > 0
        with pytest.raises(filum.Error, match="must be .*csv"):
            run.export("doc", tmp_path, "falling")
        run.export("obj", tmp_path, "falling", from_=1, to=3, up=filum.FIL_EXPORT_UP_Y)


def test_a_frame_of_another_world_is_refused_not_written(tmp_path):
    recorders = []
    for count in (4, 8):
        world = filum.World()
        world.add_material()
        world.add_rod(element_count=count, length=0.1)
        recorders.append(filum.Recorder(world))
    result = filum.Result.create(tmp_path / "r.h5", recorders[0].def_)
    result.append(recorders[0].frame())
    with pytest.raises(filum.Error, match="point_count is"):
        result.append(recorders[1].frame())
    assert result.frame_count == 1
    result.close()
