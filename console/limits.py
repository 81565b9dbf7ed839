"""How much one caller may ask for in a while, and what a repeated request is answered with."""

import time
from collections import OrderedDict

from ..contract.canonical import sha256
from .problems import ProblemError

__all__ = ["Rate", "Replays"]

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


class Replays:
    """The bodies that came with each ``Idempotency-Key``: a key with another body is a mistake.

    What a repeated request is answered with does not depend on this table: a turn's run and an answer's fate are found
    again by the key in the session and the run, after a restart too.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def name(self, caller: str, path: str, key: str, body: object) -> str:
        """Return the name of this request: the same for the same caller, path and key.

        Raises:
            ProblemError: 422 ``idempotency_key_reused``.
        """
        name, fingerprint, now = sha256([caller, path, key]), sha256(body), time.monotonic()
        at, known = self._seen.get(name, (now, fingerprint))
        if known != fingerprint and now - at < KEPT:
            raise ProblemError(422, "idempotency_key_reused", "This Idempotency-Key came with another body before.")
        self._seen[name] = (at, fingerprint)
        while len(self._seen) > MOST_REPLAYS:
            self._seen.popitem(last=False)
        return name
