#!/usr/bin/python3
"""Runs the tests of the Python package, or says why it cannot:  run.py [options of pytest]

Ends with the line that every test program of the project ends with. The package is found by
PYTHONPATH; CC is the compiler that the layout of structs is compared with.
"""

import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NEEDED = ("cffi", "numpy", "pytest")


class Tally:
    """Counts as the other tests do."""

    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1
        if report.outcome == "skipped":
            print(f"\nskip {report.nodeid.partition('::')[2]}: {report.longrepr[2]}")

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.counts["failed"] += 1


def main(arguments):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skip python: {sys.executable} has no {', '.join(missing)}; apt-get install "
              + " ".join(f"python3-{name}" for name in missing))
        print("0 passed, 0 failed, 1 skipped")
        return 0
    import pytest
    tally = Tally()
    options = ["-q", "-p", "no:cacheprovider", "--no-header", "-W", "error", *arguments]
    status = pytest.main(options if any(not a.startswith("-") for a in arguments)
                         else [*options, HERE], plugins=[tally])
    passed, failed, skipped = tally.counts.values()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
