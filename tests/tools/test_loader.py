"""Loading an agent: what a good file gives, and that every mistake has its file, its line and a way out."""

import datetime as dt
import textwrap
from decimal import Decimal
from pathlib import Path

import pytest
from amends.contract.errors import Ambiguous, NotFound
from amends.contract.mistakes import FileMistakes
from amends.contract.question import Expiry
from amends.contract.reading import Reading
from amends.contract.tool import UndoBinding
from amends.tools.loader import load_agent

TOOLS = """
from decimal import Decimal
from amends import tool

@tool
def get_order(order_id: str) -> dict[str, str]:
    return {}

@tool(writes=True, undo="refund_card")
def charge_card(order_id: str, amount: Decimal) -> dict[str, str]:
    return {}

@tool(writes=True, irreversible=True)
def refund_card(order_id: str, amount: Decimal) -> None:
    ...

@tool(writes=True)
def label(add: str = "", remove: str = "") -> None:
    ...
"""
GOOD = """
agents:
  desk:
    model: "anthropic:claude-sonnet-5-5"
    tools: [get_order, charge_card, refund_card, label]
    on_unread: refuse
tools:
  - python: ./shop.py
  - label: {undo: {tool: label, arguments: {add: $args.remove, remove: $args.add}}}
runs: independent
"""


class FakeSelector:
    def read(self, turn: str, today: dt.date | None = None) -> Reading:
        return Reading(language="en", lexicon=f"{turn} {today}", calls=())


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(textwrap.dedent(text), encoding="utf-8")
    return folder / "agent.yaml"


def load(path: Path, **options):
    return load_agent(path, compile_selector=lambda *_: FakeSelector(), **options)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, shop__py=TOOLS)
    return tmp_path


def mistakes_of(path: Path, **options) -> list[str]:
    with pytest.raises(FileMistakes) as caught:
        load(path, **options)
    return [str(mistake).replace(f"{path.parent}/", "") for mistake in caught.value.mistakes]


def test_a_good_file_gives_an_agent(folder):
    agent = load(write(folder, agent__yaml=GOOD), context={"card_on_file": True})
    assert (agent.name, agent.model, agent.atomic, agent.on_unread, agent.language) == (
        "desk",
        "anthropic:claude-sonnet-5-5",
        False,
        "refuse",
        "en",
    )
    assert list(agent.tools) == list(agent.contracts) == ["get_order", "charge_card", "refund_card", "label"]
    assert agent.facts == {"card_on_file": True}
    assert agent.tools["charge_card"].canonical({"order_id": "4411", "amount": Decimal(40)})["amount"] == "40.00"


def test_undos_are_bound_by_name_or_as_the_file_says(folder):
    contracts = load(write(folder, agent__yaml=GOOD)).contracts
    assert contracts["charge_card"].undo == UndoBinding(
        tool="refund_card", arguments={"order_id": "$args.order_id", "amount": "$args.amount"}
    )
    assert contracts["label"].undo == UndoBinding(
        tool="label", arguments={"add": "$args.remove", "remove": "$args.add"}
    )


@pytest.mark.parametrize(
    "tools",
    [
        "{python: ./shop.py, charge_card: {undo: none, at_most: 2}}",
        "[{python: [./shop.py]}, {charge_card: {undo: none}}, {get_order: {reads_outside: true}}]",
        "[{python: ./shop.py, charge_card: {undo: none, timeout: 2.5}}]",
    ],
)
def test_entries_stand_in_the_list_or_in_a_mapping_and_go_over_the_decorator(folder, tools):
    if "at_most" in tools:
        tools = tools.replace(", at_most: 2", "")
    text = f"agents: {{desk: {{tools: [get_order, charge_card]}}}}\ntools: {tools}\n"
    contracts = load(write(folder, agent__yaml=text)).contracts
    assert contracts["charge_card"].undo is None
    assert contracts["charge_card"].undo_none
    assert contracts["charge_card"].writes
    assert contracts["get_order"].reads_outside is ("reads_outside" in tools)
    assert contracts["charge_card"].timeout_ms == (2500 if "timeout" in tools else 60_000)


