//! The operations of the API, by the parts that a host program can leave out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use axum::Router;
use axum::middleware::map_response;
use axum::response::Response;
use utoipa_axum::router::UtoipaMethodRouter;
use utoipa_axum::routes;

use crate::conditional::conditional;
use crate::idempotency::once;
#[cfg(feature = "passkeys")]
use crate::passkey;
use crate::preview::previewable;
use crate::request_state::ResponseState;
use crate::settings::ApiPart;
use crate::state::ApiState;
use crate::unused::refuse_unused;
use crate::{
    access, access_request, access_review, api_key, assignment, audit, authzen, credential, directory, domain,
    eligibility, email_login, event, factor, federation, health, identity_provider, impersonation, introspection,
    invitation, legal_hold, manifest, organization, permission, recovery, role, session, tenant, token, user,
    user_export, verification, webhook,
};

/// Every operation, by its part. It takes milliseconds to describe them all, and they are alike in all routers.
static OPERATIONS: LazyLock<BTreeMap<ApiPart, Vec<UtoipaMethodRouter<ApiState>>>> = LazyLock::new(|| {
    let all = ApiPart::ALL.into_iter();
    all.map(|part| (part, operations_of(part).into_iter().map(refuse_unused).collect())).collect()
});

/// Every operation of these parts of the API, with its path without prefix.
pub(crate) fn operations(parts: &BTreeSet<ApiPart>) -> impl Iterator<Item = &'static UtoipaMethodRouter<ApiState>> {
    OPERATIONS.iter().filter(|(part, _)| parts.contains(part)).flat_map(|(_, operations)| operations)
}

fn operations_of(part: ApiPart) -> Vec<UtoipaMethodRouter<ApiState>> {
    match part {
        ApiPart::Registration => vec![with_tokens(once(routes!(session::register)))],
        ApiPart::Authentication => vec![
            with_tokens(routes!(session::login)),
            with_tokens(routes!(session::refresh)),
            routes!(session::logout),
            routes!(session::logout_all),
            routes!(credential::change_password),
            routes!(session::me),
            conditional(routes!(session::update_me)),
            routes!(introspection::introspect),
            routes!(factor::step_up),
        ],
        ApiPart::Verification => {
            vec![routes!(verification::request), routes!(verification::verify), routes!(verification::change)]
        }
        ApiPart::Recovery => vec![routes!(recovery::forgot), routes!(recovery::reset), routes!(recovery::start)],
        ApiPart::EmailLogin => {
            vec![with_tokens(routes!(email_login::start)), with_tokens(routes!(email_login::finish))]
        }
        ApiPart::Factors => factors(),
        ApiPart::Invitations => vec![
            once(routes!(invitation::list, invitation::create)),
            routes!(invitation::look_up),
            with_tokens(once(routes!(invitation::accept))),
            routes!(invitation::get, invitation::delete),
            routes!(invitation::resend),
        ],
        ApiPart::Users => vec![
            once(routes!(user::list, user::create)),
            once(routes!(user::create_service_account)),
            conditional(routes!(user::get)),
            routes!(user_export::export),
            conditional(previewable(routes!(user::update, user::delete))),
            previewable(routes!(user::suspend)),
            previewable(routes!(user::reactivate)),
        ],
        ApiPart::ApiKeys => vec![
            with_tokens(once(routes!(api_key::list, api_key::create))),
            conditional(routes!(api_key::get)),
            conditional(routes!(api_key::update)),
            routes!(api_key::delete),
            with_tokens(once(routes!(api_key::rotate))),
        ],
        ApiPart::Sessions => vec![
            routes!(session::list),
            routes!(session::logout_user),
            routes!(session::terminate),
            with_tokens(once(routes!(impersonation::create))),
        ],
        ApiPart::Permissions => vec![once(routes!(permission::list, permission::create)), routes!(permission::delete)],
        ApiPart::Roles => vec![
            once(previewable(routes!(role::list, role::create))),
            conditional(routes!(role::get)),
            conditional(previewable(routes!(role::update, role::delete))),
        ],
        ApiPart::Assignments => vec![
            routes!(assignment::of_user),
            once(previewable(routes!(assignment::list, assignment::create))),
            previewable(routes!(assignment::update, assignment::delete)),
            once(previewable(routes!(assignment::create_all))),
        ],
        ApiPart::Organizations => vec![
            once(previewable(routes!(organization::list, organization::create))),
            conditional(routes!(organization::get)),
            conditional(previewable(routes!(organization::update, organization::delete))),
            routes!(organization::tree),
            routes!(organization::children),
            routes!(organization::ancestors),
        ],
        ApiPart::AccessReviews => vec![
            once(routes!(access_review::list, access_review::create)),
            routes!(access_review::get),
            routes!(access_review::items),
            routes!(access_review::decide),
            routes!(access_review::complete),
            routes!(access_review::cancel),
        ],
        ApiPart::AccessRequests => vec![
            once(routes!(eligibility::list, eligibility::create)),
            conditional(routes!(eligibility::get)),
            conditional(routes!(eligibility::update, eligibility::delete)),
            routes!(eligibility::own),
            once(previewable(routes!(access_request::list, access_request::create))),
            conditional(routes!(access_request::get)),
            conditional(routes!(access_request::approve)),
            conditional(routes!(access_request::deny)),
            routes!(access_request::cancel),
            routes!(access_request::end),
        ],
        ApiPart::Authorization => vec![
            routes!(access::check),
            routes!(access::check_all),
            routes!(access::who),
            routes!(authzen::evaluation::evaluate),
            routes!(authzen::evaluation::evaluate_all),
            routes!(authzen::search::subjects),
            routes!(authzen::search::resources),
            routes!(authzen::search::actions),
        ],
        ApiPart::Tenants => vec![
            conditional(routes!(tenant::get)),
            conditional(routes!(tenant::update)),
            routes!(tenant::deletion),
            routes!(manifest::apply),
            routes!(manifest::export),
        ],
        ApiPart::AuditLogs => vec![
            once(routes!(audit::list, audit::create)),
            routes!(audit::resource_types),
            routes!(audit::actions),
            routes!(audit::catalogue),
            routes!(audit::export::export),
            routes!(audit::proof::checkpoint),
            routes!(audit::proof::consistency),
            routes!(audit::retention::get, audit::retention::set),
            routes!(audit::retention::apply),
            routes!(audit::erasure::create),
            routes!(audit::get),
            routes!(audit::proof::inclusion),
        ],
        ApiPart::LegalHolds => vec![
            once(routes!(legal_hold::list, legal_hold::create)),
            routes!(legal_hold::get),
            routes!(legal_hold::release),
        ],
        ApiPart::Events => vec![routes!(event::list)],
        ApiPart::Webhooks => vec![
            with_tokens(once(routes!(webhook::list, webhook::create))),
            conditional(routes!(webhook::get)),
            conditional(routes!(webhook::update, webhook::delete)),
            with_tokens(once(routes!(webhook::rotate_secret))),
            routes!(webhook::test),
            routes!(webhook::deliveries),
            routes!(webhook::replay),
        ],
        ApiPart::Federation => vec![
            once(routes!(domain::list, domain::create)),
            routes!(domain::get, domain::delete),
            routes!(domain::verify),
            once(routes!(identity_provider::list, identity_provider::create)),
            conditional(routes!(identity_provider::get)),
            conditional(routes!(identity_provider::update, identity_provider::delete)),
            routes!(federation::providers),
            routes!(federation::discover),
            routes!(federation::start),
            routes!(federation::callback),
            with_tokens(routes!(federation::finish)),
            with_tokens(routes!(federation::backchannel_logout)),
            routes!(federation::start_linking),
            routes!(federation::identities),
            routes!(federation::unlink),
        ],
        ApiPart::Directories => vec![
            once(routes!(directory::list, directory::create)),
            conditional(routes!(directory::get)),
            conditional(routes!(directory::update, directory::delete)),
            routes!(directory::group::list),
            conditional(routes!(directory::group::get)),
            conditional(previewable(routes!(directory::group::set_grants))),
        ],
        ApiPart::Health => vec![routes!(health::health), routes!(health::ready), routes!(health::live)],
    }
}

