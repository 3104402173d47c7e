# SPDX-License-Identifier: Apache-2.0
"""The slices of a whole file, read a second time and as plainly as can be: what a figure that differs from
Trace Viewer's must be.

What has no end is open to the end of the trace (trace-event.md 3.1 and 6.1), an X without a length to that of
its thread; of slices that begin together the longest is the outer one (4), and what has no length holds only what
began and ended between its own B and E (3.2).  None: this reading does not do,
as slices overlap, ends have other names, or the text is no strict JSON.
"""
import gzip
import json
from fractions import Fraction

# Larger texts take too long here.
MAX_BYTES = 100_000_000


def events_of(path):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if len(data) > MAX_BYTES:
        return None
    text = data.decode("utf-8", "replace").strip()
    for end in ("", "]"):
        try:
            whole = json.loads(text.rstrip(",") + end, parse_float=Fraction)
        except ValueError:
            continue
        return whole if isinstance(whole, list) else whole["traceEvents"]
    return None


def number(value):
    return Fraction(value) if isinstance(value, (int, str, Fraction)) and not isinstance(value, bool) else None


class Thread:
    """One thread on its way: whole slices, and beginnings that wait for their ends."""

    def __init__(self):
        self.slices, self.open, self.unfinished = [], [], []
        self.last = None

    def seen(self, time):
        self.last = time if self.last is None else max(self.last, time)


def take(thread, event, time):
    """False: it is nothing for a plain reading."""
    phase = event["ph"]
    if phase == "X" and event.get("dur") is None:
        thread.unfinished.append(time)
    elif phase == "X":
        thread.slices.append((time, time + number(event["dur"]), 0))
        thread.seen(thread.slices[-1][1])
    elif phase == "B":
        thread.open.append((time, event.get("name"), len(thread.slices)))
        thread.slices.append(None)  # its place
    elif phase == "E" and thread.open:
        begin, name, place = thread.open.pop()
        if event.get("name", name) != name:
            return False
        empty = [s for s in thread.slices[place + 1:] if s and s[0] == s[1] == begin] if begin == time else []
        thread.slices[place] = (begin, time, len(empty))
    thread.seen(time)
    return True


def nest(slices):
    """The depth, and the sum of those at the top; None: some overlap."""
    stack, depth, top = [], 0, Fraction(0)
    for number_of, (begin, end, inside) in enumerate(sorted(slices, key=lambda s: (s[0], -s[1]))):
        while stack and stack[-1][0] <= begin and not (begin == end and number_of <= stack[-1][1]):
            stack.pop()
        if stack and stack[-1][0] < end:
            return None
        top += 0 if stack else end - begin
        stack.append((end, number_of + inside if inside else -1))
        depth = max(depth, len(stack))
    return depth, top


def threads_of(events):
    """The threads, and the end of the trace; None: no plain reading."""
    threads, last = {}, Fraction(0)
    timed = [e for e in events if e.get("ph") not in (None, "M") and number(e.get("ts")) is not None]
    for event in sorted(timed, key=lambda e: number(e["ts"])):
        time = number(event["ts"])
        last = max(last, time + (number(event.get("dur")) or 0 if event["ph"] == "X" else 0))
        thread = threads.setdefault((str(event.get("pid")), str(event.get("tid"))), Thread())
        if event["ph"] in ("i", "I", "R") and event.get("s", "t") == "t":
            thread.seen(time)
        elif event["ph"] in ("X", "B", "E") and "trace_event_overhead" not in event.get("cat", "") \
                and not take(thread, event, time):
            return None, None
    return threads, last


def figures(path):
    """{"sum", "self", "depth"}, or None."""
    events = events_of(path)
    if events is None:
        return None
    threads, last = threads_of(events)
    if threads is None:
        return None
    found = {"sum": Fraction(0), "self": Fraction(0), "depth": 0}
    for thread in threads.values():
        for begin, _, place in thread.open:
            thread.slices[place] = (begin, last, 0)
        thread.slices += [(begin, thread.last, 0) for begin in thread.unfinished]
        nested = nest(thread.slices)
        if nested is None:
            return None
        found["sum"] += sum(end - begin for begin, end, _ in thread.slices)
        found["self"] += nested[1]
        found["depth"] = max(found["depth"], nested[0])
    return found