def test_an_undo_outside_the_agents_tools_is_no_mistake(folder):
    agent = load(write(folder, agent__yaml=GOOD.replace("charge_card, refund_card", "charge_card")))
    assert agent.contracts["charge_card"].undo.arguments is not None
    assert "refund_card" not in agent.tools


def test_an_undo_that_no_source_offers_is_no_mistake(folder):
    text = GOOD.replace("{undo: {tool: label, arguments: {add: $args.remove, remove: $args.add}}}", "{undo: unlabel}")
    assert load(write(folder, agent__yaml=text)).contracts["label"].undo == UndoBinding(tool="unlabel")


def test_the_digest_follows_what_is_said_and_not_where(folder):
    digest = load(write(folder, agent__yaml=GOOD)).digest
    assert load(write(folder, agent__yaml="# moved\n" + GOOD)).digest == digest
    assert load(write(folder, agent__yaml=GOOD.replace("independent", "atomic"))).digest != digest
    assert load(write(folder, agent__yaml=GOOD.replace("tools: [get_order, ", "tools: ["))).digest != digest
    spoken = GOOD + "vocabulary: ./words.yaml\n"
    write(folder, words__yaml="tools: {charge_card: {verbs: [bill]}}\n")
    worded = load(write(folder, agent__yaml=spoken)).digest
    assert worded != digest
    write(folder, words__yaml="tools: {charge_card: {verbs: [debit]}}\n")
    assert load(folder / "agent.yaml").digest not in (worded, digest)


def test_the_language_is_the_agents_then_the_files_then_the_vocabularys(folder):
    write(folder, words__yaml="settings: {language: pt-BR}\n")
    spoken = GOOD + "vocabulary: ./words.yaml\n"
    assert load(write(folder, agent__yaml=spoken)).language == "pt-BR"
    assert load(write(folder, agent__yaml=spoken + "language: en\n")).language == "en"
    own = spoken.replace("on_unread: refuse", "on_unread: refuse\n    language: pt-BR") + "language: en\n"
    assert load(write(folder, agent__yaml=own)).language == "pt-BR"


def test_a_selector_is_made_once_for_each_language_with_its_vocabulary(folder):
    write(folder, en__yaml="", pt__yaml="settings: {language: pt-BR}\n")
    text = GOOD + "vocabulary: {en: ./en.yaml, pt-BR: ./pt.yaml}\n"
    made: list[tuple[str, tuple[str, ...], str | None]] = []

    def compile_selector(language, contracts, words):
        made.append((language, tuple(c.name for c in contracts), words and words.path.name))
        return FakeSelector()

    agent = load_agent(write(folder, agent__yaml=text), compile_selector=compile_selector)
    assert agent.selector() is agent.selector("en")
    assert agent.selector("pt-BR") is not agent.selector("en")
    names = ("get_order", "charge_card", "refund_card", "label")
    assert made == [("en", names, "en.yaml"), ("pt-BR", names, "pt.yaml")]


def test_the_agent_may_be_left_out_only_when_there_is_one(folder):
    two = GOOD.replace("tools:\n  - python", "  back:\n    tools: [label]\ntools:\n  - python")
    path = write(folder, agent__yaml=two)
    assert load(path, agent="back").name == "back"
    with pytest.raises(Ambiguous, match=r"has 2 agents: desk, back\. Name one, such as agent='desk'\.") as caught:
        load(path)
    assert caught.value.choices == ("desk", "back")
    with pytest.raises(NotFound, match=r"has no agent 'dsk'\. Did you mean desk\?"):
        load(path, agent="dsk")


