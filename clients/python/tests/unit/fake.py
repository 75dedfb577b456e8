"""A fake of the service, behind the transport of httpx."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx

from iam_client import models

URL = "https://iam.example.com/api/v1"
PERSON = "019bb179-0000-7000-8000-000000000001"
TENANT = "019bb16e-0000-7000-8000-000000000001"
HEALTH = {
    "status": "ok", "service": "iam-server", "version": "0.1.0", "timestamp": "2026-01-31T09:15:00.123Z",
    "environment": "test",
}  # fmt: skip

Handler = Callable[[httpx.Request], httpx.Response]


def tokens(number: int, expires_in: int = 900) -> models.Tokens:
    return models.Tokens(
        access_token=f"access-{number}", refresh_token=f"refresh-{number}", token_type="Bearer", expires_in=expires_in
    )


def value(status: int, body: Any, **headers: str) -> httpx.Response:
    return httpx.Response(status, headers=headers, json=body)


def tokens_answer(number: int, expires_in: int = 900) -> httpx.Response:
    return value(200, json.loads(tokens(number, expires_in).to_json()))


def problem(status: int, code: str, headers: dict[str, str] | None = None, **members: Any) -> httpx.Response:
    document = {
        "type": f"https://iam.invalid/problems/{code}",
        "title": code,
        "status": status,
        "detail": "A detail.",
        "instance": "/",
        "correlationId": "c-1",
        **members,
    }
    all_headers = {"content-type": "application/problem+json", **(headers or {})}
    return httpx.Response(status, headers=all_headers, content=json.dumps(document).encode())


def expired() -> httpx.Response:
    return problem(401, "unauthorized", {"www-authenticate": 'Bearer error="invalid_token"'})


def stale() -> httpx.Response:
    challenge = 'Bearer error="insufficient_user_authentication", max_age="600"'
    return problem(401, "insufficient-authentication", {"www-authenticate": challenge})


class Service(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers by a function, and keeps the requests. It serves both clients."""

    def __init__(self, handler: Handler) -> None:
        self.handler, self.requests = handler, list[httpx.Request]()
        self.lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        with self.lock:
            self.requests.append(request)
        return self.handler(request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self.requests.append(request)
        return self.handler(request)

    def sent_to(self, path: str) -> list[httpx.Request]:
        return [request for request in self.requests if request.url.path == f"/api/v1{path}"]


def answering(*answers: httpx.Response | Exception) -> Service:
    """A service with these answers, one after the other."""
    left: Iterator[httpx.Response | Exception] = iter(answers)

    def handler(_: httpx.Request) -> httpx.Response:
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Service(handler)
