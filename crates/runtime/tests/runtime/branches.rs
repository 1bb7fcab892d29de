//! A branch equals its prefix: its first request is what the source had said up to there, whatever happened
//! before and whatever happens to the source later.

use palyra_context::transcript::Transcript;
use palyra_runtime::RequestError;
use palyra_runtime::session::{BranchRequest, ExistingSession, ResetMode, ResolvedSession, SessionSelector};
use palyra_testkit::scripted_tools::{COUNT, LOOK};
use palyra_testkit::{Gate, Script};
use palyra_types::event::{JournalEvent, ModelEvent, RunEvent, SessionEvent, TapeEvent};
use palyra_types::model::ChatMessage;
use palyra_types::run::InputDelivery;
use palyra_types::session::BranchPoint;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{RunId, Seq, SessionId, TapeSeq};

use crate::delivery::user_texts;
use crate::rig::{Rig, by_id, by_key, entries_of, request, settle, soon};

async fn branch(
    rig: &Rig,
    selector: SessionSelector,
    run: RunId,
    tape_seq: Option<u32>,
) -> Result<ResolvedSession, RequestError> {
    let submit = BranchRequest { run, tape_seq: tape_seq.map(TapeSeq) };
    soon("an answer to a branch", rig.gateway.sessions.branch(rig.me(), selector, None, submit)).await
}

async fn branch_id(rig: &Rig, run: RunId, tape_seq: Option<u32>) -> SessionId {
    branch(rig, SessionSelector::default(), run, tape_seq).await.unwrap().record.session.id
}

/// Asks something in a session and returns what the model was shown before that.
async fn shown_before(rig: &Rig, session: SessionId, text: &str) -> Vec<ChatMessage> {
    let run = rig.try_submit(by_id(session), text).await.unwrap().run;
    rig.finished(run).await;
    let mut messages = rig.model.requests().last().unwrap().messages.clone();
    assert!(matches!(messages.pop(), Some(ChatMessage::User { text: own, .. }) if own.expose() == text));
    messages
}

#[tokio::test]
async fn a_branch_goes_on_from_the_place_and_the_source_without_it() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().text("the answer"));
    let first = rig.submit("k", "first").await;
    rig.finished(first.run).await;
    rig.finished(rig.submit("k", "second").await.run).await;
    let made = branch(&rig, by_key("b"), first.run, None).await.unwrap();
    assert!(made.created && made.record.agent == rig.record(first.run).await.agent);
    let point = made.record.branched_from.unwrap();
    assert_eq!((point.session, point.run), (first.session, first.run));
    assert_eq!(point.tape_seq, rig.record(first.run).await.last_tape_seq);
    let own = rig.submit("b", "instead").await;
    assert!(!own.session_created);
    rig.finished(own.run).await;
    assert_eq!(user_texts(&rig, 2), ["first", "instead"]);
    rig.finished(rig.submit("k", "third").await.run).await;
    assert_eq!(user_texts(&rig, 3), ["first", "second", "third"]);
    rig.finished(rig.submit("b", "more").await.run).await;
    assert_eq!(user_texts(&rig, 4), ["first", "instead", "more"]);
}

#[tokio::test]
async fn a_run_under_way_is_branched_at_what_is_recorded() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("half of").hold(&gate).text(" it"));
    let run = rig.submit("k", "first").await.run;
    soon("the model pauses", gate.reached()).await;
    settle().await;
    let session = branch_id(&rig, run, None).await;
    gate.open();
    rig.finished(run).await;
    let shown = shown_before(&rig, session, "instead").await;
    let words: Vec<&str> = shown
        .iter()
        .map(|message| match message {
            ChatMessage::User { text, .. } => text.expose().as_str(),
            ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. } => "an answer",
        })
        .collect();
    assert_eq!(words, ["first"], "what came later is not shared");
}

#[tokio::test]
async fn resets_on_either_side_stay_there() {
    let rig = Rig::start().await;
    let reset = |key: &str| SessionSelector { reset: ResetMode::Reset, ..by_key(key) };
    let first = rig.submit("k", "first").await.run;
    rig.finished(first).await;
    rig.resolve(reset("k")).await.unwrap();
    let second = rig.submit("k", "second").await.run;
    rig.finished(second).await;
    branch(&rig, by_key("b"), second, None).await.unwrap();
    branch(&rig, by_key("c"), first, None).await.unwrap();
    rig.resolve(reset("k")).await.unwrap();
    for (key, expected) in [("b", ["second", "own"]), ("c", ["first", "own"])] {
        rig.finished(rig.submit(key, "own").await.run).await;
        assert_eq!(user_texts(&rig, rig.model.requests().len() - 1), expected);
    }
    rig.resolve(reset("b")).await.unwrap();
    rig.finished(rig.submit("b", "fresh").await.run).await;
    assert_eq!(user_texts(&rig, rig.model.requests().len() - 1), ["fresh"]);
    let deeper = rig.memory.restarted();
    let rig = Rig::on(deeper).await;
    rig.finished(rig.submit("b", "again").await.run).await;
    assert_eq!(user_texts(&rig, 0), ["fresh", "again"]);
}

