"""A client of the identity, access and audit service. The README has the first steps."""

from iam_client import models, operations
from iam_client._async_client import AsyncClient
from iam_client._client import Client
from iam_client._exchange import Answer, Retry
from iam_client._operation import Operation
from iam_client.errors import IamError, InvalidResponse, Problem, Unreachable
from iam_client.webhooks import InvalidSignature, verify_webhook

__all__ = [
    "Answer",
    "AsyncClient",
    "Client",
    "IamError",
    "InvalidResponse",
    "InvalidSignature",
    "Operation",
    "Problem",
    "Retry",
    "Unreachable",
    "models",
    "operations",
    "verify_webhook",
]
