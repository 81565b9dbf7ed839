"""A number that something stands against is never read: a lost digit or sign changes an amount a hundredfold."""

import pytest
from amends.contract.reading import Language, Unread
from amends.examples.shop import tools as shop_tools
from amends.tools.loader import LoadedAgent, load_agent

SHOP = str(shop_tools.__file__).replace("tools.py", "agent.yaml")


@pytest.fixture(scope="module")
def shop() -> LoadedAgent:
    return load_agent(SHOP)


@pytest.mark.parametrize(
    ("turn", "language"),
    [
        ("cobre do pedido 4411 ,50", "pt-BR"),
        ("reembolse do pedido 4411 ,99", "pt-BR"),
        ("charge order 4411 ,50", "en"),
        ("charge order 4411 ,234.56", "en"),
        ("charge order 4411 .50", "en"),
        ("charge order 4411 just ,234.56", "en"),
        ("charge ,50 for order 4411", "en"),
        ("charge order 4411 $,50", "en"),
        ("charge order 4411 40.00then get order 4412", "en"),
        ("charge 40.00a order 4411", "en"),
        ("cobre 40,00o pedido 4411", "pt-BR"),
    ],
)
def test_it_stays_unread(shop: LoadedAgent, turn: str, language: Language):
    assert isinstance(shop.selector(language).read(turn), Unread)


@pytest.mark.parametrize("turn", ["charge order 4411, 40.00", "charge order 4411 40.00, then get order 4412."])
def test_a_separator_with_its_space_still_reads(shop: LoadedAgent, turn: str):
    assert not isinstance(shop.selector("en").read(turn), Unread)
