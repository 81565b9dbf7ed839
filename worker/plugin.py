"""amends as a Temporal plugin: what any worker needs to serve runs, in one value (SPEC 12.5).

A team that has a worker of its own adds it there; our own worker is made of the same plugin and nothing else::

    Worker(client, task_queue="orders", workflows=[...], plugins=[AmendsPlugin(load_agent("agent.yaml"))])

The client's data converter must be `temporalio.contrib.pydantic.pydantic_data_converter`, or one made from it. The
plugin sets it where the client has the default one, and refuses any other that cannot write our models.
"""

import dataclasses
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import DataConverter, DefaultPayloadConverter
from temporalio.plugin import SimplePlugin
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from ..activities.call import tool_activity
from ..activities.caps import reserve_room, settle_room
from ..activities.fold import fold_record
from ..activities.follow import follow_run
from ..activities.loading import load_run
from ..activities.read import reading_activity
from ..contract.errors import AmendsError
from ..tools.loader import LoadedAgent
from ..tools.result_store import ResultStore
from ..tools.tool import Tool
from ..workflows.caps import CapsWorkflow
from ..workflows.page import PageWorkflow
from ..workflows.run import RunWorkflow
from ..workflows.session import SessionWorkflow
from ..workflows.unwind import UnwindWorkflow

__all__ = ["AmendsPlugin"]

THREADS = 1000
"""Tools that are not async run in threads. They are made when needed, and a call that was given up keeps its own until
it ends, so there must be more of them than a worker runs activities."""

_PASSED_THROUGH = (
    # Frozen models and pure functions, the same in every workflow: loading them once saves most of a run's start.
    "amends.contract",
    "amends.rulebook",
    "amends.workflows",
    # Its compiled half imports its own exceptions when it raises one, and ends the process where it may not.
    "cryptography",
)


class AmendsPlugin(SimplePlugin):
    """Adds the workflows of amends, and the activities of the given agents' tools, to a worker.

    Args:
        agents: what `load_agent` returned, one or more. Agents that share a worker share its tools by name.
        results: the folder that keeps results which are too large for a history; None cuts them and keeps nothing.

    Raises:
        AmendsError: two agents have different tools of one name.
    """

    def __init__(self, *agents: LoadedAgent, results: Path | None = None) -> None:
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="amends-tool")
        tools = {tool.contract.name: tool for agent in agents for tool in _distinct(agents, agent)}
        store = ResultStore(results) if results else None
        served = frozenset(agent.name for agent in agents)
        super().__init__(
            "amends.Plugin",
            data_converter=_converter,
            workflows=[SessionWorkflow, RunWorkflow, UnwindWorkflow, PageWorkflow, CapsWorkflow],
            activities=[
                *(tool_activity(tool, self._threads, served, store) for tool in tools.values()),
                reading_activity({agent.name: agent for agent in agents}),
                follow_run,
                load_run,
                fold_record,
                reserve_room,
                settle_room,
            ],
            workflow_runner=_sandboxed,
        )


def _distinct(agents: Sequence[LoadedAgent], agent: LoadedAgent) -> list[Tool]:
    for other in agents:
        for name in agent.tools.keys() & other.tools.keys():
            if agent.tools[name].contract.digest != other.tools[name].contract.digest:
                raise AmendsError(
                    f"agents {other.name!r} and {agent.name!r} have different tools named {name!r}; "
                    "rename one, or give each agent a worker and a task queue of its own"
                )
    return list(agent.tools.values())


def _converter(existing: DataConverter | None) -> DataConverter:
    if existing is None or existing.payload_converter_class is DefaultPayloadConverter:
        return dataclasses.replace(existing or DataConverter.default, payload_converter_class=PydanticPayloadConverter)
    if issubclass(existing.payload_converter_class, PydanticPayloadConverter):
        return existing
    raise AmendsError(
        f"the client's payload converter is {existing.payload_converter_class.__name__}, which cannot write the models "
        "of amends; make it a subclass of temporalio.contrib.pydantic.PydanticPayloadConverter"
    )


def _sandboxed(existing: WorkflowRunner | None) -> WorkflowRunner:
    if isinstance(existing, SandboxedWorkflowRunner):
        return dataclasses.replace(
            existing, restrictions=existing.restrictions.with_passthrough_modules(*_PASSED_THROUGH)
        )
    return existing or SandboxedWorkflowRunner()
