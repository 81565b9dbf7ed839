"""Errors as a person reads them, and as programs do: problem+json (RFC 9457), one line on stderr."""

import json
import sys

from ..contract.errors import AmendsError, CallerError
from ..contract.mistakes import FileMistake, FileMistakes
from ..worker.settings import BadSetting
from .terminal import note, styled

__all__ = ["problem", "tell"]


def problem(error: AmendsError) -> dict[str, object]:
    """Return the problem of an error: ``code`` for programs, ``detail`` in words, and the ids it is about."""
    said: dict[str, object] = {
        "type": f"about:blank#{error.code}",
        "title": error.code.replace("_", " "),
        "status": error.status if isinstance(error, CallerError) else 422,
        "detail": error.message if isinstance(error, CallerError) else str(error),
        "code": error.code,
    }
    if isinstance(error, CallerError):
        facts = {"hint": error.hint, "run_id": error.run_id, "question_id": error.question_id}
        said |= {name: fact for name, fact in facts.items() if fact}
    if isinstance(error, FileMistakes):
        said["errors"] = [_mistake(mistake) for mistake in error.mistakes]
    if isinstance(error, BadSetting):
        said |= {"place": error.place, "value": error.value}
    return said


def tell(error: AmendsError, *, as_json: bool) -> None:
    """Say an error on stderr."""
    if as_json:
        sys.stderr.write(json.dumps(problem(error), ensure_ascii=False) + "\n")
        return
    lines = [str(mistake) for mistake in error.mistakes] if isinstance(error, FileMistakes) else [str(error)]
    for line in lines:
        note(styled(("error: ", "bold red"), line))


def _mistake(mistake: FileMistake) -> dict[str, object]:
    return {"file": mistake.file, "line": mistake.line, "detail": mistake.message, "near": list(mistake.near)}
