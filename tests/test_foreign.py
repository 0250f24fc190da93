#!/usr/bin/python3
"""Exports as the programs of others read them, and .hair files as scenes take them.

Usage: test_foreign.py FILUM MAKE_RESULTS FOLDER [filter]

The readers in foreign/package.json are installed into FOLDER, once.
"""

import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
from time import sleep

import sentences
from sentences import Skip

FILUM, MAKE, FOLDER = (os.path.abspath(path) for path in sys.argv[1:4])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign")
RODS, POINTS, FRAMES = 3, 8, 4


def call(*arguments, timeout=100):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, check=False)


def modules():
    """The folder of the npm packages, installed when they are missing or others are wanted."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise Skip("node or npm is missing")
    os.makedirs(FOLDER, exist_ok=True)
    lock = os.path.join(FOLDER, "package-lock.json")
    with open(os.path.join(SOURCE, "package-lock.json"), encoding="utf-8") as file:
        wanted = file.read()
    found = ""
    if os.path.exists(lock) and os.path.exists(os.path.join(FOLDER, "node_modules")):
        with open(lock, encoding="utf-8") as file:
            found = file.read()
    if found != wanted:
        for name in ("package.json", ".npmrc", "package-lock.json"):
            shutil.copyfile(os.path.join(SOURCE, name), os.path.join(FOLDER, name))
        done = call("npm", "ci", "--prefix", FOLDER, "--ignore-scripts", timeout=250)
        if done.returncode != 0:
            os.remove(lock)
            raise Skip(f"npm cannot install: {done.stderr.strip().splitlines()[-1:]}")
    return os.path.join(FOLDER, "node_modules")


def node(script, file, *more):
    done = call("node", os.path.join(SOURCE, script), modules(), file, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def value(frame, array, k):
    """fake_value() of result_fake.h."""
    return math.sin(0.1 * frame + 0.01 * k + array)


def export(folder, kind, *more):
    """The fake run of make_results in another format."""
    path, out = folder + "/result.h5", folder + "/out"
    done = call(MAKE, "write", path, str(FRAMES), str(RODS), str(POINTS), "5")
    assert done.returncode == 0, done.stderr
    os.mkdir(out)
    done = call(MAKE, "export", path, kind, out, *more)
    assert done.returncode == 0, done.stderr
    return out


SCENE = {
    "name": "all kinds", "duration": 0.04, "step": 0.005, "output": {"every": 0.01},
    "materials": {"hair": {}}, "friction_default": 0.3,
    "obstacles": [
        {"name": "floor", "shape": "plane", "at": [0, 0, -1]},
        {"name": "head", "shape": "sphere", "radius": 0.1,
         "motion": {"spin": [0, 0, 3], "velocity": [0.1, 0, 0]}},
        {"name": "bar", "shape": "capsule", "radius": 0.02, "length": 0.2, "at": [0, 1, 0]},
        {"name": "pin 2", "shape": "cylinder", "radius": 0.02, "length": 0.2, "at": [0, 2, 0]},
        {"name": "pin/2", "shape": "box", "size": [0.1, 0.2, 0.3], "at": [0, 3, 0]},
        {"shape": "mesh", "file": "stone.obj", "at": [0, 4, 0]}],
    "bodies": [{"shape": "sphere", "radius": 0.05, "at": [1, 0, 0]},
               {"shape": "sphere", "radius": 0.05, "at": [2, 0, 0]},
               {"name": "brick", "shape": "box", "size": [0.1, 0.2, 0.3], "at": [3, 0, 0]}],
    "rods": [{"name": "lone", "root": {"at": [0, 0, 1]}}],
    "hairs": [{"name": "wig", "count": 5, "on": "head", "rod": {"elements": 3, "length": 0.1}}],
}
STONE = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


def simulate(folder, scene=None):
    """A run with solids of all shapes, two groups of rods, and names that are the same but for
    what is not allowed in USD."""
    with open(folder + "/scene.json", "w", encoding="utf-8") as file:
        json.dump(scene or SCENE, file)
    with open(folder + "/stone.obj", "w", encoding="utf-8") as file:
        file.write(STONE)
    done = call(FILUM, "run", folder + "/scene.json", "--out", folder + "/run", "--threads", "1")
    assert done.returncode == 0, done.stderr
    return folder + "/run"


def export_run(run, kind, *more):
    done = call(FILUM, "export", run, "--to", kind, *more)
    assert done.returncode == 0, done.stderr
    return f"{run}/{kind}"


# -------------------------------------------------------------------------------------------- USD

def numbers(text):
    return [float(number) for number in re.findall(r"-?[\d.]+(?:e[-+]?\d+)?", text)]


def block(text, opening):
    """What stands in the braces after `opening`."""
    at = text.index("{", text.index(opening))
    depth, end = 1, at + 1
    while depth > 0:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[at + 1:end - 1]


def samples(prim, name):
    """The time samples of an attribute: {time code: numbers}."""
    lines = block(prim, name + ".timeSamples").strip().splitlines()
    return {float(line.split(":")[0]): numbers(line.split(":", 1)[1]) for line in lines}


def tinyusdz_reads_the_curves_of_a_run(folder):
    text = node("read_usda.mjs", export(folder, "usda") + "/run.usda")
    for line in ("metersPerUnit = 1", 'upAxis = "Z"', "timeCodesPerSecond = 100",
                 "startTimeCode = 0", "endTimeCode = 3", 'defaultPrim = "World"'):
        assert line in text, line
    rod = block(text, 'def BasisCurves "rod_2"')
    assert 'uniform token type = "linear"' in rod
    assert numbers(re.search(r"curveVertexCounts = (.*)", rod)[1]) == [POINTS]
    assert numbers(re.search(r"widths = (.*?) \(", rod)[1]) == [0.002] * POINTS
    for name, array in (("points", 0), ("velocities", 2)):
        found = samples(rod, name)
        assert sorted(found) == [0, 1, 2, 3]
        for k, row in found.items():
            want = [value(k, array, 6 * POINTS + j) for j in range(3 * POINTS)]
            assert all(abs(a - b) < 1e-7 for a, b in zip(row, want)) and len(row) == len(want)
    box, points = samples(rod, "extent")[2], samples(rod, "points")[2]
    for axis in range(3):
        assert abs(box[axis] - (min(points[axis::3]) - 0.001)) < 1e-7
        assert abs(box[3 + axis] - (max(points[axis::3]) + 0.001)) < 1e-7
    assert numbers(re.search(r"curveVertexCounts = (.*)", block(text, '"rod_0"'))[1]) == [4, 4]


def usd_of_a_long_run_says_what_that_of_a_part_says(folder):
    path = folder + "/long.h5"  # 69 MB of numbers, too many to be kept
    assert call(MAKE, "write", path, "48", "4", "5000", "0").returncode == 0
    found = []
    for frames in (":", ":3"):
        out = folder + "/usda" + frames
        assert call(FILUM, "export", path, "--to", "usda", "--out", out, "--frames",
                    frames).returncode == 0
        with open(out + "/long.usda", encoding="utf-8") as file:
            found.append([line for line in file if line.startswith(" " * 16 + "2: ")])
    assert len(found[0]) > 4 * 3  # points, velocities and extents; the ribbon has normals
    assert found[0] == found[1]


def usd_can_be_shown_slowly_and_with_y_up(folder):
    text = node("read_usda.mjs", export(folder, "usda", "y", "slow") + "/run.usda")
    assert 'upAxis = "Y"' in text and "timeCodesPerSecond = 10\n" in text
    rod = block(text, 'def BasisCurves "rod_2"')
    x = [value(1, 0, 6 * POINTS + j) for j in range(3)]
    v = [value(1, 2, 6 * POINTS + j) for j in range(3)]
    turned = [x[0], x[2], -x[1], 0.1 * v[0], 0.1 * v[2], -0.1 * v[1]]  # a tenth of real time
    found = samples(rod, "points")[1][:3] + samples(rod, "velocities")[1][:3]
    assert all(abs(a - b) < 1e-7 for a, b in zip(found, turned)), (found, turned)


def tinyusdz_reads_solids_of_all_shapes(folder):
    text = node("read_usda.mjs", export_run(simulate(folder), "usda") + "/run.usda")
    head = block(text, 'def Sphere "head"')
    assert "double radius = 0.1" in head
    moved = samples(head, "xformOp:translate")
    assert len(moved) == 5 and abs(moved[4.0][0] - 0.004) < 1e-12
    turned = samples(head, "xformOp:orient")[4.0]
    assert abs(turned[0] - math.cos(0.06)) < 1e-9 and abs(turned[3] - math.sin(0.06)) < 1e-9
    bar = block(text, 'def Capsule "bar"')
    assert 'axis = "X"' in bar and "height = 0.2" in bar and "timeSamples" not in bar
    assert "height = 0.2" in block(text, 'def Cylinder "pin_2"')
    box = block(text, 'def Cube "pin_2__7"')
    assert "xformOp:scale = (0.1, 0.2, 0.3)" in box
    assert len(numbers(re.search(r"faceVertexIndices = (.*)", block(text, '"obstacle"'))[1])) == 12
    assert 'def Mesh "floor"' in text and 'def Sphere "body__1"' in text
    wig = block(text, 'def BasisCurves "wig"')
    assert len(numbers(re.search(r"curveVertexCounts = (.*)", wig)[1])) == 5
    assert 'def BasisCurves "lone"' in text


# ------------------------------------------------------------------------------------------- glTF

def read_glb(path):
    """JSON and data of a binary glTF file."""
    with open(path, "rb") as file:
        magic, version, length, size, kind = struct.unpack("<4sIII4s", file.read(20))
        about = json.loads(file.read(size))
        more, data_kind = struct.unpack("<I4s", file.read(8))
        data = file.read()
    assert (magic, version, kind, data_kind) == (b"glTF", 2, b"JSON", b"BIN\0")
    assert length == 28 + size + more and len(data) == more
    return about, data


def array(glb, index):
    about, data = glb
    accessor = about["accessors"][index]
    view = about["bufferViews"][accessor["bufferView"]]
    code = {5126: "f", 5125: "I"}[accessor["componentType"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
    flat = struct.unpack_from(f"<{width * accessor['count']}{code}", data, view["byteOffset"])
    return [flat[k:k + width] for k in range(0, len(flat), width)]


def is_valid(path):
    report = json.loads(node("check_glb.mjs", path))
    issues = report["issues"]
    assert issues["numErrors"] == 0 and issues["numWarnings"] == 0, issues["messages"][:5]
    return report["info"]


def khronos_finds_nothing_wrong_with_glb(folder):
    info = is_valid(export(folder, "glb") + "/run.glb")
    assert info["animationCount"] == 1 and info["hasMorphTargets"]
    run = simulate(folder)
    info = is_valid(export_run(run, "glb") + "/run.glb")
    assert info["animationCount"] == 1 and info["drawCallCount"] == 2 + 8
    info = is_valid(export_run(run, "glb", "--frames", "-1", "--force", "--sides", "3")
                    + "/run.glb")
    assert info["animationCount"] == 0 and not info["hasMorphTargets"]


def look_outside(places, normals, triangles):
    """Triangles are anticlockwise seen from outside."""
    for t in range(0, len(triangles), 3):
        a, b, c = (places[triangles[t + j][0]] for j in range(3))
        e, f = [b[j] - a[j] for j in range(3)], [c[j] - a[j] for j in range(3)]
        cross = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]]
        outside = [sum(normals[triangles[t + j][0]][k] for j in range(3)) for k in range(3)]
        assert sum(p * q for p, q in zip(cross, outside)) > 0, t


# a ribbon of 500 x 200 x 2 mm along x, lying flat, and a round rod of the same name beside it
FLAT = {
    "duration": 0.01, "step": 0.005, "gravity": [0, 0, 0], "friction_default": 0.3,
    "rods": [{"name": "band/1", "model": "clothoid", "elements": 1, "length": 0.5,
              "section": {"kind": "elliptic", "radii": [0.1, 0.001]}, "self_contact": "off",
              "root": {"at": [0, 0, 1], "along": [1, 0, 0], "up": [0, 0, 1]}},
             {"name": "band/2", "length": 0.5, "radius": 0.001, "root": {"at": [0, 1, 1]}}]}


def ribbons_of_glb_are_as_wide_and_thick_as_they_are(folder):
    path = export_run(simulate(folder, FLAT), "glb", "--frames", "0", "--up", "z") + "/run.glb"
    is_valid(path)
    glb = read_glb(path)
    band = next(mesh for mesh in glb[0]["meshes"] if mesh["name"] == "band")["primitives"][0]
    places = array(glb, band["attributes"]["POSITION"])
    check_size(places, ((0, 0.5), (-0.1, 0.1), (0.999, 1.001)))
    look_outside(places, array(glb, band["attributes"]["NORMAL"]), array(glb, band["indices"]))
    assert len(glb[0]["meshes"]) == 2  # the round one is a tube of its own


def points_of_mesh(prim, name="points", k=0.0):
    """Three numbers for each vertex of a mesh in USD."""
    flat = samples(prim, name)[k]
    return [flat[i:i + 3] for i in range(0, len(flat), 3)]


def check_size(places, wanted):
    for axis, (low, high) in enumerate(wanted):
        values = [place[axis] for place in places]
        assert abs(min(values) - low) < 1e-6 and abs(max(values) - high) < 1e-6, (axis, values)


def ribbons_of_usd_are_meshes_as_wide_and_thick_as_they_are(folder):
    text = node("read_usda.mjs", export_run(simulate(folder, FLAT), "usda") + "/run.usda")
    band = block(text, 'def Mesh "band"')
    places = points_of_mesh(band)
    check_size(places, ((0, 0.5), (-0.1, 0.1), (0.999, 1.001)))
    box = samples(band, "extent")[0.0]
    check_size([box[:3], box[3:]], ((0, 0.5), (-0.1, 0.1), (0.999, 1.001)))
    corners = [int(c) for c in numbers(re.search(r"faceVertexIndices = (.*)", band)[1])]
    normals = points_of_mesh(band, "normals")
    look_outside(places, normals, [[c] for c in corners])
    assert "widths" in block(text, 'def BasisCurves "band__1"')


# half-axes of 12 and 8 mm: neither round nor a ribbon
OVAL = {**FLAT, "rods": [{"name": "oval", "model": "clothoid", "elements": 2, "length": 0.5,
                          "section": {"kind": "elliptic", "radii": [0.012, 0.008]},
                          "self_contact": "off",
                          "root": {"at": [0, 0, 1], "along": [1, 0, 0], "up": [0, 0, 1]}}]}


def elliptic_rods_of_glb_and_usd_are_elliptic(folder):
    run = simulate(folder, OVAL)
    path = export_run(run, "glb", "--frames", "0", "--up", "z", "--sides", "16") + "/run.glb"
    is_valid(path)
    glb = read_glb(path)
    oval = glb[0]["meshes"][0]["primitives"][0]
    places, normals = (array(glb, oval["attributes"][name]) for name in ("POSITION", "NORMAL"))
    check_size(places, ((0, 0.5), (-0.012, 0.012), (0.992, 1.008)))
    look_outside(places, normals, array(glb, oval["indices"]))
    text = node("read_usda.mjs", export_run(run, "usda") + "/run.usda")
    places = points_of_mesh(block(text, 'def Mesh "oval"'))
    check_size(places, ((0, 0.5), (-0.012, 0.012), (0.992, 1.008)))
    for x, y, z in places[:-2]:  # all of its rings lie on the ellipse
        assert abs((y / 0.012) ** 2 + ((z - 1) / 0.008) ** 2 - 1) < 1e-4, (x, y, z)


def ribbons_stay_flat_where_there_are_many_names(folder):
    band = next(rod for rod in FLAT["rods"] if "section" in rod)
    plain = {key: value for key, value in band.items() if key != "section"}
    rods = [{**(plain if k % 7 == 3 else band), "name": f"{k}", "root": {"at": [0, k, 1]}}
            for k in range(70)]
    run = simulate(folder, {**FLAT, "rods": rods})
    text = node("read_usda.mjs", export_run(run, "usda", "--frames", "0") + "/run.usda")
    flat, round_ = block(text, 'def Mesh "ribbons"'), block(text, 'def BasisCurves "rods"')
    places = points_of_mesh(flat)
    assert len({round(y) for _, y, _ in places}) == 60 and max(z for *_, z in places) < 1.0011
    assert len(numbers(re.search(r"curveVertexCounts = (.*)", round_)[1])) == 10
    path = export_run(run, "glb", "--frames", "0") + "/run.glb"
    is_valid(path)
    assert {mesh["name"] for mesh in read_glb(path)[0]["meshes"]} == {"ribbons", "rods"}


def tubes_of_glb_are_as_thick_as_rods_and_move_with_them(folder):
    glb = read_glb(export(folder, "glb", "z") + "/run.glb")
    rod = next(mesh for mesh in glb[0]["meshes"] if mesh["name"] == "rod_2")["primitives"][0]
    places = array(glb, rod["attributes"]["POSITION"])
    normals = array(glb, rod["attributes"]["NORMAL"])
    sides = (len(places) - 2) // POINTS
    assert sides == 8 and len(rod["targets"]) == FRAMES - 1
    for k in range(FRAMES):
        shift = array(glb, rod["targets"][k - 1]["POSITION"]) if k > 0 else None
        for i in range(POINTS):
            x = [value(k, 0, 3 * (2 * POINTS + i) + c) for c in range(3)]
            for j in range(i * sides, (i + 1) * sides):
                place = [places[j][c] + (shift[j][c] if shift else 0) for c in range(3)]
                assert abs(math.dist(place, x) - 0.001) < 1e-6
    look_outside(places, normals, array(glb, rod["indices"]))
    motion = glb[0]["animations"][0]
    times = array(glb, motion["samplers"][0]["input"])
    assert all(abs(t[0] - 0.01 * k) < 1e-7 for k, t in enumerate(times))


def y_is_up_in_glb_and_solids_move_as_nodes(folder):
    glb = read_glb(export_run(simulate(folder), "glb") + "/run.glb")
    nodes = glb[0]["nodes"]
    lone = glb[0]["meshes"][nodes[0]["mesh"]]["primitives"][0]
    assert nodes[0]["name"] == "lone" and nodes[1]["name"] == "wig"
    assert abs(array(glb, lone["attributes"]["POSITION"])[0][1] - 1) < 1e-3
    head = [node["name"] for node in nodes].index("head")
    moves = {channel["target"]["path"]: channel["sampler"]
             for channel in glb[0]["animations"][0]["channels"]
             if channel["target"]["node"] == head}
    assert sorted(moves) == ["rotation", "translation"]
    last = array(glb, glb[0]["animations"][0]["samplers"][moves["translation"]]["output"])[-1]
    assert abs(last[0] - 0.004) < 1e-6
    assert nodes[2]["mesh"] == nodes[3]["mesh"] != nodes[4]["mesh"]  # two equal balls, a brick


def three_js_plays_the_motion(folder):
    path = export(folder, "glb", "z") + "/run.glb"
    for time in (0.0, 0.01, 0.025, 0.03):
        meshes = json.loads(node("play_glb.mjs", path, str(time)))
        k = min(int(time / 0.01 + 1e-9), FRAMES - 2)
        part = time / 0.01 - k
        for i in range(POINTS):  # between frames the middle of a ring goes straight
            ring = meshes["rod_2"][8 * i:8 * i + 8]
            for c in range(3):
                j = 3 * (2 * POINTS + i) + c
                want = (1 - part) * value(k, 0, j) + part * value(k + 1, 0, j)
                assert abs(sum(x[c] for x in ring) / 8 - want) < 1e-6, (time, i, c)
    path = export_run(simulate(folder), "glb") + "/run.glb"
    meshes = json.loads(node("play_glb.mjs", path, "0.04"))
    assert all(abs(math.dist(x, [0.004, 0, 0]) - 0.1) < 1e-6 for x in meshes["head"])
    assert all(abs(x[1] + 1) < 1e-6 for x in meshes["floor"])  # y is up


def a_glb_that_would_be_huge_is_refused_with_its_size(folder):
    many, large = folder + "/many.h5", folder + "/large.h5"
    assert call(MAKE, "write", many, "300", "1", "3", "0").returncode == 0
    assert call(MAKE, "write", large, "40", "20", "1000", "0").returncode == 0
    for path, words in ((many, "300 frames are too many for glb, which shows at most 256"),
                        (large, "40 frames of 1224042 vertices would make a glb of 1.2 GB")):
        done = call(FILUM, "export", path, "--to", "glb", "--out", folder + "/out", "--sides", "64")
        assert done.returncode == 2 and words in done.stderr, done.stderr
        assert "or usda" in done.stderr and not os.path.exists(folder + "/out")


# -------------------------------------------------------------------------------------- .hair, obj

def read_hair(path):
    """Header, numbers of points, points."""
    with open(path, "rb") as file:
        data = file.read()
    magic, strands, points, arrays, segments, thickness = struct.unpack_from("<4sIIIIf", data)
    assert magic == b"HAIR" and arrays & 2
    at, counts = 128, [segments + 1] * strands
    if arrays & 1:
        counts = [n + 1 for n in struct.unpack_from(f"<{strands}H", data, at)]
        at += 2 * strands
    flat = struct.unpack_from(f"<{3 * points}f", data, at)
    assert sum(counts) == points
    return thickness, counts, [flat[k:k + 3] for k in range(0, 3 * points, 3)]


def hair_files_hold_the_strands_of_a_frame(folder):
    out = export(folder, "hair")
    assert sorted(os.listdir(out)) == [f"run-{k:06}.hair" for k in range(FRAMES)]
    thickness, counts, points = read_hair(out + "/run-000002.hair")
    assert abs(thickness - 0.002) < 1e-9 and counts == [4, 4, 8, 8]
    for i, x in enumerate(points):
        assert all(abs(x[c] - value(2, 0, 3 * i + c)) < 1e-7 for c in range(3))


def obj_files_hold_solids_where_they_are(folder):
    out = export_run(simulate(folder), "obj", "--frames", "-1")
    vertices, faces, first, name = [], {}, {}, None
    with open(out + "/run-000004.obj", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] == "o":
                name = words[1]
                first[name] = len(vertices)
            elif words[0] == "v":
                vertices.append([float(word) for word in words[1:]])
            elif words[0] == "f":
                faces.setdefault(name, []).append([int(word) - 1 for word in words[1:]])
    assert sorted(faces) == ["bar", "body", "body__1", "brick", "floor", "head", "obstacle",
                             "pin_2", "pin_2__7"]
    for triangle in faces["head"]:
        for corner in triangle:
            assert abs(math.dist(vertices[corner], [0.004, 0, 0]) - 0.1) < 1e-9
    for corner in sum(faces["floor"], []):
        assert abs(vertices[corner][2] + 1) < 1e-12
    volume = 0.0
    for a, b, c in ([vertices[corner] for corner in triangle] for triangle in faces["pin_2__7"]):
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                   + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
    assert abs(volume - 0.1 * 0.2 * 0.3) < 1e-12  # positive: its faces look outwards


def read_vtp(path):
    """The PolyData of a file, and a function that gives its arrays on points by name."""
    try:
        from vtkmodules.util.numpy_support import vtk_to_numpy  # pylint: disable=C0415
        from vtkmodules.vtkIOXML import vtkXMLPolyDataReader  # pylint: disable=C0415
    except ImportError as error:
        raise Skip("vtk is missing") from error
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    data = reader.GetOutput()
    return data, lambda name: vtk_to_numpy(data.GetPointData().GetArray(name))


def vtk_reads_the_solids_of_a_frame(folder):
    out = export_run(simulate(folder), "vtp")
    names = {name for name in os.listdir(out) if "contacts" not in name}
    assert names == {"run.pvd"} | {f"run{k}-{n:06}.vtp" for k in ("", "-solids") for n in range(5)}
    with open(out + "/run.pvd", encoding="utf-8") as file:
        listed = re.findall(r'timestep="([^"]*)" part="(.)" file="([^"]*)"', file.read())
    assert [part for _, part, _ in listed] == ["0", "1"] * 5 and {f for *_, f in listed} < names
    data, array_of = read_vtp(out + "/run-solids-000004.vtp")
    kind, index = array_of("kind"), array_of("index")
    assert {*zip(kind, index)} == {(0, k) for k in range(3)} | {(1, k) for k in range(6)}
    points = [data.GetPoint(k) for k in range(data.GetNumberOfPoints())]
    head = [x for k, x in enumerate(points) if (kind[k], index[k]) == (1, 1)]
    assert all(abs(math.dist(x, [0.004, 0, 0]) - 0.1) < 1e-9 for x in head) and len(head) > 100
    fallen = array_of("velocity")[kind == 0]
    assert abs(fallen - [0, 0, -9.81 * 0.04]).max() < 1e-6  # bodies fall, and nothing turns them
    speeds = array_of("speed")
    assert (speeds[kind == 1] != speeds[kind == 1]).all()  # of obstacles they are not known
    volume = 0.0
    for c in range(data.GetNumberOfCells()):
        cell = data.GetCell(c)
        corners = [cell.GetPointId(k) for k in range(3)]
        if (kind[corners[0]], index[corners[0]]) == (1, 4):  # the box
            a, b, d = (points[k] for k in corners)
            volume += (a[0] * (b[1] * d[2] - b[2] * d[1]) + a[1] * (b[2] * d[0] - b[0] * d[2])
                       + a[2] * (b[0] * d[1] - b[1] * d[0])) / 6
    assert abs(volume - 0.1 * 0.2 * 0.3) < 1e-12


def runs_without_rods_export_their_solids(folder):
    scene = {key: value for key, value in SCENE.items() if key not in ("rods", "hairs")}
    run = simulate(folder, scene)
    names = sorted(os.listdir(export_run(run, "vtp")))
    assert names == ["run-solids-%06d.vtp" % k for k in range(5)] + ["run.pvd"]
    assert "nothing to see" not in export_run(run, "usda") + export_run(run, "glb")
    done = call(FILUM, "export", run, "--to", "hair")
    assert done.returncode == 2 and not os.path.exists(run + "/hair")
    assert "the run holds no rods, and hair does not hold solids" in done.stderr


def what_a_format_cannot_hold_is_named(folder):
    scene = {**SCENE, "rods": [*SCENE["rods"], {**OVAL["rods"][0], "root": {"at": [0, 5, 1]}},
                               {**FLAT["rods"][0], "root": {"at": [0, 6, 1]}}]}
    run = simulate(folder, scene)
    words = {"hair": "3 bodies, 6 obstacles, the sections of 2 rods that are not round",
             "obj": "how thick the rods are",
             "csv": "the shapes of 9 solids, how thick the rods are",
             "usda": None, "glb": None, "vtp": None, "npy": None}
    for kind, lost in words.items():
        done = call(FILUM, "export", run, "--to", kind)
        assert done.returncode == 0, done.stderr
        want = f"filum: warning: {kind} does not hold {lost}\n" if lost else ""
        assert done.stderr == want, (kind, done.stderr)


def sections_are_in_vtp_and_npy(folder):
    run = simulate(folder, OVAL)
    with open(export_run(run, "npy") + "/run.json", encoding="utf-8") as file:
        rod = json.load(file)["rods"][0]
    assert (rod["width"], rod["thickness"]) == (0.024, 0.016)
    _, array_of = read_vtp(export_run(run, "vtp") + "/run-000000.vtp")
    assert abs(array_of("width") - 0.024).max() < 1e-8
    assert abs(array_of("thickness") - 0.016).max() < 1e-8
    assert abs(abs(array_of("n1")) - [0, 1, 0]).max() < 1e-6  # up is n2


def vtk_reads_the_contacts_of_a_frame(folder):
    out = export(folder, "vtp", "y")
    names = [name for name in sorted(os.listdir(out)) if "contacts" in name]
    assert names == [f"run-contacts-{k:06}.vtp" for k in (1, 2, 3)] + ["run-contacts.pvd"]
    data, array_of = read_vtp(out + "/run-contacts-000002.vtp")
    assert data.GetNumberOfPoints() == data.GetNumberOfVerts() == 5
    arrays = data.GetPointData()
    force = array_of("force")
    for c in range(5):  # an impulse over a step of 1 ms, and z is y now
        assert abs(force[c] - [100, 1000 * value(2, 20, c), 0]).max() < 1e-3
        assert tuple(data.GetPoint(c)) == (c, 2, -1)
        assert arrays.GetArray("state").GetValue(c) == c % 3
    assert tuple(array_of("normal")[3]) == (0, 1, 0)
    assert abs(arrays.GetArray("gap").GetValue(0) - 1e-5) < 1e-9
    assert abs(arrays.GetArray("mu").GetValue(0) - 0.3) < 1e-6


def lines_of_a_point_are_in_nobodys_way(folder):
    """Of a tree with a line of one point its points are kept, where a format has points alone."""
    path = folder + "/result.h5"
    assert call(MAKE, "write", path, "2", str(RODS), "3", "5").returncode == 0  # lines of 1, 2, 3, 3
    for kind in ("usda", "glb", "obj", "hair", "vtp", "csv", "npy"):
        os.mkdir(f"{folder}/{kind}")
        done = call(MAKE, "export", path, kind, f"{folder}/{kind}")
        assert done.returncode == 0, (kind, done.stderr)
    assert read_hair(folder + "/hair/run-000001.hair")[1] == [2, 3, 3]
    with open(folder + "/obj/run-000001.obj", encoding="utf-8") as file:
        lines = [line.split()[1:] for line in file if line.startswith("l ")]
    assert lines == [["2", "3"], ["4", "5"], ["5", "6"], ["7", "8"], ["8", "9"]], lines
    with open(folder + "/csv/run.csv", encoding="utf-8") as file:
        assert len(file.readlines()) == 1 + 2 * 3 * RODS
    # VTK ends without a word where it meets what it does not know
    script = ("import sys, numpy; from vtkmodules.vtkIOXML import vtkXMLPolyDataReader as Reader\n"
              "reader = Reader(); reader.SetFileName(sys.argv[1] + '/vtp/run-000001.vtp'); reader.Update()\n"
              "data = reader.GetOutput(); cells = range(data.GetNumberOfCells())\n"
              "print([data.GetCell(k).GetNumberOfPoints() for k in cells], data.GetNumberOfPoints(), "
              "numpy.load(sys.argv[1] + '/npy/run-position.npy').shape)")
    done = call("/usr/bin/python3", "-c", script, folder)
    if "No module named" in done.stderr:
        raise Skip("vtk or numpy is missing")
    assert done.stdout == "[2, 3, 3] 9 (2, 9, 3)\n" and done.stderr == "", (done.stdout, done.stderr)
    assert "curveVertexCounts = [2]" in node("read_usda.mjs", folder + "/usda/run.usda")
    is_valid(folder + "/glb/run.glb")


def a_full_disk_leaves_no_file_behind(folder):
    path = folder + "/result.h5"
    assert call(MAKE, "write", path, "20", "20", "40", "0").returncode == 0
    for kind in ("usda", "hair", "glb", "obj"):
        out = f"{folder}/{kind}"
        done = call("bash", "-c", 'ulimit -f 4; trap "" XFSZ; exec "$0" "$@"', FILUM, "export",
                    path, "--to", kind, "--out", out, "--frames", "0:3")
        assert done.returncode == 3 and "cannot write it: File too large" in done.stderr, (
            kind, done.stderr)
        assert not os.path.exists(out), kind


def frames_are_said_as_in_python(folder):
    path = folder + "/result.h5"
    assert call(MAKE, "write", path, "12", "1", "4", "0").returncode == 0
    held = list(range(12))
    for text, want in (("3", [3]), ("-1", [11]), ("2:5", held[2:5]), ("::4", held[::4]),
                       ("-3:", held[-3:]), (":-9", held[:-9]), (":", held),
                       ("5:100:3", held[5::3])):
        out = f"{folder}/{text}"
        done = call(FILUM, "export", path, f"--frames={text}", "--to", "obj", "--out", out)
        assert done.returncode == 0, (text, done.stderr)
        assert sorted(os.listdir(out)) == [f"result-{k:06}.obj" for k in want], text
    for text in ("x", "1:x", "1:2:0", "1:2:-1", "1:2:3:4", "1.5", "3-5", "99999999999999999999"):
        done = call(FILUM, "export", path, f"--frames={text}", "--to", "obj")
        assert done.returncode == 2 and f'--frames is "{text}"' in done.stderr, (text, done.stderr)
    done = call(FILUM, "export", path, "--frames", "12", "--to", "obj", "--out", folder + "/no")
    assert done.returncode == 2
    assert "frame 12 is not there: the run has 12 frames, 0 to 11" in done.stderr, done.stderr
    done = call(FILUM, "export", path, "--frames", "12:14", "--to", "obj", "--out", folder + "/no")
    assert done.returncode == 2 and "frames 12:14 hold none; there are 0 to 11" in done.stderr


def spoil(path, change):
    """A copy of a run with other numbers."""
    try:
        import h5py  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Skip("there is no h5py") from error
    bad = path.replace("result.h5", "bad.h5")
    shutil.copy(path, bad)
    with h5py.File(bad, "r+", libver="latest") as file:
        change(file)
    return bad


def set_place(number):
    def change(file):
        file["rods/position"][2, 5, 1] = number
    return change


def set_times(first, second):
    def change(file):
        frames = file["frames"][:]
        frames["time"][2:4] = first, second
        file["frames"][:] = frames
    return change


def what_is_no_number_is_refused_by_name_or_kept_as_it_is(folder):
    path = folder + "/result.h5"
    assert call(MAKE, "write", path, "5", "2", "4", "0").returncode == 0
    for number in (math.nan, math.inf, 1e200):
        bad = spoil(path, set_place(number))
        for kind in ("usda", "glb", "obj", "hair", "vtp", "csv", "npy"):
            done = call(FILUM, "export", bad, "--to", kind, "--out", f"{folder}/{kind}", "--force")
            if kind in ("csv", "npy"):
                assert done.returncode == 0, done.stderr
                continue
            assert done.returncode == 3, (kind, done.stderr)
            assert "bad.h5: frame 2, rods[1]" in done.stderr, (kind, done.stderr)
            assert f"point 1: its place holds {number:g}; " in done.stderr, (kind, done.stderr)
            assert call(FILUM, "export", bad, "--to", kind, "--out", f"{folder}/{kind}-1",
                        "--frames", "3:", "--force").returncode == 0
    with open(folder + "/csv/bad.csv", encoding="utf-8") as file:
        assert ",1e+200," in file.read()
    bad = spoil(path, set_times(math.nan, 0.0))
    for kind in ("usda", "glb", "obj", "hair", "vtp"):
        done = call(FILUM, "export", bad, "--to", kind, "--out", f"{folder}/{kind}", "--force")
        assert done.returncode == 3 and "the time of frame 2 is nan s" in done.stderr, done.stderr
    bad = spoil(path, set_times(0.03, 0.02))
    for kind in ("usda", "glb"):
        done = call(FILUM, "export", bad, "--to", kind, "--out", f"{folder}/{kind}", "--force")
        assert done.returncode == 3 and "the times fall" in done.stderr, done.stderr
        done = call(FILUM, "export", bad, "--to", kind, "--out", f"{folder}/{kind}", "--fps", "24",
                    "--force")
        assert done.returncode == 0, done.stderr


def an_interrupted_export_leaves_nothing_unfinished(folder):
    path = folder + "/result.h5"
    assert call(MAKE, "write", path, "60", "100", "40", "0").returncode == 0
    for kind in ("usda", "glb", "csv", "npy", "obj", "vtp", "hair"):
        out = f"{folder}/new/{kind}"
        with subprocess.Popen([FILUM, "export", path, "--to", kind, "--out", out],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            while not os.path.exists(out) and child.poll() is None:
                sleep(0.001)
            child.send_signal(signal.SIGINT)
            said = child.communicate(timeout=60)[1]
        if child.returncode == 0:
            continue  # it was faster
        files = os.listdir(out) if os.path.exists(out) else []
        assert child.returncode == 130 and said.startswith("filum: interrupted; "), (kind, said)
        assert not [name for name in files if "tmp" in name], files
        if files:
            assert f"{len(files)} file" in said and "kept" in said, said
        else:
            assert "nothing was written" in said and not os.path.exists(out), said


def a_run_is_the_start_of_another_through_hair(folder):
    run = simulate(folder)
    export_run(run, "hair", "--frames", "-1", "--up", "y")
    again = {"duration": 0.01, "step": 0.005, "friction_default": 0.3,
             "strands": [{"name": "again", "file": "run/hair/run-000004.hair", "up": "y",
                          "rod": {"elements": 8}}]}
    os.mkdir(folder + "/more")
    again["strands"][0]["file"] = "../run/hair/run-000004.hair"
    second = simulate(folder + "/more", again)
    export_run(second, "hair", "--frames", "0", "--up", "y")
    _, old, points = read_hair(run + "/hair/run-000004.hair")
    _, new, others = read_hair(second + "/hair/run-000000.hair")
    assert len(old) == len(new) == 6
    for k in range(6):  # roots exactly, tips nearly
        assert math.dist(points[sum(old[:k])], others[sum(new[:k])]) < 1e-6
        assert math.dist(points[sum(old[:k + 1]) - 1], others[sum(new[:k + 1]) - 1]) < 1e-3


def blender_imports_glb_and_obj(folder):
    blender = shutil.which("blender")
    if blender is None:
        raise Skip("blender is missing")
    run = simulate(folder)
    glb = export_run(run, "glb") + "/run.glb"
    obj = export_run(run, "obj", "--frames", "0", "--up", "y") + "/run-000000.obj"
    # Debian's Blender 3.4 asks for numpy.bool, which Debian's NumPy no longer has
    script = (f"import bpy, json, numpy; numpy.bool = bool\n"
              f"def found(): return {{o.name: list(o.dimensions) for o in bpy.data.objects}}\n"
              f"bpy.ops.wm.read_factory_settings(use_empty=True)\n"
              f"bpy.ops.import_scene.gltf(filepath={glb!r}); glb = found()\n"
              f"keys = len(bpy.data.objects['wig'].data.shape_keys.key_blocks)\n"
              f"bpy.ops.wm.read_factory_settings(use_empty=True)\n"
              f"bpy.ops.wm.obj_import(filepath={obj!r}); obj = found()\n"
              f"print('FOUND', json.dumps([glb, keys, obj]))\n")
    # and takes its modules from the python3 on the path, which must be Debian's
    done = call("env", "PATH=/usr/bin:/bin", blender, "--background", "--factory-startup",
                "--python-expr", script)
    found = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert done.returncode == 0 and found, done.stdout + done.stderr
    tubes, keys, lines = json.loads(found[0][6:])
    assert keys > 1 and "wig" in tubes, "the motion is there"
    for name in ("head", "brick", "bar"):
        assert math.dist(tubes[name], lines[name]) < 1e-6, (tubes, lines)
    assert abs(lines["lone"][0] - 0.2) < 1e-6, "a rod is there in its whole length"


# ----------------------------------------------------------------------------------------- runner

TESTS = [tinyusdz_reads_the_curves_of_a_run, usd_of_a_long_run_says_what_that_of_a_part_says,
         usd_can_be_shown_slowly_and_with_y_up,
         tinyusdz_reads_solids_of_all_shapes, khronos_finds_nothing_wrong_with_glb,
         tubes_of_glb_are_as_thick_as_rods_and_move_with_them,
         ribbons_of_glb_are_as_wide_and_thick_as_they_are, ribbons_of_usd_are_meshes_as_wide_and_thick_as_they_are,
         elliptic_rods_of_glb_and_usd_are_elliptic,
         y_is_up_in_glb_and_solids_move_as_nodes, three_js_plays_the_motion,
         a_glb_that_would_be_huge_is_refused_with_its_size,
         hair_files_hold_the_strands_of_a_frame, obj_files_hold_solids_where_they_are,
         vtk_reads_the_contacts_of_a_frame, vtk_reads_the_solids_of_a_frame,
         runs_without_rods_export_their_solids, what_a_format_cannot_hold_is_named,
         sections_are_in_vtp_and_npy, lines_of_a_point_are_in_nobodys_way,
         a_full_disk_leaves_no_file_behind,
         frames_are_said_as_in_python, ribbons_stay_flat_where_there_are_many_names,
         what_is_no_number_is_refused_by_name_or_kept_as_it_is,
         an_interrupted_export_leaves_nothing_unfinished, a_run_is_the_start_of_another_through_hair,
         blender_imports_glb_and_obj]


if __name__ == "__main__":
    WANTED = sys.argv[4] if len(sys.argv) > 4 else ""
    sys.exit(sentences.main({test.__name__: test for test in TESTS}, WANTED))
