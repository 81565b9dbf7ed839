"""Cookies that cannot be made by anybody else, and the token that a form must carry (SPEC 12.3).

Both are HMACs under one key of 32 bytes. The key is kept in a file that its owner alone can read, so that a restart of
the server signs nobody out and keeps the forms that are on screens.
"""

import base64
import hashlib
import hmac
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["Seal", "kept_key"]

LASTS = 12 * 3600
"""Seconds a sign-in lasts."""


def kept_key(path: Path) -> bytes:
    """Return the 32 bytes of a key file; make one, readable by its owner alone, where there is none.

    Two servers that start at once come to one key: a file is there whole or not at all.
    """
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        with suppress(FileExistsError):
            os.link(fresh, path)
        fresh.unlink()
    return path.read_bytes()


class Seal:
    """Signs and checks.

    Args:
        key: at least 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) < 32:
            raise ValueError("the console's key must have at least 32 bytes")
        self._key = key

    @classmethod
    def of_file(cls, path: Path) -> "Seal":
        """Read the key, or make one."""
        return cls(kept_key(path))

    def cookie(self, name: str) -> str:
        """Return a cookie that says who is signed in, and until when."""
        said = f"{int(time.time()) + LASTS}.{secrets.token_urlsafe(8)}.{_text(name.encode())}"
        return f"{said}.{self._mac('cookie', said)}"

    def signed_in(self, cookie: str) -> str | None:
        """Return whose cookie it is; None for one that is not ours or is over."""
        said, _, mac = cookie.rpartition(".")
        if not hmac.compare_digest(mac.encode(), self._mac("cookie", said).encode()):
            return None
        until, _, rest = said.partition(".")
        if int(until) < time.time():
            return None
        return base64.urlsafe_b64decode(rest.partition(".")[2] + "==").decode()

    def form_token(self, bound_to: str) -> str:
        """Return what a form must carry: nobody who cannot read our pages knows it."""
        return self._mac("form", bound_to)

    def is_form_token(self, token: str, bound_to: str) -> bool:
        """Whether a form carries it."""
        return hmac.compare_digest(token.encode(), self.form_token(bound_to).encode())

    def _mac(self, purpose: str, said: str) -> str:
        return _text(hmac.new(self._key, f"{purpose}:{said}".encode(), hashlib.sha256).digest())


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
