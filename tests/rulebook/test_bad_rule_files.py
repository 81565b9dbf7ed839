"""Rule files that are not exact: each is refused with the right line and what to write instead."""

import pytest
from amends.contract.mistakes import FileMistakes
from amends.rulebook.colang import read_colang
from amends.rulebook.files import RuleFile, build_rulebook
from amends.rulebook.sheet import read_sheet

TOP = "rules:\n  - id: a\n    action: charge_card\n"
"""The first rule stands on lines 2 and 3; what a case adds begins on line 4."""

SHEETS = [
    ("", 1, "a rule sheet is a mapping with the key rules"),
    ("- a\n", 1, "a rule sheet is a mapping with the key rules"),
    ("rules: [\n", 2, "not readable as YAML"),
    ("facts: []\n", 1, "a rule sheet has the key rules"),
    ("rules: {}\n", 1, "rules is a list, one entry for each rule"),
    ("rules: []\nrule: []\n", 2, "rule is no key here; the keys are rules, facts, confirm_writes; did you mean rules?"),
    ("rules: []\nfacts: vip\n", 2, "facts is a list of names"),
    ("rules: []\nfacts:\n  - vip\n  - vip\n", 4, "the fact vip is listed twice"),
    ("rules: []\nfacts:\n  - very important\n", 3, "a fact is a name of letters, digits and underscores"),
    ("rules: []\nconfirm_writes: no\n", 2, "confirm_writes is true or false"),
    ("rules:\n  - charge_card\n", 2, "a rule is a mapping with an action and at least one effect"),
    ("rules:\n  - never: true\n", 2, "the rule has no action"),
    (TOP, 2, "the rule has no effect; it needs one of requires, requires_confirmation, never"),
    (TOP + "    nevr: true\n", 4, "nevr is no key here"),
    (TOP + "    never: false\n", 4, "never is true; leave it out otherwise"),
    (TOP + "    never: true\n    never: true\n", 5, "the key 'never' is given twice"),
    (TOP + "    requires_confirmation: yes\n", 4, "requires_confirmation is true, or false"),
    (TOP + "    requires: []\n", 4, "the list names no fact"),
    (TOP + "    requires:\n      - vip\n      - 7\n", 6, "a fact is a name"),
    (TOP + "    after: []\n", 4, "the list names no tool"),
    (TOP + "    after: verify_identiy\n", 4, "there is no tool verify_identiy; did you mean verify_identity?"),
    (TOP + "    after:\n      - get_order\n      - get_order\n", 6, "get_order is named twice"),
    (TOP + "    not_after: [3]\n", 4, "a tool's name is wanted here"),
    (TOP + "    after: verify_identity\n    same: [order_id]\n", 5, "verify_identity has no argument order_id"),
    (TOP + "    never: true\n    same: [order_id]\n", 5, "same belongs to after"),
    (TOP + "    at_most: -1\n", 4, "a number of calls is a whole number, 0 or more"),
    (TOP + "    at_most: 2.5\n", 4, "a number of calls is a whole number, 0 or more"),
    (TOP + "    at_most: {per: day}\n", 4, "a cap says calls, or total with limit"),
    (TOP + "    at_most: {total: amount}\n", 4, "a total and its limit are given together"),
    (TOP + "    at_most:\n      total: order_id\n      limit: 5\n", 5, "order_id of charge_card is not a number"),
    (TOP + "    at_most:\n      total: amuont\n      limit: 5\n", 5, "no argument amuont; did you mean amount?"),
    (TOP + "    at_most:\n      total: amount\n      limit: '5'\n", 6, "limit is a number, 0 or more"),
    (TOP + "    at_most:\n      calls: 1\n      per: dya\n", 6, "per is one of run, session, day"),
    (TOP + "    never: true\n    say: ''\n", 5, "say is the sentence a person reads"),
    (TOP + "    never: true\n    when: always\n", 5, "conditions are a mapping"),
    (TOP + "    never: true\n    when: {}\n", 5, "conditions are a mapping"),
    (TOP + "    never: true\n    when:\n      amuont_over: 5\n", 6, "charge_card has no argument amuont"),
    (TOP + "    never: true\n    when:\n      amount_ovr: 5\n", 6, "amount_ovr is no condition"),
    (TOP + "    never: true\n    when:\n      amount_over: '5'\n", 6, "amount is compared with a number"),
    (TOP + "    never: true\n    when:\n      amount_over: true\n", 6, "compared with a number, not with true"),
    (TOP + "    never: true\n    when:\n      amount_in: 5\n", 6, "amount is looked up in a list of values"),
    (TOP + "    never: true\n    when:\n      amount_is: [5, 6]\n", 6, "for several write amount_in"),
    (TOP + "    never: true\n    when:\n      order_id_over: 5\n", 6, "order_id is not a number"),
    (TOP + "    never: true\n    when:\n      order_id_is: 4411\n", 6, "order_id is compared with text, not with 4411"),
    (TOP + "    never: true\n    when:\n      any: []\n", 6, "any is a list of at least one condition"),
    (TOP + "    never: true\n    when:\n      any:\n        - fact: a\n        - x_is: 1\n", 8, "no argument x"),
    (TOP + "    never: true\n    when:\n      not: 5\n", 6, "conditions are a mapping"),
    ("facts: [vip]\n" + TOP + "    requires: vop\n", 5, "the facts list has no vop"),
    ("rules:\n  - action: ship_order\n    when: {express_is: 1}\n    never: true\n", 3, "express is true or f"),
    ("rules:\n  - action: ship_order\n    when: {express_in: [true]}\n    never: true\n", 3, "express is true or f"),
    ("rules:\n  - action: [charge_card, get_order]\n    when: {amount_over: 1}\n    never: true\n", 3, "get_order has"),
    ("rules:\n  - action: []\n    never: true\n", 2, "the list names no tool"),
    ("rules:\n  - {id: writes, action: get_order, never: true}\n", 2, "the id writes is what the check calls its own"),
    ("rules:\n  - {id: " + "x" * 81 + ", action: get_order, never: true}\n", 2, "an id has at most 80 characters"),
    ("rules:\n  - {id: 7, action: get_order, never: true}\n", 2, "an id is a short text"),
    ("rules:\n  - &r {action: get_order, never: true}\n", 2, "anchors"),
]  # fmt: skip

