//! The rules for every store, as tests that the author of a store runs.
//!
//! ```text
//! // tests/conformance.rs of the store's crate, with `iam-conformance` among the dev-dependencies. The
//! // function returns an empty store, and a value that must live as long as the store.
//! async fn fixture() -> (Arc<dyn Store>, TempDir) { … }
//!
//! iam_conformance::conformance_suite!(fixture);
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "these are tests: they fail by panicking"
)]

pub mod access_request;
pub mod access_review;
pub mod account;
pub mod activation;
pub mod api_key;
pub mod assignment;
pub mod attribute;
pub mod audit;
pub mod credential;
pub mod directory;
pub mod domain;
pub mod eligibility;
pub mod erasure;
pub mod factor;
pub mod feed;
pub mod history;
pub mod idempotency;
pub mod identity;
pub mod identity_provider;
pub mod impersonation;
pub mod invitation;
pub mod legal_hold;
pub mod link;
mod log;
pub mod mail;
pub mod maintenance;
pub mod manifest;
pub mod organization;
pub mod overtaken;
pub mod permission;
pub mod proof;
pub mod race;
pub mod retention;
pub mod role;
pub mod sequence;
pub mod sequencers;
pub mod session;
pub mod signing_key;
pub mod tenant;
pub mod tenant_deletion;
mod tree;
pub mod user;
pub mod webhook;
pub mod work;
mod world;

pub use crate::world::World;

use std::pin::Pin;
use std::sync::Arc;

use iam_model::store::Store;

/// A case. It takes a store without tenants and users.
pub type Case = fn(Arc<dyn Store>) -> Pin<Box<dyn Future<Output = ()>>>;

/// Runs a case on a runtime of its own, with several threads.
///
/// # Panics
///
/// When the case fails.
pub fn run(case: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(case);
}

/// Runs every case against a store, each as a separate test.
///
/// Takes the name of an `async fn() -> (Arc<dyn Store>, T)` that returns an empty store and a value that must live as
/// long as the store. Every case gets its own store.
///
/// By default, each case has a runtime of its own. A second argument is a function that runs a case, for stores with
/// connections that one case leaves to the next. See [`run`].
#[macro_export]
macro_rules! conformance_suite {
    ($fixture:ident) => {
        $crate::conformance_suite!($fixture, $crate::run);
    };
    ($fixture:ident, $run:path) => {
        use $run as run_conformance_case;
        $crate::conformance_cases! { @all tests $fixture run_conformance_case }
    };
}

