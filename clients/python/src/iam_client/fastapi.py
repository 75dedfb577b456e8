"""Guards for the routes of a FastAPI application. Needs the extra `fastapi`.

They are what `iam_axum` gives the routes of a Rust program, for a service that asks the API over the network.
"""

import logging
import re
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iam_client import models, operations
from iam_client._async_client import AsyncClient
from iam_client._exchange import Retry
from iam_client._operation import Operation
from iam_client.errors import InvalidResponse, Problem, Unreachable
from iam_client.tokens import AsyncTokenVerifier, Claims, InvalidToken

API_KEY = re.compile(r"iamk_[0-9a-f-]{36}_[0-9A-Za-z]{72}")
PERMISSION = re.compile(r"[a-z][a-z0-9-]*:[a-z][a-z0-9-]*")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# A caller waits for the answer about its permission.
QUICK = Retry(attempts=3, first=0.1, longest=1.0)
QUICK_TIMEOUT = 5.0
CODES = {
    401: "unauthorized",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    409: "conflict",
    413: "payload-too-large",
    415: "unsupported-media-type",
    429: "rate-limited",
    503: "unavailable",
}

# The titles of the API that are not the words of their code.
TITLES = {
    "validation": "Validation Error",
    "rate-limited": "Too Many Requests",
    "internal": "Internal Server Error",
    "unavailable": "Service Unavailable",
}

_log = logging.getLogger(__name__)

# Shows in the OpenAPI document of the application that a route needs a token.
_bearer = HTTPBearer(auto_error=False, description="An access token, or an API key if the service accepts them.")


@dataclass(frozen=True)
class Caller:
    """The user who has sent a request."""

    user: UUID
    tenant: UUID
    claims: Claims | None
    """What the access token says. `None` for an API key."""
    token: str = field(repr=False)
    """For requests to the API in the name of the caller: `client.send(operation, token=caller.token)`."""


