//! The common parts of the descriptions of all operations: their tags, and their error responses.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use serde_json::Value;
use utoipa::IntoResponses;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::tag::{Tag, TagBuilder};
use utoipa::openapi::{Components, ContentBuilder, Ref, RefOr, Required, Response, ResponseBuilder};

use crate::problem::{Kind, example};

pub(crate) const AUTHENTICATION: &str = "Authentication";
pub(crate) const FACTORS: &str = "Second factors";
pub(crate) const USERS: &str = "Users";
pub(crate) const ROLES: &str = "Roles";
pub(crate) const ROLE_ASSIGNMENTS: &str = "Role assignments";
pub(crate) const ORGANIZATIONS: &str = "Organizations";
pub(crate) const INVITATIONS: &str = "Invitations";
pub(crate) const ACCESS_REVIEWS: &str = "Access reviews";
pub(crate) const ACCESS_REQUESTS: &str = "Access requests";
pub(crate) const AUTHORIZATION: &str = "Authorization";
pub(crate) const SESSIONS: &str = "Sessions";
pub(crate) const API_KEYS: &str = "API keys";
pub(crate) const DOMAINS: &str = "Domains";
pub(crate) const FEDERATION: &str = "Federation";
pub(crate) const IDENTITY_PROVIDERS: &str = "Identity providers";
pub(crate) const DIRECTORIES: &str = "Directories";
pub(crate) const TENANTS: &str = "Tenants";
pub(crate) const AUDIT_LOGS: &str = "Audit logs";
pub(crate) const LEGAL_HOLDS: &str = "Legal holds";
pub(crate) const EVENTS: &str = "Events";
pub(crate) const WEBHOOKS: &str = "Webhooks";
pub(crate) const HEALTH: &str = "Health";

/// The tags, in the order in which a reader learns the API, each with its place in the book.
const TAGS: [(&str, &str, &str); 22] = [
    (
        AUTHENTICATION,
        "Register a tenant with its first user, log in, and get the access token that all other operations need. An \
         access token lives for minutes; a refresh token, which can be used once, gets the next pair. The public keys \
         let other services verify access tokens by themselves.",
        "http-api#authentication",
    ),
    (
        USERS,
        "The people of the tenant. A deleted user becomes INACTIVE and its record stays, so that the audit log always \
         leads to a user. Suspending a user ends its sessions and keeps its roles.",
        "http-api#users",
    ),
    (
        ROLES,
        "A role is a named set of permissions such as `orders:read`. Some roles are built in. Register the permissions \
         of your own application first, then put them into roles of your own. `orders:*` is every action on orders, and \
         `*` is everything.",
        "http-api#access",
    ),
    (
        ROLE_ASSIGNMENTS,
        "An assignment gives a role to a user, either in the whole tenant or in an organization and everything below \
         it, and may expire. A caller can give only what it holds itself.",
        "http-api#access",
    ),
    (
        ORGANIZATIONS,
        "The tree of organizations in the tenant. Roles that are held in an organization also count below it. A \
         suspended organization, and everything below it, gives no rights until it is ACTIVE again.",
        "http-api#organizations",
    ),
    (
        INVITATIONS,
        "Ask people by mail to become users. An invitation names the roles that the person gets. The person chooses its \
         password, and its address is verified.",
        "http-api#invitations",
    ),
    (
        ACCESS_REVIEWS,
        "Decide from time to time who keeps which role. A review freezes the role assignments and the eligibilities of an \
         organization or of the tenant. People decide about each of them, and its completion revokes all that shall end, \
         or none.",
        "http-api#access-reviews",
    ),
    (
        ACCESS_REQUESTS,
        "Hold strong roles only while they are needed. An eligibility lets users ask for a role in a place. Others approve \
         or deny, and the role ends by itself. API keys never have it.",
        "access-requests",
    ),
    (
        AUTHORIZATION,
        "Ask whether a user may do something, and why: the answer names the role and the organization that decide. Use \
         it to protect the resources of your own application.",
        "http-api#access",
    ),
    (
        SESSIONS,
        "The logins of users. The token of an ended session is refused at once by the replica that ended it, and within a \
         second by all others.",
        "security#sessions",
    ),
    (
        FACTORS,
        "Authenticator apps, passkeys and recovery codes: what proves the identity of a user beside the password. A \
         tenant can require them.",
        "http-api#second-factors",
    ),
    (
        API_KEYS,
        "How programs act as a user: a key is sent as bearer token, in place of an access token. It may do what its user \
         may do, within its own permissions and its own organization. For a program, create a service account and give \
         it roles.",
        "http-api#api-keys",
    ),
    (
        TENANTS,
        "The caller's tenant: its name and its status. All users, roles and organizations belong to one tenant.",
        "operating#suspended-tenants",
    ),
    (
        DOMAINS,
        "The domains of the e-mail addresses of your company. Prove by a record of the DNS that a domain is yours.",
        "federation#domains",
    ),
    (
        IDENTITY_PROVIDERS,
        "The OpenID Connect providers of the tenant, such as Entra, Okta or Google: people log in with the account that they \
         have there.",
        "federation#providers",
    ),
    (
        DIRECTORIES,
        "Where the identity provider of your company, such as Entra or Okta, writes its people and groups, by SCIM 2.0 \
         at `/scim/v2`. It uses an API key of a service account, and may do what that account may do. Map a group to \
         roles, and its members hold them.",
        "directories",
    ),
    (
        FEDERATION,
        "People log in by a provider of their company, and link their accounts there. The client begins a login, the \
         browser goes to the provider and comes back, and the client finishes it.",
        "federation#the-flow",
    ),
    (
        AUDIT_LOGS,
        "Every change, with the values before and after, who made it and from where. Add the events of your own \
         application, export the log, and prove that nobody has changed it: the log is a Merkle tree with signed \
         checkpoints.",
        "audit",
    ),
    (
        LEGAL_HOLDS,
        "Keep the data of the tenant, or of a person, while a court or an authority may ask for it: what would destroy it \
         is refused until the hold is released.",
        "operating#legal-holds",
    ),
    (
        EVENTS,
        "What happens in the tenant, as a feed: pull the entries of the audit log in their order, without gaps, wait for the \
         next ones, or receive them as a stream of server-sent events.",
        "integrating",
    ),
    (
        WEBHOOKS,
        "What happens in the tenant, sent to your own systems by Standard Webhooks 1.0: each request is signed, and an \
         event is sent again until the receiver accepts it.",
        "integrating#a-program-is-told-what-happens",
    ),
    (
        HEALTH,
        "Whether the service runs, and whether it can answer requests. Load balancers and orchestrators ask this.",
        "operating#health",
    ),
];

