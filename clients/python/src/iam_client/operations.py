"""The operations of the API. Written by generate.py from docs/openapi.json: do not edit.

Each function returns a request for `Client.send` or `AsyncClient.send`. A function whose name begins with `preview_`
asks what the operation would change, and changes nothing.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from iam_client import models
from iam_client._operation import Operation, path, query

Id = UUID | str


def list_access_requests(
    *,
    page: int | None = None,
    limit: int | None = None,
    status: str | None = None,
    user_id: Id | None = None,
    role_id: Id | None = None,
    organization_id: Id | None = None,
    start_date: str | datetime | None = None,
    end_date: str | datetime | None = None,
    to_decide: bool | None = None,
) -> Operation[models.Page[models.ListedAccessRequest]]:
    """List access requests."""
    return Operation(
        "GET",
        "/access-requests",
        models.Page[models.ListedAccessRequest],
        query=query({
            "page": page, "limit": limit, "status": status, "userId": user_id, "roleId": role_id, "organizationId":
            organization_id, "startDate": start_date, "endDate": end_date, "toDecide": to_decide,
        }),
    )


def create_access_request(
    body: models.NewAccessRequest,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.AccessRequest]:
    """Ask for a role."""
    return Operation(
        "POST",
        "/access-requests",
        models.AccessRequest,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def preview_create_access_request(body: models.NewAccessRequest) -> Operation[models.Preview]:
    """Asks what this would change: ask for a role."""
    return Operation("POST", "/access-requests", models.Preview, query=query({"preview": True}), body=body)


def get_access_request(id: Id) -> Operation[models.ListedAccessRequest]:
    """Get an access request."""
    return Operation("GET", path("/access-requests/{}", id), models.ListedAccessRequest)


def approve_access_request(
    id: Id,
    body: models.NewAccessDecision | None = None,
    *,
    if_match: str | None = None,
) -> Operation[models.ListedAccessRequest]:
    """Approve an access request."""
    return Operation(
        "POST",
        path("/access-requests/{}/approve", id),
        models.ListedAccessRequest,
        body=body,
        if_match=if_match,
    )


def cancel_access_request(
    id: Id,
    body: models.AccessRequestClosing | None = None,
) -> Operation[models.ListedAccessRequest]:
    """Cancel an access request."""
    return Operation("POST", path("/access-requests/{}/cancel", id), models.ListedAccessRequest, body=body)


def deny_access_request(
    id: Id,
    body: models.NewAccessDecision | None = None,
    *,
    if_match: str | None = None,
) -> Operation[models.ListedAccessRequest]:
    """Deny an access request."""
    return Operation(
        "POST",
        path("/access-requests/{}/deny", id),
        models.ListedAccessRequest,
        body=body,
        if_match=if_match,
    )


def end_access_request(
    id: Id,
    body: models.AccessRequestClosing | None = None,
) -> Operation[models.ListedAccessRequest]:
    """End what an access request gives."""
    return Operation("POST", path("/access-requests/{}/end", id), models.ListedAccessRequest, body=body)


def list_access_reviews(
    *,
    page: int | None = None,
    limit: int | None = None,
    status: str | None = None,
) -> Operation[models.Page[models.AccessReview]]:
    """List access reviews."""
    return Operation(
        "GET",
        "/access-reviews",
        models.Page[models.AccessReview],
        query=query({"page": page, "limit": limit, "status": status}),
    )


def create_access_review(
    body: models.NewAccessReview,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.AccessReview]:
    """Begin an access review."""
    return Operation(
        "POST",
        "/access-reviews",
        models.AccessReview,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def get_access_review(id: Id) -> Operation[models.AccessReview]:
    """Get an access review."""
    return Operation("GET", path("/access-reviews/{}", id), models.AccessReview)


def cancel_access_review(id: Id) -> Operation[models.AccessReview]:
    """Cancel an access review."""
    return Operation("POST", path("/access-reviews/{}/cancel", id), models.AccessReview)


def complete_access_review(id: Id) -> Operation[models.AccessReview]:
    """Complete an access review."""
    return Operation("POST", path("/access-reviews/{}/complete", id), models.AccessReview)


def list_access_review_items(
    id: Id,
    *,
    page: int | None = None,
    limit: int | None = None,
    decision: str | None = None,
) -> Operation[models.Page[models.AccessReviewItem]]:
    """List the items of an access review."""
    return Operation(
        "GET",
        path("/access-reviews/{}/items", id),
        models.Page[models.AccessReviewItem],
        query=query({"page": page, "limit": limit, "decision": decision}),
    )


def decide_access_review_item(
    id: Id,
    item_id: Id,
    body: models.NewAccessReviewDecision,
) -> Operation[models.AccessReviewItem]:
    """Decide about an item of an access review."""
    return Operation("PATCH", path("/access-reviews/{}/items/{}", id, item_id), models.AccessReviewItem, body=body)


def evaluate(body: models.AuthzenEvaluation) -> Operation[models.AuthzenDecision]:
    """Evaluate access."""
    return Operation("POST", "/access/v1/evaluation", models.AuthzenDecision, body=body)


def evaluate_all(body: models.AuthzenEvaluations) -> Operation[models.AuthzenAnswer]:
    """Evaluate access several times."""
    return Operation("POST", "/access/v1/evaluations", models.AuthzenAnswer, body=body)


def search_actions(body: models.AuthzenActionSearch) -> Operation[models.AuthzenResults[models.AuthzenFoundAction]]:
    """Search actions."""
    return Operation("POST", "/access/v1/search/action", models.AuthzenResults[models.AuthzenFoundAction], body=body)


def search_resources(body: models.AuthzenResourceSearch) -> Operation[models.AuthzenResults[models.AuthzenEntity]]:
    """Search resources."""
    return Operation("POST", "/access/v1/search/resource", models.AuthzenResults[models.AuthzenEntity], body=body)


def search_subjects(body: models.AuthzenSubjectSearch) -> Operation[models.AuthzenResults[models.AuthzenEntity]]:
    """Search subjects."""
    return Operation("POST", "/access/v1/search/subject", models.AuthzenResults[models.AuthzenEntity], body=body)


def get_api_key(id: Id) -> Operation[models.ApiKey]:
    """Get an API key."""
    return Operation("GET", path("/api-keys/{}", id), models.ApiKey)


def delete_api_key(id: Id) -> Operation[None]:
    """Revoke an API key."""
    return Operation("DELETE", path("/api-keys/{}", id), None)


def update_api_key(id: Id, body: models.ApiKeyPatch, *, if_match: str | None = None) -> Operation[models.ApiKey]:
    """Change an API key."""
    return Operation("PATCH", path("/api-keys/{}", id), models.ApiKey, body=body, if_match=if_match)


def rotate_api_key(
    id: Id,
    body: models.ApiKeyRotation,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.IssuedApiKey]:
    """Rotate an API key."""
    return Operation(
        "POST",
        path("/api-keys/{}/rotate", id),
        models.IssuedApiKey,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def list_audit_logs(
    *,
    resource_type: str | None = None,
    resource_id: str | None = None,
    action: str | None = None,
    user_id: Id | None = None,
    organization_id: Id | None = None,
    correlation_id: str | None = None,
    start_date: str | datetime | None = None,
    end_date: str | datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> Operation[models.AuditLog]:
    """List audit entries."""
    return Operation(
        "GET",
        "/audit-logs",
        models.AuditLog,
        query=query({
            "resourceType": resource_type, "resourceId": resource_id, "action": action, "userId": user_id,
            "organizationId": organization_id, "correlationId": correlation_id, "startDate": start_date, "endDate":
            end_date, "cursor": cursor, "limit": limit,
        }),
    )


def create_audit_log(body: models.NewAuditEvent, *, idempotency_key: str | None = None) -> Operation[models.AuditEntry]:
    """Record an event."""
    return Operation("POST", "/audit-logs", models.AuditEntry, body=body, once=True, idempotency_key=idempotency_key)


def list_audit_actions() -> Operation[list[str]]:
    """List the actions."""
    return Operation("GET", "/audit-logs/actions", list[str])


def list_audit_catalogue() -> Operation[models.Listed[models.Recorded]]:
    """List all that the service records."""
    return Operation("GET", "/audit-logs/catalogue", models.Listed[models.Recorded])


def get_audit_checkpoint() -> Operation[models.AuditCheckpoint]:
    """Get the present checkpoint."""
    return Operation("GET", "/audit-logs/checkpoint", models.AuditCheckpoint)


def prove_audit_consistency(*, from_: int, to: int | None = None) -> Operation[models.AuditConsistencyProof]:
    """Prove that the log only grew."""
    return Operation(
        "GET",
        "/audit-logs/consistency-proof",
        models.AuditConsistencyProof,
        query=query({"from": from_, "to": to}),
    )


def erase_from_audit_logs(body: models.NewErasure) -> Operation[models.Erasure]:
    """Erase a person from the audit log."""
    return Operation("POST", "/audit-logs/erasures", models.Erasure, body=body)


def list_audit_resource_types() -> Operation[list[str]]:
    """List the resource types."""
    return Operation("GET", "/audit-logs/resource-types", list[str])


def get_audit_retention() -> Operation[models.AuditRetention]:
    """Get the retention."""
    return Operation("GET", "/audit-logs/retention", models.AuditRetention)


def set_audit_retention(body: models.NewAuditRetention) -> Operation[models.AuditRetention]:
    """Set the retention."""
    return Operation("PUT", "/audit-logs/retention", models.AuditRetention, body=body)


def apply_audit_retention() -> Operation[models.RemovedEntries]:
    """Apply the retention."""
    return Operation("POST", "/audit-logs/retention/apply", models.RemovedEntries)


def get_audit_log(id: Id) -> Operation[models.AuditEntry]:
    """Get an audit entry."""
    return Operation("GET", path("/audit-logs/{}", id), models.AuditEntry)


def prove_audit_log(id: Id, *, tree_size: int | None = None) -> Operation[models.AuditInclusionProof]:
    """Prove that an entry is in the log."""
    return Operation(
        "GET",
        path("/audit-logs/{}/proof", id),
        models.AuditInclusionProof,
        query=query({"treeSize": tree_size}),
    )


def list_own_eligibilities() -> Operation[models.Listed[models.ListedEligibility]]:
    """List one's own eligibilities."""
    return Operation("GET", "/auth/eligibilities", models.Listed[models.ListedEligibility])


