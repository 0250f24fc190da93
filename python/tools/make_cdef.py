#!/usr/bin/env python3
"""Writes what Python knows of the C interface, from the public headers.

    make_cdef.py --compiler CC --include FOLDER --version VERSION --out FOLDER

_cdef.py holds the declarations as text, the numbers that are macros, and the words of enums.
_cffi.py holds the declarations, parsed, so that `import filum` does not take most of a second; it
is left out where this Python has no cffi.

The C preprocessor expands the tables of the headers; what comes from other headers, attributes and
directives are dropped, comments are kept: they are what help() shows. Nothing is written by hand,
so that Python and C cannot drift apart; a test compares the result with the C compiler.
"""

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys

MARKER = re.compile(r'^# \d+ "([^"]*)"')
# what the package calls besides: filum/_memory.py, filum/_library.py
LIBC = """
void *malloc(size_t size);
void free(void *block);
int omp_pause_resource_all(int kind);
"""
# a number as C writes it, in a macro of the public headers
CONSTANT = re.compile(r"^#define (FIL_[A-Z0-9_]+) (\d+|\d*\.?\d+e[+-]?\d+)$", re.MULTILINE)

# a row of a table of an enum, as the preprocessor shows it: X(FIL_ROD_DER, "der", ...)
WORD = re.compile(r'\bX\((FIL_[A-Z0-9_]+), "([a-z0-9]+(?:-[a-z0-9]+)*)"')


def preprocess(compiler, include, options):
    command = [compiler, "-E", "-std=c17", "-D__attribute__(x)=", f"-I{include}", *options, "-x",
               "c", os.path.join(include, "filum", "filum.h")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def own_lines(text, include):
    """The lines that come from the folder `include`."""
    inside = False
    folder = os.path.realpath(include) + os.sep
    for line in text.splitlines():
        marker = MARKER.match(line)
        if marker:
            inside = os.path.realpath(marker[1]).startswith(folder)
        elif inside and not line.startswith("#"):
            yield line.rstrip()


def declarations(text, include):
    """The declarations of the public headers, comments included, one empty line at most between."""
    joined = "\n".join(own_lines(text, include))
    return re.sub(r"\n{3,}", "\n\n", joined).strip() + "\n"


def constants(text):
    return {name: float(value) if "e" in value or "." in value else int(value)
            for name, value in CONSTANT.findall(text)}


def words(text):
    """What scenes and options call the members of enums: {"FIL_ROD_DER": "der"}."""
    tables = re.findall(r"^#define FIL_[A-Z0-9_]+\(X\) .*$", text, re.MULTILINE)
    return dict(found for table in tables for found in WORD.findall(table))


def write_parsed(cdef, path):
    if os.path.exists(path):
        os.remove(path)
    try:
        import cffi
    except ImportError:
        return
    builder = cffi.FFI()
    builder.cdef(cdef)
    builder.set_source("filum._cffi", None)
    with contextlib.redirect_stdout(io.StringIO()):  # it says what it does
        builder.emit_python_code(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", required=True)
    given = parser.parse_args()
    cdef = declarations(preprocess(given.compiler, given.include, ["-C"]), given.include) + LIBC
    macros = preprocess(given.compiler, given.include, ["-dM"])
    if '"""' in cdef:
        sys.exit("the headers hold three quotes in a row")
    with open(os.path.join(given.out, "_cdef.py"), "w", encoding="utf-8") as file:
        file.write('"""Made by python/tools/make_cdef.py from the public headers."""\n\n')
        file.write(f"VERSION = {given.version!r}\n\nCONSTANTS = {{\n")
        file.writelines(f"    {name!r}: {value!r},\n"
                        for name, value in sorted(constants(macros).items()))
        file.write("}\n\nWORDS = {\n")
        file.writelines(f"    {name!r}: {word!r},\n"
                        for name, word in sorted(words(macros).items()))
        file.write(f'}}\n\nCDEF = r"""\n{cdef}"""\n')
    write_parsed(cdef, os.path.join(given.out, "_cffi.py"))


if __name__ == "__main__":
    main()
