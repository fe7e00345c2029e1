"""What a training tells travels as lines, and comes back as it was."""

import math

import pytest

from core.labs.events import Event, Found, Step, from_line, to_line

STEP = Step("causal", 3, 1.25, 640, 7, 20)


@pytest.mark.parametrize(
    "event",
    [
        STEP,
        Found("causal", "honest_loss", 1.5),
        Found("", "curve", [[1, 2.5], [None, True]]),
        Found("两", "text", 'a line\nbreak, "quotes" and 两'),
        Found("a", "both", {"x": [1], "y": {}}),
    ],
)
def test_there_and_back(event: Event) -> None:
    line = to_line(event)
    assert "\n" not in line
    assert line.isascii()
    assert from_line(line) == event


def test_a_line_by_hand() -> None:
    written = '{"event":"step","curve":"causal","step":3,"loss":1.25,"tokens":640,"done":7,"total":20}'
    assert to_line(STEP) == written


@pytest.mark.parametrize("value", [math.nan, math.inf, [1.0, -math.inf]])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        to_line(Found("a", "b", value))


@pytest.mark.parametrize(
    "line", ["", "nonsense", "[1]", "{}", '{"event":"stop"}', '{"event":"found","curve":"a"}', "3"]
)
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"line \(.*\) must be an event"):
        from_line(line)
