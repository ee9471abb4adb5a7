"""Processes that render prompts, forked from one that has imported what they need.

Nearly every test that evaluates something starts one, and importing is nearly all of what it does. What they
are forked from is as isolated as they are: this file runs as a script, and imports nothing of this package.
"""

from __future__ import annotations

import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

SOCKET = "EVAL_PIPELINE_TESTS_RENDERERS"
"""The variable that names where it listens; without it, every process that renders is started anew."""
MOST_WAITING = 128
BRIEF = 32


class Forked:
    """A process that renders, as `subprocess.Popen` would show it."""

    def __init__(self, address: str) -> None:
        (its_in, into), (out, its_out) = os.pipe(), os.pipe()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(address)
            socket.send_fds(connection, [b"."], [its_in, its_out])
            self.pid = int(connection.recv(BRIEF))
        for each in (its_in, its_out):
            os.close(each)
        self.stdin, self.stdout = os.fdopen(into, "wb", 0), os.fdopen(out, "rb", 0)

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def communicate(self) -> None:
        """Let go of it."""
        self.stdin.close()
        self.stdout.close()


def share_renderers() -> None:
    """Let this process and those that it forks have their prompts rendered by forked processes."""
    from eval_pipeline.prompts import rendering

    start = rendering._started

    def started() -> Any:
        address = os.environ.get(SOCKET)
        return Forked(address) if address else start()

    rendering._started = started


@contextmanager
def forking_renderers() -> Iterator[None]:
    """Fork them for as long as the block lasts, for all processes that have this one's environment."""
    from eval_pipeline.prompts.rendering import WORKER

    with tempfile.TemporaryDirectory() as folder:  # the names of sockets must be short
        address = str(Path(folder, "renderers"))
        script = [sys.executable, "-I", __file__, str(WORKER), address]
        with subprocess.Popen(script, env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()  # it listens
            os.environ[SOCKET] = address
            yield
            del os.environ[SOCKET]


def serve(worker: str, address: str) -> None:
    """Fork a process for each who asks, until nobody holds standard input any more."""
    be = runpy.run_path(worker)["main"]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(MOST_WAITING)
        print("listening", flush=True)
        while 0 not in select.select([0, listening.fileno()], [], [])[0]:
            connection, _ = listening.accept()
            _, given, *_ = socket.recv_fds(connection, 1, 2)
            child = os.fork()
            if not child:
                break
            for each in given:
                os.close(each)
            connection.sendall(str(child).encode())
            connection.close()
        else:
            return
    connection.close()
    for place, each in enumerate(given):
        os.dup2(each, place)
        os.close(each)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    be()


if __name__ == "__main__":
    serve(*sys.argv[1:])
