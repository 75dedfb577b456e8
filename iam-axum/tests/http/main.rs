//! Tests of the HTTP API on every store. Each test checks one rule.
#![cfg(test)]

/// Runs the named tests of a module on every store. Each test gets a new, empty store.
macro_rules! on_every_store {
    ($($test:ident),+ $(,)?) => {
        on_stores!(memory: $($test),+);
        on_stores!(sqlite: $($test),+);
        on_stores!(postgres: $($test),+);
    };
}

/// Does the same with services that send mail.
macro_rules! on_every_store_with_mail {
    ($($test:ident),+ $(,)?) => {
        on_stores!(memory, memory_with_mail: $($test),+);
        on_stores!(sqlite, sqlite_with_mail: $($test),+);
        on_stores!(postgres, postgres_with_mail: $($test),+);
    };
}

macro_rules! on_stores {
    ($store:ident: $($test:ident),+) => {
        on_stores!($store, $store: $($test),+);
    };
    ($store:ident, $app:ident: $($test:ident),+) => {
        mod $store {
            $(#[test]
            fn $test() {
                test_support::reused::run(async {
                    super::$test($crate::store::$app().await).await;
                });
            })+
        }
    };
}

mod access_review;
mod administrator;
mod api_key;
mod app;
mod as_of;
mod assignment;
mod attack;
mod audit;
mod audit_coverage;
mod authenticator;
mod authz;
mod body;
mod bulk;
mod cached_session;
mod compatibility;
mod conditional;
mod conventions;
mod deprecation;
mod event;
mod expiry;
mod factor;
mod factor_demand;
mod hashes;
mod health;
mod idempotency;
mod introspection;
mod invitation;
mod isolation;
mod limiter;
mod lockout;
mod login;
mod mail;
mod metrics;
mod mount;
mod openapi;
mod organization;
mod organization_list;
mod organization_move;
mod organization_tree;
mod passkey;
mod passkey_attack;
mod password;
mod password_overload;
mod password_policy;
mod people;
mod permission;
mod permissions;
mod preview;
mod rate_limit;
mod recovery;
mod refresh;
mod register;
mod request;
mod responses;
mod role;
mod role_assignment;
mod role_assignment_list;
mod scope;
mod second_factor;
mod seed;
mod session;
#[cfg(feature = "redis")]
mod shared_limit;
mod status;
mod step_up;
mod store;
mod table;
mod tenant;
mod token;
mod transfer;
mod user;
mod user_list;
mod verification;
#[expect(dead_code, reason = "these tests need fewer of its parts than those of the crate that has it")]
#[path = "../../../foundation/iam-webauthn/tests/webauthn/authenticator.rs"]
mod webauthn;
mod webhook;
mod webhook_delivery;
