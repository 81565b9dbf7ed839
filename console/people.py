"""Who may use the console: people, their roles, and the tokens they sign in with (SPEC 12.3).

The people file is YAML. A token is stored as its SHA-256, which is safe because a token is 32 random bytes::

    ana:
      roles: [desk, reviewer]
      token: sha256:5f0c...

With no such file there is one person, who is at this machine and may do everything; the server then listens on
loopback alone.
"""

import getpass
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints, TypeAdapter, ValidationError

from ..contract.mistakes import FileMistake, FileMistakes
from ..contract.model import Stated
from ..contract.tool import Origin
from ..contract.yaml12 import load_yaml

__all__ = ["People", "Person", "Role", "make_token", "token_hash"]

Role = Literal["desk", "reviewer", "operator", "auditor", "admin"]
"""`desk`: own thread. `reviewer`: confirms others' writes. `operator`: all runs and questions. `auditor`: reads all."""

ALL_ROLES: tuple[Role, ...] = ("desk", "reviewer", "operator", "auditor", "admin")
_SEES_ALL: frozenset[Role] = frozenset(("reviewer", "operator", "auditor", "admin"))


class Person(Stated):
    """Somebody who is signed in."""

    name: str
    roles: tuple[Role, ...]
    local: bool = False

    def sees(self, user: str) -> bool:
        """Whether they may look at the thread and the runs of ``user``."""
        return self.name == user or bool(_SEES_ALL.intersection(self.roles))

    def speaks_for(self, user: str) -> bool:
        """Whether they may give turns to the thread of ``user``: their own; at this machine, anybody's."""
        return "desk" in self.roles and (self.local or self.name == user)

    def answers(self, user: str, kind: str) -> bool:
        """Whether they may answer a question of ``user``'s run."""
        if self.name == user and "desk" in self.roles:
            return True
        return "operator" in self.roles or (kind == "confirm" and "reviewer" in self.roles)

    def stops(self, user: str) -> bool:
        """Whether they may stop a run of ``user``."""
        return (self.name == user and "desk" in self.roles) or "operator" in self.roles

    def audits(self, user: str) -> bool:
        """Whether they may read the record of ``user``."""
        return self.name == user or bool({"auditor", "operator", "admin"}.intersection(self.roles))


class _Entry(Stated):
    roles: tuple[Role, ...] = ("desk",)
    token: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]


_FILE = TypeAdapter(dict[Annotated[str, StringConstraints(pattern=r"^\S{1,100}$")], _Entry])


class People:
    """Everybody who may sign in. Where ``local`` is set, it is the one person there is, and nobody signs in."""

    def __init__(self, entries: Mapping[str, _Entry] | None = None, *, local: str | None = None) -> None:
        self._entries = dict(entries or {})
        self.local = Person(name=local, roles=ALL_ROLES, local=True) if local else None

    @classmethod
    def alone(cls, name: str | None = None) -> "People":
        """The person at this machine, by their login name unless another is given."""
        return cls(local=name or getpass.getuser())

    @classmethod
    def of_file(cls, path: Path) -> "People":
        """Read a people file.

        Raises:
            FileMistakes: it cannot be read, or says what it may not.
        """
        origin = Origin(file=str(path))
        try:
            said = load_yaml(path.read_text(encoding="utf-8"), file=str(path))[0]
            return cls(_FILE.validate_python(said))
        except OSError as error:
            raise FileMistakes([FileMistake(f"it cannot be read: {error.strerror}", origin)]) from error
        except ValidationError as invalid:
            found = [
                FileMistake(f"{'.'.join(map(str, each['loc']))}: {each['msg']}", origin)
                for each in invalid.errors(include_input=False)
            ]
            raise FileMistakes(found) from None

    def named(self, name: str) -> Person | None:
        """Return a person as they stand in the file now, or None."""
        if self.local is not None:
            return self.local if name == self.local.name else None
        entry = self._entries.get(name)
        return Person(name=name, roles=entry.roles) if entry else None

    def with_token(self, token: str) -> Person | None:
        """Return whose token it is, or None. Every entry is compared, so that time tells nothing."""
        wanted, found = token_hash(token), None
        for name, entry in self._entries.items():
            if hmac.compare_digest(entry.token, wanted):
                found = self.named(name)
        return found


def make_token() -> str:
    """Return a new token. It is shown once and stored nowhere."""
    return f"amp_{secrets.token_urlsafe(32)}"


def token_hash(token: str) -> str:
    """Return what a people file holds of a token."""
    return f"sha256:{hashlib.sha256(token.encode()).hexdigest()}"
