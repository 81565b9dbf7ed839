"""Webhooks: who wants to hear of open questions and of what runs leave, and how one is told (SPEC 12.3).

The webhooks file is YAML; an endpoint's secret is in a variable of the environment, never in the file::

    ops:
      url: https://hooks.example.com/amends
      secret_env: AMENDS_WEBHOOK_OPS
      events: [question.opened, run.stuck, run.left]

A request is signed as Standard Webhooks says: ``webhook-signature: v1,<base64 of HMAC-SHA256>`` of
``<webhook-id>.<webhook-timestamp>.<body>``, under the secret as it stands in the variable, or, where that begins with
``whsec_``, under the bytes that the rest of it is the base64 of.
"""

import asyncio
import base64
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pydantic import StringConstraints, TypeAdapter, ValidationError
from temporalio import activity
from temporalio.exceptions import ApplicationError

from ..contract.mistakes import FileMistake, FileMistakes
from ..contract.model import Stated
from ..contract.names import NOTIFY_ACTIVITY
from ..contract.notice import Notice, NoticeKind
from ..contract.tool import Origin
from ..contract.yaml12 import load_yaml
from .guard import is_loopback

__all__ = ["Endpoint", "Webhooks"]

PATIENCE = 15.0
"""Seconds an endpoint has to answer."""


class _Entry(Stated):
    url: Annotated[str, StringConstraints(pattern=r"^https?://\S{1,500}$")]
    secret_env: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{0,99}$")]
    events: tuple[NoticeKind, ...] = ("question.opened", "run.stuck", "run.left")


_FILE = TypeAdapter(dict[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,40}$")], _Entry])


@dataclass(frozen=True)
class Endpoint:
    """Somebody who wants to hear of runs that need somebody."""

    url: str = field(repr=False)
    secret: bytes = field(repr=False)
    events: tuple[NoticeKind, ...]


class Webhooks:
    """The endpoints of a webhooks file, by name. ``gone`` are those that want no more."""

    def __init__(self, endpoints: Mapping[str, Endpoint]) -> None:
        self.endpoints = dict(endpoints)
        self.gone: set[str] = set()

    @classmethod
    def of_file(cls, path: Path, environment: Mapping[str, str]) -> "Webhooks":
        """Read a webhooks file.

        Raises:
            FileMistakes: it cannot be read, says what it may not, or names a variable that is not set.
        """
        origin = Origin(file=str(path))
        try:
            said = _FILE.validate_python(load_yaml(path.read_text(encoding="utf-8"), file=str(path))[0])
        except OSError as error:
            raise FileMistakes([FileMistake(f"it cannot be read: {error.strerror}", origin)]) from error
        except ValidationError as invalid:
            found = [
                FileMistake(f"{'.'.join(map(str, each['loc']))}: {each['msg']}", origin)
                for each in invalid.errors(include_input=False)
            ]
            raise FileMistakes(found) from None
        wrong = [
            FileMistake(f"{name}.secret_env: the variable {entry.secret_env} is not set", origin)
            for name, entry in said.items()
            if not environment.get(entry.secret_env)
        ]
        wrong += [
            FileMistake(f"{name}.url: only https leaves this machine", origin)
            for name, entry in said.items()
            if entry.url.startswith("http:") and not is_loopback(urlsplit(entry.url).hostname or "")
        ]
        if wrong:
            raise FileMistakes(wrong)
        return cls(
            {
                name: Endpoint(entry.url, _secret(environment[entry.secret_env]), entry.events)
                for name, entry in said.items()
            }
        )

    @activity.defn(name=NOTIFY_ACTIVITY)
    async def notify(self, notice: Notice) -> None:
        """Tell an endpoint, once. What is raised names the endpoint and never its address."""
        endpoint = self.endpoints.get(notice.endpoint)
        if endpoint is None:
            said = f"there is no endpoint {notice.endpoint} any more"
            raise ApplicationError(said, type="Gone", non_retryable=True)
        told = notice.model_dump(mode="json", exclude={"id", "endpoint", "type", "at"}, exclude_none=True)
        body = json.dumps({"type": notice.type, "timestamp": notice.at.isoformat(), "data": told}).encode()
        moment = str(int(time.time()))
        mac = hmac.digest(endpoint.secret, f"{notice.id}.{moment}.".encode() + body, "sha256")
        headers = {
            "Content-Type": "application/json",
            "webhook-id": notice.id,
            "webhook-timestamp": moment,
            "webhook-signature": f"v1,{base64.b64encode(mac).decode()}",
        }
        try:
            status = await asyncio.to_thread(_post, endpoint.url, body, headers)
        except OSError as error:
            raise ApplicationError(f"{notice.endpoint} does not answer ({type(error).__name__})") from None
        if status == 410:
            self.gone.add(notice.endpoint)
            raise ApplicationError(f"{notice.endpoint} wants no more", type="Gone", non_retryable=True)
        if not 200 <= status < 300:
            raise ApplicationError(f"{notice.endpoint} answered {status}")


def _secret(said: str) -> bytes:
    kind, _, rest = said.partition("_")
    return base64.b64decode(rest) if kind == "whsec" else said.encode()


class _Straight(HTTPRedirectHandler):
    """Follows no redirect: what is signed for one address is sent to no other."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Refuse."""


_opener = build_opener(_Straight)


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    # The file's reader took http and https alone.
    request = Request(url, data=body, headers=dict(headers), method="POST")  # noqa: S310
    try:
        with _opener.open(request, timeout=PATIENCE) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code
