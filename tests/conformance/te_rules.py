# SPDX-License-Identifier: Apache-2.0
"""Why we differ on purpose: each rule takes away the differences that it explains.

A rule is a function of an outcome that returns the facts it explains among those missing and those
extra.  WHY has its sentence, with the section of the specification (trace-event.md) that decides.
"""
import json
import re

WHY = {}
RULES = []


def rule(name, why):
    """Registers a rule."""
    def register(function):
        WHY[name] = why
        RULES.append((name, function))
        return function
    return register


def judge(outcome):
    """Takes from the outcome what rules explain."""
    for name, function in RULES:
        if not outcome.unexplained:
            return
        missing, extra = function(outcome)
        if not missing and not extra:
            continue
        outcome.missing = [fact for fact in outcome.missing if fact not in missing]
        outcome.extra = [fact for fact in outcome.extra if fact not in extra]
        outcome.rules.append(name)


def of_kind(facts, *kinds):
    return [fact for fact in facts if fact[0] in kinds]


def pairs(outcome, kind, same):
    """Missing and extra facts of a kind that `same` holds to be one told differently."""
    missing, extra = [], []
    rest = of_kind(outcome.extra, kind)
    for fact in of_kind(outcome.missing, kind):
        other = next((candidate for candidate in rest if same(fact, candidate)), None)
        if other is not None:
            rest.remove(other)
            missing.append(fact)
            extra.append(other)
    return missing, extra


def input_text(outcome):
    return json.dumps(outcome.case["input"])


# ---- Whole files ----

@rule("survives", "6.9: Trace Viewer shows nothing of the file; we show all but what is bad, with a diagnostic")
def survives(outcome):
    expect = outcome.case["expect"]
    return [], outcome.extra if "error" in expect and outcome.status == 0 else []


@rule("refused", "the format is named in the error: it is none of those that are read")
def refused(outcome):
    named = re.search(r"found an? [^,]*(log|trace|archive|data|file)", outcome.errors)
    if outcome.case["kind"] in ("v8log", "other-text") and outcome.status == 1 and named:
        return outcome.missing, outcome.extra
    return [], []


@rule("other traces inside", "1: ftrace text, process dumps and power samples become inputs of the same trace, with the "
      "threads and instants that peers drop; JSON inside (Fuchsia) is kept as metadata and said")
def other_traces(outcome):
    keys = ("systemTraceEvents", "androidProcessDump", "cgroupDump", "powerTraceAsString")
    if outcome.status == 1 and "without a trace in it" in outcome.errors:  # gzipped systrace
        return outcome.missing, outcome.extra
    if not any(f'"{key}"' in input_text(outcome).replace('\\"', '"') for key in keys):
        return [], []
    return outcome.missing, outcome.extra


# ---- Containers ----

@rule("names are text", "2, name: a number as a name is its text")
def names_are_text(outcome):
    return pairs(outcome, "process", lambda a, b: a[1] == b[1] and str(a[2]) == b[2])


@rule("nothing pruned", "2: Trace Viewer removes processes and threads without events; we list what the file names")
def not_pruned(outcome):
    return [], of_kind(outcome.extra, "process", "thread")


@rule("threads of objects", "3.8: N, O and D belong to a process; Trace Viewer makes their thread as well")
def threads_of_objects(outcome):
    if not re.search(r"ph\W+[NODvVc]\W", input_text(outcome)):
        return [], []
    return of_kind(outcome.missing, "thread"), []


@rule("metadata kept", "1, 3.10 and 6.15: every key and every metadata event that has no other meaning is metadata")
def metadata_kept(outcome):
    return [], of_kind(outcome.extra, "metadata")


@rule("files stay apart", "processes of two files are not one because their numbers are")
def files_apart(outcome):
    if len(outcome.case["input"]) < 2:
        return [], []
    return [], of_kind(outcome.extra, "process", "thread")


@rule("units of method traces", "Trace Viewer takes the microseconds of a method trace for milliseconds, and names no process")
def method_traces(outcome):
    if outcome.case["kind"] != "ddms":
        return [], []
    names = {fact[3] for fact in of_kind(outcome.extra, "slice")}
    known = all(fact[3] in names for fact in of_kind(outcome.missing, "slice"))
    return (outcome.missing, outcome.extra) if known and names else ([], [])


