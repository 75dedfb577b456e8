"""The values of the API. Written by generate.py from docs/openapi.json: do not edit."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import Field

from iam_client._model import Model, Time

T = TypeVar("T")


class Page(Model, Generic[T]):
    """A page of a list."""

    data: list[T]
    pagination: Pagination


class Listed(Model, Generic[T]):
    """A list without pages."""

    data: list[T]


class AuthzenResults(Model, Generic[T]):
    """A page of what a search of AuthZEN has found."""

    page: AuthzenResultsPage
    results: list[T]


AccessRequestCancelCause = Literal["OUTDATED", "NOT_ELIGIBLE", "ROLE_HELD", "USER_SUSPENDED", "USER_DELETED"] | str
"""Why the service has cancelled an access request."""


AccessRequestStatus = Literal["PENDING", "APPROVED", "ACTIVE", "ENDED", "DENIED", "CANCELLED", "LAPSED"] | str
"""The state of an access request."""


AccessReviewDecision = Literal["KEEP", "REVOKE"] | str
"""A decision: the assignment or the eligibility stays, or it is revoked when the review is completed."""


AccessReviewItemKind = Literal["ASSIGNMENT", "ELIGIBILITY"] | str
"""What an item is about: a role that a user holds, or one for which users may ask."""


AccessReviewOutcome = Literal["KEPT", "REVOKED", "GONE"] | str
"""What the completion made of a decision: the assignment or the eligibility stayed, was revoked, or had ended
before."""


AccessReviewStatus = Literal["OPEN", "COMPLETED", "CANCELLED"] | str
"""The state of a review: people decide about its items, the decisions were carried out, or it was given up."""


AccessVerdict = Literal["APPROVE", "DENY"] | str
"""What was decided: the user agrees, or refuses."""


DeliveryStatus = Literal["DELIVERED", "FAILED", "PENDING"] | str
"""The state of a delivery: the receiver has accepted the event, no attempt follows, or another attempt follows."""


DomainRecordType = Literal["TXT"] | str
"""The type of a record."""


DomainStatus = Literal["PENDING", "VERIFIED"] | str
"""Whether the tenant has proven the domain."""


PasskeyOptions = dict[str, Any]
"""The options of a ceremony, for `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON` of
a browser."""


RightDirection = Literal["GAINED", "LOST"] | str
"""Whether the right would be gained or lost."""


class AccessDecision(Model):
    """A decision about an access request."""

    at: Time
    counts: bool
    decision: AccessVerdict
    reason: str | None
    user_id: UUID
    user: AssignedUser | None = None


class AccessRequest(Model):
    """A user asks for a role for a time."""

    approvals_needed: int
    assignment_id: UUID | None
    cancel_cause: AccessRequestCancelCause | None
    close_reason: str | None
    closed_at: Time | None
    closed_by: UUID | None
    created_at: Time
    decisions: list[AccessDecision]
    eligibility_id: UUID
    ends_at: Time | None
    id: UUID
    lapses_at: Time
    organization_id: UUID | None
    reason: str
    requested_by: UUID
    role_id: UUID
    role_name: str
    seconds: int
    starts_at: Time | None
    status: AccessRequestStatus
    ticket: str | None


class AccessRequestClosing(Model):
    """What to say about the end of a request."""

    reason: str | None = None


class AccessReview(Model):
    """A review of role assignments and eligibilities."""

    closed_at: Time | None
    closed_by: UUID | None
    counts: AccessReviewCounts
    created_at: Time
    created_by: UUID | None
    due_at: Time
    id: UUID
    name: str
    organization_id: UUID | None
    role_ids: list[UUID]
    status: AccessReviewStatus
    user_ids: list[UUID]


class AccessReviewCounts(Model):
    """How many items of a review are decided."""

    keep: int
    revoke: int
    total: int
    undecided: int


class AccessReviewItem(Model):
    """An item of a review: a role assignment or an eligibility as it was when the review began, and the decision about
    it."""

    assignment_created_at: Time
    assignment_id: UUID | None
    decided_at: Time | None
    decided_by: UUID | None
    decision: AccessReviewDecision | None
    directory_group_id: UUID | None
    eligibility_id: UUID | None
    expires_at: Time | None
    granted_by: UUID | None
    held_role_id: UUID | None
    id: UUID
    kind: AccessReviewItemKind
    last_login_at: Time | None
    organization_id: UUID | None
    outcome: AccessReviewOutcome | None
    reason: str | None
    role: Named
    role_id: UUID
    user_id: UUID | None
    organization: Named | None = None
    user: AssignedUser | None = None


class ActingParty(Model):
    """The user who acts as the subject of a token."""

    sub: UUID


class Actor(Model):
    """A user who acts as another one."""

    email: str
    first_name: str
    id: UUID
    last_name: str


class ApiKey(Model):
    """A key by which a program acts as a user."""

    created_at: Time
    created_by: UUID | None
    expires_at: Time
    id: UUID
    last_used_at: Time | None
    name: str
    organization_id: UUID | None
    permissions: list[str] | None
    prefix: str
    user_id: UUID


class ApiKeyPatch(Model):
    """The changes to a key, which only make it narrower."""

    expires_at: Time | None = None
    name: str | None = None
    permissions: list[str] | None = None


class ApiKeyRotation(Model):
    """How to replace the secret of a key."""

    overlap_seconds: int | None = None


class AppliedManifest(Model):
    """What a manifest has changed, or would change."""

    changes: list[ManifestChange]
    preview: Preview | None = None


class AssignedUser(Model):
    """The user who holds a role."""

    id: UUID
    email: str | None = None
    name: str | None = None


class AuditCheckpoint(Model):
    """The present state of the tenant's log."""

    checkpoint: str
    origin: str
    root_hash: str
    tree_size: int
    unsealed: list[UUID]
    verifier_key: str


