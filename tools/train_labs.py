"""Run the full comparison of experiments, and ship the results with the app; or check what ships.

    python tools/train_labs.py open_book longer     these; all if none is named
    python tools/train_labs.py --jobs 2             two trainings at once
    python tools/train_labs.py open_book --check    train the defaults again, and compare every number

A training that is done is kept in a folder outside of the project, so that a program that was interrupted goes on where
it was; what was made by other code is not used again. The result is core/assets/labs/<experiment>.json.

--check compares the losses at the end and all findings. On the machine that made them they are the same; on another one
they may differ by as much as two seeds of the same variant do, and the program prints that spread. It returns 1 if a
number lies outside, or is missing.
"""

import argparse
import ast
import datetime
import hashlib
import importlib
import importlib.metadata
import json
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.labs.catalogue import EXPERIMENTS
from core.labs.desk import Desk
from core.labs.events import JSON
from core.labs.record import Record
from core.labs.reproduction import compare
from core.labs.settings import plain
from core.labs.shipped import FOLDER, Run, Shipped, shipped, write
from core.labs.training import State

ROOT = Path(__file__).resolve().parent.parent
KEPT = Path(tempfile.gettempdir()) / "attention-atlas-labs"


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """A training that has been run, now or earlier."""

    run: Run
    seconds: float


class Trainer:
    """Runs trainings in worker processes, several at once, and keeps what is done."""

    def __init__(self, jobs: int, kept: Path, catalogue: Mapping[str, str] = EXPERIMENTS) -> None:
        self._jobs, self._kept, self._catalogue = jobs, kept, catalogue
        kept.mkdir(parents=True, exist_ok=True)

    def module(self, experiment: str) -> Any:
        return importlib.import_module(self._catalogue[experiment])

    def run(self, experiment: str, every: Sequence[Mapping[str, JSON]]) -> Iterator[Done]:
        """One after the other, in this order. Raises: RuntimeError if a training fails."""
        code = digest(self._catalogue[experiment])
        files = [self._kept / f"{experiment}-{_hash(json.dumps(one, sort_keys=True) + code)}.json" for one in every]
        desk = Desk(
            self._jobs,
            queue_length=len(every),
            seconds=math.inf,
            patience=math.inf,
            catalogue=self._catalogue,
        )
        try:
            trainings = {
                file: desk.submit_plain(experiment, one)
                for file, one in zip(files, every, strict=True)
                if not file.exists()
            }
            for file, one in zip(files, every, strict=True):
                training = trainings.get(file)
                if training is not None:
                    training.ended.wait()
                    if training.state is not State.FINISHED:
                        raise RuntimeError(f"{experiment} with {one} has {training.state}: {training.reason}")
                    _keep(file, training.record, training.seconds)
                yield _read(file, one)
        finally:
            desk.close()


def _keep(file: Path, record: Record, seconds: float) -> None:
    whole = {"record": record.plain(), "seconds": seconds}
    part = file.with_suffix(".part")
    part.write_text(json.dumps(whole), encoding="utf-8")
    part.replace(file)


def _read(file: Path, settings: Mapping[str, JSON]) -> Done:
    kept = json.loads(file.read_text(encoding="utf-8"))
    return Done(Run(dict(settings), Record.from_plain(kept["record"])), kept["seconds"])


def digest(module: str) -> str:
    """Of the source of a module, and of every module of this project that it imports."""
    known: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = _file(name)
        if file is not None and name not in known:
            known[name] = file.read_bytes()
            waiting += _imported(ast.parse(known[name]))
    return _hash("".join(f"{name}\n{known[name].decode()}" for name in sorted(known)))


def _file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    candidates = [path.with_suffix(".py"), path / "__init__.py"]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def make(experiment: str, trainer: Trainer, folder: Path) -> None:
    """Run the whole comparison and write it."""
    every = [plain(settings) for settings in trainer.module(experiment).comparison()]
    done = []
    for one in trainer.run(experiment, every):
        done.append(one)
        print(f"{experiment}  {len(done)} of {len(every)}  {one.seconds:5.0f} s  {one.run.settings}", flush=True)
    made = Shipped(
        datetime.date.today().isoformat(),
        f"python tools/train_labs.py {experiment}",
        importlib.metadata.version("torch").partition("+")[0],
        round(sum(one.seconds for one in done), 1),
        tuple(one.run for one in done),
    )
    path = write(made, experiment, folder)
    print(f"{path}  {path.stat().st_size / 1024:.0f} KB, {made.seconds:.0f} s of training", flush=True)


def check(experiment: str, trainer: Trainer, folder: Path, *, everything: bool) -> bool:
    """Train again, and say how far every number lies from the shipped one; whether all are close enough."""
    ships = shipped(experiment, folder)
    default = plain(trainer.module(experiment).Settings())
    every = [run.settings for run in ships.runs] if everything else [default]
    good = True
    for one in trainer.run(experiment, every):
        print(f"{experiment}  {one.run.settings}")
        compared = compare(one.run.settings, one.run.record, ships.runs)
        for number in compared:
            if not number.exact:
                verdict = "within" if number.within else "OUTSIDE"
                values = f"shipped {number.shipped}, now {number.now}, spread {number.spread:.4g}"
                print(f"  {number.name}  {values}: {verdict}")
        same, within = sum(one.exact for one in compared), sum(one.within for one in compared)
        print(
            f"  {same} of {len(compared)} numbers are the same, {within} are the same or within the spread of the seeds"
        )
        good = good and within == len(compared)
    return good


def main(
    arguments: Sequence[str] | None = None, catalogue: Mapping[str, str] = EXPERIMENTS, folder: Path = FOLDER
) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="*", help=f"of {', '.join(catalogue)}; all if none is named")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once (1)")
    parser.add_argument("--keep", type=Path, default=KEPT, help=f"folder for what is done ({KEPT})")
    parser.add_argument(
        "--check", nargs="?", const="default", choices=["default", "all"], help="compare with what ships"
    )
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.experiments) - set(catalogue))
    if unknown:
        parser.error(f"experiments ({', '.join(unknown)}) must be of {', '.join(catalogue)}")
    if options.jobs < 1:
        parser.error(f"--jobs ({options.jobs}) must be at least 1")
    good = True
    for experiment in options.experiments or catalogue:
        if options.check is None:
            make(experiment, Trainer(options.jobs, options.keep, catalogue), folder)
        else:
            with tempfile.TemporaryDirectory() as fresh:  # what is kept would prove nothing
                trainer = Trainer(options.jobs, Path(fresh), catalogue)
                good = check(experiment, trainer, folder, everything=options.check == "all") and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
