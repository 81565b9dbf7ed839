"""What an unread turn is told in English: one sentence for each code, which says what to say instead (SPEC 2.1)."""

from collections.abc import Callable, Mapping

from .reading import Unread, UnreadCode

__all__ = ["SENTENCES", "unread_sentence"]


def unread_sentence(unread: Unread) -> str:
    """Return the sentence for ``unread``, with the known words nearest to an unknown one, if there are any."""
    sentence = SENTENCES[unread.code](unread)
    return f"{sentence} Did you mean {_or(unread.near)}?" if unread.near else sentence


def _or(words: tuple[str, ...]) -> str:
    quoted = [f"“{word}”" for word in words]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 2 else quoted)


def _missing(unread: Unread) -> str:
    named = [name.partition(".") for name in unread.missing]
    lacks = " or ".join(f"{parameter} for {tool}" for tool, _, parameter in named)
    return f"Something is missing in “{unread.text}”: say the {lacks or 'value it needs'} too."


def _objectless(unread: Unread) -> str:
    tools = sorted({name.partition(".")[0] for name in unread.missing})
    meant = f" ({' or '.join(tools)})" if tools else ""
    return f"“{unread.text}” does not say what to act on: name it, as in “send the receipt for order 4411”{meant}."


def _left_over(unread: Unread) -> str:
    expected = unread.detail.get("expected", "")
    tool = unread.detail.get("tool", "")
    hint = f" {tool} could still take {expected}." if expected and tool else ""
    return f"I cannot place the words from “{unread.text}” on: leave them out or say them another way.{hint}"


def _ambiguous(unread: Unread) -> str:
    readings = " or ".join(", then ".join(calls) for calls in unread.readings)
    return f"This could mean {readings or 'more than one thing'}: say it with words that fit only one of them."


def _odd_character(unread: Unread) -> str:
    code = unread.detail.get("character", "")
    shown = f"“{unread.text}” ({code})" if unread.text else code
    return f"The character {shown} cannot stand in a turn: type it again without it."


SENTENCES: Mapping[UnreadCode, Callable[[Unread], str]] = {
    "empty": lambda _: "There is nothing to read: say what should be done, as in “charge order 4411 40.00”.",
    "too_long": lambda u: (
        f"This is too long: say it in at most {u.detail.get('limit', '2000')} characters, or in several turns."
    ),
    "odd_character": _odd_character,
    "unbalanced_quote": lambda _: "A quotation mark has no partner on its line: put one before and one after the text.",
    "list_order": lambda u: (
        f"The list is not numbered 1, 2, 3 at “{u.text}”: number the steps in the order to run them."
    ),
    "language": lambda u: (
        f"This turn looks like {_language(u.detail.get('looks_like', ''))}: say it in English, or choose that language."
    ),
    "negation": lambda u: f"“{u.text}” says what not to do, and I only read what to do: say just the steps to run.",
    "conditional": lambda u: f"“{u.text}” makes a step depend on something: say only steps to run now, in their order.",
    "choice": lambda u: f"“{u.text}” leaves a choice: say the one you want.",
    "question": lambda _: (
        "This is a question, and I only read requests: say it as “charge order 4411 40.00” or “can you charge …?”."
    ),
    "quantity": lambda u: f"“{u.text}” counts without naming: say each step once, with its own number and amount.",
    "number_words": lambda u: f"“{u.text}” is a number in words: write it in digits.",
    "pronoun": lambda u: (
        f"“{u.text}” points at something I cannot be sure of: name it, as in “order 4411” or “the same order”."
    ),
    "unknown_word": lambda u: f"I do not know the word “{u.text}”: say it another way, or add it to the vocabulary.",
    "number_form": lambda u: (
        f"“{u.text}” is not a number as English writes it: write it like "
        f"{u.detail.get('example', '1,234.56')}, with no or two decimals and more than zero."
    ),
    "date_form": lambda u: f"“{u.text}” is not a date I can be sure of: write 2026-03-05 or March 5, 2026.",
    "currency": lambda u: (
        f"“{u.text}” is another currency: amounts here are in {u.detail.get('wanted', 'one currency')}."
    ),
    "no_tool": lambda u: (
        f"“{u.text}” does not begin a step I know: begin with what to do, as in “charge”, “send” or “cancel”."
    ),
    "missing_argument": _missing,
    "missing_object": _objectless,
    "left_over": _left_over,
    "no_antecedent": lambda u: (
        f"“{u.text}” must stand for exactly one thing named before in the same turn: say its number instead."
    ),
    "ambiguous": _ambiguous,
    "bad_value": lambda u: f"“{u.text}” cannot be the {u.detail.get('parameter', 'value')}: check it and say it again.",
    "repeated_write": lambda u: (
        f"“{u.text}” is said twice with the same values: say it once, or in two turns if you want it twice."
    ),
}


def _language(code: str) -> str:
    return {"pt-BR": "Brazilian Portuguese", "en": "English"}.get(code, "another language")


def value_question(tool: str, name: str) -> str:
    """Return the question for the one value that a turn lacks."""
    return f"{tool} needs the {name}. Say just that, or say something else."
