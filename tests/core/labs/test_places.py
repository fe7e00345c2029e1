"""How many trainings a server may run: what its owner says, or one for each core."""

import os
from pathlib import Path

import pytest

from core.labs.places import cores, places


@pytest.mark.parametrize(("said", "number"), [("0", 0), ("3", 3), (" 12 ", 12), ("-1", 0), ("two", 0), ("1.5", 0)])
def test_what_the_owner_says(said: str, number: int) -> None:
    assert places({"ATLAS_TRAININGS": said}) == number


@pytest.mark.parametrize("environment", [{}, {"ATLAS_TRAININGS": ""}, {"ATLAS_TRAININGS": " "}])
def test_else_one_for_each_core(environment: dict[str, str]) -> None:
    assert places(environment) == cores() >= 1


@pytest.mark.parametrize(
    ("quota", "number"),
    [("200000 100000", 2), ("250000 100000", 2), ("50000 100000", 1), ("max 100000", None), ("", None), ("x y", None)],
)
def test_a_container_is_allowed_less_than_the_machine_has(
    quota: str, number: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    assert cores(file) == (number or 8)


def test_a_quota_above_the_machine_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    file = tmp_path / "cpu.max"
    file.write_text("400000 100000")
    assert cores(file) == 1


def test_without_a_file(tmp_path: Path) -> None:
    assert cores(tmp_path / "none") >= 1
