"""Results that are too large for a history, kept whole in a folder under their own hash (SPEC 13.3).

A run goes on with what its undo needs; the rest of such a result has no place in Temporal, where every replay would
carry it, and must not be lost either. Every worker of an agent, and whoever wants to read results, need the same
folder. Nothing in it is ever deleted by amends: remove files that are older than your histories.
"""

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path

from pydantic import JsonValue

__all__ = ["ResultStore"]

_REFERENCE = re.compile(r"sha256:([0-9a-f]{64})")


class ResultStore:
    """A folder of results, readable by its owner alone.

    Args:
        folder: where; made with the first result.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, result: JsonValue) -> str:
        """Keep a result; return its reference, ``sha256:`` and the hash of its JSON. The same one twice is kept once.

        Raises:
            OSError: the folder cannot be written.
        """
        body = json.dumps(result, ensure_ascii=False).encode()
        digest = hashlib.sha256(body).hexdigest()
        place = self._place(digest)
        if not place.exists():
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(place, body)
        return f"sha256:{digest}"

    def read(self, reference: str) -> JsonValue:
        """Return a result that was kept.

        Raises:
            ValueError: that is no reference, or what lies there is not what was kept.
            FileNotFoundError: it is not in this folder.
        """
        named = _REFERENCE.fullmatch(reference)
        if named is None:
            raise ValueError(f"{reference!r} is no reference to a result; it is sha256: and 64 hexadecimal digits")
        body = self._place(named[1]).read_bytes()
        if hashlib.sha256(body).hexdigest() != named[1]:
            raise ValueError(f"{self._place(named[1])} was changed since it was kept")
        value: JsonValue = json.loads(body)
        return value

    def _place(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.json"

    @staticmethod
    def _write(place: Path, body: bytes) -> None:
        # A name of its own until it is whole: a reader, or a worker killed half-way, never leaves or meets half a file.
        number, name = tempfile.mkstemp(dir=place.parent, prefix=".part-")
        try:
            with os.fdopen(number, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
