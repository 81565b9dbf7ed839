"""The shop that rules are tested on: its tools, its typed rules, and short ways to say a call and what came before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

import pytest
from amends.contract.decision import Call, Decision
from amends.contract.record import CallEvent
from amends.contract.tool import Parameter, ToolContract, UndoBinding
from amends.rulebook.check import check
from amends.rulebook.record import Record
from amends.rulebook.rules import (
    After,
    AtMost,
    Confirm,
    FactHolds,
    Never,
    Not,
    NotAfter,
    NumberIs,
    Requires,
    Rulebook,
    TextIs,
)

RUN, DAY = "r1", "2026-03-05"


def parameter(name, kind="id", base="string", **more):
    return Parameter(name=name, kind=kind, base=base, **more)


ORDER = parameter("order_id")
AMOUNT = parameter("amount", "money", "number")
CUSTOMER = parameter("customer_id")

TOOLS = {
    contract.name: contract
    for contract in (
        ToolContract(name="get_order", parameters=(ORDER,)),
        ToolContract(name="verify_identity", parameters=(CUSTOMER,)),
        ToolContract(
            name="charge_card",
            writes=True,
            parameters=(ORDER, AMOUNT),
            undo=UndoBinding(tool="refund_card", arguments={"order_id": "$args.order_id", "amount": "$args.amount"}),
        ),
        ToolContract(name="refund_card", writes=True, irreversible=True, parameters=(ORDER, AMOUNT)),
        ToolContract(
            name="send_receipt",
            writes=True,
            irreversible=True,
            sends_out=True,
            parameters=(ORDER, parameter("email", "email", required=False)),
        ),
        ToolContract(name="delete_customer", writes=True, parameters=(CUSTOMER,)),
        ToolContract(name="read_inbox", reads_outside=True),
        ToolContract(
            name="ship_order",
            writes=True,
            parameters=(
                ORDER,
                parameter("country", "text"),
                parameter("express", "bool", "boolean", required=False),
                parameter("boxes", "int", "integer", required=False),
            ),
        ),
    )
}

RULES = (
    Requires(
        id="card-on-file",
        actions=("charge_card",),
        facts=("card_on_file",),
        say="There is no card on file for this customer.",
    ),
    Requires(
        id="large-charge",
        actions=("charge_card",),
        when=NumberIs(argument="amount", op="over", values=(Decimal(200),)),
        facts=("supervisor_approved",),
        say="A charge over 200 needs a supervisor.",
    ),
    Confirm(
        id="mid-charge",
        actions=("charge_card",),
        when=NumberIs(argument="amount", op="over", values=(Decimal(100),)),
    ),
    After(id="identity-first", actions=("charge_card", "refund_card"), tools=("verify_identity",)),
    After(id="receipt-after-charge", actions=("send_receipt",), tools=("charge_card",), same=("order_id",)),
    AtMost(id="three-charges", actions=("charge_card",), calls=3),
    AtMost(id="day-total", actions=("charge_card",), total="amount", limit=Decimal(500), per="day"),
    Never(id="no-delete", actions=("delete_customer",)),
    NotAfter(id="no-mail-after-inbox", actions=("send_receipt",), tools=("read_inbox",)),
    Confirm(
        id="abroad",
        actions=("ship_order",),
        when=TextIs(argument="country", op="not_in", values=("BR", "PT")),
    ),
    Never(
        id="sanctions",
        actions=("ship_order",),
        when=Not(part=FactHolds(fact="sanctions_clear")),
    ),
)


@dataclass(frozen=True)
class Shop:
    """Decides calls of the shop's agents."""

    tools: Mapping[str, ToolContract] = field(default_factory=lambda: TOOLS)
    rulebook: Rulebook = field(default_factory=lambda: Rulebook(rules=RULES))
    day: str = DAY
    run: str = RUN

    def call(self, tool, *, run=RUN, day=DAY, step=99, undoes=None, approved=None, **arguments) -> Call:
        return Call(
            agent="desk", tool=tool, arguments=arguments, run=run, step=step, day=day, undoes=undoes, approved=approved
        )

    def event(
        self, step, tool, outcome="ran", *, run=RUN, day=DAY, undone=False, undoes=None, result=None, **arguments
    ):
        return CallEvent(
            step=step, run=run, day=day, tool=tool, arguments=arguments,
            outcome=outcome, undone=undone, undoes=undoes, result=result,
        )  # fmt: skip

    def record(self, *events, rulebook=None) -> Record:
        return Record.of(events, rulebook=rulebook or self.rulebook)

    def check(self, call, *events, facts=None, rules=None, tools=None, **more) -> Decision:
        rulebook = self.rulebook if rules is None else Rulebook(rules=rules)
        return check(
            rulebook,
            call,
            tools=self.tools if tools is None else tools,
            facts=facts or {},
            record=self.record(*events, rulebook=rulebook),
            **more,
        )


@pytest.fixture(scope="session")
def shop() -> Shop:
    return Shop()
