from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from fake import HEALTH, URL, Service, problem, stale, tokens, tokens_answer, value
from iam_client import AsyncClient, Client, Problem, models, operations

CHANGE = operations.logout_all()


def guarded(barrier: threading.Barrier | None = None) -> Service:
    """A service that asks for a recent authentication, until the session has one."""
    state = {"fresh": False}

    def handler(request: httpx.Request) -> httpx.Response:
        match request.url.path.removeprefix("/api/v1"):
            case "/auth/step-up":
                state["fresh"] = b"right" in request.content
                return httpx.Response(204) if state["fresh"] else problem(401, "unauthorized")
            case "/auth/refresh":
                return tokens_answer(1)
            case "/health":
                return value(200, HEALTH)
        if state["fresh"]:
            return httpx.Response(204)
        if barrier:
            barrier.wait(10)
        return stale()

    return Service(handler)


def test_it_asks_once_and_repeats_the_request() -> None:
    asked: list[tuple[str, int | None]] = []

    def prove(refused: Problem) -> models.StepUp:
        asked.append((refused.code, refused.max_age))
        return models.StepUp(password="right")

    service = guarded()
    client = Client(URL, tokens=tokens(0), on_step_up=prove, transport=service)
    client.send(CHANGE)
    client.send(CHANGE)
    assert asked == [("insufficient-authentication", 600)]
    assert len(service.sent_to("/auth/step-up")) == 1
    assert client.tokens and client.tokens.access_token == "access-1", "the new claims say so"


def test_concurrent_requests_ask_once() -> None:
    asked: list[int] = []

    def prove(_: Problem) -> models.StepUp:
        asked.append(1)
        return models.StepUp(password="right")

    client = Client(URL, tokens=tokens(0), on_step_up=prove, transport=guarded(threading.Barrier(4)))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: client.send(CHANGE), range(4)))
    assert asked == [1]

    async def run() -> None:
        async def prove(_: Problem) -> models.StepUp:
            asked.append(2)
            await asyncio.sleep(0)
            return models.StepUp(password="right")

        client = AsyncClient(URL, tokens=tokens(0), on_step_up=prove, transport=guarded())
        await asyncio.gather(*(client.send(CHANGE) for _ in range(4)))

    asyncio.run(run())
    assert asked == [1, 2]


def test_a_wrong_proof_ends_the_request() -> None:
    service = guarded()
    client = Client(URL, tokens=tokens(0), on_step_up=lambda _: models.StepUp(password="wrong"), transport=service)
    with pytest.raises(Problem, match="401 unauthorized"):
        client.send(CHANGE)
    assert len(service.sent_to("/auth/step-up")) == 1


def test_without_a_proof_the_problem_is_raised() -> None:
    for on_step_up in (None, lambda _: None):
        service = guarded()
        client = Client(URL, tokens=tokens(0), on_step_up=on_step_up, transport=service)
        with pytest.raises(Problem, match="insufficient-authentication"):
            client.send(CHANGE)
        assert len(service.requests) == 1


def test_a_service_that_is_never_satisfied_is_asked_twice() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/step-up"):
            return httpx.Response(204)
        return tokens_answer(1) if request.url.path.endswith("/refresh") else stale()

    service = Service(handler)
    asked: list[int] = []

    def prove(_: Problem) -> models.StepUp:
        asked.append(1)
        return models.StepUp(password="right")

    with pytest.raises(Problem, match="insufficient-authentication"):
        Client(URL, tokens=tokens(0), on_step_up=prove, transport=service).send(CHANGE)
    assert asked == [1] and len(service.sent_to("/auth/logout-all")) == 2


def test_requests_of_the_callback_ask_for_no_proof() -> None:
    def prove(_: Problem) -> models.StepUp:
        with pytest.raises(Problem, match="insufficient-authentication"):
            client.send(CHANGE)
        return models.StepUp(password="right")

    client = Client(URL, tokens=tokens(0), on_step_up=prove, transport=guarded())
    client.send(CHANGE)


def test_the_token_of_another_holder_is_sent_as_it_is() -> None:
    service = guarded()
    client = Client(URL, tokens=tokens(0), on_step_up=lambda _: models.StepUp(password="right"), transport=service)
    with pytest.raises(Problem):
        client.send(CHANGE, token="of-another")
    assert [request.headers["authorization"] for request in service.requests] == ["Bearer of-another"]
