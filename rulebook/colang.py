"""A stated subset of Colang, in the spelling of 1.0 or of 2.x, read into the same rules as the sheet (SPEC 3.3).

A flow is one or more rules about one tool. Each form has one exact meaning, and everything else is refused with its
line and what to write instead. The meanings:

====================================================  ==================================
``if <condition>`` and ``stop`` or ``abort``          never, when the condition holds
``if not $ran.<tool>`` and ``stop``                   after that tool
``if $ran.<tool>`` and ``stop``                       not after that tool
``if $calls.<tool> >= n`` and ``stop``                at most n calls in the session
``if $total.<tool>.x + $x > n`` and ``stop``          at most n in total in the session
``bot ask confirmation``, ``await ConfirmAction()``   a person confirms
``stop`` or ``abort`` without ``if``                  never
====================================================  ==================================

The text under the flow's name is what a person reads, unless words stand with the stop itself.
"""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from lark import Token

from ..contract.mistakes import FileMistake, FileMistakes, nearest
from ..contract.tool import Origin, ToolContract
from .colang_conditions import CallsReach, Flow, HasNotRun, HasRun, TotalPasses, read_condition
from .colang_grammar import Node, line_of, parse_colang
from .effects import RESERVED_IDS, After, AtMost, Confirm, Never, NotAfter, Rule

__all__ = ["read_colang"]

_START_ACTION = re.compile(r"Start(\w+)Action\Z")
_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


def read_colang(
    text: str, *, file: str, tools: Mapping[str, ToolContract], facts: Collection[str] | None = None
) -> tuple[Rule, ...]:
    """Read the rules of a ``.co`` file.

    Args:
        text: the file's text.
        file: what to call it in messages.
        tools: every tool a flow may name.
        facts: the facts that any file lists. With None, a ``$name`` that is no argument is taken for a fact.

    Raises:
        FileMistakes: what has no exact meaning; of each flow its first mistake.
    """
    try:
        tree = parse_colang(text, file=file)
        _only_core_is_imported(tree, file)
    except FileMistake as mistake:
        raise FileMistakes([mistake]) from None
    mistakes: list[FileMistake] = []
    rules: list[Rule] = []
    activated = _activated(tree)
    names: set[str] = set()
    for node in _children(tree, "flow"):
        try:
            flow = _head(node, file)
            if flow.name in names:
                raise flow.mistake(f"there are two flows {flow.name!r}")
            names.add(flow.name)
            if not flow.is_old and not flow.is_active and flow.name not in activated:
                raise flow.mistake(
                    f"flow {flow.name!r} is never activated, so it would never refuse anything; "
                    "put @active above it, or activate it in flow main"
                )
            rules.extend(_rules(flow, tools, facts))
        except FileMistake as mistake:
            mistakes.append(mistake)
    for name, line in activated.items():
        if name not in names:
            place = Origin(file=file, line=line)
            mistakes.append(FileMistake(f"there is no flow {name!r} to activate", place, nearest(name, names)))
    if mistakes:
        raise FileMistakes(mistakes)
    return tuple(rules)


class _Head(NamedTuple):
    """A flow taken apart: its name, spelling, words, trigger and statements."""

    file: str
    line: int
    name: str
    is_old: bool
    is_active: bool
    say: str
    trigger: Node
    statements: list[Node]

    def mistake(self, message: str, node: Node | None = None, near: tuple[str, ...] = ()) -> FileMistake:
        line = self.line if node is None else line_of(node, self.line)
        return FileMistake(message, Origin(file=self.file, line=line), near)


def _head(node: Node, file: str) -> _Head:
    nodes = [child for child in node.children if not isinstance(child, Token)]
    texts = [str(child).strip('"').strip() for child in node.children if isinstance(child, Token)]
    is_active = nodes[0].data == "active"
    spelling, name, trigger, *statements = nodes[1:] if is_active else nodes
    head = _Head(
        file=file,
        line=line_of(spelling),
        name=_words(name),
        is_old=spelling.data == "old",
        is_active=is_active,
        say=" ".join(" ".join(texts).split()),
        trigger=trigger,
        statements=statements,
    )
    if is_active and head.is_old:
        raise head.mistake("@active belongs to Colang 2.x; a flow of 1.0 is active by itself")
    if head.name in RESERVED_IDS:
        raise head.mistake(f"{head.name} is what the check calls its own decisions; name the flow otherwise")
    return head


