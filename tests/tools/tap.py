# SPDX-License-Identifier: Apache-2.0
"""Running the functions test_... of a script, each in a folder of its own; output is TAP."""
import pathlib
import tempfile
import traceback


class Skipped(Exception):
    """Why a test cannot run here."""


def run(names, wanted=(), place=pathlib.Path, **where):
    """The exit status.  `names` are the script's globals(), `wanted` the tests to run (none: all), without "test_" and
    with "-"; each is called with place(folder); `where` is for the folder's name."""
    tests = [(name[5:].replace("_", "-"), test) for name, test in names.items() if name.startswith("test_")]
    tests = [(name, test) for name, test in tests if not wanted or name in wanted]
    failed = 0
    print(f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory(**where) as folder:
            try:
                test(place(folder))
                print(f"ok {number} - {name}", flush=True)
            except Skipped as why:
                print(f"ok {number} - {name} # SKIP {why}", flush=True)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok {number} - {name}", flush=True)
                print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="")
    return 1 if failed else 0
