"""In what order calls must come: what a call needs before it, and whether those needs fit together.

Only unconditional rules count here, so that no route is missed: a condition may always turn out not to hold.
"""

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from .effects import After, AtMost, NotAfter, Rule

__all__ = ["Cycle", "Orders", "Slot"]


class Slot(NamedTuple):
    """A call in a route: the first of a tool, or a later one (``again``)."""

    tool: str
    again: bool = False

    def __str__(self) -> str:
        return f"{self.tool} (again)" if self.again else self.tool


class Cycle(NamedTuple):
    """Calls that would each have to come before the next, and the last before the first."""

    slots: tuple[Slot, ...]


class Orders:
    """The unconditional order rules of some tools.

    Args:
        rules: for each tool, the rules that concern it.
    """

    def __init__(self, rules: Mapping[str, Iterable[Rule]]) -> None:
        self._after: dict[str, tuple[str, ...]] = {}
        self._not_after: dict[str, frozenset[str]] = {}
        self._once: set[str] = set()
        self._needs: dict[str, frozenset[str]] = {}
        for tool, concerned in rules.items():
            plain = [rule for rule in concerned if rule.when is None]
            self._after[tool] = tuple(other for rule in plain if isinstance(rule, After) for other in rule.tools)
            self._not_after[tool] = frozenset(
                other for rule in plain if isinstance(rule, NotAfter) for other in rule.tools
            )
            few = any(isinstance(rule, AtMost) and rule.calls is not None and rule.calls < 2 for rule in plain)
            if few or tool in self._not_after[tool]:
                self._once.add(tool)

    def needs(self, tool: str) -> frozenset[str]:
        """Return the tool and every tool that must have run before it."""
        if tool not in self._needs:
            found = [tool]
            for one in found:
                found.extend(other for other in self._after.get(one, ()) if other not in found)
            self._needs[tool] = frozenset(found)
        return self._needs[tool]

    def may_repeat(self, tool: str) -> bool:
        """Whether no unconditional rule keeps a tool to one call."""
        return tool not in self._once

    def arrange(
        self, tools: Iterable[str], *, goals: tuple[Slot, ...] = (), extra: Mapping[str, frozenset[str]] | None = None
    ) -> tuple[Slot, ...] | Cycle:
        """Return an order of the first calls of these tools, and of the goals, that no unconditional rule refuses.

        Args:
            tools: must be closed under `needs`.
            goals: calls that must come in this order; at most the last of them is a later call.
            extra: more tools that must not come before a tool, as `NotAfter` says.
        """
        slots = {Slot(tool) for tool in tools} | set(goals)
        edges: dict[Slot, set[Slot]] = {slot: set() for slot in slots}
        for slot in slots:
            for other in self._after.get(slot.tool, ()):
                if Slot(other) == slot:
                    edges[slot].add(slot)
                else:
                    edges[Slot(other)].add(slot)
            barred = self._not_after.get(slot.tool, frozenset()) | (extra or {}).get(slot.tool, frozenset())
            for other in barred:
                if other != slot.tool and Slot(other) in slots:
                    edges[slot].add(Slot(other))
            if slot.again:
                edges[Slot(slot.tool)].add(slot)
        for earlier, later in pairwise(goals):
            edges[earlier].add(later)
        return _sorted(edges)


def _sorted(edges: Mapping[Slot, set[Slot]]) -> tuple[Slot, ...] | Cycle:
    waiting = dict.fromkeys(edges, 0)
    for targets in edges.values():
        for target in targets:
            waiting[target] += 1
    ready = [slot for slot, count in waiting.items() if not count]
    heapify(ready)
    order: list[Slot] = []
    while ready:
        slot = heappop(ready)
        order.append(slot)
        for target in edges[slot]:
            waiting[target] -= 1
            if not waiting[target]:
                heappush(ready, target)
    if len(order) == len(edges):
        return tuple(order)
    return _cycle({slot: targets for slot, targets in edges.items() if slot not in set(order)})


def _cycle(edges: Mapping[Slot, set[Slot]]) -> Cycle:
    """Find a shortest cycle among slots that could not be sorted."""
    best: list[Slot] = []
    for start in sorted(edges):
        paths = [[start]]
        seen = {start}
        for path in paths:
            if best and len(path) >= len(best):
                break
            for target in sorted(edges[path[-1]] & edges.keys()):
                if target == start:
                    best = path
                    break
                if target not in seen:
                    seen.add(target)
                    paths.append([*path, target])
            if best is path:
                break
    return Cycle(tuple(best))