#[tokio::test]
async fn bad_places_and_names_are_refused_before_anything_is_written() {
    let rig = Rig::start().await;
    let run = rig.submit("k", "first").await.run;
    rig.finished(run).await;
    settle().await;
    let last = rig.record(run).await.last_tape_seq.0;
    let before = entries_of(&rig.memory).await.len();
    let unknown = RunId::from_parts(5, 5);
    assert!(matches!(branch(&rig, by_key("b"), unknown, None).await, Err(RequestError::RunNotFound)));
    let beyond = branch(&rig, by_key("b"), run, Some(last + 1)).await;
    assert!(matches!(beyond, Err(RequestError::BranchOutOfRange { last: said }) if said == last));
    let existing = branch(&rig, by_key("k"), run, None).await;
    assert!(matches!(existing, Err(RequestError::InvalidArgument { .. })));
    let required = SessionSelector { existing: ExistingSession::Required, ..by_key("b") };
    let required = branch(&rig, required, run, None).await;
    assert!(matches!(required, Err(RequestError::InvalidArgument { .. })));
    let submit = BranchRequest { run, tape_seq: None };
    let theirs = rig.gateway.sessions.branch(rig.stranger(), by_key("b"), None, submit).await;
    assert!(matches!(theirs, Err(RequestError::RunNotFound)));
    assert_eq!(entries_of(&rig.memory).await.len(), before);
}

#[tokio::test]
async fn a_branch_that_is_asked_for_again_is_the_one_it_made() {
    let rig = Rig::start().await;
    let run = rig.submit("k", "first").await.run;
    rig.finished(run).await;
    let one = branch(&rig, by_key("b"), run, Some(2)).await.unwrap();
    let two = branch(&rig, by_key("b"), run, Some(2)).await.unwrap();
    assert!(one.created && !two.created && one.record.session == two.record.session);
    let elsewhere = branch(&rig, by_key("b"), run, Some(1)).await;
    assert!(matches!(elsewhere, Err(RequestError::InvalidArgument { .. })));
}

/// splitmix64.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }
}

/// Lets something happen in a session.
async fn happen(rig: &Rig, dice: &mut Dice, session: SessionSelector, number: usize) {
    let text = format!("said {number}");
    match dice.throw(6) {
        0 => {
            let reset = SessionSelector { reset: ResetMode::Reset, ..session };
            rig.finished(rig.try_submit(reset, &text).await.unwrap().run).await;
        }
        1 | 2 => {
            let gate = Gate::closed();
            rig.model.push(Script::new().text("wait").hold(&gate).call(COUNT, "{}"));
            let run = rig.try_submit(session.clone(), &text).await.unwrap().run;
            soon("the model pauses", gate.reached()).await;
            let mut open = vec![run];
            for at in 0..dice.throw(4) {
                let delivery =
                    [InputDelivery::Queue, InputDelivery::Steer, InputDelivery::Interrupt][dice.throw(3)];
                let submit = palyra_runtime::session::SubmitRequest {
                    delivery,
                    ..request(session.clone(), &format!("{text} and {at} {delivery:?}"))
                };
                open.push(rig.gateway.sessions.submit(rig.me(), submit).await.unwrap().run);
            }
            if dice.throw(3) == 0 {
                rig.cancel(*open.last().unwrap()).await.unwrap();
            }
            gate.open();
            for run in open {
                rig.finished(run).await;
            }
        }
        3 => {
            rig.model.push(Script::new().text("let me see").call(LOOK, "{}").call(COUNT, "{}"));
            rig.finished(rig.try_submit(session, &text).await.unwrap().run).await;
        }
        _ => drop(rig.finished(rig.try_submit(session, &text).await.unwrap().run).await),
    }
}