OLD = "define flow a\n  execute charge_card\n"
NEW = "@active\nflow a\n  match StartChargeCardAction() as $call\n"
"""A case's own lines begin on line 3 of the old spelling and on line 4 of the new one."""

FLOWS = [
    ("define flow a\n\texecute charge_card\n\tstop\n", 2, "indent with spaces, not with a tab"),
    ("define flow\n  execute charge_card\n  stop\n", 1, "not in the subset of Colang"),
    ("define flow a\n  stop\n", 2, "not in the subset of Colang"),
    ("define flow a\n  execute charge_crad\n  stop\n", 2, "there is no tool charge_crad; did you mean charge_card?"),
    ("define flow a\nexecute charge_card\nstop\n", 2, "this belongs to the line above, and is indented under it"),
    (OLD, 2, "the flow ends here without saying anything about its call"),
    (OLD + "  if $amount >\n    stop\n", 3, "a condition is written with"),
    (OLD + "  if $amount > > 3\n    stop\n", 3, "a condition is written with"),
    (OLD + "  if $amount > 3 then\n    stop\n", 3, "a condition is written with"),
    (OLD + "  if $amount > 3\n  stop\n", 4, "this belongs to the line above, and is indented under it"),
    (OLD + "  if $amount > 3\n    stop\n  else\n    stop\n", 5, "`else` would have to undo a refusal"),
    (OLD + "  if $amount > 3\n    stop\n    stop\n", 5, "not in the subset"),
    (OLD + "  if $amount > 3\n      stop\n    stop\n", 5, "the indentation goes back"),
    (OLD + "  when user asks\n    stop\n", 3, "`when` waits for an event"),
    (OLD + "  while $amount > 3\n    stop\n", 3, "a loop has no exact rule"),
    (OLD + "  $x = 3\n  stop\n", 3, "an assignment changes something"),
    (OLD + "  do other flow\n", 3, "calling a flow has no exact rule"),
    (OLD + "  execute refund_card\n", 3, "only the tool the flow is about is executed"),
    (OLD + "  bot refuse\n", 3, "what the bot says goes with the stop"),
    (OLD + "  priority 10\n  stop\n", 3, "every rule applies"),
    (OLD + "  ...\n", 3, "asks a model"),
    (OLD + "  user said no\n  stop\n", 3, "what a user says is no fact about a call"),
    (OLD + "  abort\n", 3, "abort is Colang 2.x; in 1.0 write stop"),
    (OLD + "  await ConfirmAction()\n", 3, "await is Colang 2.x"),
    (OLD + "  stop\n  stop\n", 4, "nothing after a stop without if is ever reached"),
    (OLD + "  if $amount\n    stop\n", 3, "amount alone is neither true nor false"),
    (OLD + "  if 3\n    stop\n", 3, "this alone is neither true nor false"),
    (OLD + "  if 3 < $amount\n    stop\n", 3, "a comparison has the name on the left"),
    (OLD + "  if $amount > $order_id\n    stop\n", 3, "a comparison has the name on the left and a number"),
    (OLD + '  if $amount > "3"\n    stop\n', 3, "amount is compared with a number"),
    (OLD + "  if $order_id > 3\n    stop\n", 3, "order_id is not a number"),
    (OLD + "  if $vip == True\n    stop\n", 3, "vip is a fact, which holds or not"),
    (OLD + '  if $vip in ["a"]\n    stop\n', 3, "only an argument is looked up in a list"),
    (OLD + "  if $call.amount > 3\n    stop\n", 3, "$call.amount names nothing here"),
    (OLD + "  if $ran.verify and $vip\n    stop\n", 3, "there is no tool verify"),
    (OLD + "  if $ran.verify_identity and $vip\n    stop\n", 3, "an order or a cap stands alone in its if"),
    (OLD + "  if $ran\n    stop\n", 3, "whether a tool ran is written $ran.<tool>"),
    (OLD + "  if $ran.get_order == True\n    stop\n", 3, "is true or false; write it alone"),
    (OLD + "  if not $ran.get_order\n    bot ask confirmation\n", 4, "an order or a cap refuses, and cannot ask"),
    (OLD + "  if $calls.charge_card < 3\n    stop\n", 3, "a cap on calls is written $calls.charge_card >= "),
    (OLD + "  if $calls.charge_card >= 2.5\n    stop\n", 3, "a cap on calls is written"),
    (OLD + "  if not $calls.charge_card >= 2\n    stop\n", 3, "and a cap not at all"),
    (OLD + "  if $calls.refund_card >= 2\n    stop\n", 3, "a cap counts the flow's own tool"),
    (OLD + "  if $calls.charge_card\n    stop\n", 3, "$calls is a number; compare it"),
    (OLD + "  if $total.charge_card.amount > 5\n    stop\n", 3, "a total is capped as"),
    (OLD + "  if $total.charge_card.amount + $amount >= 5\n    stop\n", 3, "the one sum is"),
    (OLD + "  if $total.charge_card.amount + 1 > 5\n    stop\n", 3, "the one sum is"),
    (OLD + "  if $total.charge_card.order_id + $order_id > 5\n    stop\n", 3, "cannot be added up"),
    (OLD + "  stop\n\ndefine flow a\n  execute get_order\n  stop\n", 5, "there are two flows 'a'"),
    (OLD + '  stop\n\ndefine user says hi\n  "hi"\n', 5, "what a user says is no fact"),
    (OLD + "  stop\n\ndefine subflow s\n  stop\n", 5, "a subflow has no exact rule"),
    ("define flow writes\n  execute charge_card\n  stop\n", 1, "what the check calls its own decisions"),
    ("define flow a\n  match StartChargeCardAction()\n  stop\n", 2, "the two spellings are not mixed in one flow"),
    ("@active\ndefine flow a\n  execute charge_card\n  stop\n", 2, "@active belongs to Colang 2.x"),
    ("flow a\n  match StartChargeCardAction()\n  abort\n", 1, "flow 'a' is never activated"),
    (NEW + "  abort\n\nflow main\n  activate b\n", 7, "there is no flow 'b' to activate"),
    ("import guardrails\n", 1, "only core is imported, not guardrails"),
    ("@loop\nflow a\n  match StartChargeCardAction()\n  abort\n", 1, "the one decorator is @active"),
    ("@active\nflow a\n  execute charge_card\n  abort\n", 3, "the two spellings are not mixed in one flow"),
    ("@active\nflow a\n  match UtteranceUserActionFinished()\n  abort\n", 3, "is no start of a tool"),
    ("@active\nflow a\n  match StartChargeCardAction() as $ran\n  abort\n", 3, "$ran is a name of the record"),
    (NEW + "  if $amount > 3\n    abort\n", 4, "amount is an argument; in Colang 2.x write $call.amount"),
    (NEW + "  if $call.amuont > 3\n    abort\n", 4, "charge_card has no argument amuont; did you mean amount?"),
    (NEW + "  if $call > 3\n    abort\n", 4, "an argument of the call is written $call.<argument>"),
    (NEW + "  stop\n", 4, "stop is Colang 1.0; in 2.x write abort"),
    (NEW + "  await OtherAction()\n", 4, "only ConfirmAction() may be awaited"),
    (NEW + "  start UtteranceBotAction()\n", 4, "starting an action is no rule"),
    (NEW + "  send Something()\n", 4, "sending an event is no rule"),
    (NEW + "  match Other()\n", 4, "and matches nothing else"),
    (NEW + "  global $x\n", 4, "a check keeps nothing"),
    (NEW + "  return\n", 4, "a flow returns nothing"),
]  # fmt: skip


