#!/usr/bin/python3
"""Drives the verbs about scenes and runs. Usage: test_cli_run.py FILUM [filter]"""

import csv
import json
import os
import pty
import re
import resource
import signal
import socket
import subprocess
import sys
import time

import sentences
from sentences import Skip

FILUM = os.path.abspath(sys.argv[1])
run, fails = sentences.program(FILUM)
os.environ["OMP_NUM_THREADS"] = "1"  # unless --threads says otherwise: the scene is small

# two strands fall on a ball that turns, over a floor; a wind rises; a body is pushed
SCENE = {
    "name": "small", "duration": 0.2, "step": "2 ms",
    "materials": {"hair": {}, "skin": {"restitution": 0.2}},
    "friction_default": 0.3,
    "rods": [
        {"name": "strand", "model": "helix", "elements": 4, "material": "hair", "length": "10 cm",
         "radius": "50 um", "contact_radius": "1 mm", "drag": 1e-4,
         "root": {"at": [0, 0, 0.06], "along": [1, 0, 0], "held": "clamped"}},
        {"name": "loose", "model": "der", "elements": 8, "material": "hair", "length": "8 cm",
         "radius": "0.3 mm", "velocity": [0.1, 0, 0], "spin": [0, 0, 5],
         "root": {"at": [-0.04, 0.02, 0.07], "along": [1, 0, 0], "held": "free"}}],
    "bodies": [{"name": "box", "shape": "box", "size": [0.02, 0.02, 0.02], "material": "skin",
                "at": [0.1, 0, 0.0101], "force": [0.02, 0, 0], "force_rate": [0.1, 0, 0]}],
    "obstacles": [
        {"name": "ball", "shape": "sphere", "radius": "5 cm", "material": "skin",
         "motion": {"spin": [0, 0, "1 turn/s"]}},
        {"name": "floor", "shape": "plane", "material": "skin"}],
    "events": [{"time": 0.05, "wind": [1, 0, 0]},
               {"time": 0.1, "rod": "strand", "force": [0, 1e-5, 0]},
               {"time": 0.12, "rod": "strand", "length": "10.1 cm"},
               {"time": 0.15, "gravity": [1, 0, -9.81]},
               {"time": 0.16, "rod": "strand", "release": "root"}],
    "output": {"every": "6 ms", "save": "40 ms"}}


def write(name="scene.json", **changes):
    with open(name, "w", encoding="utf-8") as file:
        json.dump({**SCENE, **changes}, file)
    return name


def read(path):
    """Every dataset of a result as bytes, but for the seconds, which nobody can repeat."""
    try:
        import h5py  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Skip("there is no h5py") from error
    found = {}

    def visit(name, item):
        if not isinstance(item, h5py.Dataset) or name == "options":
            return
        data = item[()]
        names = getattr(item.dtype, "names", None)
        for part in names or [None]:
            if part is None or not part.startswith("seconds"):
                value = data if part is None else data[part]
                found[f"{name}/{part}"] = value.tobytes() if hasattr(value, "tobytes") else value
    with h5py.File(path, "r") as file:
        file.visititems(visit)
        frames = len(file["frames"])
    return frames, found


def same(one, other):
    frames, a = read(one)
    more, b = read(other)
    assert frames == more and a.keys() == b.keys(), (frames, more)
    for name, value in a.items():
        assert value == b[name], f"{name} differs"


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.002)


# --------------------------------------------------------------------------------------------- run

def a_run_folder_explains_itself():
    done = run("run", write(), "--threads", "1", "--set", "friction_default=0.4")
    assert done.returncode == 0, done.err
    assert sorted(os.listdir("runs/scene")) == ["checkpoint.bin", "log.txt", "result.h5", "run.json",
                                                "scene.json"]
    with open("scene.json", "rb") as one, open("runs/scene/scene.json", "rb") as other:
        assert one.read() == other.read()
    with open("runs/scene/run.json", encoding="utf-8") as file:
        about = json.load(file)
    assert about["set"] == ["friction_default=0.4"] and about["threads"] == 1
    assert about["until"] == 0.2 and about["filum"] in run("--version").out
    with open("runs/scene/log.txt", encoding="utf-8") as file:
        log = file.read()
    for event in ("wind becomes (1, 0, 0)", "force of rods[0] strand becomes (0, 1e-05, 0)",
                  "length of rods[0] strand becomes 0.101", "gravity becomes (1, 0, -9.81)"):
        assert event in log, log
    assert "done after step 100" in log
    lines = done.out.splitlines()
    assert lines[0] == "scene: done at 0.2 s: 100 steps, 35 frames -> runs/scene", lines[0]
    for phase in ("bodies", "collide", "assemble", "friction", "update", "sweep", "all"):
        assert any(line.split()[:1] == [phase] for line in lines), phase
    for warning in ("not converged: 0 of 100 steps", "substepped: ", "found and solved again, 0 not prevented"):
        assert warning in done.out, warning


