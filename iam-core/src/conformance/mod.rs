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
pub mod erasure;
pub mod feed;
pub mod idempotency;
mod log;
pub mod maintenance;
pub mod organization;
pub mod overtaken;
pub mod permission;
pub mod proof;
pub mod race;
pub mod retention;
pub mod role;
pub mod seal;
pub mod sealers;
pub mod session;
pub mod tenant;
pub mod token;
mod tree;
pub mod user;
pub mod work;
mod world;

use std::pin::Pin;
use std::sync::Arc;

pub use world::World;

use crate::store::Store;

/// A case, which takes a store without tenants and users.
pub type Case = fn(Arc<dyn Store>) -> Pin<Box<dyn Future<Output = ()>>>;

/// Runs every case against a store, each as a test of its own.
///
/// Takes the name of an `async fn() -> (Arc<dyn Store>, T)` that gives an empty store and whatever must live as long
/// as it does. Every case gets a store of its own.
#[macro_export]
macro_rules! conformance_suite {
    ($fixture:ident) => {
        $crate::conformance_cases! { @all tests $fixture }
    };
}

/// Every case with its name, as a `Vec<(&'static str, Case)>`, for whoever runs them in a way of its own.
#[macro_export]
macro_rules! conformance_cases {
    () => {
        $crate::conformance_cases! { @all list }
    };
    (@all $($how:ident)+) => {
        $crate::conformance_cases! { @$($how)+;
            tenant: created_is_read_back, slugs_are_unique_across_tenants, nothing_is_made_in_no_tenant,
                update_is_read_back, login_candidates_in_order, several_are_told_from_one, usage_is_counted, made_by_trusted_code, found_by_identifier_or_slug;
            user: created_is_read_back, found_by_their_ids, email_is_unique_whatever_its_case,
                email_is_free_in_another_tenant, verification_is_read_back, update_keeps_the_last_login, update_of_nobody_is_missing,
                of_another_tenant_is_not_found, own_changes_are_read, list_sorts_by_every_key, list_pages_and_counts,
                list_filters_by_status, search_takes_every_character_as_it_is, search_finds_any_part_of_a_field,
                search_follows_changes, counts_follow_every_change, counts_of_many_writers,
                list_filters_by_unexpired_membership, list_stays_within_reach;
            credential: account_is_found_by_email, attempts_are_read_back_and_cleared, unnamed_failures_are_cleared_along, password_is_replaced,
                a_reset_shuts_out_whoever_was_in, trusted_code_alone_resets;
            session: started_is_read_back, snapshot_shows_status_and_grants,
                snapshot_shows_whether_organizations_are_awake, refresh_is_read_back, ended_is_gone, all_of_a_tenant_in_parts;
            permission: created_is_read_back, built_in_are_read_back, list_pages_and_counts, name_is_unique_in_a_tenant,
                deleted_is_gone, of_another_tenant_is_not_found;
            role: created_is_read_back, built_in_are_read_back, list_pages_and_counts, name_is_unique_in_a_tenant,
                update_replaces_permissions, update_of_nothing_is_missing, deleted_is_gone, assigned_is_not_deleted,
                found_by_the_very_pattern, of_another_tenant_is_not_found, own_changes_are_read;
            organization: created_is_read_back, lineages_hold_everything_above_once, deep_lineages_are_whole,
                subtree_leaves_out_what_was_deleted, children_stand_right_below, update_is_read_back,
                move_takes_along_what_is_below, update_of_nothing_is_missing, parent_must_be_of_the_tenant,
                slug_is_unique_in_a_tenant, deleted_slug_is_free, list_filters_by_everything,
                search_takes_every_character_as_it_is, list_sorts_by_every_key, list_pages_and_counts,
                list_stays_within_reach, of_another_tenant_is_not_found, own_changes_are_read;
            assignment: grants_show_role_and_organization, lineage_goes_upwards, awake_is_active_all_the_way_up,
                a_context_holds_a_role_once, many_are_made_at_once, one_refused_of_many_leaves_nothing,
                expiry_is_changed, revoked_is_gone, every_grant_query, grants_at_contexts, expired_to_the_millisecond,
                tenants_with_expired_assignments, list_shows_what_it_refers_to, list_filters_by_everything,
                list_shows_expired_ones_on_demand, list_pages_and_counts, counts_follow_every_change,
                list_stays_within_reach, roles_held_in_organizations, roles_held_until_the_longest, administrators_are_counted,
                references_to_another_tenant_are_refused, of_another_tenant_is_not_found, own_changes_are_read;
            audit: entries_are_read_back, any_json_is_read_back, organizations_and_salts_are_read_back, found_by_id,
                entries_of_any_time, newest_first_and_paged_without_gap, every_filter, filters_in_every_combination,
                events_are_read_back;
            seal: committed_entries_wait_oldest_first, nothing_waits_of_what_was_not_committed, sealed_is_read_back,
                seals_of_another_size_are_refused, seals_of_what_does_not_wait_are_refused,
                seals_of_several_logs_are_all_or_nothing, a_log_that_was_changed_is_left_alone,
                sealing_keeps_the_retention, places_are_known_once_sealed,
                both_are_read_in_pages, what_is_sealed_and_waits_again_is_told, nothing_of_the_service_is_stray,
                audited_tenants_are_listed_in_order;
            sealers: beside_writers, of_the_same_entries, beside_erasures, beside_retention;
            proof: proofs_convince_a_stranger, checkpoints_tell_what_is_sealed, an_untouched_log_is_clean;
            retention: retention_is_read_back, dropped_gives_nothing_up, the_first_since_a_moment,
                what_is_given_up_goes, more_is_given_up_later, retention_is_applied;
            erasure: nothing_is_left_of_a_person, tenants_named_after_a_person_are_erased,
                inactive_users_alone_are_erased, two_at_once_share_an_entry, erasing_again_changes_nothing, each_part_is_erased_by_itself,
                places_and_digests_stay, what_is_gone_cannot_be_erased, what_is_there_again_is_found,
                nobody_cannot_be_erased;
            maintenance: totals_of_all_tenants, expired_sessions_go, stale_login_attempts_go,
                the_service_removes_what_is_over, a_turn_ends;
            idempotency: kept_is_read_back, kept_again_is_replaced, dropped_keeps_nothing, old_ones_are_removed,
                repeats_at_once_make_one, a_key_is_of_one_request, failures_are_not_kept, a_key_is_locked_until_the_end,
                a_key_does_not_stop_the_clock;
            feed: users_whose_state_or_roles_change, sessions_that_end, roles_that_change, organizations_that_change,
                tenants_that_are_suspended, keys_that_are_revoked, many_at_once, everybody_is_told_of_every_tenant, what_changes_no_rights_is_not_told,
                what_is_not_committed_is_not_told, what_is_told_can_be_read, nothing_is_missed_beside_writers;
            token: keys_are_read_back, one_key_a_generation, private_keys_are_replaced, purposes_do_not_mix, a_key_is_revoked_once;
            work: dropped_leaves_nothing, failed_leaves_nothing, changes_and_entries_commit_together,
                queued_writers_all_succeed, holders_of_the_tenants_lock_take_turns;
            race: creates_of_one_email, creates_up_to_the_quota, guesses_of_one_password, guesses_of_an_unknown_email,
                guesses_beside_an_account_of_ones_own, a_right_guess_among_wrong_ones, logins_beside_a_reset, refreshes_of_one_token, removals_of_the_last_two_administrators,
                starts_with_an_empty_store, assignments_of_one_role, creates_of_one_name, crossing_moves,
                assignments_in_a_leaving_organization, assignments_by_somebody_who_loses_its_role,
                assignments_of_a_growing_role, assignments_of_what_goes, revocations_of_all_keys, sweepers,
                ends_of_sessions_of_a_suspended_user;
            overtaken: an_assigner_that_loses_its_role, an_assigner_that_is_suspended,
                an_organization_that_leaves_the_branch, a_role_that_grows, a_role_that_is_given_for_longer,
                a_branch_in_which_a_role_is_given, a_suspended_user_that_gets_a_role,
                an_extension_by_a_role_that_is_shortened, assignments_of_what_is_deleted,
                deletions_of_what_is_assigned, parents_that_are_deleted_and_children_that_are_made,
                moves_in_a_tree_that_moves, an_administrator_that_becomes_the_last;
        }
    };
    (@list; $($noun:ident: $($case:ident),+;)+) => {
        ::std::vec![$($((
            ::std::concat!(::std::stringify!($noun), "::", ::std::stringify!($case)),
            (|store| ::std::boxed::Box::pin($crate::conformance::$noun::$case(store))) as $crate::conformance::Case,
        )),+),+]
    };
    (@tests $fixture:ident; $($noun:ident: $($case:ident),+;)+) => {
        $(mod $noun {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                let (store, _guard) = super::$fixture().await;
                $crate::conformance::$noun::$case(store).await;
            })+
        })+
    };
}
