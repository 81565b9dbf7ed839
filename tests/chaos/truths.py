"""Holding a run's one reply against the witness: what it says and what is there, and nothing else."""

import re
from collections import Counter

from amends.testing.witness import Witness

__all__ = ["untruths"]

_UNDONE = re.compile(r"Undone, latest first: (.*?\))\.")
_LEFT = re.compile(r"Not undoable, and left as they are: ([^.]*)\.")
_REMAINING = re.compile(r"Still to be undone by hand: ([^.]*)\.")
_DONE = re.compile(r"^Done: ([^.]*)\.")


def untruths(text: str, witness: Witness, run: str, *, reads: frozenset[str]) -> list[str]:
    """Return, in words, everything in which the reply of a run that is over and the world differ.

    What the reply says was undone must have been there and be gone; what it says is done, is left or remains must be
    there; and nothing else of the run may be there. ``reads`` are the tools that leave nothing.
    """
    undone = Counter(name.split(" (", 1)[0] for name in re.findall(r"\w+ \([^)]*\)", _said(_UNDONE, text)))
    here = Counter(_names(_LEFT, text)) + Counter(_names(_REMAINING, text)) + Counter(_names(_DONE, text))
    for read in reads:
        del here[read]
    standing = {effect.id for effect in witness.standing(run)}
    writes = [effect for effect in witness.effects(run) if effect.undoes is None]
    is_here = Counter(effect.tool for effect in writes if effect.id in standing)
    is_gone = Counter(effect.tool for effect in writes if effect.id not in standing)
    wrong = [f"it says {tool} is there {times} times, which it is not" for tool, times in (here - is_here).items()]
    wrong += [f"{tool} is there {times} times, and it does not say so" for tool, times in (is_here - here).items()]
    wrong += [f"it says {tool} was undone, which it was not" for tool in undone - is_gone]
    wrong += [f"{tool} was undone, and it does not say so" for tool in is_gone - undone]
    return wrong


def _said(sentence: re.Pattern[str], text: str) -> str:
    found = sentence.search(text)
    return found[1] if found else ""


def _names(sentence: re.Pattern[str], text: str) -> list[str]:
    return [name for name in _said(sentence, text).split(", ") if name]