def without_a_terminal_progress_is_a_few_plain_lines():
    done = run("run", write())
    assert "\r" not in done.err and "\x1b" not in done.err
    assert 8 <= done.err.count("\n") <= 11, done.err
    assert "contacts" in done.err and "real time" in done.err and "left" in done.err


def on_a_terminal_progress_is_one_live_line():
    write()
    child, terminal = pty.fork()
    if child == 0:
        try:
            os.execv(FILUM, [FILUM, "run", "scene.json"])
        finally:
            os._exit(127)
    text = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    _, status = os.waitpid(child, 0)
    assert status == 0 and b"\r\x1b[K  scene  " in text and b"steps/s" in text, text


def json_is_one_object():
    done = run("run", write(), "--json", "--until", "0.05")
    about = json.loads(done.out)
    assert about["outcome"] == "done" and about["steps"] == 25 and about["time"] == 0.05
    assert about["unconverged"] == about["missed"] == 0 and about["residual"] <= 1e-8
    assert about["contacts"] >= 4
    info = json.loads(run("info", "runs/scene", "--json").out)
    for field in ("steps", "frames", "residual", "iterations", "contacts", "dissipated"):
        assert info[field] == about[field], field


def a_run_is_not_overwritten_unless_forced():
    write()
    assert run("run", "scene.json", "--until", "0.01").returncode == 0
    fails(3, "runs/scene holds a run already; --resume goes on with it, --force replaces it",
          "run", "scene.json")
    assert run("run", "scene.json", "--until", "0.02", "--force").returncode == 0
    assert json.loads(run("info", "--json", "runs/scene").out)["steps"] == 10


def the_same_bits_on_any_number_of_threads():
    write()
    assert run("run", "scene.json", "--threads", "1", "--out", "one").returncode == 0
    assert run("run", "scene.json", "--threads", "3", "--out", "three").returncode == 0
    same("one/result.h5", "three/result.h5")


def what_is_resumed_has_the_bits_of_what_was_not_stopped():
    write()
    assert run("run", "scene.json", "--out", "whole").returncode == 0
    # stopped before, between and after the events, and where no frame is due
    for until in ("0.03", "0.1", "0.102", "0.12", "0.17"):
        mode = ["--resume"] if os.path.exists("parts") else []
        assert run("run", "scene.json", "--out", "parts", "--until", until, *mode).returncode == 0
    done = run("run", "scene.json", "--out", "parts", "--resume", "--json")
    assert done.returncode == 0, done.err
    assert json.loads(done.out)["steps"] == 100
    same("whole/result.h5", "parts/result.h5")
    again = run("run", "scene.json", "--out", "parts", "--resume")  # there is nothing left to do
    assert again.returncode == 0, again.err
    same("whole/result.h5", "parts/result.h5")


def resuming_another_scene_is_refused():
    write()
    assert run("run", "scene.json", "--until", "0.01").returncode == 0
    fails(3, "checkpoint", "run", "scene.json", "--resume", "--set", "friction_default=0.1")
    write(name="scene.json", seed=3)
    fails(3, "checkpoint", "run", "scene.json", "--resume")
    fails(3, "elsewhere holds no checkpoint to go on from", "run", "scene.json", "--resume",
          "--out", "elsewhere")
    fails(2, "choose one", "run", "scene.json", "--resume", "--force")


