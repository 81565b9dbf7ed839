"""A person who answers a run's questions, and who looks at the world before saying what happened there."""

import asyncio
import time

from amends.contract.question import AnswerWord, Question
from amends.testing.witness import Effect, Witness
from amends.tests.chaos.fleet import lives
from pydantic import JsonValue

__all__ = ["Person"]


class Person:
    """Answers truthfully, as far as an answer can be true; elsewhere as told."""

    def __init__(self, witness: Witness) -> None:
        self._witness = witness

    async def says(
        self, question: Question, account: str, *, confirm: AnswerWord = "approve", undo: AnswerWord = "retry"
    ) -> tuple[AnswerWord, dict[str, JsonValue] | None]:
        """Return the answer to a question about an account, and the result that goes with it.

        ``confirm`` and ``undo`` are what to say where it is a matter of choice.
        """
        match question.kind:
            case "confirm":
                return confirm, None
            case "outcome":
                await self._until_nothing_is_under_way(question, account)
                effect = self._effect(question, account)
                return ("happened", {"id": str(effect.id)}) if effect else ("did not happen", None)
            case _:
                await self._until_nothing_is_under_way(question, account)
                return self._about_an_undo(question, account, undo)

    def _about_an_undo(
        self, question: Question, account: str, wish: AnswerWord
    ) -> tuple[AnswerWord, dict[str, JsonValue] | None]:
        effect = self._effect(question, account)
        if effect is None or effect.id not in {each.id for each in self._witness.standing(question.run)}:
            # It is gone, whatever the undo said.
            return "done by hand", None
        if wish == "done by hand":
            self._witness.by_hand(effect)
        return wish, {"id": str(effect.id)} if wish == "retry" else None

    def _effect(self, question: Question, account: str) -> Effect | None:
        effects = self._witness.effects(question.run)
        return next((each for each in effects if (each.tool, each.subject) == (question.tool, account)), None)

    async def _until_nothing_is_under_way(self, question: Question, account: str) -> None:
        """Wait until no call of the question's tools is on its way: before, nobody can say what became of it."""
        patience = time.time() + 20
        tools = {question.tool, question.undo}
        while time.time() < patience:
            under_way = [
                each
                for each in self._witness.deliveries(question.run)
                if each.tool in tools and each.subject == account and not each.ended and lives(each.pid)
            ]
            if not under_way:
                return
            await asyncio.sleep(0.02)
