"""Tokens that a service must refuse, and the keys."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fake import PERSON, TENANT, Service, value
from iam_client import Unreachable
from iam_client.tokens import ANY_TENANT, AsyncTokenVerifier, InvalidToken, Tenants, TokenVerifier

JWKS = "https://iam.example.com/.well-known/jwks.json"
KEY = Ed25519PrivateKey.from_private_bytes(b"1" * 32)
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(b"2" * 32)
OTHER_TENANT = "019bb16e-0000-7000-8000-000000000002"

Header = dict[str, Any]
Change = Callable[[Header, dict[str, Any]], object]


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def public(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def jwk(kid: str = "one", key: Ed25519PrivateKey = KEY, **changes: object) -> dict[str, object]:
    return {"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": kid, "x": text(public(key)), **changes}


def signed(change: Change = lambda header, claims: None, sign: Callable[[bytes], bytes] = KEY.sign) -> str:
    """Returns a token that is valid, apart from a change."""
    now = int(time.time())
    header: Header = {"typ": "JWT", "alg": "EdDSA", "kid": "one"}
    claims: dict[str, Any] = {
        "iss": "iam", "aud": "shop", "sub": PERSON, "sid": PERSON, "jti": PERSON, "tenantId": TENANT, "amr": ["pwd"],
        "auth_time": now, "iat": now, "nbf": now, "exp": now + 900,
    }  # fmt: skip
    change(header, claims)
    content = ".".join(text(json.dumps(part).encode()) for part in (header, claims))
    return f"{content}.{text(sign(content.encode()))}"


def verifier(service: Service | None = None, tenant: Tenants = TENANT) -> TokenVerifier:
    transport = service or Service(lambda _: value(200, {"keys": [jwk()]}))
    return TokenVerifier(JWKS, issuer="iam", audience="shop", tenant=tenant, transport=transport)


def claim(name: str, content: object) -> Change:
    return lambda header, claims: claims.update({name: content})


def without(name: str) -> Change:
    return lambda header, claims: claims.pop(name)


def head(**members: object) -> Change:
    return lambda header, claims: header.update(members)


def with_public_key(content: bytes) -> bytes:
    return hmac.digest(public(KEY), content, hashlib.sha256)


def test_a_valid_token_is_accepted() -> None:
    claims = verifier().verify(signed())
    assert (claims.subject, claims.tenant_id, claims.amr) == (UUID(PERSON), UUID(TENANT), ("pwd",))
    assert (claims.read_only, claims.actor) == (False, None) and claims.is_fresh(timedelta(minutes=5))
    assert verifier(tenant=[UUID(TENANT), OTHER_TENANT]).verify(signed())


def test_who_acts_and_read_only_are_visible() -> None:
    claims = verifier().verify(
        signed(
            lambda header, claims: claims.update(act={"sub": OTHER_TENANT}, readOnly=True, auth_time=int(time.time()))
        )
    )
    assert claims.read_only and claims.actor == UUID(OTHER_TENANT)
    assert not claims.is_fresh(timedelta(days=9999))


def test_attributes_are_visible() -> None:
    claims = verifier().verify(signed())
    assert (claims.attributes, claims.attributes_truncated) == ({}, False)
    claims = verifier().verify(
        signed(lambda header, claims: claims.update(attributes={"costCentre": "4711"}, attributesTruncated=True))
    )
    assert (claims.attributes, claims.attributes_truncated) == ({"costCentre": "4711"}, True)
    assert {claims: "a mapping cannot be hashed"}


def test_an_early_clock_is_tolerated() -> None:
    assert verifier().verify(signed(claim("nbf", int(time.time()) + 50)))


NOW = int(time.time())

HOSTILE: dict[str, str] = {
    "alg none": signed(head(alg="none"), lambda _: b""),
    "alg none in capitals": signed(head(alg="NONE"), lambda _: b""),
    "no signature": signed(sign=lambda _: b""),
    "HS256 with the public key": signed(head(alg="HS256"), with_public_key),
    "EdDSA with a MAC by the public key": signed(sign=with_public_key),
    "no algorithm": signed(lambda header, _: header.pop("alg")),
    "a list of algorithms": signed(head(alg=["EdDSA"])),
    "another key": signed(sign=OTHER_KEY.sign),
    "a key in the header": signed(head(jwk=jwk(key=OTHER_KEY)), OTHER_KEY.sign),
    "an address of keys": signed(head(jku="https://evil.example.com/jwks.json", kid="evil"), OTHER_KEY.sign),
    "a critical extension": signed(head(crit=["b64"], b64=False)),
    "an empty list of extensions": signed(head(crit=[])),
    "no kid": signed(lambda header, _: header.pop("kid")),
    "a number as kid": signed(head(kid=1)),
    "a long kid": signed(head(kid="k" * 101)),
    "another tenant": signed(claim("tenantId", OTHER_TENANT)),
    "no tenant": signed(without("tenantId")),
    "a list of tenants": signed(claim("tenantId", [TENANT])),
    "another audience": signed(claim("aud", "iam")),
    "no audience": signed(without("aud")),
    "null as audience": signed(claim("aud", None)),
    "a list of audiences": signed(claim("aud", ["shop", "iam"])),
    "another issuer": signed(claim("iss", "evil")),
    "no issuer": signed(without("iss")),
    "expired": signed(claim("exp", NOW - 1)),
    "no expiry": signed(without("exp")),
    "a text as expiry": signed(claim("exp", str(NOW + 900))),
    "an endless expiry": signed(claim("exp", 10**30)),
    "true as expiry": signed(claim("exp", True)),
    "not yet valid": signed(claim("nbf", NOW + 600)),
    "no beginning": signed(without("nbf")),
    "no subject": signed(without("sub")),
    "a number as subject": signed(claim("sub", 7)),
    "readOnly as text": signed(claim("readOnly", "false")),
    "readOnly as null": signed(claim("readOnly", None)),
    "act without sub": signed(claim("act", {})),
    "act as false": signed(claim("act", False)),
    "amr as text": signed(claim("amr", "mfa")),
    "attributes as text": signed(claim("attributes", "4711")),
    "attributes as null": signed(claim("attributes", None)),
    "attributesTruncated as text": signed(claim("attributesTruncated", "true")),
    "no object": text(b'{"alg":"EdDSA","kid":"one"}') + "." + text(b"[]") + ".",
    "an API key": "iamk_019bb184-0000-7000-8000-000000000001_" + "0" * 72,
    "empty": "",
    "dots": "..",
    "no ASCII": "\u00fc.\u00fc.\u00fc",
    "too long": signed(claim("amr", ["x" * 9000])),
    "too deep": text(b"[" * 3000) + ".e30.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_token_is_refused(name: str) -> None:
    token = HOSTILE[name]
    with pytest.raises(InvalidToken) as refused:
        verifier(tenant=ANY_TENANT if "tenant" not in name or name == "a list of tenants" else TENANT).verify(token)
    assert not token or token not in str(refused.value)

    async def run() -> None:
        service = Service(lambda _: value(200, {"keys": [jwk()]}))
        checks = AsyncTokenVerifier(JWKS, issuer="iam", audience="shop", tenant=TENANT, transport=service)
        with pytest.raises(InvalidToken):
            await checks.verify(token)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("name", "reason"),
    {
        "empty": "it is no access token",
        "too long": "it is too long",
        "alg none": "it has another algorithm, or names no key",
        "no kid": "it has another algorithm, or names no key",
        "an address of keys": "no key of the service has signed it",
        "another key": "its signature is wrong",
        "another issuer": "it is of another issuer",
        "another audience": "it is for another audience",
        "another tenant": "it is of another tenant",
        "expired": "it has expired",
        "not yet valid": "it is not valid yet",
        "no subject": "a claim is missing or malformed",
        "act without sub": "a claim is missing or malformed",
    }.items(),
)
def test_the_reason_has_the_words_of_the_other_clients(name: str, reason: str) -> None:
    with pytest.raises(InvalidToken) as refused:
        verifier().verify(HOSTILE[name])
    assert refused.value.reason == reason


@pytest.mark.parametrize("tenant", [None, "", "analytical-engines", [], [None], [TENANT, "analytical-engines"], 7])
def test_a_tenant_is_required(tenant: Any) -> None:
    with pytest.raises(ValueError, match="^tenant must be the id of a tenant, a UUID "):
        verifier(tenant=tenant)


class Clock:
    """The clock of the keys."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0

        class Time:
            time = staticmethod(time.time)
            monotonic = staticmethod(lambda: self.now)

        monkeypatch.setattr("iam_client.tokens.time", Time)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_a_flood_of_unknown_keys_asks_once_a_minute(clock: Clock) -> None:
    service = Service(lambda _: value(200, {"keys": [jwk()]}))
    checks = verifier(service)
    checks.verify(signed())
    for second in range(180):
        clock.now += 1
        for number in range(5):
            with pytest.raises(InvalidToken):
                checks.verify(signed(head(kid=f"{second}-{number}")))
    assert len(service.requests) == 4
    assert all("authorization" not in request.headers for request in service.requests)


