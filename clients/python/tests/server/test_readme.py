"""The first steps of the README, in its order."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx

from conftest import PACKAGE, PASSWORD
from iam_client import Client, Problem, models


def test_the_readme(url: str) -> None:
    client = Client(url)
    ada = models.Registration(email="ada@example.com", password=PASSWORD, first_name="Ada", last_name="Lovelace")
    try:
        client.login(ada.email, PASSWORD)
    except Problem:
        client.register(ada)

    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    names: dict[str, Any] = {}
    for block in blocks:
        program = block.replace("http://localhost:8080/api/v1", url)
        program = program.replace("http://localhost:8080", url.removesuffix("/api/v1"))
        exec(compile(program, "README.md", "exec"), names)

    async def call(method: str, path: str) -> httpx.Response:
        transport = httpx.ASGITransport(names["app"])
        headers = {"authorization": f"Bearer {names['client'].tokens.access_token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://shop", headers=headers) as shop:
            return await shop.request(method, path)

    async def run() -> None:
        assert (await call("GET", "/me")).status_code == 200
        assert (await call("POST", "/payouts")).json() == "paid"
        assert (await call("GET", "/reports")).json()["detail"] == "Missing role: MANAGER."

    asyncio.run(run())
