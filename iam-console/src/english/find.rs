//! Find: its texts, and the words by which pages of the console are found.

pub(crate) const FIND: &str = "Find";
pub(crate) const FIND_WHAT: &str = "What are you looking for?";
pub(crate) const FIND_HINT: &str =
    "A part of the name of a page, a user, a role or an organization, or an id, also of an entry of the log";
pub(crate) const CLOSE_FIND: &str = "Close";
pub(crate) const RESULTS: &str = "Results";
pub(crate) const PAGES_OF_CONSOLE: &str = "Pages of the console";

/// How many results there are.
pub(crate) fn results(count: usize) -> String {
    match count {
        0 => "Nothing is found that you may see.".to_owned(),
        1 => "1 result".to_owned(),
        count => format!("{count} results"),
    }
}

/// Other words by which a page of the console is found, beside its name. The path is that below the console.
pub(crate) fn other_words(path: &str) -> &'static str {
    match path {
        "" => "home start dashboard statistics sign-ins",
        "/users" => "people persons members employees service accounts",
        "/users/new" => "add create person people account",
        "/users/import" => "csv upload file people",
        "/invitations" => "invited people pending",
        "/invitations/new" => "user mail add",
        "/roles" => "groups permissions rights",
        "/roles/new" => "create add permissions",
        "/assignments" => "who holds roles grants members",
        "/assignments/new" => "give grant user",
        "/organizations" => "places tree branches units departments teams",
        "/organizations/new" => "create add place branch unit department team",
        "/access" => "why permission rights allowed",
        "/access/who" => "permission rights holders allowed access",
        "/access-requests" => "approve deny approvals elevation just in time",
        "/access-requests/new" => "request role elevation",
        "/eligibilities" => "who may ask approvals elevation",
        "/eligibilities/new" => "create add who may ask",
        "/audit" => "history events entries changes",
        "/access-reviews" => "recertification certification attestation",
        "/access-reviews/new" => "begin start recertification",
        "/webhooks" => "events notifications integration",
        "/webhooks/new" => "create add events notifications",
        "/domains" => "dns verified e-mail",
        "/domains/new" => "add dns",
        "/identity-providers" => "sso single sign-on openid oidc federation entra okta google",
        "/identity-providers/new" => "create add sso single sign-on openid oidc federation",
        "/directories" => "scim provisioning groups entra okta",
        "/directories/new" => "create add scim provisioning",
        "/tenant" => "tenant password policy retention second factor attributes",
        "/account" => "profile me sessions api keys passkey authenticator second factor recovery codes",
        "/account/password" => "my account new",
        "/account/email" => "my account new mail",
        _ => "",
    }
}
