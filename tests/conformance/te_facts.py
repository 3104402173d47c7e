# SPDX-License-Identifier: Apache-2.0
"""Facts about a trace, to be compared: of Trace Viewer's model as the cases have it, and of ours as
`traceview dump --format jsonl` prints it.

A fact is a tuple whose first word is its kind.  Times are microseconds; a model without shift has
the file's own times, with shift the first event is at 0.  Values that cannot be hashed are JSON texts.
"""
import json


def text(value):
    """A value as one text, numbers of one value alike (1.0 and 1)."""
    return json.dumps(plain(value), sort_keys=True, ensure_ascii=False)


def plain(value):
    if isinstance(value, float) and value == int(value):
        return int(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def us(ns):
    """Nanoseconds as microseconds, whole ones as int."""
    return ns // 1000 if ns % 1000 == 0 else ns / 1000


def number(value):
    """Whole numbers as int; what Trace Viewer could not say stays as it is."""
    if isinstance(value, float) and value == value and abs(value) < 2 ** 60 and value == int(value):
        return int(value)
    return value


class Facts:
    """What one model says, by kind."""

    def __init__(self):
        self.rows = []

    def add(self, kind, *values):
        self.rows.append((kind, *values))


def args_text(args):
    return text(args) if args else "{}"


def _expected_slice(facts, pid, tid, s):
    facts.add("slice", pid, tid, s.get("title", ""), s.get("cat") or "", number(s.get("start")),
              number(s.get("dur")), s.get("unfinished", False))
    place = (pid, tid, s.get("title", ""), number(s.get("start")))
    if s.get("dur") != 0:
        facts.add("depth", *place, s.get("depth", 0) + 1)
    if s.get("args"):
        facts.add("args", *place, args_text(s["args"]))
    if s.get("cpuStart") is not None and s.get("cpuDur") is not None:
        facts.add("cpu", *place, number(s["cpuStart"]), number(s["cpuDur"]))
    for key, kind in (("startStack", "start-stack"), ("endStack", "end-stack")):
        if s.get(key):
            facts.add(kind, *place, text(s[key]))
    if s.get("contexts"):
        facts.add("contexts", *place, text(s["contexts"]))


def _expected_async(facts, pid, s, parent):
    facts.add("async", pid, s.get("title", ""), s.get("cat") or "", number(s.get("start")), number(s.get("dur")),
              s.get("id"), s.get("error", ""))
    place = (pid, s.get("title", ""), number(s.get("start")))
    facts.add("async-parent", *place, parent)
    facts.add("async-threads", *place, str(s.get("startThread")), str(s.get("endThread")))
    if s.get("args"):
        facts.add("async-args", *place, args_text(s["args"]))
    for key, kind in (("startStack", "start-stack"), ("endStack", "end-stack")):
        if s.get(key):
            facts.add(kind, *place, text(s[key]))
    for sub in s.get("sub", []):
        _expected_async(facts, pid, sub, s.get("title", ""))


def _expected_process(facts, process):
    pid = str(process["pid"])
    facts.add("process", pid, process.get("name") or "", text(process.get("labels") or []),
              process.get("sort", 0))
    for thread in process.get("threads", []):
        tid = str(thread["tid"])
        facts.add("thread", pid, tid, thread.get("name") or "", thread.get("sort", 0))
        for s in thread.get("slices", []):
            _expected_slice(facts, pid, tid, s)
        for s in thread.get("async", []):
            _expected_async(facts, pid, s, None)
    for counter in process.get("counters", {}).values():
        for series, samples in counter.get("series", {}).items():
            facts.add("counter", pid, counter["name"], counter.get("cat") or "", series,
                      text(samples))
    for instant in process.get("instants", []):
        facts.add("instant", pid, instant["title"], instant.get("cat") or "", number(instant["ts"]))
    for o in process.get("objects", []):
        facts.add("object", pid, o["type"], o.get("cat") or "", str(o["id"]), o["scope"],
                  number(o["created"]), number(o["deleted"]), o["createdExplicitly"],
                  o["deletedExplicitly"])
        for snapshot in o.get("snapshots", []):
            facts.add("snapshot", pid, str(o["id"]), number(snapshot["ts"]),
                      text(snapshot.get("args")))


def of_trace_viewer(expect):
    """The facts of a case's `expect` (oracle catapult)."""
    facts = Facts()
    for process in expect.get("processes", []):
        _expected_process(facts, process)
    for instant in expect.get("instants", []):
        facts.add("instant", None, instant["title"], instant.get("cat") or "",
                  number(instant["ts"]))
    for flow in expect.get("flows", []):
        facts.add("flow", str(flow["id"]), flow["title"], flow.get("cat") or "",
                  number(flow["start"]), number(flow["start"] + flow["dur"]), flow["from"][2],
                  flow["to"][2])
    for sample in expect.get("samples", []):
        # The title is the value type; one without a name is called "samples".
        facts.add("sample", str(sample.get("tid")), sample["title"] or "samples", number(sample["ts"]),
                  sample.get("weight", 1), text([frame.removesuffix(" url: unknown")
                                          for frame in sample.get("stack", [])]))
    for dump in expect.get("memoryDumps", []):
        for pid, one in dump.get("proc", {}).items():
            facts.add("memory-dump", pid, number(one["start"]))
    for row in expect.get("metadata", []):
        facts.add("metadata", row["name"], text(row["value"]))
    if expect.get("bounds") not in (None, "empty"):
        facts.add("bounds", *[number(time) for time in expect["bounds"]])
    if expect.get("stackFrames"):
        facts.add("stack-frames", expect["stackFrames"])
    return facts.rows


class Ours:
    """The rows of a dump, by type, and what they have to do with each other."""

    def __init__(self, lines, shift):
        self.rows = {}
        for line in lines:
            row = json.loads(line)
            self.rows.setdefault(row.pop("type"), []).append(row)
        trace = self.of("trace")[0] if self.of("trace") else {}
        self.base = -trace.get("start_ns", 0) if shift else trace.get("origin_ns", 0)
        self.trace = trace
        for s in self.of("slice"):  # of formats with classes and methods
            if "name" not in s:
                frame = self.of("frame")[s["frame"]]
                s["name"] = f"{frame['class']}.{frame['method']}{frame['signature']}"
                s["category"] = "java"
        self.slices = {(s["row"], s["index"]): s for s in self.of("slice") if "row" in s}
        self.by_id = {s["id"]: s for s in self.of("slice")}

    def of(self, kind):
        return self.rows.get(kind, [])

    def time(self, ns):
        return us(ns + self.base)

    def pid(self, process):
        if process is None:
            return None
        row = self.of("process")[process]
        return row.get("key") or str(row["pid"])

    def thread(self, thread):
        if thread is None:
            return None
        row = self.of("thread")[thread]
        return row.get("key") or str(row["tid"])

    def pid_of_thread(self, thread):
        return self.pid(self.of("thread")[thread]["process"]) if thread is not None else None


def _our_args(facts, kind, place, event):
    args = (event or {}).get("args")
    if args:
        facts.add(kind, *place, args_text(args))


def _our_stacks(facts, place, event):
    for key, kind in (("start_stack", "start-stack"), ("end_stack", "end-stack")):
        if (event or {}).get(key):
            facts.add(kind, *place, text(event[key]))


def _our_thread_slice(facts, ours, track, s):
    pid, tid = ours.pid_of_thread(track["thread"]), ours.thread(track["thread"])
    start = ours.time(s["start_ns"])
    facts.add("slice", pid, tid, s["name"], s["category"], start, us(s["length_ns"]),
              "open" in s["flags"])
    place = (pid, tid, s["name"], start)
    if s["length_ns"] != 0:
        facts.add("depth", *place, s["depth"] + 1)
    _our_args(facts, "args", place, s.get("event"))
    _our_stacks(facts, place, s.get("event"))
    if s.get("cpu_start_ns") is not None:
        facts.add("cpu", *place, us(s["cpu_start_ns"]), us(s["cpu_length_ns"]))


def _our_async_slice(facts, ours, track, s):
    pid = ours.pid(track["process"])
    start = ours.time(s["start_ns"])
    error = "no-begin" if "entered-before" in s["flags"] else "no-end" if "open" in s["flags"] else ""
    facts.add("async", pid, s["name"], s["category"], start, us(s["length_ns"]), s["async_id"],
              error)
    place = (pid, s["name"], start)
    parent = s.get("parent")
    facts.add("async-parent", *place, ours.by_id[parent]["name"] if parent is not None else None)
    facts.add("async-threads", *place, str(ours.thread(s["start_thread"])),
              str(ours.thread(s["end_thread"])))
    _our_args(facts, "async-args", place, s.get("event"))
    _our_stacks(facts, place, s.get("event"))


def _our_counters(facts, ours):
    samples = {}
    for sample in ours.of("counter-sample"):
        samples.setdefault(sample["counter"], []).append(sample)
    for counter in ours.of("counter"):
        for i, series in enumerate(counter["series"]):
            points = [[ours.time(s["time_ns"]), number(s["values"][i])]
                      for s in samples.get(counter["id"], [])]
            facts.add("counter", ours.pid(counter["process"]), counter["name"],
                      counter["category"], series, text(points))


def _our_objects(facts, ours):
    objects = ours.of("object")
    for o in objects:
        facts.add("object", ours.pid(o["process"]), o["object_type"], o["category"],
                  o["object_id"], o["scope"], ours.time(o["created_ns"]),
                  ours.time(o["deleted_ns"]), o["created"], o["deleted"])
    for s in ours.of("snapshot"):
        o = objects[s["object"]]
        snapshot = ((s.get("event") or {}).get("args") or {}).get("snapshot")
        facts.add("snapshot", ours.pid(o["process"]), o["object_id"], ours.time(s["time_ns"]),
                  text(snapshot))


def _our_instants(facts, ours):
    for i in ours.of("instant"):
        time = ours.time(i["time_ns"])
        if i["scope"] == "thread":
            pid, tid = ours.pid_of_thread(i["of"]), ours.thread(i["of"])
            facts.add("slice", pid, tid, i["name"], i["category"], time, 0, False)
            _our_args(facts, "args", (pid, tid, i["name"], time), i.get("event"))
            _our_stacks(facts, (pid, tid, i["name"], time), i.get("event"))
        else:
            pid = ours.pid(i["of"]) if i["scope"] == "process" else None
            facts.add("instant", pid, i["name"], i["category"], time)


def of_ours(lines, shift):
    """The facts of a dump."""
    ours = Ours(lines, shift)
    facts = Facts()
    for row in ours.of("process"):
        labels = row.get("labels", "").split(", ") if row.get("labels") else []
        facts.add("process", row.get("key") or str(row["pid"]), row["name"], text(labels),
                  row.get("sort_index", 0))
    for row in ours.of("thread"):
        facts.add("thread", ours.pid(row["process"]), row.get("key") or str(row["tid"]),
                  row["name"], row.get("sort_index", 0))
    tracks = ours.of("track")
    for s in ours.of("slice"):
        track = tracks[s["track"]]
        if track["kind"] == "async":
            _our_async_slice(facts, ours, track, s)
        elif track["kind"] in ("thread", "overflow"):
            _our_thread_slice(facts, ours, track, s)
    _our_instants(facts, ours)
    _our_counters(facts, ours)
    _our_objects(facts, ours)
    for f in ours.of("flow"):
        start, end = (ours.slices.get((f[side]["row"], f[side]["index"])) for side in ("from", "to"))
        facts.add("flow", f["flow_id"], f["name"], f["category"], ours.time(f["from"]["time_ns"]),
                  ours.time(f["to"]["time_ns"]), start and start["name"], end and end["name"])
    for s in ours.of("sample"):
        facts.add("sample", str(ours.thread(s["thread"])), s.get("title", ""), ours.time(s["time_ns"]),
                  s["weight"], text(s["stack"]))
    for d in ours.of("memory-dump"):
        facts.add("memory-dump", ours.pid(d["process"]), ours.time(d["time_ns"]))
    for m in ours.of("metadata"):
        try:
            value = json.loads(m["value"])
        except ValueError:
            value = m["value"]
        facts.add("metadata", m["key"], text(value))
    timed = ("slice", "instant", "counter-sample", "object", "sample", "memory-dump")
    if any(ours.of(kind) for kind in timed):
        facts.add("bounds", ours.time(ours.trace["start_ns"]), ours.time(ours.trace["end_ns"]))
    if ours.of("stack-frame"):
        facts.add("stack-frames", len(ours.of("stack-frame")))
    return facts.rows