class AuditConsistencyProof(Model):
    """The proof that a newer state of a log continues an older one."""

    from_: int
    hashes: list[str]
    root_hash: str
    to: int


class AuditEntry(Model):
    """An entry of the audit log."""

    action: str
    correlation_id: str | None
    created_at: Time
    id: UUID
    ip_address: str | None
    metadata: dict[str, Any]
    new_value: dict[str, Any] | None
    old_value: dict[str, Any] | None
    resource_id: str | None
    resource_type: str
    tenant_id: UUID
    user_agent: str | None
    user_id: UUID | None


class AuditInclusionProof(Model):
    """The proof that an entry is in the log."""

    entry_id: UUID
    hashes: list[str]
    leaf_index: int
    openings: AuditOpenings
    root_hash: str
    statement: str
    tree_size: int


class AuditLog(Model):
    """A page of the audit log, newest first."""

    data: list[AuditEntry]
    pagination: CursorPagination


class AuditOpening(Model):
    """The salt and the values that you need to check a commitment."""

    salt: str
    values: list[Any]


class AuditOpenings(Model):
    """The values that are withheld in a statement."""

    details: AuditOpening | None
    origin: AuditOpening | None


class AuditRetention(Model):
    """How long a tenant keeps its audit entries."""

    pending: PendingAuditRetention | None
    retention_days: int | None


class AuthzenAction(Model):
    """What is done."""

    name: str
    properties: dict[str, Any] | None = None


class AuthzenActionSearch(Model):
    """The question what a subject may do with a resource."""

    resource: AuthzenResource
    subject: AuthzenSubject
    context: dict[str, Any] | None = None
    page: AuthzenPage | None = None


class AuthzenConfiguration(Model):
    """Where the operations of AuthZEN are."""

    access_evaluation_endpoint: str = Field(
        validation_alias="access_evaluation_endpoint", serialization_alias="access_evaluation_endpoint"
    )
    access_evaluations_endpoint: str = Field(
        validation_alias="access_evaluations_endpoint", serialization_alias="access_evaluations_endpoint"
    )
    policy_decision_point: str = Field(
        validation_alias="policy_decision_point", serialization_alias="policy_decision_point"
    )
    search_action_endpoint: str = Field(
        validation_alias="search_action_endpoint", serialization_alias="search_action_endpoint"
    )
    search_resource_endpoint: str = Field(
        validation_alias="search_resource_endpoint", serialization_alias="search_resource_endpoint"
    )
    search_subject_endpoint: str = Field(
        validation_alias="search_subject_endpoint", serialization_alias="search_subject_endpoint"
    )


class AuthzenDecision(Model):
    """Whether a subject may do something with a resource."""

    context: AuthzenDecisionContext
    decision: bool


class AuthzenDecisionContext(Model):
    """The reason of a decision."""

    error: AuthzenError | None = None
    grants: list[UUID] | None = None
    reason: str | None = None


class AuthzenDecisions(Model):
    """The decisions of several questions."""

    evaluations: list[AuthzenDecision]


class AuthzenEntity(Model):
    """A subject or a resource."""

    id: str
    type: str


class AuthzenError(Model):
    """What is wrong with one of several questions."""

    message: str
    status: int


class AuthzenEvaluation(Model):
    """The question whether a subject may do something with a resource."""

    action: AuthzenAction
    resource: AuthzenResource
    subject: AuthzenSubject
    context: dict[str, Any] | None = None


class AuthzenEvaluationItem(Model):
    """One of several questions."""

    action: AuthzenAction | None = None
    context: dict[str, Any] | None = None
    resource: AuthzenResource | None = None
    subject: AuthzenSubject | None = None


class AuthzenEvaluations(Model):
    """Several questions."""

    action: AuthzenAction | None = None
    context: dict[str, Any] | None = None
    evaluations: list[AuthzenEvaluationItem] | None = None
    options: AuthzenOptions | None = None
    resource: AuthzenResource | None = None
    subject: AuthzenSubject | None = None


class AuthzenFoundAction(Model):
    """An action."""

    name: str


class AuthzenOptions(Model):
    """How several questions are answered."""

    evaluations_semantic: Literal["execute_all", "deny_on_first_deny", "permit_on_first_permit"] | str | None = Field(
        default=None, validation_alias="evaluations_semantic", serialization_alias="evaluations_semantic"
    )


class AuthzenPage(Model):
    """Which page of the results to show."""

    limit: int | None = None
    properties: dict[str, Any] | None = None
    token: str | None = Field(default=None, repr=False)


class AuthzenResource(Model):
    """With what it is done."""

    id: str
    type: str
    properties: AuthzenResourceProperties | None = None


class AuthzenResourceProperties(Model):
    """The properties of a resource."""

    organization_id: str | None = None


class AuthzenResourceSearch(Model):
    """The question with which resources a subject may do something."""

    action: AuthzenAction
    resource: AuthzenType
    subject: AuthzenSubject
    context: dict[str, Any] | None = None
    page: AuthzenPage | None = None


class AuthzenResultsPage(Model):
    """The position of a page in all results."""

    count: int
    next_token: str = Field(validation_alias="next_token", serialization_alias="next_token")


class AuthzenSubject(Model):
    """Who does something."""

    id: str
    type: str
    properties: dict[str, Any] | None = None


