#!/usr/bin/python3
"""Pulls rods of every shipped scene at random, hard and far. Usage: test_pulls.py FILUM [filter]"""

import json
import os
import subprocess
import sys

import sentences

FILUM = os.path.abspath(sys.argv[1])
os.environ["OMP_NUM_THREADS"] = "1"

SCENES = 25  # with rods


def pull(*options):
    done = subprocess.run([FILUM, "bench", "world", "--json", *options], capture_output=True,
                          text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def no_mouse_makes_a_scene_explode():
    pulled = set()
    for seed in ("1", "2"):
        status, rows = pull("--pulls", "62", "--steps", "5", "--seed", seed)
        wrong = [row for row in rows if row["exploded"] + row["gained"] > 0]
        assert status == 0 and not wrong, (status, wrong)
        # nor is the hand stronger than it says, though it does what it can
        assert all(row["strongest"] <= 1 + 1e-12 for row in rows), rows
        assert sum(row["strongest"] > 1 - 1e-9 for row in rows) > SCENES // 2
        pulled |= {row["scene"] for row in rows if row["pulls"] > 0}
    assert len(pulled) >= SCENES, pulled


def pulls_are_the_same_from_the_same_seed():
    def count(options):
        _, rows = pull("--scene", "knot", "--scene", "braid", "--steps", "5", *options)
        return [{key: row[key] for key in row if key != "slowest"} for row in rows]

    assert count(("--pulls", "6")) == count(("--pulls", "6", "--seed", "1"))
    assert count(("--pulls", "6")) == count(("--pulls", "6", "--threads", "2"))
    assert count(("--pulls", "6")) != count(("--pulls", "6", "--seed", "2"))


HELPERS = ("pull",)

if __name__ == "__main__":
    WANTED = sys.argv[2] if len(sys.argv) > 2 else ""
    sys.exit(sentences.main(globals(), WANTED, HELPERS))
