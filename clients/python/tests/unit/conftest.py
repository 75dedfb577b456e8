import asyncio

import pytest

import iam_client._async_client
import iam_client._client


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that the clients have made. They take no time."""
    made: list[float] = []

    class Time:
        sleep = staticmethod(made.append)

    class Asyncio:
        Lock, Task, shield, create_task = (
            asyncio.Lock,
            asyncio.Task,
            staticmethod(asyncio.shield),
            staticmethod(asyncio.create_task),
        )

        @staticmethod
        async def sleep(seconds: float) -> None:
            made.append(seconds)

    monkeypatch.setattr(iam_client._client, "time", Time)
    monkeypatch.setattr(iam_client._async_client, "asyncio", Asyncio)
    return made
