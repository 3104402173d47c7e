# SPDX-License-Identifier: Apache-2.0
"""What we show instead of what Trace Viewer shows, and why.

A rule turns the facts that the peer has into those that must be found, with the lines of the input as
a second reader understands them (ft_lines.Model).  It excuses nothing: what the last rule leaves is
held against our facts, all of them.  WHY has the section of the specification (ftrace.md) that decides.
"""
import re

import ft_kernel
import ft_lines

WHY = {}
RULES = []


def rule(name, why):
    """Registers a rule."""
    def register(function):
        WHY[name] = why
        RULES.append((name, function))
        return function
    return register


def wanted(case, facts):
    """(the facts that must be found, the rules that changed something)."""
    used = []
    for name, function in RULES:
        changed = function(case, facts)
        if sorted(changed, key=repr) != sorted(facts, key=repr):
            used.append(name)
        facts = changed
    return facts, used


def of(facts, *kinds):
    return [fact for fact in facts if fact[0] in kinds]


def without(facts, *kinds):
    return [fact for fact in facts if fact[0] not in kinds]


# ---- Who ran ----

@rule("read", "1: trace-cmd report, HTML of every age and case: Trace Viewer finds no importer; all that the lines say is shown")
def read(case, facts):
    return [] if "error" in case.expect else facts


@rule("last slice", "3, sched_switch: who runs at the end of the trace runs to its end (Trace Viewer loses that slice)")
def last_slice(case, facts):
    wanted_slices = [("cpu-slice", *s[:4], *case.span(s[4:6]), s[6]) for s in case.model.cpu_slices]
    known = {fact[:7] for fact in wanted_slices}
    if any(fact[:7] not in known for fact in of(facts, "cpu-slice")):
        return facts
    return without(facts, "cpu-slice") + wanted_slices


@rule("strips", "5: each thread that ran has its states, to the end of the trace, and who woke it; the state in which a "
      "thread was left is the strip's next one, not an argument")
def strips(case, facts):
    rows = []
    for tid, strip in case.model.states.items():
        rows += [("state", tid, name, *case.span((start, end)), waker) for name, start, end, waker in strip]
    left = {(row[1], row[3]): row[2] for row in rows}
    for _, tid, time, letter in of(facts, "switched-off"):
        _, name = ft_lines.state_name(letter)
        shown = left.get((tid, time))
        if shown not in (name, "Uninterruptible Sleep (I/O)", None) or shown is None and time < case.end():
            return facts
    for fact in of(facts, "state"):
        if not covered(fact, rows):
            return facts
    return without(facts, "state", "switched-off") + rows


# Trace Viewer's names of states that we call otherwise.
NAMES = {"UNKNOWN": "Unknown", "Uninterruptible Sleep | WakeKill - Block I/O": "Uninterruptible Sleep (I/O)",
         "Uninterruptible Sleep - Block I/O": "Uninterruptible Sleep (I/O)"}


def covered(fact, rows):
    """A peer's state stands in ours: the same, or split at a wake-up that it does not show."""
    _, tid, name, start, end, _ = fact
    name = NAMES.get(name, name)
    return any(row[1] == tid and row[3] == start and row[2].replace(" (preempted)", "") == name
               and (row[4] == end or name == "Unknown") for row in rows)


# ---- Counters ----

@rule("counters by name", "4, C: the series of an atrace counter has the counter's name (Trace Viewer: its first value)")
def counters_by_name(case, facts):
    changed = []
    for fact in facts:
        if fact[0] == "counter" and fact[1].startswith("process") and fact[5] and fact[4] == fact[5][0][1]:
            fact = (*fact[:4], fact[2], fact[5])
        changed.append(fact)
    return changed


@rule("counters of any line", "2 and 3: lines with newer flags, of trace-cmd, and min_freq= give counters too")
def more_counters(case, facts):
    rows = {}
    for line in case.model.events:
        for name, series, value in counter_of(line):
            rows.setdefault((f"cpu {value[0]}", name, "", series), []).append((case.time(line.time), value[1]))
    known = {fact[1:5]: fact for fact in of(facts, "counter")}
    for key, points in rows.items():
        had = known.get(key)
        if had is None or set(had[5]) < set(points):
            facts = [fact for fact in facts if fact is not had] + [("counter", *key, tuple(points))]
    return facts


def counter_of(line):
    """(name, series, (cpu, value)) of what a line of frequencies says."""
    args = dict(re.findall(r"(\w+)=(\d+)", line.details))
    if "cpu_id" not in args:
        return
    cpu = args["cpu_id"]
    if line.event == "cpu_frequency":
        yield "Clock Frequency", "state", (cpu, args["state"])
    elif line.event == "cpu_idle":
        yield "C-State", "state", (cpu, "0" if args["state"] == "4294967295" else str(int(args["state"]) + 1))
    elif line.event == "cpu_frequency_limits":
        yield "Clock Frequency Limits", "Min Frequency", (cpu, args.get("min") or args["min_freq"])
        yield "Clock Frequency Limits", "Max Frequency", (cpu, args.get("max") or args["max_freq"])


