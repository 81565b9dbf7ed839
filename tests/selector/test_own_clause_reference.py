""" "That account" never means the account its own clause just named: money would go from an account to itself."""

from pathlib import Path

import pytest
from amends.contract.reading import Language, Unread
from amends.tools.loader import load_agent

DESK = Path(__file__).parent.parent / "cases" / "desk" / "agent.yaml"


@pytest.mark.parametrize(
    ("turn", "language"),
    [
        ("transfer 10.00 from account 1 to that account", "en"),
        ("transfer 10.00 from account 1 to the same account", "en"),
        ("transfira 10,00 da conta 1 para aquela conta", "pt-BR"),
        ("transfira 10,00 da conta 1 para a mesma conta", "pt-BR"),
    ],
)
def test_a_reference_inside_its_own_clause_has_no_antecedent(turn: str, language: Language):
    read = load_agent(DESK).selector(language).read(turn)
    assert isinstance(read, Unread)
    assert read.code in ("no_antecedent", "left_over", "unknown_word")
