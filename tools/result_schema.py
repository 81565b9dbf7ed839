"""The JSON schema of what a tool returns, from its return annotation (SPEC 1.2)."""

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import JsonValue, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

__all__ = ["result_schema"]

_SAYS_NOTHING: Final = (inspect.Parameter.empty, Any, object)


def result_schema(function: Callable[..., object]) -> Mapping[str, JsonValue] | None:
    """Return the schema of a result as it is recorded, or None when the annotation is missing or says nothing.

    Fields have their Python names, numbers that are not integers are text, as `wire_result` writes them.
    """
    try:
        annotation = typing.get_type_hints(function, include_extras=True).get("return", inspect.Parameter.empty)
        if annotation in _SAYS_NOTHING:
            return None
        return TypeAdapter(annotation).json_schema(
            mode="serialization", by_alias=False, schema_generator=_RecordedSchema
        )
    except (PydanticUserError, NameError):
        return None


class _RecordedSchema(GenerateJsonSchema):
    """Says of numbers what the record holds, text that is a number, and leaves out titles, which only repeat names."""

    ignored_warning_kinds: set[Any] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 -- pydantic's shape

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 -- pydantic's shape
        return False

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:  # noqa: ARG002 -- pydantic's shape
        return {"type": "string", "format": "decimal"}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:  # noqa: ARG002 -- the same
        return {"type": "string", "format": "decimal"}
