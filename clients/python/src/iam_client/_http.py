"""Requests and answers of httpx, with bounds."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any
from urllib.parse import urlencode

import httpx

from iam_client._exchange import Answer
from iam_client._operation import Operation
from iam_client.errors import InvalidResponse

USER_AGENT = f"iam-client-python/{version('iam-client')}"
MAX_BODY = 16 * 1024 * 1024


def options(timeout: float, transport: Any, verify: Any) -> dict[str, Any]:
    """The options of both clients of httpx. A redirect is never followed: a token must not reach another server."""
    return {
        "timeout": timeout,
        "transport": transport,
        "verify": verify,
        "follow_redirects": False,
        "headers": {"user-agent": USER_AGENT, "accept-encoding": "gzip"},
    }


def checked_url(url: str) -> str:
    """Returns the address of an API without a slash at its end."""
    parsed = httpx.URL(url)
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError("an address must begin with https:// or http://, and name a host")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise ValueError("an address must have no user, query or fragment")
    return url.rstrip("/")


def request(base_url: str, operation: Operation[Any], headers: dict[str, str], timeout: float) -> dict[str, Any]:
    """The arguments of `httpx.Client.stream`."""
    url = base_url + operation.path
    return {
        "method": operation.method,
        "url": f"{url}?{urlencode(operation.query)}" if operation.query else url,
        "headers": headers,
        "content": operation.body.to_json() if operation.body is not None else None,
        "timeout": operation.timeout or timeout,
    }


class Body:
    """The body of an answer as it arrives. A server can neither fill the memory nor hold the caller for ever."""

    def __init__(self, response: httpx.Response, seconds: float, longest: int = MAX_BODY) -> None:
        self.response, self.longest = response, longest
        self.ends = time.monotonic() + seconds
        self.chunks: list[bytes] = []
        self.length = 0
        declared = response.headers.get("content-length", "")
        if declared.isdigit() and (len(declared) > 12 or int(declared) > longest):
            raise InvalidResponse("the answer is too long", response.status_code)

    def add(self, chunk: bytes) -> None:
        self.length += len(chunk)
        if self.length > self.longest:
            raise InvalidResponse("the answer is too long", self.response.status_code)
        if time.monotonic() > self.ends:
            raise httpx.ReadTimeout("the answer takes too long")
        self.chunks.append(chunk)

    def answer(self) -> Answer:
        return Answer(self.response.status_code, self.response.headers, b"".join(self.chunks))
