"""Tokens, repetition and the answers of a server that is not the service."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from fake import HEALTH, PERSON, URL, Service, answering, expired, problem, tokens, tokens_answer, value
from iam_client import AsyncClient, Client, InvalidResponse, Operation, Problem, Retry, Unreachable, models, operations

HEALTHY: Operation[models.Health] = Operation("GET", "/health", models.Health)
CREATE = operations.create_organization(models.NewOrganization(name="Branch"))


def sessions(spent: set[str], exchanged: list[int], barrier: threading.Barrier | None = None) -> Service:
    """A service that refuses spent access tokens, and exchanges each refresh token once."""

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/auth/refresh"):
            number = len(exchanged) + 1
            exchanged.append(number)
            return tokens_answer(number)
        token = request.headers["authorization"].removeprefix("Bearer ")
        if token in spent:
            if barrier:
                barrier.wait(10)
            return expired()
        return value(200, HEALTH)

    return Service(handler)


def test_concurrent_threads_refresh_once() -> None:
    exchanged: list[int] = []
    service = sessions({"access-0"}, exchanged, threading.Barrier(8))
    kept: list[models.Tokens | None] = []
    client = Client(URL, tokens=tokens(0), on_tokens=kept.append, transport=service)
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(lambda _: client.send(HEALTHY), range(8)))) == 8
    assert exchanged == [1]
    assert [pair and pair.access_token for pair in kept] == ["access-1"]
    assert all("authorization" not in request.headers for request in service.sent_to("/auth/refresh"))


def test_concurrent_tasks_refresh_once_and_a_cancelled_one_does_not_stop_it() -> None:
    exchanged: list[int] = []

    async def run() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        class Slow(Service):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                if request.url.path.endswith("/auth/refresh"):
                    begun.set()
                    await go_on.wait()
                return await super().handle_async_request(request)

        service = Slow(sessions({"access-0"}, exchanged).handler)
        client = AsyncClient(URL, tokens=tokens(0), transport=service)
        tasks = [asyncio.create_task(client.send(HEALTHY)) for _ in range(8)]
        await begun.wait()
        tasks[0].cancel()
        await asyncio.sleep(0)
        go_on.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(results[0], asyncio.CancelledError)
        assert all(isinstance(result, models.Health) for result in results[1:])
        assert client.tokens and client.tokens.access_token == "access-1"

    asyncio.run(run())
    assert exchanged == [1]


def test_a_token_that_expires_soon_is_renewed_before_it_is_used() -> None:
    exchanged: list[int] = []
    service = sessions(set(), exchanged)
    client = Client(URL, tokens=tokens(0, expires_in=20), transport=service)
    client.send(HEALTHY)
    assert [request.headers.get("authorization") for request in service.requests] == [None, "Bearer access-1"]


def test_a_token_that_has_not_expired_is_used_while_a_renewal_fails(pauses: list[float]) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return problem(503, "unavailable") if request.url.path.endswith("/auth/refresh") else value(200, HEALTH)

    Client(URL, tokens=tokens(0, expires_in=20), transport=Service(handler)).send(HEALTHY)
    with pytest.raises(Problem, match="503"):
        Client(URL, tokens=tokens(0, expires_in=0), transport=Service(handler)).send(HEALTHY)
    asyncio.run(AsyncClient(URL, tokens=tokens(0, expires_in=20), transport=Service(handler)).send(HEALTHY))


def test_the_token_for_another_service_is_a_current_one(pauses: list[float]) -> None:
    assert Client(URL, token="iamk_1").access_token() == "iamk_1"
    with pytest.raises(RuntimeError, match="no session"):
        Client(URL).access_token()
    assert Client(URL, tokens=tokens(0), transport=sessions(set(), [])).access_token() == "access-0"
    assert Client(URL, tokens=tokens(0, expires_in=20), transport=sessions(set(), [])).access_token() == "access-1"
    failing = Service(lambda _: problem(503, "unavailable"))
    assert Client(URL, tokens=tokens(0, expires_in=20), transport=failing).access_token() == "access-0"
    with pytest.raises(Problem, match="503"):
        Client(URL, tokens=tokens(0, expires_in=0), transport=failing).access_token()

    async def run() -> None:
        assert await AsyncClient(URL, token="iamk_1").access_token() == "iamk_1"
        with pytest.raises(RuntimeError, match="no session"):
            await AsyncClient(URL).access_token()
        client = AsyncClient(URL, tokens=tokens(0, expires_in=20), transport=sessions(set(), []))
        first, second = await asyncio.gather(client.access_token(), client.access_token())
        assert (first, second) == ("access-1", "access-1")
        client = AsyncClient(URL, tokens=tokens(0, expires_in=20), transport=failing)
        assert await client.access_token() == "access-0"

    asyncio.run(run())


def test_a_session_that_has_ended_is_told_once() -> None:
    service = answering(expired(), expired())
    kept: list[models.Tokens | None] = []
    client = Client(URL, tokens=tokens(0), on_tokens=kept.append, transport=service)
    with pytest.raises(Problem, match="401 unauthorized"):
        client.send(HEALTHY)
    assert kept == [None] and client.tokens is None
    assert len(service.requests) == 2


def test_a_new_token_that_is_refused_is_not_renewed_again() -> None:
    service = answering(expired(), tokens_answer(1), expired())
    with pytest.raises(Problem):
        Client(URL, tokens=tokens(0), transport=service).send(HEALTHY)
    assert len(service.requests) == 3


def test_a_wrong_password_is_sent_once() -> None:
    service = answering(problem(401, "unauthorized", {"www-authenticate": "Bearer"}))
    with pytest.raises(Problem):
        Client(URL, tokens=tokens(0), transport=service).step_up(models.StepUp(password="wrong"))
    assert len(service.requests) == 1


def test_a_refresh_is_repeated_once_and_soon(pauses: list[float]) -> None:
    service = answering(expired(), httpx.ReadTimeout("none"), tokens_answer(1), value(200, HEALTH))
    Client(URL, tokens=tokens(0), transport=service).send(HEALTHY)
    assert len(service.sent_to("/auth/refresh")) == 2 and sum(pauses) < 3
    service = answering(expired(), *[httpx.ReadTimeout("none")] * 5)
    client = Client(URL, tokens=tokens(0), transport=service)
    with pytest.raises(Unreachable):
        client.send(HEALTHY)
    assert len(service.sent_to("/auth/refresh")) == 2
    assert client.tokens, "the session may go on"


def test_a_login_replaces_tokens_that_are_being_renewed() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/auth/refresh"):
            client.tokens = tokens(7)
            return tokens_answer(1)
        return value(200, HEALTH)

    client = Client(URL, tokens=tokens(0), transport=Service(handler))
    assert client.refresh().access_token == "access-7"


@pytest.mark.parametrize("status", [429, 503])
def test_a_repeated_request_has_the_same_key(status: int, pauses: list[float]) -> None:
    organization = {
        "id": "019bb3f0-0000-7000-8000-000000000001", "name": "Branch", "slug": "branch", "status": "ACTIVE",
        "parentId": None, "depth": 0, "createdAt": "2026-01-31T09:15:00.123Z", "updatedAt": "2026-01-31T09:15:00.123Z",
    }  # fmt: skip
    service = answering(
        problem(status, "unavailable", {"retry-after": "2"}), httpx.ReadError("broken"), value(201, organization)
    )
    client = Client(URL, token="iamk_1", transport=service)
    assert client.send(CREATE).name == "Branch"
    keys = {request.headers["idempotency-key"] for request in service.requests}
    assert len(service.requests) == 3 and len(keys) == 1
    assert 2 <= pauses[0] <= 3 and 0.5 <= pauses[1] <= 0.75
    service.requests.clear()
    service.handler = lambda _: value(201, organization)
    client.send(CREATE)
    assert service.requests[0].headers["idempotency-key"] not in keys


def test_attempts_are_bounded(pauses: list[float]) -> None:
    service = Service(lambda _: problem(429, "rate-limited", {"retry-after": "0"}, retryAfter=0))
    with pytest.raises(Problem, match="429"):
        Client(URL, token="iamk_1", transport=service).send(HEALTHY)
    assert len(service.requests) == 4 and len(pauses) == 3

    async def run() -> None:
        client = AsyncClient(URL, token="iamk_1", transport=service, retry=Retry(attempts=2))
        with pytest.raises(Problem, match="429"):
            await client.send(HEALTHY)

    asyncio.run(run())
    assert len(service.requests) == 6


@pytest.mark.parametrize("after", ["31", "9999999999", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_long_pause_is_not_made(after: str, pauses: list[float]) -> None:
    service = answering(problem(503, "unavailable", {"retry-after": after}))
    with pytest.raises(Problem):
        Client(URL, token="iamk_1", transport=service).send(HEALTHY)
    assert pauses == []


@pytest.mark.parametrize("after", ["", "-1", "soon", "9" * 5000, "1e9", "\u00b2", "Fri, 31 Dec 1999 23:59:59 GMT"])
def test_a_malformed_or_past_pause_is_the_ordinary_one(after: str, pauses: list[float]) -> None:
    refusal = problem(503, "unavailable")
    refusal.headers = httpx.Headers([*refusal.headers.raw, (b"retry-after", after.encode("latin-1"))])
    service = answering(refusal, value(200, HEALTH))
    Client(URL, token="iamk_1", transport=service).send(HEALTHY)
    assert len(pauses) == 1 and pauses[0] < 0.4


def test_a_request_that_may_have_had_an_effect_is_sent_once(pauses: list[float]) -> None:
    change = operations.update_user(tokens(0).access_token, models.UserPatch(first_name="Ada"))
    for failure in (httpx.ReadTimeout("none"), problem(503, "unavailable")):
        service = answering(failure)
        with pytest.raises((Unreachable, Problem)):
            Client(URL, token="iamk_1", transport=service).send(change)
        assert len(service.requests) == 1
    service = answering(*[httpx.ConnectError("refused")] * 4)
    with pytest.raises(Unreachable):
        Client(URL, token="iamk_1", transport=service).send(change)
    assert len(service.requests) == 4


def test_a_change_on_a_condition_is_repeated_only_if_it_had_no_effect(pauses: list[float]) -> None:
    deletion = operations.delete_user(PERSON, if_match='"3"')
    for failure in (httpx.ReadTimeout("none"), problem(503, "unavailable")):
        service = answering(failure)
        with pytest.raises((Unreachable, Problem)):
            Client(URL, token="iamk_1", transport=service).send(deletion)
        assert len(service.requests) == 1
    service = answering(problem(429, "rate-limited"), httpx.ConnectError("refused"), httpx.Response(204))
    Client(URL, token="iamk_1", transport=service).send(deletion)
    assert len(service.requests) == 3


def test_what_a_lost_answer_has_deleted_is_gone(pauses: list[float]) -> None:
    gone = problem(404, "not-found")
    deletion, preview = operations.delete_role(PERSON), operations.preview_delete_role(PERSON)
    for lost in (httpx.ReadError("broken"), problem(503, "unavailable")):
        _, answer = Client(URL, token="iamk_1", transport=answering(lost, gone)).answer(deletion)
        assert answer.status == 404
        with pytest.raises(Problem, match="404"):
            Client(URL, token="iamk_1", transport=answering(lost, gone)).send(preview)
    for first in ([], [problem(429, "rate-limited")], [httpx.ConnectError("refused")]):
        with pytest.raises(Problem, match="404"):
            Client(URL, token="iamk_1", transport=answering(*first, gone)).send(deletion)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "where", ["https://evil.example.com/", "/api/v1/other", "http://iam.example.com/api/v1/health"]
)
def test_a_redirect_is_never_followed(status: int, where: str) -> None:
    service = Service(lambda _: httpx.Response(status, headers={"location": where}))
    for operation in (HEALTHY, CREATE):
        with pytest.raises(InvalidResponse, match="redirect"):
            Client(URL, token="iamk_1", transport=service).send(operation)
    assert len(service.requests) == 2
    assert {request.url.host for request in service.requests} == {"iam.example.com"}


def test_an_endless_answer_is_cut_off() -> None:
    sent: list[int] = []

    def endless() -> Iterator[bytes]:
        while True:
            sent.append(1)
            yield b" " * 1024 * 1024

    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            return endless()

    headers = {"content-type": "application/json"}
    service = Service(lambda _: httpx.Response(200, headers=headers, stream=Endless()))
    with pytest.raises(InvalidResponse, match="too long"):
        Client(URL, transport=service).send(HEALTHY)
    assert len(sent) <= 17
    service = Service(lambda _: httpx.Response(200, headers={**headers, "content-length": "9" * 30}, stream=Endless()))
    with pytest.raises(InvalidResponse, match="too long"):
        Client(URL, transport=service).send(HEALTHY)


def test_a_compressed_answer_counts_by_what_it_becomes() -> None:
    bomb = gzip.compress(b" " * 64 * 1024 * 1024)
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    service = Service(lambda _: httpx.Response(200, headers=headers, content=bomb))
    with pytest.raises(InvalidResponse, match="too long"):
        Client(URL, transport=service).send(HEALTHY)


def test_an_answer_that_drips_is_cut_off(monkeypatch: pytest.MonkeyPatch, pauses: list[float]) -> None:
    now = iter(range(0, 10**6, 10))
    monkeypatch.setattr("iam_client._http.time.monotonic", lambda: float(next(now)))

    class Drip(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield b" "

    service = Service(lambda _: httpx.Response(200, headers={"content-type": "application/json"}, stream=Drip()))
    with pytest.raises(Unreachable, match="ReadTimeout"):
        Client(URL, transport=service).send(HEALTHY)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, html="<p>Log in to the network</p>"),
        httpx.Response(200, headers={"content-type": "application/json"}, content=b"{"),
        httpx.Response(200, headers={"content-type": "application/json"}, content=b"[" * 100_000),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"status": {}}),
        httpx.Response(404, html="secret-of-a-proxy"),
        httpx.Response(500, headers={"content-type": "application/problem+json"}, content=b"[1]"),
        httpx.Response(500, headers={"content-type": "application/problem+json"}, content=b"[" * 100_000),
        httpx.Response(304),
    ],
)
def test_what_is_no_answer_of_the_service_is_refused(answer: httpx.Response) -> None:
    with pytest.raises(InvalidResponse) as refused:
        Client(URL, transport=answering(answer)).send(HEALTHY)
    assert "secret" not in str(refused.value) and "network" not in str(refused.value)


def test_a_problem_has_its_members() -> None:
    members: dict[str, Any] = {
        "errors": [{"field": "email", "message": "is taken"}, {"field": 1}, 7],
        "retryAfter": 5,
        "firstSequence": "no number",
        "tenants": [{"slug": "a"}],
    }
    with pytest.raises(Problem) as raised:
        Client(URL, transport=answering(problem(409, "conflict", **members))).send(HEALTHY)
    refused = raised.value
    assert (refused.status, refused.code, refused.correlation_id, refused.retry_after) == (409, "conflict", "c-1", 5)
    assert refused.fields == {"email": "is taken"} and refused.first_sequence is None
    assert refused.document["tenants"] == [{"slug": "a"}]
    assert str(refused) == "409 conflict: A detail.; email: is taken"


def test_later_fields_and_values_are_accepted() -> None:
    health = {**HEALTH, "status": "PARTLY", "later": [1]}
    assert Client(URL, transport=answering(value(200, health))).send(HEALTHY).status == "PARTLY"


@pytest.mark.parametrize(
    "url", ["iam.example.com", "ftp://a", "https://", "https://a:b@c/", "https://a/?b=c", "https://a/#b"]
)
def test_an_address_is_checked(url: str) -> None:
    with pytest.raises((ValueError, httpx.InvalidURL)):
        Client(url)


@pytest.mark.parametrize("text", ["..", ".", ""])
def test_a_parameter_stays_in_its_segment(text: str) -> None:
    with pytest.raises(ValueError):
        operations.get_user(text)
    assert operations.get_user("a/../b?c#d").path == "/users/a%2F..%2Fb%3Fc%23d"


def test_a_patch_has_what_was_set() -> None:
    assert models.UserPatch(external_id=None).to_json() == b'{"externalId":null}'
    with pytest.raises(ValueError, match="timezone"):
        models.NewAccessReview(name="a", due_at="2026-01-31T09:15:00")  # type: ignore[arg-type]
