#!/usr/bin/python3
"""Result files and exports as others read them. Usage: test_result.py MAKE_RESULTS [filter]"""

import csv
import json
import math
import os
import subprocess
import sys

import sentences
from sentences import Skip

MAKE = os.path.abspath(sys.argv[1])
RODS, POINTS, CONTACTS = 3, 8, 5
SIZES = [str(RODS), str(POINTS), str(CONTACTS)]


def need(module):
    """A module of Debian's Python, or a visible skip."""
    try:
        return __import__(module)
    except ImportError as error:
        raise Skip(f"{module} is missing") from error


def make(*arguments, status=0):
    done = subprocess.run([MAKE, *arguments], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def value(frame, array, k):
    """fake_value() of result_fake.h."""
    return math.sin(0.1 * frame + 0.01 * k + array)


def contact_force(frame, i):
    """On point i: contacts are at s = 0.05 of their rods, whose points are 0.1 / POINTS apart."""
    at = 0.05 * POINTS / 0.1
    share = max(0, 1 - abs(i % POINTS - at))
    forces = [math.hypot(0.1, value(frame, 20, c)) / 1e-3 for c in range(CONTACTS)
              if c % RODS == i // POINTS]
    return share * sum(forces) if frame > 0 else 0


def check_frames(file, count):
    numpy = need("numpy")
    n = RODS * POINTS
    for k in range(count):
        for array, (path, width) in enumerate((("position", 3), ("quaternion", 4), ("velocity", 3),
                                               ("curvature", 3))):
            want = [[value(k, array, width * i + j) for j in range(width)] for i in range(n)]
            got = file["rods/" + path][k]
            assert numpy.allclose(got, want, rtol=0, atol=1e-15 if array == 0 else 1e-7), (k, path)
        for path, array in (("tension", 10), ("elastic", 11)):
            want = [value(k, array, i) for i in range(n)]
            assert numpy.allclose(file["rods/" + path][k], want, rtol=0, atol=1e-7), (k, path)
        for path, array in (("reaction_force", 12), ("reaction_moment", 13)):
            want = [[value(k, array, 6 * i + j) for j in range(6)] for i in range(RODS)]
            assert numpy.allclose(file["rods/" + path][k], want, rtol=0, atol=1e-7), (k, path)
        row = file["frames"][k]
        contacts = file["contacts"][row["first_contact"]:row["first_contact"] + row["contact_count"]]
        assert len(contacts) == (0 if k == 0 else CONTACTS)
        for c, contact in enumerate(contacts):
            assert abs(contact["impulse"][2] - value(k, 20, c)) < 1e-15
            assert contact["state"] == c % 3 and contact["a_kind"] == 1


# ---------------------------------------------------------------------------------------- the file

def h5py_reads_a_finished_file(folder):
    h5py = need("h5py")
    path = folder + "/result.h5"
    make("write", path, "6", *SIZES)
    with h5py.File(path, "r") as file:
        assert len(file["frames"]) == 6 and len(file["steps"]) == 50
        check_frames(file, 6)
        assert file.attrs["format"] == b"filum result" and file.attrs["seed"] == 42
        assert file["scene"].asstr()[()] == '{"name": "fake"} // ä'
        assert file["rods/info"]["name"][1] == b"rod 1"
        assert file["rods/info"]["width"].tolist() == [0, 4e-3, 0]
        assert file["rods/tension"].shape == (6, RODS * POINTS)
        assert file["meshes/0/triangles"].shape == (4, 3)
        assert file["obstacles/info"]["mesh"].tolist() == [-1, 0]


def units_are_attributes(folder):
    h5py = need("h5py")
    path = folder + "/result.h5"
    make("write", path, "2", *SIZES)
    with h5py.File(path, "r") as file:
        for name, unit in (("position", b"m"), ("velocity", b"m/s"), ("curvature", b"1/m"),
                           ("tension", b"N"), ("elastic", b"J/m"), ("reaction_force", b"N"),
                           ("reaction_moment", b"N m")):
            assert file["rods/" + name].attrs["unit"] == unit
        assert file["contacts"].attrs["impulse"] == b"N s"
        assert file["frames"].attrs["time"] == b"s" and file["frames"].attrs["bend"] == b"J"
        assert file["steps"].attrs["penetration"] == b"m"
        for table in ("frames", "steps", "contacts"):
            for field in file[table].dtype.names:
                kind = h5py.check_enum_dtype(file[table].dtype[field])
                assert kind or field in file[table].attrs, (table, field)
        states = h5py.check_enum_dtype(file["contacts"].dtype["state"])
        assert states == {"open": 0, "stick": 1, "slide": 2}


def h5py_reads_while_it_is_written(folder):
    h5py = need("h5py")
    path = folder + "/result.h5"
    with subprocess.Popen([MAKE, "write", path, "11", *SIZES, "wait"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as writer:
        def advance():
            writer.stdin.write("\n")
            writer.stdin.flush()
            return writer.stdout.readline()
        assert advance() == "frame 0\n"
        with h5py.File(path, "r", libver="latest", swmr=True) as file:
            for k in range(1, 10):
                assert advance() == f"frame {k}\n"
                for name in ("frames", "contacts", "steps", "rods/position", "rods/velocity",
                             "rods/quaternion", "rods/curvature", "rods/tension", "rods/elastic",
                             "rods/reaction_force", "rods/reaction_moment"):
                    file[name].id.refresh()
                assert len(file["frames"]) == k + 1
                check_frames(file, k + 1)
        assert make("count", path) == "10 frames, growing\n"
        assert make("mend", path) == "nothing to mend\n"  # it is not ours to mend
        writer.communicate()


def a_killed_run_is_mended_and_then_plain_h5py_reads_it(folder):
    h5py = need("h5py")
    for frames in (1, 7, 40, 130):
        path = f"{folder}/{frames}.h5"
        with subprocess.Popen([MAKE, "write", path, "1000000", *SIZES], stdout=subprocess.PIPE,
                              text=True) as writer:
            for _ in range(frames):
                writer.stdout.readline()
            writer.kill()
        try:
            with h5py.File(path, "r"):
                assert False, "nothing to mend"
        except OSError as error:
            assert "already open for write" in str(error), error
        assert make("mend", path) == "mended\n"
        with h5py.File(path, "r") as file:
            held = len(file["frames"])
            assert held >= frames
            check_frames(file, held)
        make("resume", path, "1", "5", *SIZES)
        with h5py.File(path, "r") as file:
            assert len(file["frames"]) == 5 == len(file["rods/position"])
            assert len(file["contacts"]) == 4 * CONTACTS
            check_frames(file, 5)


def large_frames_come_in_several_chunks(folder):
    h5py = need("h5py")
    path = folder + "/result.h5"
    make("write", path, "3", "100", "200", "3000")
    with h5py.File(path, "r") as file:
        data = file["rods/position"]
        assert data.chunks == (1, 10000, 3)
        assert abs(data[2, 19999, 1] - value(2, 0, 3 * 19999 + 1)) < 1e-15
        assert len(file["contacts"]) == 6000


def a_file_of_an_old_version_has_no_tension(folder):
    """Without the datasets and the fields that were added; it is read, exported and gone on with."""
    h5py, numpy = need("h5py"), need("numpy")
    path = folder + "/result.h5"
    make("write", path, "4", *SIZES)
    with h5py.File(path, "r+", libver="latest") as file:
        for name in ("tension", "elastic", "reaction_force", "reaction_moment"):
            del file["rods/" + name]
        rows = file["rods/info"][()]
        keep = [name for name in rows.dtype.names if name not in ("width", "thickness")]
        del file["rods/info"]
        kept = numpy.zeros(len(rows), [(name, rows.dtype[name]) for name in keep])
        for name in keep:
            kept[name] = rows[name]
        file["rods/info"] = kept
    assert make("count", path) == "4 frames\n"
    for kind in ("vtp", "csv", "npy"):
        os.mkdir(folder + "/" + kind)
        make("export", path, kind, folder + "/" + kind)
    names = sorted(os.listdir(folder + "/npy"))
    assert [name for name in names if "-body-" not in name and "-obstacle-" not in name] == [
        "run-curvature.npy", "run-force.npy", "run-position.npy", "run-quaternion.npy",
        "run-velocity.npy", "run.json"]
    with open(folder + "/csv/run.csv", encoding="utf-8", newline="") as file:
        row = list(csv.DictReader(file))[-1]
    assert row["tension"] == row["elastic"] == "" and row["force"] != ""
    with open(folder + "/vtp/run-000003.vtp", "rb") as file:
        text = file.read()
    assert b'"tension"' not in text and b'"force"' in text
    make("resume", path, "2", "6", *SIZES)
    assert make("count", path) == "6 frames\n"


# --------------------------------------------------------------------------------------- exports

def export(folder, kind, *more):
    make("write", folder + "/result.h5", "4", *SIZES)
    out = folder + "/out"
    os.mkdir(out)
    make("export", folder + "/result.h5", kind, out, *more)
    return out


def vtk_reads_vtp(folder):
    need("vtk")
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
    from vtkmodules.util.numpy_support import vtk_to_numpy
    out = export(folder, "vtp")
    for k in range(4):
        reader = vtkXMLPolyDataReader()
        reader.SetFileName(f"{out}/run-{k:06}.vtp")
        reader.Update()
        data = reader.GetOutput()
        assert data.GetNumberOfPoints() == RODS * POINTS and data.GetNumberOfLines() == RODS + 1
        assert data.GetCell(0).GetNumberOfPoints() == POINTS // 2  # a branch of the tree
        assert data.GetCell(2).GetPointId(0) == POINTS
        points = vtk_to_numpy(data.GetPoints().GetData())
        assert abs(points[5, 2] - value(k, 0, 17)) < 1e-15
        arrays = data.GetPointData()
        speed = math.sqrt(sum(value(k, 2, 3 * 5 + j) ** 2 for j in range(3)))
        bend = math.hypot(value(k, 3, 3 * 5 + 1), value(k, 3, 3 * 5 + 2))
        for name, want in (("radius", 1e-3), ("speed", speed), ("curvature", bend),
                           ("twist", value(k, 3, 15)), ("rod", 0),
                           ("tension", value(k, 10, 5)), ("elastic", value(k, 11, 5)),
                           ("force", contact_force(k, 5))):
            assert abs(arrays.GetArray(name).GetValue(5) - want) < 1e-6, name
        assert arrays.GetArray("rod").GetValue(POINTS) == 1
        time = data.GetFieldData().GetArray("TimeValue").GetValue(0)
        assert time == 0.01 * k


def pvd_lists_the_frames(folder):
    import xml.etree.ElementTree as tree
    out = export(folder, "vtp")
    sets = tree.parse(out + "/run.pvd").findall("Collection/DataSet")
    assert [float(s.get("timestep")) for s in sets[::2]] == [0, 0.01, 0.02, 0.03]
    assert [s.get("part") for s in sets] == ["0", "1"] * 4  # rods and solids
    assert all(os.path.exists(f"{out}/{s.get('file')}") for s in sets)


def csv_has_a_row_for_each_point(folder):
    out = export(folder, "csv")
    with open(out + "/run.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * RODS * POINTS
    row = rows[2 * RODS * POINTS + POINTS + 3]
    assert (row["frame"], row["time"], row["rod"], row["point"]) == ("2", "0.02", "1", "3")
    i = POINTS + 3
    assert abs(float(row["y"]) - value(2, 0, 3 * i + 1)) < 1e-14
    assert abs(float(row["kappa2"]) - value(2, 3, 3 * i + 2)) < 1e-7
    assert abs(float(row["tension"]) - value(2, 10, i)) < 1e-7
    assert abs(float(row["elastic"]) - value(2, 11, i)) < 1e-7
    for j in range(RODS * POINTS):
        want = contact_force(2, j)
        assert abs(float(rows[2 * RODS * POINTS + j]["force"]) - want) <= 1e-7 * want, j


def numpy_reads_npy(folder):
    numpy = need("numpy")
    out = export(folder, "npy")
    position = numpy.load(out + "/run-position.npy")
    assert position.shape == (4, RODS * POINTS, 3) and position.dtype == numpy.float64
    assert abs(position[3, 7, 1] - value(3, 0, 22)) < 1e-15
    quaternion = numpy.load(out + "/run-quaternion.npy")
    assert quaternion.shape == (4, RODS * POINTS, 4) and quaternion.dtype == numpy.float32
    assert abs(quaternion[3, 7, 1] - value(3, 1, 29)) < 1e-7
    tension = numpy.load(out + "/run-tension.npy")
    assert tension.shape == (4, RODS * POINTS) and abs(tension[3, 7] - value(3, 10, 7)) < 1e-7
    assert abs(numpy.load(out + "/run-elastic.npy")[3, 7] - value(3, 11, 7)) < 1e-7
    assert abs(numpy.load(out + "/run-force.npy")[3, 12] / contact_force(3, 12) - 1) < 1e-6
    body = numpy.load(out + "/run-body-position.npy")
    assert body.dtype == numpy.float64 and body.shape[0] == 4 and body.shape[2] == 3
    assert abs(body[2, 0, 1] - value(2, 4, 1)) < 1e-15
    spin = numpy.load(out + "/run-body-spin.npy")
    assert abs(spin[3, 0, 2] - value(3, 7, 2)) < 1e-6
    obstacle = numpy.load(out + "/run-obstacle-quaternion.npy")
    assert abs(obstacle[1, 0, 3] - value(1, 9, 3)) < 1e-15
    with open(out + "/run.json", encoding="utf-8") as file:
        about = json.load(file)
    assert len(about["bodies"]) == body.shape[1] and len(about["obstacles"]) == obstacle.shape[1]
    assert about["bodies"][0]["shape"] in ("sphere", "box", "mesh", "capsule", "cylinder")
    assert about["times"] == [0, 0.01, 0.02, 0.03] and about["frames"] == [0, 1, 2, 3]
    assert about["rods"][2]["first_point"] == 2 * POINTS and about["rods"][2]["name"] == "rod 2"


def obj_has_lines(folder):
    out = export(folder, "obj")
    with open(out + "/run-000001.obj", encoding="utf-8") as file:
        lines = file.read().splitlines()
    vertices = [line for line in lines if line.startswith("v ")]
    curves = [line.split()[1:] for line in lines if line.startswith("l ")]
    assert len(vertices) > RODS * POINTS  # solids have vertices too
    assert len(curves) == RODS * (POINTS - 1) - 1  # a line a segment; the first rod is two lines
    assert curves[:4] == [["1", "2"], ["2", "3"], ["3", "4"], ["5", "6"]]
    assert curves[-1][-1] == str(RODS * POINTS)
    assert lines.count("o rod_2") == 1


def y_may_be_up(folder):
    numpy = need("numpy")
    out = export(folder, "npy", "y")
    x = numpy.load(out + "/run-position.npy")[1, 2]
    want = [value(1, 0, 6), value(1, 0, 8), -value(1, 0, 7)]
    assert numpy.allclose(x, want, rtol=0, atol=1e-15)
    w, a, b, c = (value(1, 1, 8 + j) for j in range(4))  # the axes turn with the world
    half = math.sqrt(0.5)
    turned = [half * (w + a), half * (a - w), half * (b + c), half * (c - b)]
    assert numpy.allclose(numpy.load(out + "/run-quaternion.npy")[1, 2], turned, atol=1e-6)


# ----------------------------------------------------------------------------------------- runner

TESTS = [h5py_reads_a_finished_file, units_are_attributes, h5py_reads_while_it_is_written,
         a_killed_run_is_mended_and_then_plain_h5py_reads_it,
         a_file_of_an_old_version_has_no_tension, large_frames_come_in_several_chunks,
         vtk_reads_vtp, pvd_lists_the_frames, csv_has_a_row_for_each_point, numpy_reads_npy,
         obj_has_lines, y_may_be_up]


if __name__ == "__main__":
    WANTED = sys.argv[2] if len(sys.argv) > 2 else ""
    sys.exit(sentences.main({test.__name__: test for test in TESTS}, WANTED))
