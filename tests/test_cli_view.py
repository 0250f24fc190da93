#!/usr/bin/python3
"""Asks the server of the viewer, as a browser, a stranger and a vandal would.

    test_cli_view.py FILUM MAKE_RESULTS [filter]
"""

import http.client
import json
import os
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import time

import sentences
from sentences import Skip

FILUM = os.path.abspath(sys.argv[1])
run, fails = sentences.program(FILUM)
MAKE_RESULTS = os.path.abspath(sys.argv[2])
os.environ["OMP_NUM_THREADS"] = "1"

# a clamped strand over a floor, and a wind that rises
SCENE = {
    "name": "small", "duration": 0.1, "step": "1 ms",
    "materials": {"hair": {}, "skin": {}},
    "friction": [{"between": ["hair", "skin"], "mu": 0.3}, {"between": ["hair", "hair"], "mu": 0.2}],
    "rods": [{"name": "strand", "model": "helix", "elements": 5, "material": "hair",
              "length": "10 cm", "radius": "0.1 mm", "drag": 1e-4,
              "root": {"at": [0, 0, 0.01], "along": [1, 0, 0], "held": "clamped"}}],
    "obstacles": [{"name": "floor", "shape": "plane", "material": "skin"}],
    "events": [{"time": 0.03, "wind": [0, 1, 0]}],
    "output": {"every": "5 ms", "save": "20 ms"}}

ARRAYS = ("position", "quaternion", "velocity", "curvature", "tension", "elastic", "force", "state",
          "rigids", "obstacles", "contacts")


