"""What a call of the API can fail with."""

from __future__ import annotations

import json
import re
from typing import Any

from iam_client.models import FieldError


class IamError(Exception):
    """The base of all exceptions of this package."""


class Unreachable(IamError):
    """There is no answer: no connection, or none in time. The request may have had an effect."""


class InvalidResponse(IamError):
    """The answer is not one of the API: a redirect, no JSON, too long, or of another form. It is never shown, because
    it may contain secrets."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Problem(IamError):
    """A refusal of the API: a problem document (RFC 9457)."""

    def __init__(self, document: dict[str, Any], status: int, headers: Any = None) -> None:
        headers = headers or {}
        self.status = status
        self.type = _text(document, "type") or "about:blank"
        self.code = self.type.rpartition("/")[2]
        """The kind, the last part of `type`: `conflict`, `not-found`, `validation-error`."""
        self.title = _text(document, "title")
        self.detail = _text(document, "detail")
        self.instance = _text(document, "instance")
        self.correlation_id = _text(document, "correlationId") or headers.get("x-correlation-id", "")
        """Identifies the request in the log of the server and in the audit log."""
        self.errors = _errors(document.get("errors"))
        """The fields that the problem is about."""
        self.retry_after = _number(document, "retryAfter")
        """After how many seconds to try again."""
        self.first_sequence = _number(document, "firstSequence")
        """The number of the first event that is left, for `gone`."""
        self.challenge = _text(document, "challenge") or None
        """Continues the login, for `second-factor-required` with the status 401."""
        self.methods = tuple(method for method in _list(document, "methods") if isinstance(method, str))
        """How the user can finish the login: `totp`, `passkey`, `recovery-code`, and later perhaps more."""
        self.authenticate = headers.get("www-authenticate", "")
        self.max_age = _max_age(self.authenticate)
        """How many seconds ago the authentication may be, for `insufficient-authentication`."""
        self.document = document
        """All members of the document, for example `tenants` of a login by an e-mail of several tenants."""
        fields = "".join(f"; {error.field}: {error.message}" for error in self.errors)
        super().__init__(f"{status} {self.code}: {self.detail or self.title}{fields}")

    @property
    def fields(self) -> dict[str, str]:
        """What is wrong with each field."""
        return {error.field: error.message for error in self.errors}


def problem_of(status: int, headers: Any, body: bytes) -> Problem | None:
    """Returns the problem document of an answer, if it has one."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/problem+json":
        return None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return Problem(document, status, headers) if isinstance(document, dict) else None


def _text(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""


def _number(document: dict[str, Any], name: str) -> int | None:
    value = document.get(name)
    return value if type(value) is int and 0 <= value < 2**53 else None


def _max_age(challenge: str) -> int | None:
    """Returns the seconds of `max_age` in a `WWW-Authenticate` header (RFC 9470)."""
    found = re.search(r'\bmax_age="?([0-9]{1,9})\b', challenge)
    return int(found[1]) if found else None


def _list(document: dict[str, Any], name: str) -> list[Any]:
    value = document.get(name)
    return value if isinstance(value, list) else []


def _errors(values: object) -> tuple[FieldError, ...]:
    errors = values if isinstance(values, list) else []
    return tuple(
        FieldError(field=error["field"], message=error["message"])
        for error in errors
        if isinstance(error, dict) and isinstance(error.get("field"), str) and isinstance(error.get("message"), str)
    )
