#!/usr/bin/python3
"""Drives the real program. Usage: test_cli.py FILUM MAKE_PROBLEMS [filter]"""

import json
import os
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree

import sentences
from sentences import Skip

FILUM, MAKE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
run, fails = sentences.program(FILUM)
FIELDS = ["file", "contacts", "dofs", "solver", "outcome", "iterations", "natural", "scaled",
          "alart_curnier", "fallbacks", "seconds"]


def rows(done):
    return [json.loads(line) for line in done.out.splitlines()]


# ----------------------------------------------------------------------------------------- command

def help_is_data_and_the_same_however_asked():
    general = run("--help")
    assert general.returncode == 0 and "usage: filum VERB" in general.out and general.err == ""
    assert run("help").out == general.out == run("-h").out
    verb = run("help", "solve")
    assert verb.returncode == 0 and verb.err == ""
    assert run("solve", "--help").out == verb.out == run("solve", "x", "-h").out
    for option in ("solver", "local", "function", "convex", "facets", "tol", "max-iterations", "max-seconds",
                   "threads", "json", "out", "force", "quiet", "help"):
        assert f"--{option}" in verb.out, option
    assert "examples:" in verb.out and "exit status" in verb.out


def the_version_tells_what_was_built():
    done = run("--version")
    lines = done.out.splitlines()
    assert done.returncode == 0 and lines[0].startswith("filum ") and "HDF5 1." in done.out
    assert any(line.startswith("build ") for line in lines)
    assert any(line.startswith("threads ") for line in lines)
    for library in ("AMD 2.", "METIS 5.", "OpenMP", "Embree 3.", "libpng 1.", "libmicrohttpd 0."):
        assert library in done.out, library
    assert "three.js 0." in done.out or "no viewer" in done.out, done.out


def who_says_nothing_is_told_where_to_begin():
    done = run()
    assert done.returncode == 2 and done.out == "" and done.err.count("\n") <= 15, done.err
    words = [line.split()[:2] for line in done.err.splitlines()[2:]]
    assert ["filum", "demo"] == words[0] and ["filum", "view"] in words, words
    assert max(len(line) for line in done.err.splitlines()) <= 80
    assert all(line in run("--help").out for line in done.err.splitlines()[2:])


def man_page_and_completion_come_from_the_table():
    man = run("help", "--man").out
    assert man.startswith(".TH FILUM 1") and "max\\-seconds" in man
    if shutil.which("man"):
        page = subprocess.run(["man", "--warnings", "-l", "-"], input=man.encode(),
                              capture_output=True, env={**os.environ, "MANPAGER": "cat"})
        assert page.returncode == 0 and page.stderr == b"", page.stderr
    script = run("help", "--completion").out
    script += '\nCOMP_WORDS=(filum solve --solver gauss) COMP_CWORD=3; _filum; echo "$COMPREPLY"\n'
    answer = subprocess.run(["bash"], input=script.encode(), capture_output=True)
    assert answer.stdout == b"gauss-seidel\n", answer


def completion_offers_what_a_verb_takes():
    script = run("help", "--completion").out
    for words, want in (("plot run en", "energy"), ("plot en", ""), ("validate c", "contact"),
                        ("bench w", "world"), ("new kno", "knot"), ("help mov", "movie"),
                        ("help --m", "--man"), ("bench --threa", "--threads")):
        ask = f'COMP_WORDS=(filum {words}) COMP_CWORD={len(words.split())}; _filum; ' \
              'echo "${COMPREPLY[*]}"\n'
        answer = subprocess.run(["bash"], input=(script + ask).encode(), capture_output=True)
        assert answer.stdout.decode().strip() == want, (words, answer)


