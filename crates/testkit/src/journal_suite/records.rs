//! What is derived from the log.

use palyra_journal_core::families::id_query::{IdQuery, IdTable};
use palyra_journal_core::families::runs::SessionTextQuery;
use palyra_journal_core::families::{agents, principals, tokens};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_records::{RunFilter, RunQuery, SessionFilter, SessionQuery, SessionTexts};
use palyra_ports::{AppendTape, NewEntry, ReadTape};
use palyra_types::access::{CredentialKind, PrincipalKind};
use palyra_types::agent::AgentProfile;
use palyra_types::client_tool::{ClientCallSpan, ClientToolsCalled};
use palyra_types::event::{
    AccessEvent, AgentEvent, ClientToolsAnswered, HeldCause, JournalEvent, LoopGuard, RunEvent, RunFinished,
    SessionEvent, TapeEvent, TokenCreated, ToolEvent, UnknownOutcomeCause,
};
use palyra_types::id_name::IdFragment;
use palyra_types::recall::RecallSwitch;
use palyra_types::run::{RunLifecycleState, RunPhase, TerminationReason, UserInput, WaitReason};
use palyra_types::tool::ToolName;
use palyra_types::{
    AgentId, Attempt, EffectId, ErrorCode, PrincipalId, Redacted, RunId, TapeSeq, Timestamp, TokenId,
};

use super::JournalFactory;
use super::samples::{self, SampleRun, append};
use crate::JournalReads;

fn first_session() -> palyra_types::session::SessionRef {
    samples::session(samples::principal(0), 0)
}

/// State, phase, counts, tokens and times follow the entries.
pub async fn a_run_is_shown_as_its_tape_says(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(first_session(), 0);
    let long = "ü".repeat(500);
    let committed = journal.append(append(vec![run.started(&long)])).await.unwrap();
    let record = journal.run(run.run).await.unwrap().unwrap();
    assert_eq!((record.state, record.phase), (RunLifecycleState::Pending, RunPhase::Queued));
    assert_eq!((record.first_seq, record.last_tape_seq), (committed.first_seq, TapeSeq(1)));
    assert_eq!(record.input_preview.expose().chars().count(), 120);
    assert_eq!((record.created, record.updated), (run.time, run.time));
    assert_eq!((record.agent, record.principal), (samples::agent(), run.session.principal));

    let created = run.time;
    journal.append(append(vec![run.requested(1)])).await.unwrap();
    let record = journal.run(run.run).await.unwrap().unwrap();
    assert_eq!((record.state, record.phase), (RunLifecycleState::InProgress, RunPhase::Running));
    let mut entries = vec![run.message(1, 1)];
    entries.extend(run.proposed(1));
    entries.extend([run.tool_started(1), run.tool_finished(1, "text"), run.requested(2), run.message(2, 0)]);
    journal.append(append(entries)).await.unwrap();
    let record = journal.run(run.run).await.unwrap().unwrap();
    assert_eq!((record.turns, record.tool_calls), (2, 1));
    assert_eq!(record.usage, samples::usage().plus(samples::usage()));
    assert_eq!((record.created, record.updated), (created, run.time));

    let failed = TapeEvent::Run(RunEvent::Finished(RunFinished {
        state: RunLifecycleState::Failed,
        reason: TerminationReason::TurnLimit,
        error: Some(ErrorCode::TurnLimit),
        turns: 2,
        tool_calls: 1,
        usage: samples::usage(),
        active_time: std::time::Duration::from_secs(3),
        message: "too many turns".into(),
    }));
    journal.append(append(vec![run.entry(failed)])).await.unwrap();
    let record = journal.run(run.run).await.unwrap().unwrap();
    assert_eq!((record.state, record.phase), (RunLifecycleState::Failed, RunPhase::Finished));
    assert_eq!(record.reason, Some(TerminationReason::TurnLimit));
    assert_eq!((record.error, record.usage), (Some(ErrorCode::TurnLimit), samples::usage()));
}