/// Returns the tags. `book` is the path of the book, if the service shows it.
///
/// The description has the link, because the URL of external documentation cannot be relative.
pub(crate) fn tags(book: Option<&str>) -> Vec<Tag> {
    let tag = |(name, description, page): &(&str, &str, &str)| {
        let link = book.map_or_else(String::new, |book| format!(" [More in the book]({book}/{page})."));
        TagBuilder::new().name(*name).description(Some(format!("{description}{link}"))).build()
    };
    TAGS.iter().map(tag).collect()
}

/// The error responses of an operation. [`describe_problems`] replaces them by one response for each status.
pub(crate) struct Problems;

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        BTreeMap::from([(DEFAULT.to_owned(), Ref::from_response_name(OTHER_PROBLEMS).into())])
    }
}

const DEFAULT: &str = "default";
const OTHER_PROBLEMS: &str = "OtherProblems";

/// The kinds that every operation can answer.
const OF_EVERY_OPERATION: [Kind; 6] = [
    Kind::RequestTimeout,
    Kind::PayloadTooLarge,
    Kind::UnsupportedMediaType,
    Kind::RateLimited,
    Kind::Internal,
    Kind::Unavailable,
];

/// The extension by which an operation names the kinds that do not follow from the rest of its description. It is not
/// part of the document: the responses say the same, and utoipa writes several extensions of an operation in random
/// order.
const KINDS: &str = "x-problems";

/// The extension by which an operation says that it ignores parameters that it does not know. It is not part of the
/// document, either.
pub(crate) const IGNORES_PARAMETERS: &str = "x-ignores-parameters";

/// The extension by which an operation says that a request may leave out the body. It is not part of the document,
/// either: the body says so itself.
const OPTIONAL_BODY: &str = "x-optional-body";

/// Says of the bodies that requests may leave out that they are not required.
pub(crate) fn describe_optional_bodies<'a>(operations: impl Iterator<Item = (&'a str, &'a mut Operation)>) {
    for (_, operation) in operations {
        let is_optional = operation.extensions.get_or_insert_default().remove(OPTIONAL_BODY).is_some();
        if let Some(RefOr::T(body)) = &mut operation.request_body
            && is_optional
        {
            body.required = Some(Required::False);
        }
    }
}

