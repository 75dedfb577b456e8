"""Verifies access tokens, for services that check them themselves. Needs the extra `tokens`.

A token that ends early, for example by a logout, is accepted until it expires, after 15 minutes. A service that must
know at once asks `POST /auth/introspect` or `POST /authz/check`.
"""

from __future__ import annotations

import asyncio
import base64
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import TypeAdapter, ValidationError

from iam_client import _http, models
from iam_client.errors import IamError, InvalidResponse, Unreachable

LONGEST_TOKEN = 8192
LONGEST_KEY_SET = 64 * 1024
MOST_KEYS = 64
TIMEOUT = 5.0
# A stranger who sends tokens of unknown keys causes so few requests.
SECONDS_BETWEEN_UNKNOWN_KEYS = 60.0
# Without any key, no token can be verified, so that the next attempt comes sooner.
SECONDS_AFTER_FAILURE = 5.0
# A key that the operator has revoked is accepted for so long: the service allows caches 30 seconds. If it does not
# answer, the keys are used as long as an access token is valid.
KEYS_AGE = 30.0
KEYS_AGE_WITHOUT_ANSWER = 900.0
# How far ahead the clock of the service may be. An expiry has no leeway.
CLOCK_SKEW = 60


class AnyTenant:
    """The type of `ANY_TENANT`."""

    def __repr__(self) -> str:
        return "ANY_TENANT"


ANY_TENANT = AnyTenant()
"""For a service of all tenants, which compares `Claims.tenant_id` itself in all that it does."""

Tenants = UUID | str | Iterable[UUID | str] | AnyTenant


class InvalidToken(IamError):
    """The token is not accepted. Answer 401. `reason` is for logs and says nothing of the content of the token."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Claims:
    """What a token says."""

    subject: UUID
    """The user."""
    tenant_id: UUID
    session_id: UUID
    token_id: UUID
    amr: tuple[str, ...]
    """By which methods the session has authenticated (RFC 8176): it contains `mfa` if there were two."""
    auth_time: datetime
    """When the session has authenticated last. In 1970 if another user acts."""
    actor: UUID | None
    """The user who acts as `subject`."""
    read_only: bool
    """Whether nothing may be changed by the token. The service that accepts the token must refuse it."""
    issued_at: datetime
    expires_at: datetime
    attributes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The attributes of the user that its tenant puts into tokens. Read no rights from them."""
    attributes_truncated: bool = False
    """Whether attributes are left out because not all fit."""

    def is_fresh(self, max_age: timedelta) -> bool:
        """Whether the user itself has authenticated within this time."""
        return self.actor is None and datetime.now(timezone.utc) - self.auth_time <= max_age


class _Keys:
    """The public keys that are known, and when to ask for them again."""

    def __init__(self) -> None:
        self.keys: dict[str, Ed25519PublicKey] = {}
        self.fetched = self.tried = float("-inf")

    def is_fetch_due(self, kid: str) -> bool:
        pause = SECONDS_BETWEEN_UNKNOWN_KEYS if self.keys else SECONDS_AFTER_FAILURE
        if kid in self.keys:
            pause = KEYS_AGE
        return time.monotonic() - self.tried >= pause

    def is_known(self, kid: str) -> bool:
        return kid in self.keys and time.monotonic() - self.fetched <= KEYS_AGE_WITHOUT_ANSWER

    def find(self, kid: str) -> Ed25519PublicKey:
        if time.monotonic() - self.fetched > KEYS_AGE_WITHOUT_ANSWER:
            raise Unreachable("the public keys of the service are not known")
        try:
            return self.keys[kid]
        except KeyError:
            raise InvalidToken("no key of the service has signed it") from None

    def take(self, body: bytes) -> None:
        try:
            keys = _KEY_SET.validate_json(body).keys
        except ValidationError:
            raise InvalidResponse("the answer is not a set of keys") from None
        usable = {key.kid: public for key in keys[:MOST_KEYS] if (public := _public_key(key))}
        if not usable:
            # A service always has a key. The former ones are used as long as they are not too old.
            raise InvalidResponse("the answer has no key that signs access tokens")
        self.keys = usable
        self.fetched = time.monotonic()


