"""The feed of events: where it stands, and how long to wait."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from iam_client import models, operations
from iam_client._operation import Operation
from iam_client.errors import InvalidResponse, Problem, Unreachable

LONGEST_PAUSE = 60.0


class Feed:
    """The place of a reader in the feed."""

    def __init__(self, after: int | None, types: Sequence[str], wait: int) -> None:
        if isinstance(types, str):
            raise TypeError("types must be a list of types, not a text")
        self.next, self.types, self.wait = after, ",".join(types) or None, wait
        self.failures = 0
        self.asked = 0.0
        self.is_idle = False

    def operation(self) -> Operation[models.Events]:
        """Returns the request of the next page."""
        self.asked = time.monotonic()
        operation = operations.list_events(after=self.next, types=self.types, limit=500, wait=self.wait)
        return replace(operation, timeout=self.wait + 15.0)

    def take(self, page: models.Events) -> Iterator[models.Event]:
        """Returns the events of a page. The feed stands after each one when the next one is asked for."""
        self.failures = 0
        before = self.next
        for event in page.data:
            if event.sequence <= (self.next or 0):
                raise InvalidResponse("the numbers of events do not grow")
            yield event
            self.next = event.sequence
        self.next = max(page.next, self.next or 0)
        self.is_idle = not page.data and self.next == (before or 0)

    def pause(self) -> float:
        """Returns how long to wait after a page. A server that does not wait is not asked without a pause."""
        return max(0.0, 1.0 - (time.monotonic() - self.asked)) if self.is_idle else 0.0

    def pause_after(self, error: Exception) -> float:
        """Returns how long to wait after a failure that may pass. Raises all others."""
        passes = isinstance(error, Unreachable) or (isinstance(error, Problem) and error.status in (429, 503))
        if not passes and not (isinstance(error, InvalidResponse) and error.status in (429, 502, 503, 504)):
            raise error
        asked = error.retry_after if isinstance(error, Problem) else None
        self.failures += 1
        pause: float = min(max(2.0 ** min(self.failures, 10) / 2, asked or 0), LONGEST_PAUSE)
        return pause * (1 + random.random() / 2)