def mistakes_in(read, text, file, tools):
    with pytest.raises(FileMistakes) as raised:
        read(text, file=file, tools=tools)
    return raised.value.mistakes


@pytest.mark.parametrize(("text", "line", "message"), SHEETS)
def test_a_sheet_that_is_not_exact_is_refused_with_its_line(shop, text, line, message):
    (mistake,) = mistakes_in(read_sheet, text, "rules.yaml", shop.tools)
    assert f"rules.yaml:{line}: " in str(mistake)
    assert message in str(mistake)


@pytest.mark.parametrize(("text", "line", "message"), FLOWS)
def test_a_flow_that_is_not_exact_is_refused_with_its_line(shop, text, line, message):
    mistake = mistakes_in(read_colang, text, "policy.co", shop.tools)[0]
    assert f"policy.co:{line}: " in str(mistake)
    assert message in str(mistake)


def test_a_name_that_is_argument_and_fact_is_refused(shop):
    text = "define flow a\n  execute charge_card\n  if $amount > 3\n    stop\n"
    with pytest.raises(FileMistakes, match=r"policy.co:3: amount is both an argument of charge_card and a fact"):
        read_colang(text, file="policy.co", tools=shop.tools, facts=["amount"])


def test_two_rules_of_one_id_are_refused(shop):
    same = "rules:\n  - {id: a, action: get_order, never: true}\n"
    with pytest.raises(FileMistakes, match=r"b.yaml:2: the id a is taken by the rule at a.yaml:2"):
        build_rulebook([RuleFile("a.yaml", same), RuleFile("b.yaml", same)], tools=shop.tools)


def test_the_values_of_an_enum_are_known(shop):
    country = shop.tools["ship_order"].parameters[1].model_copy(update={"kind": "enum", "values": ("BR", "PT")})
    tools = {"ship_order": shop.tools["ship_order"].model_copy(update={"parameters": (country,)})}
    text = "rules:\n  - {action: ship_order, when: {country_is: BT}, never: true}\n"
    with pytest.raises(FileMistakes, match=r"rules.yaml:2: country is never 'BT'; .* did you mean BR or PT\?"):
        read_sheet(text, file="rules.yaml", tools=tools)


@pytest.mark.parametrize("change", [{"many": True}, {"kind": None, "base": "object"}, {"kind": None, "base": "any"}])
def test_a_list_or_an_object_is_not_compared(shop, change):
    odd = shop.tools["ship_order"].parameters[1].model_copy(update=change)
    tools = {"ship_order": shop.tools["ship_order"].model_copy(update={"parameters": (odd,)})}
    text = "rules:\n  - {action: ship_order, when: {country_is: BR}, never: true}\n"
    with pytest.raises(FileMistakes, match=r"rules.yaml:2: country is a list or an object"):
        read_sheet(text, file="rules.yaml", tools=tools)
