"""What the tests of the program share: a runner of tests that are sentences, and the program itself.

    import sentences
    from sentences import Skip
    run, fails = sentences.program(FILUM)
    ...
    if __name__ == "__main__":
        sys.exit(sentences.main(globals(), wanted, HELPERS))
"""

import os
import subprocess
import tempfile
import time


class Skip(Exception):
    """Why a test says nothing here."""


def program(path):
    """run(*arguments) and fails(status, text, *arguments) of a program."""
    def run(*arguments, **more):
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120, **more}
        done = subprocess.run([path, *arguments], check=False, **more)
        done.out, done.err = (done.stdout or b"").decode(), (done.stderr or b"").decode()
        return done

    def fails(status, text, *arguments):
        """It ends with this status, says one line that contains the text, and gives no data."""
        done = run(*arguments)
        assert done.returncode == status, (arguments, done.returncode, done.err)
        assert done.out == "", done.out
        assert text in done.err, done.err
        assert done.err.count("\n") == 1 and done.err.startswith("filum: "), done.err
    return run, fails


def try_one(test, folder):
    """"ok", "skip" or "FAIL", and why. A test may want to know the name of its folder."""
    try:
        test(*[folder][:test.__code__.co_argcount])
        return "ok", ""
    except Skip as skip:
        return "skip", f": {skip}"
    except Exception as error:  # pylint: disable=broad-except
        return "FAIL", f": {type(error).__name__} line " \
            f"{error.__traceback__.tb_next.tb_lineno}: {error}"


def main(names, wanted, helpers=(), prepare=None):
    """Run every function of a module that is no helper, each in an empty folder. 1: some fail."""
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    tests = [test for name, test in names.items()
             if callable(test) and getattr(test, "__module__", "") == "__main__"
             and name not in helpers and wanted in name]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            if prepare is not None:
                prepare(folder)
            start = time.monotonic()
            result, why = try_one(test, folder)
            os.chdir("/")
        counts[result] += 1
        print(f"{result:4} {test.__name__} ({time.monotonic() - start:.1f} s){why}", flush=True)
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] else 0
