"""What each rule says of a call, made ready once, because a check must take microseconds (SPEC 13.6).

A ruling takes the call, the facts, the record and what a ledger reserved, and gives a hit or nothing. What a hit says
is fixed wherever it does not depend on the call, so that such hits are made once too.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias, cast

from ..contract.canonical import decimal_text
from ..contract.decision import Call, Hit, Verdict
from .amounts import exact_number, exact_sum
from .conditions import Test, test_of
from .effects import After, AtMost, Confirm, ConfirmAfter, Never, NotAfter, Requires, Rule, Unconfirmed

if TYPE_CHECKING:
    from .record import Record, Window

__all__ = ["Ruling", "ruling_of", "waiver_of"]

Facts: TypeAlias = Mapping[str, object]
Reserved: TypeAlias = Mapping[str, bool]
Ruling: TypeAlias = Callable[[Call, Facts, "Record", Reserved], Hit | None]

_SHARED = ("user_day", "all_day")
_PERIOD_WORDS = {
    "run": "run",
    "session": "session",
    "day": "day",
    "user_day": "user and day",
    "all_day": "day over all users",
}


def ruling_of(rule: Rule) -> Ruling:
    """Make the ruling of a rule. Under a condition that does not hold it says nothing; unknown counts as holding."""
    ruling = _effect_of(rule)
    if rule.when is None:
        return ruling
    test = test_of(rule.when)

    def conditional(call: Call, facts: Facts, record: "Record", reserved: Reserved) -> Hit | None:
        return None if test(call.arguments, facts) is False else ruling(call, facts, record, reserved)

    return conditional


def waiver_of(rule: Unconfirmed) -> Test:
    """Make the test of a waiver. Only what is known to hold waives anything."""
    return test_of(rule.when) if rule.when is not None else lambda _arguments, _facts: True


def _effect_of(rule: Rule) -> Ruling:
    match rule:
        case Requires():
            return _requires(rule)
        case Never():
            return _always(rule, "refuse", "{tool} is never allowed")
        case Confirm():
            return _always(rule, "confirm", "a person confirms {tool}")
        case After():
            return _after(rule)
        case NotAfter():
            return _once_sent(rule, rule.tools, "refuse", "{tool} does not come after {sent}")
        case ConfirmAfter():
            return _once_sent(rule, rule.tools, "confirm", "a person confirms {tool} after {sent}")
        case AtMost():
            return _at_most(rule)
        case Unconfirmed():
            raise TypeError("a waiver has no ruling; it is a test of its own")


def _hit(rule: Rule, effect: Verdict, why: str) -> Hit:
    return Hit(rule=rule.id, effect=effect, why=rule.say or why, origin=rule.origin)


def _always(rule: Rule, effect: Verdict, why: str) -> Ruling:
    suffix = " with these arguments and facts" if rule.when is not None else ""
    hits = {tool: _hit(rule, effect, why.format(tool=tool) + suffix) for tool in rule.actions}

    def always(call: Call, _facts: Facts, _record: "Record", _reserved: Reserved) -> Hit:
        return hits.get(call.tool) or _hit(rule, effect, why.format(tool=call.tool) + suffix)

    return always


def _requires(rule: Requires) -> Ruling:
    needed = rule.facts

    def requires(call: Call, facts: Facts, _record: "Record", _reserved: Reserved) -> Hit | None:
        for fact in needed:
            if facts.get(fact) is not True:
                missing = [each for each in needed if facts.get(each) is not True]
                return _hit(rule, "refuse", f"{call.tool} requires {_list(missing)}")
        return None

    return requires


def _after(rule: After) -> Ruling:
    tools, same = rule.tools, rule.same
    suffix = f" with the same {_list(same)}" if same else ""

    def ran(tool: str, call: Call, record: "Record") -> bool:
        return (record.has_run_with(tool, same, call.arguments) if same else record.has_run(tool)) is True

    def after(call: Call, _facts: Facts, record: "Record", _reserved: Reserved) -> Hit | None:
        for tool in tools:
            if same and not record.keeps_values(tool, same):
                return _unknown(rule, _not_kept(tool, _list(same)))
            if not ran(tool, call, record):
                missing = [each for each in tools if not ran(each, call, record)]
                return _hit(rule, "refuse", f"{call.tool} comes after {_list(missing)}{suffix}")
        return None

    return after


def _once_sent(rule: Rule, tools: Sequence[str], effect: Verdict, why: str) -> Ruling:
    def once_sent(call: Call, _facts: Facts, record: "Record", _reserved: Reserved) -> Hit | None:
        sent = [tool for tool in tools if record.was_sent(tool)]
        return _hit(rule, effect, why.format(tool=call.tool, sent=_list(sent))) if sent else None

    return once_sent


def _at_most(rule: AtMost) -> Ruling:
    if rule.per in _SHARED:
        return _shared_cap(rule)
    argument, calls, limit, period = rule.total, rule.calls, rule.limit, _PERIOD_WORDS[rule.per]
    window = cast("Window", rule.per)

    def at_most(call: Call, _facts: Facts, record: "Record", _reserved: Reserved) -> Hit | None:
        if calls is not None:
            before = record.calls(call.tool, window, run=call.run, day=call.day)
            if before is None:
                return _unknown(rule, f"the record no longer counts the calls of {call.day}")
            if before >= calls:
                return _hit(rule, "refuse", f"at most {calls} of {call.tool} per {period}, {before} so far")
        if argument is None or limit is None:
            return None
        amount = _amount(call, argument)
        if amount is None:
            return _unknown(rule, _no_amount(call, argument))
        total = record.total(call.tool, argument, window, run=call.run, day=call.day)
        if total is None:
            return _unknown(rule, _why_no_total(record, call.tool, argument, period))
        reached = exact_sum(total, amount)
        if reached <= limit:
            return None
        sums = f"would reach {decimal_text(reached)}, and {decimal_text(limit)} is the most per {period}"
        return _hit(rule, "refuse", f"{argument} of {call.tool} {sums}")

    return at_most


def _shared_cap(rule: AtMost) -> Ruling:
    argument, period = rule.total, _PERIOD_WORDS[rule.per]

    def shared_cap(call: Call, _facts: Facts, _record: "Record", reserved: Reserved) -> Hit | None:
        if argument is not None and _amount(call, argument) is None:
            return _unknown(rule, _no_amount(call, argument))
        answer = reserved.get(rule.id)
        if answer is None:
            return _unknown(rule, f"nobody could say whether the cap of {call.tool} per {period} has room left")
        return None if answer else _hit(rule, "refuse", f"the cap of {call.tool} per {period} has no room left")

    return shared_cap


def _amount(call: Call, argument: str) -> Decimal | None:
    """The amount a call adds to a total; None for one that cannot be added up, a negative one included."""
    amount = exact_number(call.arguments.get(argument))
    return None if amount is None or amount < 0 else amount


def _no_amount(call: Call, argument: str) -> str:
    return f"{argument} of {call.tool} has no amount that can be added up"


def _why_no_total(record: "Record", tool: str, argument: str, period: str) -> str:
    if not record.keeps_total(tool, argument):
        return _not_kept(tool, argument)
    return f"the total {argument} of {tool} per {period} is unknown: an earlier call had no amount, or the day is past"


def _not_kept(tool: str, what: str) -> str:
    return (
        f"nobody kept the {what} of the calls of {tool} so far: this rule is newer, and not all of their runs can be "
        "read any more. Take the rule back, or terminate the session's workflow: the next turn begins a new session"
    )


def _unknown(rule: Rule, why: str) -> Hit:
    """A refusal because something cannot be known, which the rule's own words would not say."""
    return Hit(rule=rule.id, effect="refuse", why=why, origin=rule.origin)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
