//! The audit log: its pages, the texts of its script, and what it records, in sentences.

pub(crate) const AUDIT_LOG: &str = "Audit log";
pub(crate) const AUDIT_ENTRY: &str = "Entry of the log";
pub(crate) const ENTRY_ID: &str = "Id of the entry";
pub(crate) const RESOURCE: &str = "About";
pub(crate) const EVERY_RESOURCE: &str = "Everything";
pub(crate) const ACTION: &str = "Action";
pub(crate) const EVERY_ACTION: &str = "Every action";
pub(crate) const FROM_DAY: &str = "From (day in UTC)";
pub(crate) const UNTIL_DAY: &str = "Until (day in UTC)";
pub(crate) const RESOURCE_ID: &str = "Id of the resource";
pub(crate) const ABOUT_WHICH: &str = "About which one";
pub(crate) const ABOUT_WHICH_HINT: &str = "Its id, or the e-mail address of a user";
pub(crate) const ACTING_USER: &str = "Acting user";
pub(crate) const MUST_BE_CORRELATION: &str = "must be a correlation id";
pub(crate) const ONLY_THE_USER_ITSELF: &str = "These are the changes of the user itself. What happened to sessions, roles, second factors and keys of the user is \
     in the log without this filter.";

/// How many entries of the log a page shows.
pub(crate) fn entries_shown(count: usize) -> String {
    match count {
        0 => NO_ENTRY_MATCHES.to_owned(),
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    }
}

pub(crate) const NO_ENTRY_MATCHES: &str = "No entry matches.";
pub(crate) const SHOW_ALL_ENTRIES: &str = "Show all entries";
pub(crate) const FIELD: &str = "Field";
pub(crate) const BEFORE: &str = "Before";
pub(crate) const AFTER: &str = "After";
pub(crate) const FIELD_ADDED: &str = "added";
pub(crate) const FIELD_CHANGED: &str = "changed";
pub(crate) const FIELD_REMOVED: &str = "removed";
/// Both values are secrets.
pub(crate) const FIELD_HIDDEN: &str = "not shown";
pub(crate) const FIELD_SAME: &str = "unchanged";
pub(crate) const REDACTED_VALUE: &str = "Redacted: the log keeps no secrets.";
pub(crate) const ERASED_VALUE: &str = "Erased: the log no longer has this personal value.";

/// How many fields of an entry have the same value before and after.
pub(crate) fn fields_unchanged(count: usize) -> String {
    if count == 1 { "1 unchanged field".to_owned() } else { format!("{count} unchanged fields") }
}

pub(crate) const ADDRESS: &str = "Address";
pub(crate) const DEVICE: &str = "Device";
pub(crate) const NEWEST: &str = "Newest";
pub(crate) const OLDER: &str = "Older";

pub(crate) const CHECK: &str = "Check";
pub(crate) const CHECK_LOG: &str = "Check the log";
pub(crate) const FOLLOW: &str = "Follow live";

