"""Vocabulary files: what they add, and every mistake in them by file and line."""

from pathlib import Path

import pytest
from amends.contract.mistakes import FileMistakes
from amends.contract.reading import Reading
from amends.contract.tool import Parameter
from amends.selector.collisions import Collision, collisions, unsayable
from amends.selector.compiled import compile_selector
from amends.selector.vocabulary import load_vocabulary, read_vocabulary
from amends.tests.selector.desk import AMOUNT, DESK, ORDER, SHOP, read, read_tool, said, write_tool


def mistakes_in(text, tools=DESK):
    with pytest.raises(FileMistakes) as caught:
        read_vocabulary(text, tools, file="v.yaml")
    return [(mistake.line, mistake.message, mistake.near) for mistake in caught.value.mistakes]


def test_the_desk_vocabularies_load_from_their_files(tmp_path):
    file = tmp_path / "v.yaml"
    file.write_text("settings: {language: pt-BR}\ntools:\n  send_receipt: {verbs: [despachar]}\n", encoding="utf-8")
    assert load_vocabulary(file, DESK).tools["send_receipt"].verbs == ("despachar",)
    with pytest.raises(FileNotFoundError):
        load_vocabulary(Path(tmp_path / "none.yaml"), DESK)


def test_an_empty_file_is_an_empty_vocabulary():
    assert read_vocabulary("", DESK, file="v.yaml").vocabulary.tools == {}


