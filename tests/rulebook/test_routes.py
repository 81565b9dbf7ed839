"""Routes: none that exists is missed, and none is called certain that does not exist; tried against brute force.

The default run asks about 6,000 questions; LONG_TESTS=1 asks ten times as many and more.
"""

import itertools
import os
import random
from decimal import Decimal

from amends.contract.tool import Parameter, ToolContract
from amends.rulebook.model import AgentModel, System
from amends.rulebook.routes import Router
from amends.rulebook.rules import (
    After,
    AtMost,
    Confirm,
    ConfirmAfter,
    FactHolds,
    Never,
    Not,
    NotAfter,
    NumberIs,
    Requires,
    Rulebook,
    Unconfirmed,
)

FACTS = ("f", "g")
LONGEST = 5
AMOUNT = Parameter(name="amount", kind="money", base="number")


def random_condition(chance):
    kind = chance.random()
    if kind < 0.4:
        return NumberIs(argument="amount", op=chance.choice(["over", "at_most"]), values=(Decimal(10),))
    fact = FactHolds(fact=chance.choice(FACTS))
    return fact if kind < 0.7 else Not(part=fact)


REFUSING = (After, NotAfter, After, NotAfter, Requires, Never, AtMost)
ASKING = (Confirm, Unconfirmed, ConfirmAfter)


def random_rule(chance, number, names, effects=REFUSING):
    effect = chance.choice(effects)
    said = {
        Confirm: dict,
        Unconfirmed: dict,
        ConfirmAfter: lambda: {"tools": (chance.choice(names),)},
        After: lambda: {"tools": (chance.choice(names),)},
        NotAfter: lambda: {"tools": (chance.choice(names),)},
        Requires: lambda: {"facts": (chance.choice(FACTS),)},
        Never: dict,
        AtMost: lambda: {"calls": chance.randint(0, 2)},
    }[effect]()
    if effect is Never or chance.random() < 0.25:
        said["when"] = random_condition(chance)
    return effect(id=f"r{number}", actions=(chance.choice(names),), **said)


def random_system(chance, *, asks=False):
    names = [f"t{number}" for number in range(chance.randint(2, 4))]
    effects = REFUSING + ASKING * 2 if asks else REFUSING
    rules = tuple(random_rule(chance, number, names, effects) for number in range(chance.randint(1, 5)))

    def some():
        return tuple(sorted(chance.sample(names, chance.randint(1, len(names)))))

    agents = [AgentModel(name="a", tools=some())]
    if chance.random() < 0.4:
        agents = [AgentModel(name="a", tools=some(), hands_off_to=("b",)), AgentModel(name="b", tools=some())]
    tools = {name: ToolContract(name=name, writes=True, parameters=(AMOUNT,)) for name in names}
    book = Rulebook(rules=rules, confirm_writes=not asks or chance.random() < 0.5)
    return System(agents=tuple(agents), tools=tools, rulebook=book)


def condition_holds(when, facts, amount):
    match when:
        case None:
            return True
        case NumberIs(op="over"):
            return amount > 10
        case NumberIs():
            return amount <= 10
        case FactHolds(fact=fact):
            return facts[fact]
        case Not(part=FactHolds(fact=fact)):
            return not facts[fact]
    raise AssertionError(when)


def is_let_through(rules, tool, counts, facts, amount):
    for rule in rules:
        if tool not in rule.actions or not condition_holds(rule.when, facts, amount):
            continue
        match rule:
            case Never():
                return False
            case Requires(facts=needed) if not all(facts[fact] for fact in needed):
                return False
            case After(tools=tools) if not all(counts.get(other) for other in tools):
                return False
            case NotAfter(tools=tools) if any(counts.get(other) for other in tools):
                return False
            case AtMost(calls=calls) if counts.get(tool, 0) + 1 > calls:
                return False
    return True


def is_quiet(book, tool, counts, facts, amount):
    """Whether nobody is asked about a call."""
    waived = not book.confirm_writes
    for rule in book.rules:
        if tool not in rule.actions or not condition_holds(rule.when, facts, amount):
            continue
        match rule:
            case Confirm():
                return False
            case ConfirmAfter(tools=tools) if any(counts.get(other) for other in tools):
                return False
            case Unconfirmed():
                waived = True
    return waived


def really_exists(system, goals, unconfirmed=""):
    """Try every run of up to five calls, with every choice of facts and amounts."""
    book = system.rulebook
    for holds in itertools.product([False, True], repeat=len(FACTS)):
        facts = dict(zip(FACTS, holds, strict=True))
        seen = set()
        todo: list[tuple[str, tuple[str, ...], int]] = [("a", (), 0)]
        while todo:
            agent, ran, met = todo.pop()
            if met == len(goals):
                return True
            counts = {tool: ran.count(tool) for tool in ran}
            state = (agent, frozenset((tool, min(count, 2)) for tool, count in counts.items()), met, len(ran))
            if state in seen or len(ran) == LONGEST:
                continue
            seen.add(state)
            for other in system.reach(agent):
                for tool in system.by_name[other].tools:
                    for amount in (1, 11):
                        if is_let_through(book.rules, tool, counts, facts, amount):
                            quiet = tool != unconfirmed or is_quiet(book, tool, counts, facts, amount)
                            todo.append((other, (*ran, tool), met + (tool == goals[met] and quiet)))
    return False


def test_no_route_is_missed_and_no_certain_route_is_wrong():
    chance = random.Random(5)
    wanted = 50_000 if os.environ.get("LONG_TESTS") else 5_000
    questions = real = wrong = certain = 0
    while questions < wanted:
        system = random_system(chance)
        router = Router(system)
        available = sorted(system.available("a"))
        for goals in [(tool,) for tool in available] + list(itertools.product(available, repeat=2)):
            path = router.find("a", *goals)
            exists = really_exists(system, goals)
            questions += 1
            real += exists
            assert path is not None or not exists, ("missed", goals, system)
            if path is not None:
                is_certain = router.witness(path).certainty == "certain"
                certain += is_certain
                wrong += not exists
                assert exists or not is_certain, ("wrongly certain", goals, system)
    assert real > wanted / 3
    assert wrong < wanted / 50, "the model has become too free to say anything"
    assert certain > real * 0.9, "nearly every real route can be shown"


def test_no_route_past_the_person_is_missed():
    chance = random.Random(23)
    wanted = 20_000 if os.environ.get("LONG_TESTS") else 1_000
    questions = real = wrong = 0
    while questions < wanted:
        system = random_system(chance, asks=True)
        router = Router(system)
        available = sorted(system.available("a"))
        for goals in [(tool,) for tool in available] + list(itertools.permutations(available, 2)):
            for quiet in goals:
                path = router.find("a", *goals, unconfirmed=quiet)
                exists = really_exists(system, goals, quiet)
                questions += 1
                real += exists
                assert path is not None or not exists, ("missed", goals, quiet, system)
                if path is not None and not exists:
                    wrong += 1
                    assert router.witness(path).certainty == "possible", ("wrongly certain", goals, quiet, system)
    assert wanted / 5 < real < wanted * 4 / 5
    assert wrong < wanted / 25