def test_rules_come_from_the_rule_file_and_from_the_words_of_the_tools(folder):
    text = GOOD + "rulebook: ./policy.co\n"
    path = write(folder, agent__yaml=text, policy__co="# no rules\n\n")
    assert load(path).rulebook.rules == ()
    plain = load(path).digest
    write(folder, agent__yaml=text.replace("- label: {", "- label: {after: charge_card, "))
    assert [rule.id for rule in load(path).rulebook.rules] == ["label.after"]
    sheet = "rules: [{id: paid, action: charge_card, requires: [card_on_file]}]\n"
    write(folder, agent__yaml=text.replace("policy.co", "rules.yaml"), rules__yaml=sheet)
    assert [rule.id for rule in load(path).rulebook.rules] == ["paid"]
    assert load(path).digest != plain


def test_a_rule_may_speak_of_a_tool_of_another_agent_of_the_file(folder):
    two = GOOD.replace("tools:\n  - python", "  back:\n    tools: [label]\ntools:\n  - python")
    sheet = "rules: [{id: paid, action: charge_card, requires: [card_on_file]}]\n"
    path = write(folder, agent__yaml=two + "rulebook: rules.yaml\n", rules__yaml=sheet)
    assert [rule.id for rule in load(path, agent="back").rulebook.rules] == ["paid"]


def test_mistakes_in_rules_are_told_with_those_of_the_agent_file(folder):
    text = GOOD.replace("refuse", "refuse\n    hands_off_to: [nobody]") + "rulebook: rules.yaml\n"
    path = write(folder, agent__yaml=text, rules__yaml="rules:\n  - {id: a, action: charge_crad, never: true}\n")
    said = mistakes_of(path)
    assert [mistake.partition(": ")[0] for mistake in said] == ["agent.yaml:7", "rules.yaml:2"]
    assert "charge_card" in said[1]
    assert mistakes_of(write(folder, agent__yaml=GOOD + "rulebook: ./rles.yaml\n")) == [
        "agent.yaml:11: rulebook './rles.yaml': there is no such file; did you mean rules.yaml?"
    ]


def test_turns_are_read_with_the_tools_and_the_vocabulary_of_the_agent(folder):
    words = "tools: {charge_card: {verbs: [bill]}}\n"
    agent = load_agent(write(folder, agent__yaml=GOOD + "vocabulary: words.yaml\n", words__yaml=words))
    read = agent.selector().read("bill order 4411 40.00")
    assert isinstance(read, Reading)
    assert [(call.tool, call.values) for call in read.calls] == [
        ("charge_card", {"order_id": "4411", "amount": "40.00"})
    ]
    assert isinstance(agent.selector("pt-BR").read("cobre 40,00 do pedido 4411"), Reading)


def test_a_vocabulary_that_cannot_be_compiled_is_refused_when_the_agent_is_loaded(folder):
    write(folder, words__yaml="tools: {charge_card: {verbs: [b\u0000ll]}}\n".replace("\u0000", "~"))
    with pytest.raises(FileMistakes, match=r"words\.yaml"):
        load_agent(write(folder, agent__yaml=GOOD + "vocabulary: words.yaml\n"))


def test_context_must_be_exact_plain_data(folder):
    with pytest.raises(TypeError, match=r"\$\.limit: 1\.5 is a float"):
        load(write(folder, agent__yaml=GOOD), context={"limit": 1.5})


