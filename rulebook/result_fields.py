"""Fields of a tool's result, found in the JSON schema of its return annotation."""

from collections.abc import Mapping

from pydantic import JsonValue

from ..contract.model import Wire

__all__ = ["ResultField", "result_field"]

_DEEPEST = 32

_Schema = Mapping[str, JsonValue]


class ResultField(Wire):
    """A field of a result: its JSON types (empty when the schema does not say), and whether it is always there."""

    types: tuple[str, ...] = ()
    always: bool = True


_UNSAID = ResultField(always=False)


def result_field(schema: _Schema, path: str) -> ResultField | None:
    """Return the field a dotted path names, or None when a result of this schema cannot have it.

    An object that the schema leaves open may have any field: such a field is found, and not always there.
    """
    return _find(schema, path.split("."), schema, 0)


def _find(node: JsonValue | _Schema, path: list[str], root: _Schema, depth: int) -> ResultField | None:
    if not isinstance(node, Mapping) or depth > _DEEPEST:
        return _UNSAID
    reference = node.get("$ref")
    if isinstance(reference, str):
        return _find(_target(reference, root), path, root, depth + 1)
    for several in ("anyOf", "oneOf"):
        options = node.get(several)
        if isinstance(options, list):
            return _either([_find(option, path, root, depth + 1) for option in options])
    parts = node.get("allOf")
    if isinstance(parts, list):
        found = [_find(part, path, root, depth + 1) for part in parts]
        return next((field for field in found if field is not None), None)
    if not path:
        return ResultField(types=_types(node))
    return _below(node, path[0], path[1:], root, depth)


def _below(node: _Schema, head: str, rest: list[str], root: _Schema, depth: int) -> ResultField | None:
    types = _types(node)
    if types and not {"object", "array"} & set(types):
        return None
    if types == ("array",):
        found = _find(node.get("items"), rest, root, depth + 1) if head.isdigit() else None
        return found and found.model_copy(update={"always": False})
    properties = node.get("properties")
    if isinstance(properties, Mapping) and head in properties:
        found = _find(properties[head], rest, root, depth + 1)
        required = node.get("required")
        always = isinstance(required, list) and head in required and types in ((), ("object",))
        return found and (found if always else found.model_copy(update={"always": False}))
    others = node.get("additionalProperties")
    if isinstance(others, Mapping):
        found = _find(others, rest, root, depth + 1)
        return found and found.model_copy(update={"always": False})
    is_open = others is True or (others is None and not isinstance(properties, Mapping))
    return _UNSAID if is_open else None


def _types(node: _Schema) -> tuple[str, ...]:
    said = node.get("type")
    if isinstance(said, str):
        return (said,)
    return tuple(str(one) for one in said) if isinstance(said, list) else ()


def _target(reference: str, root: _Schema) -> JsonValue | _Schema:
    target: JsonValue | _Schema = root
    for name in reference.removeprefix("#/").split("/"):
        if not isinstance(target, Mapping) or name not in target:
            return None
        target = target[name]
    return target


def _either(found: list[ResultField | None]) -> ResultField | None:
    """One of several shapes: the field is there if any has it, and always there if each has."""
    fields = [field for field in found if field is not None]
    if not fields:
        return None
    types = tuple(dict.fromkeys(one for field in fields for one in field.types))
    unsaid = any(not field.types for field in fields)
    return ResultField(
        types=() if unsaid else types,
        always=len(fields) == len(found) and all(field.always for field in fields),
    )
