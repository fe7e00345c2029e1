"""Workers without torch: they start in a moment, and do what a test wants of them."""

import sys
import time
from collections.abc import Callable

from core.labs.training import Training

PROGRAM = """
import json, os, signal, sys, time

request = json.loads(sys.stdin.readline())
settings = {"steps": 3, "sleep": 0.0, "end": "", "total": 0, **request["settings"]}
if settings["end"] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for step in range(1, settings["steps"] + 1):
    event = {"event": "step", "curve": "a", "step": step, "loss": 1 / step, "tokens": 10, "done": step}
    print(json.dumps({**event, "total": settings["total"] or settings["steps"]}), flush=True)
    time.sleep(settings["sleep"])
print(json.dumps({"event": "found", "curve": "a", "name": "asked", "value": request}), flush=True)
match settings["end"]:
    case "hang" | "deaf":
        sys.stdin.read()  # until the server has gone
    case "nonsense":
        print("nonsense", flush=True)
        sys.stdin.read()
    case "long":
        print("[" + "1," * 1000 + "1]", flush=True)
    case "half":
        sys.stdout.write('{"event": "st')
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    case "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    case "":
        pass
    case code:
        sys.exit(int(code))
"""

COMMAND = (sys.executable, "-S", "-c", PROGRAM)
HANGING = (sys.executable, "-S", "-c", PROGRAM.replace('"end": ""', '"end": "hang"'))  # until it is stopped
CATALOGUE = {"tiny": "tests.core.labs.tiny_lab"}
HANG = {"end": "hang"}
LONGEST = 300.0  # seconds that a test waits; a busy machine is slow


def until(condition: Callable[[], object]) -> None:
    """Wait for what another thread or process does next."""
    end = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


def over(training: Training) -> Training:
    """The same training, once it has ended."""
    assert training.ended.wait(LONGEST), "it never ended"
    return training