class Server:
    """The program, serving; ended by Ctrl-C."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([FILUM, *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.url = self.process.stdout.readline().decode().strip()
        if "--json" in arguments:
            self.url = json.loads(self.url)["url"]
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.url)
        if not found:
            self.process.kill()
            raise AssertionError((self.url, self.process.communicate()[1].decode()))
        self.port, self.token = int(found[1]), found[2]
        self.out = self.err = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None and self.process.stdout is not None:
            self.process.kill()
        self.process.communicate()

    def ask(self, path, method="GET", body=None, host=None, whole=False, headers=None):
        """(status, body) of a path below the token, or of a whole path."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        path = path if whole else f"/{self.token}/{path}"
        connection.putrequest(method, path, skip_host=host is not None)
        if host is not None:
            connection.putheader("Host", host)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        self.headers = dict(answer.getheaders())
        data = answer.read()
        connection.close()
        return answer.status, data

    def get(self, path):
        status, data = self.ask(path)
        assert status == 200, (path, status, data)
        return data

    def state(self):
        return json.loads(self.get("api/state"))

    def do(self, **action):
        """Ask for an action; the answer must be that it was taken."""
        status, data = self.ask("api/do", "POST", json.dumps(action).encode(),
                                headers={"Content-Type": "application/json"})
        assert status == 200 and json.loads(data) == {"ok": True}, (action, status, data)

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition(self.state()):
            assert time.monotonic() < end, ("it never came", self.state())
            time.sleep(0.005)

    def end(self, status=0):
        """Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        self.out, self.err = out.decode(), err.decode()
        assert self.process.returncode == status, (self.process.returncode, self.err)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)


def write(name="scene.json", **changes):
    with open(name, "w", encoding="utf-8") as file:
        json.dump({**SCENE, **changes}, file)
    return name


def fake(path="fake.h5", frames=5, rods=3, points=4, contacts=6):
    sizes = [str(n) for n in (frames, rods, points, contacts)]
    subprocess.run([MAKE_RESULTS, "write", path, *sizes], check=True, stdout=subprocess.DEVNULL)
    return path


def unpack(data):
    """A frame as {name: list of floats}, with its header."""
    assert data[:4] == b"FILF" and len(data) >= 64
    version, at, step = struct.unpack_from("<Idd", data, 4)
    counts = struct.unpack_from("<4I", data, 24)
    mask, index = struct.unpack_from("<2I", data, 40)
    found = {"version": version, "time": at, "step": step, "counts": counts, "index": index}
    place = 64
    for bit, name in enumerate(ARRAYS):
        numbers = (3, 4, 3, 3, 1, 1, 1, 1, 7, 7, 20)[bit]
        count = counts[(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3)[bit]] * numbers
        if mask >> bit & 1:
            kind = "B" if name == "state" else "f"
            found[name] = struct.unpack_from(f"<{count}{kind}", data, place)
            place += (count * (1 if kind == "B" else 4) + 7) // 8 * 8
    assert place == len(data), (place, len(data))
    return found


def read_h5(path):
    try:
        import h5py  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Skip("there is no h5py") from error
    return h5py.File(path, "r")


def same(one, other):
    """Two results with the same bits, but for the seconds."""
    with read_h5(one) as a, read_h5(other) as b:
        names = []
        a.visit(names.append)
        for name in names:
            if not hasattr(a[name], "dtype") or name == "options":
                continue
            first, second = a[name][()], b[name][()]
            for part in getattr(a[name].dtype, "names", None) or [None]:
                if part is None or not part.startswith("seconds"):
                    x, y = (first, second) if part is None else (first[part], second[part])
                    x, y = (v.tobytes() if hasattr(v, "tobytes") else v for v in (x, y))
                    assert x == y, f"{name}/{part} differs"


# --------------------------------------------------------------------------------------------- view

def the_page_and_the_run_are_served():
    with Server("view", fake()) as server:
        page = server.get("")
        assert b"<html" in page and b"Filum" in page
        assert server.headers["Content-Type"].startswith("text/html")
        assert "default-src 'none'" in server.headers["Content-Security-Policy"]
        assert "connect-src 'self'" in server.headers["Content-Security-Policy"]
        about = json.loads(server.get("api/run"))
        for name, value in (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
                            ("Referrer-Policy", "no-referrer")):
            assert server.headers[name] == value
        assert about["protocol"] == 1 and about["live"] is False and about["name"] == "fake"
        assert about["pointCount"] == 12 and len(about["rods"]) == 3 and about["meshCount"] == 1
        assert about["rods"][1]["firstPoint"] == 4 and about["rods"][1]["model"] == "clothoid"
        assert [line[:3] for line in about["lines"]] == [[0, 0, 2], [0, 2, 2], [1, 4, 4], [2, 8, 4]]
        for rod, _, _, radius in about["lines"]:
            assert abs(radius - about["rods"][rod]["radius"]) < 1e-9 * radius
        assert [o["shape"] for o in about["obstacles"]] == ["plane", "mesh"]
        assert "speed" in about["fields"]
        state = server.state()
        assert state["frames"] == 5 and state["finished"] and not state["growing"]
        assert state["error"] is None and state["steps"] == 40
        status, nothing = server.ask("api/run", "HEAD")
        assert status == 200 and nothing == b""
        points = server.get("api/points")
        assert struct.unpack("<12i", points[48:]) == (0,) * 4 + (1,) * 4 + (2,) * 4
        mesh = server.get("api/mesh/0")
        assert struct.unpack_from("<2I", mesh) == (4, 4) and len(mesh) == 8 + 48 + 48
        assert struct.unpack_from("<12I", mesh, 56) == (0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3)
        server.end()
        assert server.out == "" and "Ctrl-C" in server.err


def frames_are_those_of_the_file():
    with Server("view", fake()) as server, read_h5("fake.h5") as file:
        rows = file["frames"]
        times = struct.unpack("<5d", server.get("api/times"))
        assert list(times) == list(rows["time"])
        assert struct.unpack("<2d", server.get("api/times?from=3")) == times[3:]
        for k in range(5):
            frame = unpack(server.get(f"api/frame/{k}"))
            assert frame["index"] == k and frame["time"] == times[k]
            assert frame["counts"][:3] == (12, 1, 2)
            for name in ("position", "quaternion", "velocity", "curvature"):
                want = file[f"rods/{name}"][k].astype("f4").ravel()
                assert tuple(want) == frame[name], name
        some = unpack(server.get("api/frame/2?with=position%2Ccontacts"))
        assert set(some) - {"version", "time", "step", "counts", "index"} == {"position", "contacts"}
        energies = struct.unpack("<35d", server.get("api/energies"))
        assert energies[7:14] == (times[1], 1, 2, 3, 0, -1, 0)
        steps = server.get("api/steps?from=10&count=5")
        assert len(steps) == 5 * 6 * 8
        assert server.get("api/steps?from=1000") == b""
        server.end()


def strangers_are_turned_away():
    with Server("view", fake()) as server:
        for host in ("evil.com", f"evil.com:{server.port}", "127.0.0.1.evil.com", ""):
            assert server.ask("", host=host)[0] == 403, host
        assert server.ask("api/run", host=f"localhost:{server.port}")[0] == 200
        nothing = server.ask("/", whole=True)
        assert nothing[0] == 404
        wrong = "0" * 32
        for path in (f"/{wrong}/", f"/{wrong}/api/run", "/api/run", "/favicon.ico", "/etc/passwd",
                     "/../../../../etc/passwd", f"/{wrong}", f"/{server.token}0", f"/{server.token}0/",
                     f"/{server.token[:-1]}", f"/{server.token[1:]}0/", "/%2e%2e/%2e%2e/etc/passwd"):
            assert server.ask(path, whole=True) == nothing, path
        for path in ("../../../../etc/passwd", "..%2f..%2fetc/passwd", "api/../../../etc/passwd",
                     "fake.h5", "api/frame/../../fake.h5"):
            status, data = server.ask(path)
            assert status in (400, 404) and "error" in json.loads(data), path
        assert server.ask("api/frame/5")[0] == 404
        assert server.ask("api/mesh/1")[0] == 404
        assert server.ask("api/now")[0] == 409
        assert server.ask("api/run", "PUT")[0] == 405
        assert server.ask("api/run", "POST", b"{}")[0] == 405
        assert server.ask("api/do")[0] == 405
        as_json = {"Content-Type": "application/json"}
        assert server.ask("api/do", "POST", b"{}", headers=as_json)[0] == 409
        assert server.ask("api/do", "POST", b"{}", headers={"Content-Type": "text/plain"})[0] == 415
        assert server.ask("api/do", "POST", b"{}",
                          headers={**as_json, "Origin": "http://evil.com"})[0] == 403
        assert server.ask("api/do", "POST", b"x" * 65537, headers=as_json)[0] == 413
        server.get("api/state")
        server.end()


def the_url_without_its_last_slash_leads_to_the_page():
    with Server("view", fake()) as server:
        for path in (f"/{server.token}", f"/{server.token}?dark"):
            for method in ("GET", "HEAD"):
                assert server.ask(path, method, whole=True)[0] == 302
                assert server.headers["Location"] == f"/{server.token}/"
        assert server.ask(f"/{server.token}", whole=True, host="evil.com")[0] == 403
        assert "Location" not in server.headers
        server.ask("/" + "0" * 32, whole=True)
        assert "Location" not in server.headers
        server.end()


def a_body_may_have_64_kib():
    headers = {"Content-Type": "application/json; charset=utf-8"}
    with live("live") as server:
        body = b'{"do":"pause"' + b" " * (65536 - 14) + b"}"
        assert server.ask("api/do", "POST", body, headers=headers)[0] == 200
        assert server.ask("api/do", "POST", body + b" ", headers=headers)[0] == 413
        for kind in ("application/jsonp", "application/jso", "text/json", ""):
            assert server.ask("api/do", "POST", b'{"do":"pause"}',
                              headers={"Content-Type": kind})[0] == 415, kind
        assert server.ask("api/do", "POST", b'{"do":"pause"}', headers={
            **headers, "Origin": f"http://127.0.0.1:{server.port}"})[0] == 200
        for origin in ("null", "", f"http://127.0.0.1:{server.port + 1}",
                       f"https://127.0.0.1:{server.port}", f"http://127.0.0.1:{server.port}/"):
            assert server.ask("api/do", "POST", b'{"do":"pause"}',
                              headers={**headers, "Origin": origin})[0] == 403, origin
            assert server.ask("api/run", headers={"Origin": origin})[0] == 403, origin
        server.end(130)


def a_tunnel_may_have_another_port():
    """What ssh -L 9999:127.0.0.1:PORT makes of requests; a name of somebody else's is refused."""
    as_json = {"Content-Type": "application/json"}
    with live("live") as server:
        for host in ("localhost:9999", "127.0.0.1:9999", "[::1]:9999", "localhost"):
            assert server.ask("api/state", host=host)[0] == 200, host
            status, data = server.ask("api/do", "POST", b'{"do":"pause"}', host=host,
                                      headers={**as_json, "Origin": f"http://{host}"})
            assert status == 200, (host, data)
            assert server.ask("api/do", "POST", b'{"do":"pause"}', host=host, headers={
                **as_json, "Origin": "http://localhost:8888"})[0] == 403, host
        for host in ("evil.com:9999", "localhost.evil.com:9999", f"10.0.0.1:{server.port}"):
            status, data = server.ask("api/state", host=host)
            assert status == 403, host
            assert "ssh -L PORT:127.0.0.1:PORT USER@MACHINE" in json.loads(data)["error"], data
        server.end(130)


