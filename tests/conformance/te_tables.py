# SPDX-License-Identifier: Apache-2.0
"""Perfetto's rarer tables, made of our dump: states, processors, order, metadata, what flows connect.

ANSWERS has a function for each word that a query may have: rows as dictionaries with the columns'
names.  What Perfetto makes of itself (process 0, a main thread of each process) is added here.
"""
import json
import re

NULL = "[NULL]"
# Our words for the letters of the kernel (trace-event.md, phase T).
STATES = {"Sleeping": "S", "Runnable": "R"}


def null(value):
    return NULL if value in (None, "") else str(value)


def at(ours, s):
    return str(s["start_ns"] + ours.trace.get("origin_ns", 0))


def tracks(ours, kind):
    return {t["id"]: t for t in ours.of("track") if t["kind"] == kind}


def owner(ours, thread):
    return {"tid": ours.thread(thread), "pid": ours.pid_of_thread(thread)}


def states(ours, _):
    """What each thread did."""
    strips = tracks(ours, "states")
    for s in ours.of("slice"):
        if s["track"] not in strips:
            continue
        args = s["event"]["args"]
        state = s["name"] if s["name"] == "Running" else STATES.get(s["name"], s["event"].get("name"))
        state = state or re.sub(r".*sleep.*", "D", s["name"], flags=re.I)
        yield {"ts": at(ours, s), "dur": str(s["length_ns"]), "state": state,
               "io_wait": null(args.get("io_wait")),
               "blocked_function": null(args.get("blocked_function")),
               **owner(ours, strips[s["track"]]["thread"])}


def runs(ours, _):
    """What each processor ran: the thread is that of the strip with the same event."""
    strips = tracks(ours, "states")
    threads = {s["offset"]: strips[s["track"]]["thread"] for s in ours.of("slice") if s["track"] in strips}
    processors = tracks(ours, "cpu")
    for s in ours.of("slice"):
        if s["track"] in processors:
            yield {"ts": at(ours, s), "dur": str(s["length_ns"]),
                   "cpu": processors[s["track"]]["name"].replace("CPU ", ""),
                   **owner(ours, threads[s["offset"]])}


def hints(ours, _):
    """The order of processes and threads."""
    order = {p["id"]: p.get("sort_index", 0) for p in ours.of("process")}
    found = {("0", "0"): {"process_hint": NULL, "thread_hint": NULL}}
    for process, index in order.items():
        found[ours.pid(process), ours.pid(process)] = {"process_hint": null(index or None), "thread_hint": NULL}
    for t in ours.of("thread"):
        found[ours.pid(t["process"]), str(t["tid"])] = {"process_hint": null(order[t["process"]] or None),
                                                       "thread_hint": null(t.get("sort_index"))}
    for (pid, tid), row in found.items():
        yield {"pid": pid, "tid": tid, **row}


def ordering(ours, query):
    """The same as a list; threads are those of one process."""
    pid = re.search(r"WHERE pid = (\d+)", query).group(1)
    yield {"type": "process", "id": "0", "hint": "0"}
    for p in ours.of("process"):
        yield {"type": "process", "id": str(p["pid"]), "hint": str(p.get("sort_index", 0))}
    found = {pid: 0}
    for t in ours.of("thread"):
        if ours.pid(t["process"]) == pid:
            found[str(t["tid"])] = t.get("sort_index", 0)
    for tid, hint in found.items():
        yield {"type": "thread", "id": tid, "hint": str(hint)}


def metadata(ours, _):
    """The members of "metadata"."""
    for m in ours.of("metadata"):
        if m["key"] != "metadata":
            continue
        for key, value in json.loads(m["value"]).items():
            number = isinstance(value, (int, float))
            yield {"name": f"json_metadata.{key}", "int_value": str(value) if number else NULL,
                   "str_value": NULL if number else value}


def count_of(ours, kind):
    return sum(d["count"] for d in ours.of("diagnostic") if d["kind"] == kind)


def spilled(ours, _):
    yield {"slice_count": str(len(ours.of("slice"))), "spill_count": str(count_of(ours, "overlap")), "drop_count": "0"}


