//! The failure matrix of this floor: every way to fail, in place of an answer and behind some text of it, at
//! every wire format, has its class, its pause, a bounded sentence, and nowhere the key.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use palyra_model_server::{Behaviour, Fault, ModelServer, Reply, RetryAfter, Vendor};
use palyra_ports::ModelProvider;
use palyra_types::model::ModelFailureClass as Class;

use crate::support::{Given, KEY, Subject, read};

/// How many classes of failure there are.
const CLASSES: usize = 11;
const DETAIL_BYTES_MAX: usize = 2 * 1024;
/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// For the faults that never say anything.
const LITTLE_PATIENCE: Duration = Duration::from_millis(200);

/// A server, and who asks it.
struct Stage {
    subject: Subject,
    server: ModelServer,
    patient: Arc<dyn ModelProvider>,
    impatient: Arc<dyn ModelProvider>,
}

impl Stage {
    async fn set(subject: Subject) -> Self {
        let (server, _) = subject.served(Behaviour::always(Reply::text("ok"))).await;
        let (patient, impatient) =
            (subject.at(&server.base_url(), PATIENCE), subject.at(&server.base_url(), LITTLE_PATIENCE));
        Self { subject, server, patient, impatient }
    }

    async fn play(&self, behaviour: Behaviour) -> Given {
        self.server.behave(behaviour.with_key(KEY));
        read(self.patient.as_ref(), &self.subject.request(KEY)).await
    }

    /// Plays a fault; `reply` is what it is wrapped in.
    async fn fails(&self, fault: Fault, reply: Reply) -> Given {
        if fault.class() != Class::Timeout {
            return self.play(Behaviour::always(reply)).await;
        }
        self.server.behave(Behaviour::always(reply).with_key(KEY));
        read(self.impatient.as_ref(), &self.subject.request(KEY)).await
    }
}

fn check(what: &str, given: Given, class: Class, pause: Option<Duration>) -> String {
    let failure = given.end.err().unwrap_or_else(|| panic!("{what} was an answer"));
    assert_eq!((failure.class, failure.retry_after), (class, pause), "{what}: {}", failure.detail.expose());
    let detail = failure.detail.expose();
    assert!(!detail.is_empty() && detail.len() <= DETAIL_BYTES_MAX, "{what}: {} bytes", detail.len());
    assert!(!format!("{failure:?} {failure} {detail}").contains(KEY), "{what}: {detail}");
    given.texts.concat()
}

#[tokio::test]
async fn every_fault_in_place_of_an_answer_has_its_class_at_every_format() {
    for subject in Subject::BARE {
        let stage = Stage::set(subject).await;
        let mut seen = BTreeSet::new();
        for fault in Fault::every() {
            let given = stage.fails(fault, fault.into()).await;
            let pause = fault.pause_millis().map(Duration::from_millis);
            check(&format!("{fault:?} at {subject:?}"), given, fault.class(), pause);
            seen.insert(fault.class());
        }
        assert_eq!(seen.len(), CLASSES, "every class at {subject:?}: {seen:?}");
    }
}

#[tokio::test]
async fn every_fault_behind_some_text_has_its_class_and_keeps_the_text() {
    for subject in Subject::BARE {
        let stage = Stage::set(subject).await;
        for fault in Fault::every() {
            let what = format!("{fault:?} behind text at {subject:?}");
            let given = stage.fails(fault, Reply::text("one two ").then(fault)).await;
            let text = check(&what, given, fault.class_within(), None);
            // A reset may take along what was not read yet.
            assert!("one two ".starts_with(&text), "{what}: {text}");
        }
    }
}

#[tokio::test]
async fn servers_of_other_vendors_are_understood() {
    let vendors = [Vendor::OpenAi, Vendor::OpenRouter, Vendor::Vllm, Vendor::LlamaCpp, Vendor::Ollama];
    let stage = Stage::set(Subject::Chat).await;
    for vendor in vendors {
        for fault in Fault::every().into_iter().filter(|fault| fault.is_refusal()) {
            let what = format!("{fault:?} at {vendor:?}");
            let given = stage.play(Behaviour::always(fault).as_vendor(vendor)).await;
            check(&what, given, fault.class(), fault.pause_millis().map(Duration::from_millis));
        }
    }
}

#[tokio::test]
async fn a_pause_is_read_in_every_form() {
    for subject in Subject::BARE {
        let stage = Stage::set(subject).await;
        for (pause, millis) in [
            (RetryAfter::Unsaid, None),
            (RetryAfter::Seconds(7), Some(7_000)),
            (RetryAfter::Date(9), Some(9_000)),
            (RetryAfter::Millis(40), Some(40)),
        ] {
            let given = stage.play(Behaviour::always(Fault::RateLimit(pause))).await;
            check(&format!("{pause:?}"), given, Class::RateLimit, millis.map(Duration::from_millis));
        }
        let busy = Reply::fault(Fault::Overloaded).header("retry-after", "3");
        let given = stage.play(Behaviour::always(busy)).await;
        check("overloaded", given, Class::Transient, Some(Duration::from_secs(3)));
    }
}

#[tokio::test]
async fn a_key_that_is_echoed_is_not_repeated() {
    for subject in Subject::BARE {
        let stage = Stage::set(subject).await;
        let words = format!("bad key {KEY}");
        let event = serde_json::json!({"type": "error", "error": {"message": words, "type": KEY}});
        let in_stream = Reply::raw("text/event-stream", format!("data: {event}\n\n").as_bytes());
        // The end of what is kept falls into the middle of a key.
        let long = KEY.repeat(DETAIL_BYTES_MAX);
        let split = format!("{}{KEY}", "x".repeat(DETAIL_BYTES_MAX - KEY.len() / 2 - 10));
        let replies = [
            Reply::error(401, KEY, &words),
            Reply::status(401, &words),
            Reply::status(401, &long),
            Reply::status(401, &split),
            Reply::error(401, &split, &long),
            in_stream,
        ];
        for reply in replies {
            let given = stage.play(Behaviour::always(reply)).await;
            let failure = given.end.expect_err("a failure");
            let detail = failure.detail.expose();
            assert!(detail.contains("[cred") || detail.contains("xxx"), "{detail}");
            assert!(!detail.contains(&KEY[..KEY.len() / 2]), "{detail}");
            assert!(detail.len() <= DETAIL_BYTES_MAX);
        }
    }
}