def only_this_machine_is_listened_to():
    """Linux gives all of 127.x.x.x to whoever listens everywhere."""
    with Server("view", fake()) as server:
        try:
            socket.create_connection(("127.0.0.2", server.port), timeout=30).close()
        except ConnectionRefusedError:
            server.end()
            return
        raise AssertionError("it listens beside 127.0.0.1")


def a_scene_that_names_files_is_not_read():
    """The run shows what is in it, and nothing else of the disk."""
    with open("tetra.obj", "w", encoding="utf-8") as file:
        file.write("v 0 0 -1\nv 1 0 -1\nv 0 1 -1\nv 0 0 -2\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n")
    solid = {"shape": "mesh", "file": "tetra.obj", "material": "skin"}
    for name, solids in (("with", [solid]), ("without", [])):
        path = write("scene.json", obstacles=solids)
        done = run("run", path, "--until", "0.002", "--out", name, "--threads", "1")
        assert done.returncode == 0, done.err
        with Server("view", name) as server:
            about = json.loads(server.get("api/run"))
            assert about["materials"] == ([] if solids else ["hair", "skin"]), about["materials"]
            assert about["meshCount"] == len(solids)
            server.end()


def garbage_does_no_harm():
    with Server("view", fake()) as server:
        for data in (b"\x00" * 100, b"\xff" * 5000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     b"\r\n" * 1000, b"GET " + b"/x" * 50000 + b" HTTP/1.1\r\n\r\n",
                     b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
                     f"POST /{server.token}/api/do HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                     "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "fffffffffff\r\n".encode(), os.urandom(3000)):
            with server.connect() as connection:
                try:
                    connection.sendall(data)
                    connection.settimeout(0.2)
                    connection.recv(100000)
                except OSError:
                    pass
            server.get("api/state")
        server.end()


