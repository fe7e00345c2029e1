"""The address that Share tells, where Streamlit tells a wrong one."""

import pytest

from pages.components.address import mended

NAMES = ["", "heads", "rope", "learning_heads"]


@pytest.mark.parametrize(
    ("told", "right"),
    [
        ("http://host/learning_/learning_heads", "http://host/learning_heads"),
        ("https://host/base/learning_/learning_heads", "https://host/base/learning_heads"),
        ("http://host/learning_heads", "http://host/learning_heads"),
        ("http://host/heads/heads", "http://host/heads/heads"),
        ("http://host/rope", "http://host/rope"),
        ("http://host", "http://host"),
        ("", ""),
    ],
)
def test_what_another_page_left_over_is_taken_away(told: str, right: str) -> None:
    assert mended(told, NAMES) == right
