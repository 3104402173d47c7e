# SPDX-License-Identifier: Apache-2.0
"""Arguments of slices beside Trace Viewer's: each of its values must stand at our slice under the kernel's
name, and what stands there besides must be said by a line at the beginning or the end of the slice.
"""
import ft_lines

WHY = {"arguments": "3: arguments keep the kernel's names and are all that the lines say; who calls is the slice's thread, and "
                    "what was asked stands where it was asked"}

# Trace Viewer's names of arguments: the kernel's.
RENAMED = {
    "gfp": "gfp_flags", "Start state": "state", "Address": "a", "Number of messages": "n", "Return": "ret",
    "Message number": "#", "Data Length": "l",
    "Transaction Id": "transaction", "Destination Node": "dest_node", "Destination Process": "dest_proc",
    "Destination Thread": "dest_thread", "Data Size": "data_size", "Offsets Size": "offsets_size", "Code": "code",
    "Reply transaction?": "reply", "elapsedNs": "elapsed", "startTicks": "start", "endTicks": "end", "freq": "new_freq",
    "data": "len",  # of i915_reg_rw: a slip there
}
# What the slice itself says: its thread, its length and that of the slice of its queue.
TOLD_BY_SLICE = {"Calling PID", "Calling tgid", "Destination Name", "flushTS", "flushTicks", "queuedDuration",
                 "runningDuration"}
FLAGS = {0x01: "one way", 0x04: "root", 0x08: "status", 0x10: "file descriptors"}


def kernel_fact(fact):
    """The name and the value that the kernel gives to an argument of Trace Viewer."""
    name, value = fact[-2:]
    if name == "Flags":
        return ("flags" if value.startswith("0x") else "f"), value.split()[0]
    if name == "Code":
        value = value.split()[0]
    if name == "Reply transaction?":
        value = "1" if value == "true" else "0"
    return RENAMED.get(name, name), value


def compare(case, expected, ours):
    """(missing, extra, whether the rule was needed)."""
    had = {}
    for fact in ours:
        had.setdefault(fact[:-2], {}).setdefault(fact[-2], []).append(fact[-1])
    missing, used, needed = [], set(), False
    for fact in expected:
        place = fact[:-2]
        name, value = kernel_fact(fact)
        if fact[-1] in had.get(place, {}).get(fact[-2], []):
            used.add((place, fact[-2]))
        elif fact[-2] in TOLD_BY_SLICE or value == "" or (name, value) == ("error", "false"):
            needed = True
        elif any(same(ours, value) for ours in had.get(place, {}).get(name, [])):
            used.add((place, name))
            needed = True
        elif name == "transaction" and value in had.get(place, {}).get("answer", []):  # the number of the answer
            used.add((place, "answer"))
            needed = True
        elif elsewhere(had, place, name, value):
            needed = True
        else:
            missing.append(fact)
    extra = [fact for fact in ours if (fact[:-2], fact[-2]) not in used]
    unsaid = [fact for fact in extra if not said(case, fact) and not decoded(had[fact[:-2]], fact)]
    return missing, unsaid, needed or bool(extra)


def elsewhere(had, place, name, value):
    """A binder transaction is told in full where it is asked for: on the caller's slice."""
    number = had.get(place, {}).get("transaction")
    return number is not None and any(args.get("transaction") == number and value in args.get(name, [])
                                      for args in had.values())


def same(ours, value):
    """The same text, or the same number with its unit, or as the peer's double has it."""
    if ours in (value, value + " ns"):
        return True
    return ours.isdigit() and value.isdigit() and float(ours) == float(value) > 2 ** 53


def decoded(args, fact):
    """The flags of a binder transaction in words, each of its bits and no other."""
    if fact[-2] != "flags mean" or "flags" not in args:
        return False
    bits = int(args["flags"][0], 16)
    return all((word in fact[-1]) == bool(bits & bit) for bit, word in FLAGS.items())


def said(case, fact):
    """Does a line say so?"""
    name, value = fact[-2:]
    return any(ft_lines.fields(line.details).get(name) == value or value in line.details for line in case.model.lines)