def failures(ours, _):
    bad = sum(count_of(ours, kind) for kind in ("bad-event", "bad-json", "truncated", "trailing-bytes"))
    yield {"tokenizer_failures": str(bad), "slice_count": str(len(ours.of("slice")))}


def conflicts(ours, _):
    """Each slice that overlaps, and that of its thread which lies in its way."""
    rows = tracks(ours, "overflow")
    for s in ours.of("slice"):
        if s["track"] not in rows:
            continue
        thread = rows[s["track"]]["thread"]
        other = max((o for o in ours.of("slice")
                     if ours.of("track")[o["track"]]["thread"] == thread and o["track"] != s["track"]
                     and o["start_ns"] <= s["start_ns"] < o["start_ns"] + o["length_ns"]),
                    key=lambda o: o["depth"])
        for key, value in (("conflicting_slice_dur", other["length_ns"]), ("conflicting_slice_name", other["name"]),
                           ("conflicting_slice_ts", at(ours, other)), ("event_name", s["name"]), ("event_phase", "X"),
                           ("overlap_start", at(ours, s)),
                           ("overlap_end", int(at(ours, other)) + other["length_ns"])):
            yield {"ts": at(ours, s), "severity": "error", "key": key, "display_value": str(value)}


def counted(ours, _):
    """All is counted into one row, which is that of the first slice."""
    first = min(ours.of("slice"), key=lambda s: s["start_ns"])
    count = str(len(ours.of("flow")))
    yield {"ts": at(ours, first), "dur": "-1" if "open" in first["flags"] else str(first["length_ns"]),
           "name": first["name"], "fin": count, "fout": count}


def of_name(ours, query):
    """Slices of one name, with that of their track."""
    name = re.search(r'slice\.name = "(\w+)"', query).group(1)
    for s in ours.of("slice"):
        if s["name"] == name:
            yield {"name": name, "ts": at(ours, s), "dur": str(s["length_ns"]),
                   "track_name": ours.of("track")[s["track"]]["name"]}


ANSWERS = {
    "FROM thread_state": states,
    "FROM sched": runs,
    "'process_sort_index_hint') as process_hint, extract_arg": hints,
    "process_ordering": ordering,
    "json_metadata": metadata,
    "_trace_import_logs": conflicts,
    "spill_count": spilled,
    "tokenizer_failures": failures,
    "COUNT(DISTINCT fin.id)": counted,
    "track_type": of_name,
}


# ---- What flows connect ----

def follow(flows, begins, widen):
    """All flows that are found from some slices on; `widen`: what belongs to the slice that is come to."""
    found, waiting = set(), list(begins)
    while waiting:
        slice_ = waiting.pop()
        for flow in flows:
            if flow[0] == slice_ and flow not in found:
                found.add(flow)
                waiting += widen(flow[1])
    return found


def connected(ours):
    """Rows of connected_flow_test.sql: for each slice what is found through flows alone, what follows it and
    those inside of it, and what precedes it and those around it."""
    flows = {tuple(ours.slices[flow[side]["row"], flow[side]["index"]]["id"] for side in ("from", "to"))
             for flow in ours.of("flow")}
    back = {(b, a) for a, b in flows}
    parents = {s["id"]: s["parent"] for s in ours.of("slice")}

    def alone(slice_):
        return [slice_]

    def around(slice_):
        found = [slice_]
        while parents[found[-1]] is not None:
            found.append(parents[found[-1]])
        return found

    def inside(slice_):
        return [other for other in parents if slice_ in around(other)]

    def turned(found):
        return {(b, a) for a, b in found}

    for s in parents:
        rows = {"directly_connected": follow(flows, [s], alone) | turned(follow(back, [s], alone)),
                "following": follow(flows, inside(s), inside),
                "preceding": turned(follow(back, around(s), around))}
        for kind, found in rows.items():
            for a, b in found:
                yield tuple(f'"{text}"' for text in (kind, ours.by_id[s]["name"], ours.by_id[a]["name"],
                                                     ours.by_id[b]["name"]))
