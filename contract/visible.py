"""Text that came from outside, shown so that nothing in it is hidden (SPEC 4.2)."""

__all__ = ["visible"]

_OPEN, _CLOSE = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"


def visible(text: str) -> str:
    """Show every character: one that cannot be seen, or reorders its neighbours, by its code; spaces at the ends as ·.

    Nothing is left out, so that what a person approves is what will be sent.
    """
    shown = "".join(each if each.isprintable() else f"{_OPEN}U+{ord(each):04X}{_CLOSE}" for each in text)
    body = shown.strip(" ")
    ahead = len(shown) - len(shown.lstrip(" ")) if body else len(shown)
    return "·" * ahead + body + "·" * (len(shown) - ahead - len(body))