# ---- Marks ----

@rule("print", "3 and 4: the marks of print and bprint are read as those of tracing_mark_write (Perfetto does too)")
def prints(case, facts):
    if case.name != "probe/ft/print-name":
        return facts
    return facts + [("slice", 10, "outer", case.time(10 ** 9), "android", case.time(1003000000), False),
                    ("depth", 10, "outer", case.time(10 ** 9), 0)]


@rule("I, N, G, H", "4: instants and slices of named tracks, which Trace Viewer does not know")
def new_marks(case, facts):
    if case.name != "probe/ft/atrace-I-N-G-H":
        return facts
    one, two = case.time(10 ** 9), case.time(1001000000)
    return facts + [("instant", 10, "inst", one), ("async", "inst", one, "android", one, 10, 10),
                    ("async", "nm", one, "android", two, 10, 10), ("async-arg", "nm", one, "track", "trk")]


@rule("unknown events", "3: every line that means nothing else is an instant of its thread")
def unknown_events(case, facts):
    had = of(facts, "instant")
    rows = [("instant", line.tid, line.event, case.time(line.time)) for line in case.model.lines
            if not line.is_mark and not known(case, line)]
    return facts + [row for row in rows if row not in had]


# What events become something else than an instant.
KNOWN = re.compile(
    r"sched_(switch|wakeup|wakeup_new|waking|blocked_reason|cpu_hotplug)|cpu_(frequency|frequency_limits|idle)|power_(frequency|start)|"
    r"cpufreq_interactive_\w+|(irq_handler|softirq|ipi)_(entry|exit)|(preempt|irq)_(disable|enable)|workqueue_execute_(start|end)|"
    r"binder_(lock|locked|unlock|transaction|transaction_received)|block_rq_(issue|complete)|"
    r"ext4_(da_write_begin|da_write_end|sync_file_enter|sync_file_exit)|f2fs_(write_begin|write_end|sync_file_enter|sync_file_exit)|"
    r"i915_\w+|intel_gpu_freq_change|msm_gpu_(freq_change|submit_flush|submit_retired)|exynos_\w+|mali_\w+|sync_(timeline|wait)|"
    r"(dma_)?fence_(signaled|wait_start|wait_end)|cl(oc)?k_(set_rate|enable|disable)|"
    r"regulator_(enable|disable|set_voltage_complete)|thermal_temperature|cdev_update|memory_bus_usage|"
    r"mm_vmscan_(kswapd_wake|kswapd_sleep|direct_reclaim_begin|direct_reclaim_end)|lowmemory_kill|ion_heap_(grow|shrink)|rss_stat|"
    r"i2c_(write|read|reply|result)|drm_vblank_event|graph_(ent|ret)")


def known(case, line):
    if not KNOWN.fullmatch(line.event):
        return False
    if line.event == "binder_transaction_received":
        return f"binder_transaction: {line.details} " in case.text
    return line.event != "sched_switch" or line.switch() is not None


@rule("open to the end", "4, S and B: what has no end goes on to the end of the trace (Trace Viewer drops an S, and ends a B "
      "with the last slice of its thread)")
def open_to_the_end(case, facts):
    changed = [(*fact[:5], case.end(), True) if fact[0] == "slice" and fact[6] else fact for fact in facts]
    ends = {(m[2], m[3]) for line in case.model.lines if line.is_mark
            for m in [re.match(r"F\|(\d+)\|([^|]+)\|([^|]+)", line.details)] if m}
    for line in case.model.lines:
        m = re.match(r"S\|(\d+)\|([^|]+)\|([^|]+)", line.details) if line.is_mark else None
        if m and (m[2], m[3]) not in ends:
            changed.append(("async", m[2], case.time(line.time), "android", case.end(), line.tid, line.tid))
    return changed if changed == facts else nested_again(changed)


def nested_again(facts):
    """Depths of slices that have changed their lengths: by their nesting."""
    rows = []
    slices = of(facts, "slice")
    for s in slices:
        if s[5] > s[3]:
            rows.append(("depth", *s[1:4], sum(o[1] == s[1] and o[3] <= s[3] and o[5] >= s[5] and o is not s
                                               and (o[3], -o[5]) != (s[3], -s[5]) for o in slices)))
    return without(facts, "depth") + rows


@rule("not cut", "3: a slice of the kernel that does not nest in those of its thread stays whole, in a row of its own (Trace "
      "Viewer cuts it: \"name (cont.)\")")
def not_cut(case, facts):
    rest = [fact for fact in of(facts, "slice") if fact[2].endswith(" (cont.)")]
    changed = [fact for fact in facts if not (len(fact) > 2 and str(fact[2]).endswith(" (cont.)"))]
    for part in rest:
        head = next(f for f in changed if f[0] == "slice" and f[1] == part[1] and f[5] == part[3]
                    and part[2] == f[2] + " (cont.)")
        changed[changed.index(head)] = (*head[:5], *part[5:])
        changed = [("depth", *f[1:4], 0) if f[0] == "depth" and f[1:4] == head[1:4] else f for f in changed]
    return changed


