"""Adds to Schemathesis, for scripts/check-api: an administrator, passwords, and a check that no schema can express."""

import itertools
import json
import os
import re
import subprocess
import unicodedata
import uuid

import requests
import schemathesis
from check_answers import kinds
from hypothesis import strategies as st
from schemathesis.generation.meta import StatefulPhaseData

SERVER = os.environ["CHECK_API_SERVER"]
URL = os.environ["CHECK_API_URL"]
PASSWORD = "Passw0rd!"
numbers = itertools.count()


def ask(method, path, body=None, authorization=None):
    headers = {"Authorization": authorization}
    response = requests.request(method, URL + path, json=body, headers=headers, timeout=30)
    response.raise_for_status()
    return response.json()


def person():
    email = f"person-{next(numbers)}@example.com"
    return {"email": email, "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace"}


registered = ask("POST", "/auth/register", person())
tenant = registered["tenant"]["id"]
roles = ask("GET", "/roles", authorization=f"Bearer {registered['accessToken']}")["data"]
member = next(role["id"] for role in roles if role["name"] == "MEMBER")

# The document has no pattern for the rules for passwords, so the generator for this format follows them.
schemathesis.openapi.format("password", st.text("aB3!", max_size=60).map(lambda text: PASSWORD + text))


@schemathesis.auth()
class Administrator:
    """Creates another administrator when a request has logged out, suspended or deleted the last one."""

    def get(self, case, context):
        email = person()["email"]
        command = [SERVER, "user", "create", "--tenant", tenant, "--role", "TENANT_ADMIN", "--email", email]
        names = ["--first-name", "Ada", "--last-name", "Lovelace", "--password-stdin"]
        subprocess.run(command + names, input=PASSWORD + "\n", text=True, check=True, capture_output=True)
        tokens = ask("POST", "/auth/login", {"email": email, "password": PASSWORD, "tenant": tenant})
        return f"Bearer {tokens['accessToken']}"

    def set(self, case, data, context):
        case.headers["Authorization"] = data


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def operation_id(case):
    return case.operation.definition.raw["operationId"]


@schemathesis.hook
def before_call(context, case, kwargs):
    # Nothing happens while a request waits for an event, so each would take up to half a minute.
    if operation_id(case) == "listEvents" and case.query.get("wait") in range(31):
        case.query["wait"] = 0
    if not is_positive(case):
        return
    # Otherwise the server would send events to invented addresses. Nothing listens here.
    if operation_id(case) in ("createWebhook", "updateWebhook") and "url" in case.body:
        case.body["url"] = "http://127.0.0.1:9/hook"
    if operation_id(case) == "applyManifest" and "webhooks" in case.body:
        for number, webhook in enumerate(case.body["webhooks"]):
            webhook["url"] = f"http://127.0.0.1:9/hook/{number}"
    # No identity provider answers here, so a manifest that names one changes nothing.
    if operation_id(case) == "applyManifest" and next(numbers) % 2:
        case.body.pop("identityProviders", None)
    # In the coverage phase Schemathesis believes that a pattern with quotes allows 0.
    if case.headers.get("If-Match") == "0":
        case.headers["If-Match"] = "*"
    # A role that is offered in the whole tenant has no organization, which a stateful run writes into a path.
    if case.path_parameters.get("id") in (None, "None") and "{id}" in case.operation.path:
        case.path_parameters["id"] = str(uuid.uuid4())
    # A replay shows a resource that may have been deleted since. In a stateful run it would look like a lost resource.
    if "Idempotency-Key" in case.headers and isinstance(case.meta.phase.data, StatefulPhaseData):
        case.headers["Idempotency-Key"] = str(next(numbers))
    # Randomly chosen ids never belong together: without this code, no assignment would ever be created.
    if operation_id(case).startswith("createRoleAssignment") and next(numbers) % 2:
        authorization = case.headers.get("Authorization")
        try:
            user = ask("POST", "/users", person(), authorization)["id"]
        except requests.HTTPError:
            return  # The administrator has lost its session or its role. The request itself will show that.
        assignment = {"userId": user, "roleId": member}
        is_single = operation_id(case) == "createRoleAssignment"
        case.body = assignment if is_single else {"assignments": [assignment]}
    # For the same reason, users may ask for a role, and the administrator asks.
    if operation_id(case) in ("createEligibility", "createAccessRequest") and next(numbers) % 2:
        authorization = case.headers.get("Authorization")
        try:
            if operation_id(case) == "createEligibility":
                user = ask("POST", "/users", person(), authorization)["id"]
                case.body = {"roleId": member, "userId": user}
            else:
                user = ask("GET", "/auth/me", authorization=authorization)["user"]["id"]
                eligibility = ask("POST", "/eligibilities", {"roleId": member, "userId": user}, authorization)
                case.body = {"eligibilityId": eligibility["id"], "reason": "A check of the API"}
        except requests.HTTPError:
            return  # As above, or there are enough eligibilities.


