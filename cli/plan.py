"""``amends plan``: how a turn would be read, checked, asked and undone; no server, nothing is run (SPEC 2.5)."""

from collections.abc import Iterator
from pathlib import Path

import click
from rich.text import Text

from ..contract.reading import Language
from ..contract.wording import value_text
from ..tools.loader import load_agent
from ..tools.preview import NotRead, Preview, PreviewCall, UndoPreview, preview
from .exits import Exit
from .options import agent_options, as_json_option, context_option, language_option
from .terminal import document, say, styled, visible

__all__ = ["command"]

_LANGUAGES: dict[Language, str] = {"en": "English", "pt-BR": "Brazilian Portuguese"}


@click.command()
@click.argument("turn")
@agent_options
@language_option
@context_option
@click.option(
    "--detailed-exitcode", is_flag=True, help="Exit with 20 where the turn reads and would write, instead of 0."
)
@as_json_option
def command(
    *,
    turn: str,
    file: Path,
    name: str | None,
    language: Language | None,
    context: dict[str, object],
    detailed_exitcode: bool,
    as_json: bool,
) -> Exit:
    """Show how TURN would be read, checked, asked and undone. Nothing is run, and no server is needed.

    Exits with 12 where the turn is not read.
    """
    found = preview(load_agent(file, agent=name, context=context), turn, language)
    if as_json:
        left_out = {"unread"} if found.read else {"lexicon", "calls", "refused_at", "undone", "not_undoable"}
        document("amends.plan/1", found.model_dump(mode="json", exclude=left_out))
    else:
        for line in _unread(found.unread, turn) if found.unread else _read(found):
            say(line)
    if not found.read:
        return Exit.UNREAD
    return Exit.WRITES if detailed_exitcode and found.writes else Exit.DONE


def _unread(unread: NotRead, turn: str) -> Iterator[Text | str]:
    yield styled(("Not read", "bold"), f" ({unread.code}): {unread.sentence}")
    yield ""
    if turn.isprintable():
        yield f"  {turn}"
        yield f"  {' ' * unread.start}{'^' * max(1, unread.end - unread.start)}"
    else:
        yield f"  {visible(turn)}"


def _read(found: Preview) -> Iterator[Text | str]:
    count = "1 call" if len(found.calls) == 1 else f"{len(found.calls)} calls"
    yield f"Read as {_LANGUAGES[found.language]}: {count}, nothing left over."
    for call in found.calls:
        yield ""
        yield styled(f"{call.position}  ", (call.tool, "bold"))
        yield from (f"     {line}" for line in _call(call))
    yield ""
    yield from _ends(found)
    yield "Nothing was run."


def _call(call: PreviewCall) -> Iterator[str]:
    width = max(map(len, call.arguments), default=0)
    for name, value in call.arguments.items():
        yield f"{name.ljust(width)}  {visible(value_text(value))}"
    for hit in call.hits:
        place = f" ({hit.origin})" if hit.origin.file else ""
        if hit.effect == "refuse":
            yield f"Refused by {hit.rule}: {hit.why}{place}"
        elif hit.effect == "confirm" and hit.origin.file:
            yield f"Asked because of {hit.rule}: {hit.why}{place}"
    yield from call.warnings
    if call.question:
        yield f"Asks you: {call.question}"
    if call.undo is not None:
        yield f"Undone by {_undo(call.undo, call.position)}."


def _undo(undo: UndoPreview, position: int) -> str:
    said = (f"{name} = {_argument(value_text(value), position)}" for name, value in undo.arguments.items())
    return f"{undo.tool}({', '.join(said)})"


def _argument(text: str, position: int) -> str:
    return f"what step {position} returns" if text.startswith("$result") else visible(text)


def _ends(found: Preview) -> Iterator[str]:
    """Say where the run would stop, or else what the failure of its last call would undo and leave."""
    last = found.refused_at or len(found.calls)
    tools = {call.position: call.tool for call in found.calls}
    undone = [tools[position] for position in found.undone if position < last]
    stay = [tools[position] for position in found.not_undoable if position < last]
    if found.refused_at is not None:
        yield f"The run stops at step {found.refused_at}, which is refused.{_what_then(undone, stay)}"
    elif undone or stay:
        yield f"If step {last} fails:{_what_then(undone, stay)}"


def _what_then(undone: list[str], stay: list[str]) -> str:
    parts = []
    if undone:
        parts.append(f" {', then '.join(undone)} {'is' if len(undone) == 1 else 'are'} undone.")
    if stay:
        parts.append(f" {', '.join(stay)} {'stays' if len(stay) == 1 else 'stay'}.")
    return "".join(parts)
