"""What a worker can be told: a flag wins over an ``AMENDS_`` variable, a variable over the default.

Each setting has one name in three spellings: the field ``max_activities`` is the flag ``--max-activities`` and the
variable ``AMENDS_MAX_ACTIVITIES``. Where each value came from is kept, because "why does it wait 5 minutes" is
answered by the place that says so.
"""

import dataclasses
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError

from ..contract.errors import AmendsError
from ..contract.model import Stated

__all__ = ["BadSetting", "WorkerSettings"]

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:]+\]|[\w.-]*):(\d{1,5})", re.ASCII)


@dataclasses.dataclass(eq=False)
class BadSetting(AmendsError):  # noqa: N818 - named for what it is, as the other errors are
    """A setting that cannot be; found before anything was started.

    Attributes:
        place: the flag or the variable that says it.
        value: what it says.
        allowed: what it may say.
    """

    code = "bad_setting"
    place: str
    value: str
    allowed: str

    def __str__(self) -> str:
        return f"{self.place} = {self.value!r}: {self.allowed}"


def _duration(said: object) -> object:
    """``30s``, ``1.5m``, ``500ms``, ``2h`` or a number of seconds."""
    if isinstance(said, timedelta):
        return said
    read = _DURATION.fullmatch(str(said).strip())
    if read is None:
        raise ValueError(said)
    return timedelta(seconds=float(read[1]) * _SECONDS[read[2] or "s"])


def _address(said: object) -> object:
    """``host:port``; with no host, loopback: a worker does not open itself to a network that nobody named."""
    read = _ADDRESS.fullmatch(str(said).strip())
    if read is None or not 0 < int(read[2]) < 65536:
        raise ValueError(said)
    return f"{read[1] or '127.0.0.1'}:{read[2]}"


_Name = Annotated[str, StringConstraints(pattern=r"^\S{1,200}$")]
_Duration = Annotated[timedelta, BeforeValidator(_duration), Field(ge=timedelta(0), le=timedelta(hours=24))]
_Address = Annotated[str, BeforeValidator(_address)]

_ALLOWED = {
    "task_queue": "a task queue's name, at most 200 characters without spaces",
    "max_activities": "a whole number from 1 to 10000",
    "drain": "a time such as 30s, 2m or 1h, at most 24h",
    "sticky": "a time such as 1s or 500ms, at most 24h",
    "deployment": "a deployment's name without spaces, together with a build id",
    "build_id": "a build's id without spaces, together with a deployment",
    "results": "a folder",
    "metrics": "host:port, or :port for this machine alone",
}


class WorkerSettings(Stated):
    """How one worker runs.

    Attributes:
        task_queue: the task queue; None for the agent's own (``contract.names.default_task_queue``).
        max_activities: tool calls at a time.
        drain: how long a worker that was told to stop lets calls finish. Longer than the slowest write, or that
            write is cut off and its outcome is a question to a person; a pod's grace time must be longer still.
        sticky: how long Temporal waits for the worker that has a run in its cache before it asks another; about what
            a killed worker's runs lose.
        deployment: for versioned workers, the deployment's name. Off when unset: a new version serves nothing until
            an operator makes it current.
        build_id: for versioned workers, which build this is.
        results: the folder that keeps results which are too large for a history; every worker of an agent needs the
            same one. Unset, such a result is cut to what its undo needs; the embedded server has a folder for them.
        metrics: where to serve Prometheus metrics, ``host:port``; off when unset.
        sources: for each setting, the flag or variable that gave it, or ``default``.
    """

    task_queue: _Name | None = None
    max_activities: Annotated[int, Field(ge=1, le=10_000)] = 100
    drain: _Duration = timedelta(seconds=30)
    sticky: _Duration = timedelta(seconds=1)
    deployment: _Name | None = None
    build_id: _Name | None = None
    results: Path | None = None
    metrics: _Address | None = None
    sources: Mapping[str, str] = Field(default_factory=dict)

    def keeping_results(self, folder: Path | None) -> Self:
        """Return the same settings, with the embedded server's state folder for large results where none is set."""
        if self.results is not None or folder is None:
            return self
        return self.model_copy(update={"results": folder / "results"})

    @classmethod
    def resolve(cls, flags: Mapping[str, object], environment: Mapping[str, str]) -> Self:
        """Settles every setting.

        Args:
            flags: settings of the command line by field name; None is not given.
            environment: the process's environment. An empty variable is not given.

        Raises:
            BadSetting: the first setting that cannot be.
        """
        said: dict[str, object] = {}
        sources: dict[str, str] = {}
        for name in _ALLOWED:
            variable = f"AMENDS_{name.upper()}"
            if flags.get(name) is not None:
                said[name], sources[name] = flags[name], f"--{name.replace('_', '-')}"
            elif environment.get(variable):
                said[name], sources[name] = environment[variable], variable
            else:
                sources[name] = "default"
        try:
            settled = cls.model_validate({**said, "sources": sources})
        except ValidationError as invalid:
            name = str(invalid.errors()[0]["loc"][0])
            raise BadSetting(sources[name], str(said[name]), _ALLOWED[name]) from None
        for one, other in (("deployment", "build_id"), ("build_id", "deployment")):
            if one in said and other not in said:
                raise BadSetting(sources[one], str(said[one]), _ALLOWED[one])
        return settled
