"""The check before every call: allow, confirm or refuse (SPEC 3.1 to 3.3).

Pure, so that it runs in workflow code and says the same on every replay: no clock, no I/O, nothing random, no regular
expression over what a person or a model wrote, exact decimals. Every rule that concerns the tool is evaluated, the
worst verdict wins, and the hits keep file order, so that the same inputs give the same bytes. Whatever cannot be known
is taken on the strict side:

* a rule whose condition is unknown applies; a waiver of the confirmation does not;
* a fact holds only if the host gave ``True`` itself;
* what the record cannot tell refuses the call;
* a cap across sessions refuses until its ledger said that the room was taken.
"""

from collections.abc import Mapping
from decimal import Decimal

from ..contract.canonical import decimal_text
from ..contract.decision import Call, Decision, Hit
from ..contract.tool import ToolContract
from .amounts import exact_number, exact_sum
from .conditions import holds
from .record import Record
from .rules import (
    SEMANTICS,
    After,
    AtMost,
    Confirm,
    ConfirmAfter,
    Never,
    NotAfter,
    Requires,
    Rule,
    Rulebook,
    Unconfirmed,
)
from .verdict import argument_hits, decide, refusal

__all__ = ["UnknownSemantics", "check"]

_NOTHING_RESERVED: Mapping[str, bool] = {}
_PERIOD_WORDS = {
    "run": "run",
    "session": "session",
    "day": "day",
    "user_day": "user and day",
    "all_day": "day over all users",
}


class UnknownSemantics(Exception):  # noqa: N818 - it names the condition
    """The run was pinned to a meaning of the check that this release does not have (SPEC 3.5)."""


def check(
    rulebook: Rulebook,
    call: Call,
    *,
    tools: Mapping[str, ToolContract],
    facts: Mapping[str, object],
    record: Record,
    reserved: Mapping[str, bool] = _NOTHING_RESERVED,
) -> Decision:
    """Decide whether a call may be sent, must be confirmed by a person, or is refused.

    Args:
        rulebook: the rules pinned to the run.
        call: the call; its ``approved`` is the digest a person approved, and counts for exactly this call.
        tools: the tools of the call's agent, by name.
        facts: what the host knows; only the value ``True`` counts.
        record: the session so far, this call not included.
        reserved: by rule id, whether the ledger of a cap across sessions took the room for this call.

    Raises:
        UnknownSemantics: the rulebook asks for a meaning that this release does not have.
    """
    if rulebook.semantics != SEMANTICS:
        raise UnknownSemantics(f"the rulebook is written for check semantics {rulebook.semantics}, not {SEMANTICS}")
    contract = tools.get(call.tool)
    if contract is None:
        return decide(rulebook, call, [refusal("listed", f"{call.agent} has no tool {call.tool}")])
    hits = argument_hits(contract, call)
    if call.undoes is not None:
        hits.append(refusal("undo", "an undo is checked against the step it undoes"))
    waived = not rulebook.confirm_writes
    for rule in rulebook.of(call.tool):
        applies = True if rule.when is None else holds(rule.when, call.arguments, facts)
        if isinstance(rule, Unconfirmed):
            waived = waived or applies is True
        elif applies is not False:
            hits.extend(_hits_of(rule, call, facts, record, reserved))
    if contract.writes and not waived:
        hits.append(Hit(rule="writes", effect="confirm", why="a write is confirmed by a person"))
    return decide(rulebook, call, hits)


def _hits_of(
    rule: Rule, call: Call, facts: Mapping[str, object], record: Record, reserved: Mapping[str, bool]
) -> list[Hit]:
    match rule:
        case Requires():
            missing = [fact for fact in rule.facts if facts.get(fact) is not True]
            return _refused(rule, f"{call.tool} requires {_list(missing)}") if missing else []
        case Never():
            return _refused(rule, f"{call.tool} is never allowed{_given(rule)}")
        case Confirm():
            return _confirmed(rule, f"a person confirms {call.tool}{_given(rule)}")
        case After():
            missing = [tool for tool in rule.tools if not _has_run(rule, tool, call, record)]
            same = f" with the same {_list(rule.same)}" if rule.same else ""
            return _refused(rule, f"{call.tool} comes after {_list(missing)}{same}") if missing else []
        case NotAfter():
            sent = [tool for tool in rule.tools if record.was_sent(tool)]
            return _refused(rule, f"{call.tool} does not come after {_list(sent)}") if sent else []
        case ConfirmAfter():
            sent = [tool for tool in rule.tools if record.was_sent(tool)]
            return _confirmed(rule, f"a person confirms {call.tool} after {_list(sent)}") if sent else []
        case AtMost():
            why = _over_cap(rule, call, record, reserved)
            return _refused(rule, why) if why else []
        case Unconfirmed():
            return []


def _has_run(rule: After, tool: str, call: Call, record: Record) -> bool:
    if not rule.same:
        return record.has_run(tool)
    return record.has_run_with(tool, rule.same, call.arguments) is True


def _over_cap(rule: AtMost, call: Call, record: Record, reserved: Mapping[str, bool]) -> str:
    """Return why the call does not fit under the cap, or nothing."""
    period = _PERIOD_WORDS[rule.per]
    amount: Decimal | None = None
    if rule.total is not None:
        amount = exact_number(call.arguments.get(rule.total))
        if amount is None or amount < 0:
            return f"{rule.total} of {call.tool} has no amount that can be added up"
    if rule.per == "user_day" or rule.per == "all_day":  # noqa: PLR1714 - the form that narrows the type
        if reserved.get(rule.id) is True:
            return ""
        return f"the cap of {call.tool} per {period} has no room left, or could not be asked"
    if rule.calls is not None:
        calls = record.calls(call.tool, rule.per, run=call.run, day=call.day)
        if calls is None:
            return f"the record no longer counts the calls of {call.day}"
        if calls + 1 > rule.calls:
            return f"at most {rule.calls} of {call.tool} per {period}, {calls} so far"
    if amount is not None and rule.total is not None and rule.limit is not None:
        total = record.total(call.tool, rule.total, rule.per, run=call.run, day=call.day)
        if total is None:
            return f"the record cannot tell the total {rule.total} of {call.tool} per {period}"
        reached = exact_sum(total, amount)
        if reached > rule.limit:
            sums = f"would reach {decimal_text(reached)}, and {decimal_text(rule.limit)} is the most per {period}"
            return f"{rule.total} of {call.tool} {sums}"
    return ""


def _refused(rule: Rule, why: str) -> list[Hit]:
    return [Hit(rule=rule.id, effect="refuse", why=rule.say or why, origin=rule.origin)]


def _confirmed(rule: Rule, why: str) -> list[Hit]:
    return [Hit(rule=rule.id, effect="confirm", why=rule.say or why, origin=rule.origin)]


def _given(rule: Rule) -> str:
    return "" if rule.when is None else " with these arguments and facts"


def _list(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(names)