def test_a_new_key_is_found_and_a_removed_one_is_forgotten(clock: Clock) -> None:
    keys = [jwk()]
    service = Service(lambda _: value(200, {"keys": keys}))
    checks = verifier(service)
    checks.verify(signed())
    keys.append(jwk("two", OTHER_KEY))
    clock.now += 61
    assert checks.verify(signed(head(kid="two"), OTHER_KEY.sign))
    del keys[0]
    clock.now += 31
    with pytest.raises(InvalidToken):
        checks.verify(signed())
    assert len(service.requests) == 3


def test_a_set_without_a_usable_key_replaces_none(clock: Clock) -> None:
    keys = [jwk()]
    service = Service(lambda _: value(200, {"keys": keys}))
    checks = verifier(service)
    checks.verify(signed())
    for none in ([], [jwk("two", use="enc")]):
        keys[:] = none
        clock.now += 61
        assert checks.verify(signed())
    assert len(service.requests) == 3


def test_without_an_answer_the_keys_are_used_for_fifteen_minutes(clock: Clock) -> None:
    answers = [value(200, {"keys": [jwk()]})]

    def handler(request: httpx.Request) -> httpx.Response:
        if answers:
            return answers.pop()
        raise httpx.ConnectError("no")

    checks = verifier(Service(handler))
    checks.verify(signed())
    clock.now += 850
    assert checks.verify(signed())
    clock.now += 60
    with pytest.raises(Unreachable):
        checks.verify(signed())


