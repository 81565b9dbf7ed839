"""``python -m amends.benchmarks.check_bench``: what a check costs with ten rules and a long record, and verify."""

import random
from collections.abc import Callable
from decimal import Decimal
from statistics import quantiles
from time import perf_counter_ns
from typing import NamedTuple

from amends.contract.decision import Call
from amends.contract.record import CallEvent
from amends.contract.tool import Parameter, ToolContract, UndoBinding
from amends.rulebook.check import check
from amends.rulebook.model import AgentModel, System
from amends.rulebook.record import Record
from amends.rulebook.rules import (
    After,
    AnyOf,
    AtMost,
    Confirm,
    FactHolds,
    Never,
    NotAfter,
    NumberIs,
    Requires,
    Rulebook,
    TextIs,
)
from amends.rulebook.verify import verify

__all__ = ["Row", "Spread", "measure", "rows"]

DAY = "2026-03-05"
CHARGE = ("charge_card",)
TEN_RULES = Rulebook(
    rules=(
        Requires(id="card-on-file", actions=CHARGE, facts=("card_on_file",)),
        Requires(
            id="large",
            actions=CHARGE,
            when=NumberIs(argument="amount", op="over", values=(Decimal(200),)),
            facts=("supervisor_approved",),
        ),
        Confirm(id="mid", actions=CHARGE, when=NumberIs(argument="amount", op="over", values=(Decimal(100),))),
        After(id="identity-first", actions=CHARGE, tools=("verify_identity",)),
        After(id="order-read", actions=CHARGE, tools=("get_order",), same=("order_id",)),
        AtMost(id="calls", actions=CHARGE, calls=20_000),
        AtMost(id="total", actions=CHARGE, total="amount", limit=Decimal(5_000), per="day"),
        Never(id="blocked", actions=CHARGE, when=FactHolds(fact="blocked")),
        NotAfter(id="no-inbox", actions=CHARGE, tools=("read_inbox",)),
        Confirm(
            id="odd",
            actions=CHARGE,
            when=AnyOf(parts=(TextIs(argument="order_id", op="in", values=("1", "2")), FactHolds(fact="slow"))),
        ),
    )
)
TOOLS = {
    "charge_card": ToolContract(
        name="charge_card",
        writes=True,
        parameters=(Parameter(name="order_id", kind="id"), Parameter(name="amount", kind="money", base="number")),
    )
}
CALL = Call(
    agent="desk",
    tool="charge_card",
    arguments={"order_id": "4411", "amount": "40.00"},
    run="r1",
    step=99_999,
    day=DAY,
)


def long_record(calls: int) -> Record:
    """A record of so many charges, and of the two calls that the order rules want."""
    record = Record(rulebook=TEN_RULES)
    before = [("verify_identity", {}), ("get_order", {"order_id": "4411"})]
    charges = [("charge_card", {"order_id": str(step), "amount": "0.01"}) for step in range(calls)]
    for step, (tool, arguments) in enumerate([*before, *charges], 1):
        record.note(CallEvent(step=step, run="r0", day=DAY, tool=tool, arguments=arguments, outcome="ran"))
    return record


def large_system(size: int) -> System:
    """A made-up system of so many tools, eight agents and two rules for every three tools."""
    chance = random.Random(1)
    names = [f"t{number}" for number in range(size)]
    tools = {
        name: ToolContract(
            name=name,
            writes=number % 2 == 0,
            irreversible=number % 14 == 6,
            undo=UndoBinding(tool=names[number + 1], arguments={}) if number % 2 == 0 and number % 10 else None,
            retry_safe=number % 3 == 0,
            reads_outside=number % 11 == 0,
            sends_out=number % 13 == 0,
        )
        for number, name in enumerate(names)
    }
    rules = [
        *(After(id=f"a{n}", actions=(names[n],), tools=(names[chance.randrange(n)],)) for n in range(1, size, 3)),
        *(Requires(id=f"r{n}", actions=(names[n],), facts=(f"f{n % 12}",)) for n in range(0, size, 4)),
        *(NotAfter(id=f"n{n}", actions=(names[n],), tools=(chance.choice(names),)) for n in range(0, size, 9)),
    ]
    agents = tuple(
        AgentModel(
            name=f"agent{number}",
            tools=tuple(name for at, name in enumerate(names) if at % 8 in (number, (number + 1) % 8)),
            hands_off_to=(f"agent{number + 1}",) if number < 7 else (),
            privilege=number,
            entry=number in (0, 3),
        )
        for number in range(8)
    )
    return System(agents=agents, tools=tools, rulebook=Rulebook(rules=tuple(rules), confirm_writes=False))


class Row(NamedTuple):
    """One measure, in microseconds as text: what was measured, p50, p99, and the limit it is held to."""

    name: str
    p50: str
    p99: str
    limit: str


class Spread(NamedTuple):
    """How long something takes, in microseconds."""

    p50: float
    p99: float


def rows() -> list[Row]:
    """Measure checks and verify."""
    limits = {"check": "p50 10", "verify": "p50 1000000"}
    return [
        Row(name, f"{spread.p50:.1f}", f"{spread.p99:.1f}", limits[name.partition(",")[0]])
        for name, spread in measure().items()
    ]


def measure() -> dict[str, Spread]:
    """Return what was measured, by name. Every single check counts, whatever else the machine did meanwhile."""
    measured: dict[str, Spread] = {}
    facts = {"card_on_file": True}
    for calls in (0, 10_000):
        record = long_record(calls)

        def one_check(record: Record = record) -> object:
            return check(TEN_RULES, CALL, tools=TOOLS, facts=facts, record=record)

        assert check(TEN_RULES, CALL, tools=TOOLS, facts=facts, record=record).verdict == "confirm"
        measured[f"check, {len(TEN_RULES.rules)} rules, {calls:,} calls in the record"] = _spread(one_check, 20_000)
    system = large_system(400)
    measured[f"verify, {len(system.tools)} tools, {len(system.agents)} agents"] = _spread(lambda: verify(system), 5)
    return measured


def _spread(run: Callable[[], object], times: int) -> Spread:
    took: list[int] = []
    for _ in range(times):
        before = perf_counter_ns()
        run()
        took.append(perf_counter_ns() - before)
    hundredths = quantiles(took, n=100, method="inclusive")
    return Spread(hundredths[49] / 1000, hundredths[98] / 1000)


def main() -> None:
    """Print the table."""
    print(f"{'microseconds':45} {'p50':>9} {'p99':>9}  limit")
    for row in rows():
        print(f"{row.name:45} {row.p50:>9} {row.p99:>9}  {row.limit}")


if __name__ == "__main__":
    main()
