# SPDX-License-Identifier: Apache-2.0
"""Start an upload server for a test, and send requests to it.

    with Server(program, "--keep", "1h") as server:
        status, headers, body = server.ask("PUT", "/app.trace", data)
"""
import base64
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
PATIENCE = 120  # seconds; only a hanging test takes so long


def free_port():
    """Return a port below those that the kernel gives to connections (from 32768 on), one of which could take it before
    the server does, and below those that a server takes by itself (from 27180 on), which another test may watch."""
    while True:
        port = random.randrange(10000, 27000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Server:
    """`traceview serve` on its own port, with its own store unless one is given."""

    def __init__(self, program, *options, store=None):
        self.program = str(program)
        self.options = options
        self.own = None if store else tempfile.mkdtemp(prefix="traceview-serve-")
        self.store = pathlib.Path(store or self.own)
        self.port = free_port()
        self.process = None
        self.log = []
        self.environment = {}

    def command(self):
        return [self.program, "serve", "--store", str(self.store), "--port", str(self.port), *self.options]

    def start(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=os.environ | self.environment)
        self.reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr),
                                       daemon=True)
        self.reader.start()
        line = self.process.stdout.readline().strip()
        if not line:
            self.process.wait()
            self.reader.join()
            raise RuntimeError("the server did not start: " + "".join(self.log))
        self.address = line.rstrip("/")
        self.host, self.port = urllib.parse.urlsplit(line).hostname, urllib.parse.urlsplit(line).port
        return self

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        if self.own:
            shutil.rmtree(self.own)

    def connect(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)

    def ask(self, method, path, body=None, headers=()):
        """Return status, headers (names in lower case) and body of an answer."""
        connection = self.connect()
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def get(self, path, headers=()):
        """Return the JSON of an answer, which must have status 200."""
        status, _, body = self.ask("GET", path, headers=headers)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {body[:300]!r}")
        return json.loads(body)

    def put(self, name, data, headers=()):
        """Upload a file and return the identifier of its trace."""
        status, answer, body = self.ask("PUT", "/" + urllib.parse.quote(name, safe=""), data, headers)
        if status != 201:
            raise AssertionError(f"PUT {name}: {status} {body[:300]!r}")
        return answer["location"].split("/")[2]

    def read(self, trace):
        """Wait until a trace is read, or cannot be, and return what is known about it."""
        return until(lambda: finished(self.get(f"/api/traces/{trace}")))

    def resident(self):
        """Return the memory of the server process in bytes."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("no VmRSS")


def finished(trace):
    return trace if trace["state"] in ("ready", "failed") else None


def until(ask):
    """Call `ask` until it returns something, and return that."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = ask()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come about")


def metadata(**pairs):
    """Return the Upload-Metadata header of a tus upload."""
    return ",".join(f"{k} {base64.b64encode(v.encode()).decode()}" for k, v in pairs.items())


class Tap:
    """Run tests and print a line for each; the exit status is the number of failures."""

    def __init__(self):
        self.count = self.failed = 0

    def run(self, name, test):
        self.count += 1
        try:
            test()
            print(f"ok {self.count} - {name}", flush=True)
        except Exception as error:  # a test that breaks has failed
            self.failed += 1
            print(f"not ok {self.count} - {name}", flush=True)
            for line in f"{type(error).__name__}: {error}".splitlines():
                print(f"# {line}", flush=True)

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}", flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def equal(found, wanted, what=""):
    if found != wanted:
        raise AssertionError(f"{what}: found {found!r:.600}, wanted {wanted!r:.600}")
