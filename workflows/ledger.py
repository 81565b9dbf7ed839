"""The record as its session keeps it: chained lines, and pages that are sealed when they are full (SPEC 7.4).

Nothing here waits or calls anything: the session asks for the next page, has it kept elsewhere, and says so.
See docs/decisions/0013-record-in-pages.md.
"""

from ..contract.chain import Head, body_of, first_hash, link
from ..contract.names import page_id
from ..contract.record import Chain, Entry, Page

__all__ = ["PAGE_BYTES", "Ledger"]

PAGE_BYTES = 256 * 1024
"""How long a page is when it is sealed. Temporal takes 2 MiB in one payload, and warns from 512 KiB on."""


class Ledger:
    """The record of one session."""

    def __init__(self, chain: Chain) -> None:
        self._session = chain.session
        self._count = chain.count
        self._head = chain.head or first_hash(chain.session)
        self._pages = list(chain.pages)
        self._lines = list(chain.lines)
        self._bytes = sum(map(_length, self._lines))

    @property
    def chain(self) -> Chain:
        """The record as it travels."""
        return Chain(
            session=self._session,
            count=self._count,
            head=self._head if self._count else "",
            pages=tuple(self._pages),
            lines=tuple(self._lines),
        )

    @property
    def head(self) -> Head:
        """The end of the chain."""
        return Head(count=self._count, hash=self._head)

    @property
    def full(self) -> bool:
        """Whether a page should be sealed."""
        return self._bytes >= PAGE_BYTES

    def add(self, entry: Entry) -> None:
        """Write a line."""
        line, self._head = link(body_of(entry), seq=self._count + 1, previous=self._head)
        self._count += 1
        self._lines.append(line)
        self._bytes += _length(line)

    def next_page(self) -> tuple[str, Page]:
        """Return the page to be sealed, and its workflow id.

        The id holds the hash of the page's last line. A session that was reset by hand may write other lines in the
        same place: they then get a page of their own, instead of being taken for the page that is there.
        """
        room, count = PAGE_BYTES, 0
        for line in self._lines:
            count += 1
            room -= _length(line)
            if room <= 0:
                break
        lines = tuple(self._lines[:count])
        number = len(self._pages) + 1
        return page_id(self._session, number, lines[-1]), Page(session=self._session, number=number, lines=lines)

    def sealed(self, name: str, page: Page) -> None:
        """Let go of the lines of a page that is now kept under that workflow id. Lines written since then stay."""
        self._pages.append(name)
        del self._lines[: len(page.lines)]
        self._bytes = sum(map(_length, self._lines))


def _length(line: str) -> int:
    return len(line) if line.isascii() else len(line.encode())
