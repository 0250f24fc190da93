#!/usr/bin/python3
"""Drives filum plot and filum compare. Usage: test_cli_look.py FILUM [filter]"""

import csv
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import sentences

FILUM = os.path.abspath(sys.argv[1])
os.environ["OMP_NUM_THREADS"] = "1"

SCENE = {
    "name": "fall & <rest>", "duration": 0.2, "step": "2 ms",
    "materials": {"hair": {}, "floor": {}}, "friction_default": 0.3,
    "rods": [{"name": "strand", "model": "der", "elements": 8, "material": "hair",
              "length": "8 cm", "radius": "0.5 mm",
              "root": {"at": [0, 0, 0.01], "along": [1, 0, 0], "held": "free"}}],
    "obstacles": [{"name": "floor", "shape": "plane", "material": "floor"}],
    "output": {"every": "10 ms"},
}


def run(*arguments):
    done = subprocess.run([FILUM, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def fails(status, text, *arguments):
    got, _, err = run(*arguments)
    assert got == status, (got, err)
    assert text in err, err
    assert err.count("\n") == 1, err


def simulate(name, *changes):
    with open("scene.json", "w", encoding="utf-8") as file:
        json.dump(SCENE, file)
    changes = [word for change in changes for word in ("--set", change)]
    status, _, err = run("run", "scene.json", "--out", name, *changes)
    assert status == 0, err


def every_quantity_is_a_picture_and_a_table():
    simulate("a")
    for name in ("energy", "contacts", "iterations", "residual", "penetration", "dissipated",
                 "seconds", "reaction"):
        assert run("plot", "a", name)[0] == 0
        root = ElementTree.parse(f"{name}.svg").getroot()
        assert root.tag.endswith("svg") and len(list(root.iter())) > 10
        text = ElementTree.tostring(root, encoding="unicode")
        assert "NaN" not in text and "inf" not in text
        assert run("plot", "a", name, "-o", f"{name}.png")[0] == 0
        with open(f"{name}.png", "rb") as file:
            head = file.read(24)
        assert head[:8] == b"\x89PNG\r\n\x1a\n" and head[16:] == b"\0\0\x07\x80\0\0\x04\x38"
        assert run("plot", "a", name, "-o", f"{name}.csv")[0] == 0
        with open(f"{name}.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == (21 if name in ("energy", "reaction") else 100)
        assert abs(float(rows[-1]["time"]) - 0.2) < 1e-9


def what_is_zero_all_the_time_has_a_scale_that_can_be_read():
    simulate("a", "duration=0.004", "rods[0].root.at[2]=1 m")
    for name in ("contacts", "penetration", "residual", "dissipated"):
        assert run("plot", "a", name)[0] == 0
        words = [node.text for node in ElementTree.parse(f"{name}.svg").getroot().iter()
                 if node.tag.endswith("text")]
        assert "1" in words or "1e0" in words, words
        assert not any("e-" in word and word != "1e-1" for word in words), words


def the_numbers_of_a_table_are_those_of_the_run():
    simulate("a")
    run("plot", "a", "energy", "-o", "energy.csv")
    run("plot", "a", "dissipated", "-o", "dissipated.csv")
    with open("energy.csv", encoding="utf-8") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    for row in rows:
        parts = sum(value for key, value in row.items() if key not in ("time", "sum"))
        assert abs(parts - row["sum"]) < 1e-7 * max(abs(row["gravity"]), 1e-9)
    assert rows[0]["kinetic"] == 0 and rows[-1]["sum"] < rows[0]["sum"]
    with open("dissipated.csv", encoding="utf-8") as file:
        lost = [float(row["so far"]) for row in csv.DictReader(file)]
    assert all(b >= a for a, b in zip(lost, lost[1:])) and lost[-1] > 0


def a_held_end_carries_the_weight_of_its_rod():
    scene = {"duration": 0.004, "step": "1 ms", "materials": {"m": {}}, "friction_default": 0.3,
             "output": {"every": "1 ms"},
             "rods": [{"model": "der", "elements": 4, "length": 1, "radius": "1 cm",
                       "root": {"along": [0, 0, -1]}},
                      {"model": "clothoid", "elements": 4, "length": 1, "radius": "1 cm",
                       "root": {"at": [1, 0, 0], "along": [0, 0, -1]}}]}
    with open("held.json", "w", encoding="utf-8") as file:
        json.dump(scene, file)
    assert run("run", "held.json", "--out", "held")[0] == 0
    assert run("plot", "held", "reaction", "-o", "held.csv")[0] == 0
    with open("held.csv", encoding="utf-8") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    weight = 2 * 1300 * math.pi * 1e-4 * 9.81
    assert len(rows) == 5 and abs(rows[0]["sum along z"] - weight) < 1e-5 * weight, rows[0]
    assert abs(rows[-1]["sum along x"]) < 1e-6 * weight
    assert abs(rows[0]["largest of an end"] - weight / 2) < 1e-5 * weight


def what_cannot_be_plotted_is_one_clear_sentence():
    simulate("a")
    fails(2, "did you mean energy?", "plot", "a", "enrgy")
    fails(2, "it must end in .svg", "plot", "a", "energy", "-o", "x.pdf")
    fails(3, "no-run", "plot", "no-run", "energy")
    assert run("plot", "a", "energy")[0] == 0
    fails(3, "energy.svg exists already; --force replaces it", "plot", "a", "energy")
    assert run("plot", "a", "energy", "--force")[0] == 0
    fails(3, "cannot write", "plot", "a", "energy", "-o", "nowhere/x.svg")


def what_does_not_fit_leaves_the_old_file():
    simulate("a")
    for name in ("x.svg", "x.csv", "x.png"):
        with open(name, "w", encoding="utf-8") as file:
            file.write("old")
        done = subprocess.run([FILUM, "plot", "a", "energy", "-o", name, "--force"], check=False,
                              capture_output=True, preexec_fn=lambda: resource.setrlimit(
                                  resource.RLIMIT_FSIZE, (512, 512)))
        assert done.returncode != 0
        with open(name, encoding="utf-8") as file:
            assert file.read() == "old"
        assert [entry for entry in os.listdir(".") if "tmp" in entry] == []


def a_run_is_the_same_as_itself_and_as_its_repetition():
    simulate("a")
    simulate("b")
    status, out, _ = run("compare", "a", "b", "--json", "--tolerance", "0")
    found = json.loads(out)
    assert status == 0 and found["same_frames"] == found["matched"] == 21
    assert found["largest"] == 0 and len(found["frames"]) == 21


def runs_that_differ_are_told_apart_by_how_far():
    simulate("a")
    simulate("b", "rods[0].root.at[1]=1 mm")
    status, out, _ = run("compare", "a", "b", "--json")
    found = json.loads(out)
    assert status == 0
    assert abs(found["frames"][0]["largest"] - 1e-3) < 1e-12
    assert abs(found["frames"][0]["mean"] - 1e-3) < 1e-12
    assert abs(found["frames"][0]["part"] - 1e-3 / 0.08) < 1e-9
    assert run("compare", "a", "b", "--tolerance", "0.0001")[0] == 1
    assert run("compare", "a", "b", "--tolerance", "0.1")[0] == 0
    assert "furthest apart" in run("compare", "a", "b")[1]


def runs_of_other_resolutions_and_lengths_are_compared_where_they_can_be():
    simulate("a")
    simulate("b", "rods[0].elements=16", "duration=0.1")
    found = json.loads(run("compare", "a", "b", "--json")[1])
    assert found["matched"] == 11 and found["only_a"] == 10 and found["only_b"] == 0
    assert found["frames"][0]["largest"] < 1e-12  # the same straight rod


def frames_that_only_one_run_has_are_a_difference():
    simulate("a")
    simulate("b", "duration=0.1")
    assert run("compare", "a", "b")[0] == 0
    status, _, err = run("compare", "a", "b", "--tolerance", "1")
    assert status == 1 and "10 frames of a are not in b" in err, (status, err)


def what_differs_in_the_rods_of_two_runs_is_said():
    simulate("a")
    simulate("b", 'rods[0].name="rope"', "rods[0].length=9 cm", "rods[0].elements=4")
    _, _, err = run("compare", "a", "b")
    assert '1 of 1 rod has other names, as of other scenes: rods[0] is "strand" in a and "rope" ' \
        "in b" in err, err
    assert "rods[0] strand is 0.08 m long in a and 0.09 m in b" in err, err
    assert "rods[0] strand has 17 points in a and 13 in b" in err, err
    simulate("c")
    assert run("compare", "a", "c")[2] == ""


def bodies_are_compared_as_well():
    ball = 'bodies=[{"name": "ball", "shape": "sphere", "radius": 0.01, "material": "floor", ' \
        '"at": [0, 1, %s]}]'
    simulate("a", ball % 0.05)
    simulate("b", ball % 0.06)
    found = json.loads(run("compare", "a", "b", "--json")[1])
    assert abs(found["frames"][0]["largest"] - 0.01) < 1e-12 and found["same_frames"] == 0
    assert "on ball" in run("compare", "a", "b")[1]
    simulate("c")
    fails(3, "a has 1 body and c has 0; runs of other scenes cannot be compared", "compare", "a", "c")


def what_is_no_number_is_a_difference():
    try:
        import h5py  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise sentences.Skip("there is no h5py") from error
    SCENE["bodies"] = [{"name": "ball", "shape": "sphere", "radius": "1 cm", "at": [0, 1, 0.05],
                        "material": "hair"}]
    simulate("a")
    del SCENE["bodies"]
    for name in ("rods/position", "rods/velocity", "rigids/position", "rigids/quaternion", "time"):
        shutil.copy("a/result.h5", "b.h5")
        with h5py.File("b.h5", "r+", libver="latest") as file:
            if name == "time":
                frames = file["frames"][:]
                frames["time"][3] = math.nan
                file["frames"][:] = frames
            else:
                file[name][3, 0] = math.nan
        for pair in (("a", "b.h5"), ("b.h5", "a"), ("b.h5", "b.h5")):
            status, out, err = run("compare", *pair, "--tolerance", "0")
            assert status == 1, (name, pair, out, err)
            assert "21 of them the same" not in out, (name, out)
            assert ("not finite" in err) == (name != "time"), (name, err)


def one_bit_of_anything_is_a_difference():
    """Every field of every data set that frames and steps have, one bit of it turned over."""
    try:
        import h5py  # pylint: disable=import-outside-toplevel
        import numpy  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise sentences.Skip("there is no h5py") from error
    SCENE["bodies"] = [{"name": "ball", "shape": "sphere", "radius": "1 cm", "at": [0, 1, 0.01],
                        "material": "hair", "velocity": [0.1, 0, 0]}]
    simulate("a")
    del SCENE["bodies"]
    assert run("compare", "a", "a", "--tolerance", "0")[0] == 0

    def flip(array, field):
        rows = array[:]
        part = rows if field is None else rows[field]
        bytes_of = numpy.ascontiguousarray(part).view(numpy.uint8).reshape(part.shape[0], -1)
        bytes_of[part.shape[0] // 2, 0] ^= 1
        changed = bytes_of.view(part.dtype).reshape(part.shape)
        if field is None:
            rows = changed
        else:
            rows[field] = changed
        array[:] = rows

    with h5py.File("a/result.h5", "r") as file:
        places = [("steps", field) for field in file["steps"].dtype.names
                  if not field.startswith("seconds")]
        places += [("frames", field) for field in file["frames"].dtype.names
                   if field not in ("first_contact", "contact_count")]
        places += [("contacts", field) for field in file["contacts"].dtype.names
                   if not field.endswith(("kind", "index", "state"))]
        for group in ("rods", "rigids", "obstacles"):
            places += [(group + "/" + name, None) for name in file[group]
                       if name not in ("info", "points", "lines")]
        assert len(places) > 40 and len(file["contacts"]) > 10, places
    for name, field in places:
        shutil.copy("a/result.h5", "b.h5")
        with h5py.File("b.h5", "r+", libver="latest") as file:
            flip(file[name], field)
        status, _, err = run("compare", "a", "b.h5", "--tolerance", "0")
        assert status == 1 and ("not the same to the bit" in err or "in what came of it" in err), \
            (name, field, status, err)


def letters_that_the_font_lacks_leave_a_mark():
    sizes = []
    for name in ("a", "a\u4e2d\u00f8", "a##"):
        SCENE["name"] = name
        simulate(name)
        SCENE["name"] = "fall & <rest>"
        assert run("plot", name, "contacts", "-o", "x.png", "--force")[0] == 0
        sizes.append(os.path.getsize("x.png"))
    assert sizes[1] > sizes[0] and sizes[1] == sizes[2], sizes  # two boxes, whatever the letters


def what_cannot_be_compared_is_one_clear_sentence():
    simulate("a")
    fails(2, "which two runs?", "compare", "a")
    fails(3, "no-run", "compare", "a", "no-run")


HELPERS = ("run", "fails", "simulate")

if __name__ == "__main__":
    WANTED = sys.argv[2] if len(sys.argv) > 2 else ""
    sys.exit(sentences.main(globals(), WANTED, HELPERS))
