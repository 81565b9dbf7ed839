"""Replaying a recorded history with this release's workflows, and comparing everything they do (SPEC 13.4).

A history that replays without a difference belongs to a run that this release may take over in the middle::

    history = WorkflowHistory.from_json("run-1", Path("run-1.json").read_text())
    assert await replay(history) == ()
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest

from pydantic import JsonValue, TypeAdapter, ValidationError
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_commands import WorkflowCommand
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import WorkflowHistory
from temporalio.plugin import SimplePlugin
from temporalio.worker import Replayer, WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner
from temporalio.workflow import _Definition

from ..contract.names import ANSWER_UPDATE, RUN_WORKFLOW, SESSION_WORKFLOW, SUBMIT_UPDATE
from ..contract.outcome import ToolRequest
from ..contract.question import Answered
from ..contract.run import RunInput, RunView
from ..contract.session import SessionState, Submitted
from ..worker.plugin import AmendsPlugin
from .deeds import Deed, commanded, recorded

__all__ = ["replay"]

_MODELS: Mapping[tuple[str, str], type] = {
    ("child workflow", RUN_WORKFLOW): RunInput,
    ("end: completed", RUN_WORKFLOW): RunView,
    ("end: continued as new", SESSION_WORKFLOW): SessionState,
    ("update", SUBMIT_UPDATE): Submitted,
    ("update", ANSWER_UPDATE): Answered,
}
"""What the payloads of a deed are, by its kind and what it is of. Every activity takes a `ToolRequest`."""

_STREAMS = ("commands", "updates", "local activities")


async def replay(history: WorkflowHistory) -> tuple[str, ...]:
    """Replay a history of a session or a run, and return every difference in words; empty when there is none.

    Compared are the order of what the workflow does, and of each activity, timer, child workflow, search attribute,
    update and end everything that was recorded. A field that this release has and the recorded one had not is no
    difference as long as it has its default. A history that was not ended may be continued by the replay.

    No agent is needed: the contracts and the rulebook a run was started with stand in its history.
    """
    witness = _Witness()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="amends-replay") as thread:
        replayer = Replayer(
            workflows=[],
            workflow_task_executor=thread,
            plugins=[AmendsPlugin(), SimplePlugin("amends.Witness", workflow_runner=witness.beside)],
        )
        result = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    broken = (f"the replay broke off: {result.replay_failure}",) if result.replay_failure else ()
    return (*broken, *witness.failures, *_compare(history, witness))


class _Witness:
    """Sees every command that a replayed workflow gives."""

    def __init__(self) -> None:
        self.batches: list[Sequence[WorkflowCommand]] = []
        self.updates: dict[str, str] = {}
        self.failures: list[str] = []

    def beside(self, runner: WorkflowRunner | None) -> WorkflowRunner:
        if runner is None:
            raise AssertionError("the plugin of amends gives a runner")
        return _WatchedRunner(runner, self)

    def see(self, activation: WorkflowActivation, completion: WorkflowActivationCompletion) -> None:
        for job in activation.jobs:
            if job.HasField("do_update"):
                self.updates[job.do_update.protocol_instance_id] = job.do_update.name
        if completion.HasField("failed"):
            self.failures.append(f"the workflow broke: {completion.failed.failure.message}")
        self.batches.append(tuple(completion.successful.commands))


class _WatchedRunner(WorkflowRunner):
    """Runs workflows as another runner does, in the witness's sight."""

    def __init__(self, runner: WorkflowRunner, witness: _Witness) -> None:
        self._runner = runner
        self._witness = witness

    def prepare_workflow(self, defn: _Definition) -> None:
        self._runner.prepare_workflow(defn)

    def set_worker_level_failure_exception_types(self, types: Sequence[type[BaseException]]) -> None:
        self._runner.set_worker_level_failure_exception_types(types)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        instance = self._runner.create_instance(det)
        activate = instance.activate

        def watched(act: WorkflowActivation) -> WorkflowActivationCompletion:
            completion = activate(act)
            # Before the SDK encodes it: what is compared is what the workflow said, whatever the codec makes of it.
            self._witness.see(act, completion)
            return completion

        instance.activate = watched  # type: ignore[method-assign]
        return instance


# Comparing


def _compare(history: WorkflowHistory, witness: _Witness) -> Iterator[str]:
    workflow = history.events[0].workflow_execution_started_event_attributes.workflow_type.name
    before = list(recorded(history.events))
    after = list(_until_the_end(commanded(witness.batches, workflow, witness.updates)))
    ended = any(map(_is_end, before))
    for stream in _STREAMS:
        pairs = zip_longest(_of(stream, before), _of(stream, after))
        for number, (old, new) in enumerate(pairs, 1):
            if old is None and new is not None:
                if ended:
                    yield f"{new}, number {number} of the {stream}, is new"
            elif old is not None and (new is None or (old.kind, old.name) != (new.kind, new.name)):
                yield f"{old}, number {number} of the {stream}, is gone" + (f"; in its place is {new}" if new else "")
                break
            elif old is not None and new is not None:
                yield from _fields(old, new)


def _of(stream: str, deeds: Sequence[Deed]) -> Iterator[Deed]:
    return (deed for deed in deeds if deed.stream == stream)


def _until_the_end(deeds: Iterator[Deed]) -> Iterator[Deed]:
    """Leave out what is commanded behind the end: Temporal does not do it."""
    for deed in deeds:
        yield deed
        if _is_end(deed):
            return


def _is_end(deed: Deed) -> bool:
    return deed.kind.startswith("end: ")


def _fields(old: Deed, new: Deed) -> Iterator[str]:
    model = ToolRequest if old.kind == "activity" else _MODELS.get((old.kind, old.of))
    for name, value in old.fields.items():
        if name not in new.fields:
            yield f"{old}: {name} is gone"
        else:
            filled = _filled(value, model) if name in ("arguments", "result") else value
            yield from _differences(f"{old}: {name}", value, new.fields[name], filled)
    for name in new.fields.keys() - old.fields.keys():
        yield f"{old}: {name} is new"


def _filled(recorded_value: JsonValue, model: type | None) -> JsonValue:
    """Return recorded payloads as this release reads them: with the fields it added, at their defaults."""
    if model is None:
        return recorded_value
    payloads = TypeAdapter(list[model])  # type: ignore[valid-type]
    try:
        filled: JsonValue = payloads.dump_python(payloads.validate_python(recorded_value), mode="json")
    except ValidationError:
        return recorded_value
    return filled


def _differences(place: str, old: JsonValue, new: JsonValue, filled: JsonValue) -> Iterator[str]:
    """Tell where ``new`` is not ``old``; what ``old`` lacks may be there if it is as in ``filled``."""
    if isinstance(old, dict) and isinstance(new, dict):
        defaults = filled if isinstance(filled, dict) else {}
        for name, value in old.items():
            if name in new:
                yield from _differences(f"{place}.{name}", value, new[name], defaults.get(name))
            else:
                yield f"{place}.{name} is gone; it was {value!r}"
        for name in new.keys() - old.keys():
            if name not in defaults or defaults[name] != new[name]:
                yield f"{place}.{name} is new, and {new[name]!r} is not its default"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        defaulted = filled if isinstance(filled, list) and len(filled) == len(old) else [None] * len(old)
        for index, (one, other, default) in enumerate(zip(old, new, defaulted, strict=True)):
            yield from _differences(f"{place}[{index}]", one, other, default)
    elif old != new or type(old) is not type(new):
        yield f"{place} was {old!r} and is {new!r}"
