"""The client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar, overload

import httpx

from iam_client import _events, _http, _pages, models, operations
from iam_client._client import LoggedInT, _is_proving, _present, _present_access
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


class AsyncClient:
    """A client of the API. Any number of tasks of one event loop may share it. Its methods are those of `Client`."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        tokens: models.Tokens | None = None,
        on_tokens: Callable[[models.Tokens | None], object] | None = None,
        on_step_up: Callable[[Problem], Awaitable[models.StepUp | None] | models.StepUp | None] | None = None,
        retry: Retry = Retry(),
        timeout: float = 35.0,
        verify: ssl.SSLContext | bool = True,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """As `Client`. `on_step_up` may be a coroutine function; `on_tokens` is called as a plain function."""
        self.base_url = _http.checked_url(base_url)
        self._session = Session(bearer=token)
        self._session.take(tokens)
        self._on_tokens, self._on_step_up = on_tokens, on_step_up
        self._retry, self._timeout = retry, timeout
        self._http = httpx.AsyncClient(**_http.options(timeout, transport, verify))
        self._renewing: asyncio.Task[None] | None = None
        self._proving = asyncio.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections. The session goes on."""
        await self._http.aclose()

    @property
    def tokens(self) -> models.Tokens | None:
        """The tokens of the session. Set them after a login by another operation, such as `log_in_by_passkey`."""
        return self._session.tokens

    @tokens.setter
    def tokens(self, tokens: models.Tokens | None) -> None:
        self._session.take(tokens)
        if self._on_tokens:
            self._on_tokens(tokens)

    async def send(self, operation: Operation[T], *, token: str | None = None) -> T:
        """Sends a request and returns its value. With `token`, it is sent by the holder of that token, as it is."""
        return (await self.answer(operation, token=token))[0]

    async def answer(self, operation: Operation[T], *, token: str | None = None) -> tuple[T, Answer]:
        """As `send`, with the status and the headers, for example the `ETag`."""
        may_prove = self._on_step_up is not None and not _is_proving.get()
        return await self._run(operation, self._retry, token=token, may_prove=may_prove)

    async def register(self, registration: models.Registration) -> models.Registered:
        """Creates a tenant with its first user, and logs that user in."""
        return await self._logged_in(operations.register(registration))

    async def login(self, email: str, password: str, *, tenant: str | None = None) -> models.LoggedIn:
        """Logs in. Raises the problem `second-factor-required` if the user has a second factor: then `finish_login`."""
        values: dict[str, Any] = {"tenant": tenant} if tenant is not None else {}
        return await self._logged_in(operations.login(models.Login(email=email, password=password, **values)))

    async def finish_login(self, proof: models.SecondFactor) -> models.LoggedIn:
        """Finishes a login by a second factor, with the `challenge` of the problem."""
        return await self._logged_in(operations.finish_login(proof))

    async def refresh(self) -> models.Tokens:
        """Renews the tokens. The client does so itself when it must; concurrent calls renew them once."""
        await self._renew(self._session.access())
        return _present(self._session)

    async def access_token(self) -> str:
        """As `Client.access_token`."""
        session = self._session
        if session.is_stale():
            try:
                await self._renew(session.access())
            except IamError:
                # The service may answer again before the token expires.
                if not session.is_valid():
                    raise
        return _present_access(session)

    async def step_up(self, proof: models.StepUp) -> None:
        """Authenticates the session again, and renews the tokens, so that their claims say so."""
        await self.send(operations.step_up(proof))
        self._session.proofs += 1
        await self._renew(self._session.access())

    async def logout(self) -> None:
        """Ends the session."""
        await self.send(operations.logout())
        self.tokens = None

    @overload
    def paginate(self, operation: Operation[models.Page[T]]) -> AsyncIterator[T]: ...
    @overload
    def paginate(self, operation: Operation[models.AuditLog]) -> AsyncIterator[models.AuditEntry]: ...
    async def paginate(self, operation: Operation[Any]) -> AsyncIterator[Any]:
        """Returns the items of all pages from the one of the request on. Each page is asked for when it is needed."""
        following: Operation[Any] | None = _pages.first(operation)
        while following:
            page = await self.send(following)
            for item in page.data:
                yield item
            following = _pages.after(following, page)

    async def events(
        self, *, after: int | None = None, types: Sequence[str] = (), wait: int = 30
    ) -> AsyncIterator[models.Event]:
        """As `Client.events`."""
        feed = _events.Feed(after, types, wait)
        while True:
            try:
                page = await self.send(feed.operation())
            except Exception as error:
                await asyncio.sleep(feed.pause_after(error))
                continue
            for event in feed.take(page):
                yield event
            await asyncio.sleep(feed.pause())

    async def _run(
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
            result = await self._step(operation, step)

    async def _step(self, operation: Operation[Any], step: Step) -> object:
        match step:
            case Send():
                return await self._transmit(operation, step.headers)
            case Wait():
                await asyncio.sleep(step.seconds)
            case Renew():
                try:
                    await self._renew(step.spent)
                except IamError as error:
                    return error
            case Prove():
                return await self._prove(step)
        return None

    async def _transmit(self, operation: Operation[Any], headers: dict[str, str]) -> Answer | Exception:
        request = _http.request(self.base_url, operation, headers, self._timeout)
        try:
            async with self._http.stream(**request) as response:
                body = _http.Body(response, request["timeout"])
                async for chunk in response.aiter_bytes():
                    body.add(chunk)
                return body.answer()
        except httpx.RequestError as error:
            return error

    async def _renew(self, spent: str | None) -> None:
        tokens = self._session.tokens
        if tokens is None or tokens.access_token != spent:
            return
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._exchange_tokens(tokens))
        # A caller that is cancelled must not stop the exchange: its answer would be lost, and the refresh token spent.
        await asyncio.shield(self._renewing)

    async def _exchange_tokens(self, tokens: models.Tokens) -> None:
        try:
            renewed, _ = await self._run(refreshing(tokens), refresh_retry(self._retry))
        except Problem as problem:
            if problem.status == 401 and self._session.tokens is tokens:
                self.tokens = None
            raise
        if self._session.tokens is tokens:
            self.tokens = renewed

    async def _prove(self, step: Prove) -> bool:
        assert self._on_step_up
        async with self._proving:
            if self._session.proofs > step.proofs:
                return True
            outside = _is_proving.set(True)
            try:
                proof = self._on_step_up(step.problem)
                if inspect.isawaitable(proof):
                    proof = await proof
                if proof is None:
                    return False
                await self.step_up(proof)
            finally:
                _is_proving.reset(outside)
        return True

    async def _logged_in(self, operation: Operation[LoggedInT]) -> LoggedInT:
        login = await self.send(operation)
        self.tokens = login
        return login
