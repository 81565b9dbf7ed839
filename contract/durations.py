"""Lengths of time as people write them in files and on command lines: ``90d``, ``8h``, ``30m``, ``45s``."""

import re
from datetime import timedelta

__all__ = ["read_duration"]

_WRITTEN = re.compile(r"([1-9]\d{0,5})(d|h|m|s)", re.ASCII)
_UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1), "s": timedelta(seconds=1)}


def read_duration(said: str) -> timedelta:
    """Return the length of time that ``said`` stands for: a whole number and its unit, ``d``, ``h``, ``m`` or ``s``.

    Raises:
        ValueError: it is none.
    """
    read = _WRITTEN.fullmatch(said)
    if read is None:
        raise ValueError(f"{said!r} is no length of time such as 90d, 8h, 30m or 45s")
    return int(read[1]) * _UNITS[read[2]]
