"""A request of the API before it is sent."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from iam_client._model import Model

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Operation(Generic[T_co]):
    """A request whose answer is a `T_co`. The functions of `iam_client.operations` make them."""

    method: str
    path: str
    result: Any
    query: Mapping[str, str] = field(default_factory=dict)
    body: Model | None = field(default=None, repr=False)
    public: bool = False
    """Whether the request needs no token."""
    once: bool = False
    """Whether the request takes an `Idempotency-Key`."""
    idempotency_key: str | None = None
    if_match: str | None = None
    timeout: float | None = None
    """Seconds to wait for the answer, if not those of the client."""
    only_reads: bool = False
    """Whether a POST has no effect that a second one would have again."""

    @property
    def is_repeatable(self) -> bool:
        """Whether a second request has no second effect, so that it can follow a first one without an answer."""
        # After a lost answer, a condition on the former version fails although the change was made.
        is_idempotent = self.method in ("GET", "PUT", "DELETE") and self.if_match is None
        return self.once or self.only_reads or is_idempotent

    def headers(self) -> dict[str, str]:
        """Returns the headers of all attempts: each attempt has the same `Idempotency-Key`."""
        headers = {"accept": "application/json"}
        if self.body is not None:
            headers["content-type"] = "application/json"
        if self.once:
            headers["idempotency-key"] = self.idempotency_key or str(uuid.uuid4())
        if self.if_match is not None:
            headers["if-match"] = self.if_match
        if not all(is_visible(value) for value in headers.values()):
            raise ValueError("a header has only visible ASCII characters")
        return headers


def is_visible(text: str) -> bool:
    """Whether a text may stand in a header. A library that refuses another one shows it in its error."""
    return text.isascii() and text.isprintable() and " " not in text


def path(pattern: str, *values: object) -> str:
    """Fills values into a path. A value stays one segment of the path."""
    texts = [str(value) for value in values]
    if any(text in ("", ".", "..") for text in texts):
        raise ValueError("a parameter of a path must not be empty or dots")
    return pattern.format(*(quote(text, safe="") for text in texts))


def query(values: Mapping[str, object]) -> dict[str, str]:
    """Returns the parameters of a query without those that are `None`."""
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a time must have a zone")
        return value.isoformat()
    return str(value)
