"""The tests of this directory need a server: IAM_URL is the address of its API. They change it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from iam_client import Client, models

PASSWORD = "Passw0rd!"
PACKAGE = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["IAM_URL"]


@pytest.fixture(scope="session")
def jwks_url(url: str) -> str:
    return url.removesuffix("/api/v1") + "/.well-known/jwks.json"


@dataclass
class Tenant:
    """A tenant with its administrator, who is logged in."""

    client: Client
    email: str
    id: uuid.UUID


def new_user(name: str = "grace") -> models.NewUser:
    email = f"{name}.{uuid.uuid4()}@example.com"
    return models.NewUser(email=email, password=PASSWORD, first_name=name.title(), last_name="Hopper")


def new_tenant(url: str) -> Tenant:
    client, email = Client(url), f"ada.{uuid.uuid4()}@example.com"
    registration = models.Registration(email=email, password=PASSWORD, first_name="Ada", last_name="Lovelace")
    return Tenant(client, email, client.register(registration).tenant.id)


@pytest.fixture
def tenant(url: str) -> Iterator[Tenant]:
    tenant = new_tenant(url)
    with tenant.client:
        yield tenant
