# SPDX-License-Identifier: Apache-2.0
"""Facts about a trace of the kernel, to be compared: of Trace Viewer's model as the cases have it, and
of ours as `traceview dump --format jsonl` prints it.

A fact is a tuple whose first word is its kind.  Times are nanoseconds on the file's own clock, or from
the first event on where the case asks for that.  A thread is its number; a line of the kernel that is
no thread is its name.
"""
import json
import re

import ft_lines
import te_facts


def ns(us):
    return round(us * 1000)


def value(v):
    """Numbers of one value alike, so that 39000 of a double is that of a text."""
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, float) and v == int(v):
        v = int(v)
    if isinstance(v, float):
        return f"{v:.9g}"
    return str(v)


def points(samples):
    return tuple((ns(time), value(v)) for time, v in samples)


class Expected:
    """The facts of a case's `expect` (oracle catapult)."""

    def __init__(self, expect, text):
        self.rows = []
        self.text = text
        for cpu, one in expect.get("cpus", {}).items():
            for s in one.get("slices", []):
                args = s["args"]
                self.add("cpu-slice", int(cpu), args["tid"], s["title"], args["prio"], ns(s["start"]),
                         ns(s["start"] + s["dur"]), False)
                self.add("switched-off", args["tid"], ns(s["start"] + s["dur"]), args["stateWhenDescheduled"])
            self.counters("cpu " + cpu, one.get("counters", {}))
        self.counters("kernel", expect.get("kernelCounters", {}))
        for process in expect.get("processes", []):
            self.process(process)
        for flow in expect.get("flows", []):
            self.add("flow", flow["from"][2], ns(flow["start"]), flow["to"][2], ns(flow["start"] + flow["dur"]))
        if expect.get("bounds") not in (None, "empty"):
            self.add("bounds", *[ns(time) for time in expect["bounds"]])

    def add(self, kind, *values):
        self.rows.append((kind, *values))

    def counters(self, owner, counters):
        for counter in counters.values():
            for series, samples in counter.get("series", {}).items():
                self.add("counter", owner, counter["name"], counter.get("cat") or "", series, points(samples))

    def thread_key(self, thread):
        """The number of a thread that has lines, the name of one that has none."""
        tid, name = thread["tid"] if "tid" in thread else None, thread.get("name") or str(thread.get("tid"))
        if isinstance(tid, int) and re.search(rf"(^|\D|[\w>])-{tid}\s", self.text):
            return tid
        return name

    def process(self, process):
        pid = int(process["pid"])
        self.add("process", pid)
        self.counters(f"process {pid}", process.get("counters", {}))
        for thread in process.get("threads", []):
            tid = self.thread_key(thread)
            self.add("thread", pid, tid, thread.get("name") or str(thread.get("tid")))
            for s in thread.get("slices", []):
                self.slice(tid, s)
            for s in thread.get("async", []):
                self.async_slice(pid, tid, s)
            for s in thread.get("states", []):
                self.add("state", tid, s["state"], ns(s["start"]), ns(s["start"] + s["dur"]),
                         s.get("args", {}).get("wakeup from tid"))

    def slice(self, tid, s):
        place = (tid, s["title"], ns(s["start"]))
        self.add("slice", *place, s.get("cat") or "", ns(s["start"] + s["dur"]), s.get("unfinished", False))
        if s["dur"]:
            self.add("depth", *place, s.get("depth", 0))
        for name, v in (s.get("args") or {}).items():
            self.add("arg", *place, name, value(v))
        if s.get("cpuDur"):
            self.add("cpu-time", *place, ns(s["cpuDur"]))

    def async_slice(self, pid, tid, s):
        place = (s["title"], ns(s["start"]))
        ends = (s.get("startThread", tid), s.get("endThread", tid))
        self.add("async", *place, s.get("cat") or "", ns(s["start"] + s["dur"]), *ends)
        for name, v in (s.get("args") or {}).items():
            self.add("async-arg", *place, name, value(v))
        for part in s.get("sub", []):
            if part["title"] != s["title"]:
                self.async_slice(pid, tid, part)


