# SPDX-License-Identifier: Apache-2.0
"""Lines of ftrace text and what the scheduler's lines must become (ftrace.md, sections 2, 3 and 5),
written a second time so that the answers of traceview are held against something.

Times are nanoseconds.
"""
import re

LINE = re.compile(
    r"^\s*(?P<task>.*)-(?P<tid>\d+)\s+(?:\(\s*(?P<tgid>\d+|-+)\s*\)\s+)?"
    r"(?:\[(?P<cpu>\d+)\]\s*(?:(?P<flags>[A-Za-z.#][A-Za-z0-9.#]{3,7}?)\s*)?|"
    r"(?P<glued>\d+)(?P<letters>[A-Za-z.#][A-Za-z0-9.#]{3,4})\s+)"
    r"(?P<ts>\d+\.\d+):\s+(?P<event>[^:\s]+):\s*(?P<details>.*?)\s*$")
SWITCH = re.compile(r"^prev_comm=(.+) prev_pid=(\d+) prev_prio=(-?\d+) prev_state=(\S+) (?:==> )?"
                    r"next_comm=(.+) next_pid=(\d+) next_prio=(-?\d+)")
PLUGIN = re.compile(r"^(.+):(\d+) \[(-?\d+)\] (\S+) ==> (.+):(\d+) \[(-?\d+)\]")
WAKEUP = re.compile(r"^comm=(.+) pid=(\d+) prio=(-?\d+)")
WAKEUP_PLUGIN = re.compile(r"^(.+):(\d+) \[(-?\d+)\]")
BLOCKED = re.compile(r"^pid=(\d+) iowait=(\d+) caller=(\S+)")
MARK = re.compile(r"^[BSFINGH]\|(\d+)\|")

# Bits of a state of kernels up to 4.13, where nothing turned them into letters; above them: preempted.
BITS = {1 << i: letter for i, letter in enumerate("SDTtXZxKWPNn")}

STATES = {
    "S": "Sleeping", "R": "Runnable", "R+": "Runnable (preempted)", "D": "Uninterruptible Sleep",
    "T": "Stopped", "t": "Traced", "Z": "Zombie", "X": "Exit Dead", "x": "Task Dead", "K": "Wake Kill",
    "W": "Waking", "P": "Parked", "I": "Sleeping (idle)",
    "D|K": "Uninterruptible Sleep | WakeKill", "D|W": "Uninterruptible Sleep | Waking",
}
AWAKE = {"R", "R+", "on"}


def ns(text):
    whole, _, part = text.partition(".")
    return int(whole) * 10 ** 9 + int(part.ljust(9, "0")[:9])


def switch(details):
    """(prev tid, state, next comm, next tid, next prio, prev comm) of a sched_switch, or None."""
    m = SWITCH.match(details) or PLUGIN.match(details)
    return (int(m[2]), m[4], m[5], int(m[6]), int(m[7]), m[1]) if m else None


class Line:
    """One event."""

    def __init__(self, match):
        self.task = match["task"]
        self.tid = int(match["tid"])
        tgid = match["tgid"] or ""
        self.tgid = int(tgid) if tgid.isdigit() else None
        self.cpu = int(match["cpu"] or match["glued"])
        self.time = ns(match["ts"])
        self.event, self.details = match["event"], match["details"]

    def switch(self):
        """As switch() below, or None: it is another event."""
        return switch(self.details) if self.event == "sched_switch" else None

    def woken(self):
        """The thread that becomes runnable, or None."""
        if self.event not in ("sched_wakeup", "sched_waking", "sched_wakeup_new"):
            return None
        m = WAKEUP.match(self.details) or WAKEUP_PLUGIN.match(self.details)
        return int(m[2]) if m else None

    def woken_name(self):
        m = WAKEUP.match(self.details) or WAKEUP_PLUGIN.match(self.details)
        return m[1]

    @property
    def is_mark(self):
        return self.event in ("tracing_mark_write", "print", "0")

    @property
    def is_clock(self):
        return self.is_mark and self.details.startswith("trace_event_clock_sync")


def fields(details):
    """The name=value of a line's details."""
    return dict(re.findall(r"(\w+)=([^\s,\]]+)", details))


def lines_of(text):
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match and not line.startswith("#"):
            found.append(Line(match))
    return found


def state_name(text):
    if text.isdigit():
        letters = "|".join(letter for bit, letter in BITS.items() if int(text) & bit)
        text = letters or ("R+" if int(text) else "R")
    return text, STATES.get(text, "Unknown")


def inside(text):
    """What stands in a page of systrace (section 1, containers A and B); other text as it is."""
    if not text.lstrip()[:9].lower().startswith(("<!doctype", "<html")):
        return text
    blocks = re.findall(r'<script class="trace-data"[^>]*>\n(.*?)</script>', text, re.S)
    if blocks:
        return "\n".join(block for block in blocks if not block.startswith("{"))
    old = re.search(r'^  var linuxPerfData = "(.*?)";', text, re.S | re.M)
    return old[1].replace("\\n\\\n", "\n").replace('\\"', '"') if old else text


