# SPDX-License-Identifier: Apache-2.0
"""What the runners of the cases have in common: where the reference material is, our dump, the page."""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
CASES = SHARED / "conformance/trace-event-cases.jsonl"
FILES = SHARED / "data/trace-event"
DOCUMENT = ROOT / "docs/conformance.md"
SKIPPED = "1..0 # skipped: ../shared not there"


def options(what):
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--case", action="append", default=[], help="only this one; prints what differs")
    parser.add_argument("--write", action="store_true", help="put the table into docs/conformance.md")
    return parser.parse_args()


def load(kinds):
    """The cases of these kinds."""
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    return [case for case in cases if case["kind"] in kinds]


def goldens():
    """What Trace Viewer made of whole files: one row each."""
    return [json.loads(line) for line in (FILES / "golden.jsonl").read_text().splitlines()]


def dump(traceview, contents):
    """Our dump of inputs given as bytes."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        paths = []
        for number, content in enumerate(contents):
            path = pathlib.Path(folder) / f"{number}.json"
            path.write_bytes(content)
            paths.append(path)
        return dump_files(traceview, paths)


def dump_files(traceview, paths):
    return subprocess.run([traceview, "dump", "-q", "--format", "jsonl", *paths],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)


def ok(passed, number, name):
    print(f"{'ok' if passed else 'not ok'} {number} - {name}")


def section(name, text, write):
    """True when docs/conformance.md has this text between its two marks of that name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    page = DOCUMENT.read_text()
    before, rest = page.split(begin, 1)
    current, after = rest.split(end, 1)
    if write and current != text:
        DOCUMENT.write_text(before + begin + text + end + after)
        return True
    return current == text