/// The texts of the script of the audit log, by their names.
pub(crate) const AUDIT_TEXTS: [(&str, &str); 43] = [
    ("following", "New entries appear at the top, every few seconds while this page is visible."),
    ("news", "New entries: {count}."),
    ("gap", "Many entries came since this page was loaded. Load it again, then follow."),
    ("long", "Following has stopped, because it took long. Press the button to go on."),
    ("stopped", "Following has stopped."),
    ("ended", "Your session has ended."),
    ("good", "Checked: everything matches."),
    ("bad", "Checked: something does not match."),
    ("unknown", "This could not be checked."),
    ("checking", "Checked entries: {done} of {count}."),
    ("log-good", "The log was not changed since this browser last checked it, on {time}."),
    ("log-first", "This is the first check of the log in this browser."),
    (
        "log-kept",
        "Whether the log was changed before now was not checked. This browser keeps what it needs to find a later change.",
    ),
    (
        "log-compared",
        "The entries on this page were compared with the log, and match: {count}. Entries on other pages were not read.",
    ),
    (
        "log-waiting",
        "Entries on this page that were not checked: {count}. New entries can be checked after a few seconds. The first reason: {why}",
    ),
    ("entry-differs", "The entry \u{201c}{sentence}\u{201d} is not as the log has it."),
    ("mark-good", "✓"),
    ("mark-bad", "✗"),
    ("mark-unknown", "–"),
    ("how", "What was checked, and what was not"),
    (
        "included",
        "This browser computed the hash of the entry, and from it and {hashes} other hashes the root of the log with {size} entries. It is the root in the present checkpoint.",
    ),
    ("not-included", "The root that this browser computed from the entry is not the root in the present checkpoint."),
    ("signed", "The present checkpoint is signed with the key that this browser has kept since {time}."),
    (
        "signed-first",
        "The present checkpoint is signed with the key that the server names. This browser keeps the key from now on.",
    ),
    ("not-signed", "The present checkpoint is not signed with the key of the log."),
    (
        "signature-unknown",
        "The signature of the checkpoint was not checked, because this browser does not have Ed25519.",
    ),
    ("other-key", "The log has another key than the one that this browser has kept since {time}."),
    (
        "grown",
        "The checkpoint that this browser kept on {time} has {old} entries, and the log of now starts with the same {old} entries. None of them was changed, removed or moved.",
    ),
    (
        "not-grown",
        "The log of now does not start with the {old} entries of the checkpoint that this browser kept on {time}. Some of them were changed, removed or moved.",
    ),
    ("personal", "The personal values of the entry match the hashes in it."),
    ("not-personal", "Personal values of the entry do not match the hashes in it."),
    ("erased", "Personal values of the entry were erased, so they were not checked. Their hashes are in the entry."),
    (
        "shown",
        "The proven entry has the action, the type and the time that this page shows. Compare its other fields below.",
    ),
    ("not-shown", "The proven entry has another action, type or time than this page shows."),
    ("protected", "The entry was in the log on {time}, and has not changed since."),
    (
        "newer",
        "The entry is newer than the last check of this browser, on {time}. Whether it was changed before now was not checked. A later change will be found.",
    ),
    (
        "first",
        "This browser has not checked the log before. Whether the entry was changed before now was not checked. A later change will be found.",
    ),
    ("limit-truth", "Not checked: whether the entries were true when they were written."),
    ("limit-others", "Not checked: whether other people get the same log. Compare your checkpoint with theirs."),
    (
        "limit-script",
        "The program of this check comes from the same server. To be independent of it, keep the checkpoint below, and check it with a tool of your own.",
    ),
    ("evidence", "The checkpoint, the key, and the proven entry if one was checked"),
    ("operator", "Do not clear the data of this browser, and ask the operator to run: iam-server audit verify"),
    ("insecure", "A browser can check the log only over HTTPS, or on the same machine."),
];

pub(crate) const SERVICE_ACTED: &str = "The service";
pub(crate) const ANONYMOUS_ACTED: &str = "A person who was not signed in";

/// The facts of an entry of the log, for its sentence. Texts that are not known are empty.
pub(crate) struct EntryFacts<'a> {
    pub(crate) resource_type: &'a str,
    pub(crate) action: &'a str,
    /// The acting user.
    pub(crate) actor: &'a str,
    /// The person who acts as that user.
    pub(crate) by: &'a str,
    /// The name of the resource.
    pub(crate) subject: &'a str,
    /// The user whom it is about.
    pub(crate) user: &'a str,
    /// Whether that is the acting user.
    pub(crate) is_own: bool,
    pub(crate) role: &'a str,
    /// The name of an organization, or the whole tenant.
    pub(crate) place: &'a str,
    pub(crate) reason: &'a str,
    /// Whether the user has accepted an invitation.
    pub(crate) is_invited: bool,
    /// Whether it is a decision of an access review.
    pub(crate) is_decision: bool,
    /// Whether a group of a directory gives the role, or has given it.
    pub(crate) is_by_group: bool,
    /// Whether the role comes from an access request that was approved, or that needs no approval.
    pub(crate) is_by_request: bool,
    /// Why an access request was closed by itself.
    pub(crate) cause: &'a str,
    /// The names of the changed fields.
    pub(crate) fields: &'a str,
}

impl EntryFacts<'_> {
    fn has_changed(&self, field: &str) -> bool {
        self.fields.split(", ").any(|changed| changed == field)
    }
}

/// Names a user in whose session another person acts.
pub(crate) fn acting_as(by: &str, user: &str) -> String {
    format!("{by} as {user}")
}