/// A loop or an unknown outcome lets a run wait, an input lets it go on.
pub async fn waiting_runs_say_what_for(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(first_session(), 0);
    let input = || {
        TapeEvent::Run(RunEvent::InputReceived {
            input: UserInput::text("go on".into()),
            delivery: palyra_types::run::InputDelivery::Queue,
            idempotency: None,
        })
    };
    journal.append(append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    let steps = [
        (
            TapeEvent::Run(RunEvent::LoopDetected { guard: LoopGuard::SameResult, repeats: 3 }),
            Some(WaitReason::LoopCheck),
        ),
        (input(), None),
        (TapeEvent::Run(RunEvent::Held { cause: HeldCause::LogReopened }), Some(WaitReason::OutcomeUnknown)),
        (input(), None),
        (
            TapeEvent::Tool(ToolEvent::OutcomeUnknown {
                effect: EffectId(1),
                cause: UnknownOutcomeCause::Restart,
            }),
            Some(WaitReason::OutcomeUnknown),
        ),
        (input(), None),
        (
            TapeEvent::Run(RunEvent::ClientToolsCalled(ClientToolsCalled {
                attempt: Attempt(1),
                span: ClientCallSpan { first: 1, count: 2 },
                expires: Timestamp(9_000_000),
                calls: Vec::new(),
            })),
            Some(WaitReason::ClientTool),
        ),
        // No words take the place of results.
        (input(), Some(WaitReason::ClientTool)),
        (
            TapeEvent::Run(RunEvent::ClientToolsAnswered(ClientToolsAnswered {
                span: ClientCallSpan { first: 1, count: 2 },
                idempotency: None,
                outputs: Vec::new(),
            })),
            None,
        ),
    ];
    for (event, wait) in steps {
        journal.append(append(vec![run.entry(event)])).await.unwrap();
        let record = journal.run(run.run).await.unwrap().unwrap();
        assert_eq!(record.phase, wait.map_or(RunPhase::Running, RunPhase::Waiting));
        assert_eq!(record.state, RunLifecycleState::InProgress);
        assert_eq!(journal.open_runs().await.unwrap(), [record]);
    }
    journal.append(append(vec![run.finished()])).await.unwrap();
    assert!(journal.open_runs().await.unwrap().is_empty());
}

/// The list of runs, with its filters and its cursor.
pub async fn runs_are_listed_newest_first_by_cursor(factory: &impl JournalFactory) {
    let journal = factory.make();
    let [here, there] = [0, 1].map(|n| samples::session(samples::principal(0), n));
    let mut expected = Vec::new();
    for n in 0..10 {
        let mut run = SampleRun::new(if n % 2 == 0 { here } else { there }, n);
        journal.append(append(vec![run.started("x"), run.requested(1)])).await.unwrap();
        if n < 5 {
            journal.append(append(vec![run.finished()])).await.unwrap();
        }
        expected.insert(0, run.run);
    }
    let query = RunQuery {
        principal: samples::principal(0),
        session: None,
        only: RunFilter::All,
        before: None,
        limit: 500,
    };
    let ids = async |query: RunQuery| -> Vec<RunId> {
        journal.runs(query).await.unwrap().iter().map(|run| run.run).collect()
    };
    assert_eq!(ids(query.clone()).await, expected);
    assert_eq!(ids(RunQuery { only: RunFilter::Open, ..query.clone() }).await, expected[..5]);
    assert_eq!(ids(RunQuery { only: RunFilter::Finished, ..query.clone() }).await, expected[5..]);
    let in_session = ids(RunQuery { session: Some(there.id), ..query.clone() }).await;
    assert_eq!(in_session, expected.iter().copied().step_by(2).collect::<Vec<_>>());
    let page = journal.runs(RunQuery { limit: 3, ..query.clone() }).await.unwrap();
    assert_eq!(page.len(), 3);
    let rest = ids(RunQuery { before: page.last().map(|run| run.first_seq), ..query }).await;
    assert_eq!(rest, expected[3..]);
    let mut open: Vec<RunId> = journal.open_runs().await.unwrap().iter().map(|run| run.run).collect();
    open.reverse();
    assert_eq!(open, expected[..5]);
}

/// Sessions by last use, with a cursor; reset and runs are shown.
pub async fn sessions_are_listed_by_last_use(factory: &impl JournalFactory) {
    let journal = factory.make();
    let principal = samples::principal(0);
    let sessions: Vec<_> = (0..5).map(|n| samples::session(principal, n)).collect();
    for (at, session) in (0..).zip(&sessions) {
        let key = (at == 2).then_some("two");
        journal
            .append(append(vec![samples::session_opened(*session, key, Timestamp(100 + at))]))
            .await
            .unwrap();
    }
    let mut run = SampleRun::new(sessions[1], 0);
    journal.append(append(vec![run.started("x")])).await.unwrap();
    let reset = NewEntry {
        event: JournalEvent::Session(SessionEvent::Reset { session: sessions[0].id }),
        ..samples::session_opened(sessions[0], None, Timestamp(200))
    };
    let reset = journal.append(append(vec![reset])).await.unwrap();

    let query = SessionQuery {
        principal,
        after: None,
        search: None,
        only: SessionFilter::All,
        surface: None,
        limit: 500,
    };
    let listed = journal.sessions(query.clone()).await.unwrap();
    let order: Vec<_> = listed.iter().map(|session| session.session).collect();
    assert_eq!(order, [1, 0, 4, 3, 2].map(|at| sessions[at]));
    assert_eq!((listed[0].runs, listed[0].last_run, listed[0].updated), (1, Some(run.run), run.time));
    assert_eq!((listed[1].reset_at, listed[1].updated), (Some(reset.first_seq), Timestamp(200)));
    assert_eq!(listed[1].runs_before_reset, listed[1].runs);
    let page = journal.sessions(SessionQuery { limit: 2, ..query.clone() }).await.unwrap();
    assert_eq!(page, listed[..2]);
    let after = Some((page[1].updated, page[1].session.id));
    assert_eq!(journal.sessions(SessionQuery { after, ..query }).await.unwrap(), listed[2..]);
    let by_key = journal.session_by_key(principal, "two".to_owned()).await.unwrap().unwrap();
    assert_eq!(by_key, listed[4]);
    assert_eq!(journal.session(sessions[2]).await.unwrap(), Some(by_key));
}

/// Beginnings and endings find ids of one's own, newest first and page by page; a session's texts are those of its runs.
pub async fn ids_are_found_by_their_ends_and_sessions_by_their_words(factory: &impl JournalFactory) {
    let journal = factory.make();
    let principal = samples::principal(0);
    let sessions: Vec<_> = (0..3).map(|n| samples::session(principal, n)).collect();
    let mut ids = Vec::new();
    for (at, session) in (0..).zip(&sessions) {
        journal.append(append(vec![samples::session_opened(*session, None, Timestamp(100))])).await.unwrap();
        for said in ["buy Tea", "then sugar"] {
            let mut run = SampleRun::new(*session, at * 2 + u64::from(said == "then sugar"));
            journal.append(append(vec![run.started(said)])).await.unwrap();
            ids.push(run.run.to_bytes());
        }
    }
    ids.sort_unstable();
    ids.reverse();
    let fragment = |text: &str| IdFragment::parse(text).unwrap();
    let query = |text: &str, principal| IdQuery {
        table: IdTable::Runs,
        principal,
        fragment: fragment(text),
        below: None,
        limit: 10,
    };
    for id in &ids {
        let text = RunId::from_bytes(*id).to_string();
        for part in [&text[..], &text[6..]] {
            let matching: Vec<_> = ids.iter().copied().filter(|id| fragment(part).matches(*id)).collect();
            assert!(matching.contains(id));
            for of in [Some(principal), None] {
                assert_eq!(journal.ids(query(part, of)).await.unwrap(), matching, "{part}");
            }
            let foreign = journal.ids(query(part, Some(samples::principal(1)))).await.unwrap();
            assert!(foreign.is_empty(), "{part}");
        }
    }
    let common = &RunId::from_bytes(ids[0]).to_string()[..4];
    let all = journal.ids(query(common, Some(principal))).await.unwrap();
    let page = journal.ids(IdQuery { limit: 2, ..query(common, Some(principal)) }).await.unwrap();
    assert_eq!(page, all[..2]);
    let rest = IdQuery { below: page.last().copied(), ..query(common, Some(principal)) };
    assert_eq!(journal.ids(rest).await.unwrap(), all[2..]);
    let text = sessions[1].id.to_string();
    let of_sessions = IdQuery { table: IdTable::Sessions, ..query(&text, Some(principal)) };
    assert_eq!(journal.ids(of_sessions).await.unwrap(), [sessions[1].id.to_bytes()]);
    let of_approvals = IdQuery { table: IdTable::Approvals, ..query(&text, None) };
    assert!(journal.ids(of_approvals).await.unwrap().is_empty());

    let missing = samples::session(samples::principal(1), 0);
    let texts = SessionTextQuery { sessions: vec![sessions[0], missing], search: Some("SUGAR".into()) };
    let found = journal.session_texts(texts.clone()).await.unwrap();
    let shown = |texts: &SessionTexts| (texts.first_input.expose().clone(), texts.matched.expose().clone());
    assert_eq!(
        found.iter().map(shown).collect::<Vec<_>>(),
        [("buy Tea".to_owned(), "then sugar".to_owned()), (String::new(), String::new())]
    );
    let found = journal.session_texts(SessionTextQuery { search: None, ..texts }).await.unwrap();
    assert_eq!(shown(&found[0]), ("buy Tea".to_owned(), String::new()));
}

/// The latest profile counts; a token is revoked once; names can change.
pub async fn names_agents_and_tokens_are_listed(factory: &impl JournalFactory) {
    let journal = factory.make();
    let entry = |time: i64, event: JournalEvent| NewEntry {
        time: Timestamp(time),
        principal: samples::principal(0),
        session: None,
        run: None,
        event,
    };
    let profile = |name: &str| AgentProfile {
        name: Redacted::cleaned(name.to_owned()),
        instructions: "be brief".into(),
        model: Some(samples::model()),
        tools: Some(vec![ToolName::new("read_file")]),
        workspace_roots: vec![Redacted::cleaned("/home/me/desk".into())],
        recall: Some(RecallSwitch::Off),
    };
    let [agent, other] = [5, 4].map(|n| AgentId::from_parts(n, 1));
    let token = TokenId::from_parts(9, 9);
    let principal = PrincipalId::from_parts(1, 77);
    let events = [
        JournalEvent::Agent(AgentEvent::Saved { agent, profile: profile("one") }),
        JournalEvent::Agent(AgentEvent::Saved {
            agent: other,
            profile: AgentProfile { tools: None, model: None, ..profile("main") },
        }),
        JournalEvent::Agent(AgentEvent::Archived { agent }),
        JournalEvent::Agent(AgentEvent::Saved { agent, profile: profile("two") }),
        JournalEvent::Access(AccessEvent::TokenCreated(TokenCreated {
            token,
            sha256: [1; 32],
            expires: Some(Timestamp(-5)),
            label: "ci".into(),
            kind: CredentialKind::Program,
            scopes: None,
        })),
        JournalEvent::Access(AccessEvent::TokenRevoked { token }),
        JournalEvent::Access(AccessEvent::TokenRevoked { token }),
        JournalEvent::Access(AccessEvent::PrincipalRegistered {
            principal,
            name: "user:local".into(),
            kind: PrincipalKind::Service,
            role: None,
        }),
    ];
    for (time, event) in (1..).zip(events) {
        journal.append(append(vec![entry(time, event)])).await.unwrap();
    }
    let agents = journal.query(|rows, _| agents::all(rows)).await.unwrap();
    assert_eq!(agents.iter().map(|agent| agent.id).collect::<Vec<_>>(), [other, agent]);
    assert_eq!((&agents[1].profile, agents[1].archived), (&profile("two"), Some(Timestamp(3))));
    assert_eq!((agents[0].profile.tools.as_ref(), agents[0].archived), (None, None));
    let tokens = journal.query(|rows, _| tokens::all(rows)).await.unwrap();
    assert_eq!(
        (tokens[0].id, tokens[0].principal, tokens[0].created),
        (token, samples::principal(0), Timestamp(5))
    );
    assert_eq!((tokens[0].expires, tokens[0].revoked), (Some(Timestamp(-5)), Some(Timestamp(6))));
    let principals = journal.query(|rows, _| principals::all(rows)).await.unwrap();
    assert_eq!(principals.iter().map(|one| one.name.expose().as_str()).collect::<Vec<_>>(), ["user:local"]);
}

/// Ids are scoped: another principal's things look like nothing.
pub async fn foreign_things_are_not_there(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mine = first_session();
    journal.append(append(vec![samples::session_opened(mine, Some("key"), Timestamp(1))])).await.unwrap();
    let mut run = SampleRun::new(mine, 0);
    journal.append(append(vec![run.started("x")])).await.unwrap();
    let foreign = samples::principal(1);
    let theirs = palyra_types::session::SessionRef { principal: foreign, id: mine.id };
    assert_eq!(journal.session(theirs).await.unwrap(), None);
    assert_eq!(journal.session_by_key(foreign, "key".to_owned()).await.unwrap(), None);
    let query = SessionQuery {
        principal: foreign,
        after: None,
        search: None,
        only: SessionFilter::All,
        surface: None,
        limit: 10,
    };
    assert!(journal.sessions(query).await.unwrap().is_empty());
    let query = RunQuery {
        principal: foreign,
        session: Some(mine.id),
        only: RunFilter::All,
        before: None,
        limit: 10,
    };
    assert!(journal.runs(query).await.unwrap().is_empty());
    assert!(journal.session_tape(theirs, None, 10).await.unwrap().entries.is_empty());
    assert_eq!(journal.run(RunId::from_parts(4, 4)).await.unwrap(), None);
}
