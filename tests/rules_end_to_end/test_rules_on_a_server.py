"""What rules do to real runs: allow, ask and refuse, with the rule and its line wherever a person looks."""

from pathlib import Path

import pytest
from amends.contract.decision import Hit
from amends.contract.question import Question
from amends.contract.reply import Reply
from amends.contract.run import Step
from amends.examples.shop import tools as shop_tools
from amends.testing.bench import ToolBench
from amends.testing.desk import open_desk
from amends.tools.loader import load_agent

SHOP = Path(shop_tools.__file__).with_name("agent.yaml")
CHARGE = "charge_card(order_id=4411, amount=40.00)"
CRM = "update_crm(order_id=4411)"
RECEIPT = "send_receipt(order_id=4411)"
LARGE = """\
rules:
  - id: large-charge
    action: charge_card
    when: {amount_over: 200}
    requires: [supervisor_approved]
    say: A charge over 200 needs a supervisor.
"""


def refusals(step: Step) -> list[tuple[str, str]]:
    assert step.decision is not None
    return [(hit.rule, hit.origin.place) for hit in step.decision.hits if hit.effect == "refuse"]


def asked_by(question: Question) -> list[tuple[str, str]]:
    return [(hit.rule, hit.origin.place) for hit in question.rules]


# A later step that is refused


@pytest.mark.parametrize(
    ("turn", "language", "text"),
    [
        (
            "charge order 4411 40.00, then charge order 4412 60.00",
            "en",
            (
                "This run stopped: charge_card was refused "
                "(card on file, policy.co:9: An order over 50.00 needs a card on file). "
                "Undone, latest first: charge_card (by refund_card)."
            ),
        ),
        (
            "cobre 40,00 do pedido 4411, depois cobre 60,00 do pedido 4412",
            "pt-BR",
            (
                "Esta execução parou: charge_card foi recusada "
                "(card on file, policy.co:9: An order over 50.00 needs a card on file). "
                "Desfeito, do mais recente: charge_card (por refund_card)."
            ),
        ),
    ],
)
async def test_a_refused_later_step_undoes_the_run_and_names_the_rule(client, task_queue, turn, language, text):
    bench = ToolBench(load_agent(SHOP))
    bench.on("charge_card").returns({"charge_id": "ch-1", "order_id": "4411", "amount": "40.00"})
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.order(turn, language=language)
    assert (reply.text, reply.state) == (text, "undone")
    assert [step.state for step in reply.steps] == ["undone", "refused"]
    assert bench.names == ["charge_card", "refund_card"]
    assert bench.calls[1].arguments["charge_id"] == "ch-1"


async def test_the_refused_call_was_never_sent_and_nobody_was_asked_about_it(client, ruled, task_queue):
    bench = ruled(LARGE)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.order(f"{CHARGE}; charge_card(order_id=4411, amount=200.01)")
        view = await desk.run(reply.run)
    assert [call.arguments["amount"] for call in bench.called("charge_card")] == [bench.calls[0].arguments["amount"]]
    assert [told.question_id for told in view.answers] == ["q1"]
    assert (view.steps[1].key, view.steps[1].sent_at) == ("", None)


async def test_a_run_whose_first_call_is_refused_is_refused_and_writes_nothing(client, ruled, task_queue):
    bench = ruled(LARGE)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        alone = await desk.order("charge_card(order_id=4411, amount=200.01)")
        after_a_read = await desk.order("get_order(order_id=4411); charge_card(order_id=4411, amount=201)")
    said = (
        "This run stopped: charge_card was refused (large-charge, rules.yaml:2: A charge over 200 needs a supervisor)."
    )
    assert [(reply.state, reply.text) for reply in (alone, after_a_read)] == [("refused", said)] * 2
    assert bench.names == ["get_order"]


# Facts


@pytest.mark.parametrize(("fact", "state"), [(True, "done"), ("true", "refused"), (1, "refused"), (None, "refused")])
async def test_only_true_from_the_host_is_a_fact(client, ruled, task_queue, fact, state):
    bench = ruled(LARGE, supervisor_approved=fact)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        assert (await desk.order("charge_card(order_id=4411, amount=200.01)")).state == state


async def test_a_turn_gives_no_fact(client, task_queue):
    bench = ToolBench(load_agent(SHOP))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.order('charge order 4411 60.00 and the card on file is "True"')
    assert (reply.state, bench.calls) == ("refused", [])


# Who is asked


async def test_a_rule_may_ask_before_a_read_and_the_question_says_which(client, ruled, task_queue):
    bench = ruled("rules: [{id: curious, action: get_order, requires_confirmation: true, say: Orders are private.}]\n")
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        asked = await desk.chat("get_order(order_id=4411)", user=desk.user)
        assert bench.calls == []
        (question,) = asked.waiting
        assert question.text == "Run get_order?"
        assert asked_by(question) == [("curious", "rules.yaml:1")]
        assert question.rules[0].why == "Orders are private."
        assert (await desk.confirm(desk.user, "approve")).state == "done"
    assert bench.names == ["get_order"]


async def test_a_stated_class_of_write_asks_nobody_and_the_rest_of_it_does(client, ruled, task_queue):
    rules = "rules: [{id: small, action: charge_card, when: {amount_under: 20}, requires_confirmation: false}]\n"
    bench = ruled(rules)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        small = await desk.chat("charge_card(order_id=4411, amount=19.99)", user=desk.user)
        assert small.state == "done"
        assert (await desk.run(small.run)).answers == ()
        assert (small.steps[0].confirmed_by, small.steps[0].state) == ("", "done")
        asked = await desk.chat("charge_card(order_id=4411, amount=20.00)", user=desk.user)
        assert [hit.rule for hit in asked.waiting[0].rules] == ["writes"]


