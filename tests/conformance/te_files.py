# SPDX-License-Identifier: Apache-2.0
"""Whole files beside Trace Viewer's figures (golden.jsonl): what differs, and why.

Figures are those of `info --format json`; thread instants count among Trace Viewer's slices, and its depth from 0.
"""
import functools
import json
import subprocess

import te_plain
from cases import FILES, goldens

WHY = {
    "file: without instants": "depth counts slices alone; Trace Viewer counts thread instants with them",
    "file: open to the end": "3.1 and 6.1: what has no end is open to the end of the trace",
    "file: one start, many ends": "3.7 and 6.5: a flow may end more than once",
    "file: overlaps": "4 and 6.4: slices that overlap without nesting get rows of their own, so nothing is taken from their self time",
    "file: what is named is listed": "2: threads and processes are listed when the file names them, or not made for objects alone",
    "file: traces inside": "1: Fuchsia traces inside JSON, which no reader knows, are kept as metadata and counted",
    "file: longest first": "4 and 6.3: of slices that begin together the longest is the outer one",
    "file: each end its own": "docs/decisions/0004: ends in a wrong order end the slices of their names",
    "file: bad times": "2, ts: an async event without a time is left out, and counted",
    "file: nesting by nanoseconds": "4: the exact test comes first; Trace Viewer nests neighbours within a microsecond",
    "file: survives": "6.9: Trace Viewer shows nothing of the file",
}


def info(traceview, path):
    done = subprocess.run([traceview, "info", "-q", "--format", "json", path],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else None


def figures(golden, ours):
    """name: (theirs, ours)"""
    return {
        "slices": (golden["slices"], ours["slices"] + ours["thread_instants"]),
        "unfinished": (golden["unfinishedSlices"], ours["unfinished_slices"]),
        "depth": (golden["maxDepth"] + (golden["slices"] > 0), ours["max_depth"]),
        "sum": (golden["sumSliceDurUs"], ours["sum_slice_ns"] / 1000),
        "self": (golden["sumSelfUs"], ours["sum_self_ns"] / 1000),
        "async": (golden["asyncTop"] + golden["asyncSub"], ours["async_slices"]),
        "counters": (golden["counters"], ours["counters"]),
        "series": (golden["counterSeries"], ours["counter_series"]),
        "samples of counters": (golden["counterSamples"], ours["counter_samples"]),
        "flows": (golden["flows"], ours["flows"]),
        "instants": (golden["globalInstants"] + golden["processInstants"], ours["instants"]),
        "objects": (golden["objects"], ours["objects"]),
        "snapshots": (golden["snapshots"], ours["snapshots"]),
        "samples": (golden["samples"], ours["samples"]),
        "memory dumps": (golden["memoryDumps"], ours["memory_dumps"]),
        "stack frames": (golden["stackFrames"], ours["stack_frames"]),
        "processes": (golden["processes"], ours["processes"]),
        "threads": (golden["threads"], ours["threads"]),
    }


def same(name, theirs, ours):
    """Sums of doubles are the same to a millionth."""
    if name in ("sum", "self"):
        return abs(theirs - ours) <= max(2, 1e-6 * abs(theirs))
    return theirs == ours


def explain(name, theirs, ours, all_ours, plain):
    """The rule that explains a figure, or None: `plain` says what it must be, where it can."""
    found = {d["kind"]: d["count"] for d in all_ours["diagnostics"]}
    inside = any(key in input_["metadata"] for input_ in all_ours["inputs"]
                 for key in ("systemTraceEvents",))
    order = found.get("title-mismatch") or found.get("time-backwards") or found.get("overlap")
    if name in ("threads", "processes"):
        return "file: traces inside" if inside else "file: what is named is listed"
    if name == "flows":
        return "file: one start, many ends" if ours > theirs else None
    if name == "async" and found.get("bad-timestamp"):
        return "file: bad times"
    if name in ("sum", "self", "depth"):
        plain = plain()
        if plain and not same(name, float(plain[name]), ours):
            return None
        if not plain and not order:
            return None
        if not plain and name != "sum":
            return "file: overlaps"
    if name in ("sum", "self") and (found.get("open-call") or all_ours["unfinished_slices"]):
        return "file: open to the end"
    if name in ("sum", "self", "unfinished", "depth") and order:
        return "file: overlaps" if name in ("self", "depth") else "file: each end its own"
    if name == "self" and abs(ours - theirs) < abs(theirs) / 1000:
        return "file: nesting by nanoseconds"
    if name == "unfinished" and ours < theirs:
        return "file: each end its own"
    if name == "depth":
        return "file: without instants" if ours < theirs else "file: longest first"
    return None


def compare(traceview, golden):
    """(what is not explained, the rules that were needed) of one file."""
    ours = info(traceview, FILES / golden["file"])
    if ours is None:
        return [f"{golden['file']} could not be opened"], []
    if "slices" not in golden:
        return [], ["file: survives"]
    unexplained, rules = [], []
    plain = functools.cache(lambda: te_plain.figures(FILES / golden["file"]))
    for name, (a, b) in figures(golden, ours).items():
        if same(name, a, b):
            continue
        rule = explain(name, a, b, ours, plain)
        if rule is None:
            unexplained.append(f"{name}: {a} there, {b} here")
        elif rule not in rules:
            rules.append(rule)
    return unexplained, rules


def files():
    """Golden lines of Trace Event files that are there, plain or packed."""
    if not FILES.exists():
        return []
    found = []
    for golden in goldens():
        if ".json" not in golden["file"] and "simple_trace_gz" not in golden["file"]:
            continue
        names = [golden["file"], golden["file"] + ".gz"]
        there = next((name for name in names if (FILES / name).exists()), None)
        if there:
            found.append(dict(golden, file=there))
    return found
