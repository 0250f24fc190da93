#!/usr/bin/python3
"""Kills runs and goes on with them. Usage: test_cli_kill.py FILUM [KILLER [filter]]

KILLER is the library of kill_at.c: it kills the program at the n-th call that changes a file, while
it saves as well as anywhere else. Whatever n is, the run can be gone on with, ends with the bits of
one that was never killed, and leaves nothing behind but what such a run leaves."""

import json
import os
import random
import shutil
import subprocess
import sys
import time

import sentences
from sentences import Skip

FILUM = os.path.abspath(sys.argv[1])
KILLER = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] != "none" else ""
run, fails = sentences.program(FILUM)
os.environ["OMP_NUM_THREADS"] = "1"

# a ball on a belt that runs, a strand that is swung over it, a box that goes to sleep
SCENE = {
    "name": "small", "duration": 0.06, "step": "2 ms", "friction_default": 0.3,
    "materials": {"m": {"young": 1e7, "density": 1000}},
    "contact": {"sleep_speed": 0.01, "sleep_after": "10 ms"},
    "rods": [{"name": "strand", "model": "der", "elements": 4, "length": "10 cm", "radius": "1 mm",
              "root": {"at": [0, 0, 0.05], "motion": {"swing": {"at": [0.01, 0, 0],
                                                                "period": 0.07}}}}],
    "bodies": [{"name": "ball", "shape": "sphere", "radius": "1 cm", "at": [0.05, 0, 0.0102],
                "velocity": [0, 0, -0.3]},
               {"name": "box", "shape": "box", "size": [0.02, 0.02, 0.02], "at": [0, 0.5, -0.09]}],
    "obstacles": [{"shape": "plane", "motion": {"velocity": [0.3, 0.1, 0]}},
                  {"shape": "box", "size": [0.2, 0.2, 0.2], "at": [0, 0.5, -0.2]}],
    "events": [{"time": 0.03, "rod": "strand", "release": "root"}],
    "output": {"every": "4 ms", "save": "6 ms"}}
FILES = ["checkpoint.bin", "log.txt", "result.h5", "run.json", "scene.json"]


def prepare(_):
    with open("scene.json", "w", encoding="utf-8") as file:
        json.dump(SCENE, file)


def start(*options, **more):
    return subprocess.run([FILUM, "run", "scene.json", "--out", "part", *options], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120, **more)


def killed_at(call, *options):
    """Whether the run was killed at that call, and not done before."""
    done = start(*options, env={**os.environ, "LD_PRELOAD": KILLER, "KILL_AT": str(call)})
    assert done.returncode in (0, -9), (call, done.returncode, done.stderr)
    return done.returncode == -9


def finish(told):
    """Go on to the end, as what the program says tells: the run is whole then."""
    done = start("--resume")
    for _ in range(2):
        if done.returncode == 3 and b"without --resume a run begins" in done.stderr:
            done = start()
        elif done.returncode == 3 and b"--force replaces" in done.stderr:
            done = start("--force")
    assert done.returncode == 0, (told, done.returncode, done.stderr)
    assert sorted(os.listdir("part")) == FILES, (told, os.listdir("part"))
    done = run("compare", "whole", "part", "--tolerance", "0")
    assert done.returncode == 0, (told, done.err)
    with open("scene.json", "rb") as one, open("part/scene.json", "rb") as other:
        assert one.read() == other.read(), told
    shutil.rmtree("part")


def make_whole():
    assert run("run", "scene.json", "--out", "whole").returncode == 0


def count_calls():
    if not KILLER:
        raise Skip("there is no library that kills")
    start(env={**os.environ, "LD_PRELOAD": KILLER, "KILL_AT": "0", "KILL_COUNT": "calls"})
    with open("calls", encoding="utf-8") as file:
        calls = int(file.read())
    shutil.rmtree("part")
    return calls


def a_run_killed_at_any_call_goes_on_to_the_bit():
    make_whole()
    calls = count_calls()
    assert calls > 100, calls
    every = max(1, calls // 20)
    for call in list(range(1, 12)) + list(range(12, calls + 1, every)):
        assert killed_at(call), call
        finish(call)


def one_that_is_killed_again_and_again_goes_on_too():
    make_whole()
    calls = count_calls()
    dice = random.Random(5)
    for turn in range(5):
        kills = 0
        killed_at(dice.randrange(30, calls))
        while kills < 4 and os.path.exists("part/checkpoint.bin") and \
                killed_at(dice.randrange(1, 60), "--resume"):
            kills += 1
        finish((turn, kills))


def what_a_killed_writer_left_is_gone_after_the_next_start():
    make_whole()
    call, left = count_calls() // 2, []
    while not left:  # until it is killed while it saves
        shutil.rmtree("part", ignore_errors=True)
        call += 1
        assert killed_at(call)
        left = [name for name in os.listdir("part") if name.endswith(".tmp")]
    assert left[0].startswith("checkpoint.bin."), left
    finish(call)


def one_that_is_killed_at_any_time_goes_on_too():
    make_whole()
    dice = random.Random(7)
    for turn in range(8):
        with subprocess.Popen([FILUM, "run", "scene.json", "--out", "part"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            time.sleep(dice.uniform(0.0, 0.05))
            child.kill()
        finish(turn)


HELPERS = ("prepare", "start", "killed_at", "finish", "make_whole", "count_calls", "sentences")

if __name__ == "__main__":
    sys.exit(sentences.main(globals(), sys.argv[3] if len(sys.argv) > 3 else "", HELPERS, prepare))
