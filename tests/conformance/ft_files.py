# SPDX-License-Identifier: Apache-2.0
"""Whole files of ftrace text and systrace beside Trace Viewer's figures (golden.jsonl).

Each figure has what the peer shows and what must be shown, worked out from the peer's and from a plain
reading of the lines; besides, who ran, the states and the instants are held against that reading one by one.
"""
import collections
import json
import re
import subprocess

import cases
import ft_facts
import ft_lines
import ft_rules

WHY = {
    "file: read": "1: trace-cmd report in any form, and HTML of any case: Trace Viewer finds no importer",
    "file: last slice": "3, sched_switch: who runs at the end of the trace runs to its end",
    "file: strips": "5: each thread that ran has its states, not only those that marks name",
    "file: threads of all lines": "2: every thread that a line names is listed",
    "file: unknown events": "3: lines that mean nothing else are instants",
    "file: open to the end": "4: what has no end goes on to the end of the trace",
    "file: counters of any line": "3: frequencies with min_freq=, of trace-cmd, and with newer flags are counters too",
    "file: every line counts": "2: the trace goes from the first line that shows something to the last",
    "file: no trace": "helper files of systrace (what atrace kept of /proc) are refused, and the error says what was expected",
}
REFUSED = ("atrace_extracted_tgids", "atrace_extracted_threads", "atrace_procfs_dump")


def goldens():
    """Golden lines of files that are there and are no JSON, which tests/conformance/trace_event reads."""
    found = []
    for golden in cases.goldens():
        other = (".json", "simple_trace_gz", "v8.log")
        if not any(part in golden["file"] for part in other) and (cases.FILES / golden["file"]).exists():
            found.append(golden)
    return found


