"""Checks that the tests have received every answer that the OpenAPI document lists.

    check_answers.py FILE

FILE has a line for each answer that a test received: method, path, status, and the kind of the problem or "-". That the
document lists every answer is checked by each test.
"""

import json
import sys

DOCUMENT = "docs/openapi.json"

# Answers that only a race gives, so that a run may not have them.
RACED = {
    # The first request is still running under the same Idempotency-Key. A test of one operation forces this; the code is
    # the same for all operations with the header.
    "POST /audit-logs 409 conflict",
    "POST /auth/register 409 conflict",
    "POST /api-keys/{id}/rotate 409 conflict",
    "POST /webhooks/{id}/rotate-secret 409 conflict",
    # The user is suspended or deleted while the current password or the proof is verified.
    "POST /auth/password 403 forbidden",
    "POST /auth/password 404 not-found",
    "POST /auth/email 403 forbidden",
    "POST /auth/email 404 not-found",
    "POST /auth/step-up 403 forbidden",
    "POST /auth/step-up 404 not-found",
    # Not a race: the review would have more than 10,000 items. A test of the core has so many.
    "POST /access-reviews 400 validation",
}


def kinds(document, response):
    """Returns the kinds of problems of which a response has an example, or "-" if it is no problem."""
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    problem = response.get("content", {}).get("application/problem+json", {})
    return list(problem.get("examples", ["-"]))


def documented(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if not isinstance(operation, dict):
                continue
            for status, response in operation["responses"].items():
                if status == "default":
                    continue
                for kind in kinds(document, response):
                    yield f"{method.upper()} {path} {status} {kind}"


def main():
    with open(DOCUMENT) as file:
        document = json.load(file)
    with open(sys.argv[1]) as file:
        received = {line.strip() for line in file}
    missing = sorted(set(documented(document)) - received - RACED)
    if missing:
        sys.exit(f"{DOCUMENT} lists answers that no test has received:\n" + "\n".join(missing))


if __name__ == "__main__":
    main()
