# SPDX-License-Identifier: Apache-2.0
"""Why we differ on purpose: each rule takes away the differences that it explains.

A rule is a function of an outcome that returns the facts it explains among those missing and those
extra.  WHY has its sentence, with the section of the specification (trace-event.md) that decides.
"""

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
        missing, extra = function(outcome)
        if not missing and not extra:
            continue
        outcome.missing = [fact for fact in outcome.missing if fact not in missing]
        outcome.extra = [fact for fact in outcome.extra if fact not in extra]
        outcome.rules.append(name)


def judge_query(outcome, lines):
    """Cases whose expectation is the answer to a query."""
    outcome.missing = [("query",)]
    del lines


def of_kind(facts, *kinds):
    return [fact for fact in facts if fact[0] in kinds]
