"""How the GQA page writes numbers and ways of sharing."""

from core.gqa_costs import NumberType
from core.gqa_presets import HeadSharing

PREFIXES = ("", "k", "M", "G", "T", "P")


def amount(number: float, unit: str = "") -> str:
    """Three digits and a decimal prefix.

    >>> amount(1_073_741_824, "B")
    '1.07 GB'
    """
    mantissa, exponent = f"{number:.2e}".split("e")
    step = max(0, min(int(exponent) // 3, len(PREFIXES) - 1))
    shift = int(exponent) - 3 * step
    decimals = 0 if step == 0 else max(0, 2 - shift)
    return f"{float(f'{mantissa}e{shift}'):,.{decimals}f} {PREFIXES[step]}{unit}".strip()


def sharing(num_heads: int, num_kv_heads: int) -> str:
    """What such a way of sharing is called."""
    if num_kv_heads == num_heads:
        return HeadSharing.MHA.value
    return HeadSharing.MQA.value if num_kv_heads == 1 else HeadSharing.GQA.value


def row_name(num_heads: int, num_kv_heads: int | None) -> str:
    """A row of the table of costs."""
    if num_kv_heads is None:
        return HeadSharing.MLA.value
    called = sharing(num_heads, num_kv_heads)
    return str(num_kv_heads) if called == HeadSharing.GQA else f"{num_kv_heads} · {called}"


NUMBER_TYPES = {number.value: number.value for number in NumberType}
