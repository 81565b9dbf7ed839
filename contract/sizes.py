"""Keeping results small enough for a history, before Temporal sees them (SPEC 13.3).

A result that is too large would come back from the SDK as a failure, although the call took effect. So the engine cuts
it: what an undo needs is kept, and the rest is named as left out. A worker that has a place for it keeps the whole
result there, and adds its reference (`tools.result_store`).
"""

import json
from collections.abc import Sequence

from pydantic import JsonValue

__all__ = ["ALL_RESULTS", "KEPT_AS", "LARGEST_RESULT", "LEFT_OUT", "depth", "fit", "json_bytes"]

LEFT_OUT = "amends_left_out"
"""In a result that was cut: how many bytes of JSON the whole one has."""
KEPT_AS = "amends_kept_as"
"""In a result that was cut: what the whole one is kept as, outside the history."""
LARGEST_RESULT = 256 * 1024
"""The most bytes of JSON one result may have in a history."""
ALL_RESULTS = 768 * 1024
"""The most bytes of JSON the results of one run may have together in what the run shows and returns."""


def fit(result: JsonValue, keep: Sequence[str], largest: int = LARGEST_RESULT) -> JsonValue:
    """Return ``result``, or, when it is too large, only the fields at the dotted paths ``keep``.

    The cut result says how large the whole was, in bytes, under ``amends_left_out``. A field that is itself too large
    is left out as well. A result that was cut before goes on to say what it said then.
    """
    size = json_bytes(result)
    if size <= largest:
        return result
    cut: dict[str, JsonValue] = {}
    for path in keep:
        value = _at(result, path.split("."))
        if value is not None and json_bytes(value) <= largest // (len(keep) + 1):
            _put(cut, path.split("."), value)
    before = result if isinstance(result, dict) and LEFT_OUT in result else {}
    return {**cut, LEFT_OUT: size, **{name: before[name] for name in (LEFT_OUT, KEPT_AS) if name in before}}


def json_bytes(value: JsonValue) -> int:
    """Return how many bytes a value has as JSON in UTF-8."""
    return len(json.dumps(value, ensure_ascii=False).encode())


def depth(value: JsonValue) -> int:
    """Return how deep lists and objects are nested in a value: 0 for a plain one."""
    level, deepest = [value], 0
    while nested := [item for item in level if isinstance(item, dict | list)]:
        deepest += 1
        level = [inner for item in nested for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest


def _at(value: JsonValue, path: list[str]) -> JsonValue:
    for name in path:
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _put(target: dict[str, JsonValue], path: list[str], value: JsonValue) -> None:
    for name in path[:-1]:
        inner = target.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        target = inner
    target[path[-1]] = value
