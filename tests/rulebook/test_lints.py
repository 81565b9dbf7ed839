"""The registration lints: word for word, each with a neighbour that does not get it."""

import re
from pathlib import Path

import pytest
from amends.contract.tool import Parameter, ToolContract, UndoBinding
from amends.rulebook.finding import Finding
from amends.rulebook.lints import LINTS, lint, not_said_by
from amends.rulebook.model import AgentModel, System
from amends.rulebook.rules import Confirm, FactHolds, Rulebook, Unconfirmed
from amends.rulebook.verify import verify

DOCS = Path(__file__).parents[2] / "docs"
ID = Parameter(name="order_id", kind="id")
NOTHING = {"type": "null"}


def write(name="save", **more):
    said = {"writes": True, "retry_safe": True, "result_schema": NOTHING, "undo_none": True, "parameters": (ID,)}
    if isinstance(more.get("undo"), str):
        more["undo"] = UndoBinding(tool=more["undo"])
    if more.get("undo") or more.get("irreversible"):
        said["undo_none"] = False
    return ToolContract(name=name, **{**said, **more})


def said(*tools, rulebook=None, agents=()):
    return [(f.code, f.tool, f.message) for f in lint(agents, {t.name: t for t in tools}, rulebook=rulebook)]


BACK = write("back")
VERSION = write("back", parameters=(ID, Parameter(name="version", kind="int", base="integer")))

