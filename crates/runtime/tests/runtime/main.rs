//! The runtime as a whole, over a journal in memory, a scripted model, scripted tools and a clock that only
//! tests move.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod rig;

mod faults;

mod shapes;

mod sessions;

mod order;

mod idempotency;
mod jobs;

mod bookmarks;
mod upkeep;
mod project_rules;
mod recall;
mod learning;
mod past_runs;
mod compaction;
mod compaction_long;
mod references;
mod deleted_responses;
mod cancel;

mod models;

mod attempts;
mod routing;
mod auxiliary_budgets;

mod answers;

mod tools;

mod opaque;

mod printing;

mod approval_calls;

mod approvals;

mod approval_attacks;

mod who_acted;

mod approval_races;

mod stored_grants;

mod schedule_tools;

mod judged_again;

mod read_only;

mod skills;

mod page_sessions;
mod postures;
mod vault;
mod client_tools;
mod components;
mod identities;
mod identity_doors;
mod memories;
mod marks;

mod shadow;

mod taken_back;

mod waiting;

mod delivery;

mod branches;

mod put_away;

mod full_disk;

mod broken_journal;
mod budgets;

mod followers;

mod counted_reads;

mod restart;

mod preparing;

mod drain;

mod guesses;
mod healing;
mod history;

mod erasures;

mod chaos;

mod panics;
