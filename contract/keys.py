"""Idempotency keys: one per write and per undo, the same for every try (SPEC 5.1)."""

from collections.abc import Mapping

from pydantic import JsonValue

from .canonical import sha256

__all__ = ["idempotency_key"]


def idempotency_key(
    *,
    session: str,
    step: int,
    tool: str,
    arguments: Mapping[str, JsonValue],
    tenant: str | None = None,
    undo: bool = False,
) -> str:
    """Return the key a call carries: SHA-256 over tenant (if any), session, step, tool and canonical arguments.

    ``step`` is the session-wide step number, which never goes back, so that the same request made again later is
    another call, while a retry, a resumed run and a re-sent undo carry the key of their first try. An undo has the
    number of the step it undoes and is told apart by ``undo``.

    Raises:
        TypeError, ValueError: the arguments have no canonical form (see `canonical_json`).
    """
    said: dict[str, object] = {"session": session, "step": step, "tool": tool, "arguments": dict(arguments)}
    if tenant is not None:
        said["tenant"] = tenant
    if undo:
        said["undo"] = True
    return sha256(said)
