# SPDX-License-Identifier: Apache-2.0
"""What the readers of reports accept: SARIF 2.1.0, JUnit XML, workflow commands of GitHub, OpenMetrics.

Each function raises AssertionError at the first violation.  Sections (§) are those of the SARIF 2.1.0 standard of OASIS; GitHub
means what its code scanning requires beyond it.
"""
import json
import re
import urllib.parse
import xml.etree.ElementTree

LEVELS = {"none", "note", "warning", "error"}  # §3.27.10


def members(thing, required, optional, where):
    """The members of an object: all that are required, none that is unknown."""
    assert isinstance(thing, dict), f"{where}: {thing!r} is no object"
    missing, unknown = set(required) - set(thing), set(thing) - set(required) - set(optional)
    assert not missing and not unknown, f"{where}: without {missing}, with {unknown}"
    return thing


def message(thing, where):
    text = members(thing, ["text"], [], where)["text"]  # §3.11.8
    assert isinstance(text, str) and text, where


def location(thing, where):
    members(thing, ["physicalLocation"], ["logicalLocations"], where)  # GitHub: "expected a physical location"
    physical = members(thing["physicalLocation"], ["artifactLocation"], ["region"], where)
    uri = members(physical["artifactLocation"], ["uri"], [], where)["uri"]
    assert uri and uri.isascii() and not re.search(r"[^\w/.~%-]", uri), f"{where}: {uri}"  # §3.4.3, RFC 3986
    assert re.fullmatch(r"(%[0-9A-F]{2}|[^%])*", uri) and urllib.parse.unquote(uri), f"{where}: {uri}"
    region = members(physical.get("region", {}), [], ["startLine", "byteOffset"], where)
    assert region.get("startLine", 1) >= 1 and region.get("byteOffset", 0) >= 0, where  # §3.30.5, §3.30.11
    for logical in thing.get("logicalLocations", []):
        assert members(logical, ["fullyQualifiedName"], [], where)["fullyQualifiedName"], where  # §3.33.5


def check_sarif(text):
    """Return the run of a SARIF document."""
    log = members(json.loads(text), ["version", "runs"], ["$schema"], "log")  # §3.13
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    run = members(log["runs"][0], ["tool", "results"], ["invocations"], "run")  # §3.14
    driver = members(members(run["tool"], ["driver"], [], "tool")["driver"], ["name"], ["rules"], "driver")  # §3.18, §3.19
    assert driver["name"]
    for rule in driver.get("rules", []):  # §3.49
        members(rule, ["id"], ["shortDescription"], "rule")
        message(rule["shortDescription"], "rule")
    ids = [rule["id"] for rule in driver.get("rules", [])]
    assert len(set(ids)) == len(ids), ids
    for result in run["results"]:  # §3.27
        members(result, ["ruleId", "message", "locations"], ["level", "occurrenceCount", "partialFingerprints"], "result")
        message(result["message"], "result")
        assert result["ruleId"] in ids and result.get("level", "warning") in LEVELS, result
        assert result.get("occurrenceCount", 1) >= 1, result  # §3.27.15
        assert len(result["locations"]) == 1, result  # GitHub reads the first one
        location(result["locations"][0], result["ruleId"])
        for key, value in result.get("partialFingerprints", {}).items():  # §3.27.17
            assert re.fullmatch(r"\w+/v\d+", key) and isinstance(value, str) and value, result
    assert len(run["results"]) <= 5000  # GitHub shows no more
    for invocation in run.get("invocations", []):  # §3.20
        members(invocation, ["executionSuccessful"], ["toolExecutionNotifications"], "invocation")
        for note in invocation["toolExecutionNotifications"]:  # §3.58
            message(members(note, ["message"], ["level"], "notification")["message"], "notification")
            assert note["level"] in LEVELS
    return run


# Attributes and members of a suite that the schema of Ant (windyroad's JUnit.xsd) needs, in its order, and that of Jenkins knows.
SUITE = {"id", "package", "name", "tests", "failures", "errors", "time", "timestamp", "hostname"}
ENDS = ["system-out", "system-err"]


def check_junit(text):
    """Return the test cases: name -> "ok", "failure" or "error"."""
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == "testsuites" and not (root.text or "").strip(), root.tag
    verdicts = {}
    for suite in root:
        assert suite.tag == "testsuite" and set(suite.attrib) == SUITE, suite.attrib
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp")), suite.attrib
        assert suite[0].tag == "properties" and len(suite[0]) > 0 and [one.tag for one in suite[-2:]] == ENDS
        counts = dict.fromkeys(("failure", "error"), 0)
        for case in suite[1:-2]:
            assert case.tag == "testcase" and set(case.attrib) == {"classname", "name", "time"}, case.attrib
            assert case.get("name") and len(case) <= 1 and not (case.text or "").strip()
            for verdict in case:
                assert verdict.get("message") and set(verdict.attrib) == {"message", "type"}, verdict.attrib
                counts[verdict.tag] += 1
            verdicts[case.get("name")] = case[0].tag if len(case) else "ok"
        told = [int(suite.get(name)) for name in ("tests", "failures", "errors")]
        assert told == [len(suite) - 3, counts["failure"], counts["error"]], told
    return verdicts


def check_github(text):
    """Return the messages of annotations: at most ten, and a notice."""
    found = []
    for line in text.split("\n")[:-1]:
        match = re.fullmatch(r"::(error|notice) (?:file=(?:%(?:25|3A|2C)|[^%:,])+,(?:line=[1-9]\d*,)?)?title=[^:,%]+::((?:%(?:25|0A|0D)|[^%\r])+)", line)
        assert match, line
        found.append((match[1], re.sub("%(25|0A|0D)", lambda code: chr(int(code[1], 16)), match[2])))
    assert text.endswith("\n") or text == ""
    assert sum(kind == "error" for kind, _ in found) <= 10
    return found


def check_metrics(text):
    """Return the samples of an OpenMetrics text: (name, label value) -> number.  A family is declared before its samples, which
    stand together; no sample stands twice; the name of a family with a unit ends with it."""
    lines, samples, families = text.split("\n"), {}, []
    assert lines[-2:] == ["# EOF", ""] and "# EOF" not in lines[:-2]
    for line in lines[:-2]:
        if match := re.fullmatch(r"# TYPE ([a-z_]+) gauge", line):
            assert match[1] not in families
            families.append(match[1])
        elif match := re.fullmatch(r"# UNIT ([a-z_]+) ([a-z]+)", line):
            assert match[1] == families[-1] and match[1].endswith("_" + match[2]), line
        else:
            match = re.fullmatch(r'([a-z_]+)\{[a-z]+="((?:\\[\\"n]|[^\\"])*)"\} (-?\d+(?:\.\d+)?)', line)
            assert match and match[1] == families[-1], line
            label = re.sub(r"\\(.)", lambda escaped: {"n": "\n"}.get(escaped[1], escaped[1]), match[2])
            assert (match[1], label) not in samples, line
            samples[match[1], label] = float(match[3])
    return samples