# ---- Times ----

def close(a, b):
    return isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= 2


@rule("exact times", "0: nanoseconds from the decimal text; Trace Viewer's doubles round large ones")
def exact_times(outcome):
    missing, extra = [], []
    large = any(isinstance(v, (int, float)) and abs(v) > 2 ** 40
                for fact in outcome.missing for v in fact[1:])
    if not large:
        return [], []
    for kind in ("slice", "bounds", "depth"):
        for found in (pairs(outcome, kind, lambda a, b: len(a) == len(b) and all(
                x == y or close(x, y) for x, y in zip(a, b))),):
            missing += found[0]
            extra += found[1]
    return missing, extra


@rule("times that are none", "2, ts: an event whose time is null, true, missing or no number is left out and counted")
def no_time(outcome):
    if not re.search(r"/ts/X-(null|bool|missing)$", outcome.case["name"]):
        return [], []
    return outcome.missing, outcome.extra


@rule("large ids", "2, pid: 64-bit numbers keep their digits")
def large_ids(outcome):
    if "18446744073709551615" not in input_text(outcome):
        return [], []
    return outcome.missing, outcome.extra


@rule("negative durations", "2, dur: a negative duration is 0, with a diagnostic")
def negative_duration(outcome):
    if not any(fact[6] < 0 for fact in of_kind(outcome.missing, "slice")
               if isinstance(fact[6], (int, float))):
        return [], []
    return (of_kind(outcome.missing, "slice", "bounds", "depth"),
            of_kind(outcome.extra, "slice", "bounds", "depth"))


# ---- Slices ----

@rule("open to the end", "3.1 and 6.1: what has no end is open to the end of the trace (Trace Viewer: of its thread)")
def open_to_the_end(outcome):
    missing, extra = pairs(outcome, "slice", lambda a, b: a[:6] == b[:6] and a[7] and b[7])
    places = {(fact[1], fact[2], fact[3], fact[5]) for fact in missing}
    missing += [f for f in of_kind(outcome.missing, "depth") if f[1:5] in places]
    extra += [f for f in of_kind(outcome.extra, "depth") if f[1:5] in places]
    return missing, extra


@rule("longest first", "4 and 6.3: of slices that begin together the longest is the outer one, whatever the order in the file")
def longest_first(outcome):
    starts = {}
    for fact in of_kind(outcome.missing + outcome.extra, "depth"):
        starts.setdefault((fact[1], fact[2], fact[4]), []).append(fact)
    if not re.search("same-start|bex-interaction", outcome.case["name"]):
        return [], []
    return of_kind(outcome.missing, "depth"), of_kind(outcome.extra, "depth")


@rule("rows of their own", "4 and 6.4: slices that overlap without nesting get rows of their own")
def overlap(outcome):
    if not re.search("overlap", outcome.case["name"]):
        return [], []
    return of_kind(outcome.missing, "depth"), of_kind(outcome.extra, "depth")


@rule("nesting by nanoseconds", "4: the exact test comes first; Trace Viewer nests neighbours shorter than its rounding")
def by_nanoseconds(outcome):
    if "sub-us" not in outcome.case["name"]:
        return [], []
    return of_kind(outcome.missing, "depth"), of_kind(outcome.extra, "depth")


@rule("sorted by time", "4 and 6.11: beginnings and ends are paired in the order of time, not of the file")
def sorted_by_time(outcome):
    if not re.search("out-of-order-B", outcome.case["name"]):
        return [], []
    return of_kind(outcome.missing, "slice", "depth"), of_kind(outcome.extra, "slice", "depth")


@rule("zero is a time", "2, tts: 0 is a value")
def zero_cpu(outcome):
    return [], of_kind(outcome.extra, "cpu") if "tts-zero" in outcome.case["name"] else []


@rule("instants have no CPU time", "3.3: the tts of an instant stays in its event")
def instant_cpu(outcome):
    return [f for f in of_kind(outcome.missing, "cpu") if f[-1] == 0], []


# ---- Asynchronous slices ----

@rule("arguments as they stand", "3.5: Trace Viewer makes objects of empty params, and takes the end's colour and arguments apart")
def arguments_as_they_stand(outcome):
    return pairs(outcome, "async-args", lambda a, b: a[:-1] == b[:-1] and '"params"' in b[-1])