/// Adds a response for each status that an operation can answer with a problem. `type_base` begins the types of
/// problems.
pub(crate) fn describe_problems<'a>(
    operations: impl Iterator<Item = (&'a str, &'a mut Operation)>,
    components: &mut Components,
    type_base: &str,
) {
    let mut add = |name: &str, status: StatusCode, kinds: &BTreeSet<Kind>| {
        components.responses.entry(name.to_owned()).or_insert_with(|| response(status, kinds, type_base).into());
    };
    for (path, operation) in operations {
        if !operation.responses.responses.contains_key(DEFAULT) {
            continue;
        }
        add(OTHER_PROBLEMS, StatusCode::INTERNAL_SERVER_ERROR, &BTreeSet::from(OF_EVERY_OPERATION));
        let mut by_status: BTreeMap<StatusCode, BTreeSet<Kind>> = BTreeMap::new();
        for kind in kinds_of(path, operation) {
            by_status.entry(kind.status()).or_default().insert(kind);
        }
        if needs_factor(operation) {
            by_status.entry(StatusCode::FORBIDDEN).or_default().insert(Kind::SecondFactorRequired);
        }
        for (status, kinds) in by_status {
            let name = kinds.iter().map(|kind| component_name(*kind, status)).collect::<Vec<_>>().join("Or");
            add(&name, status, &kinds);
            operation.responses.responses.insert(status.as_str().to_owned(), Ref::from_response_name(name).into());
        }
    }
}

fn kinds_of(path: &str, operation: &mut Operation) -> BTreeSet<Kind> {
    let mut kinds = BTreeSet::new();
    let extensions = operation.extensions.get_or_insert_default();
    // A test finds the extension if it names an unknown kind.
    if let Some(named) = extensions.get(KINDS).and_then(kinds_named) {
        extensions.remove(KINDS);
        kinds.extend(named);
    }
    // The router has read it, and no document has more than one extension.
    let comes_back = extensions.remove(IGNORES_PARAMETERS).is_some();
    let required = extensions.get("x-required-permission").and_then(Value::as_str).unwrap_or_default();
    if required != "public" {
        kinds.insert(Kind::Unauthorized);
    }
    if !["public", "session"].contains(&required) {
        kinds.insert(Kind::Forbidden);
    }
    let parameters = || {
        operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            RefOr::Ref(_) => None,
        })
    };
    // Every operation refuses a query parameter that it does not have.
    kinds.insert(Kind::ValidationError);
    // A browser that comes back from a provider is known by its query.
    if path.contains("{id}") && !comes_back {
        kinds.insert(Kind::NotFound);
    }
    let has = |name| parameters().any(|parameter| parameter.name == name);
    if has("If-Match") {
        kinds.insert(Kind::PreconditionFailed);
    }
    if has("preview") {
        // A tenant computes two previews at a time.
        kinds.insert(Kind::Conflict);
    }
    if has("Idempotency-Key") {
        kinds.insert(Kind::Conflict);
        // An anonymous caller is not known by its key alone, but by key and body.
        if required != "public" {
            kinds.insert(Kind::IdempotencyKeyReused);
        }
    }
    kinds
}

/// Whether an operation can refuse a caller because a second factor is missing. Those that a restricted session can use
/// refuse the API keys of its user.
fn needs_factor(operation: &mut Operation) -> bool {
    let extensions = operation.extensions.get_or_insert_default();
    extensions.get("x-required-permission").and_then(Value::as_str) != Some("public")
}

fn kinds_named(names: &Value) -> Option<Vec<Kind>> {
    names.as_array()?.iter().map(|name| Kind::named(name.as_str()?)).collect()
}

/// Returns the name of the component for a kind. One kind has two statuses.
fn component_name(kind: Kind, status: StatusCode) -> String {
    let is_missing_factor = kind == Kind::SecondFactorRequired && status == StatusCode::FORBIDDEN;
    if is_missing_factor { "SecondFactorMissing".to_owned() } else { pascal_case(kind.as_str()) }
}

/// `not-found` becomes `NotFound`.
fn pascal_case(name: &str) -> String {
    let word = |word: &str| {
        word.chars().take(1).map(|letter| letter.to_ascii_uppercase()).chain(word.chars().skip(1)).collect::<String>()
    };
    name.split('-').map(word).collect()
}

fn response(status: StatusCode, kinds: &BTreeSet<Kind>, type_base: &str) -> Response {
    let examples = kinds.iter().map(|kind| {
        let example = ExampleBuilder::new().summary(kind.title()).value(Some(example(*kind, status, type_base)));
        (kind.as_str(), example.build())
    });
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).examples_from_iter(examples);
    let lines: Vec<String> = kinds.iter().map(|kind| format!("`{}`: {}", kind.as_str(), kind.meaning())).collect();
    ResponseBuilder::new().description(lines.join("\n\n")).content("application/problem+json", content.build()).build()
}
