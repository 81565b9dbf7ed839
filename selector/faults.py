"""How a reading ends early: the one exception of the selector, caught where reading began."""

from ..contract.reading import Span, Unread, UnreadCode

__all__ = ["NotRead", "not_read"]


class NotRead(Exception):  # noqa: N818 -- an outcome of reading, not an error
    """The turn is unread; ``unread`` says why."""

    def __init__(self, unread: Unread) -> None:
        self.unread = unread
        super().__init__(unread.code)


def not_read(code: UnreadCode, *, at: Span | None = None, text: str = "", **detail: str) -> NotRead:
    """Make the exception for a code that needs no more than a place, the words there and a detail or two."""
    return NotRead(Unread(code=code, at=at, text=text, detail=detail))