SHOWN = [
    (
        "write_without_compensation", [write(undo_none=False)],
        "a write neither compensated nor marked irreversible",
        [[write()], [write(irreversible=True)], [write(undo="back"), BACK], [write(writes=False, undo_none=False)]],
    ),
    (
        "write_not_retry_safe", [write(retry_safe=False)],
        "a write with no idempotency, so an ambiguous failure goes to a person",
        [[write()], [write(retry_safe=False, source="mcp")], [write(retry_safe=False, irreversible=True)]],
    ),
    (
        "compensation_unknown_tool", [write(undo="bakc"), BACK],
        "the compensation names 'bakc', which the catalogue lacks",
        [[write(undo="back"), BACK]],
    ),
    (
        "compensation_not_retry_safe", [write(undo="back"), write("back", retry_safe=False)],
        "'back' undoes it and is not retry-safe",
        [[write(undo="back"), BACK], [write(), write("back", retry_safe=False)]],
    ),
    (
        "compensation_unbound", [write(undo="back"), VERSION],
        "version <- $result.version",
        [
            [write(undo="back"), BACK],
            [write(undo="back", result_schema={"properties": {"version": {"type": "integer"}}}), VERSION],
            [write(undo="back", result_schema=None), VERSION],
        ],
    ),
    (
        "compensation_cycle", [write(undo="back"), write("back", undo="save")],
        "its compensations return to 'save'",
        [[write(undo="back"), BACK], [write(undo="back"), write("back", irreversible=True)]],
    ),
    (
        "write_without_result_schema", [write(result_schema=None)],
        "a write that does not say what it returns",
        [[write()], [write(result_schema=None, source="mcp")], [write(result_schema=None, writes=False)]],
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", SHOWN, ids=[case[0] for case in SHOWN])
def test_a_lint_is_printed_to_the_letter_and_not_beside(case):
    code, tools, message, neighbours = case
    assert (code, "save", message) in said(*tools)
    for neighbour in neighbours:
        assert code not in [found[0] for found in said(*neighbour)]


def test_an_irreversible_write_that_nobody_is_asked_about():
    final = write(irreversible=True)
    small = Unconfirmed(id="u", actions=("save",), when=FactHolds(fact="small"))
    always, big = Confirm(id="c", actions=("*",)), Confirm(id="c", actions=("save",), when=FactHolds(fact="big"))
    message = "an irreversible operation that asks for no confirmation"
    for rulebook in (
        Rulebook(confirm_writes=False),
        Rulebook(rules=(small,)),
        Rulebook(rules=(big,), confirm_writes=False),
    ):
        assert said(final, rulebook=rulebook) == [("irreversible_without_confirmation", "save", message)]
    assert said(final) == []
    for rulebook in (Rulebook(rules=(small, always)), Rulebook(rules=(always,), confirm_writes=False)):
        assert said(final, rulebook=rulebook) == []
    assert said(write(), rulebook=Rulebook(confirm_writes=False)) == []


def test_an_undo_that_an_agent_cannot_call():
    tools = (write(undo="back"), BACK)
    message = "agent 'desk' can call it but not 'back', which undoes it, so a run of that agent cannot undo it"
    assert said(*tools, agents=[AgentModel(name="desk", tools=("save",))]) == [
        ("compensation_out_of_reach", "save", message)
    ]
    assert said(*tools, agents=[AgentModel(name="desk", tools=("save", "back"))]) == []
    assert said(*tools, agents=[AgentModel(name="desk", tools=("back",))]) == []


def label(**bound):
    texts = tuple(Parameter(name=name, kind="text") for name in ("add", "remove"))
    return write("label", undo=UndoBinding(tool="label", arguments=bound or None), parameters=texts)


@pytest.mark.parametrize(
    ("tool", "returns"),
    [
        (label(add="$args.remove", remove="$args.add"), False),
        (label(add="$result.before", remove="$args.add"), False),
        (label(add="$args.add", remove="$args.remove"), True),
        (label(add="$args.remove", remove="$args.remove"), True),
        (label(add="none", remove="$args.add"), True),
        (label(), True),
    ],
)
def test_a_tool_that_undoes_itself_must_be_its_own_inverse(tool, returns):
    found = said(tool.model_copy(update={"result_schema": None}))
    assert (("compensation_cycle", "label", "its compensations return to 'label'") in found) is returns


def test_a_chain_that_leads_into_a_cycle_returns_to_where_it_enters_it():
    tools = write("first", undo="save"), write(undo="back"), write("back", undo="save")
    assert [found for found in said(*tools) if found[0] == "compensation_cycle"] == [
        ("compensation_cycle", "first", "its compensations return to 'save'"),
        ("compensation_cycle", "save", "its compensations return to 'save'"),
        ("compensation_cycle", "back", "its compensations return to 'back'"),
    ]


def test_a_binding_that_names_nothing_is_unbound():
    odd = write(undo=UndoBinding(tool="back", arguments={"order_id": "$args.nope", "extra": "$args.order_id"}))
    messages = [message for code, _, message in said(odd, BACK) if code == "compensation_unbound"]
    assert messages == ["extra <- $args.order_id", "order_id <- $args.nope"]
    silent = write(undo=UndoBinding(tool="back", arguments={}))
    assert ("compensation_unbound", "save", "order_id <- nothing") in said(silent, BACK)


def test_a_finding_suppresses_its_lint():
    tools = {tool.name: tool for tool in (write(undo_none=False), write("other"), write("alone", undo="back"), BACK)}
    agents = (
        AgentModel(name="desk", tools=("save", "other")),
        AgentModel(name="hall", tools=("alone",), entry=False),
    )
    lints = {(f.code, f.tool) for f in lint(agents, tools)}
    assert {("write_without_compensation", "save"), ("compensation_out_of_reach", "alone")} <= lints
    verdict = verify(System(agents=agents, tools=tools))
    assert {"QG105", "QG106"} <= {f.code for f in verdict.findings}
    assert verdict.lints == ()


def test_a_finding_about_another_tool_or_agent_suppresses_nothing():
    one = Finding(code="compensation_out_of_reach", severity="note", message="", agent="desk", tool="save")
    other = Finding(code="QG106", severity="error", message="", agent="hall", tool="save")
    assert not_said_by([one], [other]) == (one,)
    assert not_said_by([one], [other.model_copy(update={"agent": "desk"})]) == ()
    assert not_said_by([one], [other.model_copy(update={"agent": "desk", "tool": "x"})]) == (one,)


@pytest.mark.parametrize("code", LINTS)
def test_every_lint_is_documented(code):
    text = (DOCS / "lints.md").read_text(encoding="utf-8")
    sections = re.split(r"^### ", text, flags=re.MULTILINE)
    assert sum(section.startswith(f"{code}\n") for section in sections) == 1


def test_every_lint_has_its_example_here():
    shown = {case[0] for case in SHOWN} | {"irreversible_without_confirmation", "compensation_out_of_reach"}
    assert shown == set(LINTS)
