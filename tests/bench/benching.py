# SPDX-License-Identifier: Apache-2.0
"""What the measuring scripts share: inputs, rounds, tables, the page.

A Task is one piece of work on one input, done by several programs.  Every round runs each program
once, in turn, so that a ratio compares neighbours in time; figures are medians over the rounds.  A
program that is not there is named and left out.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/performance.md"


@dataclasses.dataclass
class Program:
    """One row: a command, the cores it may use."""
    title: str
    command: list
    cpus: int = 1
    missing: str = ""
    inside: bool = False  # it prints figures of its own, "name value" a line, ready_s among them
    samples: list = dataclasses.field(default_factory=list)

    def median(self, key):
        return statistics.median(sample[key] for sample in self.samples)


@dataclasses.dataclass
class Task:
    """Programs that do the same work; peer and limit are titles of rows, or empty."""
    title: str
    programs: list
    size: int    # of the input, bytes
    events: int  # in it
    peer: str = ""
    limit: str = ""

    def find(self, title):
        return next((p for p in self.programs if p.title == title and p.samples), None)


def positive(word):
    """What argparse takes for a size or a number of rounds."""
    if not (word.isascii() and word.isdigit() and int(word) > 0):
        raise argparse.ArgumentTypeError(f"'{word}' is no number above 0")
    return int(word)


def several(word):
    """Several of them, with commas between."""
    return [positive(part) for part in word.split(",")]


def generate(build, name, generator, *arguments):
    """The input of that name; made anew when its generator is newer, or the words are others."""
    program = build / "tests/bench" / generator
    if not program.exists():
        sys.exit(f"bench: {program} is not there: build first (ninja -C {build})")
    path = build / "bench" / name
    path.parent.mkdir(exist_ok=True)
    told = path.with_name(name + ".told")
    words = " ".join(arguments)
    current = (path.exists() and told.exists() and told.stat().st_mtime >= program.stat().st_mtime
               and told.read_text().startswith(words + "\n"))
    if not current:
        print(f"bench: generating {path}", file=sys.stderr)
        part = path.with_name(name + ".part")
        said = subprocess.run([program, part, *arguments], check=True, capture_output=True, text=True)
        part.rename(path)
        told.write_text(f"{words}\n{said.stdout}{said.stderr}")
    with path.open("rb") as file:  # into the page cache
        while file.read(1 << 24):
            pass
    return path, told.read_text()


def reading_alone(path):
    """The least that any program must do: the file through a buffer of 256 KiB."""
    return Program("bare limit: reading the file", ["dd", f"if={path}", "of=/dev/null", "bs=256k", "status=none"])


def measure(build, program, touch):
    """Run once; the sample, or None with the reason in program.missing."""
    output = build / "bench/output" if program.inside else "/dev/null"
    words = [build / "tests/bench/measure", "--cpus", str(program.cpus), "--touch", str(int(touch)),
             "--output", output, *program.command]
    load = os.getloadavg()[0]
    # No index is read or left: what a program took from its cache it would not have read.
    result = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"XDG_CACHE_HOME": "/dev/null"})
    if result.returncode:
        sys.exit(f"bench: {result.stderr}")
    sample = json.loads(result.stdout)
    if sample["status"]:
        program.missing = f"failed with status {sample['status']}: {result.stderr.strip()[:200]}"
        return None
    sample["load"] = load
    sample["speed_of_touch"] = sample["touch_bytes"] / sample["touch_s"] / 1e9 if touch else 0.0
    if program.inside:  # the process measures other things once it is ready
        sample["inside"] = {key: float(value) for key, value in map(str.split, output.read_text().splitlines())}
        sample["wall_s"] = sample["inside"]["ready_s"]
        sample["rss_bytes"] = sample["inside"].get("ready_peak_bytes", sample["rss_bytes"])
    return sample


def run_task(build, task, rounds):
    """A round that is not counted says how much memory each row needs; then the rounds."""
    need = {}
    for program in task.programs:
        sample = None if program.missing else measure(build, program, 1 << 20)
        if sample:
            need[program.title] = sample["rss_bytes"]
    for number in range(rounds):
        for program in task.programs:
            if program.missing:
                continue
            print(f"bench: round {number + 1} of {rounds}: {task.title}: {program.title}", file=sys.stderr)
            sample = measure(build, program, need[program.title])
            if sample:
                program.samples.append(sample)


def ratio(task, program, reference):
    """How many times as fast as the reference, from neighbours in the same round."""
    other = task.find(reference)
    if not other or other is program:
        return "-"
    pairs = zip(program.samples, other.samples)
    return f"{statistics.median(b['wall_s'] / a['wall_s'] for a, b in pairs):.2f}"


HEAD = ["work", "program", "wall s (min to max)", "MB/s", "million events/s", "times the peer", "times the limit",
        "peak MiB", "B/event", "first touch GB/s / load"]


def row(task, program):
    if not program.samples:
        return [task.title, program.title, program.missing] + [""] * (len(HEAD) - 3)
    walls = [sample["wall_s"] for sample in program.samples]
    wall, memory = statistics.median(walls), program.median("rss_bytes")
    return [
        task.title, program.title,
        f"{wall:.3f} ({min(walls):.3f} to {max(walls):.3f})",
        f"{task.size / wall / 1e6:.0f}", f"{task.events / wall / 1e6:.3g}",
        ratio(task, program, task.peer), ratio(task, program, task.limit),
        f"{memory / (1 << 20):.1f}", f"{memory / task.events:.2f}",
        f"{program.median('speed_of_touch'):.1f} / {max(s['load'] for s in program.samples):.1f}",
    ]


def markdown(head, rows):
    lines = [head, ["---"] * 2 + ["--:"] * (len(head) - 2)] + rows
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def table(tasks):
    return markdown(HEAD, [row(task, program) for task in tasks for program in task.programs])


def inside_table(tasks):
    """What programs measured inside themselves: medians of each of their figures."""
    rows = []
    for program in (program for task in tasks for program in task.programs):
        inside = [sample["inside"] for sample in program.samples if "inside" in sample]
        for key in inside[0] if inside else []:
            value = statistics.median(figures[key] for figures in inside)
            rows.append([program.title, key, f"{value:.6g}"])
    return markdown(["program", "figure", "median"], rows) if rows else ""


def run_text(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def package(name):
    version = run_text("dpkg-query", "-W", "-f", "${Version}", name)
    return f"{name} {version or 'not installed'}"


def describe_machine(*peers):
    """A sentence that says where and with what figures are taken."""
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), platform.machine())
    memory = next(int(line.split()[1]) for line in open("/proc/meminfo")
                  if line.startswith("MemTotal"))
    parts = [datetime.date.today().isoformat(),
             f"{model}, {os.cpu_count()} processors, {memory / (1 << 20):.1f} GiB, "
             f"{platform.system()} {platform.release()}",
             run_text("gcc", "--version").split("\n")[0], *map(package, peers),
             f"commit {run_text('git', '-C', str(ROOT), 'rev-parse', '--short', 'HEAD') or 'unknown'}"]
    return "; ".join(parts) + "."


def write_page(name, text, path=PAGE):
    """Between the two marks of that name in docs/performance.md, or another document."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = path.read_text()
    if begin not in page or end not in page:
        sys.exit(f"bench: {path} has no place for figures ({begin} ... {end})")
    before, rest = page.split(begin, 1)
    path.write_text(before + begin + "\n" + text + "\n" + end + rest.split(end, 1)[1])
    print(f"bench: wrote {name} into {path}", file=sys.stderr)