# The fields whose values can be wrong although the document allows them.
KNOWN_TO_THE_SERVER = {
    "acceptInvitation": {"password", "token"},
    "addPasskey": {"credential"},
    # Names that refer to nothing, that are not in their form, or that several items have; and a description that differs.
    "applyManifest": {
        *("clientId", "description", "domains", "home", "identityProvider", "issuer", "name", "organization", "parent"),
        *("permissions", "role", "scopes", "serviceAccount", "slug", "types"),
        # An attribute that is defined twice, and one of a type that is not searched or in no token.
        *("inToken", "key", "searchable"),
    },
    "changeEmail": {"currentPassword"},
    "changePassword": {"currentPassword", "newPassword"},
    # A moment before the history begins.
    "check": {"at"},
    "checkAll": {"at"},
    "confirmTotp": {"code"},
    # What the eligibility allows, at a moment to come.
    "createAccessRequest": {"seconds", "startsAt"},
    "createAccessReview": {"dueAt"},
    # The key of another user names its permissions.
    "createApiKey": {"expiresAt", "permissions"},
    "createAuditLog": {"action"},
    # It is an ACTIVE service account.
    "createDirectory": {"serviceAccountId"},
    # What UTS 46 allows is no pattern.
    "createDomain": {"domain"},
    # It names a user or the role of its holders, and is made for a time to come.
    "createEligibility": {"expiresAt", "heldRoleId", "userId"},
    # The discovery document of the issuer is read. One scope is `openid`, and no domain or role occurs twice.
    "createIdentityProvider": {"clientId", "domainIds", "issuer", "roleId", "scopes", "slug"},
    # Two items with the same role are refused.
    "createInvitation": {"expiresAt", "roleId"},
    # The keys of attributes have a form, and the tenant defines the types of their values.
    "createOrganization": {"attributes"},
    "createRole": {"permissions"},
    "createRoleAssignment": {"expiresAt"},
    "createRoleAssignments": {"expiresAt"},
    # Another system's identifier has no control character, and no blank at an end.
    "createServiceAccount": {"attributes"},
    "createUser": {"attributes", "externalId", "password"},
    # What the questions leave out must be there for all of them.
    "evaluateAll": {"action", "resource", "subject"},
    "exportAuditLogs": {"cursor"},
    # A token is sent alone, or a flow with a code.
    "finishEmailLogin": {"code", "flow", "token"},
    # Codes, tokens and states come from a login at a provider.
    "finishFederation": {"code"},
    "logOutByFederation": {"logout_token"},
    "returnFromFederation": {"state"},
    # The operator lists the addresses. A challenge is base64url.
    "startFederation": {"codeChallenge", "providerId", "redirectUri"},
    "startIdentity": {"codeChallenge", "providerId", "redirectUri", "stepUp"},
    # One proof is sent, not several or none.
    "finishLogin": {"code", "credential", "recoveryCode"},
    "listAuditLogs": {"cursor"},
    # Schemathesis believes that every text can be an e-mail address of a parameter.
    # Not beyond the log.
    "listEvents": {"Last-Event-ID", "after"},
    "listInvitations": {"email"},
    # The tenant says which attributes can be searched.
    "listOrganizations": {"attribute"},
    "listPermissionHolders": {"at"},
    "listRoleAssignments": {"asOf"},
    "listUserRoles": {"asOf"},
    "listUsers": {"attribute"},
    "logInByPasskey": {"credential"},
    "lookUpInvitation": {"token"},
    "proveAuditConsistency": {"from", "to"},
    "proveAuditLog": {"treeSize"},
    "register": {"password"},
    "replayWebhook": {"fromSequence"},
    "resetPassword": {"newPassword", "token"},
    "searchActions": {"token"},
    "searchResources": {"token"},
    "searchSubjects": {"token"},
    # No role occurs twice in a place.
    "setDirectoryGroupGrants": {"roleId"},
    "stepUp": {"code", "credential", "password"},
    "updateEligibility": {"expiresAt"},
    "updateIdentityProvider": {"clientId", "domainIds", "issuer", "roleId", "scopes", "slug"},
    "updateMe": {"attributes"},
    "updateOrganization": {"attributes"},
    "updateRole": {"permissions"},
    # A person has no `name`, and a service account no other name, no e-mail and no external identifier.
    "updateUser": {"attributes", "email", "externalId", "firstName", "lastName", "name"},
    # As in a manifest.
    "updateTenant": {"inToken", "key", "searchable"},
    "updateRoleAssignment": {"expiresAt"},
    "verifyEmail": {"token"},
}


