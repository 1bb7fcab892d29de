//! One conformance suite for every journal.
//!
//! Owns what the four journal ports promise, as cases that know no implementation. A journal's tests implement
//! [`JournalFactory`] and call [`journal_conformance_tests`](crate::journal_conformance_tests), which makes
//! one test per case.

#![expect(clippy::unwrap_used, reason = "cases of a test suite fail by panicking")]

pub mod samples;

pub mod random_appends;
pub mod content_examples;

pub mod appends;
pub mod approval_entries;
pub mod attachments;
pub mod bookmarks;
pub mod budgets;
pub mod incidents;
pub mod deliveries;
pub mod queued_tasks;
pub mod schedules;
pub mod compactions;
pub mod project_rules;
pub mod content;
pub mod crowd;
pub mod deleted_responses;
pub mod guards;
pub mod memories;
pub mod jobs;
pub mod paging;
pub mod people;
pub mod records;
pub mod policies;
pub mod components;
pub mod skills;
pub mod usage;

use palyra_journal_core::family::ReadFamilies;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendTape, ReadTape};
use palyra_types::Seq;

/// Makes the journals that cases run against.
pub trait JournalFactory {
    /// The journal.
    type Journal: AppendTape + ReadTape + ReadFamilies + MaintainJournal + Clone + 'static;

    /// Makes a fresh journal.
    fn make(&self) -> Self::Journal;

    /// Erases the content of one entry, by whatever means.
    fn erase(&self, journal: &Self::Journal, seq: Seq);
}

/// Makes one `#[tokio::test]` per case of the suite for a [`JournalFactory`] given as an expression.
#[macro_export]
macro_rules! journal_conformance_tests {
    ($factory:expr) => {
        $crate::journal_conformance_tests! { @cases $factory,
            appends: tapes_are_dense_and_read_back_as_written,
            appends: an_append_is_all_or_nothing,
            appends: tape_numbers_out_of_line_are_refused,
            appends: entries_in_the_wrong_place_are_refused,
            appends: limits_hold_in_both_directions,
            appends: statics_may_come_again,
            guards: a_run_must_stand_where_the_guard_says,
            guards: a_failed_guard_refuses_its_append_alone,
            guards: an_idempotency_key_starts_one_run,
            guards: one_run_of_a_session_is_in_progress,
            guards: a_session_and_its_key_are_given_once,
            paging: pages_join_without_gap_or_overlap,
            paging: a_page_holds_at_most_its_bytes_and_at_least_one_entry,
            paging: a_session_is_read_in_the_journals_order,
            paging: raw_entries_are_read_from_anywhere,
            records: a_run_is_shown_as_its_tape_says,
            records: waiting_runs_say_what_for,
            records: runs_are_listed_newest_first_by_cursor,
            records: sessions_are_listed_by_last_use,
            records: ids_are_found_by_their_ends_and_sessions_by_their_words,
            records: names_agents_and_tokens_are_listed,
            people: people_are_kept,
            people: scopes_of_tokens_are_kept,
            people: who_acted_is_kept,
            records: foreign_things_are_not_there,
            skills: skills_are_shown_as_the_log_says,
            components: components_are_shown_as_the_log_says,
            bookmarks: bookmarks_stay_until_their_principal_removes_them,
            project_rules: accepted_files_stay_until_their_principal_withdraws_them,
            memories: items_stay_with_their_principal_until_they_are_forgotten,
            memories: a_newer_item_supersedes_an_older_one_of_the_same_principal,
            memories: an_item_is_erased_with_the_run_that_it_came_from,
            budgets: a_budget_is_in_force_until_it_is_removed,
            budgets: an_account_is_folded_from_its_entries,
            deliveries: a_message_is_folded_from_its_entries,
            deliveries: messages_are_found_by_stage_and_time,
            queued_tasks: a_task_is_folded_from_its_entries,
            queued_tasks: tasks_are_found_by_what_they_wait_for,
            schedules: a_schedule_is_folded_from_its_entries,
            schedules: an_occurrence_has_one_row,
            incidents: an_incident_is_folded_from_its_entries,
            incidents: a_chosen_mode_is_in_force_until_another_one_is,
            compactions: the_newest_compaction_holds_until_it_is_reverted_or_erased,
            compactions: the_compaction_in_force_is_found_with_few_rows,
            compactions: a_compaction_is_erased_with_every_run_that_it_covers,
            deleted_responses: a_deleted_response_stays_deleted_for_its_principal,
            policies: postures_hold_until_they_are_replaced,
            policies: the_newest_count_of_a_candidate_is_found,
            usage: usage_is_summed_by_day_model_session_and_surface,
            usage: totals_of_all_days_are_the_same_however_often_they_are_asked_for,
            crowd: appends_from_many_tasks_keep_each_runs_order,
            crowd: what_was_acknowledged_is_read_at_once,
            crowd: of_rivals_for_one_place_one_wins,
            crowd: a_dropped_future_takes_nothing_back,
            attachments: files_lie_beside_their_entry,
            attachments: files_that_are_not_named_are_refused,
            attachments: the_key_of_an_input_leads_to_its_run,
            attachments: every_reset_is_found_again,
            attachments: sessions_are_found_by_their_words,
            approval_entries: an_approval_waits_until_its_first_decision,
            approval_entries: a_yes_of_each_person_counts_once,
            approval_entries: waiting_approvals_are_listed_by_cursor_and_by_time,
            approval_entries: a_stored_grant_ends_by_use_time_or_revocation,
            approval_entries: effects_say_what_became_of_them,
            approval_entries: an_unknown_outcome_is_settled_once_after_the_end_of_its_run,
            jobs: a_job_that_was_lost_is_in_doubt_beside_its_tape,
            jobs: a_job_whose_end_was_seen_or_whose_call_has_no_outcome_is_not_in_doubt,
            approval_entries: a_run_waits_only_when_nothing_of_it_runs,
            approval_entries: a_run_says_how_many_calls_are_to_be_prepared,
            approval_entries: a_taking_back_is_open_until_it_ends,
            approval_entries: what_was_asked_is_empty_once_erased,
            content: every_event_is_read_back_as_written,
            content: large_content_is_read_back_whole,
            content: erased_entries_keep_their_place_and_lose_their_content,
            content: a_rebuild_changes_nothing,
        }
    };
    (@cases $factory:expr, $($area:ident: $case:ident,)*) => {
        $(
            #[tokio::test]
            async fn $case() {
                $crate::journal_suite::$area::$case(&$factory).await;
            }
        )*
    };
}
