"""Numbers as people read them."""


def percent(share: float) -> str:
    """A share of 1; what is not quite nothing or everything does not look so.

    >>> [percent(share) for share in (0, 0.0004, 0.5, 0.9996, 1)]
    ['0%', '<1%', '50%', '>99%', '100%']
    """
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def signed(number: float, digits: int) -> str:
    """With a real minus sign.

    >>> signed(-0.09, 3)
    '−0.090'
    """
    return f"{number:.{digits}f}".replace("-", "−")


def in_latex(number: float, digits: int) -> str:
    """With so many digits at most, and powers of ten as formulas write them.

    >>> [in_latex(number, 2) for number in (0, 0.25, 1.5e-14)]
    ['0', '0.25', '1.5 \\\\cdot 10^{-14}']
    """
    mantissa, _, exponent = f"{number:.{digits}g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa
