"""Every refusal of the API as problem+json (RFC 9457), each code with its status (SPEC 12.3)."""

from collections.abc import Mapping

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from temporalio.service import RPCError, RPCStatusCode

from ..contract.errors import AmendsError, CallerError

__all__ = ["DOCUMENTED", "Problem", "ProblemError", "handlers", "problem_of"]

JSON = "application/problem+json"

_CODES: Mapping[int, str] = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "not_json"}


_BUSY = frozenset(
    (
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.ABORTED,
    )
)


class Problem(BaseModel):
    """Why a request was refused. ``code`` never changes; ``detail`` says this case in words, ``hint`` the way out."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str | None = None
    run_id: str | None = None
    question_id: str | None = None


class ProblemError(Exception):
    """A refusal of the API's own."""

    def __init__(self, status: int, code: str, detail: str, *, hint: str = "", retry_after: int = 0) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.hint, self.retry_after = status, code, detail, hint, retry_after


def problem_of(error: Exception) -> Problem:
    """Return the problem that tells of an error."""
    if isinstance(error, ProblemError):
        return _problem(error.status, error.code, error.detail, hint=error.hint or None)
    if isinstance(error, CallerError):
        return _problem(
            error.status,
            error.code,
            error.message,
            hint=error.hint or None,
            run_id=error.run_id,
            question_id=error.question_id,
        )
    if isinstance(error, AmendsError | ValueError):
        return _problem(422, getattr(error, "code", "invalid_request"), str(error))
    if isinstance(error, RPCError) and error.status in _BUSY:
        said = f"Temporal does not answer in time ({error.status.name.lower()})."
        return _problem(503, "temporal_unreachable", said, hint="Ask again; nothing that was accepted is lost.")
    return _problem(500, "unexpected", "Something went wrong here. It is in the server's log.")


def _problem(
    status: int,
    code: str,
    detail: str,
    *,
    hint: str | None = None,
    run_id: str | None = None,
    question_id: str | None = None,
) -> Problem:
    return Problem(
        type=f"about:blank#{code}",
        title=code.replace("_", " "),
        status=status,
        detail=detail,
        code=code,
        hint=hint,
        run_id=run_id,
        question_id=question_id,
    )


def _answer(problem: Problem, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(
        problem.model_dump(exclude_none=True), status_code=problem.status, media_type=JSON, headers=dict(headers or {})
    )


async def _told(_: Request, error: Exception) -> JSONResponse:
    headers = {}
    if isinstance(error, ProblemError) and error.retry_after:
        headers["Retry-After"] = str(error.retry_after)
    problem = problem_of(error)
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return _answer(problem, headers)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    """A request that is not what the document says: where, and why; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError)
    said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
    return _answer(_problem(422, "invalid_request", said))


async def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "invalid_request")
    return _answer(_problem(error.status_code, code, str(error.detail)), error.headers)


def handlers() -> dict[type[Exception] | int, object]:
    """Return what turns each kind of error into its answer."""
    return {
        ProblemError: _told,
        AmendsError: _told,
        RPCError: _told,
        ValueError: _told,
        RequestValidationError: _invalid,
        HTTPException: _http,
        Exception: _told,
    }


def _documented(said: str) -> dict[str, object]:
    return {"description": said, "content": {JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}}}


DOCUMENTED: Mapping[int | str, dict[str, object]] = {
    400: _documented("The request cannot be read, or a POST lacks its Idempotency-Key."),
    401: _documented("Nobody is signed in."),
    403: _documented("This caller may not do it."),
    404: _documented("There is no such thing, or not for this caller."),
    409: _documented("It cannot be done now, the way things stand."),
    410: _documented("The question has expired, and is asked anew."),
    413: _documented("The request is too large."),
    415: _documented("The body is not JSON."),
    422: _documented("The request says something it may not."),
    429: _documented("Too many requests; Retry-After says when to come again."),
    503: _documented("Temporal or a worker does not answer."),
}
"""What every operation may answer besides its own."""