class Found:
    """The facts of our dump."""

    def __init__(self, lines, shift, model):
        self.rows = []
        self.model = model
        self.dump = te_facts.Ours(lines, False)
        self.base = -self.dump.trace.get("start_ns", 0) if shift else self.dump.trace.get("origin_ns", 0)
        for row in self.dump.of("process"):
            self.add("process", row["pid"])
            self.add("process-name", row["pid"], row["name"])
        for number, row in enumerate(self.dump.of("thread")):
            process = row["process"]
            pid = self.dump.of("process")[process]["pid"] if process is not None else None
            self.add("thread", pid, self.thread(number), row["name"])
        self.slices()
        self.instants()
        self.counters()
        for kind in ("slice", "instant"):
            for row in self.dump.of(kind):
                self.line(row.get("event"))
        for flow in self.dump.of("flow"):
            start, end = (self.dump.slices.get((flow[side]["row"], flow[side]["index"])) for side in ("from", "to"))
            self.add("flow", start and start["name"], self.time(flow["from"]["time_ns"]), end and end["name"],
                     self.time(flow["to"]["time_ns"]))
        timed = ("slice", "instant", "counter-sample")
        if any(self.dump.of(kind) for kind in timed):
            self.add("bounds", self.time(self.dump.trace["start_ns"]), self.time(self.dump.trace["end_ns"]))

    def add(self, kind, *values):
        self.rows.append((kind, *values))

    def line(self, event):
        """What is kept of a line."""
        if event and event.get("event"):
            self.add("line", event["task"], event["cpu"], event["event"], event["details"])

    def time(self, time_ns):
        return time_ns + self.base

    def thread(self, number):
        if number is None:
            return None
        row = self.dump.of("thread")[number]
        return row.get("key") or row["tid"]

    def slices(self):
        for s in self.dump.of("slice"):
            track = self.dump.of("track")[s["track"]]
            start, end = self.time(s["start_ns"]), self.time(s["start_ns"] + s["length_ns"])
            args = (s.get("event") or {}).get("args") or {}
            if track["kind"] == "cpu":
                tid, prio = switched_to(s["event"]["details"])
                self.add("cpu-slice", int(re.search(r"\d+", track["name"])[0]), tid, s["name"], prio, start, end,
                         "open" in s["flags"])
            elif track["kind"] == "states":
                self.add("state", self.thread(track["thread"]), s["name"], start, end, self.waker(s))
            elif track["kind"] == "async":
                place = (s["name"], start)
                self.add("async", *place, s["category"], end, self.thread(s["start_thread"]),
                         self.thread(s["end_thread"]))
                self.args("async-arg", place, args)
            else:
                self.thread_slice(s, self.thread(track["thread"]), start, end, args)

    def thread_slice(self, s, tid, start, end, args):
        place = (tid, s["name"], start)
        self.add("slice", *place, s["category"], end, "open" in s["flags"])
        if s["length_ns"]:
            self.add("depth", *place, s["depth"])
        self.args("arg", place, args)
        if s.get("cpu_length_ns"):
            self.add("cpu-time", *place, s["cpu_length_ns"])

    def args(self, kind, place, args):
        for name, v in args.items():
            self.add(kind, *place, name, value(v))

    def waker(self, s):
        """The thread on whose line a wake-up stands."""
        if s["name"] != "Runnable" or "wak" not in s["event"]["event"]:
            return None
        time = s["start_ns"] + self.dump.trace.get("origin_ns", 0) - self.model.shift
        return self.model.by_place.get((time, s["event"]["details"]))

    def instants(self):
        for i in self.dump.of("instant"):
            owner = self.thread(i["of"]) if i["scope"] == "thread" else i["scope"]
            self.add("instant", owner, i["name"], self.time(i["time_ns"]))

    def counters(self):
        samples = {}
        for sample in self.dump.of("counter-sample"):
            samples.setdefault(sample["counter"], []).append(sample)
        for counter in self.dump.of("counter"):
            pid = self.dump.of("process")[counter["process"]]["pid"] if counter["process"] is not None else None
            name = counter["name"]
            cpu = re.match(r"CPU (\d+) (.*)", name)
            owner = f"process {pid}" if pid else "kernel"
            if cpu and not pid:
                owner, name = "cpu " + cpu[1], cpu[2]
            for i, series in enumerate(counter["series"]):
                rows = tuple((self.time(s["time_ns"]), value(s["values"][i])) for s in samples.get(counter["id"], [])
                             if s["values"][i] is not None)
                self.add("counter", owner, name, counter["category"], series, rows)


def switched_to(details):
    """(tid, prio) of the task that a switch leads to."""
    ends = ft_lines.switch(details)
    return (ends[3], ends[4]) if ends else (None, None)


def of_trace_viewer(expect, text):
    return Expected(expect, text).rows


def of_ours(lines, shift, model):
    return Found(lines, shift, model).rows


def text_of(content):
    return content if isinstance(content, str) else json.dumps(content)