class AuthzenSubjectSearch(Model):
    """The question which subjects may do something with a resource."""

    action: AuthzenAction
    resource: AuthzenResource
    subject: AuthzenType
    context: dict[str, Any] | None = None
    page: AuthzenPage | None = None


class AuthzenType(Model):
    """A type of what is searched."""

    type: str


class BackchannelLogout(Model):
    """The logout token of a provider."""

    logout_token: str = Field(repr=False, validation_alias="logout_token", serialization_alias="logout_token")


class CallingApiKey(Model):
    """The API key that a request was authenticated by."""

    expires_at: Time
    id: UUID
    name: str


class Check(Model):
    """The result of a check."""

    status: str


class Checks(Model):
    """The results of the readiness checks."""

    database: DatabaseCheck
    migrations: Check


class ChildOrganization(Model):
    """An organization directly below another one."""

    id: UUID
    name: str
    parent_id: UUID | None
    slug: str
    status: Literal["ACTIVE", "SUSPENDED", "INACTIVE"] | str


class ConfirmedFactor(Model):
    """A confirmed factor."""

    recovery_codes: list[str] | None = Field(default=None, repr=False)


class CreatedRoleAssignment(Model):
    """An assignment that was created."""

    id: UUID
    role_id: UUID
    user_id: UUID


class CreatedRoleAssignments(Model):
    """The assignments that were created."""

    assignments: list[CreatedRoleAssignment]
    created: int


class CursorPagination(Model):
    """Where the next page starts."""

    has_next: bool
    limit: int
    next_cursor: str | None


class DatabaseCheck(Model):
    """Whether the database answers."""

    latency_ms: float
    status: str


class DecidingGrant(Model):
    """A role assignment that grants the permission."""

    access_request_id: UUID | None
    assignment_id: UUID
    directory_group_id: UUID | None
    granted_at: Time
    granted_by: UUID | None
    inherited_from: UUID | None
    organization_id: UUID | None
    role_id: UUID
    role_name: str


class Decision(Model):
    """Whether the user holds the permission, and why."""

    allowed: bool
    grants: list[DecidingGrant]
    reason: str
    truncated: bool | None = None


class Delivery(Model):
    """An event that a webhook has sent, or could not send yet."""

    attempt: int
    duration_ms: int
    error: str | None
    http_status: int | None
    id: UUID
    next_attempt_at: Time | None
    sequence: int
    started_at: Time
    status: DeliveryStatus
    type: str


class DirectoryGroup(Model):
    """A group of a directory."""

    created_at: Time
    directory_id: UUID
    display_name: str
    external_id: str | None
    grants: list[DirectoryGroupGrant]
    id: UUID
    members: int
    updated_at: Time


class DirectoryGroupGrant(Model):
    """A role that the members of a group hold, without an end."""

    organization_id: UUID | None
    role_id: UUID


class DirectoryPatch(Model):
    """The changes to a directory."""

    adopt: bool | None = None
    identity_provider_id: UUID | None = None
    name: str | None = None


class DirectoryRefusal(Model):
    """A request of a directory that was refused."""

    at: Time
    detail: str
    request: str
    status: int


class Discovered(Model):
    """How the people with an address log in."""

    password_allowed: bool
    providers: list[DiscoveredProvider]


class DiscoveredProvider(Model):
    """A provider, and its tenant."""

    id: UUID
    name: str
    tenant: DiscoveredTenant


class DiscoveredTenant(Model):
    """The tenant of a provider."""

    name: str
    slug: str


class Discovery(Model):
    """The address of a person."""

    email: str


class Domain(Model):
    """A domain of the tenant."""

    checked_at: Time | None
    created_at: Time
    domain: str
    id: UUID
    record: DomainRecord
    status: DomainStatus
    verified_at: Time | None


class DomainRecord(Model):
    """The record of the DNS that proves the domain."""

    name: str
    type: DomainRecordType
    value: str


class Eligibility(Model):
    """Lets users ask for a role in a place, for a time."""

    approvals: int
    approver_role_id: UUID | None
    created_at: Time
    created_by: UUID | None
    expires_at: Time | None
    held_role_id: UUID | None
    id: UUID
    max_seconds: int
    organization_id: UUID | None
    role_id: UUID
    updated_at: Time
    user_id: UUID | None


class EligibilityPatch(Model):
    """The changes to an eligibility."""

    approvals: int | None = None
    approver_role_id: UUID | None = None
    expires_at: Time | None = None
    max_seconds: int | None = None


class EmailChange(Model):
    """A change of the caller's own address."""

    current_password: str = Field(repr=False)
    new_email: str


class EmailLogin(Model):
    """The address of a person who logs in by e-mail."""

    email: str
    tenant: str | None = None


class EmailLoginFinish(Model):
    """The proof that a person reads the mail of its address."""

    code: str | None = Field(default=None, repr=False)
    flow: str | None = Field(default=None, repr=False)
    token: str | None = Field(default=None, repr=False)


class EmailVerification(Model):
    """The token of a link that was sent to an address."""

    token: str = Field(repr=False)


class Erasure(Model):
    """The user whose personal fields were erased."""

    entries: int
    user_id: UUID


class Event(Model):
    """An entry of the audit log with its place in the sequence."""

    entry: AuditEntry
    sequence: int
    type: str


class Events(Model):
    """Consecutive events."""

    data: list[Event]
    next: int


class Factor(Model):
    """A second factor."""

    created_at: Time
    id: UUID
    last_used_at: Time | None
    name: str
    type: Literal["totp", "passkey"] | str


class FactorPatch(Model):
    """The changes to a factor."""

    name: str


class Factors(Model):
    """The second factors of the caller."""

    data: list[Factor]
    recovery_codes_left: int


