//! Erasing, content field by content field, with a canary in each.

use std::collections::{BTreeMap, BTreeSet};

use palyra_ports::{AppendTape, EraseJournal, ErasureOrder, JournalAppendRequest, NewEntry};
use palyra_testkit::journal_suite::content_examples::{documented, grown};
use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::proof::{ErasureReason, SeqRange};
use palyra_types::{RunId, Seq};

use crate::canaries::search;
use crate::opened::Folder;
use crate::written::verify;

/// Appends until every field was in one, at most.
const APPENDS_MAX: usize = 3_000;

/// Puts canaries into the fields that had none so far; returns them by field.
fn plant(request: &mut JournalAppendRequest, known: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut planted = BTreeMap::new();
    for entry in &mut request.entries {
        entry.event = grown(entry.event.clone());
        entry.event.replace_content(&mut |field, _| {
            let name = field.to_string();
            if known.contains_key(&name) || planted.contains_key(&name) {
                return None;
            }
            let canary = format!("canary-{:04}", known.len() + planted.len());
            planted.insert(name, canary.clone());
            Some(canary)
        });
    }
    planted
}

/// Notes the last entry of each tape; a run that ended is noted no more, for an open run is not erased.
fn note(open: &mut BTreeMap<RunId, NewEntry>, entries: &[NewEntry]) {
    for entry in entries {
        let Some((run, _)) = entry.run else { continue };
        if matches!(entry.event, JournalEvent::Tape(TapeEvent::Run(RunEvent::Finished(_)))) {
            open.remove(&run);
        } else {
            open.insert(run, entry.clone());
        }
    }
}

#[tokio::test]
async fn no_content_field_is_left_in_any_file_once_it_is_erased() {
    let folder = Folder::new();
    let journal = folder.open();
    let mut random = RandomAppends::new(29);
    let mut known = BTreeMap::new();
    let mut open = BTreeMap::new();
    let mut last = Seq(0);
    // Some of these are rare among all sorts of entries.
    let budgets = samples::append(RandomAppends::new(31).budget_entries(60));
    let schedules = samples::append(RandomAppends::new(31).schedule_entries(200));
    for mut request in [budgets, schedules]
        .into_iter()
        .chain(std::iter::repeat_with(|| random.next_append()).take(APPENDS_MAX))
    {
        if known.len() == documented().len() {
            break;
        }
        known.extend(plant(&mut request, &known));
        let entries = request.entries.len() as u64;
        note(&mut open, &request.entries);
        let committed = journal.append(request).await.unwrap();
        last = Seq(committed.first_seq.0 + entries - 1);
    }
    let fields: BTreeSet<_> = known.keys().map(String::as_str).collect();
    assert_eq!(fields, documented(), "fields that were recorded with a canary");
    for (run, entry) in open {
        let end = SampleRun::new(samples::session(entry.principal, 1), 1).finished().event;
        let place = entry.run.map(|(_, at)| (run, at.next()));
        let end = NewEntry { run: place, event: end, ..entry };
        last = journal.append(samples::append(vec![end])).await.unwrap().first_seq;
    }

    let canaries: Vec<_> = known.values().map(String::as_str).collect();
    let found = search(&folder.state_dir(), &canaries);
    let is_found = |canary: &&&str| found.iter().any(|found| found.contains(**canary));
    assert_eq!(canaries.iter().filter(|canary| !is_found(canary)).count(), 0, "the control");
    let ranges = vec![SeqRange { first: Seq(1), last }];
    let authoriser = samples::principal(0);
    let order = ErasureOrder { ranges, authoriser, reason: ErasureReason::Request };
    let receipt = journal.erase(order).await.unwrap();
    assert_eq!(receipt.unreachable, [""; 0]);
    assert_eq!(search(&folder.state_dir(), &canaries), [].into(), "while it is open");
    assert_eq!(verify(&journal).await.fault, None);
    journal.close().await;
    drop(journal);
    assert_eq!(search(&folder.state_dir(), &canaries), [].into(), "when it is closed");
}
