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

from ..contract.decision import Call, Decision, Hit
from ..contract.tool import ToolContract
from .conditions import Test
from .effects import Confirm, ConfirmAfter
from .record import Record
from .rules import SEMANTICS, Rulebook
from .verdict import argument_hits, decide, refusal

__all__ = ["UnknownSemantics", "check", "may_ask"]

_NOTHING_RESERVED: Mapping[str, bool] = {}
_WRITE_CONFIRMED = Hit(rule="writes", effect="confirm", why="a write is confirmed by a person")


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
    rulings, waivers = rulebook.ready(call.tool)
    for ruling in rulings:
        hit = ruling(call, facts, record, reserved)
        if hit is not None:
            hits.append(hit)
    if contract.writes and rulebook.confirm_writes and not _waived(waivers, call, facts):
        hits.append(_WRITE_CONFIRMED)
    return decide(rulebook, call, hits)


def may_ask(rulebook: Rulebook, contract: ToolContract) -> bool:
    """Whether a person may come to be asked about a call of a tool: it writes, or a rule confirms it."""
    return contract.writes or any(isinstance(rule, Confirm | ConfirmAfter) for rule in rulebook.of(contract.name))


def _waived(waivers: tuple[Test, ...], call: Call, facts: Mapping[str, object]) -> bool:
    return any(test(call.arguments, facts) is True for test in waivers)