def mistakes_on_the_command_line_are_explained():
    fails(2, "did you mean solve?", "slove")
    fails(2, "there is no verb \"xyzzy\" (", "xyzzy")
    fails(2, "did you mean solve?", "help", "slve")
    fails(2, "which file?", "solve")
    fails(2, "did you mean --max-seconds?", "solve", "--max-second", "1", "x")
    fails(2, "options are long", "solve", "-j", "x")
    fails(2, "--solver is \"newtn\"; it must be one of auto, gauss-seidel, newton", "solve",
          "--solver", "newtn", "x")
    fails(2, "did you mean newton?", "solve", "--solver=newtn", "x")
    fails(2, "--local is \"quartic\"", "solve", "--local", "quartic", "x")
    fails(2, "--function is \"FB\"", "solve", "--function", "FB", "x")
    fails(2, "--convex is \"\"", "solve", "--convex", "", "x")
    fails(2, "--tol is \"tiny\"; it must be a number of at least 0 and at most 1", "solve", "--tol",
          "tiny", "x")
    fails(2, "--tol is \"nan\"", "solve", "--tol", "nan", "x")
    fails(2, "--tol is \"-1\"", "solve", "--tol=-1", "x")
    fails(2, "--threads is \"1.5\"; it must be a whole number", "solve", "--threads", "1.5", "x")
    fails(2, "--max-iterations is \"1e99\"", "solve", "--max-iterations", "1e99", "x")
    for facets in ("2", "257", "8.5"):
        fails(2, f"--facets is \"{facets}\"; it must be a whole number of at least 3 and at most 256",
              "solve", "--facets", facets, "x")
    fails(2, "--json takes no value", "solve", "--json=1", "x")
    fails(2, "--out needs a value: --out DIR", "solve", "x", "--out")
    fails(2, "--out is empty; it needs a value: --out DIR", "solve", "x", "--out", "")
    fails(2, "--camera is empty; it needs a value: --camera WORDS", "render", "x", "--camera", "")
    fails(2, '--frame is "99999999999"; it must be a whole number of at most 2147483647', "render",
          "x", "--frame", "99999999999")
    fails(2, '--frame is "last"; it must be a whole number\n', "render", "x", "--frame", "last")


# ------------------------------------------------------------------------------------------- solve

def a_solved_file_gives_one_row():
    done = run("solve", "four.hdf5")
    assert done.returncode == 0 and done.err == "", (done.returncode, done.err)
    heading, row = done.out.splitlines()
    assert heading.split()[:5] == ["file", "contacts", "dofs", "solver", "outcome"]
    assert row.split()[:5] == ["four.hdf5", "4", "-", "auto", "converged"], row


def json_has_exactly_the_promised_fields():
    done = run("solve", "--json", "four.hdf5", "--tol", "1e-7")
    (row,) = rows(done)
    assert list(row) == FIELDS and done.returncode == 0 and done.err == ""
    assert row["file"] == "four.hdf5" and row["contacts"] == 4 and row["solver"] == "auto"
    assert row["outcome"] == "converged" and row["iterations"] > 0
    assert 0 <= row["natural"] <= 1e-7 and 0 <= row["scaled"] <= 1e-7 and row["seconds"] > 0
    assert row["dofs"] is None  # a local file does not tell
    (row,) = rows(run("solve", "--json", "global.hdf5"))
    assert row["contacts"] == 1 and row["dofs"] == 3


def names_are_escaped_in_json():
    name = 'q"uo\\te\n\u00e9.hdf5'
    shutil.copy("four.hdf5", name)
    (row,) = rows(run("solve", "--json", name))
    assert row["file"] == name
    odd = b"bad\xff.hdf5"
    shutil.copy("four.hdf5", odd)
    (row,) = rows(run("solve", "--json", odd))
    assert row["file"] == "bad\ufffd.hdf5"
    shutil.copy("four.hdf5", "--json")
    (row,) = rows(run("solve", "--json", "--", "--json"))
    assert row["file"] == "--json"


def not_converged_is_a_result_with_status_1():
    done = run("solve", "--json", "--solver", "gauss-seidel", "--max-iterations", "1", "many.hdf5")
    (row,) = rows(done)
    assert done.returncode == 1 and row["outcome"] == "limit" and row["solver"] == "gauss-seidel"


def max_seconds_stops_a_solve():
    done = run("solve", "--json", "--solver", "gauss-seidel", "--max-seconds", "1e-9", "many.hdf5")
    (row,) = rows(done)
    assert done.returncode == 1 and row["outcome"] == "limit" and row["iterations"] <= 2


def all_files_are_tried_and_the_worst_status_wins():
    done = run("solve", "--json", "nan.hdf5", "four.hdf5", "none.hdf5", "many.hdf5")
    assert done.returncode == 3 and len(rows(done)) == 2 and done.err.count("\n") == 2
    done = run("solve", "--json", "--solver", "gauss-seidel", "--max-iterations", "1", "four.hdf5",
               "many.hdf5")
    assert done.returncode == 1 and len(rows(done)) == 2