@rule("instants apart", "trace-event.md 3.3: instants of JSON beside the text are instants, not slices without length")
def instants_apart(case, facts):
    if len(case.case["input"]) < 2:
        return facts
    changed = []
    for fact in facts:
        if fact[0] == "slice" and fact[3] == fact[5]:
            fact = ("instant", int(fact[1]), *fact[2:4])
        elif fact[0] == "thread":
            fact = (*fact[:2], int(fact[2]), "")
        changed.append(fact)
    return changed


@rule("binder", "3: a caller waits from its question to the answer, the callee works from the question received to the "
      "answer sent, arrows join the two (Trace Viewer begins nested questions when the outer was received, and leaves stubs of "
      "1 us at answers)")
def binder(case, facts):
    if "binder_transaction:" not in case.text:
        return facts
    model = ft_kernel.Binder(case.model)
    kept = [fact for fact in facts if fact[0] not in ("slice", "depth", "flow", "arg") or
            not (fact[0] == "flow" or str(fact[2]).startswith("binder "))]
    shown = {(s[0], s[1], case.time(s[2])) for s in model.slices}
    kept += [fact for fact in of(facts, "arg") if fact[1:4] in shown]
    kept += [("slice", *s[:2], case.time(s[2]), "binder", case.time(s[3]), s[4]) for s in model.slices]
    kept += [("flow", a, case.time(begun), b, case.time(got)) for a, begun, b, got in model.flows]
    return nested_again(kept)


@rule("last states", "3: the last state of a page flip and the last value of a timeline go on to the end of the trace")
def last_states(case, facts):
    rows = []
    for key, title, time in ft_kernel.last_states(case.model):
        place = (key, title, case.time(time))
        rows.append(("slice", *place, "", case.end(), True))
        if case.time(time) < case.end():
            rows.append(("depth", *place, 0))
        rows.append(("thread", 0, key, key))
    known = {fact for fact in of(facts, "thread")}
    return facts + [row for row in rows if row not in known]


# ---- Threads, processes, bounds ----

@rule("CPU time", "3: the CPU time of a slice is the time its thread ran, to the end of the trace")
def cpu_time(case, facts):
    rows = []
    for _, tid, title, start, _, end, _ in of(facts, "slice"):
        ran = sum(max(0, min(end, b) - max(start, a)) for a, b in case.ran(tid))
        if ran:
            rows.append(("cpu-time", tid, title, start, ran))
    return without(facts, "cpu-time") + rows


@rule("lines of the kernel", "3: what belongs to a disk or a file system is on the thread that asked for it, not on one "
      "named after both")
def kernel_lines(case, facts):
    changed = []
    names = {name: tid for tid, name in case.model.names.items()}
    for fact in facts:
        if fact[0] == "async":
            ends = [names.get(end.split(":", 1)[1]) if isinstance(end, str) and ":" in end else end for end in fact[5:]]
            fact = (*fact[:5], *ends)
        if fact[0] != "thread" or str(fact[2]).split(":")[0] not in ("block", "ext4", "f2fs"):
            changed.append(fact)
    return changed


@rule("threads of all lines", "2: every thread that a line names is listed, in the process that a TGID or a mark tells; a TGID of "
      "0 or none tells nothing (Trace Viewer lists what marks name, and takes a thread without TGID for a process)")
def all_threads(case, facts):
    model = case.model
    owner = {tid: model.tgids.get(tid) for tid in [*model.names, *model.runs, *(line.tid for line in model.lines)]}
    rows = [("thread", pid, tid, model.names.get(tid, "")) for tid, pid in owner.items() if tid]
    kernel = [("thread", 0, *fact[2:]) for fact in of(facts, "thread") if isinstance(fact[2], str)]
    shown = any(fact[0] in ("instant", "slice") and fact[1] == 0 for fact in facts)
    idle = shown and any(line.tid == 0 for line in model.lines)
    rows += [fact for fact in of(facts, "thread") if fact[2] == 0 and not idle and shown]
    if idle:
        rows.append(("thread", 0, 0, "<idle>"))
    pids = {pid for pid in owner.values() if pid}
    pids |= {int(fact[1].split()[1]) for fact in of(facts, "counter") if fact[1].startswith("process")}
    if shown or kernel or any(not fact[1].startswith("process") for fact in of(facts, "counter")):
        pids.add(0)
    return without(facts, "thread", "process") + rows + kernel + [("process", pid) for pid in pids]


@rule("every line counts", "2: the trace goes from the first line to the last, whatever its event is")
def bounds(case, facts):
    if not case.model.bounds:
        return facts
    if not of(facts, "slice", "cpu-slice", "async", "state", "counter", "instant"):
        return without(facts, "bounds")
    start, end = case.span([t - case.model.shift for t in case.model.bounds])
    end = max([end] + [fact[5] for fact in of(facts, "slice")])
    return without(facts, "bounds") + [("bounds", start, end)]
