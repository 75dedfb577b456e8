"""The pages of a list, one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from iam_client import models
from iam_client._operation import Operation

LARGEST = "100"


def first(operation: Operation[Any]) -> Operation[Any]:
    """Returns the request of the first page. A caller that names no size gets the largest pages."""
    return replace(operation, query={"limit": LARGEST, **operation.query})


def after(operation: Operation[Any], page: Any) -> Operation[Any] | None:
    """Returns the request of the page after this one. An empty page is the last one, also if it names another."""
    if not page.data or not page.pagination.has_next:
        return None
    if isinstance(page.pagination, models.CursorPagination):
        cursor = page.pagination.next_cursor
        return replace(operation, query={**operation.query, "cursor": cursor}) if cursor else None
    number = int(operation.query.get("page", "1")) + 1
    return replace(operation, query={**operation.query, "page": str(number)})
