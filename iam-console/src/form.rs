use iam_core::user::NewUser;
use iam_core::{AttributeKey, Error};

use crate::query;

/// The field with a form that waits for a session.
pub(crate) const KEPT: &str = "kept";

/// Begins the name of a field with an attribute that the tenant has defined. Its key follows.
pub(crate) const ATTRIBUTE: &str = "attributes.";

/// The fields that a form can have several times, see [`Form::all`].
const LISTS: [&str; 6] = ["domainIds", "leftOut", "permission", "roleIds", "selected", "types"];

/// The fields that some form of the console has.
const KNOWN: [&str; 107] = [
    "account",
    "action",
    "adopt",
    "again",
    "approvals",
    "approverRole",
    "attributes",
    "authzenIdentifiers",
    "before",
    "clientId",
    "clientSecret",
    "closeReason",
    "closes",
    "code",
    "confirmed",
    "credential",
    "csv",
    "currentPassword",
    "decision",
    "density",
    "description",
    "domain",
    "domainIds",
    "dueAt",
    "eligibility",
    "email",
    "emailLogin",
    "enabled",
    "expiresAt",
    "externalId",
    "factorIsTrusted",
    "find",
    "firstLine",
    "firstName",
    "form-token",
    "format",
    "fromSequence",
    "heldRole",
    "homeOrganizationId",
    "identityProviderId",
    "issuer",
    "kept",
    "key",
    "language",
    "lastName",
    "leftOut",
    "maxSeconds",
    "more",
    "name",
    "newEmail",
    "newPassword",
    "next",
    "organization",
    "organizationAttributes",
    "organizationId",
    "page",
    "parent",
    "password",
    "passwordLogin",
    "passwordPolicy",
    "permission",
    "place",
    "proof-back",
    "proof-code",
    "proof-credential",
    "proof-password",
    "proof-recovery-code",
    "provider",
    "provisioning",
    "readOnly",
    "reason",
    "removeSecret",
    "resource",
    "retentionDays",
    "role",
    "roleIds",
    "roles",
    "run",
    "scope",
    "scopes",
    "search",
    "secondFactor",
    "secondFactorGraceDays",
    "seconds",
    "selected",
    "serviceAccountId",
    "session",
    "shown",
    "slug",
    "startsAt",
    "status",
    "subjectClaim",
    "tenant",
    "tenantName",
    "theme",
    "ticket",
    "token",
    "trustsEmail",
    "types",
    "unregisteredAttributes",
    "until",
    "url",
    "user",
    "userAttributes",
    "users",
    "version",
    "who",
];

/// The fields of a form that a browser has sent.
#[derive(Clone, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Parses the body of a request.
    pub(crate) fn parse(body: &[u8]) -> Self {
        Self(query::parsed(body))
    }

    /// Fails if the form has a field that no form of the console has, or one twice that is no list. The rows of a form
    /// have numbered fields, such as `role-1`, and attributes that the tenant has defined have fields such as
    /// `attributes.costCentre`.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_known = |name: &str| {
            let row = name.rsplit_once('-').filter(|(_, number)| is_number(number));
            let attribute = name.strip_prefix(ATTRIBUTE).map(str::parse::<AttributeKey>);
            KNOWN.contains(&row.map_or(name, |(field, _)| field)) || attribute.is_some_and(|key| key.is_ok())
        };
        query::refuse(&self.0, is_known, |name| LISTS.contains(&name))
    }

    /// Returns a form with one field.
    pub(crate) fn with(name: &str, value: String) -> Self {
        Self::of([(name, value)])
    }

    /// Returns a form with these fields.
    pub(crate) fn of<const N: usize>(fields: [(&str, String); N]) -> Self {
        Self(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(found, _)| found == name)
    }

    /// Returns the names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the value of a field. A field that is missing is empty.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    /// Returns all values of a field that a form can have several times. [`LISTS`] has its name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a field, without spaces around it, if it is not empty.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        Some(self.get(name).trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// Returns the form with another value of a field.
    pub(crate) fn replacing(mut self, name: &str, value: impl Into<String>) -> Self {
        self.remove(&[name]);
        self.0.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn remove(&mut self, names: &[&str]) {
        self.0.retain(|(name, _)| !names.contains(&name.as_str()));
    }

    /// Returns the fields as a browser would send them.
    pub(crate) fn encoded(&self) -> String {
        query::written(self.0.iter().map(|(name, value)| (&**name, &**value)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_fields(self) -> Vec<(String, String)> {
        self.0
    }

    /// Reads the fields of a new user.
    pub(crate) fn new_user(&self) -> NewUser {
        NewUser {
            email: self.get("email").to_owned(),
            password: self.get("password").into(),
            first_name: self.get("firstName").to_owned(),
            last_name: self.get("lastName").to_owned(),
        }
    }
}
