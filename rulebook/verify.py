"""`amends verify`: every finding about an agent file, before anything runs (SPEC 10.2)."""

from collections.abc import Mapping
from typing import NamedTuple

from .find_exposure import find_exposure
from .find_names import find_names
from .find_order import find_order
from .find_recovery import find_recovery
from .finding import Finding
from .lints import lint, not_said_by
from .model import System
from .routes import Router

__all__ = ["CODES", "Verdict", "verify"]

CODES: Mapping[str, str] = {
    "QG013": "an irreversible step can come unwarned before steps that would be undone",
    "QG101": "a write can run without a person",
    "QG102": "a tool can never run",
    "QG103": "an order rule is out of reach",
    "QG104": "a cap contradicts or says nothing",
    "QG105": "a write says nothing of its undo",
    "QG106": "an undo is out of reach",
    "QG107": "an undo is not well bound",
    "QG108": "undos return to where they began",
    "QG109": "a rollback can stick",
    "QG110": "an undo can be called on its own",
    "QG111": "a hand-off raises privilege",
    "QG112": "outside text reaches an outlet",
    "QG113": "a name is unknown",
    "QG114": "a rule has no effect",
    "QG115": "the selector cannot tell a tool apart",
}


class Verdict(NamedTuple):
    """What verify says: its findings, and the lints that none of them says already."""

    findings: tuple[Finding, ...]
    lints: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no finding is an error."""
        return all(finding.severity != "error" for finding in self.findings)

    @property
    def exit_code(self) -> int:
        """0 when it passed, 1 when not; a file that cannot be read is 2, and never comes this far."""
        return 0 if self.passed else 1


def verify(system: System) -> Verdict:
    """Return every finding about a system, sorted by code, agent and tool.

    That a code is not among them is a proof over the model of `routes`: for the codes about routes, no run that the
    check lets through shows it.
    """
    router = Router(system)
    found = [
        *find_names(system),
        *find_order(system, router),
        *find_recovery(system, router),
        *find_exposure(system, router),
    ]
    findings = tuple(sorted(found, key=lambda one: (one.code, one.agent, one.tool, one.message)))
    lints = lint(system.agents, system.tools, rulebook=system.rulebook)
    return Verdict(findings, not_said_by(lints, findings))
