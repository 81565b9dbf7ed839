"""A workflow whose sandbox imports the selector anew, not passed through, and reads a turn with it."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    import amends.contract.canonical  # noqa: F401 -- compiling hashes with it; reading does not use it

from amends.contract.tool import Parameter, ToolContract
from amends.selector.compiled import compile_selector

ORDER = Parameter(name="order_id", kind="id")
TOOLS = (
    ToolContract(name="get_order", parameters=(ORDER,)),
    ToolContract(name="charge_card", writes=True, parameters=(ORDER, Parameter(name="amount", kind="money"))),
    ToolContract(name="schedule_delivery", writes=True, parameters=(ORDER, Parameter(name="date", kind="date"))),
)
SELECTORS = {language: compile_selector(TOOLS, language=language) for language in ("en", "pt-BR")}


@workflow.defn
class ReadsATurn:
    """Reads turns inside the sandbox."""

    @workflow.run
    async def run(self, turns: list[list[str]]) -> list[str]:
        """Return what each turn, given with its language, was read to."""
        assert workflow.unsafe.in_sandbox()
        return [SELECTORS[language].read(turn).model_dump_json() for language, turn in turns]
