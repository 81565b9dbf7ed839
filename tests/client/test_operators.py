"""Operator tokens: made once, checked in constant time, hashed at rest, expiring, revocable (SPEC 8.1)."""

import hmac
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from amends.client import operators as module
from amends.client.operators import Operators, claimed_name
from amends.contract.errors import Conflict, NotAllowed, NotFound

ROOT = Path(__file__).parents[2]
START = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def operators(tmp_path: Path, clock: Clock) -> Operators:
    return Operators(tmp_path / ".amends" / "operators.json", clock=clock)


def refusal(operators: Operators, token: str | None, scope: module.OperatorScope = "undo") -> NotAllowed:
    with pytest.raises(NotAllowed) as told:
        operators.check(token, scope)
    return told.value


# What a token is


def test_a_token_names_its_operator_and_lets_its_scopes_through(operators: Operators):
    token = operators.create("oncall-1", ("answer", "undo"), 90 * DAY)
    assert token.startswith("amo_oncall-1_")
    assert len(token) == len("amo_oncall-1_") + 43
    allowed = operators.check(token, "undo")
    assert allowed == operators.check(token, "answer")
    assert allowed.model_dump() == {
        "name": "oncall-1",
        "scopes": ("undo", "answer"),
        "created_at": START,
        "expires_at": START + 90 * DAY,
        "revoked_at": None,
    }
    assert list(operators) == [allowed]


def test_each_refusal_has_a_code_and_the_way_out(operators: Operators, clock: Clock):
    told = refusal(operators, "amo_x_" + "a" * 43)
    assert told.code == "operator_token_not_configured"
    assert str(told) == "This needs an operator token, and none exists. Make one: amends operator create NAME."

    token = operators.create("ops", ("export",), DAY)
    for missing in (None, ""):
        told = refusal(operators, missing)
        assert told.code == "operator_token_required"
        assert str(told) == (
            "An operator token is required. Give it in AMENDS_OPERATOR_TOKEN, with --token-file or as token=."
        )

    told = refusal(operators, token)
    assert told.code == "operator_token_scope"
    assert str(told) == ("The operator token ops allows export, and not undo. Use one that was made with --scope undo.")

    clock.now = START + DAY
    told = refusal(operators, token, "export")
    assert told.code == "operator_token_expired"
    assert str(told) == (
        "The operator token ops expired at 2026-03-06 12:00Z. Make another: amends operator create NAME."
    )

    operators.revoke("ops")
    told = refusal(operators, token, "export")
    assert told.code == "operator_token_revoked"
    assert str(told) == (
        "The operator token ops was revoked at 2026-03-06 12:00Z. Make another: amends operator create NAME."
    )


def test_a_token_is_good_to_its_last_moment_and_not_after(operators: Operators, clock: Clock):
    token = operators.create("ops", ("undo",), DAY)
    clock.now = START + DAY - timedelta(microseconds=1)
    assert operators.check(token, "undo").name == "ops"
    clock.now = START + DAY
    assert refusal(operators, token).code == "operator_token_expired"


def test_a_wrong_secret_an_unknown_name_and_no_token_at_all_are_told_the_same(operators: Operators):
    token = operators.create("ops", ("undo",), DAY)
    secret = token.removeprefix("amo_ops_")
    wrong = [
        "amo_ops_" + "A" * 43,
        f"amo_nobody_{secret}",
        token[:-1],
        f"{token}A",
        f"{token}\n",
        token.upper(),
        secret,
        "amo__" + secret,
        "ops",
        "sha256:" + "0" * 64,
        "\udc80é\x00",
        "x" * 100_000,
    ]
    (said,) = {str(refusal(operators, each)) for each in wrong}
    assert said == (
        "An operator token is required; this one is not known. "
        "Was all of it given? If it is lost, make another: amends operator create NAME."
    )
    assert {refusal(operators, each).code for each in wrong} == {"operator_token_required"}


def test_there_is_one_comparison_of_equal_lengths_whatever_the_token_says(
    operators: Operators, monkeypatch: pytest.MonkeyPatch
):
    token = operators.create("ops", ("undo",), DAY)
    operators.create("other", ("undo",), DAY)
    compared: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def counting(one: str, other: str) -> bool:
        compared.append((len(one), len(other)))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", counting)
    for given in (token, "amo_ops_" + "A" * 43, "amo_nobody_" + "A" * 43, "nonsense"):
        compared.clear()
        try:
            operators.check(given, "undo")
        except NotAllowed as told:
            assert told.code == "operator_token_required"  # noqa: PT017 - one of the four is let through
        assert compared == [(71, 71)], given