class Model:
    """What the lines must become."""

    def __init__(self, text):
        self.lines = lines_of(inside(text))
        self.by_place = {(line.time, line.details): line.tid for line in self.lines}
        events = sorted((line for line in self.lines if not line.is_clock), key=lambda line: line.time)
        self.shift = 0
        for line in self.lines:
            sync = re.match(r"trace_event_clock_sync: parent_ts=([\d.]+)", line.details) if line.is_mark else None
            if sync:
                self.shift = ns(sync[1]) - line.time if ns(sync[1]) else 0
                break
        self.events = events
        shown = self._shown()
        self.bounds = (shown[0].time + self.shift, shown[-1].time + self.shift) if shown else None
        self.tgids, self.names = {}, {}
        for line in self.lines:
            if line.tgid and line.tid:
                self.tgids.setdefault(line.tid, line.tgid)
            mark = MARK.match(line.details) if line.is_mark else None
            if mark and line.tid:
                self.tgids.setdefault(line.tid, int(mark[1]))
            if not line.task.startswith("<"):
                self.names.setdefault(line.tid, line.task)
        self.cpu_slices, self.runs = [], {}
        self._switches()
        self.wakes = {}
        for number, line in enumerate(self.events):
            if line.woken():
                self.wakes.setdefault(line.woken(), []).append((number, line.time, "woken", line.tid))
                self.runs.setdefault(line.woken(), [])
                self.names.setdefault(line.woken(), line.woken_name())
        self.states = {tid: self._states(tid) for tid in self.runs if tid != 0}

    def _shown(self):
        """Events without the ends that end nothing."""
        depth, shown = {}, []
        for line in self.events:
            mark = line.details[:1] if line.is_mark and re.match(r"[BE](\||$)", line.details) else ""
            if mark == "E" and not depth.get(line.tid):
                continue
            depth[line.tid] = depth.get(line.tid, 0) + {"B": 1, "E": -1}.get(mark, 0)
            shown.append(line)
        return shown

    def end(self):
        return self.bounds[1] - self.shift if self.bounds else 0

    def _switches(self):
        """Who ran: (cpu, tid, comm, prio, start, end, open)."""
        running, told, later = {}, {}, {}
        for number, line in enumerate(self.events):
            switch = line.switch()
            if not switch:
                continue
            prev, state, comm, tid, prio, was = switch
            at = running.pop(line.cpu, None)
            if at:
                self._ran(line.cpu, at, line.time, False)
            for thread in (prev, tid):
                self.runs.setdefault(thread, [])
            told.setdefault(prev, was)
            later.setdefault(tid, comm)
            self.runs[prev].append((number, line.time, "off", state))
            if tid:
                self.runs[tid].append((number, line.time, "on", line.cpu))
                running[line.cpu] = (tid, comm, prio, line.time)
        for cpu, at in running.items():
            self._ran(cpu, at, self.end(), True)
        self.names = {**later, **told, **self.names}

    def _ran(self, cpu, at, end, is_open):
        tid, comm, prio, start = at
        self.cpu_slices.append((cpu, tid, comm, prio, start, end, is_open))

    def _states(self, tid):
        """The strip of one thread: [(name, start, end, waker)]."""
        steps = self.runs[tid] + self.wakes.get(tid, [])
        strip, now = [], None  # now: (name, since, waker, letter)
        for _, time, kind, what in sorted(steps, key=lambda step: step[0]):
            if kind == "woken":
                if now and now[3] in AWAKE:
                    continue
                following = ("Runnable", time, what, "R")
            elif kind == "on":
                following = ("Running", time, None, "on")
            else:
                letter, name = state_name(what)
                following = (name, time, None, letter)
            if now:
                strip.append((now[0], now[1], time, now[2]))
            now = following
        if now:
            strip.append((now[0], now[1], self.end(), now[2]))
        strip = [one for one in strip if one[1] < one[2]]
        return self._reasons(tid, strip)

    def _reasons(self, tid, strip):
        """sched_blocked_reason tells of the last uninterruptible sleep until the thread runs again; while it runs, of
        the sleep that follows at once."""
        for number, line in enumerate(self.events):
            m = BLOCKED.match(line.details) if line.event == "sched_blocked_reason" else None
            if not m or int(m[1]) != tid or m[2] == "0":
                continue
            switched = [step[1] for step in self.runs[tid] if step[0] < number]
            later = [step[1] for step in self.runs[tid] if step[0] > number]
            last = max(switched, default=None)
            running = last is None or any(one[:2] == ("Running", last) for one in strip)
            for i, (name, start, end, waker) in enumerate(strip):
                if name.startswith("Uninterruptible") and start == (min(later, default=None) if running else last):
                    strip[i] = ("Uninterruptible Sleep (I/O)", start, end, waker)
        return strip
