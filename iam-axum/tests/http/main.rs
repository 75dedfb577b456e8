//! Tests of the HTTP API on every store. Each test checks one rule.
#![cfg(test)]

/// Runs the named tests of a module in memory. Each test gets a new, empty store. The conformance suite keeps the
/// stores alike, so `scripts/test --all-stores` alone runs these tests on the others.
macro_rules! in_memory {
    ($($test:ident),+ $(,)?) => {
        on_stores!(memory: $($test),+);
        with_all_stores!(sqlite, sqlite: $($test),+);
        with_all_stores!(postgres, postgres: $($test),+);
    };
}

/// Does the same with services that send mail.
macro_rules! in_memory_with_mail {
    ($($test:ident),+ $(,)?) => {
        on_stores!(memory, memory_with_mail: $($test),+);
        with_all_stores!(sqlite, sqlite_with_mail: $($test),+);
        with_all_stores!(postgres, postgres_with_mail: $($test),+);
    };
}

/// Runs the named tests of a module on every store. The text says why a store could make them fail.
macro_rules! on_every_store {
    ($why:literal; $($test:ident),+ $(,)?) => {
        on_stores!(memory: $($test),+);
        on_stores!(sqlite: $($test),+);
        on_stores!(postgres: $($test),+);
    };
}

/// Does the same with services that send mail.
macro_rules! on_every_store_with_mail {
    ($why:literal; $($test:ident),+ $(,)?) => {
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

macro_rules! with_all_stores {
    ($store:ident, $app:ident: $($test:ident),+) => {
        mod $store {
            $(#[test]
            #[ignore = "for scripts/test --all-stores"]
            fn $test() {
                test_support::reused::run(async {
                    super::$test($crate::store::$app().await).await;
                });
            })+
        }
    };
}

mod access_requests;
mod access_review;
mod access_table;
mod administrator;
mod api_key;
mod app;
mod as_of;
mod assignment;
mod attack;
mod attributes;
mod audit;
mod audit_coverage;
mod authenticator;
mod authz;
mod authzen;
mod body;
mod brand;
mod bulk;
mod cached_session;
mod compatibility;
mod conditional;
mod conventions;
mod directory;
mod domain;
mod eligibilities;
mod email_login;
mod error_text;
mod event;
mod expiry;
mod external_id;
mod factor;
mod factor_demand;
mod federation;
mod hashes;
mod health;
mod home;
mod idempotency;
mod identity_provider;
mod impersonation;
mod introspection;
mod invitation;
mod isolation;
mod legal_hold;
mod limiter;
mod lockout;
mod login;
mod mail;
mod manifest;
mod metrics;
mod mount;
mod ocsf;
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
mod query;
mod rate_limit;
mod recovery;
mod refresh;
mod register;
mod repetition;
mod request;
mod responses;
mod role;
mod role_assignment;
mod role_assignment_list;
mod scim;
mod scope;
mod second_factor;
mod seed;
mod session;
#[cfg(feature = "redis")]
mod shared_limit;
mod status;
mod step_up;
mod store;
mod tenant;
mod token;
mod transfer;
mod user;
mod user_export;
mod user_list;
mod verification;
#[expect(dead_code, reason = "these tests need fewer of its parts than those of the crate that has it")]
#[path = "../../../foundation/iam-webauthn/tests/webauthn/authenticator.rs"]
mod webauthn;
mod webhook;
mod webhook_delivery;
mod zone;