fn factors() -> Vec<UtoipaMethodRouter<ApiState>> {
    let operations = vec![
        with_tokens(routes!(factor::finish_login)),
        routes!(factor::list),
        with_tokens(once(routes!(factor::add_totp))),
        with_tokens(once(routes!(factor::confirm_totp))),
        with_tokens(once(routes!(factor::issue_recovery_codes))),
        routes!(factor::rename, factor::remove),
        routes!(factor::reset),
    ];
    #[cfg(feature = "passkeys")]
    let operations = operations.into_iter().chain(passkeys()).collect();
    operations
}

#[cfg(feature = "passkeys")]
fn passkeys() -> Vec<UtoipaMethodRouter<ApiState>> {
    vec![
        routes!(passkey::second_factor_options),
        routes!(passkey::step_up_options),
        routes!(passkey::registration_options),
        with_tokens(once(routes!(passkey::register))),
        routes!(passkey::login_options),
        with_tokens(routes!(passkey::login)),
    ]
}

/// The operations that are always at the root, without the prefix.
pub(crate) fn operations_at_the_root(parts: &BTreeSet<ApiPart>) -> Vec<UtoipaMethodRouter<ApiState>> {
    let keys = routes!(token::jwks);
    let authzen = parts.contains(&ApiPart::Authorization).then(|| routes!(authzen::configuration::get));
    [keys].into_iter().chain(authzen).map(refuse_unused).collect()
}

/// Mounts the operations under each of these prefixes. A nested router would rewrite the path of every request.
pub(crate) fn routes<'a>(
    operations: impl IntoIterator<Item = &'a UtoipaMethodRouter<ApiState>>,
    prefixes: &[&str],
) -> Router<ApiState> {
    let mut router = Router::new();
    for (_, paths, methods) in operations {
        for (prefix, path) in prefixes.iter().flat_map(|prefix| paths.paths.keys().map(move |path| (prefix, path))) {
            router = router.route(&format!("{prefix}{path}"), methods.clone());
        }
    }
    router
}

/// Marks the responses of these operations as responses that contain tokens.
fn with_tokens((schemas, paths, router): UtoipaMethodRouter<ApiState>) -> UtoipaMethodRouter<ApiState> {
    let mark = async |mut response: Response| {
        ResponseState::of_mut(response.extensions_mut()).has_tokens = true;
        response
    };
    (schemas, paths, router.layer(map_response(mark)))
}
