//! Which session a caller means, what resetting it does, and how its actor comes and goes.

use std::time::Duration;

use palyra_admin::AdminError;
use palyra_ports::Clock;
use palyra_runtime::RequestError;
use palyra_runtime::runs::InputRequest;
use palyra_runtime::session::{ExistingSession, ResetMode, SessionSelector};
use palyra_testkit::{Gate, Script};
use palyra_types::run::RunLifecycleState;
use palyra_types::{SessionId, TapeSeq};

use crate::delivery::user_texts;
use crate::rig::{Rig, by_id, by_key, request, settle, soon};

fn required(selector: SessionSelector) -> SessionSelector {
    SessionSelector { existing: ExistingSession::Required, ..selector }
}

fn both(id: SessionId, key: &str) -> SessionSelector {
    SessionSelector { id: Some(id), ..by_key(key) }
}

#[tokio::test]
async fn a_session_is_found_by_id_by_key_and_by_both() {
    let rig = Rig::start().await;
    let made = rig.resolve(by_key("k")).await.unwrap();
    assert!(made.created && !made.reset_applied);
    let id = made.record.session.id;
    for selector in [by_key("k"), by_id(id), both(id, "k"), required(both(id, "k"))] {
        let found = rig.resolve(selector).await.unwrap();
        assert!(!found.created);
        assert_eq!(found.record.session.id, id);
    }
}

#[tokio::test]
async fn an_unknown_id_is_opened_unless_it_must_exist() {
    let rig = Rig::start().await;
    let id = SessionId::from_parts(5, 5);
    assert!(matches!(rig.resolve(required(by_id(id))).await, Err(RequestError::SessionNotFound)));
    assert!(matches!(rig.resolve(required(by_key("k"))).await, Err(RequestError::SessionNotFound)));
    let made = rig.resolve(both(id, "k")).await.unwrap();
    assert!(made.created);
    assert_eq!(made.record.session.id, id);
    assert_eq!(rig.resolve(by_key("k")).await.unwrap().record.session.id, id);
}

#[tokio::test]
async fn an_id_and_a_key_that_do_not_belong_together_are_refused() {
    let rig = Rig::start().await;
    let one = rig.resolve(by_key("one")).await.unwrap().record.session.id;
    rig.resolve(by_key("two")).await.unwrap();
    let unknown = SessionId::from_parts(5, 5);
    for selector in [both(one, "two"), both(one, "none"), both(unknown, "one")] {
        let resolved = rig.resolve(selector.clone()).await;
        assert!(matches!(resolved, Err(RequestError::SessionMismatch)), "{selector:?}");
        let submitted = rig.try_submit(selector.clone(), "hello").await;
        assert!(matches!(submitted, Err(RequestError::SessionMismatch)), "{selector:?}");
    }
}

#[tokio::test]
async fn a_stranger_s_session_behaves_exactly_like_an_unknown_one() {
    let rig = Rig::start().await;
    let mine = rig.resolve(by_key("k")).await.unwrap().record.session;
    let sessions = &rig.gateway.sessions;
    for selector in [by_id(mine.id), by_key("k")] {
        let theirs = sessions.resolve(rig.stranger(), required(selector), None).await;
        assert!(matches!(theirs, Err(RequestError::SessionNotFound)));
    }
    let theirs = sessions.resolve(rig.stranger(), both(mine.id, "k"), None).await.unwrap();
    assert!(theirs.created, "the same id and key are free for somebody else");
    assert_ne!(theirs.record.session, mine);
    let page = rig.gateway.tapes.session_page(rig.stranger(), mine.id, None, 10).await.unwrap();
    assert!(page.entries.is_empty());
}

#[tokio::test]
async fn a_stranger_s_run_behaves_exactly_like_an_unknown_one() {
    let rig = Rig::start().await;
    let run = rig.submit("k", "hello").await.run;
    rig.finished(run).await;
    let (stranger, gateway) = (rig.stranger(), &rig.gateway);
    let refused = [
        gateway.runs.get(stranger, run).await.err(),
        gateway.runs.cancel(stranger, run).await.err(),
        gateway.runs.send_input(stranger, run, InputRequest::text("x".into())).await.err(),
        gateway.tapes.follow(stranger, run, TapeSeq(0)).await.err().map(RequestError::from),
        gateway.tapes.page(stranger, run, TapeSeq(0), 10).await.err().map(RequestError::from),
    ];
    for error in refused {
        assert!(matches!(error, Some(RequestError::RunNotFound)), "{error:?}");
    }
}

