"""Registers, logs in, creates a user, lists users, handles a refusal, and follows the events.

IAM_URL=http://localhost:8080/api/v1 python first_steps.py
"""

import os
import uuid

from iam_client import Client, Problem, models, operations

ADDRESS = os.environ.get("IAM_URL", "http://localhost:8080/api/v1")
PASSWORD = "Passw0rd!"


def address_of(name: str) -> str:
    """Returns an address that no earlier run has used."""
    return f"{name}.{uuid.uuid4()}@example.com"


with Client(ADDRESS) as client:
    email = address_of("ada")
    client.register(models.Registration(email=email, password=PASSWORD, first_name="Ada", last_name="Lovelace"))
    client.login(email, PASSWORD)

    # A program that ends before it has the answer repeats the request under the same key. The user is created once.
    new = models.NewUser(email=address_of("grace"), password=PASSWORD, first_name="Grace", last_name="Hopper")
    key = str(uuid.uuid4())
    grace = client.send(operations.create_user(new, idempotency_key=key))
    assert client.send(operations.create_user(new, idempotency_key=key)).id == grace.id

    found = list(client.paginate(operations.list_users(search="hopper")))
    assert [user.id for user in found] == [grace.id]

    try:
        client.send(operations.create_user(new))
        raise AssertionError("two users have the same e-mail")
    except Problem as problem:
        assert problem.code == "conflict", problem
        print(f"refused: {problem}")

    try:
        new.email = "grace"
        client.send(operations.create_user(new))
        raise AssertionError("the e-mail is not valid")
    except Problem as problem:
        assert list(problem.fields) == ["email"], problem
        print(f"refused: {problem.fields}")

    for event in client.events(types=["USER.CREATE"]):
        print(f"event {event.sequence}: {event.type}")
        if event.entry.resource_id == str(grace.id):
            break
