"""The fold against the list: rules answered from counters say what scanning every event would say."""

import random
from decimal import Decimal

from amends.rulebook.check import check
from amends.rulebook.record import Record, RecordState
from amends.rulebook.rules import After, AtMost, NotAfter, Rulebook

TOOLS = ("charge_card", "get_order", "ship_order")
OUTCOMES = ("ran", "ran", "ran", "failed", "unknown", "in_flight", "declined", "refused")
RULEBOOK = Rulebook(
    rules=(
        *(After(id=f"after {tool}", actions=("charge_card",), tools=(tool,)) for tool in TOOLS),
        *(After(id=f"same {tool}", actions=("charge_card",), tools=(tool,), same=("order_id",)) for tool in TOOLS),
        *(NotAfter(id=f"not after {tool}", actions=("charge_card",), tools=(tool,)) for tool in TOOLS),
        *(
            AtMost(id=f"{calls} per {per}", actions=("charge_card",), calls=calls, per=per)
            for calls in (1, 3)
            for per in ("run", "session", "day")
        ),
        *(
            AtMost(id=f"{limit} per {per}", actions=("charge_card",), total="amount", limit=Decimal(limit), per=per)
            for limit in (10, 100)
            for per in ("run", "session", "day")
        ),
    )
)


def refusing(call, events):
    """The rules that refuse a call, found by looking at every event."""
    latest = {}
    sent = set()
    for event in events:
        if event.outcome not in ("declined", "refused"):
            sent.add(event.tool)
        if event.undoes is None:
            latest[event.step] = event
    standing = [event for event in latest.values() if event.outcome == "ran" and not event.undone]
    counted = [e for e in latest.values() if e.tool == call.tool and e.outcome in ("ran", "unknown", "in_flight")]
    refused = set()
    for tool in TOOLS:
        ran = [event for event in standing if event.tool == tool]
        if not ran:
            refused.add(f"after {tool}")
        wanted = call.arguments.get("order_id")
        if wanted is None or not any(event.arguments.get("order_id") == wanted for event in ran):
            refused.add(f"same {tool}")
        if tool in sent:
            refused.add(f"not after {tool}")
    for per in ("run", "session", "day"):
        within = [e for e in counted if per == "session" or getattr(e, per) == getattr(call, per)]
        refused |= {f"{calls} per {per}" for calls in (1, 3) if len(within) + 1 > calls}
        amounts = [event.arguments.get("amount", "") for event in (*within, call)]
        known = all(amount not in ("", "odd") for amount in amounts)
        total = sum(Decimal(amount) for amount in amounts) if known else Decimal("Infinity")
        refused |= {f"{limit} per {per}" for limit in (10, 100) if total > limit}
    return refused


def random_events(shop, chance):
    events = []
    for step in range(1, chance.randint(2, 9)):
        arguments = {"order_id": chance.choice("12"), "amount": chance.choice(["0.01", "9.99", "60", "odd"])}
        arguments = {name: value for name, value in arguments.items() if chance.random() < 0.9}
        place = {"run": chance.choice(["r0", "r1"]), "day": chance.choice(["2026-03-04", "2026-03-05"])}
        tool = chance.choice(TOOLS)
        for _ in range(chance.randint(1, 3)):
            undone = chance.random() < 0.2
            events.append(shop.event(step, tool, chance.choice(OUTCOMES), undone=undone, **place, **arguments))
        if chance.random() < 0.1:
            events.append(shop.event(step, chance.choice(TOOLS), "ran", undoes=step, **place))
    return events


def test_counters_say_what_scanning_every_event_says(shop):
    chance = random.Random(41)
    seen = set()
    for _ in range(1_500):
        events = random_events(shop, chance)
        record = Record(rulebook=RULEBOOK)
        for number, event in enumerate(events):
            record.note(event)
            if number == len(events) // 2:
                record = Record(RecordState.model_validate_json(record.state().model_dump_json()), rulebook=RULEBOOK)
        arguments = {"order_id": chance.choice("12"), "amount": chance.choice(["0.01", "50"])}
        call = shop.call("charge_card", **arguments)
        decision = check(RULEBOOK, call, tools=shop.tools, facts={}, record=record)
        found = {hit.rule for hit in decision.hits} - {"writes"}
        assert found == refusing(call, events), (call, events)
        seen |= {(rule.id, rule.id in found) for rule in RULEBOOK.rules}
    assert len(seen) == 2 * len(RULEBOOK.rules), "every rule has refused and has let through"
