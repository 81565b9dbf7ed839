"""Shapes of ids: regular expressions that can be matched in time linear in the token, whatever the token is."""

import re
from re import Pattern

__all__ = ["DEFAULT_SHAPE", "LONGEST_ID", "compile_shape"]

DEFAULT_SHAPE = r"(?:[A-Za-z]{1,5}[-_]?)?[0-9]{1,12}"
"""The shape of an id that declares none: up to five letters, perhaps a dash, and up to twelve digits."""

LONGEST_ID = 64

_QUANTIFIER = re.compile(r"[*+?]|\{[0-9]*,?[0-9]*\}")
_ONCE = re.compile(r"\?|\{[01](?:,1?)?\}")


def compile_shape(shape: str) -> Pattern[str]:
    r"""Compile the whole shape of an id.

    A group that repeats may hold no repetition and no choice, and look-around and back-references are refused; ids are
    cut at 64 characters, so that no shape makes reading slow. ``\d`` means the ten ASCII digits.

    Raises:
        ValueError: it is no regular expression, or not such a one; the message says why.
    """
    if len(shape) > 80:
        raise ValueError("a shape has 80 characters at most")
    try:
        pattern = re.compile(shape, re.ASCII)
    except re.error as error:
        raise ValueError(f"{shape!r} is no regular expression: {error}") from error
    _refuse_nested(shape)
    return pattern


def _refuse_nested(shape: str) -> None:
    at = 0
    groups: list[bool] = []  # for each open group: whether it holds a repetition or a choice
    while at < len(shape):
        character = shape[at]
        if character == "\\":
            if shape[at + 1 : at + 2] in tuple("123456789gk"):
                raise ValueError(f"{shape!r} has a back-reference; a shape may not")
            at += 2
        elif character == "[":
            at = _class_end(shape, at)
        elif character == "(":
            if shape.startswith("(?", at) and not shape.startswith("(?:", at):
                raise ValueError(f"{shape!r} has a group other than (...) or (?:...); a shape may not")
            groups.append(False)
            at += 3 if shape.startswith("(?:", at) else 1
        elif character == ")":
            at, quantifier = _quantified(shape, at + 1)
            inner = groups.pop()
            if inner and quantifier and not _ONCE.fullmatch(quantifier):
                raise ValueError(f"{shape!r} repeats a group that holds a repetition or a choice; write it without")
            if groups:
                groups[-1] = groups[-1] or inner or bool(quantifier)
        else:
            repeats = character == "|" or bool(_QUANTIFIER.match(shape, at))
            if groups and repeats:
                groups[-1] = True
            at += 1


def _quantified(shape: str, at: int) -> tuple[int, str]:
    found = _QUANTIFIER.match(shape, at)
    return (found.end(), found.group()) if found else (at, "")


def _class_end(shape: str, at: int) -> int:
    at += 2 if shape.startswith("[^", at) else 1
    if shape.startswith("]", at):
        at += 1
    while shape[at] != "]":
        at += 2 if shape[at] == "\\" else 1
    return at + 1
