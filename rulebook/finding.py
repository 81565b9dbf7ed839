"""What verify and the lints say: one finding, with its route, its place and the way out."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from ..contract.model import Wire
from ..contract.tool import Origin

__all__ = ["Certainty", "Finding", "RouteStep", "Severity"]

Severity = Literal["error", "warning", "note"]

Certainty = Literal["certain", "possible"]
"""`certain`: the route was run through the check itself, which refused no step. `possible`: it refused one."""


class RouteStep(Wire):
    """One call of a route, and the agent that makes it."""

    agent: str
    tool: str
    arguments: Mapping[str, JsonValue] = {}


class Finding(Wire):
    """One thing to look at.

    ``code`` is a QG code, or the name of a registration lint. ``route`` is a run that shows it, with the ``facts`` the
    host must give. ``origin`` is where the tool, rule or agent it is about is declared, ``rules`` where the rules on
    the route are written. ``fix`` is one line.
    """

    code: str
    severity: Severity
    message: str
    fix: str = ""
    agent: str = ""
    tool: str = ""
    route: tuple[RouteStep, ...] = ()
    facts: tuple[str, ...] = ()
    certainty: Certainty | None = None
    origin: Origin = Origin()
    rules: tuple[Origin, ...] = ()