class FederationFinish(Model):
    """What the browser has brought back, and the secret of the client."""

    code: str = Field(repr=False)
    code_verifier: str = Field(repr=False)


class FederationStart(Model):
    """How a login by a provider begins."""

    code_challenge: str
    provider_id: UUID
    redirect_uri: str
    login_hint: str | None = None
    step_up: bool | None = None


class FieldError(Model):
    """What is wrong with a field."""

    field: str
    message: str


class ForgottenPassword(Model):
    """The address of a person who has forgotten its password."""

    email: str
    tenant: str | None = None


class Health(Model):
    """The health of the service."""

    environment: str
    service: str
    status: str
    timestamp: Time
    version: str


class HeldPermissions(Model):
    """The caller's permissions: tenant-wide, and in addition in single organizations."""

    organizations: list[OrganizationPermissions]
    tenant: list[str]
    truncated: bool | None = None


class HeldRole(Model):
    """A role that the caller holds."""

    assignment_id: UUID
    expires_at: Time | None
    role: Named
    organization: Named | None = None


class Identity(Model):
    """An account at a provider by which a user logs in."""

    email: str | None
    id: UUID
    issuer: str
    last_login_at: Time | None
    linked_at: Time
    provider_id: UUID
    subject: str


class IdentityProvider(Model):
    """A provider by which people log in."""

    callback_url: str | None
    client_id: str
    created_at: Time
    domain_ids: list[UUID]
    enabled: bool
    factor_is_trusted: bool
    id: UUID
    issuer: str
    name: str
    provisioning: Literal["OFF", "LINK", "CREATE"] | str
    roles: list[ProvidedRole]
    scopes: list[str]
    slug: str
    subject_claim: Literal["sub", "oid"] | str
    trusts_email: bool
    updated_at: Time


class IdentityProviderPatch(Model):
    """The changes to a provider."""

    client_id: str | None = None
    client_secret: str | None = Field(default=None, repr=False)
    domain_ids: list[UUID] | None = None
    enabled: bool | None = None
    factor_is_trusted: bool | None = None
    issuer: str | None = None
    name: str | None = None
    provisioning: Literal["OFF", "LINK", "CREATE"] | str | None = None
    roles: list[NewProvidedRole] | None = None
    scopes: list[str] | None = None
    slug: str | None = None
    subject_claim: Literal["sub", "oid"] | str | None = None
    trusts_email: bool | None = None


class Impersonation(Model):
    """A session in which a user acts as another one."""

    access_token: str | None = Field(repr=False)
    actor_id: UUID
    created_at: Time
    expires_at: Time
    expires_in: int
    read_only: bool
    reason: str
    session_id: UUID
    token_type: str
    user_id: UUID


class Introspection(Model):
    """What a token is."""

    active: bool
    act: ActingParty | None = None
    amr: list[str] | None = None
    api_key_id: UUID | None = None
    attributes: dict[str, Any] | None = None
    attributes_truncated: bool | None = None
    aud: str | None = None
    auth_time: int | None = Field(default=None, validation_alias="auth_time", serialization_alias="auth_time")
    exp: int | None = None
    iat: int | None = None
    iss: str | None = None
    jti: UUID | None = None
    read_only: bool | None = None
    sid: UUID | None = None
    sub: UUID | None = None
    tenant_id: UUID | None = None
    token_type: str | None = Field(default=None, validation_alias="token_type", serialization_alias="token_type")


class IntrospectionRequest(Model):
    """The token to introspect."""

    token: str = Field(repr=False)
    token_type_hint: str | None = Field(
        default=None, validation_alias="token_type_hint", serialization_alias="token_type_hint"
    )


class Invitation(Model):
    """A person who is asked to become a user."""

    created_at: Time
    email: str
    expires_at: Time
    first_name: str | None
    id: UUID
    invited_by: UUID | None
    last_name: str | None
    roles: list[InvitedRole]
    status: Literal["PENDING", "ACCEPTED", "REVOKED", "EXPIRED"] | str


class InvitationAcceptance(Model):
    """The name and the password of an invited person."""

    first_name: str
    last_name: str
    password: str = Field(repr=False)
    token: str = Field(repr=False)


class InvitationDetails(Model):
    """What an invited person sees before it accepts."""

    email: str
    expires_at: Time
    first_name: str | None
    last_name: str | None
    tenant: InvitingTenant


class InvitationToken(Model):
    """The token of an invitation."""

    token: str = Field(repr=False)


class InvitedRole(Model):
    """A role that an invited person gets."""

    expires_at: Time | None
    organization_id: UUID | None
    role_id: UUID


class InvitingTenant(Model):
    """The tenant that invites."""

    name: str


class Jwk(Model):
    """An Ed25519 public key (RFC 8037 §2)."""

    alg: str
    crv: str
    kid: str
    kty: str
    use: str
    x: str


class JwkSet(Model):
    """The public keys that verify access tokens."""

    keys: list[Jwk]


class LegalHold(Model):
    """An order that the data of the tenant, or of one of its users, is kept."""

    created_at: Time
    id: UUID
    placed_by: UUID | None
    reason: str
    user_id: UUID | None


class LegalHoldRelease(Model):
    """Why a legal hold is released."""

    reason: str


class Live(Model):
    """The process answers."""

    status: str


class Login(Model):
    """The credentials of a login."""

    email: str
    password: str = Field(repr=False)
    tenant: str | None = None


class LoginChallenge(Model):
    """The challenge of a login."""

    challenge: str = Field(repr=False)


