"""What a raised error says of its effect (SPEC 5.3)."""

import asyncio
import http.client
import ssl

import pytest
from amends.activities.failures import LONGEST_MESSAGE, outcome_of_raised
from amends.contract.errors import NotSent, OutcomeUnknown, Refused


class APIConnectionError(Exception):
    """As payment libraries name it; no subclass of Python's."""


class ReadTimeout(Exception):  # noqa: N818
    """As HTTP libraries name it."""


class CardError(Exception):
    """A definite answer of a payment library."""


class StripeTimeout(ReadTimeout):
    """A class of one's own under a library's."""


def raised_from(cause: BaseException | None, error: BaseException) -> BaseException:
    error.__cause__ = cause
    error.__suppress_context__ = True
    return error


def raised_during(first: BaseException, error: BaseException) -> BaseException:
    error.__context__ = first
    return error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RuntimeError("down"), "failed"),
        (ValueError("no such order"), "failed"),
        (KeyError("x"), "failed"),
        (CardError("declined"), "failed"),
        (FileNotFoundError("x"), "failed"),
        (Refused("declined"), "failed"),
        (NotSent("no address"), "never_sent"),
        (OutcomeUnknown("502"), "in_doubt"),
        (TimeoutError(), "in_doubt"),
        (ConnectionError(), "in_doubt"),
        (ConnectionResetError(), "in_doubt"),
        (ConnectionRefusedError(), "in_doubt"),
        (BrokenPipeError(), "in_doubt"),
        (EOFError(), "in_doubt"),
        (ssl.SSLError("x"), "in_doubt"),
        (http.client.RemoteDisconnected("x"), "in_doubt"),
        (http.client.IncompleteRead(b""), "in_doubt"),
        (asyncio.CancelledError(), "in_doubt"),
        (asyncio.IncompleteReadError(b"", 1), "in_doubt"),
        (SystemExit(1), "in_doubt"),
        (APIConnectionError(), "in_doubt"),
        (ReadTimeout(), "in_doubt"),
        (StripeTimeout(), "in_doubt"),
        (ExceptionGroup("g", [ValueError(), TimeoutError()]), "in_doubt"),
        (ExceptionGroup("g", [ValueError()]), "failed"),
        (raised_from(TimeoutError(), RuntimeError("payment failed")), "in_doubt"),
        (raised_during(TimeoutError(), RuntimeError("payment failed")), "in_doubt"),
        (raised_from(None, RuntimeError("looked it up: it is not there")), "failed"),
        (raised_from(TimeoutError(), Refused("asked again: declined")), "failed"),
    ],
    ids=repr,
)
def test_each_error_is_definite_never_sent_or_in_doubt(error: BaseException, status: str) -> None:
    outcome = outcome_of_raised(error)
    assert outcome.status == status
    assert outcome.failure is not None
    assert outcome.failure.type == type(error).__name__
    assert outcome.refused == isinstance(error, Refused)


def test_an_ordinary_error_while_the_worker_stops_is_a_doubt() -> None:
    assert outcome_of_raised(RuntimeError("loop closed"), worker_lost=True).worker_lost


def test_from_none_says_that_the_cause_does_not_matter() -> None:
    def looked_up() -> None:
        try:
            raise TimeoutError  # noqa: TRY301
        except TimeoutError:
            raise RuntimeError("the lookup says it was never taken") from None

    with pytest.raises(RuntimeError) as caught:
        looked_up()
    assert outcome_of_raised(caught.value).status == "failed"


def test_an_error_that_cannot_print_itself_still_has_a_name() -> None:
    class Mute(Exception):  # noqa: N818
        def __str__(self) -> str:
            raise RuntimeError("no words")

    outcome = outcome_of_raised(Mute())
    assert outcome.failure is not None
    assert (outcome.failure.type, outcome.failure.message) == ("Mute", "")


def test_a_long_message_is_cut() -> None:
    outcome = outcome_of_raised(RuntimeError("x" * 10_000))
    assert outcome.failure is not None
    assert len(outcome.failure.message) == LONGEST_MESSAGE
