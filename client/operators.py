"""Operator tokens: who may undo any run, answer for others, export and change settings, and until when (SPEC 8.1).

A token is named, has scopes and an end, and is shown once. Each has a line in the operators file: its name, its scopes,
its times and a hash of it. Any number may be valid at a time, so a new one is handed out before the old one is revoked.
A name is given once: records name the token that was used, so its line stays when it has expired or was revoked.
"""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

from ..contract.errors import Conflict, NotAllowed, NotFound
from ..contract.model import Wire
from .connect import STATE_FOLDER, ConnectionSettings
from .operators_file import NAME, OperatorLine, OperatorScope, OperatorsFile

__all__ = [
    "LONGEST_LIFETIME",
    "SCOPES",
    "Operator",
    "OperatorScope",
    "OperatorState",
    "Operators",
    "claimed_name",
    "operators_path",
]

SCOPES: tuple[OperatorScope, ...] = get_args(OperatorScope)
LONGEST_LIFETIME = timedelta(days=366)
"""A token that nobody would ever have to renew is one that nobody would miss."""

OperatorState = Literal["valid", "expired", "revoked"]

_VARIABLE = "AMENDS_OPERATORS"
_FILE = "operators.json"
_TOKEN = re.compile(rf"amo_({NAME})_[A-Za-z0-9_-]{{43}}", re.ASCII)
_SECRET_BYTES = 32
_NOBODYS_HASH = "sha256:" + "0" * 64
"""What a token of no known name is compared with. Nobody knows a token of that hash."""


class Operator(Wire):
    """One operator token, without anything that could be used in its place. Times are UTC."""

    name: str
    scopes: tuple[OperatorScope, ...]
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None

    def state(self, at: datetime) -> OperatorState:
        """Return what the token is at a time."""
        if self.revoked_at is not None:
            return "revoked"
        return "valid" if at < self.expires_at else "expired"


class Operators:
    """The operator tokens of one file, which is read again at each use: a token that is revoked is so at once.

    Iterating gives every operator there ever was, in the order of their making.

    Args:
        path: the operators file; made by the first `create`.
        clock: gives the time, UTC.
    """

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._file = OperatorsFile(path)
        self._clock = clock

    @property
    def path(self) -> Path:
        """The operators file."""
        return self._file.path

    def __iter__(self) -> Iterator[Operator]:
        return iter([_operator(line) for line in self._file.read()])

    def create(self, name: str, scopes: tuple[OperatorScope, ...], lifetime: timedelta) -> str:
        """Make a token and return it. It is kept nowhere: what is stored is a hash.

        Args:
            name: what records call it; small letters, digits, ``.`` and ``-``, 50 at most.
            scopes: what it allows.
            lifetime: how long it is valid; 366 days at most.

        Raises:
            Conflict: ``operator_name_taken``: there is, or was, a token of that name.
            ValueError: the name, the scopes or the lifetime will not do.
            FileMistakes: the operators file is broken, or is open to others.
        """
        _check(name, scopes, lifetime)
        token = f"amo_{name}_{secrets.token_urlsafe(_SECRET_BYTES)}"
        with self._file.rewriting() as lines:
            if any(line.name == name for line in lines):
                message = f"There is a token named {name} already, or was one; records may name it."
                raise Conflict("operator_name_taken", message, f"Take another name, such as {name}-2.")
            now = self._clock()
            lines.append(
                OperatorLine(
                    name=name,
                    scopes=tuple(scope for scope in SCOPES if scope in scopes),
                    created_at=now,
                    expires_at=now + lifetime,
                    token=_hashed(token),
                )
            )
        return token

    def revoke(self, name: str) -> Operator:
        """Make a token invalid from now on. Its line stays, with the time of its first revocation.

        Raises:
            NotFound: ``no_such_operator``.
            FileMistakes: the operators file is broken, or is open to others.
        """
        with self._file.rewriting() as lines:
            for place, line in enumerate(lines):
                if line.name == name:
                    lines[place] = line.model_copy(update={"revoked_at": line.revoked_at or self._clock()})
                    return _operator(lines[place])
            raise NotFound("no_such_operator", f"There is no operator token named {name!r}.", "`amends operator list`.")

    def check(self, token: str | None, scope: OperatorScope) -> Operator:
        """Return whose token it is, if it allows something of that scope now.

        Raises:
            NotAllowed: ``operator_token_not_configured``: there is no token at all yet; ``operator_token_required``:
                none was given, or one that is not known; ``operator_token_expired``; ``operator_token_revoked``;
                ``operator_token_scope``: it does not allow this.
            FileMistakes: the operators file is broken, or is open to others.
        """
        lines = self._file.read()
        if not lines:
            hint = "Make one: amends operator create NAME."
            raise NotAllowed("operator_token_not_configured", "This needs an operator token, and none exists.", hint)
        if not token:
            hint = "Give it in AMENDS_OPERATOR_TOKEN, with --token-file or as token=."
            raise NotAllowed("operator_token_required", "An operator token is required.", hint)
        operator = _owner(lines, token)
        if operator is None:
            hint = "Was all of it given? If it is lost, make another: amends operator create NAME."
            raise NotAllowed("operator_token_required", "An operator token is required; this one is not known.", hint)
        return self._allowed(operator, scope)

    def owner(self, token: str | None) -> Operator | None:
        """Return whose token it is, whether it is valid any more or not; None where it is not known. It allows nothing.

        Raises:
            FileMistakes: the operators file is broken, or is open to others.
        """
        return _owner(self._file.read(), token or "")

    def _allowed(self, operator: Operator, scope: OperatorScope) -> Operator:
        renewed = "Make another: amends operator create NAME."
        state = operator.state(self._clock())
        if state == "revoked":
            message = f"The operator token {operator.name} was revoked at {operator.revoked_at:%Y-%m-%d %H:%M}Z."
            raise NotAllowed("operator_token_revoked", message, renewed)
        if state == "expired":
            message = f"The operator token {operator.name} expired at {operator.expires_at:%Y-%m-%d %H:%M}Z."
            raise NotAllowed("operator_token_expired", message, renewed)
        if scope not in operator.scopes:
            message = f"The operator token {operator.name} allows {', '.join(operator.scopes)}, and not {scope}."
            raise NotAllowed("operator_token_scope", message, f"Use one that was made with --scope {scope}.")
        return operator


