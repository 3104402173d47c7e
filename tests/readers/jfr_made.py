#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes small recordings of the Java Flight Recorder, byte by byte.

    jfr_made.py FOLDER

writes those that the fuzzer begins with.  One chunk is a header, metadata (the types below), one checkpoint with the
constants, and events.
"""
import pathlib
import struct
import sys


def varint(number):
    """7 bits in a byte; a ninth byte has 8."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80 and len(out) < 8:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def text(value):
    """Encoding 3: UTF-8; 0: null."""
    return b"\0" if value is None else b"\3" + varint(len(value.encode())) + value.encode()


def event(type_id, *parts):
    body = varint(type_id) + b"".join(part if isinstance(part, bytes) else varint(part) for part in parts)
    size = len(body) + 1
    return varint(size if size < 0x80 else size + 1) + body


# class: (id, superType, fields); a field: (name, class, constant, array)
TYPES = {
    "long": (1, None, []), "int": (2, None, []), "boolean": (3, None, []), "java.lang.String": (4, None, []),
    "java.lang.Thread": (5, None, [("osName", 4, 0, 0), ("osThreadId", 1, 0, 0), ("javaName", 4, 0, 0),
                                   ("javaThreadId", 1, 0, 0)]),
    "java.lang.Class": (6, None, [("name", 7, 1, 0)]),
    "jdk.types.Symbol": (7, None, [("string", 4, 0, 0)]),
    "jdk.types.Method": (8, None, [("type", 6, 1, 0), ("name", 7, 1, 0)]),
    "jdk.types.StackFrame": (9, None, [("method", 8, 1, 0), ("lineNumber", 2, 0, 0)]),
    "jdk.types.StackTrace": (10, None, [("truncated", 3, 0, 0), ("frames", 9, 0, 1)]),
    "jdk.ExecutionSample": (101, "jdk.jfr.Event", [("startTime", 1, 0, 0), ("sampledThread", 5, 1, 0),
                                                   ("stackTrace", 10, 1, 0)]),
    "jdk.JavaMonitorEnter": (102, "jdk.jfr.Event", [("startTime", 1, 0, 0), ("duration", 1, 0, 0),
                                                    ("eventThread", 5, 1, 0), ("stackTrace", 10, 1, 0)]),
    "app.Note": (103, "jdk.jfr.Event", [("startTime", 1, 0, 0), ("eventThread", 5, 1, 0), ("what", 4, 0, 0)]),
}


def metadata():
    words = []

    def word(value):
        if value not in words:
            words.append(value)
        return varint(words.index(value))

    def element(name, attributes, children=()):
        pairs = b"".join(word(key) + word(value) for key, value in attributes.items() if value is not None)
        count = sum(value is not None for value in attributes.values())
        return word(name) + varint(count) + pairs + varint(len(children)) + b"".join(children)

    classes = [element("class", {"name": name, "id": str(number), "superType": above},
                       [element("field", {"name": field, "class": str(of), "constantPool": "true" if constant else None,
                                          "dimension": "1" if array else None})
                        for field, of, constant, array in fields])
               for name, (number, above, fields) in TYPES.items()]
    tree = element("root", {}, [element("metadata", {}, classes), element("region", {})])
    return event_padded(0, varint(0) + varint(0) + varint(1) + varint(len(words)) + b"".join(map(text, words)) + tree)


def event_padded(type_id, body):
    """The size in four bytes, as HotSpot writes it for large events."""
    size = len(body) + len(varint(type_id)) + 4
    padded = bytes([size & 0x7f | 0x80, size >> 7 & 0x7f | 0x80, size >> 14 & 0x7f | 0x80, size >> 21])
    return padded + varint(type_id) + body


def pool(type_id, entries):
    return varint(type_id) + varint(len(entries)) + b"".join(varint(key) + value for key, value in entries.items())


def stack(frames, truncated=False):
    """Frames as (method, line), from the leaf."""
    return bytes([truncated]) + varint(len(frames)) + b"".join(varint(number) for frame in frames for number in frame)


def checkpoint(truncated=False, stacks=None):
    """Method 1 is parse, 2 is main.  `stacks`: key -> stack(...)."""
    pools = [
        pool(7, {1: text("app/Main"), 2: text("main"), 3: text("parse")}),
        pool(6, {1: varint(1)}),
        pool(8, {1: varint(1) + varint(3), 2: varint(1) + varint(2)}),
        pool(10, stacks or {1: stack([(1, 7), (2, 30)], truncated)}),  # parse:7 called by main:30
        pool(5, {1: text("java") + varint(4711) + text("main") + varint(1)}),
    ]
    return event_padded(1, varint(0) + varint(0) + varint(0) + b"\0" + varint(len(pools)) + b"".join(pools))


def chunk(events, constants=None, state=0, size=None, start_ns=10 ** 18, ticks=10 ** 9, major=2):
    types, constants = metadata(), constants or checkpoint()
    body = types + b"".join(events) + constants
    whole = 68 + len(body)
    header = b"FLR\0" + struct.pack(">HHQQQQQQQ", major, 1, whole if size is None else size, whole - len(constants), 68,
                                    start_ns, 10 ** 9, 0, ticks) + bytes([state, 0, 0, 1])
    return header + body


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    sample, wait, note = event(101, 5, 1, 1), event(102, 7, 3, 1, 1), event(103, 9, 1, text("hello"))
    made = {
        "whole": chunk([sample, wait, note]),
        "two-chunks": chunk([sample]) + chunk([wait, note], start_ns=2 * 10 ** 18, ticks=2 * 10 ** 9),
        "unfinished": chunk([sample, wait], state=2),
        "size-zero": chunk([sample], size=0),
        "cut-stack": chunk([sample], checkpoint(truncated=True)),
        "jdk7": chunk([sample], major=0),
    }
    for name, data in made.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
