"""Registers, logs in, creates a user, lists users, and handles a refusal as a typed error."""

import os
import uuid
from typing import TypeVar

from iam_client import AuthenticatedClient, Client
from iam_client.api.authentication import login, register
from iam_client.api.users import create_user, list_users
from iam_client.models import Login, NewUser, Problem, Registration
from iam_client.types import Unset

ADDRESS = os.environ.get("IAM_URL", "http://localhost:8080/api/v1")
PASSWORD = "Passw0rd!"

T = TypeVar("T")


class Refused(Exception):
    """A response that is a problem document (RFC 9457)."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.status} {problem.title}: {problem.detail}")
        self.problem = problem


def given(answer: T | Problem | None) -> T:
    """Returns what the server gives, or raises its refusal."""
    if isinstance(answer, Problem):
        raise Refused(answer)
    assert answer is not None, "a response has a body"
    return answer


def address_of(name: str) -> str:
    """Returns an address that no earlier run has used."""
    return f"{name}.{uuid.uuid4()}@example.com"


stranger = Client(base_url=ADDRESS)
email = address_of("ada")
registration = Registration(email=email, password=PASSWORD, first_name="Ada", last_name="Lovelace")
given(register.sync(client=stranger, body=registration))
tokens = given(login.sync(client=stranger, body=Login(email=email, password=PASSWORD)))
ada = AuthenticatedClient(base_url=ADDRESS, token=tokens.access_token)

# A client that got no answer can repeat the request under the same key. The user is created once.
new = NewUser(email=address_of("grace"), password=PASSWORD, first_name="Grace", last_name="Hopper")
key = str(uuid.uuid4())
grace = given(create_user.sync(client=ada, body=new, idempotency_key=key))
assert given(create_user.sync(client=ada, body=new, idempotency_key=key)).id == grace.id

found = given(list_users.sync(client=ada, search="hopper"))
assert [user.id for user in found.data] == [grace.id]

try:
    given(create_user.sync(client=ada, body=new))
    raise AssertionError("two users have the same e-mail")
except Refused as refused:
    assert refused.problem.status == 409, refused
    print(f"refused: {refused}")

try:
    new.email = "grace"
    given(create_user.sync(client=ada, body=new))
    raise AssertionError("the e-mail is not valid")
except Refused as refused:
    errors = refused.problem.errors
    assert not isinstance(errors, Unset) and [error.field for error in errors] == ["email"], refused
    print(f"refused: {', '.join(f'{error.field} {error.message}' for error in errors)}")
