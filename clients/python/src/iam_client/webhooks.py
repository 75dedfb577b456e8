"""The signature of webhooks (Standard Webhooks 1.0)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from iam_client.errors import IamError

TOLERANCE = 300


class InvalidSignature(IamError):
    """The request is not from the service, or it is too old. Answer 401."""


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Returns the event of a request. Raises `InvalidSignature`.

    `secret` begins with `whsec_`. `body` is the body as it arrived, before it is parsed. Handle an event once: the
    header `webhook-id` is the same for each attempt to send it.
    """
    found = {name.lower(): value for name, value in headers.items()}
    sent_at, identifier = found.get("webhook-timestamp", ""), found.get("webhook-id", "")
    if not (sent_at.isascii() and sent_at.isdigit() and len(sent_at) <= 12) or not identifier:
        raise InvalidSignature("webhook-id or webhook-timestamp is missing")
    if abs(time.time() - int(sent_at)) > TOLERANCE:
        raise InvalidSignature("webhook-timestamp is more than five minutes away")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise ValueError("a secret of a webhook is whsec_ and base64") from None
    if not key:
        raise ValueError("the secret of the webhook is empty")
    signed = f"{identifier}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    signatures = found.get("webhook-signature", "").split()[:10]
    # After a rotation of the secret, a request has two signatures.
    if not any([hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures]):
        raise InvalidSignature("webhook-signature is not that of the body")
    event = json.loads(body)
    if not isinstance(event, dict):
        raise InvalidSignature("the body is not an event")
    return event