/// Returns the sentence of an entry.
pub(crate) fn entry_sentence(facts: &EntryFacts<'_>) -> String {
    let EntryFacts { actor, by, subject, user, role, place, fields, .. } = *facts;
    let of_user = if facts.is_own || user.is_empty() { String::new() } else { format!(" of {user}") };
    let fields = if fields.is_empty() { String::new() } else { format!(" ({fields})") };
    let the = |noun: &str| if subject.is_empty() { format!("the {noun}") } else { format!("the {noun} {subject}") };
    match (facts.resource_type, facts.action) {
        ("USER", "CREATE") if facts.is_invited => format!("{subject} accepted an invitation and became a user"),
        ("USER", "CREATE") => format!("{actor} created {}", the("user")),
        ("USER", "UPDATE") => format!("{actor} changed {}{fields}", the("user")),
        ("USER", "DELETE") => format!("{actor} deleted {}", the("user")),
        ("USER", "USER_SUSPENDED") => format!("{actor} suspended {subject}"),
        ("USER", "USER_REACTIVATED") => format!("{actor} reactivated {subject}"),
        ("USER", "LOGIN_FAILURE") => format!("A sign-in as {subject} failed"),
        ("USER", "PASSWORD_CHANGE") => format!("{actor} changed the password{of_user}"),
        ("USER", "PASSWORD_RESET_REQUESTED") => format!("A link for a new password was sent to {subject}"),
        ("USER", "EMAIL_LOGIN_REQUESTED") => format!("A link to sign in was sent to {subject}"),
        ("USER", "EMAIL_VERIFIED") => format!("The e-mail address of {subject} was verified"),
        ("USER", "RECOVERY_CODE_USED") => format!("{subject} used a recovery code"),
        ("USER", "RECOVERY_CODES_ISSUED") => format!("{subject} got new recovery codes"),
        ("USER", "READ") => format!("{actor} exported what is held about {subject}"),
        ("USER", "ERASE") => format!("{actor} erased the personal data of {subject} in the log"),
        ("ORGANIZATION", "CREATE") => format!("{actor} created {}", the("organization")),
        ("ORGANIZATION", "UPDATE") => format!("{actor} changed {}{fields}", the("organization")),
        ("ORGANIZATION", "DELETE") => format!("{actor} deleted {}", the("organization")),
        ("TENANT", "CREATE") => format!("{actor} created {}", the("tenant")),
        ("TENANT", "READ") => format!("{actor} exported what the tenant has"),
        ("TENANT", "UPDATE") => format!("{actor} changed the settings of the tenant{fields}"),
        ("TENANT", "DELETE") => format!("{actor} began to delete the tenant"),
        ("ROLE", "CREATE") => format!("{actor} created {}", the("role")),
        ("ROLE", "UPDATE") => format!("{actor} changed {}{fields}", the("role")),
        ("ROLE", "DELETE") => format!("{actor} deleted {}", the("role")),
        ("PERMISSION", "CREATE") => format!("{actor} registered {}", the("permission")),
        ("PERMISSION", "DELETE") => format!("{actor} removed {}", the("permission")),
        ("ROLE_ASSIGNMENT", "ROLE_ASSIGNED") if facts.is_by_request => {
            format!("{user} got the role {role} in {place} by an access request")
        }
        // A member gets the role when the directory adds it, or when a person maps the group to the role.
        ("ROLE_ASSIGNMENT", "ROLE_ASSIGNED") if facts.is_by_group => {
            format!("{actor} gave the role {role} to {user} in {place} by a group")
        }
        // Who accepts an invitation gets the roles of it, and grants nothing.
        ("ROLE_ASSIGNMENT", "ROLE_ASSIGNED") if facts.is_own => format!("{user} got the role {role} in {place}"),
        ("ROLE_ASSIGNMENT", "ROLE_ASSIGNED") => format!("{actor} assigned the role {role} to {user} in {place}"),
        ("ROLE_ASSIGNMENT", "ROLE_REVOKED") => match facts.reason {
            "EXPIRED" => format!("The role {role} of {user} in {place} ended"),
            "ENDED" => format!("{actor} ended the role {role} of {user} in {place}, which an access request had given"),
            "DIRECTORY_GROUP" => {
                format!("{actor} ended the role {role} of {user} in {place}, because no group gives it any more")
            }
            _ => format!("{actor} revoked the role {role} of {user} in {place}"),
        },
        ("ROLE_ASSIGNMENT", "UPDATE") if facts.has_changed("directoryGroupId") => {
            format!("{actor} handed a role assignment in {place} over to a group")
        }
        ("ROLE_ASSIGNMENT", "UPDATE") => format!("{actor} changed the end of a role assignment in {place}"),
        ("SESSION", "LOGIN") => format!("{actor} signed in"),
        ("SESSION", "LOGOUT") => session_ended(facts),
        ("SESSION", "TOKEN_REFRESH") => format!("{actor} continued a session"),
        ("SESSION", "IMPERSONATION_STARTED") => format!("{by} began to act as {actor}"),
        ("SESSION", "IMPERSONATION_ENDED") => format!("{by} no longer acts as {actor}"),
        ("SESSION", "UPDATE") => format!("{actor} proved its identity again"),
        ("AUDIT_LOG", "READ") => format!("{actor} exported the audit log"),
        ("AUDIT_LOG", "UPDATE") => format!("{actor} changed the retention of the audit log"),
        ("AUDIT_LOG", "DELETE") => format!("{actor} removed old entries of the audit log"),
        ("INVITATION", "CREATE") => format!("{actor} invited {subject}"),
        ("INVITATION", "UPDATE") => format!("{actor} sent an invitation again"),
        ("INVITATION", "DELETE") => format!("{actor} revoked the invitation of {subject}"),
        ("INVITATION", "ACCEPTED") => "An invitation was accepted".to_owned(),
        ("FACTOR", "CREATE") => format!("{actor} added {}{of_user}", the("second factor")),
        ("FACTOR", "UPDATE") => format!("{actor} renamed {}{of_user}", the("second factor")),
        ("FACTOR", "DELETE") => format!("{actor} removed {}{of_user}", the("second factor")),
        ("FACTOR", "PASSKEY_COUNTER") => {
            format!("The counter of a passkey of {user} fell back: there may be a copy of it")
        }
        ("API_KEY", "CREATE") => format!("{actor} created {}{of_user}", the("API key")),
        ("API_KEY", "UPDATE") => format!("{actor} changed {}{of_user}{fields}", the("API key")),
        ("API_KEY", "DELETE") => format!("{actor} revoked {}{of_user}", the("API key")),
        ("WEBHOOK", "CREATE") => format!("{actor} created {}", the("webhook")),
        ("WEBHOOK", "UPDATE") => format!("{actor} changed {}{fields}", the("webhook")),
        ("WEBHOOK", "DELETE") => format!("{actor} deleted {}", the("webhook")),
        ("DOMAIN", "CREATE") => format!("{actor} added {}", the("domain")),
        ("DOMAIN", "UPDATE") => format!("{actor} changed {}{fields}", the("domain")),
        ("DOMAIN", "DELETE") => format!("{actor} removed {}", the("domain")),
        ("LEGAL_HOLD", "CREATE") => format!("{actor} placed {}", the("legal hold")),
        ("LEGAL_HOLD", "DELETE") => format!("{actor} released {}", the("legal hold")),
        ("IDENTITY", "CREATE") => format!("{actor} linked an account at an identity provider to {user}"),
        ("IDENTITY", "DELETE") => format!("{actor} removed the link of {user} to an identity provider"),
        ("IDENTITY_PROVIDER", "CREATE") => format!("{actor} created {}", the("identity provider")),
        ("IDENTITY_PROVIDER", "UPDATE") => format!("{actor} changed {}{fields}", the("identity provider")),
        ("IDENTITY_PROVIDER", "DELETE") => format!("{actor} deleted {}", the("identity provider")),
        ("DIRECTORY", "CREATE") => format!("{actor} created {}", the("directory")),
        ("DIRECTORY", "UPDATE") => format!("{actor} changed {}{fields}", the("directory")),
        ("DIRECTORY", "DELETE") => format!("{actor} removed {}", the("directory")),
        ("DIRECTORY_GROUP", "CREATE") => format!("{actor} created {}", the("group")),
        ("DIRECTORY_GROUP", "UPDATE") => format!("{actor} changed {}{fields}", the("group")),
        ("DIRECTORY_GROUP", "DELETE") => format!("{actor} deleted {}", the("group")),
        ("ACCESS_REVIEW", "CREATE") => format!("{actor} began {}", the("access review")),
        ("ACCESS_REVIEW", "UPDATE") if facts.is_decision && user.is_empty() => {
            format!("{actor} decided about an eligibility in an access review")
        }
        ("ACCESS_REVIEW", "UPDATE") if facts.is_decision => {
            format!("{actor} decided about a role of {user} in an access review")
        }
        ("ACCESS_REVIEW", "UPDATE") => format!("{actor} changed {}{fields}", the("access review")),
        ("ACCESS_REVIEW", "COMPLETED") => format!("{actor} completed {}", the("access review")),
        ("ELIGIBILITY", _) => eligibility_changed(facts),
        ("ACCESS_REQUEST", _) => request_changed(facts),
        (resource_type, action) => format!("{actor} recorded {resource_type} {action}"),
    }
}