class Manifest(Model):
    """What a tenant should have."""

    directories: list[ManifestDirectory] | None = None
    identity_providers: list[ManifestIdentityProvider] | None = None
    organizations: list[ManifestOrganization] | None = None
    permissions: list[ManifestPermission] | None = None
    roles: list[ManifestRole] | None = None
    service_accounts: list[ManifestServiceAccount] | None = None
    settings: ManifestSettings | None = None
    webhooks: list[ManifestWebhook] | None = None


class ManifestAssignment(Model):
    """A role of a service account."""

    role: str
    expires_at: Time | None = None
    organization: str | None = None


class ManifestChange(Model):
    """A change that a manifest makes, or would make."""

    action: str
    after: dict[str, Any]
    before: dict[str, Any]
    id: UUID | None
    kind: str
    name: str


class ManifestDirectory(Model):
    """A directory."""

    name: str
    service_account: str
    adopt: bool | None = None
    identity_provider: str | None = None


class ManifestIdentityProvider(Model):
    """An identity provider."""

    client_id: str
    issuer: str
    name: str
    slug: str
    client_secret: str | None = Field(default=None, repr=False)
    domains: list[str] | None = None
    enabled: bool | None = None
    factor_is_trusted: bool | None = None
    provisioning: Literal["OFF", "LINK", "CREATE"] | str | None = None
    roles: list[ManifestProvidedRole] | None = None
    scopes: list[str] | None = None
    subject_claim: Literal["sub", "oid"] | str | None = None
    trusts_email: bool | None = None


class ManifestOrganization(Model):
    """An organization."""

    name: str
    slug: str
    parent: str | None = None
    status: Literal["ACTIVE", "SUSPENDED"] | str | None = None


class ManifestPermission(Model):
    """A permission of the application."""

    name: str
    description: str | None = None


class ManifestProvidedRole(Model):
    """A role of the users that an identity provider makes."""

    role: str
    organization: str | None = None


class ManifestRole(Model):
    """A role."""

    name: str
    description: str | None = None
    permissions: list[str] | None = None
    scope: Literal["TENANT", "ORGANIZATION", "ANY"] | str | None = None


class ManifestServiceAccount(Model):
    """A service account."""

    name: str
    assignments: list[ManifestAssignment] | None = None
    home: str | None = None
    status: Literal["ACTIVE", "SUSPENDED"] | str | None = None


class ManifestSettings(Model):
    """Settings of a tenant."""

    authzen_identifiers: Literal["ID", "NAME"] | str | None = None
    email_login: Literal["OFF", "ON"] | str | None = None
    name: str | None = None
    organization_attributes: list[OrganizationAttribute] | None = None
    password_login: Literal["ALLOWED", "FEDERATED"] | str | None = None
    password_policy: Literal["seed", "nist-800-63b-4", "asvs-5"] | str | None = None
    second_factor: Literal["OFF", "OPTIONAL", "REQUIRED"] | str | None = None
    second_factor_grace_days: int | None = None
    unregistered_attributes: Literal["ALLOWED", "REFUSED"] | str | None = None
    user_attributes: list[UserAttribute] | None = None


class ManifestWebhook(Model):
    """A webhook."""

    types: list[str]
    url: str
    description: str | None = None
    enabled: bool | None = None
    format: Literal["native", "ocsf"] | str | None = None


class Me(Model):
    """The caller, with its roles and permissions."""

    amr: list[str]
    auth_time: Time | None
    permissions: HeldPermissions
    roles: list[HeldRole]
    session: Session | None
    tenant: Tenant
    user: User
    user_tag: str
    actor: Actor | None = None
    api_key: CallingApiKey | None = None
    attributes: dict[str, Any] | None = None
    enrol_by: Time | None = None


class MePatch(Model):
    """What the caller changes of itself."""

    attributes: dict[str, Any] | None = None


class Named(Model):
    """An embedded resource, with its name."""

    id: UUID
    name: str


class NewAccessDecision(Model):
    """What to say about a decision."""

    reason: str | None = None


class NewAccessRequest(Model):
    """What the user asks for."""

    eligibility_id: UUID
    reason: str
    seconds: int | None = None
    starts_at: Time | None = None
    ticket: str | None = None


class NewAccessReview(Model):
    """The review to begin."""

    due_at: Time
    name: str
    organization_id: UUID | None = None
    role_ids: list[UUID] | None = None
    user_ids: list[UUID] | None = None


class NewAccessReviewDecision(Model):
    """A decision about an item."""

    decision: Literal["KEEP", "REVOKE"] | str
    reason: str | None = None


class NewApiKey(Model):
    """The key to make."""

    name: str
    expires_at: Time | None = None
    organization_id: UUID | None = None
    permissions: list[str] | None = None


class NewAuditEvent(Model):
    """An event of an application."""

    action: str
    resource_type: str
    metadata: dict[str, Any] | None = None
    resource_id: str | None = None


class NewAuditRetention(Model):
    """How long to keep audit entries."""

    retention_days: int | None


class NewDirectory(Model):
    """The directory to make."""

    name: str
    service_account_id: UUID
    adopt: bool | None = None
    identity_provider_id: UUID | None = None


class NewDirectoryGroupGrant(Model):
    """A role that the members of a group are to hold."""

    role_id: UUID
    organization_id: UUID | None = None


class NewDirectoryGroupGrants(Model):
    """The roles to which a group is mapped."""

    grants: list[NewDirectoryGroupGrant]


class NewDomain(Model):
    """The domain to add."""

    domain: str


