//! What an entry of the log records, in a sentence.

use crate::text::{log_field, t, t_with};

/// The facts of an entry of the log, for its sentence. Texts that are not known are empty.
pub(super) struct EntryFacts<'a> {
    pub(super) resource_type: &'a str,
    pub(super) action: &'a str,
    /// The acting user.
    pub(super) actor: &'a str,
    /// The person who acts as that user.
    pub(super) by: &'a str,
    /// The name of the resource.
    pub(super) subject: &'a str,
    /// The user whom it is about.
    pub(super) user: &'a str,
    /// Whether that is the acting user.
    pub(super) is_own: bool,
    pub(super) role: &'a str,
    /// The name of an organization, or the whole tenant.
    pub(super) place: &'a str,
    pub(super) reason: &'a str,
    /// Whether the user has accepted an invitation.
    pub(super) is_invited: bool,
    /// Whether it is a decision of an access review.
    pub(super) is_decision: bool,
    /// Whether a group of a directory gives the role, or has given it.
    pub(super) is_by_group: bool,
    /// Whether the role comes from an access request that was approved, or that needs no approval.
    pub(super) is_by_request: bool,
    /// Why an access request was closed by itself.
    pub(super) cause: &'a str,
    /// The names of the changed fields.
    pub(super) fields: &'a str,
}

impl EntryFacts<'_> {
    fn has_changed(&self, field: &str) -> bool {
        self.fields.split(", ").any(|changed| changed == field)
    }
}

/// Names a user in whose session another person acts.
pub(super) fn acting_as(by: &str, user: &str) -> String {
    t_with("said-acting-as", [("by", by.into()), ("user", user.into())])
}

