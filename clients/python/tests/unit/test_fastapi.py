"""The guards of a service."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel

from fake import PERSON, TENANT, URL, Service, expired, problem, value
from iam_client import AsyncClient
from iam_client.fastapi import Caller, Guards, Refusal
from iam_client.tokens import AsyncTokenVerifier
from test_tokens import HOSTILE, JWKS, OTHER_TENANT, claim, jwk, signed

BRANCH = "019bb3f0-0000-7000-8000-000000000001"
KEY = "iamk_019bb184-0000-7000-8000-000000000001_" + "0" * 72
DENIED = {"allowed": False, "reason": "no", "grants": []}
ALLOWED = {"allowed": True, "reason": "yes", "grants": []}


class Payout(BaseModel):
    amount: int
    password: str = ""


class Browser:
    """Sends requests to an application."""

    def __init__(self, of: FastAPI) -> None:
        self.of = of

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def run() -> httpx.Response:
            transport = httpx.ASGITransport(self.of, raise_app_exceptions=False)
            async with httpx.AsyncClient(base_url="https://shop.example.com", transport=transport) as client:
                return await client.request(method, path, **options)

        return asyncio.run(run())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)


def app(iam: Callable[[httpx.Request], httpx.Response], **options: Any) -> tuple[Browser, Service]:
    keys = Service(lambda _: value(200, {"keys": [jwk()]}))
    service = Service(iam)
    verifier = AsyncTokenVerifier(JWKS, issuer="iam", audience="shop", tenant=TENANT, transport=keys)
    guards = Guards(verifier, AsyncClient(URL, transport=service), **options)
    made = FastAPI()
    guards.install(made)

    @made.get("/me")
    async def me(caller: Caller = Depends(guards.authenticated)) -> dict[str, str]:
        return {"user": str(caller.user)}

    @made.post("/branches/{branch}/refunds")
    async def refund(caller: Caller = Depends(guards.permission("orders:refund", organization="branch"))) -> str:
        return str(caller.tenant)

    fresh = [Depends(guards.permission("payouts:create")), Depends(guards.fresh(timedelta(minutes=5)))]

    @made.post("/payouts", dependencies=fresh)
    async def payout(payout: Payout) -> int:
        return payout.amount

    @made.get("/broken")
    async def broken() -> None:
        raise RuntimeError("secret-cause")

    @made.get("/teapot")
    async def teapot() -> None:
        raise HTTPException(418, "short and stout")

    @made.get("/refused")
    async def refused() -> None:
        raise Refusal(409, "conflict", "It is sold.")

    return Browser(made), service


def decide(body: dict[str, Any]) -> Callable[[httpx.Request], httpx.Response]:
    return lambda _: value(200, body)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def assert_problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["type"] == f"https://iam.invalid/problems/{code}" and document["status"] == status
    assert document["correlationId"] == answer.headers["x-correlation-id"]
    return document


def test_a_caller_is_required() -> None:
    client, _ = app(decide(ALLOWED))
    assert client.get("/me", headers=bearer(signed())).json() == {"user": PERSON}
    for headers in ({}, {"authorization": "Basic YTpi"}, {"authorization": "Bearer "}):
        answer = client.get("/me", headers=headers)
        assert_problem(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
    twice = [("authorization", f"Bearer {signed()}")] * 2
    assert_problem(client.get("/me", headers=twice), 401, "unauthorized")


@pytest.mark.parametrize("name", sorted(HOSTILE.keys() - {"no ASCII", "empty"}))
def test_a_hostile_token_is_401(name: str) -> None:
    client, service = app(decide(ALLOWED))
    for answer in (
        client.get("/me", headers=bearer(HOSTILE[name])),
        client.post(f"/branches/{BRANCH}/refunds", headers=bearer(HOSTILE[name])),
    ):
        document = assert_problem(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        assert "tenant" not in json.dumps(document), "why is not told"
    assert service.requests == [], "a token that was not verified is not sent on"


def test_the_reason_of_a_refusal_is_logged_without_the_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "iam_client")
    client, _ = app(lambda _: expired())
    for token, reason in (
        ("", "no bearer token, or several fields `Authorization`"),
        ("garbage", "it is no access token"),
        (HOSTILE["expired"], "it has expired"),
        (HOSTILE["another audience"], "it is for another audience"),
        (HOSTILE["another tenant"], "it is of another tenant"),
    ):
        caplog.clear()
        client.get("/me", headers={**bearer(token), "x-correlation-id": "mine"})
        assert caplog.messages == [f"request mine is refused: {reason}"]
    caplog.clear()
    client.post(f"/branches/{BRANCH}/refunds", headers={**bearer(signed()), "x-correlation-id": "mine"})
    assert "request mine is refused: the API refuses it" in caplog.messages


def test_a_missing_permission_is_named() -> None:
    client, _ = app(decide(DENIED))
    document = assert_problem(client.post(f"/branches/{BRANCH}/refunds", headers=bearer(signed())), 403, "forbidden")
    assert document["detail"] == "Missing permission: orders:refund."


def test_a_permission_is_asked_for_with_the_token_of_the_caller() -> None:
    client, service = app(decide(ALLOWED))
    token = signed()
    assert client.post(f"/branches/{BRANCH}/refunds", headers=bearer(token)).json() == TENANT
    (request,) = service.sent_to("/authz/check")
    assert json.loads(request.content) == {"permission": "orders:refund", "organizationId": BRANCH}
    assert request.headers["authorization"] == f"Bearer {token}"


@pytest.mark.parametrize(
    ("iam", "status", "code"),
    [
        (decide(DENIED), 403, "forbidden"),
        (lambda _: expired(), 401, "unauthorized"),
        (lambda _: problem(403, "second-factor-required"), 403, "second-factor-required"),
        (lambda _: problem(404, "not-found"), 404, "not-found"),
        (lambda _: problem(429, "rate-limited", {"retry-after": "60"}, retryAfter=60), 503, "unavailable"),
        (lambda _: problem(400, "validation-error"), 500, "internal"),
        (lambda _: httpx.Response(302, headers={"location": "https://evil.example.com"}), 503, "unavailable"),
        (lambda _: httpx.Response(200, html="yes"), 503, "unavailable"),
        (decide({"allowed": "perhaps"}), 503, "unavailable"),
    ],
)
def test_without_a_yes_there_is_no_access(iam: Any, status: int, code: str) -> None:
    client, service = app(iam)
    assert_problem(client.post(f"/branches/{BRANCH}/refunds", headers=bearer(signed())), status, code)
    assert {request.url.host for request in service.requests} == {"iam.example.com"}


def test_a_parameter_that_is_no_id_is_400() -> None:
    client, service = app(decide(ALLOWED))
    document = assert_problem(client.post("/branches/x/refunds", headers=bearer(signed())), 400, "validation-error")
    assert document["errors"][0]["field"] == "branch" and service.requests == []


def test_a_token_that_may_change_nothing_only_reads() -> None:
    client, service = app(decide(ALLOWED))
    token = signed(claim("readOnly", True))
    assert client.get("/me", headers=bearer(token)).status_code == 200
    assert_problem(client.post(f"/branches/{BRANCH}/refunds", headers=bearer(token)), 403, "forbidden")
    client, _ = app(decide(ALLOWED), allow_read_only=lambda request: True)
    assert client.post(f"/branches/{BRANCH}/refunds", headers=bearer(token)).status_code == 200


def test_an_old_authentication_is_told_after_a_missing_permission() -> None:
    client, _ = app(decide(ALLOWED))
    body = {"amount": 7}
    assert client.post("/payouts", headers=bearer(signed()), json=body).json() == 7
    old = bearer(signed(claim("auth_time", 0)))
    answer = client.post("/payouts", headers=old, json=body)
    assert_problem(answer, 401, "insufficient-authentication")
    assert answer.headers["www-authenticate"] == 'Bearer error="insufficient_user_authentication", max_age="300"'
    acting = bearer(signed(claim("act", {"sub": OTHER_TENANT})))
    assert_problem(client.post("/payouts", headers=acting, json=body), 401, "insufficient-authentication")
    client, _ = app(decide(DENIED))
    assert_problem(client.post("/payouts", headers=old, json=body), 403, "forbidden")


def me(tenant: str) -> Callable[[httpx.Request], httpx.Response]:
    at = "2026-01-31T09:15:00.123Z"
    user = {
        "id": PERSON, "kind": "SERVICE", "name": "Robot", "emailVerifiedAt": None, "externalId": None,
        "tenantId": tenant, "homeOrganizationId": None, "status": "ACTIVE", "lastLoginAt": None,
        "createdAt": at, "updatedAt": at,
    }  # fmt: skip
    of_tenant = {
        "id": tenant, "name": "A", "slug": "a", "status": "ACTIVE", "passwordPolicy": "a", "secondFactor": "OPTIONAL",
        "secondFactorGraceDays": 7, "passwordLogin": "ALLOWED", "emailLogin": "OFF", "authzenIdentifiers": "ID",
        "createdAt": at, "updatedAt": at,
    }  # fmt: skip
    permissions: dict[str, list[str]] = {"tenant": [], "organizations": []}
    body: dict[str, object] = {
        "user": user, "userTag": '"1"', "tenant": of_tenant, "session": None, "amr": [], "authTime": None, "roles": [],
        "permissions": permissions,
    }  # fmt: skip

    def handler(request: httpx.Request) -> httpx.Response:
        return value(200, body if request.url.path.endswith("/me") else ALLOWED)

    return handler


def test_an_api_key_is_accepted_if_the_service_says_so() -> None:
    client, service = app(me(TENANT))
    assert_problem(client.get("/me", headers=bearer(KEY)), 401, "unauthorized")
    assert service.requests == []
    client, service = app(me(TENANT), api_keys=True)
    assert client.get("/me", headers=bearer(KEY)).json() == {"user": PERSON}
    assert_problem(client.post("/payouts", headers=bearer(KEY), json={"amount": 1}), 403, "forbidden")
    client, service = app(me(OTHER_TENANT), api_keys=True)
    assert_problem(client.get("/me", headers=bearer(KEY)), 401, "unauthorized")
    client, service = app(lambda _: expired(), api_keys=True)
    assert_problem(client.get("/me", headers=bearer(KEY)), 401, "unauthorized")


def test_problems_of_the_application() -> None:
    client, _ = app(decide(ALLOWED))
    assert_problem(client.get("/nowhere"), 404, "not-found")
    assert_problem(client.request("PUT", "/me"), 405, "method-not-allowed")
    assert_problem(client.get("/teapot"), 418, "refused")
    assert_problem(client.get("/refused"), 409, "conflict")
    broken = assert_problem(client.get("/broken"), 500, "internal")
    assert broken["title"] == "Internal Server Error" and "secret" not in json.dumps(broken)
    torn = {**bearer(signed()), "content-type": "application/json"}
    document = assert_problem(client.post("/payouts", headers=torn, content='{"a'), 400, "validation-error")
    assert document["errors"] == [{"field": "$", "message": "is not valid JSON"}]
    assert document["detail"] == "The request body is not valid JSON."
    wrong = {"amount": "secret-input", "password": 7}
    document = assert_problem(client.post("/payouts", headers=bearer(signed()), json=wrong), 400, "validation-error")
    assert {error["field"] for error in document["errors"]} == {"amount", "password"}
    assert "secret-input" not in json.dumps(document)
    assert_problem(client.post("/payouts", json=wrong), 401, "unauthorized")


def test_a_body_is_bounded() -> None:
    client, _ = app(decide(ALLOWED))

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 65536

    for content in (b" " * 262_145, endless()):
        assert_problem(client.post("/payouts", content=content), 413, "payload-too-large")


def test_answers_have_the_headers_of_the_api() -> None:
    client, _ = app(decide(ALLOWED))
    answer = client.get("/me", headers={**bearer(signed()), "x-correlation-id": "mine"})
    assert answer.headers["x-correlation-id"] == "mine" and answer.headers["cache-control"] == "no-store"
    for sent in ("", "with blank", "x" * 129):
        assert client.get("/me", headers={"x-correlation-id": sent}).headers["x-correlation-id"] != sent


def test_a_permission_is_checked_when_the_guard_is_made() -> None:
    for permission in ("orders", "*", "orders:*", "Orders:refund", "orders:refund\n"):
        with pytest.raises(ValueError):
            Guards(None, None).permission(permission)  # type: ignore[arg-type]
