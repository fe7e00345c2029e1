"""What is commonly told about Transformers, put to the test: one module per page.

A claim is judged in two steps. A measurement turns what the models did into a few numbers; a verdict is a pure function
of those numbers. Every threshold is a named parameter of its function, with the reason for it in the docstring.
"""

from enum import StrEnum


class Verdict(StrEnum):
    """What a measurement says about a claim."""

    HOLDS = "holds"
    ONLY_IF = "only_if"  # true under a condition that the claim does not mention, or usually but not always
    DOES_NOT_HOLD = "does_not_hold"
    UNDECIDED = "undecided"  # not measured yet, or too noisy to say