/// Returns the sentence of an entry.
pub(super) fn entry_sentence(facts: &EntryFacts<'_>) -> String {
    let because = because(facts);
    let id = match (facts.resource_type, facts.action) {
        ("USER", "CREATE") if facts.is_invited => "said-user-create-invited",
        ("USER", "CREATE") => "said-user-create",
        ("USER", "UPDATE") => "said-user-update",
        ("USER", "DELETE") => "said-user-delete",
        ("USER", "USER_SUSPENDED") => "said-user-suspended",
        ("USER", "USER_REACTIVATED") => "said-user-reactivated",
        ("USER", "LOGIN_FAILURE") => "said-user-login-failure",
        ("USER", "PASSWORD_CHANGE") => "said-user-password-change",
        ("USER", "PASSWORD_RESET_REQUESTED") => "said-user-password-reset-requested",
        ("USER", "EMAIL_LOGIN_REQUESTED") => "said-user-email-login-requested",
        ("USER", "EMAIL_VERIFIED") => "said-user-email-verified",
        ("USER", "RECOVERY_CODE_USED") => "said-user-recovery-code-used",
        ("USER", "RECOVERY_CODES_ISSUED") => "said-user-recovery-codes-issued",
        ("USER", "READ") => "said-user-read",
        ("USER", "ERASE") => "said-user-erase",
        ("ORGANIZATION", "CREATE") => "said-organization-create",
        ("ORGANIZATION", "UPDATE") => "said-organization-update",
        ("ORGANIZATION", "DELETE") => "said-organization-delete",
        ("TENANT", "CREATE") => "said-tenant-create",
        ("TENANT", "READ") => "said-tenant-read",
        ("TENANT", "UPDATE") => "said-tenant-update",
        ("TENANT", "DELETE") => "said-tenant-delete",
        ("ROLE", "CREATE") => "said-role-create",
        ("ROLE", "UPDATE") => "said-role-update",
        ("ROLE", "DELETE") => "said-role-delete",
        ("PERMISSION", "CREATE") => "said-permission-create",
        ("PERMISSION", "DELETE") => "said-permission-delete",
        ("ROLE_ASSIGNMENT", "ROLE_ASSIGNED") if facts.is_by_request => "said-role-assigned-by-request",
        // A member gets the role when the directory adds it, or when a person maps the group to the role.
        ("ROLE_ASSIGNMENT", "ROLE_ASSIGNED") if facts.is_by_group => "said-role-assigned-by-group",
        // Who accepts an invitation gets the roles of it, and grants nothing.
        ("ROLE_ASSIGNMENT", "ROLE_ASSIGNED") if facts.is_own => "said-role-got",
        ("ROLE_ASSIGNMENT", "ROLE_ASSIGNED") => "said-role-assigned",
        ("ROLE_ASSIGNMENT", "ROLE_REVOKED") => match facts.reason {
            "EXPIRED" => "said-role-expired",
            "ENDED" => "said-role-ended",
            "DIRECTORY_GROUP" => "said-role-ended-by-group",
            _ => "said-role-revoked",
        },
        ("ROLE_ASSIGNMENT", "UPDATE") if facts.has_changed("directoryGroupId") => "said-assignment-to-group",
        ("ROLE_ASSIGNMENT", "UPDATE") => "said-assignment-update",
        ("SESSION", "LOGIN") => "said-session-login",
        ("SESSION", "LOGOUT") => match (facts.is_own, facts.reason) {
            (true, "LOGOUT_ALL") => "said-session-logout-all",
            (true, "TERMINATED") => "said-session-own-terminated",
            (true, _) if because.is_empty() => "said-session-logout",
            (true, _) => "said-session-ended",
            (false, _) => "said-session-ended-by",
        },
        ("SESSION", "TOKEN_REFRESH") => "said-session-token-refresh",
        ("SESSION", "IMPERSONATION_STARTED") => "said-session-impersonation-started",
        ("SESSION", "IMPERSONATION_ENDED") => "said-session-impersonation-ended",
        ("SESSION", "UPDATE") => "said-session-update",
        ("AUDIT_LOG", "READ") => "said-audit-log-read",
        ("AUDIT_LOG", "UPDATE") => "said-audit-log-update",
        ("AUDIT_LOG", "DELETE") => "said-audit-log-delete",
        ("INVITATION", "CREATE") => "said-invitation-create",
        ("INVITATION", "UPDATE") => "said-invitation-update",
        ("INVITATION", "DELETE") => "said-invitation-delete",
        ("INVITATION", "ACCEPTED") => "said-invitation-accepted",
        ("FACTOR", "CREATE") => "said-factor-create",
        ("FACTOR", "UPDATE") => "said-factor-update",
        ("FACTOR", "DELETE") => "said-factor-delete",
        ("FACTOR", "PASSKEY_COUNTER") => "said-factor-passkey-counter",
        ("API_KEY", "CREATE") => "said-api-key-create",
        ("API_KEY", "UPDATE") => "said-api-key-update",
        ("API_KEY", "DELETE") => "said-api-key-delete",
        ("WEBHOOK", "CREATE") => "said-webhook-create",
        ("WEBHOOK", "UPDATE") => "said-webhook-update",
        ("WEBHOOK", "DELETE") => "said-webhook-delete",
        ("DOMAIN", "CREATE") => "said-domain-create",
        ("DOMAIN", "UPDATE") => "said-domain-update",
        ("DOMAIN", "DELETE") => "said-domain-delete",
        ("LEGAL_HOLD", "CREATE") => "said-legal-hold-create",
        ("LEGAL_HOLD", "DELETE") => "said-legal-hold-delete",
        ("IDENTITY", "CREATE") => "said-identity-create",
        ("IDENTITY", "DELETE") => "said-identity-delete",
        ("IDENTITY_PROVIDER", "CREATE") => "said-identity-provider-create",
        ("IDENTITY_PROVIDER", "UPDATE") => "said-identity-provider-update",
        ("IDENTITY_PROVIDER", "DELETE") => "said-identity-provider-delete",
        ("DIRECTORY", "CREATE") => "said-directory-create",
        ("DIRECTORY", "UPDATE") => "said-directory-update",
        ("DIRECTORY", "DELETE") => "said-directory-delete",
        ("DIRECTORY_GROUP", "CREATE") => "said-directory-group-create",
        ("DIRECTORY_GROUP", "UPDATE") => "said-directory-group-update",
        ("DIRECTORY_GROUP", "DELETE") => "said-directory-group-delete",
        ("ACCESS_REVIEW", "CREATE") => "said-access-review-create",
        ("ACCESS_REVIEW", "UPDATE") if facts.is_decision && facts.user.is_empty() => {
            "said-access-review-eligibility-decided"
        }
        ("ACCESS_REVIEW", "UPDATE") if facts.is_decision => "said-access-review-role-decided",
        ("ACCESS_REVIEW", "UPDATE") => "said-access-review-update",
        ("ACCESS_REVIEW", "COMPLETED") => "said-access-review-completed",
        ("ELIGIBILITY", "CREATE") => "said-eligibility-create",
        ("ELIGIBILITY", "UPDATE") => "said-eligibility-update",
        ("ELIGIBILITY", "DELETE") => "said-eligibility-delete",
        ("ELIGIBILITY", _) => "said-eligibility-other",
        ("ACCESS_REQUEST", "CREATE") => "said-request-create",
        ("ACCESS_REQUEST", "APPROVED") => "said-request-approved",
        ("ACCESS_REQUEST", "DENIED") => "said-request-denied",
        ("ACCESS_REQUEST", "CANCELLED") if !facts.cause.is_empty() => "said-request-cancelled-because",
        ("ACCESS_REQUEST", "CANCELLED") => "said-request-cancelled",
        ("ACCESS_REQUEST", "LAPSED") => "said-request-lapsed",
        ("ACCESS_REQUEST", "ENDED") if facts.cause == "EXPIRED" => "said-request-expired",
        ("ACCESS_REQUEST", "ENDED") => "said-request-ended",
        ("ACCESS_REQUEST", _) => "said-request-other",
        _ => "said-other",
    };
    let EntryFacts { resource_type, action, actor, by, subject, user, role, place, fields, .. } = *facts;
    // What may be absent has its space or its brackets with it.
    let named = if subject.is_empty() { String::new() } else { format!(" {subject}") };
    let fields: Vec<String> = fields.split(", ").filter(|field| !field.is_empty()).map(log_field).collect();
    let fields = if fields.is_empty() { String::new() } else { format!(" ({})", fields.join(", ")) };
    let of_user =
        if facts.is_own || user.is_empty() { String::new() } else { t_with("said-of-user", [("user", user.into())]) };
    let who = if user.is_empty() { t("said-holders-of-a-role") } else { user };
    let arguments = [
        ("resource", resource_type.into()),
        ("action", action.into()),
        ("actor", actor.into()),
        ("by", by.into()),
        ("subject", subject.into()),
        ("named", named.into()),
        ("user", user.into()),
        ("of-user", of_user.into()),
        ("who", who.into()),
        ("role", role.into()),
        ("place", place.into()),
        ("fields", fields.into()),
        ("because", because.into()),
    ];
    t_with(id, arguments)
}

