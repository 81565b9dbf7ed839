"""Every await of a rollback, found in the code; and the one at which a run was when it was asked to stop.

An await is named by where it stands and what it calls: ``rollback._Rollback._try: self._sender.undo``. Where a function
has the same call twice, the second one ends in ``#2``.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

import amends.workflows
import pytest
from amends.workflows.cancellation import Cancellation
from temporalio import workflow

__all__ = ["ONLY_IN_AN_UNWIND", "RecordedAwaits", "awaits_of_a_rollback"]

FOLDER = Path(amends.workflows.__file__).parent
MODULES = ("rollback", "sending", "doubt", "cancellation")
"""What `roll_back` calls. The run itself is not among them: it calls `roll_back`."""
NEVER_IN_A_ROLLBACK = frozenset({"cancellation.Cancellation.outlast_or_recall"})
"""Only the calls of a run that goes forward are recalled; which way is waited is said by a variable, not by a name."""

ONLY_IN_AN_UNWIND = frozenset(
    ("rollback._Rollback._undo: self._landed_before", "rollback._Rollback._landed_before: self._happened_in_doubt")
)
"""A run's own rollback never meets an undo that an earlier execution sent: see ``tests/unwind/test_shielded.py``."""


@dataclass(frozen=True)
class Await:
    """One await: its name, the functions it may call, by their last names, and its lines."""

    name: str
    calls: frozenset[str]
    lines: range


@dataclass(frozen=True)
class Function:
    """A coroutine function, by its qualified name, with its awaits."""

    name: str
    awaits: tuple[Await, ...]


def _calls(node: ast.expr, aliases: dict[str, frozenset[str]]) -> frozenset[str]:
    called = node.func if isinstance(node, ast.Call) else node
    if isinstance(called, ast.Attribute):
        return frozenset({called.attr})
    name = getattr(called, "id", "")
    return aliases.get(name, frozenset({name}))


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _own_nodes(child)


def _aliases(function: ast.AsyncFunctionDef) -> dict[str, frozenset[str]]:
    """By local name, the methods that the name may stand for: ``waiting = a.outlast if ... else a.recall``."""
    return {
        target.id: frozenset(each.attr for each in ast.walk(node.value) if isinstance(each, ast.Attribute))
        for node in _own_nodes(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _functions(module: str) -> Iterator[Function]:
    tree = ast.parse((FOLDER / f"{module}.py").read_text())
    pairs = [("", node) for node in tree.body]
    pairs += [(f"{each.name}.", node) for each in tree.body if isinstance(each, ast.ClassDef) for node in each.body]
    for scope, node in pairs:
        if not isinstance(node, ast.AsyncFunctionDef):
            continue
        name = f"{module}.{scope}{node.name}"
        found = sorted(
            (each for each in _own_nodes(node) if isinstance(each, ast.Await)),
            key=lambda each: (each.lineno, each.col_offset),
        )
        aliases = _aliases(node)
        seen: Counter[str] = Counter()
        awaits = []
        for each in found:
            called = ast.unparse(each.value.func if isinstance(each.value, ast.Call) else each.value)
            seen[called] += 1
            again = f" #{seen[called]}" if seen[called] > 1 else ""
            lines = range(each.lineno, (each.end_lineno or each.lineno) + 1)
            awaits.append(Await(f"{name}: {called}{again}", _calls(each.value, aliases), lines))
        yield Function(name, tuple(awaits))


@cache
def _known() -> dict[str, Function]:
    return {each.name: each for module in (*MODULES, "run") for each in _functions(module)}


def awaits_of_a_rollback() -> set[str]:
    """Return the names of all awaits that `roll_back` may come to, itself and whatever it calls.

    A call is followed into every function of its name: rather one too many, which then lacks a case, than one too few.
    """
    called = {name: each for name, each in _known().items() if not name.startswith("run.")}
    reached: set[str] = set()
    ahead = {"rollback.roll_back"}
    while ahead:
        function = called[ahead.pop()]
        if function.name in reached | NEVER_IN_A_ROLLBACK:
            continue
        reached.add(function.name)
        names = {name for each in function.awaits for name in each.calls}
        ahead |= {name for name in called if name.rpartition(".")[2] in names}
    return {each.name for name in reached for each in called[name].awaits}


def _qualified(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_qualname}"


def _await_of(frame: FrameType, inner: str) -> Await | None:
    """Return the await at which a frame of ours is, given the name of the function that it awaits."""
    function = _known().get(_qualified(frame))
    if function is None:
        return None
    here = [each for each in function.awaits if frame.f_lineno in each.lines]
    if not here and len(function.awaits) == 1:
        here = list(function.awaits)  # the request is noted in the handler of the wait that it interrupted
    if len(here) > 1:
        here = [each for each in here if inner in each.calls]
    (found,) = here
    return found


class RecordedAwaits:
    """By run, the awaits at which cancel requests of Temporal found it, outermost first."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        """Listen to every request in this process for as long as ``patch`` holds."""
        self.of: dict[str, tuple[str, ...]] = {}
        noting = Cancellation.request
        recorded = self.of

        def request(cancellation: Cancellation, *, by: str = "", reason: str = "") -> None:
            chain: list[str] = []
            inner, frame = "", sys._getframe(1)
            while frame.f_back is not None:
                found = _await_of(frame, inner) if Path(frame.f_code.co_filename).parent == FOLDER else None
                chain += [found.name] if found else []
                inner, frame = frame.f_code.co_name, frame.f_back
            # A workflow that leaves its worker's memory is cancelled, too, under a replay's flag; that is no request.
            if chain and not workflow.unsafe.is_replaying():
                recorded.setdefault(workflow.info().workflow_id, tuple(reversed(chain)))
            noting(cancellation, by=by, reason=reason)

        patch.setattr(Cancellation, "request", request)
