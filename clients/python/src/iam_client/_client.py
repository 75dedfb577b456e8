"""The client for threads."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar, overload

import httpx

from iam_client import _events, _http, _pages, models, operations
from iam_client._exchange import (
    Answer,
    Prove,
    Renew,
    Retry,
    Send,
    Session,
    Step,
    Wait,
    exchange,
    refresh_retry,
    refreshing,
)
from iam_client._operation import Operation
from iam_client.errors import IamError, Problem

T = TypeVar("T")

# Requests of a callback for step-up must not ask for a step-up themselves.
_is_proving: ContextVar[bool] = ContextVar("is_proving", default=False)


class Client:
    """A client of the API. Any number of threads may share it."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        tokens: models.Tokens | None = None,
        on_tokens: Callable[[models.Tokens | None], object] | None = None,
        on_step_up: Callable[[Problem], models.StepUp | None] | None = None,
        retry: Retry = Retry(),
        timeout: float = 35.0,
        verify: ssl.SSLContext | bool = True,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Makes a client of the API at `base_url`, for example `https://iam.example.com/api/v1`.

        It sends `token`, an API key for instance, or the tokens of a session: those of `login`, or `tokens` that were
        kept. It gives `on_tokens` each new pair, so that the program can keep them, and `None` at the end of the
        session. When an operation needs a recent authentication, it asks `on_step_up` for a proof, once for a request;
        without a proof, the problem is raised.
        """
        self.base_url = _http.checked_url(base_url)
        self._session = Session(bearer=token)
        self._session.take(tokens)
        self._on_tokens, self._on_step_up = on_tokens, on_step_up
        self._retry, self._timeout = retry, timeout
        self._http = httpx.Client(**_http.options(timeout, transport, verify))
        self._renewing, self._proving = threading.Lock(), threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. The session goes on."""
        self._http.close()

    @property
    def tokens(self) -> models.Tokens | None:
        """The tokens of the session. Set them after a login by another operation, such as `log_in_by_passkey`."""
        return self._session.tokens

    @tokens.setter
    def tokens(self, tokens: models.Tokens | None) -> None:
        self._session.take(tokens)
        if self._on_tokens:
            self._on_tokens(tokens)

    def send(self, operation: Operation[T], *, token: str | None = None) -> T:
        """Sends a request and returns its value. With `token`, it is sent by the holder of that token, as it is."""
        return self.answer(operation, token=token)[0]

    def answer(self, operation: Operation[T], *, token: str | None = None) -> tuple[T, Answer]:
        """As `send`, with the status and the headers, for example the `ETag`."""
        may_prove = self._on_step_up is not None and not _is_proving.get()
        return self._run(operation, self._retry, token=token, may_prove=may_prove)

    def register(self, registration: models.Registration) -> models.Registered:
        """Creates a tenant with its first user, and logs that user in."""
        return self._logged_in(operations.register(registration))

    def login(self, email: str, password: str, *, tenant: str | None = None) -> models.LoggedIn:
        """Logs in. Raises the problem `second-factor-required` if the user has a second factor: then `finish_login`."""
        values: dict[str, Any] = {"tenant": tenant} if tenant is not None else {}
        return self._logged_in(operations.login(models.Login(email=email, password=password, **values)))

    def finish_login(self, proof: models.SecondFactor) -> models.LoggedIn:
        """Finishes a login by a second factor, with the `challenge` of the problem."""
        return self._logged_in(operations.finish_login(proof))

    def refresh(self) -> models.Tokens:
        """Renews the tokens. The client does so itself when it must; concurrent calls renew them once."""
        self._renew(self._session.access())
        return _present(self._session)

    def access_token(self) -> str:
        """Returns the token for a request to another service, which verifies it: an API key, or an access token that is
        renewed if it is about to expire. Raises `RuntimeError` without a session."""
        session = self._session
        if session.is_stale():
            try:
                self._renew(session.access())
            except IamError:
                # The service may answer again before the token expires.
                if not session.is_valid():
                    raise
        return _present_access(session)

    def step_up(self, proof: models.StepUp) -> None:
        """Authenticates the session again, and renews the tokens, so that their claims say so."""
        self.send(operations.step_up(proof))
        self._session.proofs += 1
        self._renew(self._session.access())

    def logout(self) -> None:
        """Ends the session."""
        self.send(operations.logout())
        self.tokens = None

    @overload
    def paginate(self, operation: Operation[models.Page[T]]) -> Iterator[T]: ...
    @overload
    def paginate(self, operation: Operation[models.AuditLog]) -> Iterator[models.AuditEntry]: ...
    def paginate(self, operation: Operation[Any]) -> Iterator[Any]:
        """Returns the items of all pages from the one of the request on. Each page is asked for when it is needed."""
        following: Operation[Any] | None = _pages.first(operation)
        while following:
            page = self.send(following)
            yield from page.data
            following = _pages.after(following, page)

    def events(self, *, after: int | None = None, types: Sequence[str] = (), wait: int = 30) -> Iterator[models.Event]:
        """Returns the events after the one with the number `after`, and waits for more, without end.

        Keep the `sequence` of an event together with the result of your work. It resumes by itself after failures of
        the network. Raises `Problem`, for example 410 `gone`.
        """
        feed = _events.Feed(after, types, wait)
        while True:
            try:
                page = self.send(feed.operation())
            except Exception as error:
                time.sleep(feed.pause_after(error))
                continue
            yield from feed.take(page)
            time.sleep(feed.pause())

    def _run(
        self, operation: Operation[T], retry: Retry, *, token: str | None = None, may_prove: bool = False
    ) -> tuple[T, Answer]:
        steps = exchange(operation, self._session, retry, token=token, may_prove=may_prove)
        result: object = None
        while True:
            try:
                step = steps.send(result)
            except StopIteration as end:
                value: tuple[T, Answer] = end.value
                return value
            result = self._step(operation, step)

    def _step(self, operation: Operation[Any], step: Step) -> object:
        match step:
            case Send():
                return self._transmit(operation, step.headers)
            case Wait():
                time.sleep(step.seconds)
            case Renew():
                try:
                    self._renew(step.spent)
                except IamError as error:
                    return error
            case Prove():
                return self._prove(step)
        return None

    def _transmit(self, operation: Operation[Any], headers: dict[str, str]) -> Answer | Exception:
        request = _http.request(self.base_url, operation, headers, self._timeout)
        try:
            with self._http.stream(**request) as response:
                body = _http.Body(response, request["timeout"])
                for chunk in response.iter_bytes():
                    body.add(chunk)
                return body.answer()
        except httpx.RequestError as error:
            return error

    def _renew(self, spent: str | None) -> None:
        with self._renewing:
            tokens = self._session.tokens
            if tokens is None or tokens.access_token != spent:
                return
            try:
                renewed, _ = self._run(refreshing(tokens), refresh_retry(self._retry))
            except Problem as problem:
                if problem.status == 401 and self._session.tokens is tokens:
                    self.tokens = None
                raise
            if self._session.tokens is tokens:
                self.tokens = renewed

    def _prove(self, step: Prove) -> bool:
        assert self._on_step_up
        with self._proving:
            if self._session.proofs > step.proofs:
                return True
            outside = _is_proving.set(True)
            try:
                proof = self._on_step_up(step.problem)
                if proof is None:
                    return False
                self.step_up(proof)
            finally:
                _is_proving.reset(outside)
        return True

    def _logged_in(self, operation: Operation[LoggedInT]) -> LoggedInT:
        login = self.send(operation)
        self.tokens = login
        return login


LoggedInT = TypeVar("LoggedInT", bound=models.LoggedIn)


def _present_access(session: Session) -> str:
    token = session.access()
    if token is None:
        raise RuntimeError("the client has no session")
    return token


def _present(session: Session) -> models.Tokens:
    if session.tokens is None:
        raise RuntimeError("the client has no session")
    return session.tokens
