"""Tool contracts written by hand: the shop's desk of tests/cases, and the plain tools of the first chapter."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from amends.contract.reading import Language
from amends.contract.tool import Parameter, ToolContract
from amends.contract.yaml12 import load_yaml
from amends.selector.compiled import Selector, compile_selector
from amends.selector.vocabulary import Vocabulary, read_vocabulary

CASES = Path(__file__).parent.parent / "cases"

ORDER = Parameter(name="order_id", kind="id", pattern=r"\d{3,10}")
AMOUNT = Parameter(name="amount", kind="money", base="string")
PLAIN_ORDER = Parameter(name="order_id", kind="id")
PLAIN_AMOUNT = Parameter(name="amount", kind="money", base="number")


def read_tool(name, summary, *parameters, **more):
    return ToolContract(name=name, summary=summary, parameters=parameters, **more)


def write_tool(name, summary, *parameters, **more):
    return read_tool(name, summary, *parameters, writes=True, **more)


def optional(parameter):
    return parameter.model_copy(update={"required": False})


DESK = (
    read_tool("get_order", "Look up an order.", ORDER),
    write_tool("charge_card", "Charge the card on file for an order.", ORDER, AMOUNT),
    write_tool("refund_card", "Refund a charge.", ORDER, AMOUNT),
    write_tool("update_crm", "Mark an order as paid in the CRM.", ORDER),
    write_tool("provision_account", "Provision an account for an order.", ORDER),
    write_tool(
        "send_receipt", "Send the receipt for an order.", ORDER, Parameter(name="email", kind="email", required=False)
    ),
    write_tool(
        "ship_order",
        "Ship an order.",
        ORDER,
        Parameter(name="speed", kind="enum", values=("standard", "express"), required=False),
        Parameter(name="notify", kind="bool", base="boolean", required=False),
    ),
    write_tool("cancel_order", "Cancel an order.", ORDER, Parameter(name="reason", kind="text", required=False)),
    write_tool("add_note", "Add a note to an order.", ORDER, Parameter(name="text", kind="text")),
    write_tool("schedule_delivery", "Schedule a delivery.", ORDER, Parameter(name="date", kind="date")),
    write_tool(
        "set_quantity", "Set the quantity of an order.", ORDER, Parameter(name="quantity", kind="int", base="integer")
    ),
    read_tool("verify_identity", "Verify the identity of a customer.", Parameter(name="customer_id", kind="id")),
    write_tool(
        "transfer_money",
        "Transfer money between accounts.",
        Parameter(name="from_account", kind="id"),
        Parameter(name="to_account", kind="id"),
        AMOUNT,
    ),
    read_tool(
        "print_labels",
        "Print the labels of orders.",
        Parameter(name="order_ids", kind="id", many=True, pattern=r"\d{3,10}"),
    ),
)

SHOP = (
    read_tool("get_order", "Look up an order.", PLAIN_ORDER),
    write_tool("charge_card", "Charge the card on file.", PLAIN_ORDER, PLAIN_AMOUNT),
    write_tool("refund_card", "Refund a charge.", PLAIN_ORDER, PLAIN_AMOUNT),
    write_tool("update_crm", "Mark an order as paid.", PLAIN_ORDER),
    write_tool("restore_crm", "Put the CRM back.", PLAIN_ORDER),
    write_tool("provision_account", "Provision an account.", PLAIN_ORDER),
    write_tool("send_receipt", "Send a receipt.", PLAIN_ORDER),
)


@cache
def vocabulary_of(language: Language) -> Vocabulary:
    name = f"vocabulary.{language}.yaml"
    text = (CASES / "desk" / name).read_text(encoding="utf-8")
    return read_vocabulary(text, DESK, file=name).vocabulary


@cache
def selector_for(language: Language) -> Selector:
    return compile_selector(DESK, language=language, vocabulary=vocabulary_of(language))


PLAIN = {language: compile_selector(SHOP, language=language) for language in ("en", "pt-BR")}


def said(call):
    """Write a call as tests/cases/turns.yaml does: text in quotes, other values plain."""
    return f"{call.tool}({', '.join(f'{name}={_value(one)}' for name, one in call.arguments.items())})"


def _value(argument):
    if isinstance(argument.value, list):
        return "[" + ", ".join(argument.value) + "]"
    if isinstance(argument.value, bool):
        return str(argument.value).lower()
    return f"'{argument.value}'" if argument.kind == "text" else str(argument.value)


def cases(name):
    return load_yaml((CASES / name).read_text(encoding="utf-8"), file=name).value


def all_turns() -> Iterator[tuple[Language, dict[str, Any]]]:
    """Yield each turn of tests/cases with the language it is read in."""
    for turn in cases("turns.yaml"):
        yield ("en" if turn["id"].startswith("E") else "pt-BR"), turn
    for language in ("en", "pt-BR"):
        for turn in cases(f"more.{language}.yaml"):
            yield language, turn


def read(selector, turn, **more):
    """Read a turn without a type, so that a test may look straight at what it expects."""
    return selector.read(turn, **more)
