"""The two kinds of frozen model: what travels on the wire, and what a person writes in a file."""

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """A frozen model that is stored in Temporal histories.

    Unknown fields are ignored and new fields have defaults, because a history written by a newer or an older
    release is decoded by this one, and a payload that does not decode would wedge the workflow that holds it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


class Stated(BaseModel):
    """A frozen model of something a person wrote: an unknown word is a mistake and is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
