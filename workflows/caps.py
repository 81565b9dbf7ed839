"""A ledger for caps that cross sessions, as a workflow that lives as long as its agent does (SPEC 3.3).

Two sessions that race for the last of a daily limit ask one workflow, which answers them one after the other; so only
one of them gets it. There is one for each user, for caps per user and day, and one for all users.
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..contract.caps import Reservation, Settlement
    from ..contract.names import CAPS_WORKFLOW, RESERVE_UPDATE, SETTLE_UPDATE, VIEW_QUERY
    from ..rulebook.ledger import Ledger, LedgerState
    from .cancellation import Cancellation

__all__ = ["CapsWorkflow"]


@workflow.defn(name=CAPS_WORKFLOW)
class CapsWorkflow:
    """One ledger. It begins empty, and continues as new with what it holds."""

    @workflow.init
    def __init__(self, state: LedgerState | None) -> None:
        self._ledger = Ledger(state)

    @workflow.run
    async def run(self, _: LedgerState | None) -> None:
        """Answer until it is time to continue as new. A cancel request changes nothing: a cap would begin anew."""
        await Cancellation().wait_through(
            lambda: workflow.info().is_continue_as_new_suggested() and workflow.all_handlers_finished()
        )
        workflow.continue_as_new(self._ledger.state())

    @workflow.update(name=RESERVE_UPDATE, description="Take the room of a call, all of it or nothing.")
    def reserve(self, reservation: Reservation) -> dict[str, bool]:
        """Take room if there is room for all of it; return, by rule, whether its part fits."""
        return self._ledger.reserve(reservation)

    @workflow.update(name=SETTLE_UPDATE, description="What became of a call that held room.")
    def settle(self, settlement: Settlement) -> None:
        """Keep for good what a ticket took, or give it back."""
        if settlement.keep:
            self._ledger.settle(settlement.ticket)
        else:
            self._ledger.release(settlement.ticket)

    @workflow.query(name=VIEW_QUERY, description="What is taken, by day, and by which open calls.")
    def view(self) -> LedgerState:
        """Return what the ledger holds now."""
        return self._ledger.state()
