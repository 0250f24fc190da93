#!/usr/bin/python3
"""Drives the verbs that make pictures. Usage: test_cli_render.py FILUM MAKE_RESULTS [filter]"""

import json
import math
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

import sentences
from sentences import Skip

FILUM, MAKE_RESULTS = (os.path.abspath(path) for path in sys.argv[1:3])
run, fails = sentences.program(FILUM)
os.environ["OMP_NUM_THREADS"] = "1"

# a rod in space, and a box beside it
SCENE = {
    "name": "rod", "duration": 0.02, "step": "1 ms", "gravity": [0, 0, 0],
    "friction_default": 0.3,
    "materials": {"steel": {"young": "200 GPa", "density": 7800}},
    "rods": [{"name": "rod", "model": "helix", "elements": 4, "material": "steel",
              "length": "20 cm", "radius": "5 mm",
              "root": {"at": [0, 0, 0], "along": [1, 0, 0], "held": "clamped"}}],
    "bodies": [{"name": "box", "shape": "box", "size": [0.04, 0.04, 0.04], "material": "steel",
                "at": [0.1, 0, 0.1]}],
    "output": {"every": "2 ms"}}
# wisps of hair on a head, which throw a soft shadow
HAIR = {
    "name": "hair", "duration": 0.002, "step": "1 ms", "seed": 1, "friction_default": 0.3,
    "materials": {"hair": {}, "skin": {}},
    "hairs": [{"name": "hair", "count": 150, "on": "head", "towards": [-0.3, 0, 1],
               "spread": "80 deg", "laid": {"radius": "12 cm", "rise": "23 deg"},
               "rod": {"model": "helix", "elements": 3, "material": "hair", "length": "20 cm",
                       "radius": "60 um", "natural": {"shape": "start"},
                       "contact_radius": "1 mm"}}],
    "obstacles": [{"name": "head", "shape": "sphere", "radius": "9 cm", "material": "skin"}]}
CAMERA = "eye=0.1,-1,0.05 target=0.1,0,0.05 fov=20"


def works(*arguments, **more):
    done = run(*arguments, **more)
    assert done.returncode == 0, (arguments, done.returncode, done.err)
    return done


def make_run(scene=None):
    with open("scene.json", "w", encoding="utf-8") as file:
        json.dump(scene or SCENE, file)
    works("run", "scene.json", "--out", "run")
    return "run"


def read_h5(path, mode):
    try:
        import h5py  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Skip("there is no h5py") from error
    return h5py.File(path, mode, libver="latest")


def paeth(a, b, c):
    near = [abs(b - c), abs(a - c), abs(a + b - 2 * c)]
    return (a, b, c)[near.index(min(near))]


