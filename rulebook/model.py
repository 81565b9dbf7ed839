"""What `verify` and the lints look at: agents, their tools, hand-offs and rules, as a loader fills it in (SPEC 10)."""

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from ..contract.model import Wire
from ..contract.reading import Language
from ..contract.tool import Origin, ToolContract
from .derived import Derived
from .rules import Rulebook

__all__ = ["AgentModel", "Collision", "System"]


class AgentModel(Wire):
    """One agent: the tools it may call, by name, and the agents it may hand over to.

    ``privilege`` is any number; a higher one may do more. A run begins at an agent with ``entry``.
    """

    name: str
    tools: tuple[str, ...] = ()
    hands_off_to: tuple[str, ...] = ()
    privilege: int = 0
    entry: bool = True
    origin: Origin = Origin()


class Collision(Wire):
    """What the selector found of one tool in one language: no turn says it, or its turn says another tool too."""

    tool: str
    language: Language
    problem: Literal["ambiguous", "unsayable"]
    others: tuple[str, ...] = ()
    detail: str = ""


class System(Derived):
    """An agent file as a whole.

    ``atomic`` is ``runs: atomic``. ``host_facts`` are the facts the host is known to give, or None when that is not
    known. ``collisions`` come from the selector, whose words this folder does not know.
    """

    agents: tuple[AgentModel, ...]
    tools: Mapping[str, ToolContract]
    rulebook: Rulebook = Rulebook()
    atomic: bool = True
    host_facts: tuple[str, ...] | None = None
    collisions: tuple[Collision, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, AgentModel]:
        """The agents by name."""
        return {agent.name: agent for agent in self.agents}

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The agents at which a run can enter."""
        return tuple(agent.name for agent in self.agents if agent.entry)

    @cached_property
    def _reach(self) -> Mapping[str, tuple[str, ...]]:
        return {agent.name: self._walk_from(agent.name) for agent in self.agents}

    @cached_property
    def _available(self) -> Mapping[str, frozenset[str]]:
        known = frozenset(self.tools)
        return {
            name: frozenset(tool for other in reached for tool in self.by_name[other].tools) & known
            for name, reached in self._reach.items()
        }

    def reach(self, agent: str) -> tuple[str, ...]:
        """The agents that a run can be at after entering at ``agent``, the nearest first, itself included."""
        return self._reach[agent]

    def available(self, agent: str) -> frozenset[str]:
        """The declared tools that a run entering at ``agent`` can come to call."""
        return self._available[agent]

    def _walk_from(self, start: str) -> tuple[str, ...]:
        found = [start]
        for name in found:
            for other in self.by_name[name].hands_off_to:
                if other in self.by_name and other not in found:
                    found.append(other)
        return tuple(found)
