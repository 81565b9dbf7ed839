"""Whether some facts let every call of a route through: unit propagation, and splitting where that does not decide."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .conditions import AllOf, AnyOf, Condition, FactHolds, Not
from .options import Option

__all__ = ["Answer", "find_facts"]

_MOST_SPLITS = 2_000


class Answer(NamedTuple):
    """Facts that do, and for each call the option taken. ``is_sure`` False: the search was given up, so it may be."""

    facts: Mapping[str, bool]
    taken: tuple[Option, ...]
    is_sure: bool = True


def find_facts(calls: Sequence[Sequence[Option]]) -> Answer | None:
    """Return facts under which each call has an option that holds; None when there are none."""
    if not all(calls):
        return None
    return _Search(calls).solve({})


class _Search:
    def __init__(self, calls: Sequence[Sequence[Option]]) -> None:
        self._calls = calls
        self._splits = 0

    def solve(self, facts: dict[str, bool]) -> Answer | None:
        open_fact = self._propagate(facts)
        if open_fact is None:
            return None
        if open_fact == "":
            taken = tuple(next(option for option in call if _met(option, facts)) for call in self._calls)
            return Answer(facts, taken)
        self._splits += 1
        if self._splits > _MOST_SPLITS:
            return Answer(facts, tuple(call[0] for call in self._calls), is_sure=False)
        return self.solve({**facts, open_fact: True}) or self.solve({**facts, open_fact: False})

    def _propagate(self, facts: dict[str, bool]) -> str | None:
        """Add what the calls force to ``facts``. Return a fact to split on, "" when all is met, None on a conflict."""
        while True:
            before = len(facts)
            open_fact = ""
            for call in self._calls:
                if any(_met(option, facts) for option in call):
                    continue
                left = [option for option in call if not _broken(option, facts)]
                if not left:
                    return None
                if len(left) == 1:
                    for demand in left[0].demands:
                        _force(demand, facts, wanted=True)
                open_fact = open_fact or _unknown_in(left[0], facts)
            if len(facts) == before:
                return open_fact


def _holds(condition: Condition, facts: Mapping[str, bool]) -> bool | None:
    match condition:
        case FactHolds(fact=fact):
            return facts.get(fact)
        case Not(part=part):
            inner = _holds(part, facts)
            return None if inner is None else not inner
        case AllOf(parts=parts):
            known = [_holds(part, facts) for part in parts]
            return False if False in known else None if None in known else True
        case AnyOf(parts=parts):
            known = [_holds(part, facts) for part in parts]
            return True if True in known else None if None in known else False
        case _:
            raise TypeError(f"{condition} is no demand on facts")


def _met(option: Option, facts: Mapping[str, bool]) -> bool:
    return all(_holds(demand, facts) is True for demand in option.demands)


def _broken(option: Option, facts: Mapping[str, bool]) -> bool:
    return any(_holds(demand, facts) is False for demand in option.demands)


def _force(condition: Condition, facts: dict[str, bool], *, wanted: bool) -> None:
    """Set the facts without which a condition cannot come out as wanted. A conflict shows when the facts are tried."""
    match condition:
        case FactHolds(fact=fact):
            facts.setdefault(fact, wanted)
        case Not(part=part):
            _force(part, facts, wanted=not wanted)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            every = isinstance(condition, AllOf) is wanted
            left = parts if every else [part for part in parts if _holds(part, facts) is not (not wanted)]
            if every or len(left) == 1:
                for part in left:
                    _force(part, facts, wanted=wanted)
        case _:
            raise TypeError(f"{condition} is no demand on facts")


def _unknown_in(option: Option, facts: Mapping[str, bool]) -> str:
    for demand in option.demands:
        if _holds(demand, facts) is None:
            return _first_unknown(demand, facts)
    return ""


def _first_unknown(condition: Condition, facts: Mapping[str, bool]) -> str:
    match condition:
        case FactHolds(fact=fact):
            return "" if fact in facts else fact
        case Not(part=part):
            return _first_unknown(part, facts)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return next(filter(None, (_first_unknown(part, facts) for part in parts)), "")
        case _:
            raise TypeError(f"{condition} is no demand on facts")
