"""The rulebook an agent file names (SPEC 3.3)."""

from collections.abc import Mapping
from pathlib import Path

from ..contract.mistakes import FileMistake, nearest
from ..contract.tool import Origin, ToolContract
from ..rulebook.rules import Rulebook

__all__ = ["load_rulebook"]


def load_rulebook(path: Path | None, contracts: Mapping[str, ToolContract], *, origin: Origin) -> Rulebook:
    """Return the rules of an agent: those of its rule file, and those its tools' own words make.

    This release reads no rules yet, so a rule file may hold comments only: what it does not read it refuses, because
    a rule that was not read would be a rule that never refuses.

    Args:
        path: the rule file, or None when the agent file names none.
        contracts: the contracts of the agent's tools, by name.
        origin: where the agent file names the rule file.

    Raises:
        FileMistake: there is no such file, or it holds a rule.
    """
    for contract in contracts.values():
        words = {"after": contract.after, "not_after": contract.not_after, "at_most": contract.at_most is not None}
        for word, said in words.items():
            if said:
                raise FileMistake(
                    f"{contract.name}: this release does not hold to {word}; take it away", contract.origin
                )
    if path is None:
        return Rulebook()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        beside = path.parent.iterdir() if path.parent.is_dir() else ()
        near = nearest(path.name, (file.name for file in beside))
        why = "there is no such file" if isinstance(error, FileNotFoundError) else f"it cannot be read ({error})"
        raise FileMistake(f"rulebook {str(path)!r}: {why}", origin, near) from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            at = Origin(file=str(path), line=number)
            raise FileMistake(f"this release reads no rules, and this is one: {line.strip()!r}; take it away", at)
    return Rulebook()
