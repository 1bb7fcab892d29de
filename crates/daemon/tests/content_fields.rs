//! A secret in any content field is in no file afterwards: each class of fields keeps it out in its own way, with the real
//! rules, the real recorder and the real journal. A control word in the same fields is in the files, so the search works.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::{AppendClass, NewEntry, Recorder, Redactor, SecretFound};
use palyra_redaction::SecretScanner;
use palyra_testkit::journal_suite::content_examples::{documented, grown};
use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_testkit::{FakeClock, FixedEntropy};
use palyra_types::event::JournalEvent;
use palyra_types::event::content::{ContentClass, ContentLeaf};
use palyra_types::{Content, Redacted};

/// What no rule knows.
const CONTROL: &str = "zebra-umbrella";
/// Appends until every field has come.
const APPENDS_MAX: usize = 4_000;

/// Returns a token that the rules know, and that stands nowhere in this file.
fn secret() -> String {
    ["gh", "p_", "q7Xv2Lk9ZrT4mWb8NcY3pDs6HgJ5fAe1uR0t"].concat()
}

/// In which fields something was said, and how often.
#[derive(Default)]
struct Said {
    fields: BTreeSet<String>,
    times: u32,
}

/// Says the secret and the control word in each content field, as the doors take them in, and returns the fields.
fn say_in_each_field(event: &mut JournalEvent, redactor: &dyn Redactor, said: &mut Said) {
    let secret = secret();
    event.replace_content(&mut |field, leaf| {
        said.fields.insert(field.to_string());
        // Names have to differ.
        said.times += 1;
        let number = said.times;
        let raw = format!("{CONTROL} {secret} {number}");
        match (field.class, leaf) {
            (ContentClass::Fixed, _) => None,
            (ContentClass::Prose, ContentLeaf::Json(_)) => {
                let json = format!("{{\"said\":\"{raw}\"}}");
                Some(redactor.redact_json(json.into()).text.into_exposed())
            }
            (ContentClass::Prose, _) => Some(redactor.redact(raw.into()).text.into_exposed()),
            (ContentClass::Identity | ContentClass::Bytes, _) => {
                let refused = redactor.check(Content::<String>::new(raw));
                assert!(matches!(refused, Err(SecretFound { .. })), "{field} takes a secret");
                let plain = format!("{CONTROL}-{number}");
                Some(redactor.check(Content::<String>::new(plain)).map(Redacted::into_exposed).unwrap())
            }
        }
    });
}

fn files_that_hold(folder: &Path, wanted: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_that_hold(&path, wanted));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            if bytes.windows(wanted.len()).any(|part| part == wanted.as_bytes()) {
                found.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[tokio::test]
async fn a_secret_in_any_content_field_is_in_no_file_afterwards() {
    let state = tempfile::tempdir().unwrap();
    let log = File::create(state.path().join("daemon.log")).unwrap();
    let to_the_log =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(Arc::new(log));
    let _guard = tracing::subscriber::set_default(to_the_log.finish());
    let clock = Arc::new(FakeClock::new());
    let entropy = Arc::new(FixedEntropy::new(11));
    let options = OpenOptions::new(state.path().to_owned(), clock.clone(), entropy);
    let journal = JournalStore::open(&options).unwrap();
    let scanner = Arc::new(SecretScanner::new());
    let recorder = Recorder::new(Arc::new(journal.clone()), scanner.clone(), clock);

    let mut said = Said::default();
    let mut random = RandomAppends::new(29);
    // Some of these are rare among all sorts of entries.
    let budgets = RandomAppends::new(31).budget_entries(60);
    let schedules = RandomAppends::new(31).schedule_entries(200);
    let others = std::iter::repeat_with(|| random.next_append().entries).take(APPENDS_MAX);
    for entries in [budgets, schedules].into_iter().chain(others) {
        let entries = entries.into_iter().map(|entry| {
            let mut event = grown(entry.event);
            say_in_each_field(&mut event, &*scanner, &mut said);
            NewEntry { event, ..entry }
        });
        recorder.record(entries.collect(), AppendClass::Normal, Vec::new()).await.unwrap();
        if said.fields.len() == documented().len() {
            break;
        }
    }
    let said: BTreeSet<_> = said.fields.iter().map(String::as_str).collect();
    assert_eq!(said, documented(), "fields in which a secret was said");
    let token = secret();
    for part in [token.as_str(), &token[4..]] {
        assert_eq!(files_that_hold(state.path(), part), [""; 0]);
    }
    assert!(!files_that_hold(state.path(), CONTROL).is_empty(), "the search finds what is there");
    assert!(!files_that_hold(state.path(), "<secret:github-token>").is_empty(), "placeholders are there");
}
