"""A notice: that a run needs somebody, told to somebody outside by a webhook (SPEC 12.3)."""

from datetime import datetime
from typing import Literal

from .model import Wire
from .question import QuestionKind

__all__ = ["Notice", "NoticeKind", "Told"]

NoticeKind = Literal["question.opened", "run.stuck", "run.left"]
"""`question.opened`: a write to confirm, or a doubtful call. `run.stuck`: an undo failed. `run.left`: a run is over and
something that it did stays: nothing undoes it, or the run was ended by force, or its rollback was abandoned."""

Told = Literal["delivered", "gone", "given up"]
"""What became of a notice. `gone`: the endpoint wants no more. `given up`: it was not taken for a day."""


class Notice(Wire):
    """What a webhook is told. It has no argument and no text of the question: those are behind the link.

    ``id`` is the same on every try. ``endpoint`` names an entry of the webhooks file; its address and its secret are in
    no history. ``url`` is the run's page. ``question_id``, ``kind`` and ``tool`` are those of the question, if it is
    about one.
    """

    id: str
    endpoint: str
    type: NoticeKind
    run: str
    question_id: str | None = None
    kind: QuestionKind | None = None
    tool: str | None = None
    user: str
    url: str
    at: datetime
