"""How hits become a decision, and what exactly a person approves (SPEC 3.1)."""

import hashlib
from collections.abc import Mapping, Sequence

from ..contract.canonical import canonical_json, sha256
from ..contract.decision import Call, Decision, Hit, Verdict
from ..contract.tool import ToolContract
from .rules import Rulebook

__all__ = ["argument_hits", "call_digest", "decide", "refusal"]

_SEVERITY: Mapping[Verdict, int] = {"allow": 0, "confirm": 1, "refuse": 2}


def call_digest(rulebook: Rulebook, call: Call) -> str:
    """SHA-256 over tool, canonical arguments, step, the step it undoes, and the rulebook: what a person approves.

    Raises:
        TypeError, ValueError: the arguments have no canonical form.
    """
    # The canonical JSON of an object of these five keys, written at once: a digest is half the cost of a check.
    text = (
        f'{{"arguments":{canonical_json(call.arguments)},"rulebook":"{rulebook.hash}","step":{call.step},'
        f'"tool":{canonical_json(call.tool)},"undoes":{"null" if call.undoes is None else call.undoes}}}'
    )
    return hashlib.sha256(text.encode()).hexdigest()


def decide(rulebook: Rulebook, call: Call, hits: Sequence[Hit]) -> Decision:
    """Make the decision of some hits. The worst is the verdict; an approval of this very call lifts a confirm."""
    try:
        digest = call_digest(rulebook, call)
    except (TypeError, ValueError) as error:
        # Nobody can approve what has no one spelling. The digest still tells the refused step apart from others.
        hits = [*hits, refusal("arguments", f"the arguments of {call.tool} have no exact form: {error}")]
        digest = sha256({"tool": call.tool, "step": call.step, "rulebook": rulebook.hash, "unreadable": True})
    verdict: Verdict = "allow"
    for hit in hits:
        if _SEVERITY[hit.effect] > _SEVERITY[verdict]:
            verdict = hit.effect
    if verdict == "confirm" and call.approved == digest:
        verdict = "allow"
    return Decision(
        verdict=verdict, hits=tuple(hits), rulebook=rulebook.hash, semantics=rulebook.semantics, digest=digest
    )


def argument_hits(contract: ToolContract, call: Call) -> list[Hit]:
    """Refuse each argument that the tool does not have."""
    known = [parameter.name for parameter in contract.parameters]
    return [refusal("arguments", f"{call.tool} has no argument {name}") for name in call.arguments if name not in known]


def refusal(rule: str, why: str) -> Hit:
    """A hit of the check itself, which no file states."""
    return Hit(rule=rule, effect="refuse", why=why)