def operators_path(settings: ConnectionSettings, environment: Mapping[str, str] | None = None) -> Path:
    """Return where the operators file is: ``AMENDS_OPERATORS``, else ``operators.json`` in the state folder.

    A server that keeps nothing has no state folder; the file is then in ``.amends`` beside the agent file.
    """
    environment = os.environ if environment is None else environment
    if chosen := environment.get(_VARIABLE):
        return Path(chosen)
    return (settings.state_folder(environment) or settings.beside / STATE_FOLDER) / _FILE


def claimed_name(token: str | None) -> str:
    """Return the name that a token says it has, or an empty text. Only `Operators.check` knows better."""
    found = _TOKEN.fullmatch(token or "")
    return found[1] if found else ""


def _owner(lines: Iterable[OperatorLine], token: str) -> Operator | None:
    line = {line.name: line for line in lines}.get(claimed_name(token))
    # One comparison whatever the token says: neither the time nor the answer tells a name that exists.
    known = hmac.compare_digest(line.token if line else _NOBODYS_HASH, _hashed(token))
    return _operator(line) if line and known else None


def _hashed(token: str) -> str:
    """Return what is stored of a token.

    A plain SHA-256 without salt: salts and slow hashes are against guessing, and 256 random bits cannot be guessed.
    """
    return f"sha256:{hashlib.sha256(token.encode(errors='replace')).hexdigest()}"


def _check(name: str, scopes: tuple[OperatorScope, ...], lifetime: timedelta) -> None:
    if not re.fullmatch(NAME, name, re.ASCII):
        raise ValueError(
            f"name is {name!r}; it must be 1 to 50 small letters, digits, dots and hyphens, the first a letter or digit"
        )
    if not scopes or (unknown := [scope for scope in scopes if scope not in SCOPES]):
        said = f"{unknown[0]!r} is none" if scopes else "none is given"
        raise ValueError(f"scopes: {said}; there are {', '.join(SCOPES)}")
    if not timedelta(0) < lifetime <= LONGEST_LIFETIME:
        raise ValueError(
            f"lifetime is {lifetime}; it must be more than nothing and {LONGEST_LIFETIME.days} days at most"
        )


def _operator(line: OperatorLine) -> Operator:
    return Operator.model_validate(line.model_dump(exclude={"token"}))
