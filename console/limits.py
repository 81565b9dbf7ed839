"""How much one caller may ask for in a while, and what a repeated request is answered with."""

import time
from collections import OrderedDict
from hashlib import sha256
from typing import NamedTuple

from .problems import ProblemError

__all__ = ["Named", "Rate", "Replays", "key_reused"]

MOST_CALLERS = 10_000
MOST_REPLAYS = 10_000
KEPT = 24 * 3600
"""Seconds that the first answer to a key is kept."""


class Rate:
    """A bucket for each caller: so many at once, and so many a second on the whole."""

    def __init__(self, *, at_once: int, a_second: float) -> None:
        self._at_once, self._a_second = at_once, a_second
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Count a request.

        Raises:
            ProblemError: 429 ``slow_down``.
        """
        now = time.monotonic()
        left, at = self._buckets.pop(caller, (float(self._at_once), now))
        left = min(float(self._at_once), left + (now - at) * self._a_second)
        taken = left >= 1
        self._buckets[caller] = (left - taken, now)
        while len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        if not taken:
            wait = max(1, round((1 - left) / self._a_second))
            raise ProblemError(429, "slow_down", f"Too many requests; come again in {wait} s.", retry_after=wait)


class Named(NamedTuple):
    """A request that may come again: ``id`` is of its caller, path and key, ``body`` of its body."""

    id: str
    body: str

    @property
    def whole(self) -> str:
        """Both, as an answer carries them into its run."""
        return f"{self.id}.{self.body}"


def key_reused() -> ProblemError:
    """Return the refusal of a key that came with another body before."""
    return ProblemError(422, "idempotency_key_reused", "This Idempotency-Key came with another body before.")


class Replays:
    """The bodies that came with each ``Idempotency-Key``: a key with another body is a mistake.

    This table only spares a look. What a repeated request is answered with, and whether its body is the same, is found
    in the session and the run, after a restart too: a turn's run has its text, an answer its `Named.whole`.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def name(self, caller: str, path: str, key: str, body: str) -> Named:
        """Return what names this request.

        Raises:
            ProblemError: 422 ``idempotency_key_reused``.
        """
        named = Named(_digest(caller, path, key)[:40], _digest(body)[:20])
        now = time.monotonic()
        at, known = self._seen.get(named.id, (now, named.body))
        if known != named.body and now - at < KEPT:
            raise key_reused()
        self._seen[named.id] = (at, named.body)
        while len(self._seen) > MOST_REPLAYS:
            self._seen.popitem(last=False)
        return named


def _digest(*parts: str) -> str:
    # Each with its length before it, so that no two lists of parts look alike.
    said = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(said.encode(errors="surrogatepass")).hexdigest()
