"""A finding that is shown by a route."""

from typing import TypedDict, Unpack

from ..contract.tool import Origin
from .finding import Finding, Severity
from .routes import Path, Router

__all__ = ["routed"]


class _Said(TypedDict):
    code: str
    severity: Severity
    message: str
    fix: str
    agent: str
    tool: str
    origin: Origin


def routed(router: Router, path: Path, **said: Unpack[_Said]) -> Finding:
    """Make a finding with the witness of its route."""
    witness = router.witness(path)
    return Finding(**said, route=witness.steps, facts=witness.facts, certainty=witness.certainty, rules=witness.rules)