class NewEligibility(Model):
    """The eligibility to make."""

    role_id: UUID
    approvals: int | None = None
    approver_role_id: UUID | None = None
    expires_at: Time | None = None
    held_role_id: UUID | None = None
    max_seconds: int | None = None
    organization_id: UUID | None = None
    user_id: UUID | None = None


class NewErasure(Model):
    """The user whose personal fields to erase."""

    user_id: UUID


class NewFactor(Model):
    """A name of a factor."""

    name: str | None = None


class NewIdentityProvider(Model):
    """The provider to make."""

    client_id: str
    issuer: str
    name: str
    client_secret: str | None = Field(default=None, repr=False)
    domain_ids: list[UUID] | None = None
    enabled: bool | None = None
    factor_is_trusted: bool | None = None
    provisioning: Literal["OFF", "LINK", "CREATE"] | str | None = None
    roles: list[NewProvidedRole] | None = None
    scopes: list[str] | None = None
    slug: str | None = None
    subject_claim: Literal["sub", "oid"] | str | None = None
    trusts_email: bool | None = None


class NewImpersonation(Model):
    """How to act as another user."""

    reason: str
    seconds: int
    read_only: bool | None = None


class NewInvitation(Model):
    """The person to invite."""

    email: str
    first_name: str | None = None
    last_name: str | None = None
    roles: list[NewInvitedRole] | None = None


class NewInvitedRole(Model):
    """A role that an invited person is to get."""

    role_id: UUID
    expires_at: Time | None = None
    organization_id: UUID | None = None


class NewLegalHold(Model):
    """The legal hold to place."""

    reason: str
    user_id: UUID | None = None


class NewOrganization(Model):
    """The organization to create."""

    name: str
    attributes: dict[str, Any] | None = None
    parent_id: UUID | None = None
    slug: str | None = None


class NewPasskey(Model):
    """A new passkey."""

    credential: dict[str, Any] = Field(repr=False)
    name: str | None = None


class NewPermission(Model):
    """The permission to register."""

    name: str
    description: str | None = None


class NewProvidedRole(Model):
    """A role of the users that a provider is to make."""

    role_id: UUID
    organization_id: UUID | None = None


class NewRole(Model):
    """The role to create."""

    name: str
    description: str | None = None
    permissions: list[str] | None = None
    scope: Literal["TENANT", "ORGANIZATION", "ANY"] | str | None = None


class NewRoleAssignment(Model):
    """The role assignment to create."""

    role_id: UUID
    user_id: UUID
    expires_at: Time | None = None
    organization_id: UUID | None = None


class NewRoleAssignments(Model):
    """The role assignments to create: all or none."""

    assignments: list[NewRoleAssignment]


class NewServiceAccount(Model):
    """The service account to create."""

    name: str
    attributes: dict[str, Any] | None = None
    home_organization_id: UUID | None = None


class NewUser(Model):
    """The user to create."""

    email: str
    first_name: str
    last_name: str
    password: str = Field(repr=False)
    attributes: dict[str, Any] | None = None
    external_id: str | None = None
    home_organization_id: UUID | None = None


class NewWebhook(Model):
    """The webhook to make."""

    types: list[str]
    url: str
    description: str | None = None
    enabled: bool | None = None
    format: Literal["native", "ocsf"] | str | None = None


class Organization(Model):
    """A part of a tenant."""

    created_at: Time
    depth: int
    id: UUID
    name: str
    parent_id: UUID | None
    slug: str
    status: Literal["ACTIVE", "SUSPENDED", "INACTIVE"] | str
    updated_at: Time
    attributes: dict[str, Any] | None = None


class OrganizationAttribute(Model):
    """An attribute of organizations that the tenant defines."""

    key: str
    type: Literal["STRING", "NUMBER", "BOOLEAN", "STRINGS", "OBJECT"] | str
    searchable: bool | None = None


class OrganizationPatch(Model):
    """The changes to an organization."""

    attributes: dict[str, Any] | None = None
    name: str | None = None
    parent_id: UUID | None = None
    slug: str | None = None
    status: Literal["ACTIVE", "SUSPENDED", "INACTIVE"] | str | None = None


class OrganizationPermissions(Model):
    """The caller's permissions in an organization, including those that are inherited from organizations above."""

    organization_id: UUID
    permissions: list[str]


class OwnAttributes(Model):
    """What the caller sees of itself after a change."""

    attributes: dict[str, Any]


class Pagination(Model):
    """The position of a page in the whole collection."""

    has_next: bool
    has_prev: bool
    limit: int
    page: int
    total: int
    total_pages: int


class PasskeyLogin(Model):
    """A login by a passkey."""

    credential: dict[str, Any] = Field(repr=False)


class PasskeyLoginOptions(Model):
    """The tenant of a login."""

    tenant: str | None = None


class PasswordChange(Model):
    """A change of the caller's own password."""

    current_password: str = Field(repr=False)
    new_password: str = Field(repr=False)


class PasswordReset(Model):
    """A new password, with the token of a link."""

    new_password: str = Field(repr=False)
    token: str = Field(repr=False)


class PendingAuditRetention(Model):
    """A retention that takes effect later."""

    from_: Time
    retention_days: int


class Permission(Model):
    """A permission that roles can hold."""

    created_at: Time
    description: str
    id: UUID
    name: str
    system: bool


class PermissionCheck(Model):
    """The question whether a user holds a permission."""

    permission: str
    at: Time | None = None
    organization_id: UUID | None = None
    user_id: UUID | None = None


class PermissionChecks(Model):
    """Several questions."""

    checks: list[PermissionCheck]


class PermissionHolder(Model):
    """A user who holds the permission."""

    grants: list[DecidingGrant]
    user: AssignedUser
    user_id: UUID
    truncated: bool | None = None


