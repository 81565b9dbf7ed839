"""Who is asking, and whether the request is theirs: sign-in, same origin, rates (SPEC 12.3)."""

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Header, Request

from .desk import Desk
from .limits import Rate, Replays
from .people import People, Person
from .problems import ProblemError
from .seal import Seal

__all__ = ["Console", "Key", "Signed", "console_of", "is_loopback", "json_only", "require_same_origin", "signed_in"]

LONGEST_KEY = 200


@dataclass
class Console:
    """What every request works with.

    Attributes:
        desk: the agent.
        people: who may sign in.
        seal: signs cookies and forms.
        ui_url: the address of Temporal's web UI, where it is known.
        namespace: the namespace of the runs, for links into it.
    """

    desk: Desk
    people: People
    seal: Seal
    ui_url: str | None = None
    namespace: str = "default"
    posts: Rate = field(default_factory=lambda: Rate(at_once=60, a_second=10))
    sign_ins: Rate = field(default_factory=lambda: Rate(at_once=10, a_second=0.2))
    replays: Replays = field(default_factory=Replays)


def console_of(request: Request) -> Console:
    """Return the console that serves a request."""
    console: Console = request.app.state.console
    return console


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def cookie_name(request: Request) -> str:
    """Return the name of the cookie; over TLS it is bound to this host and to TLS by its name."""
    return "__Host-amends" if request.url.scheme == "https" else "amends"


def signed_in(request: Request) -> Person | None:
    """Return who is asking: the person at this machine, or whose token or cookie it is."""
    console = console_of(request)
    if console.people.local is not None:
        # Another name for this machine would let a page of that name in (DNS rebinding).
        if not is_loopback(request.url.hostname or ""):
            raise ProblemError(403, "not_local", "This console answers to this machine's own names alone.")
        return console.people.local
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token:
        return console.people.with_token(token.strip())
    cookie = request.cookies.get(cookie_name(request), "")
    name = console.seal.signed_in(cookie) if cookie.count(".") == 3 else None
    return console.people.named(name) if name else None


def require_same_origin(request: Request) -> None:
    """Refuse what another site made a browser send.

    Raises:
        ProblemError: 403 ``csrf``.
    """
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site")
    foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    if foreign or site not in (None, "same-origin", "none"):
        raise ProblemError(403, "csrf", "This request came from another site.")


async def _signed(request: Request) -> Person:
    person = signed_in(request)
    if person is None:
        raise ProblemError(401, "unauthenticated", "Sign in first.", hint="Send Authorization: Bearer TOKEN.")
    if request.method not in ("GET", "HEAD"):
        require_same_origin(request)
        console_of(request).posts.take(person.name)
    return person


Signed = Annotated[Person, Depends(_signed)]


async def json_only(request: Request) -> None:
    """Refuse a body that does not say that it is JSON; a browser sends none across sites that does.

    Raises:
        ProblemError: 415 ``not_json``.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method in ("POST", "PUT") and kind != "application/json":
        raise ProblemError(415, "not_json", "The body must be application/json.")


async def _key(
    idempotency_key: Annotated[
        str | None, Header(description="Names this request: the same again is answered as the first was. Required.")
    ] = None,
) -> str:
    key = (idempotency_key or "").strip('"')
    if not key:
        raise ProblemError(400, "idempotency_key_missing", "A POST needs an Idempotency-Key.")
    if len(key) > LONGEST_KEY:
        raise ProblemError(400, "idempotency_key_missing", f"An Idempotency-Key has {LONGEST_KEY} characters at most.")
    return key


Key = Annotated[str, Depends(_key)]