@pytest.mark.parametrize(
    "answer",
    [
        lambda: httpx.Response(302, headers={"location": "https://evil.example.com/jwks.json"}),
        lambda: httpx.Response(200, content=b" " * 70_000),
        lambda: httpx.Response(200, content=b"["),
        lambda: value(200, {"keys": 7}),
        lambda: value(200, {"keys": []}),
        lambda: value(500, {"keys": [jwk()]}),
    ],
)
def test_what_is_no_set_of_keys_is_refused(answer: Callable[[], httpx.Response], clock: Clock) -> None:
    service = Service(lambda _: answer())
    checks = verifier(service)
    for _ in range(3):
        with pytest.raises(Unreachable):
            checks.verify(signed())
    assert len(service.requests) == 1
    service.handler = lambda _: value(200, {"keys": [jwk()]})
    clock.now += 6
    assert checks.verify(signed())


def test_keys_of_other_kinds_are_ignored() -> None:
    others = [
        jwk(kty="oct", k=text(b"secret"), alg="HS256"),
        jwk("two", crv="Ed448"),
        jwk("three", x="AA"),
        jwk("four", alg="HS256"),
        jwk("five", use="enc"),
    ]
    checks = verifier(Service(lambda _: value(200, {"keys": [*others, jwk()]})))
    assert checks.verify(signed())
    for kid in ("two", "three", "four", "five"):
        with pytest.raises(InvalidToken):
            checks.verify(signed(head(kid=kid)))


def test_concurrent_callers_ask_once() -> None:
    def slow(_: httpx.Request) -> httpx.Response:
        time.sleep(0.05)
        return value(200, {"keys": [jwk()]})

    service = Service(slow)
    checks = verifier(service)
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(lambda _: checks.verify(signed()), range(8)))) == 8
    assert len(service.requests) == 1

    async def run() -> None:
        class Slow(Service):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                await asyncio.sleep(0.05)
                return await super().handle_async_request(request)

        service = Slow(lambda _: value(200, {"keys": [jwk()]}))
        checks = AsyncTokenVerifier(JWKS, issuer="iam", audience="shop", tenant=TENANT, transport=service)
        first = asyncio.create_task(checks.verify(signed()))
        others = [asyncio.create_task(checks.verify(signed())) for _ in range(7)]
        await asyncio.sleep(0.01)
        first.cancel()
        assert len(await asyncio.gather(*others)) == 7
        assert len(service.requests) == 1

    asyncio.run(run())