def more_facets_come_closer_to_the_cone():
    for how in (["--solver", "linearised"], ["--solver", "gauss-seidel", "--local", "linearised"]):
        few, usual, many = (rows(run("solve", "--json", "many.hdf5", *how, *facets))[0]["scaled"]
                            for facets in (["--facets", "3"], [], ["--facets", "128"]))
        assert 0 < many < 0.1 * usual < 0.1 * few, (few, usual, many)


def a_folder_stands_for_its_files_in_order():
    os.mkdir("set")
    for name in ("b.hdf5", "a.hdf5", "c.txt", ".hidden.hdf5"):
        shutil.copy("four.hdf5", f"set/{name}")
    done = run("solve", "--json", "set/")
    assert [row["file"] for row in rows(done)] == ["set/a.hdf5", "set/b.hdf5"]
    os.mkdir("empty")
    fails(3, "empty: the folder holds no .hdf5 file", "solve", "empty")


# --------------------------------------------------------------------------------------- bad input

def bad_input_is_named_and_nothing_is_written():
    whole = open("four.hdf5", "rb").read()
    open("truncated.hdf5", "wb").write(whole[:len(whole) // 2])
    open("text.hdf5", "w").write("this is not HDF5\n")
    open("void.hdf5", "w").close()
    os.mkdir("folder.d")
    for name, text in {
        "": "'' is not a file",
        "none.hdf5": "none.hdf5: cannot open it: No such file or directory",
        "text.hdf5": "text.hdf5: it is not an HDF5 file",
        "void.hdf5": "void.hdf5: it is not an HDF5 file",
        "truncated.hdf5": "truncated.hdf5: it is truncated: it has ",
        "no-W.hdf5": "no-W.hdf5: /fclib_local/W is missing",
        "no-mu.hdf5": "no-mu.hdf5: /fclib_local/vectors/mu is missing",
        "sizes.hdf5": "/fclib_local/W/m is 13; it must be 12",
        "range.hdf5": "/fclib_local/W/i[2] is 900; it must be below 12",
        "order.hdf5": "/fclib_local/W/p[2] is 0; it must not be below p[1]",
        "nan.hdf5": "/fclib_local/vectors/q[1] is nan; it must be finite",
        "inf.hdf5": "/fclib_local/W/x[0] is inf; it must be finite",
        "negative.hdf5": "/fclib_local/vectors/mu[3] is -1; it must not be negative",
        "flat.hdf5": "/fclib_local/spacedim is 1; it must be 2 or 3",
        "/dev/zero": "/dev/zero: it is a device or a pipe, not a file",
    }.items():
        fails(3, text, "solve", name, "--out", "result")
        assert not os.path.exists("result"), name


# ------------------------------------------------------------------------------------------ output

def out_writes_the_problem_with_its_solution():
    done = run("solve", "four.hdf5", "global.hdf5", "--out", "deep/er/out")
    assert done.returncode in (0, 1), done.err  # 1: where a solver does not know the global form
    assert sorted(os.listdir("deep/er/out")) == ["four.hdf5", "global.hdf5"]
    again = run("solve", "--json", "deep/er/out/four.hdf5")
    assert rows(again)[0]["contacts"] == 4 and again.returncode == 0
    if shutil.which("h5ls"):
        listing = subprocess.run(["h5ls", "-r", "deep/er/out/global.hdf5"], capture_output=True)
        for vector in (b"/solution/r ", b"/solution/u ", b"/solution/v ", b"/fclib_global/info/title"):
            assert vector in listing.stdout, listing.stdout


def nothing_is_overwritten_unless_forced():
    os.mkdir("out")
    open("out/four.hdf5", "w").write("precious")
    fails(3, "out/four.hdf5 exists already; --force replaces it", "solve", "many.hdf5", "four.hdf5",
          "--out", "out")
    assert os.listdir("out") == ["four.hdf5"] and open("out/four.hdf5").read() == "precious"
    assert run("solve", "many.hdf5", "four.hdf5", "--out", "out", "--force").returncode == 0
    assert sorted(os.listdir("out")) == ["four.hdf5", "many.hdf5"]
    assert run("solve", "out/four.hdf5").returncode == 0


def outputs_that_cannot_be_are_refused_before_solving():
    os.mkdir("two")
    shutil.copy("four.hdf5", "two/four.hdf5")
    fails(2, "would both be written to out/four.hdf5", "solve", "four.hdf5", "two/four.hdf5",
          "--out", "out")
    fails(2, "two/four.hdf5 would overwrite itself", "solve", "two/four.hdf5", "--out", "two",
          "--force")
    fails(3, "many.hdf5: cannot write there: many.hdf5 is not a folder", "solve", "four.hdf5",
          "--out", "many.hdf5")
    fails(3, "cannot write there: ", "solve", "four.hdf5", "--out", "many.hdf5/deeper")
    fails(3, "/proc/x: cannot write there: ", "solve", "four.hdf5", "--out", "/proc/x")
    os.symlink("nowhere", "dangling")
    fails(3, "dangling: cannot write there: ", "solve", "four.hdf5", "--out", "dangling")
    assert not os.path.exists("out")
    if os.geteuid() != 0:
        os.mkdir("locked", 0o500)
        fails(3, "locked/out: cannot write there: Permission denied", "solve", "four.hdf5", "--out",
              "locked/out")


def a_full_disk_leaves_nothing_behind():
    limit = ["bash", "-c", 'ulimit -f 1; trap "" XFSZ; exec "$0" solve four.hdf5 --out full', FILUM]
    done = subprocess.run(limit, capture_output=True, timeout=60)
    assert done.returncode == 3 and b"full/four.hdf5: cannot write it" in done.stderr, done
    assert os.listdir("full") == []


def lost_standard_output_is_an_error():
    with open("/dev/full", "w") as full:
        for arguments in (["solve", "four.hdf5"], ["solve", "--json", "four.hdf5"], ["--help"],
                          ["--version"], ["help", "solve"], ["validate"], ["validate", "--json"]):
            done = run(*arguments, stdout=full)
            assert done.returncode == 3 and "No space left" in done.err, (arguments, done.err)
            assert done.err.count("\n") == 1, (arguments, done.err)
    reader, writer = os.pipe()
    os.close(reader)
    done = run("solve", "--json", *["four.hdf5"] * 50, stdout=writer)
    os.close(writer)
    assert done.returncode == 3 and done.err == "", (done.returncode, done.err)


# --------------------------------------------------------------------------------------- interrupts

def an_interrupt_ends_the_run_with_130_and_keeps_what_is_done():
    process = subprocess.Popen([FILUM, "solve", "--json", *["many.hdf5"] * 20000],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, said = process.communicate(timeout=60)
    lines = (first + rest).decode().splitlines()
    assert process.returncode == 130 and said == b"filum: interrupted\n", (process.returncode, said)
    assert 0 < len(lines) < 20000
    for line in lines:
        assert list(json.loads(line)) == FIELDS


def progress_goes_to_terminals_only():
    import pty
    for colour in ({}, {"NO_COLOR": "1"}):
        master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", **colour}
        if not colour:
            environment.pop("NO_COLOR", None)
        done = run("solve", "--json", "--solver", "gauss-seidel", "--tol", "1e-300", "--max-seconds",
                   "0.5", "many.hdf5", stderr=slave, env=environment)
        os.close(slave)
        said = b""
        try:
            while chunk := os.read(master, 4096):
                said += chunk
        except OSError:
            pass
        os.close(master)
        assert done.returncode == 1 and len(rows(done)) == 1
        assert not colour or b"\033" not in said, said
        if rows(done)[0]["seconds"] > 0.3:  # long enough that something was to be seen
            assert b"residual" in said and b"many.hdf5" in said, said


# ------------------------------------------------------------------------------------ make and bench

KINDS = ["fibres", "tangles", "rigid", "tower", "wall", "spheres"]


def made_problems_are_files_that_can_be_solved():
    done = run("make", *KINDS, "--contacts", "30", "--out", "new/made")
    assert done.returncode == 0 and done.err == "", done.err
    paths = done.out.splitlines()
    assert [os.path.basename(path).split("-")[0] for path in paths] == KINDS
    assert "new/made/fibres-30-nu0.9-mu0.3-seed1.hdf5" in paths
    found = rows(run("solve", "--json", "--max-iterations", "1", *paths))
    assert [row["contacts"] for row in found][:3] == [30, 30, 30]
    assert all(row["dofs"] % 6 == 0 and row["dofs"] > 0 for row in found)


def made_files_are_the_same_bytes_again():
    run("make", "fibres", "tangles", "rigid", "--contacts", "40", "--nu", "1.3", "--out", "made")
    for name in sorted(os.listdir("made")):
        with open(f"made/{name}", "rb") as file:
            first = file.read()
        kind = name.split("-")[0]
        again = run("make", kind, "--contacts", "40", "--nu", "1.3", "--out", "again")
        with open(again.out.strip(), "rb") as file:
            assert file.read() == first, name  # the same bytes


def seeds_count_up_and_options_are_obeyed():
    done = run("make", "rigid", "--count", "3", "--seed", "5", "--mu", "0.7", "--nu", "2",
               "--contacts", "20", "--step")
    assert done.out.splitlines() == [f"rigid-20-nu2-mu0.7-step-seed{seed}.hdf5" for seed in (5, 6, 7)]
    row = rows(run("solve", "--json", "--max-iterations", "1", "rigid-20-nu2-mu0.7-step-seed5.hdf5"))[0]
    assert row["contacts"] == 20 and row["dofs"] == 30


def make_refuses_what_it_cannot_do():
    fails(2, "which kind?", "make")
    fails(2, "did you mean fibres?", "make", "fibers")
    fails(2, "--nu is \"9\"", "make", "rigid", "--nu", "9")
    fails(2, "--contacts is \"0\"", "make", "rigid", "--contacts", "0")
    assert run("make", "tower", "--contacts", "4").returncode == 0
    fails(3, "exists", "make", "tower", "--contacts", "4")
    assert run("make", "tower", "--contacts", "4", "--force").returncode == 0
    fails(3, "/proc/nowhere: cannot", "make", "tower", "--out", "/proc/nowhere")


def bench_prints_the_table_of_local_solvers():
    run("make", "rigid", "spheres", "--contacts", "20", "--out", "made")
    done = run("bench", "friction", "made", "--table", "local")
    assert done.returncode == 0 and done.err == "", done.err
    for name in ("linearised", "pac", "dac", "mfb", "enum", "hybrid", "hybrid-newton"):
        assert any(line.startswith(name + " ") for line in done.out.splitlines()), name
    found = rows(run("bench", "friction", "made", "--table", "local", "--json"))
    assert len(found) == 7
    assert all(set(row) == {"table", "local", "problems", "failure_percent", "sweeps", "seconds",
                            "fallbacks"} and row["problems"] == 2 for row in found)


def bench_measures_the_default_solver():
    run("make", "rigid", "--contacts", "20", "--count", "2", "--step", "--out", "made")
    done = run("bench", "friction", "made", "--table", "auto", "--json")
    found = rows(done)
    assert len(found) == 2 and done.returncode == 0, done
    assert all(row["outcome"] == "converged" and row["scaled"] <= 1e-8 and row["seconds"] > 0
               and row["contacts"] == 20 for row in found)
    done = run("bench", "friction", "made", "--table", "auto")
    assert "contacts" in done.out and "rigid-20" in done.out
    scaling = rows(run("bench", "friction", "--table", "scaling", "--contacts", "100", "--json"))
    assert [row["threads"] for row in scaling][:2] == [1, 2]
    assert {row["nu"] for row in scaling} == {0.3, 0.9, 1.3}


def bench_refuses_what_it_cannot_do():
    fails(2, "filum bench friction", "bench")
    fails(2, "filum bench rods", "bench", "hair")
    fails(3, "missing.hdf5", "bench", "friction", "missing.hdf5", "--table", "auto", "--json")
    fails(2, "filum bench world", "bench", "world", "hair.json")
    fails(2, "bench world has no table local", "bench", "world", "--table", "local")
    fails(2, "bench friction has no table nu", "bench", "friction", "--table", "nu")
    fails(2, "there is no scene knott", "bench", "world", "--scene", "knott", "--json")


def bench_tortures_rods_and_worlds():
    """The same seed gives the same cases; one of them is a scene that runs."""
    torture = ("bench", "rods", "--torture", "--model", "chain", "--cases", "20", "--json")
    found = [rows(run(*torture)) for _ in range(2)]
    for some in found:
        some[-1].pop("seconds")
    assert found[0] == found[1] and found[0][-1]["rods"] == 20 and found[0][-1]["steps"] > 200
    text = run("bench", "rods", "--torture", "--model", "chain", "--cases", "20").out
    assert "gained" in text and "chain " in text, text
    found = rows(run("bench", "world", "--tame", "--cases", "3", "--steps", "10", "--json"))
    assert found[-1]["scenes"] == 3 and found[-1]["ran"] > 0 and found[-1]["unnamed"] == 0, found
    found = rows(run("bench", "world", "--throws", "--model", "der", "--cases", "3", "--json"))
    assert found[-1]["kind"] == "throw-der" and found[-1]["energies_checked"] == 3, found
    found = rows(run("bench", "world", "--resumes", "--tame", "--cases", "2", "--json"))
    assert found[-1]["differs"] == 0, found
    done = run("bench", "world", "--wild", "--case", "0", "--steps", "2", "--save", "case.json")
    assert done.returncode == 0 and "// wild, case 0 of seed 1" in done.out, done
    assert run("check", "case.json").returncode in (0, 1)


def bench_refuses_tortures_that_it_cannot_do():
    fails(2, "--model", "bench", "rods", "--torture", "--case", "3")
    fails(2, "--wild", "bench", "world", "--torture", "--case", "3")
    fails(2, "for bench world", "bench", "rods", "--wild")
    fails(2, "for bench rods and bench world", "bench", "friction", "--torture")
    fails(2, "for --torture", "bench", "rods", "--cases", "3")
    fails(2, "--case K", "bench", "rods", "--torture", "--save", "x.json")


def bench_steps_scenes_and_tells_what_they_cost():
    done = run("bench", "world", "--quick", "--scene", "spaghetti-31", "--steps", "5", "--json")
    assert done.returncode == 0, done.err
    scene, detect = rows(done)
    assert scene["table"] == "scenes" and scene["scene"] == "spaghetti-31"
    assert scene["steps"] == 5 and scene["window"] == 5 and scene["cut"] is False
    assert scene["contacts"] >= scene["window_contacts"] > 0 and scene["nu"] >= 0
    assert 0 <= scene["residual"] <= 1e-5 and scene["unconverged"] == 0
    assert scene["seconds"] > 0 and scene["cpu_seconds"] > 0 and scene["real_time"] > 0
    shares = [scene[f"share_{phase}"] for phase in
              ("bodies", "collide", "assemble", "friction", "update", "sweep")]
    assert all(share >= 0 for share in shares) and 0.5 < sum(shares) <= 1.000001
    assert {"memory", "rival", "at_least", "hoped_for", "which_is", "mean_seconds"} < set(scene)
    assert detect["table"] == "detect" and detect["capsules"] == 31 * 15 and detect["us"] > 0
    text = run("bench", "world", "--scene", "spaghetti-31", "--steps", "5")
    assert text.returncode == 0 and "collide" in text.out and "s/step" in text.out


def bench_knows_the_busiest_window():
    done = run("bench", "world", "--scene", "knot", "--table", "scenes", "--json", "--tol", "1e-6")
    assert done.returncode == 0, done.err
    scene, = rows(done)
    assert scene["rival"] == "0.033 s (2011)" and scene["at_least"] == 0.011  # at steps of 11 ms
    assert scene["dt"] == 0.011 and scene["steps"] == 137 == scene["window"]
    assert scene["window_contacts"] <= scene["contacts"] and scene["residual"] <= 1e-6


def bench_cuts_a_scene_by_the_clock_and_says_so():
    done = run("bench", "world", "--scene", "spaghetti-31", "--seconds", "0.001", "--json",
               "--table", "scenes")
    scene, = rows(done)
    assert done.returncode == 0 and scene["cut"] is True and 1 <= scene["steps"] < 2000


def the_other_tables_of_the_scenes_have_their_fields():
    bench = ("bench", "world", "--json", "--quick", "--seconds", "5")
    found = rows(run(*bench, "--table", "seed", "--steps", "2"))
    assert len(found) >= 5 and all(row["table"] == "seed" and row["seed_seconds"] > 0
                                   and row["mean_seconds"] > 0 for row in found)
    found = rows(run(*bench, "--table", "threads", "--steps", "3"))
    assert found and all(row["same_bits"] is True and row["gain"] > 0 for row in found)
    done = run(*bench, "--table", "nu", "--scene", "spaghetti-31", "--steps", "4")
    found = rows(done)
    assert done.returncode == 0, done.err
    assert all(row["nu_from"] < (row["nu_to"] or 1e9) and 0 <= row[solver]["solved_percent"] <= 100
               and row[solver]["worst_residual"] >= 0 for row in found for solver in ("newton", "auto"))


def recorded_problems_are_the_same_every_time():
    found = [rows(run("bench", "friction", "--table", "local", "--quick", "--json"))
             for _ in range(2)]
    for first, again in zip(*found):
        assert first["problems"] == again["problems"] == 18
        assert first["sweeps"] == again["sweeps"]
        assert first["failure_percent"] == again["failure_percent"]


def bench_measures_the_rods():
    done = run("bench", "rods", "--quick", "--json", timeout=280)
    found = rows(done)
    curves = os.path.exists(os.path.join(os.path.dirname(FILUM), "bench", "filum-curve-bench"))
    told = done.err.splitlines()
    absent = [line for line in told if line.startswith("built without ")]  # optional rivals
    assert done.returncode == 0 and (told == absent if curves else "make bench" in done.err), done.err
    steps = [row for row in found if row.get("table") == "step"]
    assert {row["model"] for row in steps} == {"helix", "clothoid", "der", "corde", "chain"}
    assert all(row["us_per_element"] > 0 and row["iterations"] >= 1 for row in steps)
    assert {"real-time", "many", "second"} < {row.get("table") for row in found}
    if absent:
        raise Skip("; ".join(absent))


def rivals_play_where_they_are_built():
    run("make", "rigid", "--contacts", "20", "--step")
    done = run("bench", "friction", "rigid-20-nu1-mu0.5-step-seed1.hdf5", "--rivals", "--json",
               "--seconds", "1")
    if not os.path.exists(os.path.join(os.path.dirname(FILUM), "bench", "filum-rivals")):
        assert done.returncode == 3 and "libsiconos-numerics-dev" in done.err, done.err
        raise Skip("Siconos is not there")
    row, summary = rows(done)
    assert done.returncode == 0 and row["contacts"] == 20 and row["auto"]["fate"] == "ok"
    assert {"NSGS", "NSN_AC", "NSN_FB", "ADMM"} < set(row)
    assert summary["problems"] == 1
    assert abs(summary["geometric_mean_large"] / row["ratio"] - 1.0) < 1e-12  # the exp of a log


# ------------------------------------------------------------------------------------------ demo

def the_physics_is_valid():
    done = run("validate", "rods", "--json", timeout=280)
    assert done.returncode == 0 and done.err == "", done.err
    found = rows(done)
    fields = ["case", "model", "resolution", "kind", "source", "expected", "got", "error",
              "allowed", "why", "pass"]
    assert all(list(row) == fields and row["pass"] is True for row in found)
    assert len(found) >= 150


def validate_refuses_what_it_does_not_know():
    fails(2, 'no group "hair"', "validate", "hair")
    fails(2, "--jsno", "validate", "--jsno")


def a_demo_solves_everything_and_draws_pictures():
    done = run("demo", "--out", "pictures/here", timeout=280)
    assert done.returncode == 0 and done.err == "", (done.returncode, done.err)
    assert done.out.count(" converged ") == 7, done.out
    assert "pictures/here/index.html" in done.out
    for name in ("hair", "weave", "curls", "law", "convergence"):
        path = f"pictures/here/{name}.svg"
        assert os.path.getsize(path) < 500_000
        root = xml.etree.ElementTree.parse(path).getroot()
        assert root.tag.endswith("svg") and len(list(root.iter())) > 50
    fails(3, "hair.svg exists already; --force", "demo", "--out", "pictures/here")


def a_demo_says_what_it_cannot_do():
    fails(2, "demo takes no operand; --out here", "demo", "here")
    fails(2, "did you mean --force?", "demo", "--forse")
    fails(3, "four.hdf5 is not a folder", "demo", "--out", "four.hdf5")


# ---------------------------------------------------------------------------------- public problems

def public_problems_are_all_read():
    problems = os.environ.get("FILUM_PROBLEMS")
    if not problems or not os.path.isdir(problems):
        raise Skip("FILUM_PROBLEMS names no folder")
    names = sorted(name for name in os.listdir(problems) if name.endswith(".hdf5"))
    done = run("solve", "--json", "--solver", "gauss-seidel", "--max-iterations", "3", problems)
    assert [os.path.basename(row["file"]) for row in rows(done)] == names
    assert done.returncode == 1 and done.err == "", done.err


def prepare(folder):
    subprocess.run([MAKE, folder], check=True)


HELPERS = ("rows", "prepare")

if __name__ == "__main__":
    WANTED = sys.argv[3] if len(sys.argv) > 3 else ""
    sys.exit(sentences.main(globals(), WANTED, HELPERS, prepare))