def ctrl_c_saves_and_tells_how_to_go_on():
    write(duration=30, output={"every": "6 ms"})
    with subprocess.Popen([FILUM, "run", "scene.json", "--set", "gravity=[0, 0, -9]"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        wait_for(lambda: os.path.exists("runs/scene/checkpoint.bin"))
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130, (child.returncode, err)
    assert b"stopped at" in out, out
    last = err.decode().splitlines()[-1]
    assert last == ("filum: resume with: filum run scene.json --out runs/scene "
                    "--set 'gravity=[0, 0, -9]' --resume"), last
    steps = json.loads(run("info", "--json", "runs/scene").out)["steps"]
    until = str(0.002 * (steps + 20))
    done = run("run", "scene.json", "--resume", "--set", "gravity=[0, 0, -9]", "--until", until)
    assert done.returncode == 0, done.err
    done = run("run", "scene.json", "--out", "whole", "--set", "gravity=[0, 0, -9]", "--until",
               until)
    assert done.returncode == 0, done.err
    same("whole/result.h5", "runs/scene/result.h5")


# its first step does not end: a tolerance below round-off, and no limit to the work
LONG = {"duration": 0.75, "step": 0.005, "friction_default": 1,
        "solver": {"name": "gauss-seidel", "iterations": 1000000000, "tolerance": 1e-300},
        "braids": [{"rod": {"model": "corde", "elements": 60, "length": 0.1, "radius": 2e-4,
                            "contact_pieces": 4}, "width": 0.005, "thickness": 0.002,
                    "pitch": 0.03}]}


def ctrl_c_ends_a_step_in_hand_and_takes_it_back():
    with open("long.json", "w", encoding="utf-8") as file:
        json.dump(LONG, file)
    with subprocess.Popen([FILUM, "run", "long.json", "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        wait_for(lambda: os.path.exists("runs/long/run.json"))
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130, (child.returncode, err)
    told = json.loads(out)
    assert told["outcome"] == "interrupted" and told["steps"] == 0 and told["time"] == 0, told
    told = json.loads(run("info", "--json", "runs/long").out)
    assert told["steps"] == 0 and told["frames"] == 1, told


def ctrl_c_ends_check_and_settle_too():
    with open("long.json", "w", encoding="utf-8") as file:
        json.dump(LONG, file)
    for verb in ("check", "settle"):
        with subprocess.Popen([FILUM, verb, "long.json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            wait_for(lambda child=child: catches_interrupts(child.pid))
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=60)
        assert child.returncode == 130, (verb, child.returncode, err)


def catches_interrupts(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        caught = next(line for line in file if line.startswith("SigCgt"))
    return int(caught.split()[1], 16) & 1 << (signal.SIGINT - 1) != 0


def a_first_step_that_no_machine_can_hold_is_refused_with_a_reason():
    with open("dense.json", "w", encoding="utf-8") as file:
        json.dump({"duration": 0.1, "friction_default": 0.3, "materials": {"m": {}},
                   "bundles": [{"count": 7, "spacing": "0.199 mm",
                                "rod": {"model": "der", "elements": 10, "length": 0.1,
                                        "radius": 1e-4, "contact_pieces": 600,
                                        "self_contact": "off"}}]}, file)
    told = run("check", "dense.json")
    assert told.returncode == 3, told
    assert "contacts touch at the start: the first step needs" in told.err, told.err
    fails(3, "contacts touch at the start: the first step needs", "run", "dense.json")
    assert not os.path.exists("runs/dense")


def kill_9_loses_what_came_after_the_checkpoint_and_no_more():
    write(duration=30, output={"every": "6 ms", "save": "40 ms"})
    with subprocess.Popen([FILUM, "run", "scene.json"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        wait_for(lambda: os.path.exists("runs/scene/checkpoint.bin"))
        before = os.stat("runs/scene/checkpoint.bin").st_mtime_ns
        wait_for(lambda: os.stat("runs/scene/checkpoint.bin").st_mtime_ns > before)
        child.kill()
    told = json.loads(run("info", "--json", "runs/scene").out)
    assert told["mended"] and not told["growing"] and told["frames"] > 1, told
    frames, _ = read("runs/scene/result.h5")  # plain h5py reads it now
    assert frames == told["frames"]
    until = str(0.002 * (told["steps"] + 30))
    assert run("run", "scene.json", "--resume", "--until", until).returncode == 0
    assert run("run", "scene.json", "--out", "whole", "--until", until).returncode == 0
    same("whole/result.h5", "runs/scene/result.h5")


def what_has_no_checkpoint_is_begun_anew_only_where_nothing_is_lost():
    write()
    assert run("run", "scene.json", "--out", "whole").returncode == 0
    assert run("run", "scene.json", "--out", "a", "--until", "0.01").returncode == 0
    os.remove("a/checkpoint.bin")
    fails(3, "a holds no checkpoint to go on from; --force replaces the run", "run", "scene.json",
          "--out", "a", "--resume")
    os.mkdir("b")
    fails(3, "b holds no checkpoint to go on from; without --resume a run begins", "run",
          "scene.json", "--out", "b", "--resume")
    # killed before its first checkpoint: the scene is there, of the result a part, or nothing
    for rest in (b"", b"x" * 1000):
        with open("scene.json", "rb") as one, open("b/scene.json", "wb") as other:
            other.write(one.read())
        with open("b/result.h5", "wb") as file:
            file.write(rest)
        done = run("run", "scene.json", "--out", "b", "--resume")
        assert done.returncode == 0, done.err
        assert "b was stopped before its first step; the run begins anew" in done.err, done.err
        same("whole/result.h5", "b/result.h5")
        for name in os.listdir("b"):
            os.remove(os.path.join("b", name))
    with open("b/result.h5", "wb") as file:  # somebody else's
        file.write(b"x" * 1000)
    fails(3, "b holds no checkpoint to go on from; --force replaces the run", "run", "scene.json",
          "--out", "b", "--resume")


def what_passed_through_and_was_not_mended_gives_status_1():
    write(duration=0.02)
    assert run("run", "scene.json").returncode == 0
    try:
        import h5py  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Skip("there is no h5py") from error
    with h5py.File("runs/scene/result.h5", "r+", libver="latest") as file:
        steps = file["steps"][:]
        steps["missed_count"][3] = 2
        file["steps"][:] = steps
    done = run("run", "scene.json", "--resume")  # it is done; what came of its steps stays true
    assert done.returncode == 1, (done.returncode, done.err)
    assert "2 pairs of pieces passed through each other (tunnelling); substeps did not prevent it" in \
        done.err, done.err


def a_world_that_explodes_ends_its_run_and_keeps_the_frames_before():
    # 4e5 m/s more in every step; at 1e6 m/s nothing holds together
    with open("boom.json", "w", encoding="utf-8") as file:
        json.dump({"duration": 1, "step": "1 ms", "gravity": [0, 0, 0], "friction_default": 0,
                   "materials": {"m": {}}, "output": {"every": "1 ms", "save": "1 ms"},
                   "bodies": [{"shape": "sphere", "radius": 0.05, "mass": 1,
                               "force": [4e8, 0, 0]}]}, file)
    for options in ((), ("--resume",)):
        done = run("run", "boom.json", *options)
        assert done.returncode == 1, (done.returncode, done.err)
        assert "at time 0.003 s kinetic and elastic energy are 7.2e+11 J, more than the whole " \
            "mass has at 1e+06 m/s: the world has exploded; the run ends with the 3 frames " \
            "before it" in done.err, done.err
        assert json.loads(run("info", "--json", "runs/boom").out)["frames"] == 3
    fails(1, "at time 0 s kinetic and elastic energy", "run", "boom.json", "--out", "b", "--set",
          "bodies[0].velocity=[1e8, 0, 0]")
    assert not os.path.exists("b")
    # between frames, too: no checkpoint is from after it
    done = run("run", "boom.json", "--out", "c", "--set", "output.every=1")
    assert done.returncode == 1 and "at time 0.003 s" in done.err, done.err


def a_full_disk_costs_what_did_not_fit_and_no_more():
    write(duration=30, output={"every": "2 ms", "save": "20 ms"})
    def limit(size=400_000):
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    for size in (2_000, 50_000, 120_000):  # no room to begin with: one sentence, nothing left behind
        done = run("run", "scene.json", "--out", "none", preexec_fn=lambda: limit(size))
        assert done.returncode == 3, (done.returncode, done.err)
        assert done.err == "filum: none/result.h5: cannot write it: File too large\n", done.err
        assert not os.path.exists("none")
    done = run("run", "scene.json", preexec_fn=limit)
    assert done.returncode == 3, (done.returncode, done.err)
    assert "result.h5" in done.err.splitlines()[-1], done.err
    told = json.loads(run("info", "--json", "runs/scene").out)
    assert told["frames"] > 1
    done = run("run", "scene.json", "--resume", "--until", str(0.002 * (told["steps"] + 10)))
    assert done.returncode == 0, done.err


def a_run_that_is_being_written_is_left_alone():
    scene = write()
    with subprocess.Popen([FILUM, "run", scene, "--out", "a", "--live", "--paused"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline().startswith(b"http://127.0.0.1:")
        wait_for(lambda: os.path.exists("a/checkpoint.bin"))
        files = ("a/checkpoint.bin", "a/log.txt", "a/scene.json", "a/run.json")
        before = [open(path, "rb").read() for path in files]
        for option in ("--force", "--resume"):
            fails(3, "being written by another program", "run", scene, "--out", "a", option)
        assert before == [open(path, "rb").read() for path in files]
        process.send_signal(signal.SIGINT)
        process.wait(60)
    assert run("run", scene, "--out", "a", "--resume").returncode == 0


def files_of_others_are_not_replaced():
    scene = write()
    os.mkdir("mine")
    for name in ("scene.json", "run.json", "log.txt"):
        with open(f"mine/{name}", "w", encoding="utf-8") as file:
            file.write("mine")
        fails(3, f"mine/{name} exists already; --force replaces it", "run", scene, "--out", "mine")
        with open(f"mine/{name}", encoding="utf-8") as file:
            assert file.read() == "mine"
        os.remove(f"mine/{name}")


def a_port_in_use_costs_an_old_run_nothing():
    scene = write()
    assert run("run", scene, "--out", "a", "--until", "0.02").returncode == 0
    files = ["a/" + name for name in os.listdir("a")]
    before = [open(path, "rb").read() for path in files]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        fails(3, str(taken.getsockname()[1]), "run", scene, "--out", "a", "--force", "--live",
              "--port", str(taken.getsockname()[1]))
    assert before == [open(path, "rb").read() for path in files]


def sigterm_saves_as_ctrl_c_does():
    scene = write(duration=1000)
    with subprocess.Popen([FILUM, "run", scene, "--out", "a"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        wait_for(lambda: os.path.exists("a/checkpoint.bin"))
        process.send_signal(signal.SIGTERM)
        err = process.stderr.read().decode()
        assert process.wait(60) == 130 and "--resume" in err, err
    assert run("run", scene, "--out", "a", "--resume", "--until", "0.001").returncode == 0


def a_step_that_fails_leaves_the_last_good_one_to_go_on_from():
    scene = write(events=[{"time": 0.1, "gravity": [0, 0, -1e290]}])
    done = run("run", scene, "--out", "a")
    assert done.returncode == 1, done.err
    run("run", scene, "--out", "a", "--resume", "--until", "0.1")
    with open("a/log.txt", encoding="utf-8") as log:  # checkpoints are 1 s apart otherwise
        assert "resumes after step 50," in log.read()


def a_step_that_fails_names_the_rod_as_the_scene_does():
    scene = {"duration": 0.01, "step": "1 ms", "friction_default": 0.3, "materials": {"m": {}},
             "rods": [{"name": "upper"}, {"name": "lower", "root": {"at": [0, 1, 0], "held": "free"},
                                          "loads": [{"force": [0, 1e306, 0]}]}]}
    with open("boom.json", "w", encoding="utf-8") as file:
        json.dump(scene, file)
    done = run("run", "boom.json")
    assert done.returncode == 1 and 'rod "lower" leaves the range of numbers' in done.err, done.err
    assert "may do" not in done.err, done.err


def unconverged_steps_are_told_and_fail_only_with_strict():
    write()
    hard = ["--set", "solver.iterations=1", "--set", "solver.name=gauss-seidel",
            "--set", "solver.tolerance=1e-14"]
    done = run("run", "scene.json", *hard)
    assert done.returncode == 0, done.err
    assert "warning: " in done.err and "did not converge" in done.err, done.err
    with open("runs/scene/log.txt", encoding="utf-8") as file:
        assert "warning: step " in file.read()
    assert run("run", "scene.json", *hard, "--force", "--strict").returncode == 1


def bad_scenes_and_folders_are_one_clear_sentence():
    write()
    fails(2, "which scene?", "run")
    fails(2, "run takes one scene, not 2", "run", "a", "b")
    fails(3, "missing.json: cannot read the scene: No such file", "run", "missing.json")
    fails(3, ". is a folder", "run", ".")
    fails(3, "must be positive", "run", "scene.json", "--set", "rods[0].radius=-1")
    fails(3, "did you mean", "run", "scene.json", "--set", "duraton=1")
    fails(3, "step is 0", "run", "scene.json", "--set", "step=0")
    fails(3, "cannot write there", "run", "scene.json", "--out", "/proc/nowhere")
    fails(3, "is 1; the scene has 0 joints", "run", "scene.json", "--set",
          'events=[{"time": 0.05, "unjoin": 1}]')
    fails(2, "--until is \"x\"", "run", "scene.json", "--until", "x")
    with open("broken.json", "w", encoding="utf-8") as file:
        file.write('{ "name": ')
    fails(3, "broken.json:1:", "run", "broken.json")
    write("many.json", bundles=[{"count": 1000000000, "rod": {"material": "hair"}}])
    fails(3, "many.json", "run", "many.json")


# ------------------------------------------------------------------------------------------- others

def check_counts_estimates_and_warns():
    done = run("check", write())
    assert done.returncode == 0, done.err
    assert "2 rods of 12 elements" in done.out and "100 steps of 0.002 s" in done.out
    assert "memory about" in done.out and "ms each" in done.out and "no warnings" in done.out
    deep = ["check", "scene.json", "--set", "bodies[0].at=[0.1, 0, 0.005]", "--set",
            "materials.hair.density=1e6", "--set", "output.every=0.001"]
    told = json.loads(run(*deep, "--json").out)
    assert any("begin inside obstacles, at most 0.005 m deep: bodies[0] box in obstacles[1] floor"
               in text for text in told["warnings"]), told["warnings"]
    assert any("density is 1e+06" in text for text in told["warnings"]), told["warnings"]
    assert any("output.every is 0.001 s" in text for text in told["warnings"]), told["warnings"]
    assert run(*deep).returncode == 0 and run(*deep, "--strict").returncode == 1
    assert not os.path.exists("runs")
    write("in.json", rods=[{**SCENE["rods"][1], "root": {"at": [-0.04, 0, 0], "held": "free"}}],
          events=[])
    told = json.loads(run("check", "in.json", "--json").out)
    assert any("begin inside obstacles" in text for text in told["warnings"]), told["warnings"]
    fails(3, "did you mean", "check", "scene.json", "--set", "gravty=1")


def check_says_how_long_a_run_takes_or_that_it_does_not_know():
    write()
    whole = run("check", "scene.json", "--trial", "10000")
    assert "tried 100 of 100 steps" in whole.out, whole.out
    assert re.search(r"^  a run takes (about [\d.]+ s|less than a second) on this machine", whole.out, re.M), whole.out
    told = json.loads(run("check", "scene.json", "--trial", "10000", "--json").out)
    assert told["steps_tried"] == told["steps"] == 100, told
    assert abs(told["seconds"] / (100 * told["seconds_a_step"]) - 1) < 1e-9, told
    few = run("check", "scene.json", "--trial", "0")
    assert "tried 4 of 100 steps" in few.out and "no estimate of a run: these are too few steps" in few.out, few.out
    assert "a run takes about" not in few.out and "less than" not in few.out, few.out
    assert json.loads(run("check", "scene.json", "--trial", "0", "--json").out)["seconds"] is None
    fails(2, "--trial is \"-1\"", "check", "scene.json", "--trial=-1")


CLAIM = {"says": "the box stays on the floor", "measure": "highest", "of": ["box"], "at_most": 0.02,
         "at": 0.02, "unless": ["gravity=[0, 0, 200]"]}


def claims_are_measured_and_leave_nothing_behind():
    write(claims=[CLAIM, {**CLAIM, "says": "it flies", "at_most": -1, "unless": []}])
    done = run("claims", "scene.json")
    assert done.returncode == 1 and "2 claims, 3 figures, 1 wrong" in done.out, (done.out, done.err)
    assert "  holds  the box stays on the floor" in done.out and "  FAILS  it flies" in done.out
    told = [json.loads(line) for line in run("claims", "scene.json", "--json").out.splitlines()]
    assert [figure["role"] for figure in told] == ["itself", "unless", "itself"]
    assert [figure["right"] for figure in told] == [True, True, False]
    assert abs(told[0]["value"] - 0.01) < 1e-4 and told[1]["value"] > 0.03
    assert told[0]["at_least"] is None and told[0]["unit"] == "m" and told[0]["margin"] == 0.002
    done = run("claims", "scene.json", "--itself", "--set", "claims[1].at_most=1")
    assert done.returncode == 0 and "2 figures, 0 wrong" in done.out, (done.out, done.err)
    assert os.listdir(".") == ["scene.json"]


def what_cannot_be_claimed_is_one_clear_sentence():
    fails(2, "which scene?", "claims")
    fails(3, "missing.json: cannot read the scene", "claims", "missing.json")
    write(claims=[{**CLAIM, "of": ["bocks"]}])
    sentence = "claims[0] is about a thing that is not there: no rod, body or obstacle is called"
    fails(3, sentence, "claims", "scene.json")
    done = run("check", "scene.json")
    assert done.returncode == 3 and sentence in done.err, done.err
    assert run("run", "scene.json", "--until", "0.004").returncode == 0  # that takes no notice
    write(claims=[{**CLAIM, "unless": ["bodies[0].mas=3"]}])
    fails(3, "claims[0], bodies[0].mas=3: --set bodies[0].mas=3:", "claims", "scene.json")
    fails(3, "did you mean highest?", "check", "scene.json", "--set", "claims[0].measure=highst")


def rods_that_are_odd_alike_are_one_warning():
    strand = {**SCENE["rods"][0], "length": "4 mm"}
    rods = [{**strand, "name": f"s{k}", "root": {**strand["root"], "at": [0, k, 1]}}
            for k in range(30)]
    rods[7]["contact_radius"] = "2 mm"
    done = run("check", write(rods=rods, events=[]))
    thick = [line for line in done.out.splitlines() if "thick" in line]
    assert thick == ["  warning: rods[7] s7: contact_radius 0.002 m is thick for a length of "
                     "0.004 m, and 29 more rods too"], done.out


def a_run_warns_of_what_begins_in_something_else():
    write()
    deep = ["--until", "0.002", "--set", "bodies[0].at=[0.1, 0, 0.005]"]
    done = run("run", "scene.json", *deep)
    warning = "warning: 4 contacts begin inside obstacles, at most 0.005 m deep: bodies[0] box in " \
        "obstacles[1] floor at ("
    assert done.returncode == 0 and warning in done.err, done.err
    with open("runs/scene/log.txt", encoding="utf-8") as file:
        assert warning in file.read()
    assert "begin inside" not in run("run", "scene.json", *deep, "--resume").err


def every_scene_that_comes_with_it_can_be_checked_and_listed():
    listed = [json.loads(line) for line in run("scenes", "--json").out.splitlines()]
    assert {"knot", "rotating-sphere", "cube-pile"} <= {scene["name"] for scene in listed}
    assert len(listed) >= 30
    assert run("scenes").out.count("\n") == len(listed) + 1
    fewer = {"bundle-drop": "bundles[0].count=19 bundles[1].count=19",
             "fantasy-wig": "hairs[0].count=6 hairs[1].count=4",
             "hair-2000": "hairs[0].count=50", "spaghetti-31": "piles[0].count=7",
             "spaghetti-76": "piles[0].count=7", "wavy-hair": "hairs[0].count=12",
             "wig-curly": "hairs[0].count=12", "wig-straight": "hairs[0].count=50"}
    for scene in listed:
        name = scene["name"]
        assert scene["look"] and scene["rods"] + scene["bodies"] > 0
        assert run("new", name).out == name + ".json\n"
        changes = [part for change in fewer.get(name, "").split() for part in ("--set", change)]
        done = run("check", name + ".json", "--strict", "--json", "--trial", "0", *changes)
        assert done.returncode == 0, (name, done.out, done.err)
        step = json.loads(done.out)["step"]
        done = run("run", name + ".json", "--until", str(3 * step), "--strict", *changes)
        assert done.returncode == 0 and "warning" not in done.err, (name, done.err)
    fails(3, "knot.json exists already; --force replaces it", "new", "knot")
    fails(2, "did you mean knot?", "new", "knott")
    assert run("new", "knot", "--force").returncode == 0
    assert run("new", "knot", "--out", "mine.json").out == "mine.json\n"


def settle_finds_the_equilibrium():
    # a box on a slope stays where tan(20 deg) < mu, to the residual
    write("slope.json", rods=[], events=[], gravity=[3.355, 0, -9.218], friction_default=0.4,
          bodies=[{"name": "box", "shape": "box", "size": [0.2, 0.2, 0.1], "material": "skin",
                   "at": [1, 0, 0.05]}])
    done = run("settle", "slope.json", "--json")
    assert done.returncode == 0, (done.out, done.err)
    told = json.loads(done.out)
    assert told["converged"] and told["residual"] <= 1e-6 and told["active"] >= 3, told
    assert json.loads(run("info", "--json", told["folder"]).out)["frames"] == 1
    fails(3, "exists already", "settle", "slope.json")
    slide = run("settle", "slope.json", "--force", "--set", "friction_default=0.3",
                "--max-steps", "20")
    assert slide.returncode == 1 and "not in equilibrium" in slide.out, slide.out


def info_refuses_what_is_no_run():
    fails(3, "nothing: cannot open: No such file", "info", "nothing")
    os.mkdir("empty")
    fails(3, "empty is no run folder", "info", "empty")
    with open("text.h5", "w", encoding="utf-8") as file:
        file.write("no HDF5")
    fails(3, "text.h5", "info", "text.h5")
    write()
    assert run("run", "scene.json", "--until", "0.1").returncode == 0
    with open("runs/scene/result.h5", "r+b") as file:
        file.truncate(2000)
    fails(3, "result.h5", "info", "runs/scene")


def a_run_is_exported():
    write()
    assert run("run", "scene.json", "--until", "0.06").returncode == 0
    done = run("export", "runs/scene", "--to", "obj")
    assert done.returncode == 0 and done.out == "11 files -> runs/scene/obj\n", (done.out, done.err)
    assert run("export", "runs/scene", "--to", "csv", "--out", "csv").returncode == 0
    assert run("export", "runs/scene", "--to", "csv", "--up", "y", "--out", "turned").returncode == 0
    name, solids = sorted(os.listdir("csv"), key=len)
    tables = []
    for folder in ("csv", "turned"):
        with open(os.path.join(folder, solids), encoding="utf-8") as file:
            tables.append(list(csv.DictReader(file)))
    assert len(tables[0]) == len(tables[1]) > 0 and len(tables[0]) % 11 == 0
    for z_up, y_up in zip(*tables):
        assert z_up["kind"] in ("body", "obstacle")
        assert abs(sum(float(z_up[q]) ** 2 for q in ("qw", "qx", "qy", "qz")) - 1.0) < 1e-12
        assert float(y_up["y"]) == float(z_up["z"]) and float(y_up["z"]) == -float(z_up["y"])
    with open(os.path.join("csv", name), encoding="utf-8") as file:
        assert sum(1 for _ in file) > 11 * 10
    fails(3, "exist", "export", "runs/scene", "--to", "obj")
    assert run("export", "runs/scene", "--to", "obj", "--force", "--frames", "::5").returncode == 0
    fails(2, "to which format?", "export", "runs/scene")
    fails(2, "--to is \"ob\"", "export", "runs/scene", "--to", "ob")
    done = run("export", "runs/scene/result.h5", "--to", "hair", "--frames", "0")
    assert done.out == "1 file -> runs/scene/hair\n", (done.out, done.err)
    assert os.listdir("runs/scene/hair") == ["result-000000.hair"]


def an_export_that_fails_leaves_nothing_behind():
    write()
    assert run("run", "scene.json", "--until", "0.06").returncode == 0
    before = sorted(os.listdir("runs/scene"))
    fails(2, "frame 99 is not there: the run has 11 frames, 0 to 10", "export", "runs/scene", "--to",
          "obj", "--frames", "99")
    fails(2, "--fps is for usda and glb, which are played; hair is not", "export", "runs/scene", "--to",
          "hair", "--fps", "24")
    fails(2, "--sides is for glb", "export", "runs/scene", "--to", "usda", "--sides", "5")
    fails(2, "frame 99 is not there", "export", "runs/scene", "--to", "csv", "--frames", "99", "--out",
          "new/and/deep")
    assert sorted(os.listdir("runs/scene")) == before and not os.path.exists("new")
    os.mkdir("empty")
    fails(2, "frame 99 is not there", "export", "runs/scene", "--to", "csv", "--frames", "99", "--out", "empty")
    assert os.path.exists("empty")  # it was there
    assert run("export", "runs/scene", "--to", "obj", "--frames", "5", "--out", "x").returncode == 0
    fails(3, "x/scene-000005.obj exists already; force (--force) replaces it", "export",
          "runs/scene", "--to", "obj", "--out", "x")


def solution(path):
    """Velocities and impulses that a file of a friction problem holds."""
    try:
        import h5py  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Skip("there is no h5py") from error
    with h5py.File(path, "r") as file:
        return file["solution/u"][()], file["solution/r"][()]


def the_friction_problem_of_a_step_is_dumped_and_solved_alike():
    scene = write(joints=[{"a": {"body": "box"}, "b": {"rod": "loose", "s": 0}}], gravity=[0, 0, -2])
    assert run("run", scene, "--set", "friction_default=0.4").returncode == 0
    done = run("dump", "runs/scene", "--step", "90", "--to", "one.hdf5")
    assert done.returncode == 0 and done.out == "1 problem -> one.hdf5\n", (done.out, done.err)
    done = run("solve", "one.hdf5", "--tol", "1e-12", "--out", "solved")
    assert done.returncode == 0, done.err
    (u, r), (v, s) = solution("one.hdf5"), solution("solved/one.hdf5")
    assert len(u) == len(v) > 3 and abs(r).max() > 0
    assert abs(u - v).max() < 1e-6 * abs(u).max() + 1e-9
    assert abs(r - s).max() < 1e-3 * abs(r).max()
    # from the start, and from a checkpoint, with other threads: the same bytes
    assert run("run", scene, "--set", "friction_default=0.4", "--out", "half", "--until",
               "0.1").returncode == 0
    os.replace("half/checkpoint.bin", "runs/scene/checkpoint.bin")
    done = run("dump", "runs/scene", "--steps", "80:100:10", "--to", "some", "--threads", "2")
    assert done.returncode == 0 and sorted(os.listdir("some")) == [
        "step-000080.hdf5", "step-000090.hdf5", "step-000100.hdf5"], (done.out, done.err)
    with open("one.hdf5", "rb") as one, open("some/step-000090.hdf5", "rb") as other:
        assert one.read() == other.read()


def dump_says_what_it_cannot_do():
    assert run("run", write(duration=0.02)).returncode == 0
    fails(2, "which run?", "dump")
    fails(2, "which steps?", "dump", "runs/scene", "--to", "a.hdf5")
    fails(2, "where to?", "dump", "runs/scene", "--step", "1")
    fails(2, "has 10 steps; there is no step 11", "dump", "runs/scene", "--step", "11", "--to", "a")
    fails(2, "--steps is 3:1", "dump", "runs/scene", "--steps", "3:1", "--to", "a")
    fails(3, "none: cannot open", "dump", "none", "--step", "1", "--to", "a")
    write("empty.json", rods=[], bodies=[], events=[])
    assert run("run", "empty.json", "--out", "empty", "--until", "0.01").returncode == 0
    fails(1, "has no friction problem: nothing touches", "dump", "empty", "--step", "1", "--to",
          "a")
    done = run("dump", "empty", "--steps", "1:3", "--to", "new/none")
    assert done.returncode == 0 and not os.path.exists("new"), done.err
    assert done.out == "0 problems (in 3 steps nothing touches)\n", done.out
    write("a.hdf5")
    fails(3, "a.hdf5 exists already; --force replaces it", "dump", "runs/scene", "--step", "1", "--to",
          "a.hdf5")


HELPERS = ("catches_interrupts", "write", "read", "same", "wait_for", "solution")

if __name__ == "__main__":
    WANTED = sys.argv[2] if len(sys.argv) > 2 else ""
    sys.exit(sentences.main(globals(), WANTED, HELPERS))