/// Returns every case with its name, as a `Vec<(&'static str, Case)>`, for tests that run the cases in their own way.
#[macro_export]
macro_rules! conformance_cases {
    () => {
        $crate::conformance_cases! { @all list }
    };
    (@all $($how:ident)+) => {
        $crate::conformance_cases! { @$($how)+;
            tenant: a_created_row_is_read_back, slugs_are_unique_across_tenants, nothing_is_created_in_a_missing_tenant,
                update_is_read_back, every_change_raises_the_version, login_candidates_are_read_in_order, several_tenants_are_two_or_more,
                logins_by_email_are_found,
                usage_is_counted, trusted_code_creates_tenants, a_tenant_is_found_by_identifier_or_slug;
            user: a_created_row_is_read_back, users_are_found_by_their_ids, email_is_unique_in_any_letter_case,
                email_is_free_in_another_tenant, email_verification_is_read_back, update_keeps_the_last_login,
                every_change_raises_the_version,
                an_update_of_a_missing_user_is_refused, rows_of_another_tenant_are_not_found,
                a_unit_of_work_reads_its_own_changes, list_sorts_by_every_key, list_pages_and_counts,
                list_filters_by_status, list_filters_by_second_factor, search_ignores_case_and_has_no_wildcards, search_finds_any_part_of_a_field,
                search_finds_only_current_values, the_spellings_of_an_email_are_one_account, counts_follow_every_change,
                counts_are_right_after_concurrent_writes, list_filters_by_unexpired_membership,
                list_stays_within_the_visible_scope, the_home_is_read_back_and_is_an_organization,
                users_at_home_are_found_and_get_another_home, the_external_id_is_read_back_and_finds_its_user,
                an_external_id_belongs_to_one_user_of_a_tenant, users_are_found_by_their_names,
                a_unit_of_work_finds_users_by_its_own_external_ids;
            credential: account_is_found_by_email, failed_attempts_are_read_back_and_cleared,
                a_success_also_clears_failures_without_a_tenant, password_is_replaced,
                a_password_reset_ends_every_session, only_trusted_code_resets_a_password;
            session: started_sessions_are_read_back, sessions_are_found_by_their_provider, snapshot_shows_status_and_grants,
                snapshot_shows_whether_lineages_are_active, a_refreshed_session_is_read_back,
                ended_sessions_are_gone, sessions_of_a_tenant_are_locked_in_batches,
                a_session_that_has_authenticated_again_is_read_back,
                snapshot_shows_until_when_a_factor_must_be_set_up;
            impersonation: who_acts_in_a_session_is_read_back, sessions_are_locked_with_those_in_which_their_user_acts,
                no_user_acts_without_an_own_session, what_a_user_does_as_another_one_ends_with_its_suspension,
                ends_of_users_who_act_as_each_other_do_not_deadlock;
            factor: factors_are_read_back_in_order, people_with_a_factor_are_counted,
                a_prepared_factor_replaces_an_unconfirmed_one,
                changes_are_read_back, a_change_to_a_missing_factor_is_refused, removed_factors_are_gone,
                recovery_codes_are_replaced_and_used, a_recovery_code_is_used_once_by_concurrent_tasks,
                concurrent_uses_of_a_factor_are_all_counted, a_passkey_belongs_to_one_user,
                a_passkey_is_registered_once_by_concurrent_tasks, factors_of_a_missing_user_are_refused,
                a_challenge_is_read_back, ended_challenges_are_gone,
                a_challenge_is_answered_once_by_concurrent_tasks, expired_challenges_are_removed;
            api_key: keys_are_read_back_in_order, expiring_keys_are_found_by_their_expiry,
                snapshot_shows_status_and_grants,
                snapshot_shows_until_when_a_factor_must_be_set_up, changes_are_read_back,
                a_change_to_a_missing_key_is_refused, a_key_of_a_missing_user_is_refused, revoked_keys_are_gone,
                the_latest_use_is_kept, service_accounts_are_listed, concurrent_keys_stay_within_the_maximum,
                one_secret_of_concurrent_rotations_is_valid, a_concurrent_deletion_leaves_no_key;
            webhook: webhooks_are_read_back_in_order, changes_are_read_back, deliveries_are_read_back_in_order,
                failing_webhooks_are_found,
                a_webhook_is_due_when_it_has_something_to_do, due_deliveries_come_in_the_order_of_the_log,
                a_replay_goes_back_and_is_not_undone, deliveries_after_a_replay_are_not_due,
                a_change_is_not_passed_by_a_record_from_before, the_backlog_is_that_of_the_last_webhook,
                ended_deliveries_are_removed;
            domain: domains_are_read_back_in_order, changes_are_read_back, rows_of_another_tenant_are_not_found,
                a_unit_of_work_reads_its_own_changes, a_domain_of_a_missing_tenant_is_refused,
                name_is_unique_in_a_tenant, a_domain_is_verified_in_one_tenant,
                a_verified_domain_of_any_tenant_is_found, domains_to_check_are_found_in_order,
                changes_of_the_status_are_recorded, a_domain_is_verified_once_by_concurrent_tasks,
                a_domain_is_removed_once_by_concurrent_tasks;
            identity_provider: a_created_row_is_read_back, providers_of_any_tenant_are_found,
                providers_are_listed_in_order, changes_are_read_back, every_change_raises_the_version,
                a_change_to_a_missing_row_is_refused, a_deleted_row_is_gone,
                rows_of_another_tenant_are_not_found, a_unit_of_work_reads_its_own_changes,
                a_provider_of_a_missing_tenant_is_refused, slug_is_unique_in_a_tenant, changes_are_recorded,
                a_slug_is_taken_once_by_concurrent_tasks;
            identity: a_created_row_is_read_back, identities_are_listed_in_order,
                an_identity_is_found_by_its_whole_account, a_use_is_read_back, a_change_to_a_missing_row_is_refused,
                a_deleted_row_is_gone, rows_of_another_tenant_are_not_found, a_unit_of_work_reads_its_own_changes,
                references_to_another_tenant_are_refused, an_account_belongs_to_one_user,
                a_user_has_one_identity_at_a_provider, a_removed_provider_has_no_identities,
                identities_at_a_provider_are_counted, other_changes_keep_identities, changes_are_recorded,
                an_account_is_linked_once_by_concurrent_tasks, a_concurrent_removal_of_the_provider_leaves_no_identity,
                a_removal_of_the_provider_ends_what_it_has_counted;
            directory: a_created_row_is_read_back, directories_are_listed_in_order, changes_are_read_back,
                every_change_raises_the_version, a_change_to_a_missing_row_is_refused, an_account_has_one_directory,
                references_to_another_tenant_are_refused, a_provider_of_a_directory_is_not_removed,
                a_removed_directory_leaves_its_users, rows_of_another_tenant_are_not_found,
                a_unit_of_work_reads_its_own_changes, what_a_directory_sent_last_is_kept, changes_are_recorded,
                an_account_gets_one_directory_by_concurrent_tasks, concurrent_requests_are_all_kept,
                an_entry_is_read_back, a_user_name_is_unique_in_a_directory, a_user_belongs_to_one_directory,
                another_directory_takes_a_user_over, deleted_entries_are_left_out,
                users_of_a_directory_are_read_in_order, present_users_of_a_directory_are_found,
                a_forgotten_entry_is_gone, a_user_name_is_taken_once_by_concurrent_tasks,
                a_concurrent_removal_of_the_directory_leaves_no_entry,
                users_are_found_by_texts, users_are_found_by_status_and_moments, users_are_found_by_emails,
                conditions_are_combined, users_are_sorted_by_every_field, users_are_skipped_bounded_and_counted,
                a_group_is_read_back, changes_of_a_group_are_read_back, every_change_of_a_group_raises_its_version,
                a_change_to_a_missing_group_is_refused, a_deleted_group_is_gone,
                a_group_name_is_unique_in_a_directory, members_of_groups_are_read_in_order,
                references_of_groups_to_another_tenant_are_refused, a_removed_directory_leaves_no_group,
                groups_of_another_tenant_are_not_found, a_unit_of_work_reads_its_own_groups,
                changes_of_groups_are_recorded, a_group_name_is_taken_once_by_concurrent_tasks,
                concurrent_changes_of_a_group_are_all_kept, a_concurrent_removal_of_the_directory_leaves_no_group,
                groups_are_found_by_texts, groups_are_found_by_moments, groups_are_found_by_members,
                conditions_of_groups_are_combined, groups_are_sorted_by_every_field,
                groups_are_skipped_bounded_and_counted,
                mapped_groups_are_found_by_role_and_organization, groups_give_roles_to_their_members,
                roles_are_withheld_in_every_group_that_gives_them, withheld_roles_end_with_the_member,
                a_unit_of_work_reads_what_its_groups_give, assignments_of_a_directory_are_found;
            permission: a_created_row_is_read_back, built_in_rows_are_read_back, list_pages_and_counts,
                name_is_unique_in_a_tenant, permissions_are_found_by_their_resources, a_deleted_row_is_gone, rows_of_another_tenant_are_not_found;
            role: a_created_row_is_read_back, built_in_rows_are_read_back, list_pages_and_counts,
                name_is_unique_in_a_tenant, update_replaces_permissions, every_change_raises_the_version, a_change_to_a_missing_row_is_refused,
                a_deleted_row_is_gone, an_assigned_role_is_not_deleted, roles_are_found_by_their_exact_pattern,
                rows_of_another_tenant_are_not_found, a_unit_of_work_reads_its_own_changes;
            organization: a_created_row_is_read_back, lineages_hold_every_ancestor_once, deep_lineages_are_complete,
                a_subtree_leaves_out_deleted_organizations, children_are_directly_below_their_parent,
                children_of_several_organizations_are_found_by_name, members_and_organizations_below_are_counted,
                update_is_read_back, every_change_raises_the_version, a_move_takes_the_subtree_along, a_change_to_a_missing_row_is_refused,
                a_parent_must_be_in_the_same_tenant, slug_is_unique_in_a_tenant,
                the_slug_of_a_deleted_organization_is_free, organizations_are_found_by_their_slugs, list_filters_by_every_field,
                search_ignores_case_and_has_no_wildcards, list_sorts_by_every_key, list_pages_and_counts,
                list_stays_within_the_visible_scope, rows_of_another_tenant_are_not_found,
                a_unit_of_work_reads_its_own_changes;
            attribute: attributes_are_read_back, attributes_are_forgotten, lists_filter_by_attributes,
                rules_are_read_back;
            assignment: grants_show_role_and_organization, a_lineage_goes_up_to_the_root,
                a_lineage_is_active_with_all_ancestors, a_user_holds_a_role_once_in_a_context,
                one_change_creates_many_assignments, one_refused_assignment_refuses_all_of_a_change,
                an_expiry_is_set_moved_and_removed, the_group_of_an_assignment_is_set_changed_and_removed,
                assignments_of_access_requests_are_found, an_elevation_begins_with_its_assignment,
                one_change_updates_many_assignments, revoked_assignments_are_gone,
                every_grant_query_finds_its_assignments, deciding_grants_are_found, grants_are_found_by_their_whole_context,
                assignments_expire_to_the_millisecond, expiring_assignments_are_found_by_their_expiry,
                tenants_with_expired_assignments_are_listed_once,
                list_shows_email_role_and_organization, list_filters_by_every_field,
                list_shows_expired_assignments_on_demand, list_pages_and_counts, counts_follow_every_change,
                list_stays_within_the_visible_scope, roles_are_held_in_organizations_until_their_latest_end,
                roles_are_held_until_their_latest_end, live_assignments_are_counted_by_user,
                another_administrator_is_active_and_permanent,
                references_to_another_tenant_are_refused, rows_of_another_tenant_are_not_found,
                a_unit_of_work_reads_its_own_changes;
            history: past_assignments_are_kept, past_versions_are_kept, a_version_of_no_duration_is_not_kept,
                a_dropped_unit_of_work_keeps_nothing, assignments_are_listed_as_they_were,
                assignments_that_had_expired_are_listed_on_demand, holders_are_found, past_holders_are_found,
                roles_that_allow_a_permission_are_found, retention_removes_past_versions;
            audit: entries_are_read_back, any_json_is_read_back, organizations_and_salts_are_read_back,
                an_entry_is_found_by_id, entries_are_counted_by_day, actors_are_counted_by_week,
                entries_of_any_time_are_stored, entries_are_paged_newest_first_without_gaps,
                every_filter_selects_matching_entries, combined_filters_select_matching_entries, events_are_read_back;
            sequence: committed_entries_are_pending_oldest_first, uncommitted_entries_are_not_pending, sequenced_entries_are_read_back,
                batches_of_another_size_are_refused, batches_of_entries_that_are_not_pending_are_refused,
                batches_of_several_logs_are_all_or_nothing, a_tampered_log_is_not_continued, sequencing_keeps_the_retention,
                a_sequence_number_is_known_once_the_entry_is_sequenced, sequenced_and_pending_entries_are_read_in_pages,
                a_pending_entry_that_has_a_leaf_is_reported, no_entry_of_the_service_is_stray,
                audited_tenants_are_listed_in_order;
            sequencers: a_log_gets_one_sequence_during_writes, an_entry_is_sequenced_once_by_concurrent_tasks,
                sequencing_and_erasure_do_not_interfere, sequencing_and_retention_do_not_interfere;
            proof: proofs_are_valid_by_rfc_9162, checkpoints_show_sequenced_and_pending_entries, an_untouched_log_has_no_findings;
            retention: retention_is_read_back, a_dropped_unit_of_work_marks_nothing_for_removal,
                the_first_entry_since_a_moment_is_found, entries_that_are_marked_for_removal_are_purged,
                a_later_removal_continues_the_earlier_one, retention_is_applied;
            erasure: an_erasure_leaves_no_personal_data, a_persons_name_in_tenant_names_is_erased,
                what_a_directory_says_of_a_person_is_erased,
                only_inactive_users_are_erased, two_concurrent_erasures_share_an_entry, erasing_again_changes_nothing,
                each_part_of_an_entry_is_erased_separately, an_erasure_keeps_the_queue_and_the_leaves,
                an_erasure_skips_removed_entries, restored_personal_data_is_found, an_unknown_user_is_not_erased;
            maintenance: totals_count_all_tenants, expired_sessions_are_removed, stale_login_attempts_are_removed,
                the_service_removes_sessions_and_attempts, one_task_has_a_job_until_its_turn_ends;
            manifest: items_are_read_back_until_they_are_gone, everything_of_a_tenant_is_read;
            idempotency: an_answer_is_read_back, a_later_answer_replaces_an_expired_one,
                a_dropped_unit_of_work_stores_no_answer, old_answers_are_removed, answers_with_a_text_are_forgotten,
                concurrent_repeats_create_one_user,
                a_key_belongs_to_one_request, failures_are_not_kept, a_key_is_locked_until_the_unit_of_work_ends,
                a_request_with_a_key_reads_the_time_after_its_locks;
            invitation: an_invitation_is_read_back, an_invitation_of_a_missing_tenant_is_refused,
                an_address_is_invited_once_in_a_tenant, an_expired_invitation_is_replaced, changes_are_read_back,
                offered_roles_are_found_by_organization, roles_are_offered_until_their_latest_end,
                list_filters_by_every_field, list_pages_and_counts, list_stays_within_the_visible_scope,
                an_address_is_invited_once_by_concurrent_tasks;
            link: a_link_is_read_back, a_newer_link_ends_the_older_one, an_ended_link_is_gone,
                all_links_of_a_tenant_for_a_purpose_end,
                a_link_of_a_missing_tenant_is_refused, a_link_is_used_once_by_concurrent_tasks,
                expired_links_are_removed;
            mail: a_message_is_read_back, an_uncommitted_message_is_not_sent, due_messages_are_claimed_in_order,
                a_claim_expires, a_claimed_message_is_postponed_or_removed, tenants_take_turns, invitations_come_last,
                one_message_of_a_kind_to_an_address_is_sent_at_a_time, a_claimed_message_is_given_back,
                the_messages_of_a_tenant_are_counted, a_waiting_message_is_renewed,
                a_message_that_is_renewed_is_not_sent_with_its_former_link,
                concurrent_processes_claim_each_message_once, messages_to_an_address_are_counted_in_all_tenants,
                concurrent_messages_to_an_address_are_all_counted, message_counts_are_removed;
            feed: changed_users_are_reported, ended_sessions_are_reported, changed_roles_are_reported,
                changed_organizations_are_reported, suspended_tenants_are_reported, changed_factors_are_reported,
                methods_of_sessions_are_reported, changed_demands_of_factors_are_reported, revoked_keys_are_reported, changed_api_keys_are_reported,
                continued_logs_are_reported,
                many_changes_at_once_are_all_reported, every_subscriber_receives_changes_of_every_tenant,
                changes_without_effect_on_rights_are_not_reported, the_use_of_factors_is_not_reported,
                uncommitted_changes_are_not_reported,
                a_reported_change_can_be_read, no_change_is_missed_during_writes;
            signing_key: keys_are_read_back, a_generation_has_one_key, private_keys_are_replaced,
                keys_of_different_purposes_do_not_mix, a_key_is_revoked_once;
            work: a_dropped_unit_of_work_leaves_nothing, a_failed_unit_of_work_leaves_nothing,
                changes_and_entries_commit_together, concurrent_writers_all_succeed,
                the_tenants_lock_has_one_holder_at_a_time;
            account: of_several_links_the_one_that_arrives_last_works, one_of_concurrent_resets_succeeds,
                one_of_concurrent_acceptances_succeeds,
                an_acceptance_comes_before_the_inviters_loss_of_the_role_or_fails, an_address_is_accepted_or_created,
                an_address_is_confirmed_or_created, a_confirmation_does_not_undo_a_change_by_an_administrator,
                one_of_concurrent_logins_by_email_succeeds, a_login_by_email_comes_before_a_suspension_or_fails,
                a_login_by_email_leaves_a_newer_message_as_it_is;
            access_review: a_review_is_read_back, a_review_of_a_missing_place_is_refused,
                live_assignments_of_the_place_are_frozen, live_eligibilities_of_the_place_are_frozen,
                eligibilities_are_decided_like_assignments, items_do_not_change_later,
                decisions_are_read_back_and_counted, a_closed_review_does_not_change, completed_items_have_outcomes,
                list_pages_counts_and_filters, list_stays_within_the_visible_scope, items_page_count_and_filter,
                a_review_with_many_items_is_completed, a_review_is_closed_once_by_concurrent_tasks,
                a_review_is_decided_and_completed_by_several_people, a_review_outlives_its_organization,
                the_oldest_reviews_of_a_status_are_removed;
            eligibility: an_eligibility_is_read_back, references_to_another_tenant_are_refused, changes_are_read_back,
                deleted_eligibilities_are_gone, a_named_role_is_not_deleted, list_pages_and_counts,
                list_stays_within_the_visible_scope, eligibilities_of_users_and_roles_are_found,
                a_unit_of_work_reads_its_own_changes, changes_are_recorded;
            access_request: a_request_is_read_back, references_to_another_tenant_are_refused, changes_are_read_back,
                list_filters_by_every_field, list_stays_within_the_scope, requests_to_decide_are_found,
                many_roles_may_decide, list_pages_and_counts, open_requests_of_a_user_are_found,
                due_requests_are_found, tenants_with_due_requests_are_listed_once,
                the_oldest_closed_requests_of_a_user_are_removed, a_unit_of_work_reads_its_own_changes;
            activation: one_of_concurrent_requests_is_open, concurrent_requests_stay_within_the_maximum,
                concurrent_eligibilities_stay_within_the_maximum, concurrent_approvals_give_one_assignment,
                an_approval_or_what_ends_the_request_wins, an_approval_comes_before_a_suspension_or_fails,
                an_ordinary_assignment_and_an_approval_give_one_assignment,
                concurrent_sweepers_advance_each_request_once, closed_requests_of_a_user_are_bounded;
            legal_hold: a_hold_is_read_back_until_it_is_released, list_pages_and_counts,
                the_first_hold_that_keeps_something_is_found, a_hold_of_a_user_keeps_its_directory,
                references_to_another_tenant_are_refused,
                a_deletion_comes_before_a_hold_or_fails, a_hold_is_released_once_by_concurrent_tasks;
            tenant_deletion: a_deletion_is_read_back, due_deletions_are_found_in_order,
                nothing_is_removed_before_a_deletion_begins, a_deleted_tenant_leaves_its_log,
                a_deleted_tenant_leaves_the_hashes_of_an_erased_log, a_late_entry_of_an_erased_log_goes_too,
                an_interrupted_deletion_goes_on, a_deletion_that_has_begun_is_not_stopped, a_deletion_begins_before_a_hold_or_waits,
                a_deletion_is_called_off_as_a_whole_or_begins;
            race: one_of_concurrent_requests_gets_the_email, one_of_concurrent_requests_gets_the_external_id,
                concurrent_requests_stay_within_the_quota,
                concurrent_assignments_stay_within_the_quota_of_their_user,
                five_of_concurrent_guesses_are_checked, five_of_concurrent_guesses_with_an_unknown_email_are_checked,
                logins_of_an_attacker_count_as_guesses_at_the_victim,
                a_right_guess_after_five_failures_looks_like_a_wrong_one,
                logins_during_a_password_reset_leave_no_session, concurrent_refreshes_get_the_same_successor,
                one_of_the_last_two_administrators_stays, concurrent_starts_use_one_signing_key,
                one_of_concurrent_equal_assignments_succeeds, one_of_concurrent_requests_gets_the_name,
                concurrent_moves_leave_a_tree, an_assignment_comes_before_a_concurrent_move_or_fails,
                an_assignment_comes_before_the_loss_of_the_role_or_fails,
                what_is_done_to_a_person_comes_before_a_role_elsewhere_or_fails,
                a_concurrent_deletion_leaves_no_home,
                an_assignment_comes_before_a_change_of_the_role_or_fails, a_concurrent_deletion_leaves_no_assignment,
                concurrent_revocations_leave_a_signing_key, concurrent_sweepers_remove_each_assignment_once,
                concurrent_ends_of_sessions_do_not_deadlock;
            overtaken: a_caller_that_loses_its_role_cannot_assign, a_suspended_caller_cannot_assign,
                an_organization_outside_the_branch_is_not_found, an_assignment_is_checked_against_the_current_role,
                a_role_change_is_checked_against_current_assignments, a_move_is_checked_against_current_assignments,
                a_reactivation_is_checked_against_current_assignments,
                an_extension_is_checked_against_the_callers_current_expiry, a_deleted_row_is_not_assigned,
                a_deletion_sees_current_assignments, a_deleted_organization_gets_no_child,
                a_move_is_checked_against_the_current_tree, the_current_last_administrator_is_not_deleted;
        }
    };
    (@list; $($noun:ident: $($case:ident),+;)+) => {
        ::std::vec![$($((
            ::std::concat!(::std::stringify!($noun), "::", ::std::stringify!($case)),
            (|store| ::std::boxed::Box::pin($crate::$noun::$case(store))) as $crate::Case,
        )),+),+]
    };
    (@tests $fixture:ident $run:ident; $($noun:ident: $($case:ident),+;)+) => {
        $(mod $noun {
            $(#[test]
            fn $case() {
                super::$run(async {
                    let (store, _guard) = super::$fixture().await;
                    $crate::$noun::$case(store).await;
                });
            })+
        })+
    };
}