def test_whose_a_token_is_can_be_told_also_when_it_allows_nothing(operators: Operators, clock: Clock):
    assert operators.owner(None) is None
    token = operators.create("ops", ("export",), DAY)
    clock.now += 2 * DAY
    operators.revoke("ops")
    (line,) = operators
    assert operators.owner(token) == line
    assert [operators.owner(other) for other in (None, "", token[:-1], "amo_ops_" + "A" * 43)] == [None] * 4


def test_the_name_that_a_token_claims_can_be_read_from_it_and_proves_nothing():
    assert claimed_name("amo_oncall-2_" + "A" * 43) == "oncall-2"
    assert [claimed_name(other) for other in (None, "", "amo_oncall-2_short", "amo_A_" + "A" * 43)] == [""] * 4


# Rotation


def test_two_tokens_are_valid_at_once_until_the_old_one_is_revoked(operators: Operators, clock: Clock):
    old = operators.create("oncall-1", ("undo",), 30 * DAY)
    clock.now += DAY
    new = operators.create("oncall-2", ("undo",), 30 * DAY)
    assert [operators.check(token, "undo").name for token in (old, new)] == ["oncall-1", "oncall-2"]

    clock.now += DAY
    assert operators.revoke("oncall-1").revoked_at == clock.now
    assert refusal(operators, old).code == "operator_token_revoked"
    assert operators.check(new, "undo").name == "oncall-2"

    clock.now += DAY
    assert operators.revoke("oncall-1").revoked_at == START + 2 * DAY, "the first revocation stands"
    assert [(line.name, line.state(clock.now)) for line in operators] == [
        ("oncall-1", "revoked"),
        ("oncall-2", "valid"),
    ]
    assert [line.state(START + 31 * DAY) for line in operators] == ["revoked", "expired"]


def test_a_name_is_given_once_since_records_name_it(operators: Operators, clock: Clock):
    operators.create("ops", ("undo",), DAY)
    operators.revoke("ops")
    clock.now += 400 * DAY
    with pytest.raises(Conflict, match="There is a token named ops already, or was one") as told:
        operators.create("ops", ("undo",), DAY)
    assert told.value.code == "operator_name_taken"
    assert len(list(operators)) == 1


def test_only_a_token_that_there_is_can_be_revoked(operators: Operators):
    with pytest.raises(NotFound, match="There is no operator token named 'ops'") as told:
        operators.revoke("ops")
    assert told.value.code == "no_such_operator"
    assert not operators.path.exists()


def test_a_revocation_counts_for_who_has_looked_before(operators: Operators):
    token = operators.create("ops", ("undo",), DAY)
    elsewhere = Operators(operators.path, clock=lambda: START)
    assert elsewhere.check(token, "undo").name == "ops"
    operators.revoke("ops")
    assert refusal(elsewhere, token).code == "operator_token_revoked"


@pytest.mark.parametrize("name", ["", "Ops", "on call", "a_b", "-a", "é", "a" * 51, "a\n"])
def test_a_name_that_could_not_be_read_back_is_refused(operators: Operators, name: str):
    with pytest.raises(ValueError, match=r"^name is "):
        operators.create(name, ("undo",), DAY)
    assert not operators.path.exists()


@pytest.mark.parametrize(
    ("scopes", "lifetime", "said"),
    [
        ((), DAY, "scopes: none is given; there are undo, answer, export, settings"),
        (("undo", "all"), DAY, "scopes: 'all' is none; there are undo, answer, export, settings"),
        (("undo",), timedelta(0), "lifetime is 0:00:00; it must be more than nothing and 366 days at most"),
        (("undo",), 367 * DAY, "lifetime is 367 days, 0:00:00; it must be more than nothing and 366 days at most"),
    ],
)
def test_scopes_and_lifetimes_that_cannot_be_are_refused(operators: Operators, scopes, lifetime, said: str):
    with pytest.raises(ValueError) as told:  # noqa: PT011 - the whole text is compared
        operators.create("ops", scopes, lifetime)
    assert str(told.value) == said
    assert not operators.path.exists()