class Refusal(Exception):
    """Ends a request with a problem document. Handlers may raise it, too."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: list[dict[str, str]] | None = None,
        retry_after: int | None = None,
        headers: dict[str, str] | None = None,
        reason: str = "",
    ) -> None:
        """`reason` is for the log alone, and has no secrets."""
        super().__init__(f"{status} {code}: {detail}")
        self.status, self.code, self.detail = status, code, detail
        self.reason = reason
        self.errors, self.retry_after, self.headers = errors, retry_after, dict(headers or {})
        if retry_after is not None:
            self.headers["retry-after"] = str(retry_after)


def _unauthorized(reason: str, challenge: str = 'Bearer error="invalid_token"') -> Refusal:
    headers = {"www-authenticate": challenge}
    return Refusal(401, "unauthorized", "Authentication is required.", headers=headers, reason=reason)


def _unavailable(retry_after: int | None) -> Refusal:
    return Refusal(503, "unavailable", "Access cannot be checked at the moment.", retry_after=retry_after or 1)


class Guards:
    """The guards of a service. Use them by `Depends`."""

    def __init__(
        self,
        verifier: AsyncTokenVerifier,
        api: str | AsyncClient,
        *,
        api_keys: bool = False,
        allow_read_only: Callable[[Request], bool] = lambda request: request.method in SAFE_METHODS,
        problem_type_base: str = "https://iam.invalid/problems",
    ) -> None:
        """`verifier` decides which tokens are accepted. `api` is the address of the API, such as
        `https://iam.example.com/api/v1`, or a client of it: it is asked with the token of the caller, and needs no
        token of its own. With `api_keys`, programs may call the service, too: each of their
        requests costs a request to the API. A token that may change nothing is accepted where `allow_read_only` is
        true: without this argument, for GET, HEAD and OPTIONS."""
        client = AsyncClient(api, retry=QUICK, timeout=QUICK_TIMEOUT) if isinstance(api, str) else api
        self._verifier, self._client, self._api_keys = verifier, client, api_keys
        self._allow_read_only, self._problem_type_base = allow_read_only, problem_type_base

    def install(self, app: FastAPI, *, max_body: int = 256 * 1024) -> None:
        """Gives an application problem documents, correlation ids and the headers of the API. A body that is longer
        than `max_body` bytes is 413: FastAPI reads it before it asks a guard, also that of a stranger."""
        _Problems(self._problem_type_base).install(app)
        app.add_middleware(_Conventions, max_body=max_body)

    async def close(self) -> None:
        """Closes the connections to the API."""
        await self._client.close()
        await self._verifier.close()

    async def authenticated(self, request: Request, _scheme: Any = Depends(_bearer)) -> Caller:
        """Requires a caller: an access token of an accepted tenant."""
        fields = request.headers.getlist("authorization")
        # With several fields, a proxy in front may have checked another one.
        scheme, _, token = fields[0].partition(" ") if len(fields) == 1 else ("", "", "")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise _unauthorized("no bearer token, or several fields `Authorization`", "Bearer")
        if self._api_keys and API_KEY.fullmatch(token):
            return await self._holder_of_key(token)
        try:
            claims = await self._verifier.verify(token)
        except InvalidToken as error:
            raise _unauthorized(error.reason) from None
        except Unreachable:
            raise _unavailable(None) from None
        if claims.read_only and not self._allow_read_only(request):
            raise Refusal(403, "forbidden", "Nothing may be changed by this token.")
        return Caller(claims.subject, claims.tenant_id, claims, token)

    def permission(self, permission: str, *, organization: str | None = None) -> Callable[..., Awaitable[Caller]]:
        """Requires a permission, tenant-wide, or in the organization whose id is this parameter of the path.

        The API decides at the moment of the request, so that a role that was taken away counts no more, and a session
        that has ended is 401. A caller who holds nothing in the organization gets a 404.
        """
        if not PERMISSION.fullmatch(permission):
            raise ValueError("a permission is a resource and an action, such as orders:refund")

        async def guard(request: Request, caller: Caller = Depends(self.authenticated)) -> Caller:
            question: dict[str, Any] = {"permission": permission}
            if organization is not None:
                question["organization_id"] = _identifier(request, organization)
            decision = await self._ask(operations.check(models.PermissionCheck(**question)), caller.token)
            if not decision.allowed:
                raise Refusal(403, "forbidden", f"Missing permission: {permission}.")
            return caller

        return guard

    def fresh(self, max_age: timedelta) -> Callable[..., Awaitable[Caller]]:
        """Requires that the user has authenticated within `max_age`.

        For routes where a stolen token does the most harm, such as a payment.
        Otherwise the answer is 401 `insufficient-authentication`. The client authenticates again by `POST
        /auth/step-up`, renews its tokens, and repeats the request. Refuses callers who act as another user, and API
        keys. Stand it after `permission`: a missing permission is told before an old authentication.
        """

        async def guard(caller: Caller = Depends(self.authenticated)) -> Caller:
            if caller.claims is None:
                raise Refusal(403, "forbidden", "An API key cannot do this.")
            if not caller.claims.is_fresh(max_age):
                seconds = int(max_age.total_seconds())
                challenge = f'Bearer error="insufficient_user_authentication", max_age="{seconds}"'
                headers = {"www-authenticate": challenge}
                raise Refusal(401, "insufficient-authentication", "Authenticate again.", headers=headers)
            return caller

        return guard

    async def _holder_of_key(self, token: str) -> Caller:
        me = await self._ask(operations.get_me(), token)
        if not self._verifier.accepts(me.tenant.id):
            raise _unauthorized("the API key is of another tenant")
        return Caller(me.user.id, me.tenant.id, None, token)

    async def _ask(self, operation: Operation[Any], token: str) -> Any:
        try:
            return await self._client.send(operation, token=token)
        except Problem as problem:
            if problem.status == 401:
                raise _unauthorized("the API refuses it") from None
            if problem.status == 403:
                raise Refusal(403, problem.code, problem.detail) from None
            if problem.status == 404:
                raise Refusal(404, "not-found", "There is no such resource.") from None
            if problem.status in (429, 503):
                raise _unavailable(problem.retry_after) from None
            raise
        except (Unreachable, InvalidResponse):
            # Without an answer, access is refused.
            raise _unavailable(None) from None


def _identifier(request: Request, parameter: str) -> UUID:
    if parameter not in request.path_params:
        raise RuntimeError(f"the route has no parameter {parameter}")
    try:
        return UUID(str(request.path_params[parameter]))
    except ValueError:
        errors = [{"field": parameter, "message": "must be a UUID"}]
        raise Refusal(400, "validation-error", f"Invalid input: {parameter}.", errors=errors) from None


class _Problems:
    """The problem documents of an application."""

    def __init__(self, type_base: str) -> None:
        self._type_base = type_base.rstrip("/")

    def install(self, app: FastAPI) -> None:
        app.add_exception_handler(Refusal, self._refusal)
        app.add_exception_handler(RequestValidationError, self._invalid)
        app.add_exception_handler(HTTPException, self._http)
        app.add_exception_handler(Exception, self._defect)

    def _answer(self, request: Request, refusal: Refusal) -> JSONResponse:
        document: dict[str, Any] = {
            "type": f"{self._type_base}/{refusal.code}",
            "title": TITLES.get(refusal.code, refusal.code.replace("-", " ").title()),
            "status": refusal.status,
            "detail": refusal.detail,
            "instance": request.url.path,
            "correlationId": _correlation_id(request.scope),
        }
        if refusal.errors is not None:
            document["errors"] = refusal.errors
        if refusal.retry_after is not None:
            document["retryAfter"] = refusal.retry_after
        headers = {**refusal.headers, "x-correlation-id": document["correlationId"]}
        return JSONResponse(document, refusal.status, headers, media_type="application/problem+json")

    async def _refusal(self, request: Request, refusal: Exception) -> JSONResponse:
        assert isinstance(refusal, Refusal)
        if refusal.reason:
            _log.info("request %s is refused: %s", _correlation_id(request.scope), refusal.reason)
        return self._answer(request, refusal)

    async def _invalid(self, request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        if any(one["type"] == "json_invalid" for one in error.errors()):
            whole = [{"field": "$", "message": "is not valid JSON"}]
            refusal = Refusal(400, "validation-error", "The request body is not valid JSON.", errors=whole)
            return self._answer(request, refusal)
        # Without the input, which may be a password.
        errors = [{"field": _field(one["loc"]), "message": str(one["msg"])[:200]} for one in error.errors()[:50]]
        names = ", ".join(dict.fromkeys(one["field"] for one in errors))
        return self._answer(request, Refusal(400, "validation-error", f"Invalid input: {names}."[:500], errors=errors))

    async def _http(self, request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        detail = error.detail if isinstance(error.detail, str) else "The request is refused."
        headers = dict(error.headers or {})
        refusal = Refusal(error.status_code, CODES.get(error.status_code, "refused"), detail, headers=headers)
        return self._answer(request, refusal)

    async def _defect(self, request: Request, _: Exception) -> JSONResponse:
        return self._answer(request, Refusal(500, "internal", "A defect. The log has its cause."))


def _field(location: Any) -> str:
    # The first part is `body`, `query` or `path`.
    return ".".join(str(part) for part in location[1:])[:100] or "$"


def _correlation_id(scope: Scope) -> str:
    """Returns the id of a request: that of its sender if it is 1 to 128 visible characters, otherwise a new one."""
    state = scope.setdefault("state", {})
    if "correlation_id" not in state:
        sent = dict(scope.get("headers", [])).get(b"x-correlation-id", b"")
        is_valid = 0 < len(sent) <= 128 and all(0x21 <= byte <= 0x7E for byte in sent)
        state["correlation_id"] = sent.decode() if is_valid else str(uuid.uuid4())
    correlation_id: str = state["correlation_id"]
    return correlation_id


class _Conventions:
    """Gives answers the headers of those of the API, and bounds the bodies of requests."""

    def __init__(self, app: ASGIApp, max_body: int) -> None:
        self._app, self._max_body = app, max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        correlation_id = _correlation_id(scope)
        received = 0

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_body:
                raise HTTPException(413, f"The body is longer than {self._max_body} bytes.")
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["x-correlation-id"] = correlation_id
                headers["x-content-type-options"] = "nosniff"
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await self._app(scope, bounded, with_headers)
