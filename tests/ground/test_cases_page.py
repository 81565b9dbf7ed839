"""The page of cases and the tree say the same: each case once, each test named there is here, and the other way round.

A row is ``| case | what must hold | shown by |``. A case is a letter and a number, or a name in backticks. Shown by are
tests, as ``path::name``, and a note; or a reason that begins with "Not shown: ".
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cases.md"
RANGES = (("D", 1, 15), ("G", 1, 88), ("G", 108, 126), ("N", 1, 20))
"""The cases that the page must have: a letter, and the first and the last number."""
SAGAS = {
    "published_artifact_install_only",
    "forward_success_path",
    "failure_at_d_reverse_compensation",
    "failure_at_c_reverse_compensation",
    "failure_at_a_no_compensation",
    "compensation_retry_idempotence",
    "compensation_failure_visibility",
    "mid_compensation_worker_restart",
    "php_workflow_python_compensation",
    "python_workflow_php_compensation",
    "typed_compensation_error_round_trip",
    "operator_visible_mid_compensation_status",
}
WIDTHS = {"D": 2, "G": 3, "N": 2}
"""How many digits a case's number has in the name of a test."""
ROW = re.compile(r"^\| (?P<case>[A-Z]\d+|`\w+`) \| (?P<holds>.+) \| (?P<shown>.+) \|$")
TEST = re.compile(r"`(tests/[\w/]+\.py::\w+)`")
NUMBER = re.compile(r"[dgn]\d+")
NOT_SHOWN = "Not shown: "
LEAST_REASON = 20


@dataclass(frozen=True)
class Row:
    """One case: what must hold, the tests that show it, and the rest of the cell."""

    case: str
    holds: str
    tests: tuple[str, ...]
    note: str

    @property
    def numbered(self) -> str:
        """The case as the name of a test has it; empty for one that goes by its name."""
        letter, number = self.case[0], self.case[1:]
        return f"{letter.lower()}{int(number):0{WIDTHS[letter]}}" if number.isdigit() else ""


def rows(page: str) -> Iterator[Row]:
    for line in page.splitlines():
        if row := ROW.match(line):
            note = TEST.sub("", row["shown"]).replace("<br>", " ").strip()
            yield Row(row["case"].strip("`"), row["holds"], tuple(TEST.findall(row["shown"])), note)
        else:
            assert not re.match(r"\|(?! case )(?!---)", line), f"this row is none: {line}"


def names_of(test: str) -> set[str]:
    """The numbers that a test carries at the front of its name."""
    numbers: set[str] = set()
    for word in test.removeprefix("test_").split("_"):
        if not NUMBER.fullmatch(word):
            break
        numbers.add(word)
    return numbers


@pytest.fixture(scope="module")
def listed() -> list[Row]:
    return list(rows(PAGE.read_text()))


@pytest.fixture(scope="module")
def there() -> set[str]:
    """Every test of the tree, as ``path::name``."""
    return {
        f"{file.relative_to(ROOT).as_posix()}::{node.name}"
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def test_every_case_is_listed_once(listed: list[Row]) -> None:
    cases = [row.case for row in listed]
    assert len(cases) == len(set(cases))
    wanted = {f"{letter}{number}" for letter, first, last in RANGES for number in range(first, last + 1)}
    assert (wanted | SAGAS) - set(cases) == set()


def test_every_test_that_is_named_is_there(listed: list[Row], there: set[str]) -> None:
    assert {test for row in listed for test in row.tests} - there == set()


def test_every_case_has_a_test_of_its_number_or_a_reason(listed: list[Row]) -> None:
    for row in listed:
        if row.tests:
            assert not row.note.startswith(NOT_SHOWN), row.case
            numbers = {number for test in row.tests for number in names_of(test.partition("::")[2])}
            assert not row.numbered or row.numbered in numbers, f"no test of {row.case} is named {row.numbered}"
        else:
            assert row.note.startswith(NOT_SHOWN), row.case
            assert len(row.note) > len(NOT_SHOWN) + LEAST_REASON, row.case


def test_every_test_with_a_number_is_listed_under_it(listed: list[Row], there: set[str]) -> None:
    shown = {(row.numbered, test) for row in listed for test in row.tests}
    numbered = {(number, test) for test in there for number in names_of(test.partition("::")[2])}
    assert {(number, test) for number, test in numbered if _is_wanted(number)} - shown == set()


def _is_wanted(number: str) -> bool:
    return any(number[0] == letter.lower() and first <= int(number[1:]) <= last for letter, first, last in RANGES)


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("`tests/none.py::test_g001_x`", "is there"),
        ("Not shown: no.", "reason"),
        ("somehow", "reason"),
        ("`tests/ground/test_cases_page.py::test_every_case_is_listed_once`", "number"),
    ],
)
def test_what_is_wrong_with_a_row_would_be_found(cell: str, problem: str, there: set[str]) -> None:
    wrong = list(rows(f"| G1 | something | {cell} |"))
    checks = {"is there": lambda: test_every_test_that_is_named_is_there(wrong, there)}
    with pytest.raises(AssertionError):
        checks.get(problem, lambda: test_every_case_has_a_test_of_its_number_or_a_reason(wrong))()
