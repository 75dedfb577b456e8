"""Pages and events."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from fake import PERSON, TENANT, URL, Service, problem, value
from iam_client import AsyncClient, Client, InvalidResponse, Problem, operations


def entry(number: int) -> dict[str, Any]:
    return {
        "id": PERSON, "tenantId": TENANT, "action": "CREATE", "resourceType": "USER", "resourceId": str(number),
        "userId": None, "oldValue": None, "newValue": None, "metadata": {}, "correlationId": None, "ipAddress": None,
        "userAgent": None, "createdAt": "2026-01-31T09:15:00.123Z",
    }  # fmt: skip


def permissions(request: httpx.Request, last: int) -> httpx.Response:
    page = int(request.url.params.get("page", "1"))
    item = {"id": PERSON, "name": f"a:{page}", "description": "", "system": False, "createdAt": "2026-01-31T09:15:00Z"}
    pagination = {
        "total": last,
        "page": page,
        "limit": 1,
        "totalPages": last,
        "hasNext": page < last,
        "hasPrev": page > 1,
    }
    return value(200, {"data": [item] if page <= last else [], "pagination": pagination})


def test_pages_are_asked_for_when_they_are_needed() -> None:
    service = Service(lambda request: permissions(request, 3))
    client = Client(URL, transport=service)
    found = client.paginate(operations.list_permissions())
    assert service.requests == []
    assert [next(found).name, next(found).name] == ["a:1", "a:2"] and len(service.requests) == 2
    assert [item.name for item in found] == ["a:3"]
    assert [request.url.params.get("limit") for request in service.requests] == ["100"] * 3
    assert [item.name for item in client.paginate(operations.list_permissions(page=2, limit=1))] == ["a:2", "a:3"]

    async def run() -> list[str]:
        client = AsyncClient(URL, transport=service)
        return [item.name async for item in client.paginate(operations.list_permissions())]

    assert asyncio.run(run()) == ["a:1", "a:2", "a:3"]


def test_pages_of_the_audit_log_follow_the_cursor() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        cursor = request.url.params.get("cursor")
        following = {None: "one", "one": "two", "two": None}[cursor]
        pagination = {"limit": 1, "hasNext": following is not None, "nextCursor": following}
        return value(200, {"data": [entry(1)], "pagination": pagination})

    service = Service(handler)
    assert len(list(Client(URL, transport=service).paginate(operations.list_audit_logs(action="CREATE")))) == 3
    assert {request.url.params["action"] for request in service.requests} == {"CREATE"}


def test_an_empty_page_is_the_last_one() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        answer = permissions(request, 1).json()
        answer["pagination"]["hasNext"] = True
        return value(200, answer)

    service = Service(handler)
    assert len(list(Client(URL, transport=service).paginate(operations.list_permissions()))) == 1
    assert len(service.requests) == 2


def feed(*pages: Any) -> Service:
    left = iter(pages)

    def handler(_: httpx.Request) -> httpx.Response:
        page = next(left)
        if isinstance(page, Exception):
            raise page
        if isinstance(page, httpx.Response):
            return page
        numbers, following = page
        events = [{"sequence": number, "type": "USER.CREATE", "entry": entry(number)} for number in numbers]
        return value(200, {"data": events, "next": following})

    return Service(handler)


def gone() -> httpx.Response:
    return problem(410, "gone", firstSequence=1001)


def test_events_resume_after_failures(pauses: list[float]) -> None:
    broken = [httpx.ReadError("broken")] * 4
    service = feed(([1, 2], 2), *broken, problem(503, "unavailable", {"retry-after": "60"}), ([5], 9), ([], 9), gone())
    seen = []
    with pytest.raises(Problem) as ended:
        for event in Client(URL, transport=service).events(types=["USER.*"]):
            seen.append(event.sequence)
    assert seen == [1, 2, 5] and ended.value.first_sequence == 1001
    assert [request.url.params.get("after") for request in service.requests] == [None, *["2"] * 6, "9", "9"]
    assert {request.url.params["types"] for request in service.requests} == {"USER.*"}
    # An empty page came at once, although the request said that it waits.
    assert 0.9 < pauses[-1] <= 1


def test_events_of_tasks(pauses: list[float]) -> None:
    async def run() -> list[int]:
        seen = []
        with pytest.raises(Problem, match="gone"):
            async for event in AsyncClient(
                URL, transport=feed(([4], 4), httpx.ConnectError("no"), ([5], 5), gone())
            ).events(after=3):
                seen.append(event.sequence)
        return seen

    assert asyncio.run(run()) == [4, 5]


def test_pauses_between_failures_are_bounded(pauses: list[float]) -> None:
    service = feed(*[problem(503, "unavailable", {"retry-after": "4000"})] * 20, gone())
    with pytest.raises(Problem, match="gone"):
        next(Client(URL, transport=service).events())
    assert len(pauses) == 20 and max(pauses) <= 90


def test_numbers_that_do_not_grow_are_refused(pauses: list[float]) -> None:
    events = Client(URL, transport=feed(([3, 3], 3))).events(after=2)
    assert next(events).sequence == 3
    with pytest.raises(InvalidResponse):
        next(events)
    with pytest.raises(InvalidResponse):
        next(Client(URL, transport=feed(([1], 1))).events(after=2))


def test_types_are_a_list() -> None:
    with pytest.raises(TypeError):
        next(Client(URL, transport=feed()).events(types="USER.*"))