#[tokio::test]
async fn a_branch_equals_its_prefix_wherever_it_leaves_whatever_was_there() {
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let rig = Rig::start().await;
        let mut source = rig.resolve(by_key("k")).await.unwrap().record.session.id;
        for depth in 0..3 {
            for number in 0..=dice.throw(4) {
                happen(&rig, &mut dice, by_id(source), depth * 10 + number).await;
            }
            settle().await;
            let entries = entries_of(&rig.memory).await;
            let places: Vec<_> =
                entries.iter().filter(|e| e.session == Some(source)).filter_map(|e| e.run).collect();
            let (run, tape_seq) = places[dice.throw(places.len())];
            let session = branch_id(&rig, run, Some(tape_seq.0)).await;
            let expected = prefix(&entries_of(&rig.memory).await, run, tape_seq);
            // The source goes on meanwhile.
            happen(&rig, &mut dice, by_id(source), 100 + depth).await;
            let shown = shown_before(&rig, session, "instead").await;
            assert_eq!(shown, expected, "seed {seed}, depth {depth}");
            source = session;
        }
        let before = entries_of(&rig.memory).await;
        let rig = rig.restarted().await;
        let point = branch_point(&before, Some(source)).unwrap();
        let expected = prefix(&before, point.run, point.tape_seq);
        let shown = shown_before(&rig, source, "after a start").await;
        assert_eq!(shown[..expected.len()], expected, "seed {seed}, after a start");
    }
}

/// A branch at the end of a run sees what the source's own next run sees.
#[tokio::test]
async fn a_branch_at_the_end_of_a_run_sees_what_the_next_run_of_the_source_sees() {
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let rig = Rig::start().await;
        let source = rig.resolve(by_key("k")).await.unwrap().record.session.id;
        for number in 0..4 {
            happen(&rig, &mut dice, by_id(source), number).await;
        }
        settle().await;
        let last = entries_of(&rig.memory).await.into_iter().rev().find_map(|entry| entry.run).unwrap().0;
        let session = branch_id(&rig, last, None).await;
        let next = shown_before(&rig, source, "what now").await;
        let branched = shown_before(&rig, session, "what now").await;
        assert_eq!(branched, next, "seed {seed}");
    }
}

/// Returns what was said up to a place, worked out from the entries of the journal alone.
fn prefix(entries: &[JournalEventRecord], run: RunId, upto: TapeSeq) -> Vec<ChatMessage> {
    let of_run = |run: RunId| entries.iter().filter(move |entry| entry.run.is_some_and(|(of, _)| of == run));
    let first = of_run(run).next().unwrap();
    let session = first.session;
    let cut = of_run(run).find(|entry| entry.run.is_some_and(|(_, at)| at == upto)).unwrap().seq;
    let reset = |entry: &&JournalEventRecord| {
        entry.session == session && matches!(entry.event, JournalEvent::Session(SessionEvent::Reset { .. }))
    };
    let since = entries.iter().rev().filter(reset).map(|entry| entry.seq).find(|seq| *seq < first.seq);
    let mut messages = match (since, branch_point(entries, session)) {
        (None, Some(point)) => prefix(entries, point.run, point.tape_seq),
        (Some(_), _) | (None, None) => Vec::new(),
    };
    let ends = entries.iter().filter(|entry| entry.session == session && entry.seq < cut);
    for end in
        ends.filter(|entry| matches!(entry.event, JournalEvent::Tape(TapeEvent::Run(RunEvent::Finished(_)))))
    {
        let other = end.run.unwrap().0;
        let started = of_run(other).next().unwrap();
        let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(how))) = &started.event else {
            panic!("a beginning")
        };
        let asked = |entry: &JournalEventRecord| {
            matches!(entry.event, JournalEvent::Tape(TapeEvent::Model(ModelEvent::Requested(_))))
        };
        let overtook = how.delivery == InputDelivery::Interrupt && of_run(other).any(asked);
        let seen = started.seq < first.seq || overtook;
        if other != run && seen && since.is_none_or(|since: Seq| started.seq > since) {
            messages.extend(rendered(other, of_run(other)));
        }
    }
    messages.extend(rendered(run, of_run(run).filter(|entry| entry.seq <= cut)));
    messages
}

fn branch_point(entries: &[JournalEventRecord], session: Option<SessionId>) -> Option<BranchPoint> {
    entries.iter().filter(|entry| entry.session == session).find_map(|entry| match &entry.event {
        JournalEvent::Session(SessionEvent::Opened { branched_from, .. }) => *branched_from,
        _ => None,
    })
}

fn rendered<'a>(run: RunId, entries: impl Iterator<Item = &'a JournalEventRecord>) -> Vec<ChatMessage> {
    let mut transcript = Transcript::new(run);
    for entry in entries {
        let JournalEvent::Tape(event) = &entry.event else { panic!("a tape's entry") };
        transcript.push(event, entry.time);
    }
    transcript.messages(&jiff::tz::TimeZone::UTC)
}
