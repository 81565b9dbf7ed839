"""A turn to a plan: read it, bring its calls into their one wire form, and pin what the run will need (SPEC 2.5, 3.5).

Pure for one loaded agent: the same turn gives the same plan, and nothing is called.
"""

from ..contract.errors import BadArguments
from ..contract.reading import Language, ReadCall, Reading, Unread
from ..contract.run import PlannedCall
from ..contract.session import Lacking, Plan
from ..contract.tool import ToolContract
from ..contract.wording_unread import unread_sentence, value_question
from ..rulebook.check import may_ask
from .loader import LoadedAgent
from .turns import Clarifying

__all__ = ["plan_turn"]


def plan_turn(agent: LoadedAgent, text: str, language: Language | None = None, lacking: Lacking | None = None) -> Plan:
    """Return the plan of a turn, or a plan that says why the turn stays unread.

    ``language`` None leaves the choice to the agent, and then to English (SPEC 2.2). ``lacking`` is a turn whose
    missing value was asked for: if ``text`` is that value and nothing else, that turn is read with it; otherwise
    ``text`` is a turn of its own (SPEC 2.4).
    """
    if lacking is not None:
        completed = _completed(agent, text, lacking)
        if completed is not None:
            return _plan(agent, completed, lacking.language, said=f"{lacking.turn} / {text}")
    chosen = language or agent.language
    reading = agent.selector(chosen).read(text)
    if isinstance(reading, Reading):
        return _plan(agent, reading, chosen, said=text)
    plan = _unread(agent, reading, chosen)
    lacking = _lacking(agent, reading, text, chosen)
    if lacking is None:
        return plan
    question = value_question(lacking.tool, lacking.parameter, chosen)
    return plan.model_copy(update={"lacking": lacking, "text": question})


def _plan(agent: LoadedAgent, reading: Reading, chosen: Language, *, said: str) -> Plan:
    calls: list[PlannedCall] = []
    for call in reading.calls:
        try:
            arguments = agent.tools[call.tool].canonical(call.values)
        except BadArguments as error:
            return _unread(agent, _bad_value(call, error, chosen), chosen)
        calls.append(PlannedCall(tool=call.tool, arguments=arguments))
    return Plan(
        language=chosen,
        calls=tuple(calls),
        tools=_pinned(agent, [call.tool for call in calls]),
        rulebook=agent.rulebook.model_dump(mode="json"),
        atomic=agent.atomic,
        proof=agent.proof,
        expiry=agent.expiry,
        asks=any(may_ask(agent.rulebook, agent.tools[call.tool].contract) for call in calls),
        digest=agent.digest,
        lexicon=reading.lexicon,
        said=said,
    )


def _lacking(agent: LoadedAgent, unread: Unread, text: str, language: Language) -> Lacking | None:
    """Return the one value to ask for, if the agent asks and exactly one is missing."""
    if not agent.clarify or unread.code != "missing_argument" or len(unread.missing) != 1:
        return None
    tool, _, parameter = unread.missing[0].partition(".")
    return Lacking(turn=text, tool=tool, parameter=parameter, language=language) if parameter else None


def _completed(agent: LoadedAgent, text: str, lacking: Lacking) -> Reading | None:
    selector = agent.selector(lacking.language)
    if not isinstance(selector, Clarifying) or lacking.tool not in agent.tools:
        return None
    value = selector.read_value(lacking.tool, lacking.parameter, text)
    if isinstance(value, Unread):
        return None
    completed = selector.complete(lacking.turn, lacking.tool, lacking.parameter, value)
    return completed if isinstance(completed, Reading) else None


def _bad_value(call: ReadCall, error: BadArguments, language: Language) -> Unread:
    """Return why a turn stays unread whose value the tool's own annotation does not take."""
    problem = error.problems[0] if error.problems else None
    argument = call.arguments.get(problem.argument.partition(".")[0]) if problem else None
    return Unread(
        code="bad_value",
        language=language,
        at=argument.span if argument else call.span,
        text=problem.value if problem else call.tool,
        detail={"parameter": problem.argument if problem else "value", "why": str(error)},
    )


def _pinned(agent: LoadedAgent, names: list[str]) -> dict[str, ToolContract]:
    """Return the contracts a run may need: its tools, the tools that undo them, and those that tell of them."""
    wanted = dict.fromkeys(names)
    for name in [*wanted]:
        contract = agent.tools[name].contract
        if contract.undo is not None:
            wanted[contract.undo.tool] = None
    for name in [*wanted]:
        if name in agent.tools and (query := agent.tools[name].contract.outcome_query) is not None:
            wanted[query.tool] = None
    return {name: agent.tools[name].contract for name in wanted if name in agent.tools}


def _unread(agent: LoadedAgent, unread: Unread, language: Language) -> Plan:
    return Plan(language=language, unread=unread, text=unread_sentence(unread), digest=agent.digest)
