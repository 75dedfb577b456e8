import base64
import hashlib
import hmac
import json
import time

import pytest

from iam_client import InvalidSignature, verify_webhook

KEY = b"0123456789abcdef01234567"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
BODY = json.dumps({"type": "USER.CREATE", "data": {}}).encode()


def headers(body: bytes = BODY, key: bytes = KEY, at: float | None = None, identifier: str = "e-1") -> dict[str, str]:
    sent_at = str(int(at if at is not None else time.time()))
    signature = hmac.digest(key, f"{identifier}.{sent_at}.".encode() + body, hashlib.sha256)
    return {
        "Webhook-Id": identifier,
        "webhook-timestamp": sent_at,
        "webhook-signature": "v1," + base64.b64encode(signature).decode(),
    }


def test_a_signature_is_accepted() -> None:
    assert verify_webhook(SECRET, headers(), BODY)["type"] == "USER.CREATE"
    rotated = headers()
    rotated["webhook-signature"] = "v1,AAAA " + rotated["webhook-signature"]
    assert verify_webhook(SECRET, rotated, BODY)


@pytest.mark.parametrize(
    "sent",
    [
        {},
        headers(body=b"{}"),
        headers(key=b"another key"),
        headers(at=time.time() - 400),
        headers(at=time.time() + 400),
        {**headers(), "webhook-timestamp": "٣"},
        {**headers(), "webhook-timestamp": "-1"},
        {**headers(), "webhook-id": "e-2", "Webhook-Id": "e-2"},
        {**headers(), "webhook-signature": ""},
        {**headers(), "webhook-signature": "ünï"},
        {**headers(), "webhook-signature": headers()["webhook-signature"].replace("v1,", "v2,")},
        {**headers(), "webhook-signature": "v1,A " * 20 + headers()["webhook-signature"]},
    ],
)
def test_another_signature_is_refused(sent: dict[str, str]) -> None:
    with pytest.raises(InvalidSignature):
        verify_webhook(SECRET, sent, BODY)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_?"])
def test_a_secret_is_checked(secret: str) -> None:
    with pytest.raises(ValueError):
        verify_webhook(secret, headers(), BODY)
