"""The application: the API and the pages, under headers that let a browser run nothing but our own files."""

import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from .. import __version__
from .api import api
from .guard import Console
from .pages import pages
from .problems import Problem, handlers
from .undo_pages import undo_pages
from .undoing import undoing

__all__ = ["create_app", "document"]

LARGEST_BODY = 256 * 1024
_log = logging.getLogger("amends.console")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def create_app(console: Console) -> FastAPI:
    """Make the application of one console."""
    app = FastAPI(
        title="amends",
        version=__version__,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        exception_handlers=cast("Any", handlers()),
    )
    app.state.console = console
    app.include_router(api)
    app.include_router(undoing)
    app.include_router(pages)
    app.include_router(undo_pages)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    app.add_api_route("/healthz", _healthy, include_in_schema=False)
    app.middleware("http")(_headers)
    app.add_middleware(_Bounded)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign] # FastAPI's own way to extend it
    return app


async def _healthy() -> dict[str, str]:
    return {"status": "ok"}


async def _headers(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
    begun = time.monotonic()
    response = await go_on(request)
    for name, value in _HEADERS.items():
        response.headers[name] = value
    route = getattr(request.scope.get("route"), "path", "-")
    # The route and not the path: ids, and whatever somebody put into a query, stay out of logs.
    _log.info("%s %s %s %d ms", request.method, route, response.status_code, (time.monotonic() - begun) * 1000)
    return response


class _Bounded:
    """Refuses bodies that are too large, said or sent."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = bytearray()
        more = scope["method"] in ("POST", "PUT", "PATCH")
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > LARGEST_BODY:
                said = Problem(
                    type="about:blank#too_large",
                    title="too large",
                    status=413,
                    detail=f"A request may have {LARGEST_BODY} bytes.",
                    code="too_large",
                )
                answer = Response(said.model_dump_json(exclude_none=True), 413, media_type="application/problem+json")
                await answer(scope, receive, send)
                return
        given = False

        async def replay() -> Message:
            nonlocal given
            if given or scope["method"] not in ("POST", "PUT", "PATCH"):
                return await receive()
            given = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, replay, send)


def document() -> dict[str, Any]:
    """Return the OpenAPI document of the API."""
    app = FastAPI(title="amends", version=__version__)
    app.include_router(api)
    app.include_router(undoing)
    return _document(app)


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        said = get_openapi(title=app.title, version=app.version, routes=app.routes)
        schemas = said.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema()
        said["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        said["security"] = [{"token": []}]
        app.openapi_schema = said
    return app.openapi_schema