def change_email(body: models.EmailChange) -> Operation[None]:
    """Change the caller's own address."""
    return Operation("POST", "/auth/email", None, body=body)


def start_email_login(body: models.EmailLogin) -> Operation[models.StartedEmailLogin]:
    """Send a link and a code with which a person can log in."""
    return Operation("POST", "/auth/email-login", models.StartedEmailLogin, body=body, public=True)


def finish_email_login(body: models.EmailLoginFinish) -> Operation[models.LoggedIn]:
    """Log in by e-mail."""
    return Operation("POST", "/auth/email-login/finish", models.LoggedIn, body=body, public=True)


def request_email_verification() -> Operation[None]:
    """Send a link that verifies the caller's address."""
    return Operation("POST", "/auth/email/verification", None)


def verify_email(body: models.EmailVerification) -> Operation[None]:
    """Verify an address."""
    return Operation("POST", "/auth/email/verify", None, body=body, public=True)


def list_factors() -> Operation[models.Factors]:
    """List the caller's second factors."""
    return Operation("GET", "/auth/factors", models.Factors)


def add_passkey(body: models.NewPasskey, *, idempotency_key: str | None = None) -> Operation[models.RegisteredPasskey]:
    """Register a passkey."""
    return Operation(
        "POST",
        "/auth/factors/passkeys",
        models.RegisteredPasskey,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def get_passkey_registration_options() -> Operation[models.PasskeyOptions]:
    """Get the options to register a passkey."""
    return Operation("POST", "/auth/factors/passkeys/options", models.PasskeyOptions)


def issue_recovery_codes(*, idempotency_key: str | None = None) -> Operation[models.RecoveryCodes]:
    """Get new recovery codes."""
    return Operation(
        "POST",
        "/auth/factors/recovery-codes",
        models.RecoveryCodes,
        once=True,
        idempotency_key=idempotency_key,
    )


def add_totp(body: models.NewFactor, *, idempotency_key: str | None = None) -> Operation[models.TotpSetup]:
    """Set up an authenticator app."""
    return Operation(
        "POST",
        "/auth/factors/totp",
        models.TotpSetup,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def confirm_totp(
    id: Id,
    body: models.TotpConfirmation,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.ConfirmedFactor]:
    """Confirm an authenticator app."""
    return Operation(
        "POST",
        path("/auth/factors/totp/{}/confirm", id),
        models.ConfirmedFactor,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def delete_factor(id: Id) -> Operation[None]:
    """Remove a factor."""
    return Operation("DELETE", path("/auth/factors/{}", id), None)


def update_factor(id: Id, body: models.FactorPatch) -> Operation[models.Factor]:
    """Rename a factor."""
    return Operation("PATCH", path("/auth/factors/{}", id), models.Factor, body=body)


def discover_federation(body: models.Discovery) -> Operation[models.Discovered]:
    """Find the providers for an address."""
    return Operation("POST", "/auth/federation/discover", models.Discovered, body=body, public=True)


def finish_federation(body: models.FederationFinish) -> Operation[models.LoggedIn | None]:
    """Finish a login by a provider."""
    return Operation("POST", "/auth/federation/finish", models.LoggedIn | None, body=body, public=True)


def list_federation_providers(*, tenant: str) -> Operation[models.Listed[models.ProviderSummary]]:
    """List the providers of a tenant."""
    return Operation(
        "GET",
        "/auth/federation/providers",
        models.Listed[models.ProviderSummary],
        query=query({"tenant": tenant}),
        public=True,
    )


def start_federation(body: models.FederationStart) -> Operation[models.StartedFederation]:
    """Begin a login by a provider."""
    return Operation("POST", "/auth/federation/start", models.StartedFederation, body=body, public=True)


def start_identity(body: models.FederationStart) -> Operation[models.StartedFederation]:
    """Begin to link an account at a provider."""
    return Operation("POST", "/auth/identities/start", models.StartedFederation, body=body)


def introspect(body: models.IntrospectionRequest) -> Operation[models.Introspection]:
    """Introspect a token."""
    return Operation("POST", "/auth/introspect", models.Introspection, body=body)


def login(body: models.Login) -> Operation[models.LoggedIn]:
    """Log in."""
    return Operation("POST", "/auth/login", models.LoggedIn, body=body, public=True)


def finish_login(body: models.SecondFactor) -> Operation[models.LoggedIn]:
    """Finish a login by a second factor."""
    return Operation("POST", "/auth/login/second-factor", models.LoggedIn, body=body, public=True)


def get_second_factor_options(body: models.LoginChallenge) -> Operation[models.PasskeyOptions]:
    """Get the options to finish a login by a passkey."""
    return Operation("POST", "/auth/login/second-factor/options", models.PasskeyOptions, body=body, public=True)


def logout() -> Operation[None]:
    """Log out."""
    return Operation("POST", "/auth/logout", None)


def logout_all() -> Operation[None]:
    """Log out everywhere."""
    return Operation("POST", "/auth/logout-all", None)


def get_me() -> Operation[models.Me]:
    """Get the caller."""
    return Operation("GET", "/auth/me", models.Me)


def update_me(body: models.MePatch, *, if_match: str | None = None) -> Operation[models.OwnAttributes]:
    """Change the caller."""
    return Operation("PATCH", "/auth/me", models.OwnAttributes, body=body, if_match=if_match)


def log_in_by_passkey(body: models.PasskeyLogin) -> Operation[models.LoggedIn]:
    """Log in by a passkey."""
    return Operation("POST", "/auth/passkeys/login", models.LoggedIn, body=body, public=True)


def get_passkey_options(body: models.PasskeyLoginOptions) -> Operation[models.PasskeyOptions]:
    """Get the options to log in by a passkey."""
    return Operation("POST", "/auth/passkeys/options", models.PasskeyOptions, body=body, public=True)


def change_password(body: models.PasswordChange) -> Operation[None]:
    """Change the caller's own password."""
    return Operation("POST", "/auth/password", None, body=body)


def forgot_password(body: models.ForgottenPassword) -> Operation[None]:
    """Send a link with which a password can be reset."""
    return Operation("POST", "/auth/password/forgot", None, body=body, public=True)


def reset_password(body: models.PasswordReset) -> Operation[None]:
    """Reset a password."""
    return Operation("POST", "/auth/password/reset", None, body=body, public=True)


def refresh(body: models.Refresh) -> Operation[models.Tokens]:
    """Exchange a refresh token."""
    return Operation("POST", "/auth/refresh", models.Tokens, body=body, public=True)


def register(body: models.Registration, *, idempotency_key: str | None = None) -> Operation[models.Registered]:
    """Register a tenant."""
    return Operation(
        "POST",
        "/auth/register",
        models.Registered,
        body=body,
        public=True,
        once=True,
        idempotency_key=idempotency_key,
    )


def step_up(body: models.StepUp) -> Operation[None]:
    """Authenticate again."""
    return Operation("POST", "/auth/step-up", None, body=body)


def get_step_up_options() -> Operation[models.PasskeyOptions]:
    """Get the options to authenticate again by a passkey."""
    return Operation("POST", "/auth/step-up/options", models.PasskeyOptions)


def check(body: models.PermissionCheck) -> Operation[models.Decision]:
    """Check a permission."""
    return Operation("POST", "/authz/check", models.Decision, body=body)


def check_all(body: models.PermissionChecks) -> Operation[models.Listed[models.Decision]]:
    """Check several permissions."""
    return Operation("POST", "/authz/check/bulk", models.Listed[models.Decision], body=body)


def list_permission_holders(
    *,
    page: int | None = None,
    limit: int | None = None,
    permission: str,
    organization_id: Id | None = None,
    at: datetime | None = None,
) -> Operation[models.Page[models.PermissionHolder]]:
    """List who holds a permission."""
    return Operation(
        "GET",
        "/authz/who",
        models.Page[models.PermissionHolder],
        query=query({
            "page": page, "limit": limit, "permission": permission, "organizationId": organization_id, "at": at,
        }),
    )


def list_directories() -> Operation[models.Listed[models.Directory]]:
    """List the directories."""
    return Operation("GET", "/directories", models.Listed[models.Directory])


def create_directory(body: models.NewDirectory, *, idempotency_key: str | None = None) -> Operation[models.Directory]:
    """Make a directory."""
    return Operation("POST", "/directories", models.Directory, body=body, once=True, idempotency_key=idempotency_key)


def get_directory(id: Id) -> Operation[models.Directory]:
    """Get a directory."""
    return Operation("GET", path("/directories/{}", id), models.Directory)


def delete_directory(id: Id, *, users: str, if_match: str | None = None) -> Operation[None]:
    """Remove a directory."""
    return Operation("DELETE", path("/directories/{}", id), None, query=query({"users": users}), if_match=if_match)


def update_directory(
    id: Id,
    body: models.DirectoryPatch,
    *,
    if_match: str | None = None,
) -> Operation[models.UpdatedDirectory]:
    """Change a directory."""
    return Operation("PATCH", path("/directories/{}", id), models.UpdatedDirectory, body=body, if_match=if_match)


def list_directory_groups(
    id: Id,
    *,
    page: int | None = None,
    limit: int | None = None,
    search: str | None = None,
) -> Operation[models.Page[models.DirectoryGroup]]:
    """List the groups of a directory."""
    return Operation(
        "GET",
        path("/directories/{}/groups", id),
        models.Page[models.DirectoryGroup],
        query=query({"page": page, "limit": limit, "search": search}),
    )


def get_directory_group(id: Id, group_id: Id) -> Operation[models.DirectoryGroup]:
    """Get a group of a directory."""
    return Operation("GET", path("/directories/{}/groups/{}", id, group_id), models.DirectoryGroup)


def set_directory_group_grants(
    id: Id,
    group_id: Id,
    body: models.NewDirectoryGroupGrants,
    *,
    if_match: str | None = None,
) -> Operation[models.DirectoryGroup]:
    """Map a group of a directory to roles."""
    return Operation(
        "PUT",
        path("/directories/{}/groups/{}/grants", id, group_id),
        models.DirectoryGroup,
        body=body,
        if_match=if_match,
    )


def preview_set_directory_group_grants(
    id: Id,
    group_id: Id,
    body: models.NewDirectoryGroupGrants,
    *,
    if_match: str | None = None,
) -> Operation[models.Preview]:
    """Asks what this would change: map a group of a directory to roles."""
    return Operation(
        "PUT",
        path("/directories/{}/groups/{}/grants", id, group_id),
        models.Preview,
        query=query({"preview": True}),
        body=body,
        if_match=if_match,
    )


def list_domains() -> Operation[models.Listed[models.Domain]]:
    """List the domains."""
    return Operation("GET", "/domains", models.Listed[models.Domain])


def create_domain(body: models.NewDomain, *, idempotency_key: str | None = None) -> Operation[models.Domain]:
    """Add a domain."""
    return Operation("POST", "/domains", models.Domain, body=body, once=True, idempotency_key=idempotency_key)


def get_domain(id: Id) -> Operation[models.Domain]:
    """Get a domain."""
    return Operation("GET", path("/domains/{}", id), models.Domain)


def delete_domain(id: Id) -> Operation[None]:
    """Remove a domain."""
    return Operation("DELETE", path("/domains/{}", id), None)


def verify_domain(id: Id) -> Operation[models.Domain]:
    """Verify a domain."""
    return Operation("POST", path("/domains/{}/verify", id), models.Domain)


def list_eligibilities(
    *,
    page: int | None = None,
    limit: int | None = None,
) -> Operation[models.Page[models.ListedEligibility]]:
    """List eligibilities."""
    return Operation(
        "GET",
        "/eligibilities",
        models.Page[models.ListedEligibility],
        query=query({"page": page, "limit": limit}),
    )


def create_eligibility(
    body: models.NewEligibility,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.Eligibility]:
    """Let users ask for a role."""
    return Operation(
        "POST",
        "/eligibilities",
        models.Eligibility,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def get_eligibility(id: Id) -> Operation[models.ListedEligibility]:
    """Get an eligibility."""
    return Operation("GET", path("/eligibilities/{}", id), models.ListedEligibility)


def delete_eligibility(id: Id, *, if_match: str | None = None) -> Operation[None]:
    """Remove an eligibility."""
    return Operation("DELETE", path("/eligibilities/{}", id), None, if_match=if_match)


def update_eligibility(
    id: Id,
    body: models.EligibilityPatch,
    *,
    if_match: str | None = None,
) -> Operation[models.Eligibility]:
    """Change an eligibility."""
    return Operation("PATCH", path("/eligibilities/{}", id), models.Eligibility, body=body, if_match=if_match)


def list_events(
    *,
    after: int | None = None,
    types: str | None = None,
    limit: int | None = None,
    wait: int | None = None,
) -> Operation[models.Events]:
    """Get events."""
    return Operation(
        "GET",
        "/events",
        models.Events,
        query=query({"after": after, "types": types, "limit": limit, "wait": wait}),
    )


def get_health() -> Operation[models.Health]:
    """Get the service's health."""
    return Operation("GET", "/health", models.Health, public=True)


def get_liveness() -> Operation[models.Live]:
    """Check whether the process is alive."""
    return Operation("GET", "/health/live", models.Live, public=True)


def get_readiness() -> Operation[models.Ready]:
    """Check whether the service is ready."""
    return Operation("GET", "/health/ready", models.Ready, public=True)


def delete_identity(id: Id) -> Operation[None]:
    """Remove an identity."""
    return Operation("DELETE", path("/identities/{}", id), None)


def list_identity_providers() -> Operation[models.Listed[models.IdentityProvider]]:
    """List the identity providers."""
    return Operation("GET", "/identity-providers", models.Listed[models.IdentityProvider])


def create_identity_provider(
    body: models.NewIdentityProvider,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.IdentityProvider]:
    """Make an identity provider."""
    return Operation(
        "POST",
        "/identity-providers",
        models.IdentityProvider,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def get_identity_provider(id: Id) -> Operation[models.IdentityProvider]:
    """Get an identity provider."""
    return Operation("GET", path("/identity-providers/{}", id), models.IdentityProvider)


def delete_identity_provider(id: Id, *, if_match: str | None = None) -> Operation[None]:
    """Remove an identity provider."""
    return Operation("DELETE", path("/identity-providers/{}", id), None, if_match=if_match)


def update_identity_provider(
    id: Id,
    body: models.IdentityProviderPatch,
    *,
    if_match: str | None = None,
) -> Operation[models.IdentityProvider]:
    """Change an identity provider."""
    return Operation("PATCH", path("/identity-providers/{}", id), models.IdentityProvider, body=body, if_match=if_match)


def list_invitations(
    *,
    page: int | None = None,
    limit: int | None = None,
    status: str | None = None,
    email: str | None = None,
) -> Operation[models.Page[models.Invitation]]:
    """List invitations."""
    return Operation(
        "GET",
        "/invitations",
        models.Page[models.Invitation],
        query=query({"page": page, "limit": limit, "status": status, "email": email}),
    )


def create_invitation(
    body: models.NewInvitation,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.Invitation]:
    """Invite a person."""
    return Operation("POST", "/invitations", models.Invitation, body=body, once=True, idempotency_key=idempotency_key)


def accept_invitation(
    body: models.InvitationAcceptance,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.Registered]:
    """Accept an invitation."""
    return Operation(
        "POST",
        "/invitations/accept",
        models.Registered,
        body=body,
        public=True,
        once=True,
        idempotency_key=idempotency_key,
    )


def look_up_invitation(body: models.InvitationToken) -> Operation[models.InvitationDetails]:
    """Look up an invitation."""
    return Operation("POST", "/invitations/lookup", models.InvitationDetails, body=body, public=True)


def get_invitation(id: Id) -> Operation[models.Invitation]:
    """Get an invitation."""
    return Operation("GET", path("/invitations/{}", id), models.Invitation)


def delete_invitation(id: Id) -> Operation[None]:
    """Revoke an invitation."""
    return Operation("DELETE", path("/invitations/{}", id), None)


def resend_invitation(id: Id) -> Operation[None]:
    """Send an invitation again."""
    return Operation("POST", path("/invitations/{}/resend", id), None)


def list_legal_holds(*, page: int | None = None, limit: int | None = None) -> Operation[models.Page[models.LegalHold]]:
    """List legal holds."""
    return Operation("GET", "/legal-holds", models.Page[models.LegalHold], query=query({"page": page, "limit": limit}))


def create_legal_hold(body: models.NewLegalHold, *, idempotency_key: str | None = None) -> Operation[models.LegalHold]:
    """Place a legal hold."""
    return Operation("POST", "/legal-holds", models.LegalHold, body=body, once=True, idempotency_key=idempotency_key)


def get_legal_hold(id: Id) -> Operation[models.LegalHold]:
    """Get a legal hold."""
    return Operation("GET", path("/legal-holds/{}", id), models.LegalHold)


def release_legal_hold(id: Id, body: models.LegalHoldRelease) -> Operation[None]:
    """Release a legal hold."""
    return Operation("POST", path("/legal-holds/{}/release", id), None, body=body)


def list_organizations(
    *,
    page: int | None = None,
    limit: int | None = None,
    parent_id: str | None = None,
    root: bool | None = None,
    status: str | None = None,
    search: str | None = None,
    attribute: str | None = None,
    sort_by: str | None = None,
    sort_order: str | None = None,
) -> Operation[models.Page[models.Organization]]:
    """List organizations."""
    return Operation(
        "GET",
        "/organizations",
        models.Page[models.Organization],
        query=query({
            "page": page, "limit": limit, "parentId": parent_id, "root": root, "status": status, "search": search,
            "attribute": attribute, "sortBy": sort_by, "sortOrder": sort_order,
        }),
    )


def create_organization(
    body: models.NewOrganization,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.Organization]:
    """Create an organization."""
    return Operation(
        "POST",
        "/organizations",
        models.Organization,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def preview_create_organization(body: models.NewOrganization) -> Operation[models.Preview]:
    """Asks what this would change: create an organization."""
    return Operation("POST", "/organizations", models.Preview, query=query({"preview": True}), body=body)


def get_organization(id: Id) -> Operation[models.Organization]:
    """Get an organization."""
    return Operation("GET", path("/organizations/{}", id), models.Organization)


def delete_organization(id: Id, *, if_match: str | None = None) -> Operation[None]:
    """Delete an organization."""
    return Operation("DELETE", path("/organizations/{}", id), None, if_match=if_match)


def preview_delete_organization(id: Id, *, if_match: str | None = None) -> Operation[models.Preview]:
    """Asks what this would change: delete an organization."""
    return Operation(
        "DELETE",
        path("/organizations/{}", id),
        models.Preview,
        query=query({"preview": True}),
        if_match=if_match,
    )


def update_organization(
    id: Id,
    body: models.OrganizationPatch,
    *,
    if_match: str | None = None,
) -> Operation[models.Organization]:
    """Change or move an organization."""
    return Operation("PATCH", path("/organizations/{}", id), models.Organization, body=body, if_match=if_match)


def preview_update_organization(
    id: Id,
    body: models.OrganizationPatch,
    *,
    if_match: str | None = None,
) -> Operation[models.Preview]:
    """Asks what this would change: change or move an organization."""
    return Operation(
        "PATCH",
        path("/organizations/{}", id),
        models.Preview,
        query=query({"preview": True}),
        body=body,
        if_match=if_match,
    )


def list_organization_ancestors(id: Id) -> Operation[models.Listed[models.Organization]]:
    """List an organization's ancestors."""
    return Operation("GET", path("/organizations/{}/ancestors", id), models.Listed[models.Organization])


def list_organization_children(id: Id) -> Operation[models.Listed[models.ChildOrganization]]:
    """List an organization's children."""
    return Operation("GET", path("/organizations/{}/children", id), models.Listed[models.ChildOrganization])


def get_organization_tree(id: Id) -> Operation[models.TreeNode]:
    """Get an organization's tree."""
    return Operation("GET", path("/organizations/{}/tree", id), models.TreeNode)


def list_permissions(*, page: int | None = None, limit: int | None = None) -> Operation[models.Page[models.Permission]]:
    """List permissions."""
    return Operation("GET", "/permissions", models.Page[models.Permission], query=query({"page": page, "limit": limit}))


def create_permission(
    body: models.NewPermission,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.Permission]:
    """Register a permission."""
    return Operation("POST", "/permissions", models.Permission, body=body, once=True, idempotency_key=idempotency_key)


def delete_permission(id: Id) -> Operation[None]:
    """Delete a permission."""
    return Operation("DELETE", path("/permissions/{}", id), None)


def list_role_assignments(
    *,
    page: int | None = None,
    limit: int | None = None,
    user_id: Id | None = None,
    role_id: Id | None = None,
    organization_id: Id | None = None,
    ends_before: datetime | None = None,
    include_expired: bool | None = None,
    as_of: datetime | None = None,
) -> Operation[models.Page[models.ListedRoleAssignment]]:
    """List role assignments."""
    return Operation(
        "GET",
        "/role-assignments",
        models.Page[models.ListedRoleAssignment],
        query=query({
            "page": page, "limit": limit, "userId": user_id, "roleId": role_id, "organizationId": organization_id,
            "endsBefore": ends_before, "includeExpired": include_expired, "asOf": as_of,
        }),
    )


def create_role_assignment(
    body: models.NewRoleAssignment,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.RoleAssignment]:
    """Assign a role."""
    return Operation(
        "POST",
        "/role-assignments",
        models.RoleAssignment,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def preview_create_role_assignment(body: models.NewRoleAssignment) -> Operation[models.Preview]:
    """Asks what this would change: assign a role."""
    return Operation("POST", "/role-assignments", models.Preview, query=query({"preview": True}), body=body)


def create_role_assignments(
    body: models.NewRoleAssignments,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.CreatedRoleAssignments]:
    """Assign several roles."""
    return Operation(
        "POST",
        "/role-assignments/bulk",
        models.CreatedRoleAssignments,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def preview_create_role_assignments(body: models.NewRoleAssignments) -> Operation[models.Preview]:
    """Asks what this would change: assign several roles."""
    return Operation("POST", "/role-assignments/bulk", models.Preview, query=query({"preview": True}), body=body)


def delete_role_assignment(id: Id) -> Operation[None]:
    """Revoke a role."""
    return Operation("DELETE", path("/role-assignments/{}", id), None)


def preview_delete_role_assignment(id: Id) -> Operation[models.Preview]:
    """Asks what this would change: revoke a role."""
    return Operation("DELETE", path("/role-assignments/{}", id), models.Preview, query=query({"preview": True}))


def update_role_assignment(id: Id, body: models.RoleAssignmentPatch) -> Operation[models.RoleAssignment]:
    """Change when an assignment expires."""
    return Operation("PATCH", path("/role-assignments/{}", id), models.RoleAssignment, body=body)


def preview_update_role_assignment(id: Id, body: models.RoleAssignmentPatch) -> Operation[models.Preview]:
    """Asks what this would change: change when an assignment expires."""
    return Operation(
        "PATCH",
        path("/role-assignments/{}", id),
        models.Preview,
        query=query({"preview": True}),
        body=body,
    )


def list_roles(*, page: int | None = None, limit: int | None = None) -> Operation[models.Page[models.Role]]:
    """List roles."""
    return Operation("GET", "/roles", models.Page[models.Role], query=query({"page": page, "limit": limit}))


def create_role(body: models.NewRole, *, idempotency_key: str | None = None) -> Operation[models.Role]:
    """Create a role."""
    return Operation("POST", "/roles", models.Role, body=body, once=True, idempotency_key=idempotency_key)


def preview_create_role(body: models.NewRole) -> Operation[models.Preview]:
    """Asks what this would change: create a role."""
    return Operation("POST", "/roles", models.Preview, query=query({"preview": True}), body=body)


def get_role(id: Id) -> Operation[models.Role]:
    """Get a role."""
    return Operation("GET", path("/roles/{}", id), models.Role)


def delete_role(id: Id, *, if_match: str | None = None) -> Operation[None]:
    """Delete a role."""
    return Operation("DELETE", path("/roles/{}", id), None, if_match=if_match)


def preview_delete_role(id: Id, *, if_match: str | None = None) -> Operation[models.Preview]:
    """Asks what this would change: delete a role."""
    return Operation("DELETE", path("/roles/{}", id), models.Preview, query=query({"preview": True}), if_match=if_match)


def update_role(id: Id, body: models.RolePatch, *, if_match: str | None = None) -> Operation[models.Role]:
    """Change a role."""
    return Operation("PATCH", path("/roles/{}", id), models.Role, body=body, if_match=if_match)


def preview_update_role(id: Id, body: models.RolePatch, *, if_match: str | None = None) -> Operation[models.Preview]:
    """Asks what this would change: change a role."""
    return Operation(
        "PATCH",
        path("/roles/{}", id),
        models.Preview,
        query=query({"preview": True}),
        body=body,
        if_match=if_match,
    )


def create_service_account(
    body: models.NewServiceAccount,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.User]:
    """Create a service account."""
    return Operation("POST", "/service-accounts", models.User, body=body, once=True, idempotency_key=idempotency_key)


def delete_session(id: Id) -> Operation[None]:
    """End a session."""
    return Operation("DELETE", path("/sessions/{}", id), None)


def get_tenant(id: Id) -> Operation[models.Tenant]:
    """Get the tenant."""
    return Operation("GET", path("/tenants/{}", id), models.Tenant)


def update_tenant(id: Id, body: models.TenantPatch, *, if_match: str | None = None) -> Operation[models.Tenant]:
    """Change the tenant."""
    return Operation("PATCH", path("/tenants/{}", id), models.Tenant, body=body, if_match=if_match)


def apply_manifest(
    id: Id,
    body: models.Manifest,
    *,
    preview: bool | None = None,
    prune: bool | None = None,
) -> Operation[models.AppliedManifest]:
    """Apply a manifest."""
    return Operation(
        "POST",
        path("/tenants/{}/apply", id),
        models.AppliedManifest,
        query=query({"preview": preview, "prune": prune}),
        body=body,
    )


def get_tenant_deletion(id: Id) -> Operation[models.TenantDeletion]:
    """Get the deletion of the tenant."""
    return Operation("GET", path("/tenants/{}/deletion", id), models.TenantDeletion)


def export_manifest(id: Id) -> Operation[models.Manifest]:
    """Get the manifest."""
    return Operation("GET", path("/tenants/{}/manifest", id), models.Manifest)


def list_users(
    *,
    page: int | None = None,
    limit: int | None = None,
    status: str | None = None,
    kind: str | None = None,
    search: str | None = None,
    organization_id: Id | None = None,
    attribute: str | None = None,
    has_factor: bool | None = None,
    sort_by: str | None = None,
    sort_order: str | None = None,
) -> Operation[models.Page[models.UserListItem]]:
    """List users."""
    return Operation(
        "GET",
        "/users",
        models.Page[models.UserListItem],
        query=query({
            "page": page, "limit": limit, "status": status, "kind": kind, "search": search, "organizationId":
            organization_id, "attribute": attribute, "hasFactor": has_factor, "sortBy": sort_by, "sortOrder":
            sort_order,
        }),
    )


def create_user(body: models.NewUser, *, idempotency_key: str | None = None) -> Operation[models.User]:
    """Create a user."""
    return Operation("POST", "/users", models.User, body=body, once=True, idempotency_key=idempotency_key)


def get_user(id: Id) -> Operation[models.User]:
    """Get a user."""
    return Operation("GET", path("/users/{}", id), models.User)


def delete_user(id: Id, *, if_match: str | None = None) -> Operation[None]:
    """Delete a user."""
    return Operation("DELETE", path("/users/{}", id), None, if_match=if_match)


def preview_delete_user(id: Id, *, if_match: str | None = None) -> Operation[models.Preview]:
    """Asks what this would change: delete a user."""
    return Operation("DELETE", path("/users/{}", id), models.Preview, query=query({"preview": True}), if_match=if_match)


def update_user(id: Id, body: models.UserPatch, *, if_match: str | None = None) -> Operation[models.UpdatedUser]:
    """Change a user."""
    return Operation("PATCH", path("/users/{}", id), models.UpdatedUser, body=body, if_match=if_match)


def preview_update_user(id: Id, body: models.UserPatch, *, if_match: str | None = None) -> Operation[models.Preview]:
    """Asks what this would change: change a user."""
    return Operation(
        "PATCH",
        path("/users/{}", id),
        models.Preview,
        query=query({"preview": True}),
        body=body,
        if_match=if_match,
    )


def list_api_keys(id: Id) -> Operation[models.Listed[models.ApiKey]]:
    """List a user's API keys."""
    return Operation("GET", path("/users/{}/api-keys", id), models.Listed[models.ApiKey])


def create_api_key(
    id: Id,
    body: models.NewApiKey,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.IssuedApiKey]:
    """Make an API key."""
    return Operation(
        "POST",
        path("/users/{}/api-keys", id),
        models.IssuedApiKey,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def export_user(id: Id) -> Operation[models.UserExport]:
    """Export what is held about a user."""
    return Operation("GET", path("/users/{}/export", id), models.UserExport)


def delete_user_factors(id: Id) -> Operation[None]:
    """Remove all factors of a user."""
    return Operation("DELETE", path("/users/{}/factors", id), None)


def list_identities(id: Id) -> Operation[models.Listed[models.Identity]]:
    """List a user's identities."""
    return Operation("GET", path("/users/{}/identities", id), models.Listed[models.Identity])


def create_impersonation(
    id: Id,
    body: models.NewImpersonation,
    *,
    idempotency_key: str | None = None,
) -> Operation[models.Impersonation]:
    """Act as another user."""
    return Operation(
        "POST",
        path("/users/{}/impersonations", id),
        models.Impersonation,
        body=body,
        once=True,
        idempotency_key=idempotency_key,
    )


def logout_user(id: Id) -> Operation[None]:
    """Log a user out everywhere."""
    return Operation("POST", path("/users/{}/logout-all", id), None)


def start_password_reset(id: Id) -> Operation[None]:
    """Send a user a link with which it can reset its password."""
    return Operation("POST", path("/users/{}/password-reset", id), None)


def reactivate_user(id: Id) -> Operation[models.UpdatedUser]:
    """Reactivate a user."""
    return Operation("POST", path("/users/{}/reactivate", id), models.UpdatedUser)


def preview_reactivate_user(id: Id) -> Operation[models.Preview]:
    """Asks what this would change: reactivate a user."""
    return Operation("POST", path("/users/{}/reactivate", id), models.Preview, query=query({"preview": True}))


def list_user_roles(id: Id, *, as_of: datetime | None = None) -> Operation[models.Listed[models.UserRole]]:
    """List a user's roles."""
    return Operation("GET", path("/users/{}/roles", id), models.Listed[models.UserRole], query=query({"asOf": as_of}))


def list_user_sessions(id: Id) -> Operation[models.Listed[models.Session]]:
    """List a user's sessions."""
    return Operation("GET", path("/users/{}/sessions", id), models.Listed[models.Session])


def suspend_user(id: Id) -> Operation[models.UpdatedUser]:
    """Suspend a user."""
    return Operation("POST", path("/users/{}/suspend", id), models.UpdatedUser)


def preview_suspend_user(id: Id) -> Operation[models.Preview]:
    """Asks what this would change: suspend a user."""
    return Operation("POST", path("/users/{}/suspend", id), models.Preview, query=query({"preview": True}))


def list_webhooks() -> Operation[models.Listed[models.Webhook]]:
    """List the webhooks."""
    return Operation("GET", "/webhooks", models.Listed[models.Webhook])


def create_webhook(body: models.NewWebhook, *, idempotency_key: str | None = None) -> Operation[models.IssuedWebhook]:
    """Make a webhook."""
    return Operation("POST", "/webhooks", models.IssuedWebhook, body=body, once=True, idempotency_key=idempotency_key)


def get_webhook(id: Id) -> Operation[models.Webhook]:
    """Get a webhook."""
    return Operation("GET", path("/webhooks/{}", id), models.Webhook)


def delete_webhook(id: Id, *, if_match: str | None = None) -> Operation[None]:
    """Remove a webhook."""
    return Operation("DELETE", path("/webhooks/{}", id), None, if_match=if_match)


def update_webhook(id: Id, body: models.WebhookPatch, *, if_match: str | None = None) -> Operation[models.Webhook]:
    """Change a webhook."""
    return Operation("PATCH", path("/webhooks/{}", id), models.Webhook, body=body, if_match=if_match)


def list_deliveries(id: Id) -> Operation[models.Listed[models.Delivery]]:
    """List the deliveries of a webhook."""
    return Operation("GET", path("/webhooks/{}/deliveries", id), models.Listed[models.Delivery])


def replay_webhook(id: Id, body: models.WebhookReplay) -> Operation[None]:
    """Send events again."""
    return Operation("POST", path("/webhooks/{}/replay", id), None, body=body)


def rotate_webhook_secret(id: Id, *, idempotency_key: str | None = None) -> Operation[models.IssuedWebhook]:
    """Rotate the secret of a webhook."""
    return Operation(
        "POST",
        path("/webhooks/{}/rotate-secret", id),
        models.IssuedWebhook,
        once=True,
        idempotency_key=idempotency_key,
    )


def test_webhook(id: Id) -> Operation[models.WebhookTest]:
    """Test a webhook."""
    return Operation("POST", path("/webhooks/{}/test", id), models.WebhookTest)