def _rules(head: _Head, tools: Mapping[str, ToolContract], facts: Collection[str] | None) -> list[Rule]:
    name, call = _trigger(head, tools)
    if name not in tools:
        raise head.mistake(f"there is no tool {name}", head.trigger, nearest(name, tools))
    flow = Flow(head.file, head.line, tools[name], tools, facts, call, head.is_old)
    rules: list[Rule] = []
    ended = False
    for statement in head.statements:
        if ended:
            raise head.mistake("nothing after a stop without if is ever reached", statement)
        if statement.data == "only_if":
            condition, effect = (child for child in statement.children if not isinstance(child, Token))
            rules.append(_conditional(head, flow, statement, condition, effect))
        else:
            refuses, say = _effect(head, statement)
            shared = {"id": head.name, "actions": (name,), "say": say or head.say, "origin": _origin(head, statement)}
            rules.append(Never.model_validate(shared) if refuses else Confirm.model_validate(shared))
            ended = refuses
    return rules


def _conditional(head: _Head, flow: Flow, statement: Node, condition: Node, effect: Node) -> Rule:
    meaning = read_condition(condition, flow)
    refuses, say = _effect(head, effect)
    shared: dict[str, object] = {
        "id": head.name,
        "actions": (flow.tool.name,),
        "say": say or head.say,
        "origin": _origin(head, statement),
    }
    match meaning:
        case HasRun() | HasNotRun() | CallsReach() | TotalPasses() if not refuses:
            raise head.mistake("an order or a cap refuses, and cannot ask", effect)
        case HasRun(tool):
            return NotAfter.model_validate({**shared, "tools": (tool,)})
        case HasNotRun(tool):
            return After.model_validate({**shared, "tools": (tool,)})
        case CallsReach(calls):
            return AtMost.model_validate({**shared, "calls": calls})
        case TotalPasses(argument, limit):
            return AtMost.model_validate({**shared, "total": argument, "limit": limit})
        case _:
            return (Never if refuses else Confirm).model_validate({**shared, "when": meaning})


def _effect(head: _Head, node: Node) -> tuple[bool, str]:
    """Return whether a statement refuses, and the words it says."""
    is_old = node.data in ("stop", "ask")
    if is_old is not head.is_old:
        written = {
            "stop": "stop is Colang 1.0; in 2.x write abort",
            "abort": "abort is Colang 2.x; in 1.0 write stop",
            "ask": "bot ask confirmation is Colang 1.0; in 2.x write await ConfirmAction()",
            "await_confirm": "await is Colang 2.x; in 1.0 write bot ask confirmation",
        }
        raise head.mistake(f"the two spellings are not mixed in one flow: {written[node.data]}", node)
    said = [_said(child) for child in node.children if not isinstance(child, Token)]
    return node.data in ("stop", "abort"), " ".join(said)


def _said(words: Node) -> str:
    """``bot say "No."`` says what stands in quotes; ``bot refuse to charge`` says its words."""
    quoted = [str(word).strip('"') for word in words.children if str(word).startswith('"')]
    return " ".join(quoted) or _words(words)


def _trigger(head: _Head, tools: Mapping[str, ToolContract]) -> tuple[str, str | None]:
    """Return the tool a flow is about, and the name it gives the call."""
    node = head.trigger
    first, *alias = [str(child) for child in node.children]
    if (node.data == "action_start") is head.is_old:
        way = "execute <tool>" if head.is_old else "match Start<Tool>Action()"
        raise head.mistake(f"the two spellings are not mixed in one flow: this one begins with {way}", node)
    if node.data != "action_start":
        return first.strip('"'), None
    matched = _START_ACTION.match(first)
    if matched is None:
        raise head.mistake(f"{first} is no start of a tool: a flow begins with match Start<Tool>Action()", node)
    if alias and alias[0] in ("$ran", "$calls", "$total"):
        raise head.mistake(f"{alias[0]} is a name of the record; call the call otherwise", node)
    named = [tool for tool in tools if _as_action(tool) == matched.group(1)]
    if len(named) > 1:
        raise head.mistake(f"{first} may be the start of {' or '.join(named)}; write these rules in a sheet", node)
    return named[0] if named else _HUMP.sub("_", matched.group(1)).lower(), alias[0] if alias else None


def _as_action(tool: str) -> str:
    """``charge_card`` is ``ChargeCard`` in the name of an action."""
    return "".join(part[:1].upper() + part[1:] for part in tool.split("_"))


def _activated(tree: Node) -> dict[str, int]:
    return {
        _words(child.children[0]): line_of(child)
        for main in _children(tree, "main")
        for child in main.children
        if not isinstance(child, Token) and not isinstance(child.children[0], Token)
    }


def _only_core_is_imported(tree: Node, file: str) -> None:
    for node in _children(tree, "import_"):
        if str(node.children[0]) != "core":
            raise FileMistake(f"only core is imported, not {node.children[0]}", Origin(file=file, line=line_of(node)))


def _children(node: Node, name: str) -> list[Node]:
    return [child for child in node.children if not isinstance(child, Token) and child.data == name]


def _words(node: Node) -> str:
    return " ".join(str(word).strip('"') for word in node.children)


def _origin(head: _Head, node: Node) -> Origin:
    return Origin(file=head.file, line=line_of(node, head.line))
