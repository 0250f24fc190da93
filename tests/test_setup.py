#!/usr/bin/python3
"""The front door on machines that are made up: scripts/setup, scripts/configure.
Usage: test_setup.py SOURCES [filter]

Debian's dpkg-query and apt-get, id and sudo are small stand-ins in a folder that is all of PATH:
they know which packages are installed, which cannot be, and write down what was asked of them.
"""

import os
import pathlib
import shutil
import stat
import subprocess
import sys

import sentences
from sentences import Skip

SOURCES = pathlib.Path(sys.argv[1]).resolve()
SETUP = SOURCES / "scripts" / "setup"
BUILD = ["cmake", "gcc", "libc6-dev", "libembree-dev", "libhdf5-dev", "libmetis-dev",
         "libmicrohttpd-dev", "libpng-dev", "libsuitesparse-dev", "ninja-build", "pkg-config"]

STANDS_IN = {
    "id": 'echo "$ID"',
    "sudo": 'echo "sudo" >>asked; exec "$@"',
    "dpkg-query": '''shift 3
for package; do
    if grep -qx "$package" installed; then echo "installed $package"; else status=1; fi
done
exit ${status:-0}''',
    # apt-get, as Debian's, installs all that it is asked for or nothing
    "apt-get": '''while [[ $1 == -* ]]; do [[ $1 != -o ]] || shift; shift; done
verb=$1
shift
echo "$verb $*" | sed 's/--no-install-recommends //' >>asked
[[ $verb == install ]] || exit 0
for package; do
    if [[ $package != -* ]] && grep -qx "$package" broken; then exit 100; fi
done
for package; do
    [[ $package == -* ]] || echo "$package" >>installed
done''',
    "npm": "true",
}


def machine(installed=(), broken=(), without=()):
    """A made-up machine in this folder."""
    folder = pathlib.Path("bin")
    folder.mkdir()
    for name, text in STANDS_IN.items():
        if name not in without:
            (folder / name).write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
            (folder / name).chmod(0o755)
    for tool in ("bash", "env", "sort", "grep", "sed", "cat", "rm", "mktemp"):
        (folder / tool).symlink_to(shutil.which(tool))
    pathlib.Path("installed").write_text("".join(f"{p}\n" for p in installed), encoding="utf-8")
    pathlib.Path("broken").write_text("".join(f"{p}\n" for p in broken), encoding="utf-8")
    pathlib.Path("asked").write_text("", encoding="utf-8")


def setup(job, user=0):
    """Run scripts/setup on it: status, what it said, what it asked of apt-get."""
    if "bookworm" not in pathlib.Path("/etc/os-release").read_text(encoding="utf-8"):
        raise Skip("this is not Debian 12")
    done = subprocess.run(["/bin/bash", str(SETUP), job], check=False, capture_output=True,
                          text=True, env={"PATH": os.path.abspath("bin"), "ID": str(user)})
    assert done.stdout == "", done.stdout
    asked = pathlib.Path("asked").read_text(encoding="utf-8")
    return done.returncode, done.stderr, asked.split("\n")


def installed_now():
    return pathlib.Path("installed").read_text(encoding="utf-8").split()


def a_bare_machine_gets_what_the_program_is_built_from():
    machine()
    status, said, asked = setup("build")
    assert status == 0 and "Installing" in said, said
    assert sorted(installed_now()) == BUILD, installed_now()
    assert asked[0] == "update " and asked[1].startswith("install "), asked


def where_all_is_there_nothing_is_said_or_done():
    machine(installed=BUILD)
    assert setup("build") == (0, "", [""])


def what_a_job_can_do_without_is_named_and_no_failure():
    machine(broken=["chromium", "libfclib-dev"])
    status, said, _ = setup("test")
    assert status == 0, said
    assert said.endswith("Not installed: chromium libfclib-dev. What needs them is skipped or left "
                         "out\n"), said
    here = installed_now()
    assert set(BUILD) <= set(here) and "python3-cffi" in here and "chromium" not in here, here


def what_a_job_needs_and_cannot_have_is_a_failure_that_names_it():
    machine(installed=BUILD[2:], broken=["gcc"])
    status, said, _ = setup("build")
    assert status == 1 and said.endswith("Could not install cmake gcc\n"), said


def others_than_root_use_sudo_and_without_it_are_told_the_command():
    machine()
    status, _, asked = setup("build", user=1000)
    assert status == 0 and asked[0] == "sudo", asked
    shutil.rmtree("bin")
    machine(without=["sudo"])
    status, said, asked = setup("build", user=1000)
    assert status == 1 and asked == [""], (said, asked)
    assert said.endswith("As root: apt-get install " + " ".join(BUILD) + "\n"), said


def without_sudo_a_job_goes_on_if_only_wishes_are_missing():
    machine(installed=BUILD + ["python3"], without=["sudo"])
    status, said, asked = setup("test", user=1000)
    assert status == 0 and said.startswith("Not installed: ") and asked == [""], (said, asked)


def another_npm_is_as_good_as_debians():
    machine()
    setup("build")
    assert "npm" not in installed_now()
    shutil.rmtree("bin")
    machine(without=["npm"])
    setup("build")
    assert {"npm", "nodejs"} <= set(installed_now())


def a_job_that_does_not_exist_is_told_those_that_do():
    machine()
    status, said, asked = setup("everything")
    assert status == 2 and said.startswith("usage: scripts/setup [build|"), said
    assert asked == [""]


def small_tree():
    """A folder with scripts/configure and a project that is configured within a second."""
    os.makedirs("tree/scripts")
    shutil.copy(SOURCES / "scripts" / "configure", "tree/scripts/")
    pathlib.Path("tree/CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(small NONE)\n", encoding="utf-8")


def configure(folder):
    done = subprocess.run([f"{folder}/scripts/configure", "build"], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cache = pathlib.Path(folder, "build", "CMakeCache.txt").read_text(encoding="utf-8")
    assert "CMAKE_GENERATOR:INTERNAL=Ninja" in cache
    assert f"CMAKE_HOME_DIRECTORY:INTERNAL={os.path.realpath(folder)}" in cache
    return done.stderr


def a_folder_that_was_configured_otherwise_or_elsewhere_is_configured_anew():
    small_tree()
    assert configure("tree") == "" and configure("tree") == ""
    os.rename("tree", "moved")
    assert "it is configured anew" in configure("moved")
    assert configure("moved") == ""
    shutil.rmtree("moved/build")
    subprocess.run(["cmake", "-S", "moved", "-B", "moved/build", "-G", "Unix Makefiles"],
                   check=True, capture_output=True)
    assert "it is configured anew" in configure("moved")


def every_script_of_the_makefile_can_be_run():
    for script in (SOURCES / "scripts").iterdir():
        assert script.stat().st_mode & stat.S_IXUSR, script


HELPERS = ("machine", "setup", "installed_now", "small_tree", "configure")

if __name__ == "__main__":
    sys.exit(sentences.main(globals(), sys.argv[2] if len(sys.argv) > 2 else "", HELPERS))
