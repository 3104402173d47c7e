# SPDX-License-Identifier: Apache-2.0
"""Watching a program that reads while it writes."""
import os
import pathlib
import subprocess
import threading

FIRST = 1_000_000  # bytes of the first piece


def read_until_first_byte(*command):
    """(bytes that the program had read, what it wrote first)"""
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        first = os.read(process.stdout.fileno(), 64)
        counts = pathlib.Path(f"/proc/{process.pid}/io").read_text(encoding="ascii")
        process.stdout.close()
    return int(counts.split("rchar: ")[1].split()[0]), first


def through_pipe(data, *command):
    """What the program writes, the status it ends with, and what it says.  More than the first piece is there for it
    when its first line was read, not before."""
    first_line = threading.Event()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:

        def feed():
            process.stdin.write(data[:FIRST])
            process.stdin.flush()
            first_line.wait()
            process.stdin.write(data[FIRST:])
            process.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        line = process.stdout.readline()
        first_line.set()
        rest = process.stdout.read()
        feeder.join()
        said = process.stderr.read()
    return line + rest, process.returncode, said


def first_line(data, *command):
    """Of a program that nobody reads on from; the pipe that it reads stays open until it ends."""
    inner, outer = os.pipe()
    with subprocess.Popen(command, stdin=inner, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        os.close(inner)
        feeder = threading.Thread(target=lambda: write_until_closed(outer, data))
        feeder.start()
        line = process.stdout.readline()
        process.stdout.close()
        feeder.join()
        process.wait()
    os.close(outer)
    return line


def write_until_closed(pipe, data):
    try:
        while data:
            data = data[os.write(pipe, data):]
    except BrokenPipeError:
        pass