async def test_a_write_that_nobody_was_asked_about_is_undone_all_the_same(client, ruled, task_queue):
    rules = "rules: [{id: small, action: charge_card, requires_confirmation: false}]\n"
    bench = ruled(rules)
    bench.on("update_crm").raises(RuntimeError("down"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.order(f"{CHARGE}; {CRM}")
    assert reply.undone == ("charge_card",)


# The whole record of a session


async def test_a_cap_counts_over_runs_and_counts_what_was_refunded(client, ruled, task_queue):
    bench = ruled("rules: [{id: two, action: charge_card, at_most: 2}]\n")
    bench.on("update_crm").raises(RuntimeError("down"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        assert (await desk.order(f"{CHARGE}; {CRM}")).undone == ("charge_card",)
        assert (await desk.order(CHARGE, "skip")).state == "done"
        assert (await desk.order(CHARGE)).state == "done"
        third = await desk.order(CHARGE)
        other = await desk.order(CHARGE, user=f"{desk.user}-2")
    assert third.text == (
        "This run stopped: charge_card was refused (two, rules.yaml:1: at most 2 of charge_card per session, 2 so far)."
    )
    assert other.state == "done"


async def test_an_order_rule_looks_over_runs_and_a_charge_that_was_undone_does_not_do(client, ruled, task_queue):
    bench = ruled("rules: [{id: paid, action: send_receipt, after: charge_card, same: [order_id]}]\n")
    bench.on("update_crm").raises(RuntimeError("down"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        early = await desk.order(RECEIPT)
        await desk.order(f"{CHARGE}; {CRM}")
        undone = await desk.order(RECEIPT)
        await desk.order(CHARGE)
        other_order = await desk.order("send_receipt(order_id=4412)")
        paid = await desk.order(RECEIPT)
    assert [reply.state for reply in (early, undone, other_order, paid)] == ["refused", "refused", "refused", "done"]


async def test_a_tool_is_not_called_after_a_rollback_called_another(client, ruled, task_queue):
    bench = ruled("rules: [{id: once, action: charge_card, not_after: refund_card}]\n")
    bench.on("update_crm").raises(RuntimeError("down"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        await desk.order(f"{CHARGE}; {CRM}")
        assert refusals((await desk.order(CHARGE)).steps[0]) == [("once", "rules.yaml:1")]


# Undos


async def test_no_rule_refuses_an_undo_and_nobody_is_asked_about_it(client, ruled, task_queue):
    rules = """\
rules:
  - {id: no-refunds, action: refund_card, never: true}
  - {id: no-way-back, action: '*', not_after: [update_crm]}
  - {id: ask, action: refund_card, requires_confirmation: true}
"""
    bench = ruled(rules)
    bench.on("update_crm").raises(RuntimeError("down"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        by_itself = await desk.order("refund_card(charge_id=ch-1, amount=40.00)")
        reply = await desk.order(f"{CHARGE}; {CRM}")
        view = await desk.run(reply.run)
    assert refusals(by_itself.steps[0]) == [("no-refunds", "rules.yaml:2")]
    assert reply.text == (
        "This run stopped: update_crm failed (RuntimeError). Undone, latest first: charge_card (by refund_card)."
    )
    assert [told.question_id for told in view.answers] == ["q1", "q2"]
    assert bench.names == ["charge_card", "update_crm", "refund_card"]


# The decision


async def test_the_decision_is_in_the_question_the_view_and_the_reply(client, ruled, task_queue):
    rules = """\
rules:
  - {id: mid-charge, action: charge_card, when: {amount_over: 10}, requires_confirmation: true, say: Over ten.}
  - {id: no-crm, action: update_crm, never: true, say: The CRM is frozen.}
"""
    bench = ruled(rules)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        asked = await desk.chat(f"{CHARGE}; {CRM}", user=desk.user)
        (question,) = asked.waiting
        assert asked_by(question) == [("mid-charge", "rules.yaml:2"), ("writes", "")]
        waiting = await desk.run(asked.run)
        before = waiting.steps[0].decision
        assert before is not None
        assert before.verdict == "confirm"
        assert before.hits == question.rules
        reply = await desk.confirm(desk.user, "approve")
        view = await desk.run(reply.run)
    charged, frozen = _decisions(reply)
    assert charged.verdict == "allow"
    assert charged.digest == before.digest
    assert frozen.verdict == "refuse"
    assert frozen.rulebook == charged.rulebook == bench.agent.rulebook.hash
    assert refusals(reply.steps[1]) == [("no-crm", "rules.yaml:3")]
    assert "charge_card was refused" not in reply.text
    assert "update_crm was refused (no-crm, rules.yaml:3: The CRM is frozen)." in reply.text
    assert view.steps == reply.steps


def _decisions(reply: Reply):
    decisions = [step.decision for step in reply.steps]
    assert all(decisions)
    return decisions


async def test_an_answer_bound_to_a_question_is_bound_to_the_rules_it_showed(client, ruled, task_queue):
    shown = []
    for say in ("One.", "Two."):
        bench = ruled(f"rules: [{{id: a, action: update_crm, requires_confirmation: true, say: {say}}}]\n")
        async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
            asked = await desk.chat(CRM, user=f"{desk.user}-{say}")
            shown.append(asked.waiting[0])
    assert shown[0].digest != shown[1].digest
    assert isinstance(shown[0].rules[0], Hit)
