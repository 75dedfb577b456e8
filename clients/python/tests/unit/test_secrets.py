"""Tokens and passwords are in no representation, log or error."""

from __future__ import annotations

import logging
import re
import traceback
from uuid import UUID

import httpx
import pytest

from fake import HEALTH, PERSON, TENANT, URL, answering, expired, problem, tokens, tokens_answer, value
from iam_client import Client, IamError, Operation, models, operations
from iam_client._exchange import Send, Session
from iam_client.fastapi import Caller
from iam_client.tokens import TokenVerifier

HEALTHY: Operation[models.Health] = Operation("GET", "/health", models.Health)
PERMISSION = models.NewPermission(name="orders:refund")


def test_representations() -> None:
    session = Session(bearer="secret-1", tokens=models.Tokens(**tokens(0).model_dump()))
    login = models.Login(email="ada@example.com", password="secret-2")
    shown = [
        session,
        session.tokens,
        login,
        operations.login(login),
        Send({"authorization": "Bearer secret-3"}),
        Client(URL, token="secret-4"),
        Client(URL, tokens=tokens(0)),
        Caller(UUID(PERSON), UUID(TENANT), None, "secret-5"),
        models.StepUp(password="secret-6", code="secret-7"),
        models.SecondFactor(challenge="secret-8", code="secret-9", recovery_code="secret-10"),
        models.Refresh(refresh_token="secret-11"),
        models.NewUser(email="a", password="secret-12", first_name="a", last_name="b"),
        models.PasswordChange(current_password="secret-13", new_password="secret-14"),
        models.TotpSetup(id=UUID(PERSON), secret="secret-15", uri="secret-16", qr="secret-17"),
        models.RecoveryCodes(recovery_codes=["secret-18"]),
        TokenVerifier("https://iam.example.com/jwks", issuer="iam", audience="iam", tenant=TENANT),
    ]
    for one in shown:
        for text in (repr(one), str(one)):
            assert "secret-" not in text and "access-" not in text and "refresh-" not in text


def test_new_fields_for_secrets_are_hidden() -> None:
    """Fails for a field of a new document that sounds secret: put it into `SECRETS` of generate.py, or here."""
    known = {
        "api_key", "api_key_id", "api_keys", "code_challenge", "in_token", "keys", "next_token", "password_allowed",
        "password_login", "password_policy", "recovery_codes_left", "token_type", "token_type_hint", "verifier_key",
    }  # fmt: skip
    shown = {
        name
        for model in vars(models).values()
        for name, field in getattr(model, "model_fields", {}).items()
        if (model, name) not in {(models.OrganizationAttribute, "key"), (models.UserAttribute, "key")}
        if field.repr and re.search("token|secret|password|code|key|challenge|credential", name)
    }
    assert shown - known == set()


def test_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    service = answering(expired(), tokens_answer(1), value(200, HEALTH), problem(401, "unauthorized"))
    client = Client(URL, tokens=tokens(0), transport=service)
    client.send(HEALTHY)
    with pytest.raises(IamError):
        client.login("ada@example.com", "secret-password")
    assert caplog.text
    for secret in ("access-", "refresh-", "secret-password"):
        assert secret not in caplog.text


def test_errors() -> None:
    wrong = {"accessToken": ["secret-token"], "refreshToken": "secret-refresh"}
    second_factor = problem(401, "second-factor-required", challenge="iamc_secret-challenge", methods=["totp"])
    for answer in (
        value(200, wrong),
        httpx.ReadTimeout("none"),
        httpx.Response(500, text="secret-page"),
        second_factor,
    ):
        with pytest.raises(IamError) as raised:
            Client(URL, transport=answering(answer)).login("ada@example.com", "secret-password")
        shown = "".join(traceback.format_exception(raised.value)) + repr(raised.value)
        # Lines of this file are part of the trace.
        assert "secret-" not in shown.replace('"secret-password"', "")


def test_a_value_of_the_wrong_type_is_not_shown() -> None:
    with pytest.raises(ValueError) as raised:
        models.Login(email="ada@example.com", password=["secret-password"])  # type: ignore[arg-type]
    assert "secret-password" not in str(raised.value)


@pytest.mark.parametrize("token", ["hidden\nx-evil: 1", "hidden\u00fc", "hidden token"])
def test_a_token_that_no_header_can_have_is_not_shown(token: str) -> None:
    service = answering()
    with pytest.raises(ValueError) as raised:
        Client(URL, token=token, transport=service).send(HEALTHY)
    assert "hidden" not in "".join(traceback.format_exception(raised.value))
    assert service.requests == []
    with pytest.raises(ValueError):
        operations.create_permission(PERMISSION, idempotency_key="a\nb").headers()
