# SPDX-License-Identifier: Apache-2.0
"""Cases of one line, of one line's details, and of one mark: what must be shown, fact by fact.

Each function gives (text to read, facts that must be there, rules), and is compared with the facts of
ft_facts.
"""
import re

import ft_lines

WHY = {
    "any flags": "2: four to eight letters of any kernel (Trace Viewer: four or five)",
    "clocks without a point": "2: a time without a point is that of a clock of unknown unit, taken as nanoseconds, and said",
    "a tgid has brackets": "2: a number between the task and the processor is not read as a TGID, nor the line as an event",
    "function_graph": "2, function_graph: calls are slices of the processor, at times that are told as relative",
    "no line of an event": "1: nothing of the file is an event, and the error says so; a count of processors alone is an empty trace",
    "details of any age": "2 and 3: states of several letters, and what trace-cmd prints of a switch"
                          "; numbers of states are the bits of the kernel (64 Task Dead, 128 Wake Kill), not the list of the specification",
    "no mark": "4: text that is no mark is an instant named by it (Perfetto drops it)",
    "clock marks": "4: parent_ts moves the clock, realtime_ts says what o'clock it was: neither is shown",
}

AT, BEFORE = 2 * 10 ** 9, 10 ** 9
HEAD = "           foo-10    [000] ...1  "


def line_case(case):
    """A line that Trace Viewer's pattern is tried on."""
    text, expect = case["input"][0], case["expect"]
    if expect["parsed"]:
        return text, line_facts(expect), []
    if "ev: x" in text:  # what we read besides
        flagged = "d..1.." in text
        time = 1000001000 if flagged else 1000
        fields = {"task": "foo", "tid": 1, "cpu": 0, "ns": time, "event": "ev", "details": "x"}
        return text, line_facts(fields), ["any flags" if flagged else "clocks without a point"]
    if "kfree" in text:
        return text, [("slice", "functions cpu 0", "kfree", 0, "function", 1382, False)], ["function_graph"]
    return text, [], ["a tgid has brackets" if re.search(r"-0 +0 \[", text) else "no line of an event"]


def line_facts(fields):
    time = fields.get("ns") or ft_lines.ns(fields["ts"])
    kind, name = "instant", fields["event"]
    facts = [("line", fields["task"], fields["cpu"], fields["event"], fields["details"])]
    if fields["event"] == "0":
        return facts + [("slice", fields["tid"], fields["details"].split("|")[2], time, "android", time, True)]
    return facts + [(kind, fields["tid"], name, time)]


def details_case(case):
    """The details of a switch."""
    details, expect = case["input"][0], case["expect"]
    ends = ft_lines.switch(details)
    text = f"{HEAD}2.000000: sched_switch: {details}"
    facts = [("line", "foo", 0, "sched_switch", details),
             ("cpu-slice", 0, ends[3], ends[2], ends[4], AT, AT, True)]
    if "prev_comm" in expect:
        told = (expect["prev_pid"], expect["prev_state"], expect["next_comm"], expect["next_pid"],
                expect["next_prio"], expect["prev_comm"])
        return text, facts if told == ends else [("told", told)], []
    return text, facts, ["details of any age"]


def point_case(case):
    """A mark, after one that it may end."""
    payload, expect = case["input"][0].rstrip("\n"), case["expect"]
    before = f"{HEAD}1.000000: tracing_mark_write: "
    text = f"{HEAD}2.000000: tracing_mark_write: {payload}"
    if expect["result"] == "failure":
        return text, [("instant", 10, payload.strip() or "tracing_mark_write", AT)], ["no mark"]
    if expect["result"] == "unsupported":
        return text, [], ["clock marks"]
    phase, name, tgid = expect["phase"], expect.get("name"), expect["tgid"]
    if phase == "B":
        return text, [("slice", 10, name, AT, "android", AT, True), ("process", tgid)], []
    if phase == "E":
        return f"{before}B|{tgid or 7}|opened\n{text}", [("slice", 10, "opened", BEFORE, "android", AT, False)], []
    if phase == "C":
        last = payload.split("|")[4:]
        return text, [("counter", f"process {tgid}", name, (last or ["android"])[0], name, ((AT, str(expect["value"])),)),
                      ("process", tgid)], []
    if phase == "I":
        return text, [("instant", 10, name, AT), ("process", tgid)], []
    return async_case(payload, expect, before, text)


def async_case(payload, expect, before, text):
    """S, F, G, H and N: their slices are those of the process, or of a named track."""
    phase, name, track = expect["phase"], expect.get("name"), expect.get("track")
    facts = [("process", expect["tgid"])]
    if phase in "FH":
        name = name or "opened"
        begin = payload.replace("F|", "S|") if phase == "F" else f"G|{expect['tgid']}|{track}|{name}|{expect['cookie']}"
        text = f"{before}{begin}\n{text}"
        facts.append(("async", name, BEFORE, "android", AT, 10, 10))
    else:
        facts.append(("async", name, AT, "android", AT, 10, 10))
    if track:
        facts.append(("async-arg", name, BEFORE if phase == "H" else AT, "track", track))
    return text, facts, []


MAKERS = {"ftrace-line": line_case, "ftrace-details": details_case, "atrace-point": point_case}


def compare(case, facts_of):
    """(missing, extra, rules); facts_of reads a text and gives our facts."""
    text, wanted, rules = MAKERS[case["kind"]](case)
    ours = facts_of(text)
    kinds = {"slice", "instant", "counter", "cpu-slice", "async", "async-arg", "line", "told"}
    missing = [fact for fact in wanted if fact not in ours]
    extra = [fact for fact in ours if fact[0] in kinds and fact not in wanted and (fact[0] != "line" or case["kind"] != "atrace-point")]
    return missing, extra, rules
