"""Loading a vocabulary file: every mistake in it by file and line, before any turn is read (SPEC 1.4, 2.1).

The words are checked first. When they are right, the file is compiled and tried: every example must read to exactly its
calls, every counter-example must stay unread, and each tool's canonical turn must read to that tool alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue, ValidationError

from ..contract.mistakes import FileMistake, FileMistakes
from ..contract.reading import Reading, Unread
from ..contract.stated_mistakes import stated_mistakes
from ..contract.tool import ToolContract
from ..contract.yaml12 import Places, YamlValue, load_yaml
from .collisions import collisions_of
from .compiled import Selector, compile_selector, written_call
from .language import load_language
from .vocabulary_checks import VocabularyChecks
from .vocabulary_model import Example, Vocabulary

__all__ = ["Vocabulary", "VocabularyFile", "load_vocabulary", "read_vocabulary"]


class VocabularyFile(NamedTuple):
    """A vocabulary without mistakes, and what to tell its author all the same."""

    vocabulary: Vocabulary
    warnings: tuple[FileMistake, ...]


def load_vocabulary(path: Path, tools: Sequence[ToolContract]) -> Vocabulary:
    """Load a vocabulary file for an agent's tools.

    Raises:
        FileMistakes: everything that is wrong with it, each with file, line and the nearest known words.
        OSError: the file cannot be read.
    """
    return read_vocabulary(path.read_text(encoding="utf-8"), tools, file=str(path)).vocabulary


def read_vocabulary(text: str, tools: Sequence[ToolContract], *, file: str) -> VocabularyFile:
    """Read the text of a vocabulary file; ``file`` is what it is called in messages.

    Raises:
        FileMistakes: everything that is wrong with it.
    """
    try:
        value, places = load_yaml(text, file=file)
    except FileMistake as mistake:
        raise FileMistakes([mistake]) from mistake
    try:
        vocabulary = Vocabulary.model_validate({} if value is None else _exact(value))
    except ValidationError as error:
        raise FileMistakes(stated_mistakes(error, Vocabulary, places)) from error
    checks = VocabularyChecks(vocabulary, tools, load_language(vocabulary.settings.language), places)
    mistakes = list(checks.mistakes())
    if mistakes:
        raise FileMistakes(mistakes)
    try:
        selector = compile_selector(tools, language=vocabulary.settings.language, vocabulary=vocabulary)
    except ValueError as error:
        raise FileMistakes([FileMistake(str(error), places.of(()))]) from error
    tried = [*_examples(vocabulary, selector, places), *_collisions(vocabulary, tools, selector, places)]
    if tried:
        raise FileMistakes(tried)
    said = (FileMistake(warning, places.of(("tools", warning.split(":")[0]))) for warning in selector.warnings)
    return VocabularyFile(vocabulary, (*checks.accents(), *said))


def _exact(value: YamlValue) -> object:
    """Write decimals as text, the form in which a reading holds them."""
    match value:
        case Decimal():
            return str(value)
        case dict():
            return {key: _exact(item) for key, item in value.items()}
        case list():
            return [_exact(item) for item in value]
        case _:
            return value


def _examples(vocabulary: Vocabulary, selector: Selector, places: Places) -> Iterator[FileMistake]:
    for number, example in enumerate(vocabulary.examples):
        read = selector.read(example.say)
        if isinstance(read, Unread):
            message = f"the example {example.say!r} stays unread: {_why(read)}"
            yield FileMistake(message, places.of(("examples", number)), read.near)
        elif not _same(example, read):
            calls = ", ".join(written_call(call) for call in read.calls)
            yield FileMistake(f"the example {example.say!r} reads to {calls}", places.of(("examples", number)))
    for number, turn in enumerate(vocabulary.unread):
        read = selector.read(turn)
        if isinstance(read, Reading):
            calls = ", ".join(written_call(call) for call in read.calls)
            yield FileMistake(f"{turn!r} must stay unread, and reads to {calls}", places.of(("unread", number)))


def _same(example: Example, read: Reading) -> bool:
    said = [{name: _text(value) for name, value in call.items()} for call in example.reads]
    got = [{"tool": call.tool, **{name: _text(value) for name, value in call.values.items()}} for call in read.calls]
    return said == got


def _text(value: JsonValue) -> object:
    """Compare ids and numbers by their digits, so that an unquoted ``4411`` is the id it looks like."""
    if isinstance(value, list):
        return [_text(one) for one in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _collisions(
    vocabulary: Vocabulary, tools: Sequence[ToolContract], selector: Selector, places: Places
) -> Iterator[FileMistake]:
    for found in collisions_of(selector, tools, vocabulary):
        message = f"{found.turn!r} could be {' or '.join(found.meant)}; give them different words"
        yield FileMistake(message, places.of(("tools", found.tool)))


def _why(unread: Unread) -> str:
    parts: Mapping[str, str] = {"at": repr(unread.text) if unread.text else "", "missing": ", ".join(unread.missing)}
    told = " ".join(f"{name} {part}" for name, part in parts.items() if part)
    return f"{unread.code} {told}".strip()
