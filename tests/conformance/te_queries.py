# SPDX-License-Identifier: Apache-2.0
"""Cases whose expectation is the answer to a query of Perfetto: the same question put to our dump.

Perfetto's text of the query is not run.  Its columns and the tables it names say what it asks; of what our
model has under other names (flattened arguments, say) nothing is compared.
"""
import te_facts
import te_tables

# Columns of slices that we have, by Perfetto's names.
SLICE = {"ts", "dur", "name", "depth", "thread_ts", "thread_dur", "thread_name", "tid", "process_name",
         "pid"}


def null(value):
    return "[NULL]" if value in (None, "") else str(value)


def names(ours, thread, process):
    """Names and numbers of a slice's thread and process."""
    t = ours.of("thread")[thread] if thread is not None else {}
    p = ours.of("process")[process] if process is not None else {}
    return {"thread_name": null(t.get("name") or t.get("key")), "tid": null(t.get("tid")),
            "process_name": null(p.get("name") or p.get("key")), "pid": null(p.get("pid"))}


def slices(ours):
    for s in ours.of("slice"):
        track = ours.of("track")[s["track"]]
        thread = track["thread"]
        process = ours.of("thread")[thread]["process"] if thread is not None else track["process"]
        row = {"name": s["name"], "ts": str(s["start_ns"] + ours.trace.get("origin_ns", 0)),
               "dur": "-1" if "open" in s["flags"] else str(s["length_ns"]),
               "depth": str(s["depth"]), "thread_ts": null(s["cpu_start_ns"]),
               "thread_dur": null(s["cpu_length_ns"])}
        row.update(names(ours, thread, process))
        if track["kind"] == "async":
            row.update({"thread_name": "[NULL]", "tid": "[NULL]"})
        yield row


def counters(ours):
    of = ours.of("counter")
    for sample in ours.of("counter-sample"):
        counter = of[sample["counter"]]
        for series, value in zip(counter["series"], sample["values"]):
            if value is not None:
                yield {"name": f"{counter['name']} {series}", "value": f"{value:.6f}",
                       "ts": str(sample["time_ns"] + ours.trace.get("origin_ns", 0)),
                       "pid": null(ours.of("process")[counter["process"]]["pid"])}


def flows(ours):
    for flow in ours.of("flow"):
        ends = [ours.slices.get((flow[side]["row"], flow[side]["index"])) for side in ("from", "to")]
        yield {"slice_out": ends[0] and ends[0]["name"], "slice_in": ends[1] and ends[1]["name"]}


def processes(ours):
    for p in ours.of("process"):
        if p["name"]:
            yield {"pid": str(p["pid"]), "name": p["name"]}


def table_of(case, ours):
    """The rows that the case asks for, or None: it asks for what we do not have as a table."""
    query, columns = case["about"], case["expect"].get("columns", [])
    for words, answer in te_tables.ANSWERS.items():
        if words in query:
            return answer(ours, query)
    if "slice_out" in columns:
        return flows(ours)
    if "FROM counter" in query:
        return counters(ours)
    if "FROM process WHERE" in query:
        return processes(ours)
    if set(columns) & {"ts", "name", "depth"} and "lice" in query:
        return slices(ours)
    return None


def rows_of(expected, found):
    return ([("row", *row) for row in sorted(expected - found)],
            [("row", *row) for row in sorted(found - expected)])


def differences(case, lines):
    """(expected and lacking, found and not expected), or None when the case asks something else."""
    ours = te_facts.Ours(lines, False)
    if "connected_flow" in case["about"]:
        expected = {tuple(line.split(",")) for line in case["expect"]["text"].splitlines()[1:]}
        return rows_of(expected, set(te_tables.connected(ours)))
    table = table_of(case, ours)
    if table is None:
        return None
    columns = case["expect"]["columns"]
    table = list(table)
    known = SLICE | {"value", "slice_out", "slice_in"} | {key for row in table for key in row}
    # The last of two columns of one name counts.
    keys = [i for i, column in enumerate(columns)
            if column in known and column not in columns[i + 1:]]
    expected = {tuple(str(row[i]) for i in keys) for row in case["expect"]["rows"]}
    found = {tuple(str(row.get(columns[i])) for i in keys) for row in table}
    return rows_of(expected, found)
