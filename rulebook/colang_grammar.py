"""The grammar of the Colang subset: flows about one tool call each, in the spelling of Colang 1.0 or of 2.x.

It is our own, and small: whatever it does not derive is refused with its line, so that nothing in a file is ever
taken for a comment. What the derived trees mean is in `colang`.
"""

from typing import TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.indenter import DedentError, Indenter

from ..contract.mistakes import FileMistake
from ..contract.tool import Origin

__all__ = ["Node", "line_of", "parse_colang"]

Node: TypeAlias = Tree[Token]

_GRAMMAR = r'''
start: _NL? (import_ | main | flow)*

import_: "import" NAME _NL
main: "flow" "main" _NL _INDENT activate+ _DEDENT
activate: "activate" name _NL
flow: (active _NL)? head name _NL _INDENT (DOC _NL)? trigger statement+ _DEDENT
active: "@" "active"
head: "define" "flow" -> old
    | "flow"          -> new
name: NAME+

trigger: "execute" NAME _NL                                                        -> executes
       | "event" "StartInternalSystemAction" "(" "action_name" "=" STRING ")" _NL  -> internal_start
       | "match" NAME "(" ")" ("as" VARIABLE)? _NL                                 -> action_start

?statement: only_if | effect
only_if: "if" expression ":"? _NL _INDENT effect _DEDENT
effect: words? "stop" _NL                    -> stop
      | words? "abort" _NL                   -> abort
      | "bot" "ask" "confirmation" _NL       -> ask
      | "await" "ConfirmAction" "(" ")" _NL  -> await_confirm
words: "bot" (NAME | STRING)+ _NL

?expression: conjunction
           | conjunction ("or" conjunction)+   -> any_of
?conjunction: denial
            | denial ("and" denial)+           -> all_of
?denial: comparison
       | "not" denial                          -> denied
?comparison: sum
           | sum COMPARE sum                   -> compared
           | sum NOT_IN list                   -> not_in
           | sum "in" list                     -> in_
           | "(" expression ")"
?sum: atom
    | atom ("+" atom)+                         -> added
?atom: path | literal
path: VARIABLE ("." NAME)*
list: "[" literal ("," literal)* "]"
?literal: NUMBER -> number
        | STRING -> string
        | "True" -> yes
        | "False" -> no

COMPARE: ">=" | "<=" | "==" | "!=" | ">" | "<"
NOT_IN.2: /not[ ]+in(?!\w)/
VARIABLE: /\$[A-Za-z_]\w*/
NAME: /[A-Za-z_]\w*/
NUMBER: /-?[0-9]+(\.[0-9]+)?(?![\w.])/
STRING: /"[^"\n]*"/
DOC.2: /"""[^"]*"""/
_NL: /([ ]*(#[^\n]*)?\n[ ]*)+/
%ignore /[ ]+/
%ignore /#[^\n]*/
%declare _INDENT _DEDENT
'''


class _Blocks(Indenter):
    NL_type = "_NL"
    OPEN_PAREN_types: list[str] = []  # noqa: RUF012 - lark's own shape
    CLOSE_PAREN_types: list[str] = []  # noqa: RUF012
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8


_PARSER = Lark(
    _GRAMMAR, parser="lalr", lexer="contextual", postlex=_Blocks(), propagate_positions=True, maybe_placeholders=False
)