def decode(path):
    """A PNG by its specification: width, height, rows of pixels; every checksum is looked at."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, head = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        packed += body if kind == b"IDAT" else b""
        at += size + 12
    assert kind == b"IEND"
    width, height, depth, colour, *_ = head
    assert depth == 8 and colour in (2, 6)
    deep = 3 if colour == 2 else 4
    raw, line, rows, before = zlib.decompress(packed), width * deep, [], bytes(width * deep)
    for y in range(height):
        how, row = raw[y * (line + 1)], bytearray(raw[y * (line + 1) + 1:(y + 1) * (line + 1)])
        for x in range(line):
            a, b = row[x - deep] if x >= deep else 0, before[x]
            c = before[x - deep] if x >= deep else 0
            row[x] = (row[x] + (0, a, b, (a + b) // 2, paeth(a, b, c))[how]) & 255
        rows.append([tuple(row[x:x + deep]) for x in range(0, line, deep)])
        before = row
    return width, height, rows


def project(place, width, height):
    """Where CAMERA sees a place: it looks along y."""
    scale = 0.5 * height / (math.tan(math.radians(10)) * (place[1] + 1))
    return (int(0.5 * width + scale * (place[0] - 0.1)),
            int(0.5 * height - scale * (place[2] - 0.05)))


def differs(a, b):
    return sum(abs(x - y) for x, y in zip(a, b)) > 30


def rods_and_bodies_are_where_they_are():
    make_run()
    done = works("render", "run", "-o", "x.png", "--size", "320x180", "--camera", CAMERA,
                 "--no-ground", "--background", "none")
    assert done.out == "frame 10, 0.02 s -> x.png\n", done.out
    width, height, rows = decode("x.png")
    assert (width, height) == (320, 180)
    for place, there in (((0.002, 0, 0), True), ((0.1, 0, 0), True), ((0.198, 0, 0), True),
                         ((0.22, 0, 0), False), ((0.1, 0, 0.02), False), ((0.1, 0, 0.1), True),
                         ((0.1, 0, 0.12), True), ((0.14, 0, 0.1), False)):
        x, y = project(place, width, height)
        assert (rows[y][x][3] > 200) == there, (place, rows[y][x])


def a_foreign_reader_takes_the_picture():
    try:
        from PIL import Image  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Skip("there is no Pillow") from error
    make_run()
    works("render", "run", "--out", "x.png", "--size", "100x50", "--samples", "2")
    with Image.open("x.png") as image:
        image.load()
        assert image.size == (100, 50) and image.mode == "RGB"


def frames_are_chosen_by_number_and_by_time():
    make_run()
    for arguments, said in ((["--frame", "3"], "frame 3, "), (["--frame", "-2"], "frame 9, "),
                            (["--time", "0.0072"], "frame 4, "), ([], "frame 10, ")):
        done = works("render", "run", "-o", "x.png", "--size", "32x32", "--samples", "1", "--force",
                     *arguments)
        assert done.out.startswith(said), done.out
    fails(2, "the run has 11 frames, 0 to 10", "render", "run", "-o", "y.png", "--frame", "11")
    fails(2, "the run has 11 frames up to 0.02 s", "render", "run", "-o", "y.png", "--time", "1")
    fails(2, "give one of them", "render", "run", "-o", "y.png", "--time", "0", "--frame", "1")


def camera_of(done):
    """The camera that was printed."""
    found = re.findall(r'^filum: drawn with --camera "(.*)"$', done.err, re.MULTILINE)
    assert len(found) == 1, done.err
    return found[0]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def the_camera_that_was_chosen_draws_the_same_again():
    make_run()
    small = ("--size", "96x54", "--samples", "1")
    for words in ((), ("--camera", "from=0,-1,0.2 zoom=2"), ("--camera", "target=0.1,0,0.05 fov=50")):
        camera = camera_of(works("render", "run", "-o", "a.png", *small, *words, "--force"))
        done = works("render", "run", "-o", "b.png", *small, "--camera", camera, "--force")
        assert content("a.png") == content("b.png"), camera
        assert "drawn with" not in done.err, "the user knows it"
    film = camera_of(works("movie", "run", "-o", "film", *small))
    works("movie", "run", "-o", "again", *small, "--camera", film)
    for name in os.listdir("film"):
        assert content(f"film/{name}") == content(f"again/{name}"), name


def several_frames_are_drawn_with_one_camera():
    fly()
    small = ("--size", "96x54", "--samples", "1", "--no-ground")
    several = ("render", "run", "-o", "x.png", "--frames", "::2", *small)
    done = works(*several)
    names = [f"x-{k:06}.png" for k in (0, 2, 4)]
    assert [line.split(" -> ")[1] for line in done.out.splitlines()] == names
    camera = camera_of(done)
    for k, name in zip((0, 2, 4), names):
        works("render", "run", "-o", "one.png", "--frame", str(k), "--camera", camera, "--force", *small)
        assert content("one.png") == content(name), name
    assert len({content(name) for name in names}) == 3, "the body moves through the picture"
    own = works("render", "run", "-o", "z.png", "--frames", "::2", "--each", *small)
    found = re.findall(r'--camera "(.*)"', own.err)
    assert len(set(found)) == 3 and camera not in found, found
    os.remove(names[0])
    fails(3, "x-000002.png exists already", *several)
    assert not os.path.exists(names[0]), "names are looked at before the first is drawn"
    for words, said in ((("--frames", "11:"), "--frames holds none of the frames, 0 to 5"),
                        (("--frames", "::0"), '--frames is "::0"; it must be a frame'),
                        (("--each",), "--each is for --frames"),
                        (("--frames", ":", "--time", "0"), "--frame and --time choose one")):
        fails(2, said, "render", "run", "-o", "w.png", *words)


def a_field_brings_its_scale():
    make_run()
    common = ("render", "run", "--size", "400x300", "--samples", "1", "--camera", CAMERA)
    works(*common, "-o", "plain.png", "--colour", "natural")
    works(*common, "-o", "curved.png", "--colour", "curvature")
    plain, curved = decode("plain.png")[2], decode("curved.png")[2]
    corner = [(x, y) for x in range(10, 130) for y in range(260, 280)]
    assert sum(differs(plain[y][x], curved[y][x]) for x, y in corner) > 500


def a_transparent_background_is_transparent():
    make_run()
    works("render", "run", "-o", "x.png", "--size", "160x90", "--camera", CAMERA, "--no-ground",
          "--background", "none")
    rows = decode("x.png")[2]
    x, y = project((0.1, 0, 0), 160, 90)
    assert rows[0][0][3] == 0 and rows[y][x][3] == 255


def threads_do_not_show():
    make_run(HAIR)
    for threads in "1", "2", "4":
        works("render", "run", "-o", f"{threads}.png", "--size", "160x90", "--threads", threads)
    pictures = set()
    for threads in "1", "2", "4":
        with open(f"{threads}.png", "rb") as file:
            pictures.add(file.read())
    assert len(pictures) == 1


def greys(path):
    return [[sum(pixel[:3]) / 3 for pixel in row] for row in decode(path)[2]]


def smooth_places_have_no_dots():
    """Ground, head and hair, where many samples show no edge, look the same with few."""
    make_run(HAIR)
    for samples in "16", "256":
        works("render", "run", "-o", f"{samples}.png", "--size", "256x144", "--samples", samples)
    few, many = greys("16.png"), greys("256.png")
    off, shaded = [], 0
    for y in range(1, 143):
        for x in range(1, 255):
            around = [g for row in many[y - 1:y + 2] for g in row[x - 1:x + 2]]
            if max(around) - min(around) < 8:
                off.append(abs(few[y][x] - many[y][x]))
                shaded += many[y][x] < 210
    off.sort()
    assert len(off) > 20000 and shaded > 1000, (len(off), shaded)  # shadows and head are among them
    rms = math.sqrt(sum(d * d for d in off) / len(off))
    assert rms < 2, rms
    assert off[len(off) * 999 // 1000] < 16 and off[-5] < 22, off[-20:]


def faded_hairs_behind_each_other_cover_evenly():
    """Both are narrower than a pixel; along them the picture is the same."""
    hair = {"model": "der", "elements": 4, "material": "hair", "length": "1 m", "radius": "0.3 mm"}
    roots = [{"at": [-0.5, y, 0], "along": [1, 0, 0]} for y in (0, 0.05)]
    make_run({"name": "two", "duration": 0.001, "step": "1 ms", "gravity": [0, 0, 0],
              "materials": {"hair": {}}, "friction_default": 0.3,
              "rods": [dict(hair, name=f"hair {k}", root=root) for k, root in enumerate(roots)]})
    works("render", "run", "-o", "x.png", "--size", "240x40", "--samples", "1024", "--no-ground",
          "--background", "dark", "--camera", "eye=0,-3,0 target=0,0,0 fov=1.5")
    sums = [sum(column) for column in list(zip(*greys("x.png")[18:22]))[20:220]]
    changes = [b - a for a, b in zip(sums, sums[1:])]
    noise = math.sqrt(sum(d * d for d in changes) / (2 * len(changes)))
    assert noise < 5 and min(sums) > 200, (noise, min(sums))


def a_rope_far_off_does_not_change_hair():
    """Round pieces for the rope are round pieces for all, and hair of a pixel looks as before."""
    light = []
    for radius in "1 mm", "20 mm":
        scene = json.loads(json.dumps(HAIR))
        scene["hairs"][0]["rod"]["contact_radius"] = "0.5 mm"
        scene["rods"] = [{"name": "rope", "model": "helix", "elements": 2, "material": "hair",
                          "length": "1 m", "radius": radius,
                          "root": {"at": [0, 5, 0], "along": [0, 0, 1]}}]
        shutil.rmtree("run", ignore_errors=True)
        make_run(scene)
        works("render", "run", "-o", "x.png", "--force", "--no-ground", "--size", "256x144",
              "--camera", "eye=0.1,-0.8,0.3 target=0,0,0 fov=35")
        dark = [g for row in greys("x.png") for g in row if g < 190]
        light.append(sum(dark) / len(dark))
    assert abs(light[1] / light[0] - 1) < 0.003, light


def nothing_is_overwritten_unless_forced():
    make_run()
    small = ("--size", "32x32", "--samples", "1")
    works("render", "run", "-o", "x.png", *small)
    fails(3, "x.png exists already; --force replaces it", "render", "run", "-o", "x.png", *small)
    works("render", "run", "-o", "x.png", *small, "--force")
    with open("x.mp4", "wb"):
        pass
    fails(3, "x.mp4 exists already", "movie", "run", "-o", "x.mp4", *small)
    assert sorted(os.listdir()) == ["run", "scene.json", "x.mp4", "x.png"]


def a_movie_has_the_frames_it_should():
    if not shutil.which("ffmpeg") or not shutil.which("ffprobe"):
        raise Skip("there is no ffmpeg")
    make_run()
    for name in "x.mp4", "x.gif", "x.webm":
        done = works("movie", "run", "-o", name, "--size", "65x48", "--samples", "1", "--fps", "20",
                     "--speed", "0.05")
        assert done.out.startswith("9 pictures, 0.45 s"), done.out
        about = subprocess.run(
            ["ffprobe", "-v", "error", "-count_frames", "-show_entries",
             "stream=width,height,r_frame_rate,nb_read_frames", "-of", "csv=p=0", name],
            stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode().strip()
        wide = "65" if name == "x.gif" else "66"
        assert about == f"{wide},48,20/1,9", (name, about)
    assert sorted(os.listdir()) == ["run", "scene.json", "x.gif", "x.mp4", "x.webm"]


def a_film_that_does_not_fit_is_no_film():
    if not shutil.which("ffmpeg"):
        raise Skip("there is no ffmpeg")
    make_run()
    with open("x.mp4", "wb") as file:
        file.write(b"old")
    for name in ("x.mp4", "x.gif"):
        done = run("movie", "run", "--size", "320x180", "--samples", "1", "--force", "-o", name, "--speed", "0.05",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)))
        assert done.returncode == 3 and "ffmpeg could not make it" in done.err, done.err
    with open("x.mp4", "rb") as file:
        assert file.read() == b"old"
    assert not os.path.exists("x.gif") and [n for n in os.listdir(".") if "tmp" in n] == []


def an_ffmpeg_that_gives_up_says_why():
    make_run()
    os.mkdir("bin")
    with open("bin/ffmpeg", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nhead -c 9000 > /dev/null\necho 'No space left on device' >&2\nexit 1\n")
    os.chmod("bin/ffmpeg", 0o755)
    path = {**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}
    done = run("movie", "run", "-o", "x.mp4", "--size", "320x180", "--samples", "1", "--speed",
               "0.05", env=path)
    assert done.returncode == 3, done.returncode
    assert done.err == "filum: x.mp4: ffmpeg could not make it: No space left on device\n", done.err
    assert sorted(os.listdir()) == ["bin", "run", "scene.json"], os.listdir()
    with open("bin/ffmpeg", "w", encoding="utf-8") as file:  # content with a part of the film
        file.write("#!/bin/sh\nhead -c 9000 > /dev/null\nfor out; do :; done\necho part > \"$out\"\n")
    with open("x.mp4", "wb") as file:
        file.write(b"old")
    done = run("movie", "run", "-o", "x.mp4", "--size", "320x180", "--samples", "1", "--speed",
               "0.05", "--force", env=path)
    assert done.returncode == 3, done.returncode
    assert done.err == "filum: x.mp4: ffmpeg could not make it: it ended at picture 1\n", done.err
    with open("x.mp4", "rb") as file:
        assert file.read() == b"old"  # an unfinished film replaces nothing
    assert sorted(os.listdir()) == ["bin", "run", "scene.json", "x.mp4"], os.listdir()


def without_ffmpeg_the_pictures_stay_with_the_command_to_run():
    make_run()
    done = works("movie", "run", "-o", "x.mp4", "--size", "33x31", "--samples", "1", "--speed",
                 "0.05", "--fps", "10", env={**os.environ, "PATH": "/nowhere"})
    assert done.out == "5 pictures, 0.5 s -> x-frames\n", done.out
    command = done.err.split("this command makes the film: ", maxsplit=1)[1].strip()
    assert command.startswith("ffmpeg -framerate 10 -i 'x-frames/frame-%05d.png'"), command
    if shutil.which("ffmpeg"):
        subprocess.run(["sh", "-c", command.replace("ffmpeg", "ffmpeg -v error", 1)], check=True,
                       timeout=60)
        assert os.path.getsize("x.mp4") > 0
    assert sorted(os.listdir("x-frames")) == [f"frame-0000{k}.png" for k in range(5)]
    assert decode("x-frames/frame-00004.png")[:2] == (33, 31)


def a_folder_takes_pictures():
    make_run()
    works("movie", "run", "-o", "./p", "--size", "32x32", "--samples", "1", "--first", "2", "--last",
          "-3", "--every", "3", "--speed", "0.01", "--background", "none")
    # 12 ms, a hundred times slower, 30 a second: 37 pictures
    assert len(os.listdir("p")) == 37
    fails(3, "exists already", "movie", "run", "-o", "p", "--size", "32x32", "--samples", "1")


def wait_for_handler(pid):
    """Until the program catches Ctrl-C."""
    caught = 0
    while caught & 1 << (signal.SIGINT - 1) == 0:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt"))
        time.sleep(0.01)


def interrupted_work_leaves_nothing_behind():
    make_run()
    for verb, out in (("render", "x.png"), ("movie", "x.mp4"), ("movie", "new/p")):
        if out == "x.mp4" and not shutil.which("ffmpeg"):
            continue
        with subprocess.Popen([FILUM, verb, "run", "-o", out, "--samples", "2048", "--size",
                               "1920x1080"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            wait_for_handler(child.pid)
            child.send_signal(signal.SIGINT)
            said = child.communicate(timeout=60)[1].decode()
            assert child.returncode == 130, child.returncode
            assert said == f"filum: interrupted; {out} was not written\n", said
        assert sorted(os.listdir()) == ["run", "scene.json"], os.listdir()


def pictures_of_an_interrupted_film_are_kept_and_counted():
    make_run()
    with subprocess.Popen([FILUM, "movie", "run", "-o", "p", "--samples", "8", "--size", "400x300",
                           "--speed", "0.001"], stderr=subprocess.PIPE) as child:
        while not os.path.exists("p/frame-00001.png"):
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=60)[1].decode()
    count = len(os.listdir("p"))
    assert said == f"filum: interrupted; {count} of 601 pictures are kept in p\n", (said, count)


def between_frames_a_slow_film_shows_what_lies_between():
    scene = {**SCENE, "rods": [], "friction_default": 0, "duration": 0.004, "bodies": [
        {**SCENE["bodies"][0], "at": [0, 0, 0.05], "velocity": [20, 0, 0]}]}
    with open("scene.json", "w", encoding="utf-8") as file:
        json.dump(scene, file)
    works("run", "scene.json", "--out", "run")  # frames at 0, 40 and 80 mm, pictures 10 mm apart
    works("movie", "run", "-o", "p", "--size", "160x90", "--samples", "4", "--speed", "0.015",
          "--background", "none", "--no-ground", "--camera", "eye=0.1,-1,0.05 target=0.1,0,0.05 fov=20")
    names = sorted(os.listdir("p"))
    assert len(names) == 9, names
    edge = []  # pixels from the left to the body
    for name in names:
        row = decode(f"p/{name}")[2][45]
        edge.append(next(x for x in range(160) if row[x][3] > 128))
    steps = [b - a for a, b in zip(edge, edge[1:])]
    assert max(steps) - min(steps) <= 1 and min(steps) > 0, edge


def lefts(folder, limit=128):
    """Of each picture of a film how many pixels are left of what is seen."""
    found = []
    for name in sorted(os.listdir(folder)):
        row = decode(f"{folder}/{name}")[2][45]
        found.append(next(x for x in range(160) if row[x][3] > limit))
    return found


def fly():
    """A body at 0, 20, .. 100 mm in the frames at 0, 2, .. 10 ms."""
    make_run({**SCENE, "rods": [], "friction_default": 0, "duration": 0.010, "bodies": [
        {**SCENE["bodies"][0], "at": [0, 0, 0.05], "velocity": [10, 0, 0]}]})


def film(speed, *more):
    """Of each picture of a film of the body how many pixels are left of it."""
    shutil.rmtree("p", ignore_errors=True)
    works("movie", "run", "-o", "p", "--speed", str(speed), "--size", "160x90", "--samples", "4",
          "--background", "none", "--no-ground", "--camera", CAMERA, *more)
    return lefts("p")


def frames_left_out_are_not_blended_and_the_end_is_shown():
    fly()
    a, b = film(0.06), film(0.06, "--every", "4")  # a frame in each picture
    assert len(a) == 6 and b == [a[0]] * 4 + [a[4], a[5]], (a, b)
    b = film(0.09, "--every", "4")  # pictures at 0, 3, 6 and 9 ms
    assert b == [a[0]] * 3 + [a[5]], (a, b)
    assert film(1, "--every", "4") == [a[0]]  # one picture is that of the beginning


def a_film_goes_from_its_first_frame_to_its_last():
    fly()
    a = film(0.06)
    assert film(0.06, "--first", "1", "--last", "4") == a[1:5]
    b = film(0.05)  # 10 ms are six times a thirtieth of a second, but for the last digit
    assert len(b) == 7 and (b[0], b[6]) == (a[0], a[5]), (a, b)


def a_film_goes_on_where_two_frames_are_of_one_time():
    fly()
    a = film(0.06)
    with read_h5("run/result.h5", "r+") as file:
        frames = file["frames"][:]
        frames["time"][2] = frames["time"][3]
        file["frames"][:] = frames
    b = film(0.06)
    assert b[:2] == a[:2] and b[3:] == a[3:], (a, b)


def seen_of(path):
    """Rows and columns of the pixels that are covered; by no more than 3/4 where there is shadow."""
    return [(y, x) for y, row in enumerate(decode(path)[2]) for x, pixel in enumerate(row)
            if pixel[3] > 200]


def all_of_a_film_is_in_view():
    """Also what is far off, above and below for a moment: a small ball, and a large one on its way."""
    make_run({**SCENE, "rods": [], "friction_default": 0, "duration": 0.1, "output": {"every": "1 ms"},
              "bodies": [{"shape": "sphere", "radius": radius, "material": "steel", "at": [0, 0, 2 * radius]}
                         for radius in (0.1, 1)]})
    ways = {7: (3, 0, 0), 20: (-3, 0, 0), 32: (0, 3, 0), 49: (0, -3, 0), 60: (0, 0, 3), 70: (0, 0, -3)}
    with read_h5("run/result.h5", "r+") as file:
        places = file["rigids/position"]
        far = (20, 30, -40)  # from the origin
        places[:] = far
        for frame, way in ways.items():
            for ball, part in (0, 1), (1, 0.87):
                places[frame, ball] = [x + part * dx for x, dx in zip(far, way)]
    common = ("--size", "80x45", "--samples", "2", "--background", "none")
    works("movie", "run", "-o", "p", "--speed", "0.03", *common)
    assert len(os.listdir("p")) == 101
    works("movie", "run", "-o", "q", "--speed", "0.027", "--first", "48", "--last", "49", *common)
    assert len(os.listdir("q")) == 2  # the second is nearly there
    for name in [f"p/frame-{frame:05}.png" for frame in ways] + ["q/frame-00001.png"]:
        seen = seen_of(name)
        assert len(seen) > 9, (name, seen)
        assert all(0 < y < 44 and 0 < x < 79 for y, x in seen), name


def a_scale_is_that_of_the_whole_film():
    make_run()
    with read_h5("run/result.h5", "r+") as file:
        speeds = file["rods/velocity"]
        speeds[:] = 0.5
        speeds[3] = 7  # for a moment
    common = ("run", "--size", "200x150", "--samples", "1", "--camera", CAMERA, "--colour", "speed")
    works("movie", *common, "-o", "p", "--speed", "0.06")
    works("render", *common, "-o", "x.png", "--frame", "3")
    corner = [row[:100] for row in decode("x.png")[2][110:]]
    for name in (0, 3, 10):
        assert [row[:100] for row in decode(f"p/frame-{name:05}.png")[2][110:]] == corner, name
    works("render", *common, "-o", "y.png", "--frame", "0")
    assert [row[:100] for row in decode("y.png")[2][110:]] != corner  # that of a picture is its own


def strange_times_and_places_are_named():
    make_run()
    for first, second, text in ((0.01, 0.008, "after one at 0.01 s"), (math.nan, 0.01, "is nan s")):
        shutil.copy("run/result.h5", "bad.h5")
        with read_h5("bad.h5", "r+") as file:
            frames = file["frames"][:]
            frames["time"][4:6] = first, second
            file["frames"][:] = frames
        fails(3, text, "movie", "bad.h5", "-o", "p", "--size", "32x32")
    shutil.copy("run/result.h5", "bad.h5")
    with read_h5("bad.h5", "r+") as file:
        file["rods/position"][3, 1, 0] = 1e200
    fails(3, "the frame at 0.006 s has a coordinate of 1e+200 m; pictures show at most", "render",
          "bad.h5", "-o", "x.png", "--frame", "3")
    fails(3, "has a coordinate of 1e+200 m", "movie", "bad.h5", "-o", "p", "--speed", "0.05")
    assert sorted(os.listdir()) == ["bad.h5", "run", "scene.json"]


def the_nearest_frame_is_drawn_also_a_little_after_the_end():
    make_run()
    for text in ("0.0200001", "0.0209", "0.0195"):
        done = works("render", "run", "-o", "x.png", "--time", text, "--size", "16x16", "--force")
        assert done.out == "frame 10, 0.02 s -> x.png\n", done.out
    fails(2, "--time is 0.0210001; the run has 11 frames up to 0.02 s", "render", "run", "-o",
          "y.png", "--time", "0.0210001")


def a_film_may_have_a_name_like_an_option():
    if not shutil.which("ffmpeg"):
        raise Skip("there is no ffmpeg")
    make_run()
    works("movie", "run", "-o", "-z.mp4", "--size", "32x32", "--samples", "1")
    assert os.path.getsize("-z.mp4") > 0
    fails(3, "no/x.mp4: cannot write it: No such file", "movie", "run", "-o", "no/x.mp4")


def bad_command_lines_are_explained():
    make_run()
    fails(2, "which run?", "render")
    fails(2, "where should the picture go?", "render", "run")
    fails(2, "a picture is a .png file", "render", "run", "-o", "x.jpg")
    fails(2, "where should the film go?", "movie", "run")
    fails(2, "a film is a .mp4, .webm or .gif file", "movie", "run", "-o", "x.avi")
    fails(2, "--size is \"10\"", "render", "run", "-o", "x.png", "--size", "10")
    fails(2, "--size is \"99999x100\"", "render", "run", "-o", "x.png", "--size", "99999x100")
    fails(2, "the camera has \"eye=1\"", "render", "run", "-o", "x.png", "--camera", "eye=1")
    for camera, why in (("eye=1,1,1 eye=2,2,2", "eye twice"), ("fov=20 up=0,1,0 fov=30", "fov twice"),
                        ("eye=1,1,1 from=1,0,0", "eye and from"), ("zoom=2 eye=1,1,1", "eye and zoom")):
        fails(2, f"the camera has {why}", "render", "run", "-o", "x.png", "--camera", camera)
    fails(2, "did you mean curvature?", "render", "run", "-o", "x.png", "--colour", "curvatur")
    fails(2, "--last is frame 1, before --first, 2", "movie", "run", "-o", "p", "--first", "2",
          "--last", "1")
    fails(2, "the film would have 600000000 pictures; with a higher --speed", "movie", "run", "-o",
          "p", "--speed", "1e-9")
    fails(2, "--background none is for pictures", "movie", "run", "-o", "x.mp4", "--background",
          "none")
    done = run("movie", "run", "-o", "new/p", "--size", "64x64", "--samples", "1",
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)))
    assert done.returncode == 3 and not os.path.exists("new"), done.err
    fails(3, "no/x.png: cannot write it", "render", "run", "-o", "no/x.png", "--size", "16x16")


def bad_runs_are_explained():
    fails(3, "none", "render", "none", "-o", "x.png")
    with open("text.h5", "w", encoding="utf-8") as file:
        file.write("this is not a run\n" * 100)
    fails(3, "text.h5", "render", "text.h5", "-o", "x.png")
    subprocess.run([MAKE_RESULTS, "write", "whole.h5", "3", "4", "8", "5"], check=True,
                   stdout=subprocess.DEVNULL)
    with open("whole.h5", "rb") as file:
        data = file.read()
    with open("cut.h5", "wb") as file:
        file.write(data[:len(data) // 2])
    fails(3, "cut.h5", "render", "cut.h5", "-o", "x.png")
    subprocess.run([MAKE_RESULTS, "write", "empty.h5", "0", "4", "8", "5"], check=True,
                   stdout=subprocess.DEVNULL)
    fails(3, "empty.h5: the run has no frames", "movie", "empty.h5", "-o", "p")
    assert not os.path.exists("x.png") and not os.path.exists("p")


def a_field_that_an_old_run_does_not_have_is_named():
    subprocess.run([MAKE_RESULTS, "write", "old.h5", "3", "4", "8", "5"], check=True,
                   stdout=subprocess.DEVNULL)
    with read_h5("old.h5", "r+") as file:
        del file["rods/tension"]
    fails(3, "does not contain tension", "render", "old.h5", "-o", "x.png", "--colour", "tension")
    works("render", "old.h5", "-o", "x.png", "--colour", "speed", "--size", "32x32")


def trees_meshes_planes_and_growing_runs_are_drawn():
    with subprocess.Popen([MAKE_RESULTS, "write", "run.h5", "4", "5", "9", "5", "wait"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        for _ in range(2):
            child.stdin.write(b"\n")
            child.stdin.flush()
            child.stdout.readline()
        done = works("render", "run.h5", "-o", "x.png", "--size", "64x36", "--samples", "2")
        assert "still going on; it has 2 frames by now" in done.err, done.err
        child.stdin.close()
        child.wait(timeout=60)
    assert len({pixel for row in decode("x.png")[2] for pixel in row}) > 10


HELPERS = ("works", "make_run", "greys", "paeth", "decode", "project", "differs", "wait_for_handler",
           "camera_of", "content", "read_h5", "lefts", "fly", "film", "seen_of")

if __name__ == "__main__":
    WANTED = sys.argv[3] if len(sys.argv) > 3 else ""
    sys.exit(sentences.main(globals(), WANTED, HELPERS))