#[tokio::test]
async fn a_label_is_kept_and_texts_have_bounds() {
    let rig = Rig::start().await;
    let labelled = SessionSelector { label: Some("title".into()), ..SessionSelector::default() };
    let made = rig.resolve(labelled).await.unwrap();
    assert_eq!(made.record.label.map(|label| label.expose().clone()).as_deref(), Some("title"));
    let long = "k".repeat(513);
    for key in ["", "a\nb", long.as_str()] {
        let refused = rig.resolve(by_key(key)).await;
        assert!(matches!(refused, Err(RequestError::InvalidArgument { .. })), "{key:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_creators_of_one_key_end_in_one_session() {
    let rig = Rig::start().await;
    let creators = (0..16).map(|n| {
        let (sessions, me) = (rig.gateway.sessions.clone(), rig.me());
        tokio::spawn(async move {
            if n % 2 == 0 {
                let made = sessions.resolve(me, by_key("k"), None).await.unwrap();
                (made.record.session.id, made.created)
            } else {
                let submitted = sessions.submit(me, request(by_key("k"), "hello")).await.unwrap();
                (submitted.session, submitted.session_created)
            }
        })
    });
    let made: Vec<_> = soon("all sessions", futures::future::join_all(creators)).await;
    let made: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    assert!(made.iter().all(|(id, _)| *id == made[0].0), "{made:?}");
    assert_eq!(made.iter().filter(|(_, created)| *created).count(), 1);
}

#[tokio::test]
async fn a_reset_hides_what_was_said_before() {
    let rig = Rig::start().await;
    let first = rig.submit("k", "the first").await;
    rig.finished(first.run).await;
    let reset = SessionSelector { reset: ResetMode::Reset, ..by_key("k") };
    assert!(rig.resolve(reset).await.unwrap().reset_applied);
    let second = rig.submit("k", "the second").await;
    rig.finished(second.run).await;
    let third = rig.submit("k", "the third").await;
    rig.finished(third.run).await;
    assert_eq!(user_texts(&rig, 1), ["the second"]);
    assert_eq!(user_texts(&rig, 2), ["the second", "the third"]);
}

#[tokio::test]
async fn a_refused_submit_resets_nothing() {
    let rig = Rig::start().await;
    let first = rig.submit("k", "the first").await;
    rig.finished(first.run).await;
    let selector = SessionSelector { reset: ResetMode::Reset, ..by_key("k") };
    let mut submit = request(selector, "the second");
    submit.model = Some(palyra_types::model::ModelRef::new("nobody", "nothing"));
    let refused = rig.gateway.sessions.submit(rig.me(), submit).await;
    assert!(matches!(refused, Err(RequestError::Admin(AdminError::ModelNotConfigured { .. }))));
    let third = rig.submit("k", "the third").await;
    rig.finished(third.run).await;
    assert_eq!(user_texts(&rig, 1), ["the first", "the third"]);
}

#[tokio::test]
async fn a_run_in_progress_at_a_reset_is_not_seen_afterwards() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("late"));
    let first = rig.submit("k", "the first").await;
    soon("the model is asked", gate.reached()).await;
    rig.resolve(SessionSelector { reset: ResetMode::Reset, ..by_key("k") }).await.unwrap();
    gate.open();
    assert_eq!(rig.finished(first.run).await.state, RunLifecycleState::Done);
    let second = rig.submit("k", "the second").await;
    rig.finished(second.run).await;
    assert_eq!(user_texts(&rig, 1), ["the second"]);
}

#[tokio::test]
async fn a_session_that_was_idle_for_a_minute_leaves_and_comes_back() {
    let rig = Rig::start().await;
    let first = rig.submit("k", "the first").await;
    rig.finished(first.run).await;
    settle().await;
    assert!(rig.clock.next_deadline().is_some(), "the session waits for its minute to end");
    rig.clock.advance(Duration::from_secs(60));
    settle().await;
    assert_eq!(rig.clock.next_deadline(), None, "nobody waits for anything");
    let second = rig.submit("k", "the second").await;
    rig.finished(second.run).await;
    assert_eq!(user_texts(&rig, 1), ["the first", "the second"]);
}

#[tokio::test]
async fn of_many_idle_sessions_only_some_stay_for_their_minute() {
    let rig = Rig::start().await;
    let begun = rig.clock.boot();
    for number in 0..160 {
        let run = rig.submit(&format!("k{number}"), "a question").await;
        rig.finished(run.run).await;
    }
    settle().await;
    assert_eq!(rig.clock.next_deadline(), Some(begun.after(Duration::from_secs(1))), "too many stay");
    rig.clock.advance(Duration::from_secs(1));
    settle().await;
    assert_eq!(rig.clock.next_deadline(), Some(begun.after(Duration::from_secs(60))), "some stay");
    let again = rig.submit("k159", "and another").await;
    rig.finished(again.run).await;
    assert_eq!(user_texts(&rig, 160), ["a question", "and another"]);
}

#[tokio::test]
async fn a_session_at_work_does_not_leave() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("late"));
    let first = rig.submit("k", "the first").await;
    soon("the model is asked", gate.reached()).await;
    let second = rig.submit("k", "the second").await;
    for _ in 0..3 {
        rig.clock.advance(Duration::from_secs(61));
        settle().await;
    }
    gate.open();
    rig.finished(first.run).await;
    rig.finished(second.run).await;
    assert_eq!(rig.model.counts().begun, 2, "no request was made twice");
}
