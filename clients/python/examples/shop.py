"""A shop that checks the tokens of its callers: its routes are guarded by permissions of the API.

IAM_TENANT=<id of the tenant> uvicorn shop:app --port 8000

A service in production has an audience of its own (`IAM_AUDIENCE` of the server).
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import Depends, FastAPI
from pydantic import BaseModel

from iam_client.fastapi import Caller, Guards, Refusal
from iam_client.tokens import AsyncTokenVerifier

IAM = os.environ.get("IAM_URL", "http://localhost:8080/api/v1")

verifier = AsyncTokenVerifier(
    IAM.removesuffix("/api/v1") + "/.well-known/jwks.json",
    issuer=os.environ.get("IAM_ISSUER", "iam"),
    audience=os.environ.get("IAM_AUDIENCE", "iam"),
    tenant=os.environ["IAM_TENANT"],
)
guards = Guards(verifier, IAM, api_keys=True)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Closes the connections of the guards at the end."""
    yield
    await guards.close()


app = FastAPI(title="Shop", lifespan=lifespan)
guards.install(app)

Authenticated = Annotated[Caller, Depends(guards.authenticated)]
Refunder = Annotated[Caller, Depends(guards.permission("orders:refund", organization="branch"))]

stock = {"telescope": 2}


class Order(BaseModel):
    article: str


@app.get("/me")
async def me(caller: Authenticated) -> dict[str, object]:
    """Shows who calls, and who acts as that user, if another one does."""
    return {"user": caller.user, "actor": caller.claims.actor if caller.claims else None}


@app.post("/orders", status_code=201)
async def order(caller: Authenticated, order: Order) -> dict[str, object]:
    """Everybody with an account may order what is there."""
    if stock.get(order.article, 0) == 0:
        raise Refusal(409, "conflict", "It is sold out.")
    stock[order.article] -= 1
    return {"article": order.article, "user": caller.user}


@app.post("/branches/{branch}/refunds", status_code=201)
async def refund(branch: UUID, caller: Refunder) -> dict[str, object]:
    """Needs the permission in the branch, or above it."""
    return {"branch": branch, "by": caller.user}


payouts = [Depends(guards.permission("payouts:create")), Depends(guards.fresh(timedelta(minutes=5)))]


@app.post("/payouts", dependencies=payouts, status_code=201)
async def payout() -> dict[str, object]:
    """Needs the permission, and then a recent authentication."""
    return {"paid": True}
