"""Routes: runs that the rules let through, decided over a finite model and shown by a witness (SPEC 10.2).

``Route(a, x, y)`` asks whether some facts, some arguments and some run entering at agent ``a``, with its hand-offs,
call ``x`` and later ``y`` without the check refusing a step. It is decided in four steps, each of which can only deny a
route that does not exist:

1. what the goals need, by unconditional ``after`` rules, is closed, and must be within reach of the agents;
2. the first calls of all that, and the goals, must have an order (`ordering`); ``y`` may also be a later call;
3. some facts, and for each call some arguments, must meet what the rules demand of it (`facts`, `options`);
4. the goals must lie on a walk along the hand-offs.

So "no route" is a proof over the model. A route may still not exist, because rules that order calls only under a
condition are left out. Therefore its witness is run through the check itself: it is `certain` if no step is refused.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ..contract.decision import Call
from ..contract.record import CallEvent
from ..contract.tool import Origin
from .check import check
from .demands import demands_of, demands_unconfirmed
from .effects import After, AtMost, Confirm, ConfirmAfter, Never, Requires, Unconfirmed
from .facts import Answer, find_facts
from .finding import Certainty, RouteStep
from .model import System
from .options import Option, options_of, plain_value
from .ordering import Cycle, Orders, Slot
from .record import Record

__all__ = ["Path", "Router", "Witness"]

_DAY = "2026-01-01"
_RUN = "route"


class Path(NamedTuple):
    """A route that the model lets through: where it enters, its goals, and the calls in order."""

    agent: str
    goals: tuple[Slot, ...]
    order: tuple[Slot, ...]
    answer: Answer
    unconfirmed: str
    """The tool among the goals that nobody is asked about; empty when that does not matter."""


class Witness(NamedTuple):
    """A route as a run: its calls with arguments, the facts that hold, and whether the check lets it through."""

    steps: tuple[RouteStep, ...]
    facts: tuple[str, ...]
    certainty: Certainty
    rules: tuple[Origin, ...]


class Router:
    """Answers questions about the routes of one system."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._rules = {tool: system.rulebook.of(tool) for tool in system.tools}
        self.orders = Orders(self._rules)
        self._options: dict[tuple[str, str, bool], list[Option]] = {}

    def find(self, agent: str, *goals: str, unconfirmed: str = "") -> Path | None:
        """Return a route from an agent through one goal, or two in this order; None is a proof that there is none.

        Args:
            agent: where the run enters.
            goals: one or two tools; twice the same asks for two calls of it.
            unconfirmed: a goal that must run without a person being asked.
        """
        needed = frozenset[str]().union(*(self.orders.needs(goal) for goal in goals))
        if not needed <= self._system.available(agent) or not self._on_a_walk(agent, goals):
            return None
        for slots in self._ways(goals):
            barred = {unconfirmed: self._confirmed_after(unconfirmed)} if unconfirmed else None
            order = self.orders.arrange(needed, goals=slots, extra=barred)
            if isinstance(order, Cycle):
                continue
            quiet = next((slot for slot in reversed(slots) if slot.tool == unconfirmed), None)
            answer = find_facts([self.options(agent, slot.tool, unconfirmed=slot == quiet) for slot in order])
            if answer is not None:
                return Path(agent, slots, order, answer, unconfirmed)
        return None

    def options(self, agent: str, tool: str, *, unconfirmed: bool = False) -> list[Option]:
        """Return the choices of arguments with which no rule refuses a call, and what each demands of the facts."""
        key = (agent, tool, unconfirmed)
        if key not in self._options:
            available = self._system.available(agent)
            rules = self._rules[tool]
            demands = demands_of(rules, can_run=lambda other: self.orders.needs(other) <= available)
            if unconfirmed:
                book = self._system.rulebook
                demands += demands_unconfirmed(rules, tool=self._system.tools[tool], confirm_writes=book.confirm_writes)
            self._options[key] = options_of(self._system.tools[tool], demands)
        return self._options[key]

    def witness(self, path: Path) -> Witness:
        """Make a run of a path, and try it on the check."""
        agents = self._agents_along(path)
        steps = tuple(
            RouteStep(agent=agent, tool=slot.tool, arguments=self._arguments(slot.tool, option))
            for slot, agent, option in zip(path.order, agents, path.answer.taken, strict=True)
        )
        facts = tuple(sorted(fact for fact, holds in path.answer.facts.items() if holds))
        return Witness(steps, facts, self._try(path, steps, facts), self._origins(path))

    def _ways(self, goals: Sequence[str]) -> list[tuple[Slot, ...]]:
        """Which calls the goals may be: first ones, or the last goal a later one."""
        if len(goals) == 1:
            return [(Slot(goals[0]),)]
        first, last = goals
        ways: list[tuple[Slot, ...]] = [] if first == last else [(Slot(first), Slot(last))]
        if self.orders.may_repeat(last):
            ways.append((Slot(first), Slot(last, again=True)))
        return ways

    def _on_a_walk(self, agent: str, goals: Sequence[str]) -> bool:
        places = {agent}
        for goal in goals:
            reached = {other for place in places for other in self._system.reach(place)}
            places = {other for other in reached if goal in self._system.by_name[other].tools}
        return bool(places)

    def _confirmed_after(self, tool: str) -> frozenset[str]:
        plain = [rule for rule in self._rules[tool] if isinstance(rule, ConfirmAfter) and rule.when is None]
        return frozenset(other for rule in plain for other in rule.tools)

    def _agents_along(self, path: Path) -> list[str]:
        """Choose an agent for each call, by walking along the hand-offs; where no walk fits, any that has the tool."""
        came_from: list[dict[str, str]] = []
        places = [path.agent]
        for slot in path.order:
            here: dict[str, str] = {}
            for place in places:
                for other in self._system.reach(place):
                    if slot.tool in self._system.by_name[other].tools:
                        here.setdefault(other, place)
            if not here:
                return [self._anyone(path.agent, each.tool) for each in path.order]
            came_from.append(here)
            places = list(here)
        chosen = [places[0]]
        for here in reversed(came_from[1:]):
            chosen.append(here[chosen[-1]])
        return chosen[::-1]

    def _anyone(self, agent: str, tool: str) -> str:
        return next(other for other in self._system.reach(agent) if tool in self._system.by_name[other].tools)

    def _arguments(self, tool: str, option: Option) -> dict[str, object]:
        parameters = self._system.tools[tool].parameters
        return {p.name: option.arguments.get(p.name, plain_value(p)) for p in parameters}

    def _try(self, path: Path, steps: Sequence[RouteStep], facts: Sequence[str]) -> Certainty:
        book = self._system.rulebook
        record = Record(rulebook=book)
        room = {rule.id: True for rule in book.rules}
        quiet = next((slot for slot in reversed(path.goals) if slot.tool == path.unconfirmed), None)
        if not path.answer.is_sure or not self._is_walk(path.agent, steps):
            return "possible"
        for number, (slot, step) in enumerate(zip(path.order, steps, strict=True), 1):
            own = self._system.by_name[step.agent].tools
            decision = check(
                book,
                Call(agent=step.agent, tool=step.tool, arguments=step.arguments, run=_RUN, step=number, day=_DAY),
                tools={name: self._system.tools[name] for name in own if name in self._system.tools},
                facts=dict.fromkeys(facts, True),
                record=record,
                reserved=room,
            )
            if decision.verdict == "refuse" or (slot == quiet and decision.verdict != "allow"):
                return "possible"
            record.note(
                CallEvent(step=number, run=_RUN, day=_DAY, tool=step.tool, arguments=step.arguments, outcome="ran")
            )
        return "certain"

    def _is_walk(self, agent: str, steps: Sequence[RouteStep]) -> bool:
        places = [agent, *(step.agent for step in steps)]
        return all(later in self._system.reach(earlier) for earlier, later in pairwise(places))

    def _origins(self, path: Path) -> tuple[Origin, ...]:
        used = (After, AtMost, Confirm, Never, Requires, Unconfirmed)
        tools = dict.fromkeys(slot.tool for slot in path.order)
        found = [rule.origin for tool in tools for rule in self._rules[tool] if isinstance(rule, used)]
        return tuple(dict.fromkeys(origin for origin in found if origin.file))
