"""How a request becomes an answer: tokens, repetition, step-up. It does no I/O itself, so that `Client` and
`AsyncClient` follow the same rules."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from iam_client import models, operations
from iam_client._operation import Operation, is_visible
from iam_client.errors import InvalidResponse, Problem, Unreachable, problem_of

T = TypeVar("T")

# An access token that expires within so many seconds is renewed before it is used.
EARLY = 30.0
# A refresh token may be sent again within 10 seconds after it was spent. Later, that ends the session. So the second
# and last attempt must begin within 10 seconds after the first.
REFRESH_TIMEOUT = 5.0
REFRESH_RETRY_LONGEST = 2.0


@dataclass(frozen=True)
class Retry:
    """How often and how long a client waits until it repeats a request.

    It repeats a request that was not accepted (429, no connection), and one without an answer (503, a connection that
    broke) if a second request has no second effect: a GET, a PUT or a DELETE without `If-Match`, and a POST with an
    `Idempotency-Key`. After a DELETE without an answer, 404 to the repeated one is a success: what it names is gone.
    """

    attempts: int = 4
    """How many times a request is sent at most. 1 never repeats."""
    first: float = 0.25
    """Seconds before the second attempt. Each further pause is twice as long, and each has up to a half more, by
    chance."""
    longest: float = 30.0
    """The longest pause in seconds, without the part by chance. If the server asks for a longer one by `Retry-After`,
    the request fails at once."""

    def pause(self, attempt: int, asked: float | None) -> float | None:
        """Returns how many seconds to wait after this attempt, counted from 1, or `None` to give up."""
        if attempt >= self.attempts or (asked is not None and asked > self.longest):
            return None
        pause = max(min(self.first * 2.0 ** (attempt - 1), self.longest), asked or 0.0)
        return pause * (1 + random.random() / 2)


@dataclass
class Session:
    """The tokens of a client."""

    bearer: str | None = field(default=None, repr=False)
    """An API key or an access token that is never renewed."""
    tokens: models.Tokens | None = field(default=None, repr=False)
    expires: float = 0.0
    proofs: int = 0
    """How many times the session has authenticated again."""

    def access(self) -> str | None:
        return self.tokens.access_token if self.tokens else self.bearer

    def take(self, tokens: models.Tokens | None) -> None:
        # In this order: another thread must not take new tokens for expired ones, and renew them again.
        self.expires = time.monotonic() + tokens.expires_in if tokens else 0.0
        self.tokens = tokens

    def is_valid(self) -> bool:
        """Whether there is an access token that has not expired."""
        return self.tokens is not None and time.monotonic() < self.expires

    def is_stale(self) -> bool:
        return self.tokens is not None and time.monotonic() > self.expires - EARLY


@dataclass(frozen=True)
class Answer:
    """An answer as it arrived."""

    status: int
    headers: httpx.Headers
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Send:
    """Send the request. The result is an `Answer`, or the exception of the transport."""

    headers: dict[str, str] = field(repr=False)


@dataclass(frozen=True)
class Wait:
    """Wait this number of seconds."""

    seconds: float


@dataclass(frozen=True)
class Renew:
    """Renew the tokens, unless another call has renewed this access token meanwhile. The result is the failure, if it
    fails."""

    spent: str = field(repr=False)


@dataclass(frozen=True)
class Prove:
    """Authenticate again, unless another call has done so since there were so many proofs. The result is whether the
    session has."""

    problem: Problem
    proofs: int


Step = Send | Wait | Renew | Prove


def exchange(
    operation: Operation[T], session: Session, retry: Retry, *, token: str | None = None, may_prove: bool = False
) -> Generator[Step, Any, tuple[T, Answer]]:
    """The steps from a request to its answer. Raises `Problem`, `InvalidResponse` or `Unreachable`."""
    headers = operation.headers()
    own = token is None and not operation.public
    attempt, is_renewed, is_proven, may_be_done = 1, False, False, False
    while True:
        if own and session.is_stale() and (spent := session.access()):
            failure = yield Renew(spent)
            # The service may answer again before the token expires.
            if failure and not session.is_valid():
                raise failure
        bearer = session.access() if own else token
        if bearer and not is_visible(bearer):
            raise ValueError("a token has only visible ASCII characters")
        proofs = session.proofs
        outcome = yield Send({**headers, "authorization": f"Bearer {bearer}"} if bearer else headers)
        pause = _pause(operation, retry, attempt, outcome)
        if pause is not None:
            attempt += 1
            may_be_done = may_be_done or not _had_no_effect(outcome)
            yield Wait(pause)
            continue
        if not isinstance(outcome, Answer):
            raise Unreachable(f"{operation.method} {operation.path}: {type(outcome).__name__}") from outcome
        try:
            return _value(operation, outcome), outcome
        except Problem as problem:
            if may_be_done and problem.status == 404 and operation.method == "DELETE" and operation.result is None:
                return None, outcome  # type: ignore[return-value]
            if own and bearer and session.tokens and not is_renewed and _is_invalid_token(problem):
                is_renewed = True
                if failure := (yield Renew(bearer)):
                    raise failure from failure.__cause__
                continue
            if own and may_prove and session.tokens and not is_proven and _asks_for_proof(problem):
                is_proven = True
                if (yield Prove(problem, proofs)):
                    continue
            raise


def refreshing(tokens: models.Tokens) -> Operation[models.Tokens]:
    """Returns the exchange of a refresh token."""
    operation = operations.refresh(models.Refresh(refresh_token=tokens.refresh_token))
    return replace(operation, timeout=REFRESH_TIMEOUT, only_reads=True)


def refresh_retry(retry: Retry) -> Retry:
    """Returns the rule for the exchange of a refresh token."""
    return Retry(attempts=min(retry.attempts, 2), first=min(retry.first, 1.0), longest=REFRESH_RETRY_LONGEST)


def _is_invalid_token(problem: Problem) -> bool:
    # A wrong password is 401, too, and must not be sent again: each one counts as a failed login.
    return problem.status == 401 and 'error="invalid_token"' in problem.authenticate


def _asks_for_proof(problem: Problem) -> bool:
    return problem.status in (401, 403) and (
        problem.code == "insufficient-authentication" or "insufficient_user_authentication" in problem.authenticate
    )


def _pause(operation: Operation[Any], retry: Retry, attempt: int, outcome: Answer | Exception) -> float | None:
    if isinstance(outcome, Answer):
        if outcome.status == 429 or (outcome.status == 503 and operation.is_repeatable):
            return retry.pause(attempt, retry_after(outcome.headers))
        return None
    return retry.pause(attempt, None) if _had_no_effect(outcome) or operation.is_repeatable else None


def _had_no_effect(outcome: Answer | Exception) -> bool:
    if isinstance(outcome, Answer):
        return outcome.status == 429
    return isinstance(outcome, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))


def retry_after(headers: httpx.Headers) -> float | None:
    """Returns the seconds of `Retry-After` (RFC 9110, section 10.2.3), or `None` if it is absent or malformed."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit() and len(text) <= 10:
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


@lru_cache(maxsize=512)
def _adapter(result: Any) -> TypeAdapter[Any]:
    return TypeAdapter(result)


def _value(operation: Operation[T], answer: Answer) -> T:
    name = f"{operation.method} {operation.path}"
    if 200 <= answer.status < 300:
        if operation.result is None or answer.status == 204:
            return None  # type: ignore[return-value]
        media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise InvalidResponse(f"{name}: the answer is not JSON", answer.status)
        try:
            value: T = _adapter(operation.result).validate_json(answer.body)
        except ValidationError as error:
            places = sorted(
                {".".join(str(part) for part in detail["loc"]) for detail in error.errors(include_input=False)}
            )
            message = f"{name}: the answer has another form: {', '.join(places)[:200]}"
            raise InvalidResponse(message, answer.status) from None
        return value
    if 300 <= answer.status < 400:
        raise InvalidResponse(f"{name}: the answer is a redirect, which is never followed", answer.status)
    problem = problem_of(answer.status, answer.headers, answer.body)
    if problem is None:
        raise InvalidResponse(f"{name}: {answer.status} without a problem document", answer.status)
    raise problem