# Texts that are trimmed, which the document does not say, have a visible character, and none that is a control character,
# ends a line or changes the direction.
TEXTS = {"firstName", "lastName", "tenantName", "name", "description", "reason", "ticket"}


def is_no_text(text):
    categories = [unicodedata.category(character) for character in text]
    is_visible = any(category[0] in "LNPS" for category in categories)
    directs = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    has_direction = any(unicodedata.bidirectional(character) in directs for character in text)
    return not is_visible or has_direction or not {"Cc", "Zl", "Zp"}.isdisjoint(categories)


@schemathesis.check
def nothing_else_is_refused(context, response, case):
    """A 400 for a request that the document allows comes from a rule (`validation`) or a field of the lists above."""
    if not is_positive(case) or response.status_code != 400:
        return
    problem = response.json()
    if problem["type"].endswith("/validation"):
        return
    # assignments[3].expiresAt is expiresAt, permissions[0] is permissions, attributes.nickname is attributes.
    names = [re.sub(r"\[\d+\]", "", error["field"]) for error in problem["errors"]]
    fields = {"attributes" if name.startswith("attributes.") else name.split(".")[-1] for name in names}
    fields -= {name for name in TEXTS & fields if name in case.body and is_no_text(case.body[name])}
    others = fields - KNOWN_TO_THE_SERVER.get(operation_id(case), set())
    assert not others, f"{operation_id(case)} refuses {sorted(others)}, which the document allows"


with open(os.environ["CHECK_API_DOCUMENT"]) as file:
    document = json.load(file)


@schemathesis.check
def every_answer_is_listed(context, response, case):
    """The operation lists the status, and the kind of the problem if it is an error."""
    if case.method.upper() != case.operation.method.upper():
        return  # no operation of the document
    responses = case.operation.definition.raw["responses"]
    status = str(response.status_code)
    kind = "-" if response.status_code < 400 else response.json()["type"].rsplit("/", 1)[1]
    listed = [kinds(document, responses[name]) for name in (status, "default") if name in responses]
    assert kind in itertools.chain(*listed), f"{operation_id(case)} does not list {status} {kind}"
