"""The package: its layout is that of C, nothing is missing, what the documents say is true."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import filum
from filum import _cdef
from filum._structs import ARRAYS, ENUMS, STRUCTS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FUNCTIONS = sorted(set(re.findall(r"\b(fil_[a-z0-9_]+)\(", re.sub(r"//[^\n]*", "", _cdef.CDEF))))

# functions that are not a method by their name: where they are instead
ELSEWHERE = {
    "fil_version": "version", "fil_thread_count": "thread_count", "fil_rods_step": "rods_step",
    "fil_rod_get_state": "Rod.state", "fil_rod_set_state": "Rod.state",
    "fil_rod_state_count": "Rod.state", "fil_rigid_get_state": "Rigid.state",
    "fil_rigid_set_state": "Rigid.state", "fil_world_get_state": "World.state",
    "fil_world_set_state": "World.state", "fil_world_state_count": "World.state",
    "fil_mesh_vertex_count": "Mesh.vertices", "fil_mesh_triangle_count": "Mesh.triangles",
    "fil_scene_read": "Scene", "fil_result_open": "Result", "fil_result_def": "Result.def_",
    "fil_result_discard": "Result", "fil_result_mend": "result_mend",
    "fil_recorder_def": "Recorder.def_", "fil_export": "Result.export",
    "fil_generate": "Generated", "fil_generate_def_default": "Generated",
    "fil_fclib_read": "Fclib", "fil_fclib_write": "fclib_write",
    "fil_field_compute": "Frame.field", "fil_field_is_known": "Frame.field",
    "fil_field_name": "Frame.field", "fil_field_unit": "field_unit",
    "fil_field_range": "field_range", "fil_friction_solve": "friction_solve",
    "fil_friction_check": "friction_check", "fil_friction_residual": "friction_residual",
    "fil_local_solve": "local_solve", "fil_curve_evaluate": "curve_evaluate",
    "fil_world_set_stop": "World.step",  # which asks Python
}
# objects of C whose functions all have a place in Python; the others are in filum.lib as they are
OBJECTS = ("world", "rod", "rigid", "mesh", "stage", "result", "recorder", "scene",
           "friction_workspace")
RAW = re.compile(r"fil_(\w+_(name|text)|\w+_default|scene_hash|scene_\w+_write)$")


def compile_and_run(tmp_path, source):
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    path = tmp_path / "layout.c"
    path.write_text(source)
    subprocess.run([compiler, "-std=c17", f"-I{ROOT}/include", str(path), "-o",
                    str(tmp_path / "layout")], check=True, timeout=60)
    done = subprocess.run([str(tmp_path / "layout")], capture_output=True, text=True, check=True,
                          timeout=60)
    return done.stdout.split("\n")[:-1]


def test_every_struct_and_constant_is_laid_out_as_the_compiler_does(tmp_path):
    want, lines = [], []
    for name, made in sorted(STRUCTS.items()):
        want.append(f"{name} {filum.ffi.sizeof(name)} {filum.ffi.alignof(name)}")
        lines.append(f'printf("{name} %zu %zu\\n", sizeof({name}), _Alignof({name}));')
        for field, info in made._fields.items():
            want.append(f"{name}.{field} {info.offset} {filum.ffi.sizeof(info.type)}")
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                         f"sizeof((({name} *)0)->{field}));")
    for name, made in sorted(ENUMS.items()):
        want.append(f"{name} {filum.ffi.sizeof(name)}")
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for member, value in made.__members__.items():
            want.append(f"{member} {value.value}")
            lines.append(f'printf("{member} %d\\n", (int){member});')
    for name, value in _cdef.CONSTANTS.items():
        want.append(f"{name} {float(value):.17g}")
        lines.append(f'printf("{name} %.17g\\n", (double){name});')
    source = ("#include <stddef.h>\n#include <stdio.h>\n#include <filum/filum.h>\n"
              "int main(void) {\n"
              + "\n".join(lines) + "\nreturn 0;\n}\n")
    assert compile_and_run(tmp_path, source) == want
    assert len(STRUCTS) > 40 and len(want) > 400


def test_the_types_of_numpy_have_the_same_layout():
    for name, made in STRUCTS.items():
        dtype = filum.dtype_of(name)
        assert dtype.itemsize == filum.ffi.sizeof(name)
        for field, info in made._fields.items():
            kind, offset = dtype.fields[field][:2]
            assert offset == info.offset and kind.itemsize == filum.ffi.sizeof(info.type)
    assert filum.dtype_of("FilPose")["axis"].shape == (3, 3)
    assert filum.dtype_of("FilFrictionProblem")["block_count"] == np.int32


def place_of(function):
    """Where a function of C is in Python: fil_world_step is World.step."""
    for noun in OBJECTS:
        if function.startswith(f"fil_{noun}_") and not RAW.match(function):
            owner = "".join(word.capitalize() for word in noun.split("_"))
            verb = function[len(f"fil_{noun}_"):]
            # made by the class itself, and gone when nobody holds it
            made = verb in ("create", "destroy") and not hasattr(getattr(filum, owner), verb)
            return owner if made else f"{owner}.{verb}"
    return None


def test_every_function_of_the_headers_has_its_place():
    assert len(FUNCTIONS) > 120
    for function in FUNCTIONS:
        assert callable(getattr(filum.lib, function)), function
        found = filum
        for part in (ELSEWHERE.get(function) or place_of(function) or "lib").split("."):
            assert hasattr(found, part), function
            found = getattr(found, part)
    assert place_of("fil_world_add_rod") == "World.add_rod"


def test_the_tables_of_arrays_name_fields_that_exist():
    for name, arrays in ARRAYS.items():
        for field, shape in arrays.items():
            assert STRUCTS[name]._fields[field].type.kind == "pointer"
            assert all(isinstance(n, int) or n in STRUCTS[name]._fields for n in shape)


def test_names_are_those_of_c_and_help_shows_the_header():
    assert filum.FIL_ROD_DER is filum.FilRodModel.FIL_ROD_DER
    assert filum.FilRodDef().model == filum.FIL_ROD_CLOTHOID
    assert str(filum.FIL_ROD_DER) == f"{filum.FIL_ROD_DER}" == "FIL_ROD_DER"
    assert f"{filum.FIL_ROD_DER:d}" == "2" and filum.FIL_ROD_DER == 2
    assert filum.FIL_RIGID_STATE == 13 and filum.FIL_OUTPUT_FRAMES == 1
    assert "kg/m^3" in filum.FilSection.__doc__ and "A driven end" in filum.FilRodEnd.__doc__
    assert filum.__version__ == filum.version()
    assert "length" in dir(filum.FilRodDef())
    with pytest.raises(AttributeError, match="filum.lib"):
        filum.fil_world_step


def test_without_what_was_parsed_at_build_time_the_text_will_do(tmp_path):
    package = tmp_path / "filum"
    shutil.copytree(os.path.dirname(filum.__file__), package)
    (package / "_cffi.py").unlink()
    code = "import filum; print(filum.World().time, filum.__file__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          check=True, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.stdout.startswith("0.0") and str(tmp_path) in done.stdout


def test_the_sources_say_that_they_are_sources(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import filum"], capture_output=True, text=True,
                          timeout=60, check=False, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})
    assert done.returncode == 1 and "PYTHONPATH=build/python" in done.stderr


def test_pip_installs_what_was_built(tmp_path):
    built = os.path.dirname(os.path.dirname(filum.__file__))
    if not os.path.exists(os.path.join(built, "pyproject.toml")):
        pytest.skip("this is not the package of a build")
    for module in ("pip", "setuptools", "wheel"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{sys.executable} has no {module}")
    folder = tmp_path / "python"
    shutil.copytree(built, folder, ignore=shutil.ignore_patterns("CMakeFiles"))
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-build-isolation",
                           "--no-index", "--no-deps", "--quiet", "--target", str(tmp_path / "to"),
                           str(folder)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder)
    code = "import filum; print(filum.version(), filum.__file__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          check=True, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(tmp_path / "to")})
    assert done.stdout.split() == [filum.__version__, str(tmp_path / "to/filum/__init__.py")]
    assert (tmp_path / "to" / "filum" / "py.typed").exists()


# --------------------------------------------------------------------------------------- documents

def test_the_tour_of_the_documentation_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("docs/python.md", "README.md"):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        names = {}
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        assert blocks or path == "README.md"
        for block in blocks:
            line = text[:text.index(block)].count("\n")
            exec(compile("\n" * line + block, path, "exec"), names)  # pylint: disable=exec-used


def test_the_example_draws_what_it_measures(tmp_path):
    pytest.importorskip("matplotlib")
    example = os.path.join(ROOT, "python", "examples", "capstan.py")
    picture = tmp_path / "capstan.png"
    done = subprocess.run([sys.executable, example, str(picture), "--quick"], capture_output=True,
                          text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10000
    off = float(re.search(r"within ([\d.]+) %", done.stdout)[1])
    assert off < 3.0
