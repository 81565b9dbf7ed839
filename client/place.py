"""Where an agent's runs live: a connected Temporal client and the queue its workers poll."""

from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client

__all__ = ["Place"]


@dataclass(frozen=True)
class Place:
    """A connection in use.

    ``attributes`` says whether the server knows our search attributes; ``ui_url`` is the address of Temporal's web UI,
    where it is known; ``results`` the folder of results that are too large for a history, where there is one.
    """

    client: Client
    address: str
    task_queue: str
    attributes: bool
    ui_url: str | None = None
    results: Path | None = None
