"""The client against a server."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from conftest import PASSWORD, Tenant, new_tenant, new_user
from iam_client import AsyncClient, Client, InvalidSignature, Problem, models, operations, verify_webhook
from iam_client.tokens import InvalidToken, TokenVerifier


def one_time_code(secret: str, step: int) -> str:
    """Returns the code of an authenticator app (RFC 6238)."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.digest(key, step.to_bytes(8, "big"), hashlib.sha1)
    number = int.from_bytes(digest[digest[19] & 15 :][:4], "big") & 0x7FFFFFFF
    return f"{number % 10**6:06}"


def with_spent_access_token(client: Client | AsyncClient) -> None:
    """Makes the access token one that the server refuses."""
    assert client.tokens
    client.tokens = client.tokens.model_copy(update={"access_token": client.tokens.access_token[:-8] + "AAAAAAAA"})


def test_an_account(tenant: Tenant) -> None:
    client = tenant.client
    me = client.send(operations.get_me())
    assert (me.tenant.id, me.permissions.tenant, me.user.email) == (tenant.id, ["*"], tenant.email)
    new = new_user()
    grace = client.send(operations.create_user(new, idempotency_key=new.email))
    again, answer = client.answer(operations.create_user(new, idempotency_key=new.email))
    assert again.id == grace.id and answer.headers["idempotent-replayed"] == "true"
    with pytest.raises(Problem) as refused:
        client.send(operations.create_user(new))
    assert (refused.value.status, refused.value.code) == (409, "conflict") and refused.value.correlation_id
    with pytest.raises(Problem) as refused:
        client.send(operations.create_user(models.NewUser(**{**new.model_dump(exclude_unset=True), "email": "grace"})))
    assert list(refused.value.fields) == ["email"]
    for _ in range(3):
        client.send(operations.create_user(new_user()))
    assert len(list(client.paginate(operations.list_users(limit=2)))) == 5
    entries = list(client.paginate(operations.list_audit_logs(limit=2, resource_type="USER", action="CREATE")))
    assert len(entries) == 5
    _, answer = client.answer(operations.get_user(grace.id))
    client.send(operations.update_user(grace.id, models.UserPatch(last_name="Murray"), if_match=answer.headers["etag"]))
    with pytest.raises(Problem, match="412 precondition-failed"):
        client.send(operations.delete_user(grace.id, if_match=answer.headers["etag"]))
    assert client.send(operations.preview_delete_user(grace.id)).allowed
    assert client.send(operations.delete_user(grace.id)) is None
    client.logout()
    with pytest.raises(Problem, match="401 unauthorized"):
        client.send(operations.get_me())
    with pytest.raises(Problem, match="401 unauthorized"):
        client.login(tenant.email, "wrong")
    assert client.login(tenant.email, PASSWORD, tenant=str(tenant.id)).user.email == tenant.email


def test_threads_and_tasks_refresh_once(tenant: Tenant, url: str) -> None:
    with_spent_access_token(tenant.client)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: tenant.client.send(operations.get_me()).user.email, range(8)))
    assert found == [tenant.email] * 8

    async def run() -> list[str | None]:
        async with AsyncClient(url, tokens=tenant.client.tokens) as client:
            with_spent_access_token(client)
            found = await asyncio.gather(*(client.send(operations.get_me()) for _ in range(8)))
            tenant.client.tokens = client.tokens
            return [me.user.email for me in found]

    assert asyncio.run(run()) == [tenant.email] * 8
    refreshes = list(tenant.client.paginate(operations.list_audit_logs(action="TOKEN_REFRESH")))
    assert len(refreshes) == 2


