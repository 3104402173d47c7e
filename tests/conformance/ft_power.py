# SPDX-License-Identifier: Apache-2.0
"""Samples of a power meter (ftrace.md, section 6): the facts of Trace Viewer's model, and the counter that its dump lacks."""
import json

import te_facts

WHY = {"power": "6: power is a counter in W, which Trace Viewer's dump does not have; the moment of a clock mark is the middle "
                "between asking and answer, not when it was asked for; marks and samples count for the bounds"}


def samples(case):
    """[[us, W]] on the clock of the JSON beside it."""
    *beside, text = case["input"]
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    shift = 0
    for event in (event for events in beside for event in events if event["ph"] == "c"):
        for line in lines:
            if line[3:] == [f"<{event['args']['sync_id']}>"]:
                shift = (event["args"]["issue_ts"] + event["ts"]) / 2 - float(line[0]) * 1000
    rows = [[float(time) * 1000 + shift, float(mv) * float(ma) / 1e6] for time, mv, ma, *_ in lines]
    return [row for row in rows if row[1] >= 0]


def times(case):
    """All times that count."""
    found = [time for time, _ in samples(case)]
    for event in (event for events in case["input"][:-1] for event in events):
        found.append(event["ts"])
    return found


def beside(case):
    """What Trace Viewer has not, or prunes: the head of the samples, the process that marks the clock, and the depth of a
    slice that is open."""
    *events, text = case["input"]
    heads = [line[2:].split(" ", 1) for line in text.splitlines()[1:] if line.startswith("# ")]
    facts = [("metadata", key, te_facts.text(value)) for key, value in heads]
    for event in (event for one in events for event in one):
        if event["ph"] == "c":
            facts.append(("process", str(event["pid"]), "", "[]", 0))
        else:
            facts.append(("depth", str(event["pid"]), str(event["tid"]), event["name"], 0, 1))
    return facts


def compare(case, lines):
    """(missing, extra, rules)."""
    expected = [fact for fact in te_facts.of_trace_viewer(case["expect"]) if fact[0] != "bounds"] + beside(case)
    ours = te_facts.of_ours(lines, True)
    power = [json.loads(fact[5]) for fact in ours if fact[0] == "counter"]
    at = min(times(case))
    wanted = [[te_facts.number(time - at), te_facts.number(watts)] for time, watts in samples(case)]
    expected.append(("bounds", 0, te_facts.number(max(times(case)) - at)))
    expected = [open_to(fact, expected[-1][2]) for fact in expected]
    ours = [fact for fact in ours if fact[0] != "counter"]
    missing = [fact for fact in expected if fact not in ours]
    extra = [fact for fact in ours if fact not in expected]
    if power != [wanted]:
        missing, extra = missing + [("power", wanted)], extra + [("power", power)]
    return missing, extra, ["power"]


def open_to(fact, end):
    """What has no end goes on to that of the trace (trace-event.md 3.1)."""
    return (*fact[:6], end - fact[5], True) if fact[0] == "slice" and fact[7] else fact