class Preview(Model):
    """What a change would do, if it were made now."""

    allowed: bool
    changes: list[RightChange]
    truncated: bool
    users: int
    problem: ProblemDocument | None = None


class ProblemDocument(Model):
    """A problem document (RFC 9457)."""

    correlation_id: str
    detail: str
    instance: str
    status: int
    title: str
    type: str
    challenge: str | None = Field(default=None, repr=False)
    errors: list[FieldError] | None = None
    expires_in: int | None = None
    first_sequence: int | None = None
    methods: list[str] | None = None
    retry_after: int | None = None


class ProvidedRole(Model):
    """A role of the users that a provider makes."""

    organization_id: UUID | None
    role_id: UUID


class ProviderSummary(Model):
    """A provider by which people log in."""

    id: UUID
    name: str
    slug: str


class Ready(Model):
    """The service can do its work."""

    checks: Checks
    status: str


class Recorded(Model):
    """The actions that the service records for one resource type."""

    actions: list[str]
    resource_type: str


class RecoveryCodes(Model):
    """A set of recovery codes."""

    recovery_codes: list[str] | None = Field(repr=False)


class Refresh(Model):
    """The refresh token to exchange."""

    refresh_token: str = Field(repr=False)


class Registration(Model):
    """A new tenant and its first user."""

    email: str
    first_name: str
    last_name: str
    password: str = Field(repr=False)
    tenant_name: str | None = None


class RemovedEntries(Model):
    """How many entries were removed."""

    removed: int


class RightChange(Model):
    """A permission that a user would gain or lose in a place, with everything below it."""

    change: RightDirection
    from_: Time
    organization_id: UUID | None
    permission: str
    until: Time | None
    user_id: UUID
    via: list[UUID]


class Role(Model):
    """A named set of permissions."""

    created_at: Time
    description: str
    id: UUID
    name: str
    permissions: list[str]
    scope: Literal["TENANT", "ORGANIZATION", "ANY"] | str
    system: bool
    updated_at: Time


class RoleAssignment(Model):
    """A role that a user holds, tenant-wide or in an organization."""

    access_request_id: UUID | None
    created_at: Time
    created_by: UUID | None
    directory_group_id: UUID | None
    expires_at: Time | None
    id: UUID
    organization_id: UUID | None
    role_id: UUID
    user_id: UUID


class RoleAssignmentPatch(Model):
    """The changes to an assignment."""

    expires_at: Time | None = None


class RolePatch(Model):
    """The changes to a role."""

    description: str | None = None
    name: str | None = None
    permissions: list[str] | None = None
    scope: Literal["TENANT", "ORGANIZATION", "ANY"] | str | None = None


class SecondFactor(Model):
    """A proof by a second factor, with the challenge of the login."""

    challenge: str = Field(repr=False)
    code: str | None = Field(default=None, repr=False)
    credential: dict[str, Any] | None = Field(default=None, repr=False)
    recovery_code: str | None = Field(default=None, repr=False)


class Session(Model):
    """A login that has not ended."""

    created_at: Time
    current: bool
    expires_at: Time
    id: UUID
    ip_address: str | None
    last_used_at: Time
    user_agent: str | None
    actor: Actor | None = None
    read_only: bool | None = None
    reason: str | None = None


class StartedEmailLogin(Model):
    """A login by e-mail that has begun."""

    flow: str = Field(repr=False)


class StartedFederation(Model):
    """Where the browser goes."""

    authorization_url: str
    expires_in: int


class StepUp(Model):
    """A proof by which a session authenticates again."""

    code: str | None = Field(default=None, repr=False)
    credential: dict[str, Any] | None = Field(default=None, repr=False)
    password: str | None = Field(default=None, repr=False)


class Tenant(Model):
    """A customer."""

    authzen_identifiers: Literal["ID", "NAME"] | str
    created_at: Time
    email_login: Literal["OFF", "ON"] | str
    id: UUID
    name: str
    password_login: Literal["ALLOWED", "FEDERATED"] | str
    password_policy: Literal["seed", "nist-800-63b-4", "asvs-5"] | str
    second_factor: Literal["OFF", "OPTIONAL", "REQUIRED"] | str
    second_factor_grace_days: int
    slug: str
    status: str
    updated_at: Time
    organization_attributes: list[OrganizationAttribute] | None = None
    unregistered_attributes: Literal["ALLOWED", "REFUSED"] | str | None = None
    user_attributes: list[UserAttribute] | None = None


class TenantDeletion(Model):
    """The deletion of the tenant."""

    deletion_at: Time | None
    keeps_log: bool | None
    reason: str | None


class TenantPatch(Model):
    """The changes to a tenant."""

    authzen_identifiers: Literal["ID", "NAME"] | str | None = None
    email_login: Literal["OFF", "ON"] | str | None = None
    name: str | None = None
    organization_attributes: list[OrganizationAttribute] | None = None
    password_login: Literal["ALLOWED", "FEDERATED"] | str | None = None
    password_policy: Literal["seed", "nist-800-63b-4", "asvs-5"] | str | None = None
    second_factor: Literal["OFF", "OPTIONAL", "REQUIRED"] | str | None = None
    second_factor_grace_days: int | None = None
    slug: str | None = None
    unregistered_attributes: Literal["ALLOWED", "REFUSED"] | str | None = None
    user_attributes: list[UserAttribute] | None = None


class Tokens(Model):
    """A pair of tokens."""

    access_token: str = Field(repr=False)
    expires_in: int
    refresh_token: str = Field(repr=False)
    token_type: str