/// Says what was done to an eligibility.
fn eligibility_changed(facts: &EntryFacts<'_>) -> String {
    let EntryFacts { action, actor, user, role, place, fields, .. } = *facts;
    let who = if user.is_empty() { "the holders of a role" } else { user };
    let fields = if fields.is_empty() { String::new() } else { format!(" ({fields})") };
    match action {
        "CREATE" => format!("{actor} let {who} ask for the role {role} in {place}"),
        "UPDATE" => format!("{actor} changed how {who} may ask for the role {role} in {place}{fields}"),
        "DELETE" => format!("{actor} no longer lets {who} ask for the role {role} in {place}"),
        action => format!("{actor} recorded {action} of an eligibility"),
    }
}

/// Says what has happened to an access request.
fn request_changed(facts: &EntryFacts<'_>) -> String {
    let EntryFacts { action, actor, user, role, place, cause, .. } = *facts;
    match action {
        "CREATE" => format!("{actor} asked for the role {role} in {place}"),
        "APPROVED" => format!("{actor} approved that {user} gets the role {role} in {place}"),
        "DENIED" => format!("{actor} refused that {user} gets the role {role} in {place}"),
        "CANCELLED" if !cause.is_empty() => {
            let because = match cause {
                "OUTDATED" => "it can no longer be granted as it was asked for",
                "NOT_ELIGIBLE" => "the user may no longer ask for it",
                "ROLE_HELD" => "the user holds the role by other means",
                "USER_SUSPENDED" => "the user was suspended",
                "USER_DELETED" => "the user was deleted",
                _ => "what it needs has changed",
            };
            format!("The request of {user} for the role {role} in {place} was cancelled, because {because}")
        }
        "CANCELLED" => format!("{actor} cancelled the request of {user} for the role {role} in {place}"),
        "LAPSED" => format!("The request of {user} for the role {role} in {place} lapsed"),
        "ENDED" if cause == "EXPIRED" => format!("The time for which {user} got the role {role} in {place} is over"),
        "ENDED" => format!("{actor} ended the access of {user} by the role {role} in {place}"),
        action => format!("{actor} recorded {action} of an access request"),
    }
}

/// Says why a session has ended.
fn session_ended(EntryFacts { actor, user, is_own, reason, .. }: &EntryFacts<'_>) -> String {
    let because = match *reason {
        "PASSWORD_CHANGE" => ", because the password was changed",
        "TOKEN_REUSE" => ", because a token of it was used twice",
        "USER_SUSPENDED" => ", because the user was suspended",
        "USER_DELETED" => ", because the user was deleted",
        "TENANT_SUSPENDED" => ", because the tenant was suspended",
        "IDENTITY_LINKED" => ", because a person was linked to the account by its address",
        "FACTORS_REMOVED" => ", because the second factors were removed",
        _ => "",
    };
    match (*is_own, *reason) {
        (true, "LOGOUT_ALL") => format!("{actor} signed out everywhere"),
        (true, "TERMINATED") => format!("{actor} ended a session of its own"),
        (true, _) if because.is_empty() => format!("{actor} signed out"),
        (true, _) => format!("A session of {user} ended{because}"),
        (false, _) => format!("{actor} ended a session of {user}{because}"),
    }
}