def a_client_that_leaves_in_the_middle_is_forgotten():
    with Server("view", fake(rods=200, points=500)) as server:
        for _ in range(20):
            with server.connect() as connection:
                connection.sendall(f"GET /{server.token}/api/frame/1 HTTP/1.1\r\n"
                                   f"Host: 127.0.0.1:{server.port}\r\n\r\n".encode())
                assert connection.recv(100)
                # closing with data unread resets the connection
        assert len(server.get("api/frame/1")) > 5000000
        server.end()


def a_thousand_connections_are_survived():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1200:
        raise Skip(f"only {hard} files may be open")
    with Server("view", fake()) as server:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1200, hard))
        held = []
        try:
            for k in range(1000):
                connection = socket.socket()
                connection.setblocking(False)
                connection.connect_ex(("127.0.0.1", server.port))
                held.append(connection)
                if k % 3 == 0 and select.select([], [connection], [], 0)[1]:
                    try:
                        connection.send(b"GET / HT")  # and never the rest
                    except OSError:
                        pass
            server.get("api/state")  # it is slow, but it comes
        finally:
            for connection in held:
                connection.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        server.wait(lambda state: state["frames"] == 5)
        server.end()


def a_port_in_use_is_told():
    with Server("view", fake()) as server:
        fails(3, f"port {server.port} is in use", "view", "fake.h5", "--port", str(server.port))
        fails(3, f"port {server.port} is in use", "run", write(), "--live", "--port",
              str(server.port))
        assert not os.path.exists("runs/scene")  # nothing was begun, and nothing is left
        server.end()
    with Server("view", fake("again.h5"), "--port", str(server.port)) as again:
        assert again.port == server.port and again.token != server.token
        again.end()