class TotpConfirmation(Model):
    """The first code of an authenticator app."""

    code: str = Field(repr=False)


class TotpSetup(Model):
    """An authenticator app that waits for its first code."""

    id: UUID
    qr: str | None = Field(repr=False)
    secret: str | None = Field(repr=False)
    uri: str | None = Field(repr=False)


class TreeNode(Model):
    """An organization with everything below it."""

    children: list[TreeNode]
    depth: int
    id: UUID
    name: str
    slug: str
    status: Literal["ACTIVE", "SUSPENDED", "INACTIVE"] | str


class UpdatedDirectory(Model):
    """A directory as the response to a change shows it."""

    adopt: bool
    created_at: Time
    id: UUID
    identity_provider_id: UUID | None
    name: str
    scim_url: str
    service_account_id: UUID
    updated_at: Time


class UpdatedUser(Model):
    """A user as the response to a change shows it."""

    id: UUID
    kind: Literal["HUMAN", "SERVICE"] | str
    status: Literal["ACTIVE", "SUSPENDED", "INACTIVE"] | str
    updated_at: Time
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    name: str | None = None


class User(Model):
    """A person who can log in to a tenant, or a service account, as which programs act by API keys."""

    created_at: Time
    email_verified_at: Time | None
    external_id: str | None
    home_organization_id: UUID | None
    id: UUID
    kind: Literal["HUMAN", "SERVICE"] | str
    last_login_at: Time | None
    status: Literal["ACTIVE", "SUSPENDED", "INACTIVE"] | str
    tenant_id: UUID
    updated_at: Time
    attributes: dict[str, Any] | None = None
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    name: str | None = None


class UserAttribute(Model):
    """An attribute of users that the tenant defines."""

    key: str
    type: Literal["STRING", "NUMBER", "BOOLEAN", "STRINGS", "OBJECT"] | str
    in_token: bool | None = None
    person_reads: bool | None = None
    person_writes: bool | None = None
    searchable: bool | None = None


class UserExport(Model):
    """All that is held about a user, as JSON."""

    access_requests: list[dict[str, Any]]
    api_keys: list[dict[str, Any]]
    assignments: list[dict[str, Any]]
    directory: list[dict[str, Any]]
    eligibilities: list[dict[str, Any]]
    entries: list[dict[str, Any]]
    exported_at: Time
    factors: list[dict[str, Any]]
    groups: list[dict[str, Any]]
    identities: list[dict[str, Any]]
    invitations: list[dict[str, Any]]
    past_assignments: list[dict[str, Any]]
    sessions: list[dict[str, Any]]
    user: dict[str, Any]


class UserListItem(Model):
    """A user as lists show it."""

    id: UUID
    kind: Literal["HUMAN", "SERVICE"] | str
    last_login_at: Time | None
    status: Literal["ACTIVE", "SUSPENDED", "INACTIVE"] | str
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    name: str | None = None


class UserPatch(Model):
    """The changes to a user."""

    attributes: dict[str, Any] | None = None
    email: str | None = None
    external_id: str | None = None
    first_name: str | None = None
    home_organization_id: UUID | None = None
    last_name: str | None = None
    name: str | None = None
    status: Literal["ACTIVE", "SUSPENDED", "INACTIVE"] | str | None = None


class Webhook(Model):
    """Sends the events of the tenant to an address."""

    created_at: Time
    created_by: UUID | None
    description: str
    enabled: bool
    format: Literal["native", "ocsf"] | str
    id: UUID
    types: list[str]
    url: str


class WebhookPatch(Model):
    """The changes to a webhook."""

    description: str | None = None
    enabled: bool | None = None
    format: Literal["native", "ocsf"] | str | None = None
    types: list[str] | None = None
    url: str | None = None


class WebhookReplay(Model):
    """Where to begin again."""

    from_sequence: int


class WebhookTest(Model):
    """What the receiver has answered."""

    duration_ms: int
    error: str | None
    http_status: int | None


class Directory(UpdatedDirectory):
    """Where the identity provider of a company writes its people and groups."""

    last_request_at: Time | None
    refusals: list[DirectoryRefusal]


class ExportedAuditEntry(AuditEntry):
    """An entry, with the cursor from which an export continues after it."""

    cursor: str


class IssuedApiKey(ApiKey):
    """A key with its text, which is never shown again."""

    key: str | None = Field(repr=False)


class IssuedWebhook(Webhook):
    """A webhook with its secret, which is never shown again."""

    secret: str | None = Field(repr=False)


class ListedAccessRequest(AccessRequest):
    """An access request with the names of all that it mentions."""

    user: AssignedUser
    approver_role: Named | None = None
    closed_by_user: AssignedUser | None = None
    organization: Named | None = None
    role: Named | None = None


class ListedEligibility(Eligibility):
    """An eligibility with its role and its organization."""

    role: Named
    organization: Named | None = None


class ListedRoleAssignment(RoleAssignment):
    """An assignment as lists show it."""

    role: Named
    user: AssignedUser
    organization: Named | None = None


class LoggedIn(Tokens):
    """A successful login."""

    user: User
    enrol_by: Time | None = None


class RegisteredPasskey(Factor):
    """A registered passkey."""

    recovery_codes: list[str] | None = Field(default=None, repr=False)


class UserRole(RoleAssignment):
    """An assignment of a user, with its role and its organization."""

    role: Named
    organization: Named | None = None


class Registered(LoggedIn):
    """A new user, who is logged in, with its tenant."""

    tenant: Tenant


AuthzenAnswer = AuthzenDecisions | AuthzenDecision
"""The decisions of several questions, or that of the only one."""