/// Says why a session has ended, or why an access request was cancelled by itself. Empty if no cause is to be told.
fn because(facts: &EntryFacts<'_>) -> &'static str {
    match (facts.resource_type, facts.reason, facts.cause) {
        ("SESSION", "PASSWORD_CHANGE", _) => t("said-because-password-change"),
        ("SESSION", "TOKEN_REUSE", _) => t("said-because-token-reuse"),
        ("SESSION", "USER_SUSPENDED", _) => t("said-because-user-suspended"),
        ("SESSION", "USER_DELETED", _) => t("said-because-user-deleted"),
        ("SESSION", "TENANT_SUSPENDED", _) => t("said-because-tenant-suspended"),
        ("SESSION", "IDENTITY_LINKED", _) => t("said-because-identity-linked"),
        ("SESSION", "FACTORS_REMOVED", _) => t("said-because-factors-removed"),
        ("ACCESS_REQUEST", _, "OUTDATED") => t("said-cause-outdated"),
        ("ACCESS_REQUEST", _, "NOT_ELIGIBLE") => t("said-cause-not-eligible"),
        ("ACCESS_REQUEST", _, "ROLE_HELD") => t("said-cause-role-held"),
        ("ACCESS_REQUEST", _, "USER_SUSPENDED") => t("said-cause-user-suspended"),
        ("ACCESS_REQUEST", _, "USER_DELETED") => t("said-cause-user-deleted"),
        ("ACCESS_REQUEST", ..) => t("said-cause-other"),
        _ => "",
    }
}
