"""The canonical turn of a tool: its verb, its object and every argument by its noun. Two tools must never share one."""

from .language import LanguageFile
from .tool_words import SlotWords, WordsOfTool

__all__ = ["canonical_turn"]

_IDS = (
    "4411",
    "441",
    "44112233",
    "4411223344",
    "4",
    "44",
    "A4411",
    "AB-4411",
    "ABC-4411",
    "ORD-4411",
    "C-100",
    "a4411",
)


def canonical_turn(words: WordsOfTool, language: LanguageFile) -> str | None:
    """Return a turn that says the tool with all its arguments, or None when one of its values has no known sample."""
    if not words.heads:
        return None
    parts = [words.heads[0][1], *words.objects[:1]]
    for slot in words.slots:
        said = _said(slot, language)
        if said is not None:
            parts.append(said)
        elif slot.parameter.required:
            return None
    return " ".join(parts)


def _said(slot: SlotWords, language: LanguageFile) -> str | None:
    value = _sample(slot, language)
    if value is None:
        return None
    if slot.kind in ("enum", "bool"):
        return value if slot.bare else f"{slot.nouns[0]} {value}" if slot.nouns else None
    if slot.nouns:
        return " ".join([*((slot.forced,) if slot.forced else ()), slot.nouns[0], value])
    if slot.introducers:
        return f"{slot.introducers[0]} {value}"
    return value if slot.bare else None


def _sample(slot: SlotWords, language: LanguageFile) -> str | None:
    match slot.kind:
        case "id":
            return next((one for one in _IDS if slot.shape is None or slot.shape.fullmatch(one)), None)
        case "money":
            return f"40{language.numbers.decimal}00"
        case "decimal":
            return f"2{language.numbers.decimal}5"
        case "int":
            return "3"
        case "date":
            return "2026-03-05"
        case "email":
            return "ana@example.com"
        case "text":
            return '"words"'
        case "enum" | "bool":
            return slot.values[0][0] if slot.values else None