_REASONS = {
    "when": "`when` waits for an event, and a rule may not wait",
    "while": "a loop has no exact rule",
    "for": "a loop has no exact rule",
    "user": "what a user says is no fact about a call",
    "define user": "what a user says is no fact about a call",
    "define bot": "words of the bot are written where they are said: bot <words>, then stop",
    "define subflow": "a subflow has no exact rule; write its rules as a flow about the tool",
    "do": "calling a flow has no exact rule; write its rules out",
    "$": "an assignment changes something, and a check changes nothing",
    "start": "starting an action is no rule",
    "send": "sending an event is no rule",
    "else": "`else` would have to undo a refusal; write the other rule as a flow of its own",
    "elif": "`elif` would have to undo a refusal; write the other rule as a flow of its own",
    "elseif": "`elseif` would have to undo a refusal; write the other rule as a flow of its own",
    "...": "`...` asks a model, and the check asks none",
    "priority": "every rule applies, so there is no priority",
    "await": "only ConfirmAction() may be awaited",
    "execute": "only the tool the flow is about is executed, in its first line",
    "bot": "what the bot says goes with the stop in the next line; to ask a person write: bot ask confirmation",
    "return": "a flow returns nothing; it ends by itself, or with stop or abort",
    "break": "a loop has no exact rule",
    "global": "a check keeps nothing; use $ran, $calls or $total",
    "match": "a flow begins with match Start<Tool>Action(), and matches nothing else",
    "event": 'an event is written event StartInternalSystemAction(action_name="<tool>")',
    "activate": "activate stands in flow main",
    "@": "the one decorator is @active",
    "import": "only core is imported, and only above the flows",
    "if": "a condition is written with names, numbers, texts, and or not ( ) + > < >= <= == != in, one effect under it",
}
_OTHERWISE = "this is not in the subset of Colang that has an exact meaning here"


def parse_colang(text: str, *, file: str) -> Node:
    """Return the tree of a file; its data are the rule names and aliases of the grammar above.

    Raises:
        FileMistake: a line that the grammar does not derive, a tab, or an indentation that belongs to nothing.
    """
    source = text.replace("\r\n", "\n").rstrip() + "\n"
    lines = source.split("\n")
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            raise FileMistake("indent with spaces, not with a tab", Origin(file=file, line=number))
    try:
        return _PARSER.parse(source)
    except UnexpectedInput as error:
        number = max(1, min(_line(error), len(lines) - 1))
        reason = _structure(error) or _reason(lines[number - 1])
        raise FileMistake(reason, Origin(file=file, line=number)) from None
    except DedentError:
        number = _stray_dedent(lines)
        raise FileMistake(
            "the indentation goes back to a place where no block began", Origin(file=file, line=number)
        ) from None


def line_of(node: Node, otherwise: int = 1) -> int:
    """Return the line a node begins on."""
    return node.meta.line if not node.meta.empty else otherwise


def _line(error: UnexpectedInput) -> int:
    if isinstance(error, UnexpectedToken) and error.token.type == "_INDENT":
        # The token is the line break and the spaces after it: what is too deep is the line below.
        return error.token.end_line or error.line
    return error.line


def _structure(error: UnexpectedInput) -> str:
    """Say what is wrong with the blocks, when it is not the line itself."""
    wanted = set() if error.interactive_parser is None else error.interactive_parser.accepts()  # type: ignore[no-untyped-call]  # lark leaves it untyped
    if "_INDENT" in wanted:
        return "this belongs to the line above, and is indented under it"
    if isinstance(error, UnexpectedToken) and error.token.type in ("_DEDENT", "$END") and "IF" in wanted:
        return "the flow ends here without saying anything about its call: an if, a stop or abort, or a confirmation"
    return ""


def _reason(line: str) -> str:
    said = line.strip()
    for opening in sorted(_REASONS, key=len, reverse=True):
        follows = said.removeprefix(opening)[:1]
        if said.startswith(opening) and not (opening[-1].isalpha() and (follows.isalnum() or follows == "_")):
            return f"{_REASONS[opening]}: {said}"
    return f"{_OTHERWISE}: {said}" if said else _OTHERWISE


def _stray_dedent(lines: list[str]) -> int:
    """Find the line that goes back to no open block; the lexer only says that there is one."""
    blocks = [0]
    in_text = False
    for number, line in enumerate(lines, 1):
        begins_in_text = in_text
        in_text ^= line.count('"""') % 2 == 1
        said = line.strip()
        if begins_in_text or not said or said.startswith("#"):
            continue
        depth = len(line) - len(line.lstrip())
        if depth > blocks[-1]:
            blocks.append(depth)
        while depth < blocks[-1]:
            blocks.pop()
        if depth != blocks[-1]:
            return number
    return len(lines)
