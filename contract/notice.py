"""A notice: that a question was opened, told to somebody outside by a webhook (SPEC 12.3)."""

from datetime import datetime
from typing import Literal

from .model import Wire
from .question import QuestionKind

__all__ = ["Notice", "NoticeKind", "Told"]

NoticeKind = Literal["question.opened", "run.stuck"]
"""`question.opened`: a write to confirm, or a doubtful call. `run.stuck`: an undo failed."""

Told = Literal["delivered", "gone", "given up"]
"""What became of a notice. `gone`: the endpoint wants no more. `given up`: it was not taken for a day."""


class Notice(Wire):
    """What a webhook is told. It has no argument and no text of the question: those are behind the link.

    ``id`` is the same on every try. ``endpoint`` names an entry of the webhooks file; its address and its secret are in
    no history. ``url`` is the run's page.
    """

    id: str
    endpoint: str
    type: NoticeKind
    run: str
    question_id: str
    kind: QuestionKind
    tool: str
    user: str
    url: str
    at: datetime
