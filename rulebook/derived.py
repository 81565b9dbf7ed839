"""Frozen models that remember what was worked out of their fields."""

from collections.abc import Mapping
from functools import cached_property
from typing import Self

from ..contract.model import Wire

__all__ = ["Derived"]


class Derived(Wire):
    """A model with `cached_property` members. A changed copy works them out anew, where pydantic would copy them."""

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:
        """Copy, with changes."""
        copied = super().model_copy(update=update, deep=deep)
        for kind in type(self).__mro__:
            for name, member in vars(kind).items():
                if isinstance(member, cached_property):
                    copied.__dict__.pop(name, None)
        return copied
