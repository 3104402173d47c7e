# SPDX-License-Identifier: Apache-2.0
"""Cases whose expectation is the answer to a query of Perfetto: the same question put to our facts."""
import re

WHY = {
    "calls without an answer": "3: a call without an answer is a slice of 30 us on each thread (Perfetto: instants)",
}


def slices(facts):
    return [f for f in facts if f[0] == "slice"]


def answer(case, facts):
    """Our rows for the case's columns."""
    columns, query = case["expect"]["columns"], case["about"]
    if columns == ["dur"]:
        return sorted((str(f[5] - f[3]),) for f in slices(facts))
    if "slice_count" in columns:
        return [(str(sum(f[2] == "task_work" for f in slices(facts))),)]
    if columns == ["name", "count"]:
        names = sorted(f[2] for f in slices(facts) if f"'{f[2]}'" in query)
        return [(name, str(names.count(name))) for name in sorted(set(names))]
    if "io_wait" in columns:
        waits = [f for f in facts if f[0] == "state" and f[2].startswith("Uninterruptible") and f[3] < f[4]]
        return [(str(f[3]), str(f[1]), str(int("I/O" in f[2]))) for f in sorted(waits, key=lambda f: f[3])]
    if "pname" in columns:
        return [(str(f[2]), "[NULL]" if f[1] is None else str(f[1]), "[NULL]", f[3]) for f in facts
                if f[0] == "thread" and f[2]]
    if "cpu" in columns:
        return sorted((str(time), f"{float(v):.6f}", f"{f[1].capitalize()} {f[4][:3]}") for f in facts
                      if f[0] == "counter" for time, v in f[5])
    wanted = re.search(r"name = '(\w+)'", query)
    rows = [f for f in slices(facts) if not wanted or f[2] == wanted[1]]
    return [tuple({"ts": str(f[3]), "name": f[2], "dur": str(f[5] - f[3])}[c] for c in columns) for f in rows]


def binder_rows(case, facts):
    """Of a call without an answer Perfetto has instants."""
    if "/binder_" not in case["name"]:
        return facts, []
    changed = []
    for f in facts:
        if f[0] == "slice" and f[2] in ("binder transaction async", "binder Async recv") and f[5] - f[3] == 30000:
            f = (*f[:5], f[3], f[6])
        changed.append(f)
    return changed, ["calls without an answer"] if changed != facts else []


def compare(case, facts):
    """(missing, extra, rules)."""
    facts, rules = binder_rows(case, facts)
    ours = answer(case, facts)
    wanted = [tuple(str(cell) for cell in row) for row in case["expect"]["rows"]]
    if "cpu" in case["expect"]["columns"]:
        wanted.sort()
    return [row for row in wanted if row not in ours], [row for row in ours if row not in wanted], rules