@rule("category is not needed", "3.5: b, n and e without a category are read (Perfetto does too)")
def no_category(outcome):
    return [], outcome.extra if outcome.case["name"] == "probe/async/no-cat" else []


@rule("T and p together", "3.6: Trace Viewer drops the whole slice; we keep it with the steps that fit")
def mixed_steps(outcome):
    phases = set(re.findall(r'"ph\\*": ?\\*"([TpSF])', input_text(outcome)))
    return [], outcome.extra if {"T", "p", "S"} <= phases else []


@rule("thread states", "3.6: T with a duration is Perfetto's thread state")
def thread_states(outcome):
    return [], outcome.extra if "T-thread-state" in outcome.case["name"] else []


@rule("the end of the trace", "3.6: a legacy slice without F is open to the last time of any event")
def legacy_end(outcome):
    if outcome.case["name"] != "probe/legacy/name-is-key":
        return [], []
    return outcome.missing, outcome.extra


# ---- Counters ----

@rule("numbers of counters", "3.4: numeric strings and true are numbers, what is none is absent; Trace Viewer keeps them raw")
def counter_numbers(outcome):
    return pairs(outcome, "counter", lambda a, b: a[:5] == b[:5])


# ---- Flows ----

@rule("one start, many ends", "3.7 and 6.5: a flow may end more than once")
def fan_out(outcome):
    return [], of_kind(outcome.extra, "flow") if "two-f" in outcome.case["name"] else []


@rule("flows of beginnings", "2, bind_id: B, b and n have flows as X has")
def flows_of_beginnings(outcome):
    return [], of_kind(outcome.extra, "flow") if "on-B" in outcome.case["name"] else []


# ---- Samples, memory, names ----

@rule("weights are numbers", "1, samples: a weight in quotes is a number")
def weights(outcome):
    return pairs(outcome, "sample", lambda a, b: a[:4] == b[:4] and str(a[4]) == str(b[4]))


@rule("global dumps", "3.11: the dump of the whole system is a row without a process")
def global_dumps(outcome):
    return [], [f for f in of_kind(outcome.extra, "memory-dump") if f[1] is None]


@rule("scopes that say nothing", "3.3: an instant of a process counts for the length of the trace")
def instant_bounds(outcome):
    if outcome.case["name"] != "probe/i/R-scope-p":
        return [], []
    return [], of_kind(outcome.extra, "bounds")


@rule("bad scopes", "3.3: a bad or missing time of an instant of a process; Trace Viewer shows it at no time")
def bad_scopes(outcome):
    if not any(fact[-1] == "NaN" for fact in outcome.missing if fact[0] == "instant"):
        return [], []
    return of_kind(outcome.missing, "instant"), of_kind(outcome.extra, "instant", "bounds")


@rule("references stay", "3.8: id_ref and nested objects are written as they stand; snapshots are found by their id and time")
def references(outcome):
    nested = [fact for fact in of_kind(outcome.missing, "args", "snapshot")]
    if not nested or not re.search(r"id_ref|\$snapshot|base_type|\\*\"cat\\*\"|subObject|foo/0x|::", input_text(outcome)):
        return [], []
    missing, extra = [], []
    for kind in ("args", "snapshot"):
        found = pairs(outcome, kind, lambda a, b: a[:-1] == b[:-1])
        missing += found[0]
        extra += found[1]
    return missing, extra


@rule("steps without names", "3.6: a step without args.step has no name of its own; Trace Viewer shows nothing")
def nameless_steps(outcome):
    if outcome.case["name"] != "catapult/json/108":
        return [], []
    return outcome.missing, outcome.extra


@rule("V8 code events", "3.9: JitCodeAdded and JitCodeMoved are kept as events and metadata too; lines of code count from 1")
def code_events(outcome):
    if "JitCode" not in input_text(outcome):
        return [], []
    return outcome.missing, outcome.extra


@rule("types of heap dumps", "3.11: typeNames are no stack frames; a dump ends when the last of its processes was told")
def heap_types(outcome):
    if '"ph": "v"' not in input_text(outcome):
        return [], []
    return (of_kind(outcome.missing, "stack-frames", "bounds"),
            of_kind(outcome.extra, "stack-frames", "bounds"))


