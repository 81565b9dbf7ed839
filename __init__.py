"""amends: durable, confirmed, undoable tool calls for AI agents and plain sentences, on Temporal.

The public names are loaded on first use (PEP 562): importing any part of the package runs this file, inside
Temporal's workflow sandbox too, so it must import nothing by itself.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client.agent import AsyncAgent as AsyncAgent
    from .client.blocking import Agent as Agent
    from .contract.errors import AmendsError as AmendsError
    from .contract.errors import CondemnedRunError as CondemnedRunError
    from .contract.errors import Conflict as Conflict
    from .contract.errors import NotAllowed as NotAllowed
    from .contract.errors import NotSent as NotSent
    from .contract.errors import OutcomeUnknown as OutcomeUnknown
    from .contract.errors import Refused as Refused
    from .contract.errors import Unchanged as Unchanged
    from .contract.errors import Unreachable as Unreachable
    from .contract.question import Question as Question
    from .contract.reply import Reply as Reply
    from .contract.tool import Kind as Kind
    from .tools.context import ToolContext as ToolContext
    from .tools.declaration import Undo as Undo
    from .tools.decorator import tool as tool
    from .tools.loader import load_agent as load_agent
    from .worker.plugin import AmendsPlugin as AmendsPlugin

__version__ = "0.1.0"

_HOMES = {
    "Agent": "client.blocking",
    "AmendsError": "contract.errors",
    "AmendsPlugin": "worker.plugin",
    "AsyncAgent": "client.agent",
    "CondemnedRunError": "contract.errors",
    "Conflict": "contract.errors",
    "Kind": "contract.tool",
    "NotAllowed": "contract.errors",
    "NotSent": "contract.errors",
    "OutcomeUnknown": "contract.errors",
    "Question": "contract.question",
    "Refused": "contract.errors",
    "Reply": "contract.reply",
    "ToolContext": "tools.context",
    "Unchanged": "contract.errors",
    "Undo": "tools.declaration",
    "Unreachable": "contract.errors",
    "load_agent": "tools.loader",
    "tool": "tools.decorator",
}

__all__ = [
    "Agent",
    "AmendsError",
    "AmendsPlugin",
    "AsyncAgent",
    "CondemnedRunError",
    "Conflict",
    "Kind",
    "NotAllowed",
    "NotSent",
    "OutcomeUnknown",
    "Question",
    "Refused",
    "Reply",
    "ToolContext",
    "Unchanged",
    "Undo",
    "Unreachable",
    "__version__",
    "load_agent",
    "tool",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
