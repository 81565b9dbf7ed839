"""Which runs of a session are forks of which (SPEC 8.3). Pure."""

from collections.abc import Iterable, Iterator

from ..contract.session import Fork

__all__ = ["Lineage"]


class Lineage:
    """The forks of one session, oldest first."""

    def __init__(self, forks: Iterable[Fork]) -> None:
        self._of = {fork.run: fork.of for fork in forks}

    @property
    def forks(self) -> tuple[Fork, ...]:
        """Every fork, oldest first."""
        return tuple(Fork(run=run, of=of) for run, of in self._of.items())

    def note(self, run: str, of: str) -> None:
        """Note that ``run`` is a fork of ``of``."""
        self._of[run] = of

    def with_ancestors(self, run: str) -> Iterator[str]:
        """Yield a run, the one it was forked from, and so on."""
        while run:
            yield run
            run = self._of.get(run, "")

    def descendants(self, run: str) -> list[str]:
        """Return the forks of a run, and theirs, latest first: the order in which they have to be undone."""
        found = {run: None}
        for fork, of in self._of.items():  # a fork comes after what it is a fork of
            if of in found:
                found[fork] = None
        return [fork for fork in reversed(found) if fork != run]
