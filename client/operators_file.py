"""The operators file: read only if no other user of the machine may write it, and written whole or not at all.

::

    {"operators": [{"name": "oncall-1", "scopes": ["undo"], "created_at": "2026-03-05T12:00:00Z",
                    "expires_at": "2026-06-03T12:00:00Z", "revoked_at": null, "token": "sha256:5f0c..."}]}
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, StringConstraints, ValidationError, model_validator

from ..contract.mistakes import FileMistake, FileMistakes
from ..contract.model import Stated
from ..contract.tool import Origin
from .locks import FileLock, locks_supported
from .state_folder import make_private_folder

__all__ = ["NAME", "OperatorLine", "OperatorScope", "OperatorsFile"]

OperatorScope = Literal["undo", "answer", "export", "settings"]
"""`undo`: undo any run. `answer`: answer others' questions about doubtful calls and failed undos. `export`: take
records out. `settings`: change settings. So far nothing asks for any but `undo`."""

NAME = r"[a-z0-9][a-z0-9.-]{0,49}"
"""A token's name. It has no underscore, so that a token can be taken apart."""

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_PATIENCE = 10.0


class OperatorLine(Stated):
    """What is stored of one token: everything but the token. ``token`` is its hash; times are UTC."""

    name: Annotated[str, StringConstraints(pattern=f"^{NAME}$")]
    scopes: tuple[OperatorScope, ...]
    created_at: AwareDatetime
    expires_at: AwareDatetime
    revoked_at: AwareDatetime | None = None
    token: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]


class _Content(Stated):
    operators: tuple[OperatorLine, ...] = ()

    @model_validator(mode="after")
    def _one_line_a_name(self) -> Self:
        names = [line.name for line in self.operators]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)}: a name has one line")
        return self


class OperatorsFile:
    """One operators file, which need not exist yet: it then has no lines."""

    def __init__(self, path: Path) -> None:
        # A symbolic link is followed now, since replacing the file would otherwise replace the link.
        self.path = path.resolve()

    def read(self) -> tuple[OperatorLine, ...]:
        """Return its lines.

        Raises:
            FileMistakes: it cannot be read, says what it may not, or others may write it.
        """
        try:
            with self.path.open(encoding="utf-8") as file:
                self._refuse_if_open_to_others(os.fstat(file.fileno()))
                text = file.read()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._mistake(f"it cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise self._mistake("it is not UTF-8") from error
        try:
            return _Content.model_validate_json(text).operators
        except ValidationError as invalid:
            found = [(".".join(map(str, each["loc"])), each["msg"]) for each in invalid.errors(include_input=False)]
            raise self._mistake(*(f"{place}: {why}" if place else why for place, why in found)) from None

    @contextmanager
    def rewriting(self) -> Iterator[list[OperatorLine]]:
        """Give the lines to be changed in place; write them if the block ends without an error. One writer at a time.

        Raises:
            FileMistakes: as `read`; or it cannot be written.
        """
        try:
            make_private_folder(self.path.parent)
            with self._alone():
                lines = list(self.read())
                yield lines
                self._replace(_Content(operators=tuple(lines)).model_dump_json(indent=2))
        except TimeoutError as error:
            raise self._mistake(f"another process has held it for {_PATIENCE:g} s; try again") from error
        except OSError as error:
            raise self._mistake(f"it cannot be written: {error.strerror}") from error

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not locks_supported():  # Windows: the last writer of the same moment wins
            yield
            return
        # The lock is on a file beside it, since the file itself is another one after each writing.
        with FileLock(self.path.with_name(f"{self.path.name}.lock")).held(_PATIENCE):
            yield

    def _replace(self, text: str) -> None:
        descriptor, fresh = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:  # mkstemp made it 0600
                file.write(f"{text}\n")
                file.flush()
                os.fsync(file.fileno())
            Path(fresh).replace(self.path)
        except BaseException:
            with suppress(FileNotFoundError):
                Path(fresh).unlink()
            raise

    def _refuse_if_open_to_others(self, seen: os.stat_result) -> None:
        """Whoever can write the file can make themselves an operator."""
        if os.name != "posix":
            return
        if seen.st_uid not in (0, os.geteuid()):
            raise self._mistake(f"it belongs to another user (uid {seen.st_uid}); whoever may write it is an operator")
        if seen.st_mode & _OTHERS:
            raise self._mistake(f"others may write it (mode {stat.S_IMODE(seen.st_mode):04o}); chmod 600 {self.path}")
        folder = self.path.parent.stat()
        if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
            raise self._mistake(f"everybody may write its folder, and so replace it; chmod o-w {self.path.parent}")

    def _mistake(self, *said: str) -> FileMistakes:
        return FileMistakes(FileMistake(each, Origin(file=str(self.path))) for each in said)