def test_every_mistake_of_a_file_is_told_at_once_with_its_line(folder):
    text = """\
        agent:
          desk:
            tools: get_order
            on_unraed: refuse
        agents:
          desk:
            tools: get_order
            on_unread: ignore
            on_unraed: refuse
          Big Desk: {tools: [get_order]}
        tools:
          - ./shop.py
          - mcp: shop
          - charge_card: {write: true, retry_safe: yes, undo: , at_most: -1}
          - charge_card: {}
          - python: 3
        runs: atomc
        vocabulary: {fr: ./fr.yaml}
        """
    said = mistakes_of(write(folder, agent__yaml=text))
    assert said == [
        "agent.yaml:1: unknown key 'agent'; did you mean agents?",
        "agent.yaml:7: agents.desk.tools is 'get_order'; it should be a valid list",
        "agent.yaml:8: agents.desk.on_unread is 'ignore'; it is one of refuse, ask, model",
        "agent.yaml:9: unknown key 'on_unraed'; did you mean on_unread?",
        "agent.yaml:10: agents.Big Desk: a name is small letters, digits, - and _, a letter first, 63 at most",
        "agent.yaml:12: './shop.py' is no source; write `- python: ./shop.py`, or an entry with keys",
        "agent.yaml:13: mcp: this release cannot load the tools of an MCP server; wrap each in a function of a module",
        "agent.yaml:14: tools.2.charge_card.undo: an empty undo says nothing; write `undo: none` to say that nothing undoes it",  # noqa: E501
        "agent.yaml:14: tools.2.charge_card.retry_safe is 'yes'; it should be a valid boolean",
        "agent.yaml:14: tools.2.charge_card.at_most is -1; it should be greater than or equal to 0",
        "agent.yaml:14: unknown key 'write'; did you mean writes?",
        "agent.yaml:16: python: 3 is no module; write `python: shop.tools`",
        "agent.yaml:17: runs is 'atomc'; it is one of atomic, independent; did you mean atomic?",
        "agent.yaml:18: vocabulary.fr is 'fr'; it is one of en, pt-BR",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "agent.yaml:1: the file holds keys with values; None has none"),
        ("agents: {}\ntools: []\n", "agent.yaml:1: agents is {}; "),
        ("tools: []\n", "agent.yaml:1: agents is missing"),
        ("agents: {desk: {tools: [a]}}\n", "agent.yaml:1: tools is missing"),
        ("agents: {desk: {}}\ntools: []\n", "agent.yaml:1: agents.desk.tools is missing"),
        ("agents: {desk: {tools: [a]}}\ntools:\n", "agent.yaml:2: None is no source"),
        ("agents: {desk: {tools: [a]}}\ntools: []\n", "agent.yaml:1: agent desk lists the tool 'a', which no source"),
        ("runs: atomic\nruns: atomic\n", "agent.yaml:2: the key 'runs' is given twice; it stands on line 1 too"),
        ("agents: [\n", "agent.yaml:2: not readable as YAML"),
        (GOOD + "  desk: 1\n", "not readable as YAML"),
        (GOOD.replace("refuse", "ask"), "agent.yaml:6: on_unread: ask: this release cannot hand a turn to a model"),
        (
            GOOD.replace("refuse", "refuse\n    confirm_expires: 30"),
            "agent.yaml:7: agents.desk.confirm_expires: 30 has no unit; write a length",
        ),
        (
            GOOD.replace("refuse", "refuse\n    confirm_expires: 0h"),
            "agent.yaml:7: agents.desk.confirm_expires: '0h' is no length of time such as",
        ),
        (
            GOOD.replace("refuse", "refuse\n    confirm_expires: 400d"),
            "agent.yaml:7: agents.desk.confirm_expires: 400d is more than 366 days",
        ),
        (
            GOOD.replace("refuse", "refuse\n    on_expiry: skip"),
            "agent.yaml:7: agents.desk.on_expiry is 'skip'; it is one of wait, cancel all",
        ),
        (
            GOOD.replace("refuse", "refuse\n    on_expiry: cancel all"),
            "agent.yaml:7: on_expiry: cancel all: nothing expires",
        ),
        (GOOD.replace("refuse", "model"), "agent.yaml:6: on_unread: model: this release cannot hand a turn"),
        (GOOD.replace("on_unread: refuse", "clarify: perhaps"), "agent.yaml:6: agents.desk.clarify"),
        (GOOD.replace("label]", "label, label]"), "agent.yaml:5: agent desk lists the tool 'label' twice"),
        (
            GOOD.replace("label]", "lable]"),
            "agent.yaml:5: agent desk lists the tool 'lable', which no source offers; did you mean label?",
        ),
        (
            GOOD.replace("on_unread: refuse", "hands_off_to: [dsk]"),
            "agent.yaml:6: agent desk hands off to 'dsk', which is no agent of this file; did you mean desk?",
        ),
        (
            GOOD.replace("- label:", "- lable:"),
            "agent.yaml:9: no source offers a tool named 'lable'; the sources are ./shop.py; did you mean label?",
        ),
        (
            GOOD.replace("- label: {", "- refund_card: {irreversible: true, "),
            "agent.yaml:9: refund_card: it is irreversible and undone by label: keep one of the two",
        ),
        (GOOD.replace("- label:", "- get_order:"), "agent.yaml:9: get_order: it says undo but not that it writes"),
        (GOOD.replace("./shop.py", "./shp.py"), "there is no file"),
        (GOOD.replace("./shop.py", "shopp_tools_x"), "agent.yaml:8: python: there is no module 'shopp_tools_x'"),
        (
            GOOD.replace("./shop.py", "shop tools"),
            "agent.yaml:8: python: 'shop tools' is no module name; write it as `shop.tools`",
        ),
        (GOOD.replace("./shop.py", "json"), "agent.yaml:8: python: json has no function marked @tool"),
        (
            GOOD + "vocabulary: ./wrds.yaml\n",
            "agent.yaml:11: vocabulary 'wrds.yaml': there is no such file; did you mean words.yaml?",
        ),
        (
            GOOD + "vocabulary: {en: ./words.yaml}\n",
            "words.yaml:1: settings.language is pt-BR, but agent.yaml:11 names this file for en",
        ),
        (GOOD + "vocabulary: ./other.yaml\n", "other.yaml:1: settings.language is 'pt'; it is one of en, pt-BR"),
    ],
)
def test_a_mistake_names_its_place_its_value_and_the_way_out(folder, text, said):
    write(folder, words__yaml="settings: {language: pt-BR}\n", other__yaml="settings: {language: pt}\n")
    assert any(said in mistake for mistake in mistakes_of(write(folder, agent__yaml=text)))


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    assert mistakes_of(tmp_path / "agent.yml") == ["agent.yml: there is no such file"]


