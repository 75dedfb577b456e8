"""The example of a service, as its own process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from conftest import PACKAGE, Tenant, new_tenant, new_user
from iam_client import models, operations


@contextmanager
def shop(url: str, tenant: Tenant, directory: Path) -> Iterator[httpx.Client]:
    """Starts the shop on a free port."""
    command = [sys.executable, "-m", "uvicorn", "--app-dir", str(PACKAGE / "examples"), "--port", "0", "shop:app"]
    environment = {**os.environ, "IAM_URL": url, "IAM_TENANT": str(tenant.id)}
    with (directory / "shop.log").open("w+") as log:
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=log, text=True)
        try:
            assert process.stderr
            address = None
            for line in process.stderr:
                if found := re.search(r"running on (http://[\d.:]+)", line):
                    address = found[1]
                    break
            assert address, "the shop did not start"
            with httpx.Client(base_url=address) as client:
                yield client
        finally:
            process.terminate()
            process.wait(10)


def bearer(token: str | None) -> dict[str, str]:
    assert token
    return {"authorization": f"Bearer {token}"}


def code(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    kind: str = answer.json()["type"].rpartition("/")[2]
    return kind


def test_the_shop(tenant: Tenant, url: str, tmp_path: Path) -> None:
    client = tenant.client
    assert client.tokens
    ada = bearer(client.tokens.access_token)
    branch = client.send(operations.create_organization(models.NewOrganization(name="Branch")))
    other = client.send(operations.create_organization(models.NewOrganization(name="Other")))
    client.send(operations.create_permission(models.NewPermission(name="orders:refund")))
    cashier = client.send(operations.create_role(models.NewRole(name="CASHIER", permissions=["orders:refund"])))
    robot = client.send(operations.create_service_account(models.NewServiceAccount(name="Till")))
    place = models.NewRoleAssignment(user_id=robot.id, role_id=cashier.id, organization_id=branch.id)
    client.send(operations.create_role_assignment(place))
    new_key = models.NewApiKey(name="till", permissions=["orders:refund"])
    till = bearer(client.send(operations.create_api_key(robot.id, new_key)).key)
    foreign = new_tenant(url).client.tokens
    assert foreign

    with shop(url, tenant, tmp_path) as web:
        assert web.get("/me", headers=ada).json()["actor"] is None
        assert code(web.get("/me")) == "unauthorized"
        assert code(web.get("/me", headers=bearer(foreign.access_token))) == "unauthorized"
        assert web.post("/orders", headers=ada, json={"article": "telescope"}).status_code == 201
        assert code(web.post("/orders", headers=ada, json={"article": "sextant"})) == "conflict"
        assert code(web.post("/orders", headers=ada, json={})) == "validation-error"

        assert web.post(f"/branches/{branch.id}/refunds", headers=till).status_code == 201
        assert code(web.post(f"/branches/{other.id}/refunds", headers=till)) == "not-found"
        assert code(web.post("/payouts", headers=till)) == "forbidden"
        # An administrator holds all permissions, and has just logged in.
        assert web.post("/payouts", headers=ada).status_code == 201

        grace = client.send(operations.create_user(new_user()))
        acting = models.NewImpersonation(reason="Ticket 4711", seconds=60)
        as_grace = bearer(client.send(operations.create_impersonation(grace.id, acting)).access_token)
        assert web.get("/me", headers=as_grace).json()["user"] == str(grace.id)
        assert code(web.post("/orders", headers=as_grace, json={"article": "telescope"})) == "forbidden"

        client.logout()
        assert web.get("/me", headers=ada).status_code == 200, "a token is valid until it expires"
        assert code(web.post(f"/branches/{branch.id}/refunds", headers=ada)) == "unauthorized", "the API knows"


@pytest.mark.parametrize("example", ["first_steps.py"])
def test_an_example(example: str, url: str) -> None:
    subprocess.run(
        [sys.executable, str(PACKAGE / "examples" / example)], env={**os.environ, "IAM_URL": url}, check=True
    )
