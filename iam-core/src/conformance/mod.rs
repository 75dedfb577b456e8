//! What every store must do, as tests that a store's author runs.
//!
//! ```text
//! // tests/conformance.rs of the store's crate, with `iam-core` and its feature `conformance` among the
//! // dev-dependencies. The function gives an empty store, and whatever must live as long as it does.
//! async fn fixture() -> (Arc<dyn Store>, TempDir) { … }
//!
//! iam_core::conformance_suite!(fixture);
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "these are tests: they fail by panicking"
)]

pub mod assignment;
pub mod audit;
pub mod credential;
pub mod race;
pub mod session;
pub mod tenant;
pub mod token;
pub mod user;
pub mod work;
mod world;

pub use world::World;

/// Runs every case against a store, each as a test of its own.
///
/// Takes the name of an `async fn() -> (Arc<dyn Store>, T)` that gives an empty store and whatever must live as long
/// as it does. Every case gets a store of its own.
#[macro_export]
macro_rules! conformance_suite {
    ($fixture:ident) => {
        $crate::conformance_suite! { $fixture;
            tenant: created_is_read_back, slugs_are_unique_across_tenants, update_is_read_back, found_by_email_oldest_first;
            user: created_is_read_back, email_is_unique_whatever_its_case, email_is_free_in_another_tenant,
                update_keeps_the_last_login, update_of_nobody_is_missing, of_another_tenant_is_not_found,
                list_sorts_by_every_key, list_pages_and_counts, list_filters_by_status, search_takes_every_character_as_it_is,
                list_filters_by_unexpired_membership;
            credential: account_is_found_by_email, attempts_are_read_back_and_cleared, password_is_replaced;
            session: started_is_read_back, snapshot_shows_status_and_grants, refresh_is_read_back, ended_is_gone;
            assignment: grants_show_role_and_organization, a_context_holds_a_role_once, revoked_is_gone,
                administrators_are_counted, references_to_another_tenant_are_refused;
            audit: entries_are_read_back, newest_first_and_paged_without_gap, every_filter;
            token: keys_are_read_back, one_key_a_generation;
            work: dropped_leaves_nothing, failed_leaves_nothing, changes_and_entries_commit_together, queued_writers_all_succeed;
            race: creates_of_one_email, guesses_of_one_password, guesses_of_an_unknown_email,
                guesses_beside_an_account_of_ones_own,
                refreshes_of_one_token, removals_of_the_last_two_administrators, starts_with_an_empty_store;
        }
    };
    ($fixture:ident; $($noun:ident: $($case:ident),+;)+) => {
        $(mod $noun {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                let (store, _guard) = super::$fixture().await;
                $crate::conformance::$noun::$case(store).await;
            })+
        })+
    };
}