class File:
    """A file, its plain reading, and our facts."""

    def __init__(self, traceview, golden):
        self.path = cases.FILES / golden["file"]
        self.golden = collections.defaultdict(int, golden)
        self.name, self.case = golden["file"], {"input": [""]}
        self.text = self.path.read_text(errors="replace")
        self.model = ft_lines.Model(self.text)
        info = subprocess.run([traceview, "info", "-q", "--format", "json", self.path], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        self.errors = info.stderr
        self.info = collections.defaultdict(int, json.loads(info.stdout)) if info.returncode == 0 else None
        lines = cases.dump_files(traceview, [self.path]).stdout.decode("utf-8", "replace").splitlines()
        found = ft_facts.Found(lines, False, self.model) if self.info else None
        self.facts = found.rows if found else []
        self.records = sum(row["records"] for row in found.dump.of("input") if row["format"] == "ftrace text") \
            if found else 0

    def time(self, ns):
        return ns + self.model.shift

    def span(self, times):
        return tuple(self.time(time) for time in times)


def sequences(file):
    """(name, the facts that must be there, ours) of what is compared one by one."""
    model = file.model
    ran = [("cpu-slice", *s[:4], *file.span(s[4:6]), s[6]) for s in model.cpu_slices]
    states = [("state", tid, name, *file.span((start, end)), waker)
              for tid, strip in model.states.items() for name, start, end, waker in strip]
    instants = [("instant", line.tid, line.event, file.time(line.time)) for line in model.lines
                if not line.is_mark and line.event != "bprint" and not ft_rules.known(file, line)]
    events = {fact[2] for fact in instants}
    for kind, wanted in (("cpu-slice", ran), ("state", states), ("instant", instants)):
        ours = [fact for fact in file.facts if fact[0] == kind and (kind != "instant" or fact[2] in events)]
        yield kind, collections.Counter(wanted), collections.Counter(ours)


def threads(model):
    return {*model.names, *model.runs, *(line.tid for line in model.lines)} - {0}


def figures(file):
    """name: (the peer's, what must be, ours, the rule where the first two differ)."""
    model, golden, info = file.model, file.golden, file.info
    plain = [fact for fact in file.facts if fact[0] == "counter" and not fact[1].startswith("cpu")]
    begun = sum(bool(re.match(r"S\|\d+\|", line.details)) for line in model.lines if line.is_mark)
    last = [s for s in model.cpu_slices if s[6]]
    samples = sum(len(fact[5]) for fact in plain)
    yield "lines", len(model.lines), len(model.lines), file.records, "file: read"
    yield "slices", golden["slices"], golden["slices"], info["slices"], ""
    yield "unfinished", golden["unfinishedSlices"], golden["unfinishedSlices"], info["unfinished_slices"], ""
    yield "depth", *[golden["maxDepth"] + (golden["slices"] > 0)] * 2, info["max_depth"], ""
    yield "async", golden["asyncTop"] + golden["asyncSub"], begun, info["async_slices"], "file: open to the end"
    yield "flows", golden["flows"], golden["flows"], info["flows"], ""
    yield "CPU slices", golden["cpuSlices"], len(model.cpu_slices), info["cpu_slices"], "file: last slice"
    yield "closed CPU slices", *[len(model.cpu_slices) - len(last)] * 2, info["cpu_slices"] - len(last), ""
    yield "states", golden["threadStateSlices"], sum(len(s) for s in model.states.values()), \
        sum(fact[0] == "state" for fact in file.facts), "file: strips"
    yield "threads", golden["threads"], len(threads(model)), \
        sum(fact[0] == "thread" and fact[2] in threads(model) for fact in file.facts), "file: threads of all lines"
    if not golden["error"]:
        yield "counters", golden["counters"], golden["counters"], len({fact[1:3] for fact in plain}), ""
        yield "samples", golden["counterSamples"], golden["counterSamples"], samples, ""
        yield "closed CPU slices there", golden["cpuSlices"], len(model.cpu_slices) - len(last), golden["cpuSlices"], ""


def compare_bounds(file):
    shown = [fact for fact in file.facts if fact[0] == "bounds"]
    theirs = tuple(round(time * 1000) for time in file.golden["boundsUs"] or ())
    rules = ["file: every line counts"] if theirs != file.model.bounds else []
    return [f"bounds {file.model.bounds}, {shown} here"] if shown != [("bounds", *file.model.bounds)] else [], rules


def compare_sums(file):
    """Sums of lengths: the same to a millionth, or longer by what is open."""
    found, rules = [], []
    for name, ours in (("sumSliceDurUs", "sum_slice_ns"), ("sumSelfUs", "sum_self_ns")):
        more = file.info[ours] / 1000 - file.golden[name]
        if abs(more) <= max(2, 1e-6 * file.golden[name]):
            continue
        if file.golden["unfinishedSlices"] and 0 < more <= file.golden["unfinishedSlices"] * file.info["span_ns"] / 1000:
            rules = ["file: open to the end"]
        else:
            found.append(f"{name}: {file.golden[name]} there, {file.info[ours] / 1000} here")
    return found, rules


def compare_counters(file):
    """Counters of processors, which the peer's figures leave out: by the lines."""
    wanted = collections.Counter()
    for line in file.model.events:
        for name, series, value in ft_rules.counter_of(line):
            wanted["cpu " + value[0], name, series, file.time(line.time), value[1]] += 1
    names = {key[1] for key in wanted}
    ours = collections.Counter((fact[1], fact[2], fact[4], *point) for fact in file.facts if fact[0] == "counter"
                               and fact[1].startswith("cpu") and fact[2] in names for point in fact[5])
    return [f"counters: {list((wanted - ours) + (ours - wanted))[:3]} differ"] if wanted != ours else [], \
        ["file: counters of any line"] if wanted else []


def compare(traceview, golden):
    """(missing, extra, rules) of one file."""
    file = File(traceview, golden)
    if file.path.name in REFUSED:
        named = file.info is None and "expected" in file.errors
        return [] if named else ["an error"], [], ["file: no trace"]
    if file.info is None:
        return ["the file can be read"], [file.errors], []
    missing, extra, rules = [], [], ["file: read"] if file.golden["error"] else []
    for name, peer, wanted, ours, rule in figures(file):
        if wanted != ours:
            missing.append(f"{name}: {peer} there, {wanted} wanted, {ours} here")
        if wanted != peer and not file.golden["error"]:
            rules.append(rule)
    for kind, wanted, ours in sequences(file):
        missing += list((wanted - ours).elements())[:5]
        extra += list((ours - wanted).elements())[:5]
        if kind == "instant" and wanted:
            rules.append("file: unknown events")
    parts = [compare_counters(file)]
    if file.model.bounds:
        parts.append(compare_bounds(file))
    if not file.golden["error"]:
        parts.append(compare_sums(file))
    for found, why in parts:
        missing += found
        rules += why
    return missing, extra, list(dict.fromkeys(rules))