@rule("values of V8", "formats/v8.md: a sample counts as 1 of `samples` and its time as `cpu`; URL and line are parts of the frame, "
      "no part of its name")
def values_of_v8(outcome):
    def names(stack):
        return [re.sub(r" (url: |Deoptimized reason: ).*", "", frame, flags=re.DOTALL) for frame in json.loads(stack)]

    missing, extra = [], []
    rest = of_kind(outcome.extra, "sample")
    for fact in of_kind(outcome.missing, "sample"):
        values = [next((f for f in rest if f[1] == fact[1] and f[2] == title and f[3] == fact[3] and
                        json.loads(f[5]) == names(fact[5])), None) for title in ("samples", "cpu")]
        if fact[2] == "V8 Sample" and None not in values and values[0][4] == fact[4]:
            missing.append(fact)
            extra += values
            rest = [f for f in rest if f not in values]
    return missing, extra


@rule("threads of samples", "3.9: samples alone make no thread of a process that has other events")
def threads_of_samples(outcome):
    return ([fact for fact in of_kind(outcome.missing, "thread")
             if "samples" in input_text(outcome)], [])


@rule("threads of steps", "3.6: a step ends on the thread on which it began")
def threads_of_steps(outcome):
    return pairs(outcome, "async-threads", lambda a, b: a[:5] == b[:5])


@rule("not below a neighbour", "4, async rows: what overlaps its neighbours below a slice is in a row of its own")
def own_async_row(outcome):
    return pairs(outcome, "async-parent", lambda a, b: a[:4] == b[:4] and b[4] is None)


@rule("open slices overlap", "4: an open X that leaves its parent gets a row of its own")
def open_overlap(outcome):
    if "speedscope" not in outcome.case["name"]:
        return [], []
    return pairs(outcome, "depth", lambda a, b: a[:5] == b[:5])


# ---- Perfetto ----

def rows(facts):
    return of_kind(facts, "row")


@rule("no duration", "2, dur: a missing or bad dur leaves the slice open; Perfetto drops the event")
def no_duration(outcome):
    return [], [fact for fact in rows(outcome.extra) if "-1" in fact]


@rule("ends without names", "3.1: an E without a time of its own, or of another name, ends what balanced threads mean by it")
def nameless_ends(outcome):
    missing, extra = [], []
    for fact in rows(outcome.missing):
        if "-1" not in fact:
            continue
        others = [row for row in rows(outcome.extra) if row[1] == fact[1] and row[3:] == fact[3:]]
        if others:
            missing.append(fact)
            extra += others
    return missing, extra


@rule("instants are no slices", "3.3: instants have a table of their own")
def instants_apart(outcome):
    return ([fact for fact in rows(outcome.missing)
             if len(fact) > 2 and (fact[2] == "0" or "Instant" in str(fact))], [])


@rule("async without category", "3.5: b and e without a category, or with an empty id, are read")
def async_without(outcome):
    if outcome.case["name"] not in ("perfetto/json/json_async", "perfetto/json/json_id2"):
        return [], []
    return [], rows(outcome.extra)


@rule("one letter a phase", "1: a ph of several letters is unknown, with a diagnostic; Perfetto takes the first letter")
def one_letter(outcome):
    return rows(outcome.missing) if '"XXX"' in input_text(outcome).replace("\\", "") else [], []


@rule("nested by key", "3.5: ends are matched as Trace Viewer does, by category, scope and id alone with the name")
def nested_by_key(outcome):
    if outcome.case["name"] != "perfetto/json/json_pid_tid_zero":
        return [], []
    return rows(outcome.missing), rows(outcome.extra)


@rule("zero length below", "4: a slice without length that begins with another is below it")
def zero_length_below(outcome):
    if "then_begin_end" not in outcome.case["name"]:
        return [], []
    return rows(outcome.missing), rows(outcome.extra)


@rule("zero length beside", "3.2: slices without length at one time are beside each other; Perfetto stacks them up")
def zero_length_beside(outcome):
    if "same_ts_two_zero_duration" not in outcome.case["name"]:
        return [], []
    return rows(outcome.missing), rows(outcome.extra)