def what_is_no_run_is_told():
    fails(3, "none", "view", "none")
    write("scene.json")
    fails(3, "scene.json", "view", "scene.json")
    with open(fake(), "rb") as file:
        data = file.read()
    for size in (0, 100, len(data) // 3, len(data) - 1000):
        with open("cut.h5", "wb") as file:
            file.write(data[:size])
        done = run("view", "cut.h5", timeout=60)
        assert done.returncode == 3 and "cut.h5" in done.err, (size, done.returncode, done.err)
    fails(2, "which run?", "view")
    fails(2, "one run", "view", "a", "b")
    fails(2, "--port", "view", "fake.h5", "--port", "65536")


def a_run_that_breaks_while_it_is_shown_is_told():
    path = fake(rods=20, points=50, frames=30)
    with Server("view", path) as server:
        server.get("api/frame/0")
        os.truncate(path, os.path.getsize(path) // 2)
        told = False
        for k in range(30):
            status, data = server.ask(f"api/frame/{k}")
            assert status in (200, 500), (status, data)
            if status == 500:
                told = "fake.h5" in json.loads(data)["error"]
                assert "fake.h5" in server.state()["error"]
        assert told
        server.end()


def a_growing_run_grows():
    sizes = ["6", "3", "4", "5"]
    writer = subprocess.Popen([MAKE_RESULTS, "write", "grow.h5", *sizes, "wait"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def append():
        writer.stdin.write(b"\n")
        writer.stdin.flush()
        assert writer.stdout.readline().startswith(b"frame")
    append()
    append()
    with Server("view", "grow.h5") as server:
        state = server.state()
        assert state["frames"] == 2 and state["growing"] and not state["finished"], state
        assert server.ask("api/frame/2")[0] == 404
        for k in range(2, 6):
            append()
            server.wait(lambda state, k=k: state["frames"] == k + 1)
            assert unpack(server.get(f"api/frame/{k}"))["index"] == k
        writer.communicate()
        server.wait(lambda state: state["finished"])
        assert server.state()["frames"] == 6
        server.end()


def json_tells_where_the_server_is():
    with subprocess.Popen([FILUM, "view", fake(), "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        about = json.loads(process.stdout.readline())
        assert about["url"].startswith(f"http://127.0.0.1:{about['port']}/")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 0


# --------------------------------------------------------------------------------------------- live

def step(server, count):
    """Take steps, one by one, of a world that is paused."""
    for _ in range(count):
        before = server.state()["steps"]
        server.do(do="step")
        server.wait(lambda state, before=before: state["steps"] == before + 1)


def live(out, *more):
    return Server("run", write(), "--live", "--paused", "--threads", "1", "--out", out, *more)


def present(server, moment):
    """The world at that time, once it is shown."""
    found = {}

    def is_there(_):
        found.update(unpack(server.get("api/now?with=position")))
        return abs(found["time"] - moment) < 1e-9
    server.wait(is_there)
    return found


def settle(server, key, value):
    """Wait until the state shows what was asked for."""
    server.wait(lambda state: state[key] == value)


def a_live_world_is_paused_stepped_and_changed():
    with live("live", "--speed", "0") as server:
        about = json.loads(server.get("api/run"))
        assert about["live"] and about["materials"] == ["hair", "skin"]
        assert about["gravity"] == [0, 0, -9.81] and about["name"] == "small"
        state = server.state()
        assert state["running"] is False and state["time"] == 0 and state["grab"] is None
        assert {"a": "hair", "b": "skin", "mu": 0.3} in state["friction"]
        step(server, 3)
        server.wait(lambda state: abs(state["time"] - 0.003) < 1e-9)
        now = present(server, 0.003)
        assert now["index"] == 0xffffffff and now["step"] == 3
        server.do(do="gravity", value=[0, 1, -5])
        settle(server, "gravity", [0, 1, -5])
        server.do(do="wind", value=[1, 0, 0])
        settle(server, "wind", [1, 0, 0])
        server.do(do="friction", a="skin", b="hair", mu=0.8)
        server.wait(lambda state: {"a": "hair", "b": "skin", "mu": 0.8} in state["friction"])
        server.do(do="grab", rod=0, s=0.1, target=[0.08, 0.02, 0.03], twist=0.5)
        server.wait(lambda state: state["grab"] is not None)
        step(server, 20)
        server.wait(lambda state: state["grab"]["torque"] != 0)
        grab = server.state()["grab"]
        assert grab["rod"] == 0 and abs(grab["s"] - 0.1) < 1e-9 and any(grab["force"]), grab
        tip = present(server, 0.023)["position"][-3:]
        assert 0.001 < tip[1] < 0.021 and tip[2] > 0, tip
        server.do(do="release")
        settle(server, "grab", None)
        server.do(do="resume")
        server.wait(lambda state: state["finished"])
        state = server.state()
        assert state["frames"] == 21 and state["steps"] == 100 and not state["running"]
        assert len(server.get("api/energies")) == 21 * 56
        server.end()
    assert (f"open it in a browser on this machine, or on another one after ssh -L {server.port}:"
            f"127.0.0.1:{server.port} USER@THIS-MACHINE; Ctrl-C saves and ends") in server.err, server.err
    assert "done at 0.1 s: 100 steps, 21 frames" in server.out, server.out
    with open("live/log.txt", encoding="utf-8") as file:
        log = file.read()
    for line in ("gravity becomes (0, 1, -5)", "friction of skin and hair becomes 0.8",
                 "rods[0] at 1 of its length is pulled to (0.08, 0.02, 0.03), with n1 turned to (",
                 "let go", "the end of the scene is reached after step 100"):
        assert line in log, log


def play(server, steps):
    """The same games in every run, at the same steps."""
    step(server, 12)
    server.do(do="gravity", value=[0, 0.5, -7])
    settle(server, "gravity", [0, 0.5, -7])
    step(server, 10)
    server.do(do="friction", a="hair", b="skin", mu=0.05)
    server.do(do="grab", rod=0, s=0.06, target=[0.05, 0.02, 0.02], twist=0.4)
    server.wait(lambda state: state["grab"] is not None)
    step(server, steps - 22)


def a_resumed_run_has_the_bits_of_the_live_one():
    with live("whole") as server:
        play(server, 45)
        server.do(do="release")
        settle(server, "grab", None)
        server.do(do="resume")
        server.wait(lambda state: state["finished"])
        server.do(do="stop")
        assert server.process.wait(60) == 0
    with live("stopped") as server:
        play(server, 45)
        server.end(130)  # the hand lets go
    assert "resume with: filum run scene.json" in server.err, server.err
    assert run("run", "scene.json", "--out", "stopped", "--resume", "--threads", "1").returncode == 0
    same("whole/result.h5", "stopped/result.h5")
    with live("killed") as server:  # with the hand on the rod, in the checkpoint of step 40
        play(server, 45)
        server.process.kill()
    with Server("run", "scene.json", "--live", "--paused", "--threads", "1", "--out", "killed",
                "--resume") as server:
        assert server.state()["grab"] is not None
        step(server, 5)
        server.do(do="release")
        settle(server, "grab", None)
        server.do(do="resume")
        server.wait(lambda state: state["finished"])
        server.end()
    same("whole/result.h5", "killed/result.h5")


def a_live_world_refuses_what_makes_no_sense():
    headers = {"Content-Type": "application/json"}
    with live("live") as server:
        for body, words in ((b"", "request"), (b"{}", "do"), (b"[1]", "do"),
                            (b'{"do":"grab","rod":7,"s":0,"target":[0,0,0]}', "rod is 7"),
                            (b'{"do":"grab","rod":0,"s":9,"target":[0,0,0]}', "s is 9"),
                            (b'{"do":"friction","a":"x","b":"hair","mu":1}', "material"),
                            (b'{"do":"step","count":5}', 'step has no "count"'),
                            (b'{"do":"gravity","value":[0,0,-1e9]}', "at most 100000 m/s^2"),
                            (b'{"do":"gravity","value":[0,0,1e400]}', "")):
            status, data = server.ask("api/do", "POST", body, headers=headers)
            assert status == 400 and words in json.loads(data)["error"], (body, status, data)
        server.do(do="stop")
        assert server.process.wait(60) == 0


def a_step_that_fails_pauses_a_live_world():
    """Too much for it comes from an event; gravity is given back, and it goes on."""
    free = {**SCENE["rods"][0], "name": "free", "root": {"at": [0, 0, 1], "held": "free"}}
    write("fail.json", rods=SCENE["rods"] + [free],
          events=[{"time": 0.03, "gravity": [0, 0, -1e200]}])
    with Server("run", "fail.json", "--live", "--speed", "0", "--threads", "1", "--out",
                "live") as server:
        server.wait(lambda state: state["error"] is not None)
        state = server.state()
        assert "leaves the range of numbers" in state["error"], state
        assert "paused in the state before this step" in state["error"], state
        assert not state["running"] and not state["finished"] and state["growing"], state
        assert state["steps"] == 30 and abs(state["time"] - 0.03) < 1e-12, state
        server.do(do="step")  # once more, and it is still there
        server.do(do="pause")
        server.wait(lambda state: "leaves the range" in state["error"] and state["steps"] == 30)
        server.do(do="gravity", value=[0, 0, -9.81])
        server.do(do="resume")
        server.wait(lambda state: state["finished"])
        assert server.state()["error"] is None and server.state()["steps"] == 100
        server.end()
    assert "paused in the state before this step" in server.err, server.err
    with open("live/log.txt", encoding="utf-8") as file:
        assert "step 31 failed: at time" in file.read()
    told = set()  # nobody watches: it ends, before the step that failed, and so it does once more
    for more in ((), ("--resume",)):
        done = run("run", "fail.json", "--threads", "1", "--out", "unseen", *more)
        assert done.returncode == 1, done.err
        told.add(done.err.splitlines()[-1])
    assert len(told) == 1 and "leaves the range" in told.pop()


def a_hand_at_the_end_of_the_world_tears_nothing():
    with live("live", "--speed", "0") as server:
        server.do(do="grab", rod=0, s=0.1, target=[0, 1000, 0])
        server.do(do="resume")
        server.wait(lambda state: state["error"] is not None or state["finished"])
        state = server.state()
        grab = state["grab"]
        assert state["error"] is None and grab["target"] == [0, 1000, 0], state
        force = sum(part * part for part in grab["force"]) ** 0.5
        assert 0.9 * grab["most_force"] < force <= (1 + 1e-6) * grab["most_force"], state
        server.end()


def a_hand_whose_browser_is_gone_lets_go():
    with live("live") as server:
        server.do(do="grab", rod=0, s=0.1, target=[0.1, 0.01, 0.01])
        for _ in range(600):  # it takes 5 s; asking would tell that somebody is there
            with open("live/log.txt", encoding="utf-8") as file:
                if "the rod is let go" in file.read():
                    break
            time.sleep(0.1)
        assert server.state()["grab"] is None
        server.end(130)


def the_end_of_a_scene_is_a_pause_of_a_live_world():
    """It stays, and goes on beyond; what it writes is what a longer run writes."""
    assert run("run", write(), "--until", "0.123", "--threads", "1", "--out", "longer").returncode == 0
    with live("live", "--speed", "0") as server:
        server.do(do="resume")
        server.wait(lambda state: state["finished"])
        state = server.state()
        assert state["growing"] and not state["running"] and state["steps"] == 100, state
        assert "The scene has ended" in state["note"] and state["until"] == 0.1, state
        assert os.path.exists("live/checkpoint.bin")
        step(server, 23)
        state = server.state()
        assert state["finished"] and abs(state["time"] - 0.123) < 1e-12, state
        server.do(do="stop")
        out, _ = server.process.communicate(timeout=60)
        assert server.process.returncode == 0 and b"done at 0.123 s: 123 steps" in out, out
    same("longer/result.h5", "live/result.h5")
    with Server("run", "scene.json", "--live", "--threads", "1", "--out", "live", "--resume") as server:
        server.wait(lambda state: state["finished"] and not state["running"])
        step(server, 2)
        server.end()
    assert "done at 0.125 s: 125 steps" in server.out, server.out
    done = run("run", "scene.json", "--out", "live", "--resume", "--threads", "1")
    assert done.returncode == 0 and "done at 0.125 s" in done.out, done.out


def an_end_says_who_asked_for_it():
    with live("stopped", "--json") as server:
        step(server, 3)
        server.do(do="stop")
        out, err = server.process.communicate(timeout=60)
        assert server.process.returncode == 0 and b"--resume" in err, err
        assert json.loads(out)["outcome"] == "stopped", out
    with live("interrupted", "--json") as server:
        step(server, 3)
        server.end(130)
        assert json.loads(server.out)["outcome"] == "interrupted", server.out
    with live("done", "--json") as server:
        server.do(do="resume")
        server.wait(lambda state: state["finished"])
        server.do(do="stop")
        out, err = server.process.communicate(timeout=60)
        assert server.process.returncode == 0 and b"--resume" not in err, err
        assert json.loads(out)["outcome"] == "done", out


def a_pause_is_no_part_of_the_progress():
    with live("live", "--speed", "0") as server:
        time.sleep(1)  # 10 steps in more than that would be less than 10 steps/s
        server.do(do="resume")
        server.wait(lambda state: state["finished"])
        server.end()
    rate = re.search(r"0\.01 s of 0\.1 s  \|  (\S+) steps/s", server.err)
    assert rate and float(rate[1]) > 10, server.err


def a_run_that_ends_before_its_time_is_told():
    with live("killed") as writer:
        step(writer, 45)
        with Server("view", "killed") as server:
            state = server.state()
            assert state["growing"] and not state["finished"] and state["note"] is None, state
            assert state["until"] == 0.1, state
            writer.process.kill()
            writer.process.wait()
            server.wait(lambda state: not state["growing"])
            state = server.state()
            assert not state["finished"] and "ends at 0.045 s of 0.1 s" in state["note"], state
            server.end()
    with Server("view", "killed") as server:  # which was mended meanwhile
        state = server.state()
        assert not state["growing"] and not state["finished"] and state["error"] is None, state
        assert "not finished" in state["note"] and "--resume" in state["note"], state
        server.end()
        assert "ends at 0.045 s of 0.1 s" in server.err, server.err
    assert run("run", "scene.json", "--out", "killed", "--resume", "--threads", "1").returncode == 0
    with Server("view", "killed/result.h5") as server:
        state = server.state()
        assert state["finished"] and state["note"] is None and state["until"] == 0.1, state
        server.end()
        assert "not finished" not in server.err
    with live("almost", "--until", "0.01") as writer:  # one step is missing
        step(writer, 9)
        writer.end(130)
    with Server("view", "almost") as server:
        assert not server.state()["finished"] and "0.009 s of 0.01 s" in server.state()["note"]
        server.end()
    # gone on with, for longer than it was begun for, and killed
    with Server("run", "scene.json", "--out", "killed", "--resume", "--threads", "1", "--until", "0.2",
                "--live", "--paused") as writer:
        step(writer, 25)
        writer.process.kill()
    with Server("view", "killed") as server:
        state = server.state()
        assert not state["finished"] and state["until"] == 0.2 and "of 0.2 s" in state["note"], state
        server.end()


def live_options_need_live():
    fails(2, "for --live", "run", write(), "--paused")
    fails(2, "for --live", "run", write(), "--port", "8080")


HELPERS = ("write", "fake", "unpack", "read_h5", "same", "step", "live", "present", "settle",
           "play", "Server")

if __name__ == "__main__":
    WANTED = sys.argv[3] if len(sys.argv) > 3 else ""
    sys.exit(sentences.main(globals(), WANTED, HELPERS))