_KEY_SET = TypeAdapter(models.JwkSet)


def _public_key(key: models.Jwk) -> Ed25519PublicKey | None:
    # Keys of other kinds may be there for other programs.
    if (key.kty, key.crv, key.alg, key.use) != ("OKP", "Ed25519", "EdDSA", "sig"):
        return None
    try:
        return Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key.x + "=" * (-len(key.x) % 4)))
    except ValueError:
        return None


def _ids(tenant: UUID | str | Iterable[UUID | str]) -> frozenset[UUID]:
    try:
        given = [tenant] if isinstance(tenant, (UUID, str)) else list(tenant)
        ids = frozenset(UUID(str(one)) for one in given)
    except (TypeError, ValueError):
        ids = frozenset()
    if not ids:
        raise ValueError("tenant must be the id of a tenant, a UUID and not its slug, or several ids, or ANY_TENANT")
    return ids


class _Rules:
    """What a token must be."""

    def __init__(self, jwks_url: str, issuer: str, audience: str, tenant: Tenants) -> None:
        self.jwks_url = _http.checked_url(jwks_url)
        if not issuer or not audience:
            raise ValueError("an issuer and an audience are required")
        self.issuer, self.audience = issuer, audience
        self.tenants = None if isinstance(tenant, AnyTenant) else _ids(tenant)
        self.keys = _Keys()

    def accepts(self, tenant: UUID) -> bool:
        return self.tenants is None or tenant in self.tenants

    def key_of(self, token: str) -> str:
        """Returns the name of the key of a token. This proves nothing about the token."""
        if not isinstance(token, str) or len(token) > LONGEST_TOKEN:
            raise InvalidToken("it is too long")
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise InvalidToken("it is no access token") from None
        kid = header.get("kid")
        if header.get("alg") != "EdDSA" or not isinstance(kid, str) or not 0 < len(kid) <= 100:
            raise InvalidToken("it has another algorithm, or names no key")
        if "crit" in header:
            raise InvalidToken("it has a critical extension")
        return kid

    def claims(self, token: str, key: Ed25519PublicKey) -> Claims:
        try:
            claims = jwt.decode(
                token,
                key,
                # The algorithm is always that of the key, never one that the token names.
                algorithms=["EdDSA"],
                issuer=self.issuer,
                audience=self.audience,
                options={
                    "require": ["iss", "aud", "sub", "nbf", "exp", "iat"],
                    "strict_aud": True,
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.InvalidSignatureError:
            raise InvalidToken("its signature is wrong") from None
        except jwt.InvalidIssuerError:
            raise InvalidToken("it is of another issuer") from None
        except jwt.InvalidAudienceError:
            raise InvalidToken("it is for another audience") from None
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            raise InvalidToken("a claim is missing or malformed") from None
        found = self._checked(claims)
        if not self.accepts(found.tenant_id):
            raise InvalidToken("it is of another tenant")
        return found

    @staticmethod
    def _checked(claims: dict[str, Any]) -> Claims:
        now = time.time()
        try:
            if type(claims["exp"]) is not int or claims["exp"] <= now:
                raise InvalidToken("it has expired")
            if type(claims["nbf"]) is not int or claims["nbf"] > now + CLOCK_SKEW:
                raise InvalidToken("it is not valid yet")
            read_only = claims.get("readOnly", False)
            amr = claims.get("amr", [])
            attributes, truncated = claims.get("attributes", {}), claims.get("attributesTruncated", False)
            if type(read_only) is not bool or not isinstance(amr, list) or not all(isinstance(one, str) for one in amr):
                raise InvalidToken("a claim is missing or malformed")
            if type(attributes) is not dict or type(truncated) is not bool:
                raise InvalidToken("a claim is missing or malformed")
            return Claims(
                subject=UUID(claims["sub"]),
                tenant_id=UUID(claims["tenantId"]),
                session_id=UUID(claims["sid"]),
                token_id=UUID(claims["jti"]),
                amr=tuple(amr),
                auth_time=datetime.fromtimestamp(claims.get("auth_time", 0), timezone.utc),
                actor=UUID(claims["act"]["sub"]) if claims.get("act") is not None else None,
                read_only=read_only,
                issued_at=datetime.fromtimestamp(claims["iat"], timezone.utc),
                expires_at=datetime.fromtimestamp(claims["exp"], timezone.utc),
                attributes=attributes,
                attributes_truncated=truncated,
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError):
            raise InvalidToken("a claim is missing or malformed") from None


class TokenVerifier:
    """Verifies access tokens by the public keys of the service. Any number of threads may share it."""

    def __init__(
        self,
        jwks_url: str,
        *,
        issuer: str,
        audience: str,
        tenant: Tenants,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`jwks_url` is `https://iam.example.com/.well-known/jwks.json`. `issuer` and `audience` are the settings
        `IAM_ISSUER` and `IAM_AUDIENCE` of the service. A token of another tenant than `tenant`, an id or
        several, is refused."""
        self._rules = _Rules(jwks_url, issuer, audience, tenant)
        self._http = httpx.Client(**_http.options(TIMEOUT, transport, True))
        self._fetching = threading.Lock()

    def verify(self, token: str) -> Claims:
        """Returns the claims of a token. Raises `InvalidToken`, or `Unreachable` if there are no keys yet."""
        rules = self._rules
        kid = rules.key_of(token)
        # While another thread asks for the keys, a key that is known is used.
        if rules.keys.is_fetch_due(kid) and self._fetching.acquire(blocking=not rules.keys.is_known(kid)):
            try:
                if rules.keys.is_fetch_due(kid):
                    self._fetch()
            finally:
                self._fetching.release()
        return rules.claims(token, rules.keys.find(kid))

    def accepts(self, tenant: UUID) -> bool:
        """Whether users of this tenant may use the service."""
        return self._rules.accepts(tenant)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _fetch(self) -> None:
        rules = self._rules
        try:
            with self._http.stream("GET", rules.jwks_url) as response:
                body = _http.Body(response, TIMEOUT, LONGEST_KEY_SET)
                for chunk in response.iter_bytes():
                    body.add(chunk)
            if response.status_code == 200:
                rules.keys.take(body.answer().body)
        except (httpx.RequestError, InvalidResponse):
            # The former keys are used as long as they are not too old.
            pass
        rules.keys.tried = time.monotonic()


class AsyncTokenVerifier:
    """As `TokenVerifier`, for the tasks of one event loop."""

    def __init__(
        self,
        jwks_url: str,
        *,
        issuer: str,
        audience: str,
        tenant: Tenants,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """As `TokenVerifier`."""
        self._rules = _Rules(jwks_url, issuer, audience, tenant)
        self._http = httpx.AsyncClient(**_http.options(TIMEOUT, transport, True))
        self._fetching: asyncio.Task[None] | None = None

    async def verify(self, token: str) -> Claims:
        """Returns the claims of a token. Raises `InvalidToken`, or `Unreachable` if there are no keys yet."""
        rules = self._rules
        kid = rules.key_of(token)
        if rules.keys.is_fetch_due(kid):
            if self._fetching is None or self._fetching.done():
                self._fetching = asyncio.create_task(self._fetch())
                # A caller that is cancelled must not end it: then the pause between two fetches would not be kept.
                await asyncio.shield(self._fetching)
            elif not rules.keys.is_known(kid):
                await asyncio.shield(self._fetching)
        return rules.claims(token, rules.keys.find(kid))

    def accepts(self, tenant: UUID) -> bool:
        """Whether users of this tenant may use the service."""
        return self._rules.accepts(tenant)

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def _fetch(self) -> None:
        rules = self._rules
        try:
            async with self._http.stream("GET", rules.jwks_url) as response:
                body = _http.Body(response, TIMEOUT, LONGEST_KEY_SET)
                async for chunk in response.aiter_bytes():
                    body.add(chunk)
            if response.status_code == 200:
                rules.keys.take(body.answer().body)
        except (httpx.RequestError, InvalidResponse):
            # The former keys are used as long as they are not too old.
            pass
        rules.keys.tried = time.monotonic()
