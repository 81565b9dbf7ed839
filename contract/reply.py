"""The one thing a caller gets back: what to show a person now (SPEC 4.8)."""

from .model import Wire
from .question import Question
from .reading import Unread
from .run import OPEN_STATES, RunState, RunView, Step

__all__ = ["Reply"]


class Reply(Wire):
    """What a turn or an answer came to.

    ``text`` is for the person: the run's one reply once it is over, or why the turn was not read; empty while the run
    goes on. ``waiting`` holds the questions that need a person. ``run`` is the run's id, empty when the turn started
    none. ``undone`` and ``left`` name tools in the order the rollback came to them. ``unread`` says where the reading
    of a turn failed.
    """

    text: str = ""
    state: RunState
    waiting: tuple[Question, ...] = ()
    run: str = ""
    steps: tuple[Step, ...] = ()
    undone: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unread: Unread | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state not in OPEN_STATES

    @classmethod
    def of_run(cls, view: RunView) -> "Reply":
        """Return the reply that shows ``view``."""
        return cls(
            text=view.text,
            state=view.state,
            waiting=view.waiting,
            run=view.run,
            steps=view.steps,
            undone=tuple(view.steps[position - 1].tool for position in view.undone),
            left=tuple(view.steps[position - 1].tool for position in view.left),
        )
