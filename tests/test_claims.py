#!/usr/bin/python3
"""Do the scenes show what their captions say? Usage: test_claims.py FILUM SCENES [short|quick]

Every sentence of a scene's `look` holds what a claim `says`, word for word, and every claim is
measured, its variants too. `short` leaves out the scenes that take longer than a minute, which the
whole test and the gallery measure; with `quick` three are enough.
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

FILUM, SCENES = sys.argv[1], pathlib.Path(sys.argv[2])
QUICK = {"rotating-sphere", "convex-jump", "scroll"}
LONG = {"bundle-drop", "fantasy-wig", "hair-2000", "plectoneme", "self-stacking", "spaghetti-31", "spaghetti-7",
        "spaghetti-76", "twining-3d", "wavy-hair", "wig-curly", "wig-straight"}
EXTENT = sys.argv[3] if len(sys.argv) > 3 else "whole"
AT_ONCE = 2


def read(path):
    """A scene without its comments."""
    text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "",
                  path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return json.loads(text)


def find_gaps(path):
    """Sentences that say what is wrong with the caption of a scene."""
    scene = read(path)
    look, says = scene.get("look", ""), [claim["says"] for claim in scene.get("claims", [])]
    gaps = [f"{path.stem}: the caption does not have \"{text}\"" for text in says if text not in look]
    for sentence in re.split(r"(?<=[.:;]) ", look):
        if not any(text in sentence for text in says) and not sentence.endswith(":"):
            gaps.append(f"{path.stem}: no claim stands for \"{sentence}\"")
    return gaps + ([] if look else [f"{path.stem} has no caption"])


def judge(path):
    """The figures of a scene that are wrong, as sentences, and how many there are."""
    done = subprocess.run([FILUM, "claims", path, "--json", "--threads", "1"], capture_output=True,
                          text=True, check=False)
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    wrong = [f"{path.stem}: {figure['says']}: {figure['measure']} {figure['value']}, must be "
             f"{figure['at_least']} to {figure['at_most']} ({figure['role']} {figure['variant']})"
             for figure in figures if not figure["right"]]
    if done.returncode not in (0, 1) or (done.returncode == 1) != bool(wrong):
        wrong.append(f"{path.stem}: status {done.returncode}: {done.stderr.strip()}")
    return wrong, len(figures)


def is_chosen(name):
    """Whether a scene is measured this time."""
    return EXTENT == "whole" or (name in QUICK if EXTENT == "quick" else name not in LONG)


def main():
    paths = sorted(SCENES.glob("*.json"))
    failed = [gap for path in paths for gap in find_gaps(path)]
    chosen = [path for path in paths if is_chosen(path.stem)]
    passed = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for wrong, count in pool.map(judge, chosen):
            failed += wrong
            passed += count - len(wrong)
    print("\n".join(failed))
    print(f"{passed} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
