"""amends: durable, confirmed, undoable tool calls for AI agents and plain sentences, on Temporal.

The public names are loaded on first use (PEP 562): importing any part of the package runs this file, inside
Temporal's workflow sandbox too, so it must import nothing by itself.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .contract.errors import NotSent as NotSent
    from .contract.errors import OutcomeUnknown as OutcomeUnknown
    from .contract.errors import Refused as Refused
    from .contract.tool import Kind as Kind
    from .tools.context import ToolContext as ToolContext
    from .tools.declaration import Undo as Undo
    from .tools.decorator import tool as tool

__version__ = "0.1.0"

_HOMES = {
    "Kind": "contract.tool",
    "NotSent": "contract.errors",
    "OutcomeUnknown": "contract.errors",
    "Refused": "contract.errors",
    "ToolContext": "tools.context",
    "Undo": "tools.declaration",
    "tool": "tools.decorator",
}

__all__ = ["Kind", "NotSent", "OutcomeUnknown", "Refused", "ToolContext", "Undo", "__version__", "tool"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
