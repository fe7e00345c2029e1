"""One training in a process of its own: `python -m core.labs.worker`.

The first line of its input is JSON with the experiment's module and its settings; it writes events as lines (see
`events`). When its input ends, it ends: whoever started it is gone. It works at the lowest priority and with one
thread, so that pages which other people use stay quick.
"""

import importlib
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import BinaryIO

from core.labs.events import Event, Step, to_line

EVERY = 0.05  # seconds between two writes, if steps take less
LOWEST_PRIORITY = 19  # whatever the server's own is
LARGEST_DATA = 3 * 2**30  # bytes that a training may allocate, where the system can tell
DIVERGED = 3  # what the process returns where a loss grew beyond all numbers


def main() -> None:
    calm()
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0) as out:
        sys.stdout = sys.stderr  # what a library prints is no event
        import torch

        torch.set_num_threads(1)
        experiment = importlib.import_module(request["module"])
        write(experiment.train(experiment.Settings(**request["settings"])), out)


def calm() -> None:
    """Take only what others leave of the processors, bound the memory, and leave Ctrl-C to the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, 0, LOWEST_PRIORITY)
    if sys.platform != "win32":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        if hard == resource.RLIM_INFINITY or hard > LARGEST_DATA:
            resource.setrlimit(resource.RLIMIT_DATA, (LARGEST_DATA, hard))


def write(events: Iterable[Event], out: BinaryIO, clock: Callable[[], float] = time.monotonic) -> None:
    """Write events as they come, several at once if they come quickly.

    Exits with DIVERGED at a loss that is no number.
    """
    lines: list[str] = []
    last = -math.inf
    try:
        for event in events:
            if isinstance(event, Step) and not math.isfinite(event.loss):
                sys.exit(DIVERGED)
            lines.append(to_line(event))
            if clock() - last >= EVERY:
                _flush(lines, out)
                last = clock()
    finally:
        _flush(lines, out)  # also before an error


def _flush(lines: list[str], out: BinaryIO) -> None:
    rest = memoryview("".join(f"{line}\n" for line in lines).encode())
    lines.clear()
    while rest:  # an unbuffered file may take a part only
        rest = rest[out.write(rest) :]


def _end_with_the_input() -> None:
    # Not through sys.stdin: a thread that waits in it at the end would hold its lock.
    while os.read(0, 4096):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