@pytest.mark.parametrize(
    ("text", "line", "message", "near"),
    [
        ("tools:\n  chrage_card: {verbs: [bill]}\n", 2, "no tool named 'chrage_card'", ("charge_card",)),
        ("arguments:\n  ordr_id: {nouns: [order]}\n", 2, "no tool has an argument named", ("order_id", "order_ids")),
        ("tools:\n  charge_card:\n    arguments:\n      amnt: {nouns: [sum]}\n", 4, "has no argument 'amnt'", ()),
        ("tools:\n  charge_card:\n    verb: [bill]\n", 3, "unknown key 'tools.charge_card.verb'", ("verbs",)),
        ("setings: {language: en}\n", 1, "unknown key 'setings'", ("settings",)),
        ("settings: {language: fr}\n", 1, "settings.language", ()),
        ("settings: {currency: dollars}\n", 1, "settings.currency", ()),
        ("tools:\n  charge_card:\n    verbs:\n      - bill\n      - not bill\n", 5, "unread (negation)", ()),
        ("tools:\n  charge_card: {verbs: [bill all]}\n", 2, "unread (quantity)", ()),
        ("tools:\n  charge_card: {object: [then]}\n", 2, "has a part in the grammar", ()),
        ("tools:\n  charge_card: {object: ['50%']}\n", 2, "which no turn may have", ()),
        ("tools:\n  charge_card: {object: ['card 2']}\n", 2, "is not made of words: 2", ()),
        ("arguments:\n  order_id: {shape: '(\\d+)+'}\n", 2, "repeats a group", ()),
        ("arguments:\n  order_id: {shape: '(\\d'}\n", 2, "is no regular expression", ()),
        ("arguments:\n  amount: {shape: '\\d'}\n", 2, "only an id has a shape", ()),
        ("tools:\n  charge_card:\n    asks: [where is]\n", 3, "a question may only call a tool that does not", ()),
        ("tools:\n  get_order: {asks: [what about all]}\n", 2, "unread (quantity)", ()),
        ("arguments:\n  speed: {values: {fast: [quick]}}\n", 2, "'fast' is none of standard, express", ()),
        ("arguments:\n  amount: {values: {high: [high]}}\n", 2, "only an enum or a bool has values", ()),
        ("arguments:\n  notify: {values: {'false': [without]}}\n", 2, "alone makes a turn unread (negation)", ()),
        (
            "arguments:\n  speed:\n    values:\n      express: [fast]\n      standard: [fast]\n",
            5,
            "'fast' stands for 'express' already",
            (),
        ),
        ("settings: {language: pt-BR}\ntools:\n  charge_card: {verbs: [cobre]}\n", 3, "is not an infinitive", ()),
        ("tools:\n  charge_card: {verbs: [bill]}\n  charge_card: {}\n", 3, "given twice", ()),
        ("tools: [charge_card]\n", 1, "tools: input should be", ()),
        ("examples:\n  - say: charge order 4411\n    reads: [{tool: charge_card}]\n", 2, "stays unread", ()),
        ("examples:\n  - say: get order 4411\n    reads: []\n", 3, "examples.0.reads", ()),
        (
            "examples:\n  - {say: get order 4411, reads: [{tool: get_order, order_id: '4412'}]}\n",
            2,
            "reads to get_order(order_id=4411)",
            (),
        ),
        ("unread:\n  - send order 4411\n  - get order 4411\n", 3, "must stay unread, and reads to", ()),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_nearest_words(text, line, message, near):
    found = mistakes_in(text)
    assert any(at == line and message in told and near == close for at, told, close in found), found


def test_every_mistake_is_told_at_once():
    text = "arguments:\n  ordr_id: {nouns: [order]}\ntools:\n  chrage_card: {}\n  get_order: {verbs: [never]}\n"
    assert [line for line, _, _ in mistakes_in(text)] == [2, 4, 5]


def test_two_tools_that_one_turn_could_mean_are_named():
    twins = [write_tool("send_note", "", ORDER), write_tool("mail_note", "", ORDER)]
    told = mistakes_in("tools: {mail_note: {verbs: [send], object: [note], only_these_verbs: true}}\n", twins)
    assert {(line, message) for line, message, _ in told} == {
        (1, "'send note order 4411' could be mail_note or send_note; give them different words")
    }


def test_collisions_and_tools_no_turn_can_say_are_found_without_a_vocabulary_file():
    twins = [write_tool("refund_card", "", ORDER), write_tool("refund_card_now", "", ORDER)]
    assert collisions(twins, language="en") == (
        Collision("refund_card_now", "refund card now order 4411", ("refund_card", "refund_card_now")),
    )
    assert collisions(DESK, language="en") == collisions(DESK, language="pt-BR") == ()
    again = [*DESK, write_tool("charge", "", ORDER, AMOUNT)]
    found = {collision.tool: collision for collision in collisions(again, language="en")}
    assert found["charge"].turn == "charge order 4411 amount 40.00"
    assert found["charge"].meant == ("charge", "charge_card")
    assert unsayable([*DESK, write_tool("send_widget", "", ORDER)], language="pt-BR") == ("send_widget",)
    assert unsayable(DESK, language="en") == ()


def test_examples_read_and_counter_examples_stay_unread():
    text = """
settings: {currency: USD}
tools:
  set_quantity: {arguments: {quantity: {introduced_by: [to]}}}
examples:
  - say: charge order 4411 40.00
    reads: [{tool: charge_card, order_id: 4411, amount: 40.00}]
  - say: set the quantity of order 4411 to 3
    reads: [{tool: set_quantity, order_id: "4411", quantity: 3}]
unread: [send order 4411]
"""
    assert len(read_vocabulary(text, DESK, file="v.yaml").vocabulary.examples) == 2


def test_portuguese_words_without_their_accent_are_warned_of():
    text = "settings: {language: pt-BR}\ntools:\n  charge_card:\n    object: [cartao]\n"
    warnings = read_vocabulary(text, DESK, file="v.yaml").warnings
    assert [(warning.line, "'cartão'" in warning.message) for warning in warnings if "cartao" in str(warning)] == [
        (4, True)
    ]


def test_made_forms_the_grammar_needs_are_left_out_with_a_warning():
    tools = [write_tool("stop_line", "", ORDER)]
    text = "settings: {language: pt-BR}\ntools:\n  stop_line: {verbs: [parar], object: [linha]}\n"
    loaded = read_vocabulary(text, tools, file="v.yaml")
    assert any("'para' is left out" in warning.message for warning in loaded.warnings)
    selector = compile_selector(tools, language="pt-BR", vocabulary=loaded.vocabulary)
    assert isinstance(selector.read("pare a linha do pedido 4411"), Reading)
    assert not isinstance(selector.read("para a linha do pedido 4411"), Reading)


def test_a_question_frame_reads_a_tool_that_does_not_write():
    text = "tools:\n  get_order: {asks: [where is, what is the status of]}\n"
    selector = compile_selector(DESK, language="en", vocabulary=read_vocabulary(text, DESK, file="v.yaml").vocabulary)
    for turn in ("where is order 4411?", "What is the status of order 4411", "hello, where is the order 4411, please?"):
        asked = read(selector, turn)
        assert isinstance(asked, Reading), asked
        assert [said(call) for call in asked.calls] == ["get_order(order_id=4411)"]
    for turn in ("where is order 4411 and charge order 4411 40.00", "cancel order 4411, where is order 4411?"):
        assert not isinstance(selector.read(turn), Reading)


def test_only_these_verbs_and_object_optional_override_what_names_give():
    text = """
tools:
  cancel_order: {verbs: [void], only_these_verbs: true}
  provision_account: {object_optional: false}
  send_receipt: {object_optional: true}
"""
    selector = compile_selector(DESK, language="en", vocabulary=read_vocabulary(text, DESK, file="v.yaml").vocabulary)
    assert isinstance(selector.read("void order 4411"), Reading)
    assert read(selector, "cancel order 4411").code == "unknown_word"
    assert read(selector, "provision order 4411").code == "missing_object"
    assert isinstance(selector.read("send order 4411"), Reading)


def test_settings_change_the_currency_the_date_order_and_suggestions():
    text = "settings: {currency: CHF, date_order: mdy, typos: 'off'}\n"
    selector = compile_selector(DESK, language="en", vocabulary=read_vocabulary(text, DESK, file="v.yaml").vocabulary)
    assert read(selector, "charge order 4411 40.00 CHF").calls[0].values["amount"] == "40.00"
    assert read(selector, "charge order 4411 $40.00").code == "currency"
    dated = read(selector, "schedule the delivery of order 4411 on 03/05/2026")
    assert dated.calls[0].values["date"] == "2026-03-05"
    assert read(selector, "chrage order 4411 40.00").near == ()


def test_a_tool_whose_noun_has_no_portuguese_word_cannot_be_said_by_its_light_verb():
    tools = [write_tool("send_widget", "", ORDER), *SHOP]
    selector = compile_selector(tools, language="pt-BR")
    assert any("send_widget cannot be said in pt-BR" in warning for warning in selector.warnings)
    assert read(selector, "envie o pedido 4411").code == "missing_object"


def test_a_parameter_no_turn_can_say_makes_its_tool_unsayable_only_if_it_is_required():
    shape = Parameter(name="options", kind=None, base="object")
    optional_shape = shape.model_copy(update={"required": False})
    tools = [read_tool("find_order", "", ORDER, shape), read_tool("get_order", "", ORDER, optional_shape)]
    selector = compile_selector(tools, language="en")
    assert [said(call) for call in read(selector, "get order 4411").calls] == ["get_order(order_id=4411)"]
    assert "find_order cannot be said in en: no turn can say its parameter options" in selector.warnings


def test_a_shape_that_is_not_linear_is_refused_when_compiling():
    bad = ORDER.model_copy(update={"pattern": r"(a+)+"})
    with pytest.raises(ValueError, match=r"get_order, parameter order_id: .* repeats a group"):
        compile_selector([read_tool("get_order", "", bad)], language="en")


def test_a_shape_of_another_systems_schema_only_makes_its_parameter_unsayable():
    bad = ORDER.model_copy(update={"pattern": r"^(?!0)[0-9]+$"})
    tools = [read_tool("get_order", "", bad, source="openapi"), read_tool("find_order", "", ORDER, source="mcp")]
    selector = compile_selector(tools, language="en")
    assert isinstance(selector.read("find order 4411"), Reading)
    assert any("get_order: no turn can say order_id" in warning for warning in selector.warnings)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two tools are named get_order"):
        compile_selector([read_tool("get_order", "", ORDER), read_tool("get_order", "", ORDER)], language="en")
