"""Exact numbers: what an argument is worth, and sums that never round."""

from decimal import Context, Decimal, InvalidOperation

__all__ = ["exact_number", "exact_sum"]

# No amount needs more digits than this on either side of the point, and arithmetic must not cost what a text can claim.
_MOST_DIGITS = 64
_EXACT = Context(prec=3 * _MOST_DIGITS)


def exact_number(value: object) -> Decimal | None:
    """Return the number that a canonical text, an int or a Decimal stands for; None for anything else.

    A float is not taken: it has lost the digits a person wrote. Nor are booleans, NaN, infinities, texts with spaces or
    underscores, and numbers with more than 64 digits on either side of the point.
    """
    if type(value) is str:
        if len(value) > _MOST_DIGITS or not value.isascii() or "_" in value or value != value.strip():
            return None
        try:
            number = Decimal(value)
        except InvalidOperation:
            return None
        if "e" not in value and "E" not in value:  # so short a text without exponent is within the bounds
            return number if number.is_finite() else None
    elif type(value) is int:
        if value.bit_length() > 3 * _MOST_DIGITS:
            return None
        return Decimal(value)
    elif isinstance(value, Decimal):
        number = value
    else:
        return None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -_MOST_DIGITS or number.adjusted() >= _MOST_DIGITS:
        return None
    return number


def exact_sum(left: Decimal, right: Decimal) -> Decimal:
    """Add two numbers of `exact_number` without rounding, whatever the thread's decimal context says."""
    return _EXACT.add(left, right)