def test_step_up(tenant: Tenant, url: str) -> None:
    asked: list[str] = []
    with Client(url) as other:
        other.login(tenant.email, PASSWORD)
        setup = other.send(operations.add_totp(models.NewFactor()))
        assert setup.secret and setup.id
        secret, step = setup.secret, int(time.time()) // 30
        other.send(operations.confirm_totp(setup.id, models.TotpConfirmation(code=one_time_code(secret, step))))

    def prove(problem: Problem) -> models.StepUp:
        asked.append(problem.code)
        # The code of the next step: that of this one is used.
        return models.StepUp(code=one_time_code(secret, step + 1))

    client = Client(url, tokens=tenant.client.tokens, on_step_up=prove)
    before = client.tokens
    client.send(operations.logout_all())
    assert asked == ["insufficient-authentication"]
    assert before and client.tokens and client.tokens.access_token != before.access_token

    with pytest.raises(Problem) as refused:
        Client(url).login(tenant.email, PASSWORD)
    assert refused.value.code == "second-factor-required"
    assert refused.value.challenge and "totp" in refused.value.methods


def test_events_resume(tenant: Tenant, url: str) -> None:
    for _ in range(3):
        tenant.client.send(operations.create_user(new_user()))
    events = tenant.client.events(types=["USER.CREATE"], wait=5)
    first = [next(events) for _ in range(2)]
    events.close()  # type: ignore[attr-defined]
    resumed = tenant.client.events(types=["USER.CREATE"], wait=5, after=first[-1].sequence)
    seen = [*first, next(resumed), next(resumed)]
    assert len({event.entry.resource_id for event in seen}) == 4
    assert [event.sequence for event in seen] == sorted(event.sequence for event in seen)

    async def follow() -> models.Event:
        async with AsyncClient(url, tokens=tenant.client.tokens) as client:
            creating = asyncio.create_task(client.send(operations.create_user(new_user())))
            async for event in client.events(types=["USER.*"], after=seen[-1].sequence, wait=20):
                await creating
                return event
        raise AssertionError("the events have no end")

    assert asyncio.run(follow()).type == "USER.CREATE"
    with pytest.raises(Problem, match="400"):
        next(tenant.client.events(after=10**9))


def test_tokens(tenant: Tenant, url: str, jwks_url: str) -> None:
    other = new_tenant(url)
    assert tenant.client.tokens and other.client.tokens
    token, foreign = tenant.client.tokens.access_token, other.client.tokens.access_token
    verifier = TokenVerifier(jwks_url, issuer="iam", audience="iam", tenant=tenant.id)
    claims = verifier.verify(token)
    assert claims.tenant_id == tenant.id and claims.amr == ("pwd",) and not claims.read_only
    with pytest.raises(InvalidToken, match="another tenant"):
        verifier.verify(foreign)
    with pytest.raises(InvalidToken):
        verifier.verify(token[:-8] + "AAAAAAAA")
    with pytest.raises(InvalidToken, match="another audience"):
        TokenVerifier(jwks_url, issuer="iam", audience="shop", tenant=tenant.id).verify(token)

    grace = tenant.client.send(operations.create_user(new_user()))
    acting = models.NewImpersonation(reason="Ticket 4711", seconds=60)
    impersonation = tenant.client.send(operations.create_impersonation(grace.id, acting))
    assert impersonation.access_token
    claims = verifier.verify(impersonation.access_token)
    me = tenant.client.send(operations.get_me()).user.id
    assert (claims.subject, claims.actor, claims.read_only) == (grace.id, me, True)


def test_webhooks(tenant: Tenant) -> None:
    received: list[tuple[dict[str, str], bytes]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        new = models.NewWebhook(url=f"http://127.0.0.1:{server.server_port}/hook", types=["USER.*"])
        hook = tenant.client.send(operations.create_webhook(new))
        assert tenant.client.send(operations.test_webhook(hook.id)).http_status == 204
        server.shutdown()
    headers, body = received[0]
    assert hook.secret and verify_webhook(hook.secret, headers, body)["type"]
    with pytest.raises(InvalidSignature):
        verify_webhook(hook.secret, headers, body + b" ")
