"""A sealed page of a record: a workflow that only stays open (SPEC 7.1, 7.4).

Temporal lets go of closed workflows when a namespace's retention is over, and never of an open one. So a page is kept
for as long as somebody may want to verify the record, and ends when somebody terminates it, as the record's chain then
shows. What it holds is its input, which can be read without any worker.
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..contract.names import PAGE_WORKFLOW, VIEW_QUERY
    from ..contract.record import Page
    from .cancellation import Cancellation

__all__ = ["PageWorkflow"]


@workflow.defn(name=PAGE_WORKFLOW)
class PageWorkflow:
    """One full page of a session's record."""

    @workflow.init
    def __init__(self, page: Page) -> None:
        self._page = page

    @workflow.run
    async def run(self, _: Page) -> None:
        """Stay open, whatever is requested."""
        await Cancellation().wait_through(lambda: False)

    @workflow.query(name=VIEW_QUERY, description="The page: lines of the record.")
    def view(self) -> Page:
        """Return the page."""
        return self._page