def test_mistakes_in_tools_and_in_the_agent_are_told_together(folder):
    write(folder, bad__py="from amends import tool\n\n@tool\ndef star(*names: str): ...\n\n@tool\ndef Loud(): ...\n")
    text = GOOD.replace("./shop.py", "[./shop.py, ./bad.py]").replace("refuse", "refuse\n    hands_off_to: [nobody]")
    said = mistakes_of(write(folder, agent__yaml=text))
    assert [mistake.partition(": ")[0] for mistake in said] == ["agent.yaml:7", "bad.py:3", "bad.py:6"]


def test_two_functions_of_one_name_are_refused_and_one_imported_twice_is_not(folder):
    write(folder, again__py=TOOLS)
    said = mistakes_of(write(folder, agent__yaml=GOOD.replace("./shop.py", "[./shop.py, ./again.py]")))
    assert len(said) == 4
    assert said[0].startswith("again.py:5: two functions are named get_order; the other is at shop.py:5")
    both = GOOD.replace("./shop.py", "[./shop.py, ./shop.py]")
    assert len(load(write(folder, agent__yaml=both)).tools) == 4


@pytest.mark.parametrize(
    ("written", "seconds", "then"),
    [
        ("confirm_expires: 45s", 45, "wait"),
        ("confirm_expires: 30m\n    on_expiry: wait", 1800, "wait"),
        ("confirm_expires: 2d\n    on_expiry: cancel all", 172_800, "cancel all"),
    ],
)
def test_how_long_a_write_waits_to_be_confirmed(tmp_path, written, seconds, then):
    file = write(tmp_path, agent__yaml=GOOD.replace("on_unread: refuse", written), shop__py=TOOLS)
    agent = load(file)
    assert agent.expiry == Expiry(seconds=seconds, then=then)
    assert agent.digest != load(write(tmp_path, agent__yaml=GOOD)).digest
