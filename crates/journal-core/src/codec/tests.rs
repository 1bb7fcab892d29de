//! The codec's laws, and one golden file per kind.

mod access;
mod budgets;
mod client_tools;
mod incidents;
mod references;
mod schedules;
mod deliveries;
mod tasks;
mod content;

use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::journal_suite::{compactions, components, policies, project_rules, skills};
use palyra_types::access::{CredentialKind, PrincipalKind, Role};
use palyra_types::agent::AgentProfile;
use palyra_types::approval::{
    ApprovalPromptRecord, ApprovalRequested, ApprovalResolved, ApprovalState, ApprovalTerms, ApprovalVoted,
    ApproverPresence, ArgumentRule, ArgumentShape, AtExpiry, GrantBounds, GrantScope, SeparationRule,
    StoredGrant,
};
use palyra_types::attachment::{Attachment, AttachmentBody};
use palyra_types::compaction::{CompactionRead, SessionCompaction, SummaryAuthor, SummaryRefusal};
use palyra_types::component::ComponentEvent;
use palyra_types::effect::{
    EffectPlan, EffectResolution, EffectSettled, FileBefore, KeptFileId, KeptPlacement, OutputRest, PreImage,
    ToolOutput, UndoRequested, UndoResult, UndoneFile,
};
use palyra_types::event::{
    AbandonCause, AccessEvent, ActRefused, AgentEvent, ApprovalAsk, ApprovalEvent, Bookmark, CallAttestation,
    ContentDigest, DecidedBy, EffectEvent, EpochSealing, HeldCause, JournalEvent, LogEvent, LoopGuard,
    ModelEvent, ModelRouting, NextAttempt, PassOverCause, PassedOver, PolicyEvent, RoutingReason, RunEvent,
    SessionEvent, TapeEvent, TokenCreated, ToolEvent, ToolStarted, UnknownOutcomeCause,
};
use palyra_types::job::{JobEnd, JobEvent, JobNumber};
use palyra_types::learning::{
    CandidateAuthor, CandidateChanged, CandidateKind, CandidateProposed, CandidateState, CitedEntry,
    HoldReason, LearningEvent,
};
use palyra_types::memory::{
    ForgetCause, MemoryAuthor, MemoryEvent, MemorySaved, MemoryScope, MemorySource, RecallRole,
    RecalledMemory,
};
use palyra_types::model::{ModelFailureClass, ModelRef, ProviderContinuation, ResponseFormat};
use palyra_types::posture::{Posture, PostureScope};
use palyra_types::project_file::{ProjectFile, ProjectFileStanding};
use palyra_types::proof::{ErasureReason, ReopenReason, SeqRange, TreeHead};
use palyra_types::recall::{RecallLevel, RecallSetting, RecallSwitch};
use palyra_types::run::{CancelReason, IdempotencyDigest, InputDelivery, Surface, UserInput};
use palyra_types::sampling::{
    AnswerVerbosity, CallsPerAnswer, ReasoningEffort, SamplingNumber, SamplingOptions,
};
use palyra_types::session::BranchPoint;
use palyra_types::skill::{ActivatedSkill, SkillEvent, SkillFault};
use palyra_types::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Taints, ToolConduct, ToolName, ToolVerdict,
};
use palyra_types::vault::{SecretPut, SecretUsed, UnlockOutcome, VaultEvent};
use palyra_types::{
    AgentId, ApprovalId, Attempt, CandidateId, EffectId, Epoch, ErrorCode, LogId, MemoryId, PrincipalId,
    Redacted, RunId, Seq, SessionId, SkillId, StoredGrantId, TapeSeq, Timestamp, TokenId, UndoId,
};

use self::access::access_kinds;
use super::event::CodedEvent;
use super::field::{MalformedEvent, VERSION};
use super::{NotStorable, decode, encode};
use palyra_types::event::kind::{EventKind, KindPlace};

fn place(event: &JournalEvent) -> KindPlace {
    if matches!(event, JournalEvent::Tape(_)) { KindPlace::Tape } else { KindPlace::Log }
}

fn switched() -> TapeEvent {
    let model = Redacted::cleaned(Some(ModelRef::new("second", "large")));
    TapeEvent::Model(ModelEvent::Switched { attempt: Attempt(2), passed_over: 1, model })
}

/// One event of each kind, whose bytes are kept for ever.
fn one_of_each_kind() -> Vec<(EventKind, &'static str, JournalEvent)> {
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    let mut tape = vec![run.started("What is this?"), run.requested(1), run.text(1, "A daemon.")];
    tape.extend([run.message(1, 1), run.tool_started(1), run.tool_finished(1, "# README"), run.finished()]);
    tape.extend(run.proposed(1));
    tape.iter_mut().for_each(|entry| as_before_approvals(&mut entry.event));
    let others = [
        TapeEvent::Run(RunEvent::InputReceived {
            input: UserInput::text("go on".into()),
            delivery: InputDelivery::Queue,
            idempotency: None,
        }),
        TapeEvent::Run(RunEvent::LoopDetected { guard: LoopGuard::SameFailure, repeats: 5 }),
        TapeEvent::Run(RunEvent::Held { cause: HeldCause::LogReopened }),
        TapeEvent::Run(RunEvent::CancelRequested {
            actor: samples::principal(0),
            reason: CancelReason::User,
        }),
        TapeEvent::Model(ModelEvent::AttemptAbandoned {
            attempt: Attempt(2),
            text_from: TapeSeq(3),
            text_to: TapeSeq(7),
            cause: AbandonCause::Failure(ModelFailureClass::Network),
            next: NextAttempt::None,
            retry_at: None,
            detail: Redacted::default(),
        }),
        TapeEvent::Tool(ToolEvent::OutcomeUnknown {
            effect: EffectId(3),
            cause: UnknownOutcomeCause::Deadline,
        }),
        TapeEvent::Model(ModelEvent::Reasoning { attempt: Attempt(2), text: "It may be a daemon.".into() }),
        switched(),
        TapeEvent::Tool(ToolEvent::Output(ToolOutput {
            effect: EffectId(3),
            shown_bytes: 1_030,
            rest: OutputRest::InOutcome,
            text: "Compiling palyra\n".into(),
        })),
    ];
    let mut events = log_events();
    events.extend(outside_after_runs());
    events.extend(skill_events().into_iter().chain(component_events()));
    events.extend([policy_events(), job_events()].concat());
    events.extend(
        [
            vault_events(),
            memory_events(),
            learning_events(),
            budgets::budget_events(),
            tasks::task_events(),
            deliveries::delivery_events(),
        ]
        .concat(),
    );
    events.extend(schedules::schedule_events());
    events.extend(incidents::incident_events());
    events.extend(tape.into_iter().map(|entry| entry.event));
    events.extend(others.into_iter().chain(approval_tape_events()).map(JournalEvent::Tape));
    events.extend(client_tools::client_tool_events().map(JournalEvent::Tape));
    events.push(JournalEvent::Tape(references::references_expanded()));
    events.extend(budgets::budget_notes().map(JournalEvent::Tape));
    let of_kind = |kind: EventKind| {
        let is = |event: &&JournalEvent| encode(event).unwrap().kind == kind.number();
        events.iter().find(is).unwrap_or_else(|| panic!("no example of {kind:?}")).clone()
    };
    EventKind::ALL.iter().map(|kind| (*kind, kind.variant(), of_kind(*kind))).collect()
}

/// Events of a tape about an approval and the call that it is for.
fn approval_tape_events() -> Vec<TapeEvent> {
    vec![
        TapeEvent::Approval(ApprovalEvent::Requested(Box::new(approval_requested()))),
        TapeEvent::Approval(ApprovalEvent::Voted(ApprovalVoted {
            approval: approval(),
            effect: EffectId(3),
            by: samples::principal(1),
            via: Surface::Tcp,
            note: "fine with me".into(),
        })),
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved())),
        TapeEvent::Approval(ApprovalEvent::GrantStored(stored_grant())),
        TapeEvent::Tool(ToolEvent::EffectResolved {
            effect: EffectId(3),
            resolution: EffectResolution::DidNotHappen,
            by: samples::principal(1),
            note: "I looked".into(),
        }),
    ]
}

fn approval() -> ApprovalId {
    ApprovalId::from_parts(5, 6)
}

fn approval_requested() -> ApprovalRequested {
    ApprovalRequested {
        approval: approval(),
        effect: EffectId(3),
        binding: ContentDigest([21; 32]),
        risk: ApprovalRiskLevel::Medium,
        terms: terms(),
        expires: Some(Timestamp(1_735_776_000_000_000)),
        policy_digest: [22; 32],
        prompt: ApprovalPromptRecord {
            tool: "write_file".into(),
            arguments: r#"{"path":"notes.md"}"#.into(),
            summary: "write notes.md".into(),
            preview: "-a\n+b\n".into(),
            reason: "writing asks".into(),
            unbound: "what the file is used for".into(),
            asked_again: "the file changed".into(),
        },
    }
}

fn terms() -> ApprovalTerms {
    ApprovalTerms {
        span: std::time::Duration::from_secs(3_600),
        at_expiry: AtExpiry::Park,
        separation: SeparationRule::AnotherPerson,
        needed: 2,
        approvers: None,
    }
}

fn resolved() -> ApprovalResolved {
    ApprovalResolved {
        approval: approval(),
        effect: EffectId(3),
        state: ApprovalState::Approved,
        by: Some(samples::principal(1)),
        via: Some(Surface::LocalSocket),
        edited_digest: ContentDigest([23; 32]),
        edited: Some(r#"{"path":"other.md"}"#.into()),
        note: "another name".into(),
    }
}

fn stored_grant() -> StoredGrant {
    let rule =
        |argument: &str, shape| ArgumentRule { argument: Redacted::cleaned(argument.to_owned()), shape };
    StoredGrant {
        grant: StoredGrantId::from_parts(6, 7),
        principal: samples::principal(0),
        approval: approval(),
        granted_by: samples::principal(1),
        scope: GrantScope::Session(SessionId::from_parts(1, 2)),
        expires: Some(Timestamp(1_736_294_400_000_000)),
        uses_max: Some(20),
        tool: "write_file".into(),
        matcher: vec![
            rule("mode", ArgumentShape::Equal("\"text\"".into())),
            rule("path", ArgumentShape::Beneath("docs".into())),
            rule("text", ArgumentShape::Any),
        ],
        bounds: GrantBounds::default(),
    }
}

/// A compaction with every field.
fn compaction() -> SessionCompaction {
    SessionCompaction {
        replaces: Some(Seq(30)),
        author: SummaryAuthor::Fallback,
        refused: Some(SummaryRefusal::PinMissing),
        model: Some(ModelRef::new("local", "qwen3")).into(),
        ..compactions::compaction(SessionId::from_parts(5, 6), 3, 40, "Done:\n- tea")
    }
}

fn outside_after_runs() -> Vec<JournalEvent> {
    let bookmark = Bookmark { run: RunId::from_parts(8, 9), tape_seq: TapeSeq(12), name: "draft".into() };
    let (undo, run) = (UndoId::from_parts(7, 8), RunId::from_parts(8, 9));
    let file = |path: &str, result| UndoneFile { path: Redacted::cleaned(path.to_owned()), result };
    vec![
        JournalEvent::Policy(PolicyEvent::GrantRevoked {
            grant: StoredGrantId::from_parts(6, 7),
            by: samples::principal(0),
        }),
        JournalEvent::Effect(EffectEvent::Settled(EffectSettled {
            run,
            effect: EffectId(3),
            resolution: EffectResolution::DidNotHappen,
            by: samples::principal(0),
            note: "no mail went out".into(),
        })),
        JournalEvent::Effect(EffectEvent::UndoRequested(UndoRequested {
            undo,
            run,
            paths: vec!["a.md".into(), "b.md".into()],
            kept: None,
        })),
        JournalEvent::Effect(EffectEvent::UndoRequested(UndoRequested {
            undo,
            run,
            paths: vec![".envrc".into(), ".vscode/a".into()],
            kept: Some(KeptPlacement {
                file: KeptFileId("1-2-3/4".to_owned()),
                sha256: [7; 32],
                before: vec![None, Some([8; 32])],
            }),
        })),
        JournalEvent::Effect(EffectEvent::UndoFinished {
            undo,
            run,
            files: vec![
                file("a.md", UndoResult::Restored),
                file("b.md", UndoResult::Conflict("-x\n+y\n".into())),
                file("c.md", UndoResult::Failed("no space".into())),
            ],
        }),
        SessionEvent::BookmarkPlaced(bookmark).into(),
        SessionEvent::BookmarkRemoved(Seq(40)).into(),
        SessionEvent::ResponseDeleted { run: RunId::from_parts(8, 9) }.into(),
        SessionEvent::Compacted(Box::new(compaction())).into(),
        SessionEvent::CompactionReverted(Seq(42)).into(),
        PolicyEvent::ProjectRulesAccepted(project_rules::accepted("docs/AGENTS.md")).into(),
        PolicyEvent::ProjectRulesWithdrawn(Seq(41)).into(),
    ]
}

fn job_events() -> Vec<JournalEvent> {
    let (run, effect) = (RunId::from_parts(8, 9), EffectId(3));
    let end = JobEnd::Exited { code: 3 };
    let events =
        [JobEvent::Started { job: JobNumber(17), run, effect }, JobEvent::Ended { run, effect, end }];
    events.map(JournalEvent::Job).into()
}

fn policy_events() -> Vec<JournalEvent> {
    let work = PostureScope::Workspace("/home/somebody/work".into());
    let changed = policies::posture(work, Some(Posture::Disabled), Some(Seq(7)));
    vec![
        JournalEvent::Policy(PolicyEvent::PostureChanged(changed)),
        JournalEvent::Policy(PolicyEvent::ShadowCounted(policies::shadow(3, 9))),
    ]
}

fn memory_events() -> Vec<JournalEvent> {
    let saved = MemorySaved {
        memory: MemoryId::from_parts(9, 10),
        scope: MemoryScope::PrincipalRoot(Redacted::cleaned("/home/me/work".into())),
        author: MemoryAuthor::Model,
        via: Surface::Console,
        source: Some(MemorySource { run: RunId::from_parts(8, 9), tape_seq: TapeSeq(12) }),
        taints: Taints::WORKSPACE.with(Taints::WEB),
        expires: Some(Timestamp(7_000_000)),
        supersedes: Some(MemoryId::from_parts(9, 8)),
        text: "the build needs a nightly compiler".into(),
    };
    let forgotten = MemoryEvent::Forgotten { memory: saved.memory, cause: ForgetCause::Person };
    vec![MemoryEvent::Saved(saved).into(), forgotten.into()]
}

fn learning_events() -> Vec<JournalEvent> {
    let proposed = CandidateProposed {
        candidate: CandidateId::from_parts(9, 20),
        kind: CandidateKind::Preference,
        confidence_bps: 9_400,
        state: CandidateState::PendingReview,
        held_back: Some(HoldReason::Tainted),
        author: CandidateAuthor::Model,
        evidence: vec![CitedEntry { run: RunId::from_parts(8, 9), tape_seq: TapeSeq(1) }],
        taints: Taints::WEB,
        via: Surface::Console,
        memory: Some(MemoryId::from_parts(9, 10)),
        supersedes: Some(CandidateId::from_parts(9, 19)),
        text: "keep answers short".into(),
    };
    let changed = CandidateChanged {
        candidate: proposed.candidate,
        state: CandidateState::Edited,
        memory: proposed.memory,
        text: "keep answers to a page".into(),
    };
    vec![LearningEvent::Proposed(Box::new(proposed)).into(), LearningEvent::Changed(changed).into()]
}

fn vault_events() -> Vec<JournalEvent> {
    let via = Surface::LocalSocket;
    let events = [
        VaultEvent::Put(SecretPut {
            version: 2,
            via,
            secret: "forge".into(),
            hosts: vec!["a.example".into(), "b.example:8443".into()],
            sent_as: "x-api-key".into(),
        }),
        VaultEvent::Bound {
            via,
            secret: "forge".into(),
            hosts: vec!["a.example".into()],
            principals: Vec::new(),
        },
        VaultEvent::Removed { via, secret: "forge".into() },
        VaultEvent::Unlocked { via, outcome: UnlockOutcome::Wrong },
        VaultEvent::PassphraseSet { via },
        VaultEvent::Used(SecretUsed {
            on_behalf: Some((RunId::from_parts(8, 9), EffectId(3))),
            refused: Some(ErrorCode::SecretNotBound),
            secret: "forge".into(),
            host: "a.example".into(),
        }),
    ];
    events.map(JournalEvent::Vault).to_vec()
}

fn component_events() -> Vec<JournalEvent> {
    let added = components::added(1, "word_count");
    let removed = ComponentEvent::Removed { component: added.component };
    [ComponentEvent::Added(added), removed].map(JournalEvent::Component).to_vec()
}

fn skill_events() -> Vec<JournalEvent> {
    let notes = skills::installed(1, "notes");
    let (skill, agent) = (notes.skill, AgentId::from_bytes([6; 16]));
    let events = [
        SkillEvent::Installed(notes),
        SkillEvent::Enabled { skill, agent },
        SkillEvent::Disabled { skill, agent },
        SkillEvent::Quarantined { skill, fault: SkillFault::Changed { found: [9; 32] } },
        SkillEvent::Removed { skill },
    ];
    events.map(JournalEvent::Skill).to_vec()
}

/// Takes from an entry what those before approvals did not have.
fn as_before_approvals(event: &mut JournalEvent) {
    if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) = event {
        (decided.tool_version, decided.taints) = (0, Taints::NONE);
    }
}

fn agent_profile() -> AgentProfile {
    AgentProfile {
        name: "main".into(),
        instructions: "Be brief.".into(),
        model: Some(samples::model()),
        tools: Some(vec![ToolName::new("read_file"), ToolName::new("search")]),
        ..AgentProfile::default()
    }
}

fn log_events() -> Vec<JournalEvent> {
    let (session, agent) = (SessionId::from_parts(1, 2), AgentId::from_bytes([6; 16]));
    let token = TokenId::from_bytes([7; 16]);
    let profile = agent_profile();
    vec![
        JournalEvent::Log(LogEvent::Opened { log_id: LogId([1; 16]), nonce: [2; 32], first_key: [3; 32] }),
        JournalEvent::Log(LogEvent::EpochStarted { epoch: Epoch(4), key: [5; 32], sealing: None }),
        JournalEvent::Log(LogEvent::Erased {
            authoriser: samples::principal(0),
            reason: ErasureReason::LeakedSecret,
            ranges: vec![
                SeqRange { first: Seq(3), last: Seq(3) },
                SeqRange { first: Seq(7), last: Seq(300) },
            ],
        }),
        JournalEvent::Log(LogEvent::Reopened {
            log_id: LogId([10; 16]),
            nonce: [11; 32],
            key: [12; 32],
            abandoned: TreeHead { size: 500, root: [13; 32] },
            reason: ReopenReason::RollbackAccepted,
        }),
        JournalEvent::Access(AccessEvent::PrincipalRegistered {
            principal: samples::principal(0),
            name: "user:local".into(),
            kind: PrincipalKind::Person,
            role: None,
        }),
        JournalEvent::Access(AccessEvent::TokenCreated(TokenCreated {
            token,
            sha256: [8; 32],
            expires: Some(Timestamp(1_735_689_600_000_000)),
            label: "laptop".into(),
            kind: CredentialKind::Program,
            scopes: None,
        })),
        JournalEvent::Access(AccessEvent::TokenRevoked { token }),
        JournalEvent::Access(AccessEvent::PrincipalRenamed {
            principal: samples::principal(0),
            name: "anna".into(),
        }),
        JournalEvent::Access(AccessEvent::RoleGiven {
            principal: samples::principal(0),
            role: Role::Approver,
        }),
        JournalEvent::Access(AccessEvent::PrincipalDisabled { principal: samples::principal(0) }),
        JournalEvent::Access(AccessEvent::PrincipalEnabled { principal: samples::principal(0) }),
        JournalEvent::Access(AccessEvent::PageSessionBegun { credential: token }),
        JournalEvent::Access(time_zone_set()),
        JournalEvent::Access(act_refused()),
        JournalEvent::Agent(AgentEvent::Saved { agent, profile }),
        JournalEvent::Agent(AgentEvent::Archived { agent }),
        JournalEvent::Session(SessionEvent::Opened {
            session,
            agent,
            key: Some("home".into()),
            label: Some("Home".into()),
            branched_from: None,
        }),
        JournalEvent::Session(SessionEvent::Renamed { session, label: Some("Work".into()) }),
        JournalEvent::Session(SessionEvent::Archived { session }),
        JournalEvent::Session(SessionEvent::Restored { session }),
        JournalEvent::Session(SessionEvent::Reset { session }),
        SessionEvent::RecallSet { session, recall: Some(RecallSwitch::Off) }.into(),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Kinds that later grew fields, with those fields set.
fn routed_request(run: &mut SampleRun) -> JournalEvent {
    let mut requested = run.requested(2).event;
    if let JournalEvent::Tape(TapeEvent::Model(ModelEvent::Requested(requested))) = &mut requested {
        let causes = vec![PassOverCause::NoTools, PassOverCause::Unavailable];
        let passed_over = vec![PassedOver { model: ModelRef::new("second", "large"), causes }];
        requested.routing = ModelRouting {
            reasons: vec![RoutingReason::ConfiguredOrder, RoutingReason::WithinBudgets],
            passed_over: Redacted::cleaned(passed_over),
        };
    }
    requested
}

fn grown_kinds() -> Vec<(EventKind, &'static str, JournalEvent)> {
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    let model = samples::model();
    let attachment = |body| Attachment {
        name: "notes.txt".into(),
        media_type: "text/plain".into(),
        bytes: 5,
        sha256: Redacted::cleaned([8; 32]),
        body,
    };
    let attachments =
        vec![attachment(AttachmentBody::Text("hello".into())), attachment(AttachmentBody::Blob { index: 0 })];
    let mut started = run.started("What is this?").event;
    let mut as_before = None;
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut started {
        started.delivery = InputDelivery::Interrupt;
        started.input.attachments.clone_from(&attachments);
        started.fallbacks = Redacted::cleaned(vec![model.clone()]);
        started.response_format = Some(ResponseFormat { schema: Redacted::cleaned("{}".into()) });
        as_before = Some(JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started.clone()))));
        (started.approvers, started.taints) =
            (ApproverPresence::Nobody, Taints::WORKSPACE.with(Taints::SECRET));
    }
    let skilled = skilled_start(&mut run);
    let sampled = sampled_start(&mut run);
    let recalling = recalling_start(&mut run);
    let switched = recall_switched_start(&mut run);
    let compacted = compacted_start(&mut SampleRun::new(run.session, 77));
    let given = project_start(&mut run);
    let mut message = run.message(1, 0).event;
    if let JournalEvent::Tape(TapeEvent::Model(ModelEvent::Message(message))) = &mut message {
        let body = "[{\"at\":0}]".into();
        message.continuation = Some(ProviderContinuation { model, format: "sample/1".to_owned(), body });
    }
    let received = TapeEvent::Run(RunEvent::InputReceived {
        input: UserInput { text: "faster".into(), attachments },
        delivery: InputDelivery::Steer,
        idempotency: Some(IdempotencyDigest([9; 32])),
    });
    let branched_from = Some(BranchPoint {
        session: SessionId::from_parts(1, 3),
        run: run.run,
        run_first_seq: Seq(40),
        tape_seq: TapeSeq(4),
        since: Some(Seq(12)),
    });
    let (session, agent) = (SessionId::from_parts(1, 2), AgentId::from_bytes([6; 16]));
    let opened =
        JournalEvent::Session(SessionEvent::Opened { session, agent, key: None, label: None, branched_from });
    let routed = routed_request(&mut SampleRun::new(run.session, 78));
    let kinds = vec![
        (EventKind::ModelRequested, "ModelRequested-routed", routed),
        (EventKind::SessionOpened, "SessionOpened-branched", opened),
        (EventKind::RunStarted, "RunStarted-grown", as_before.unwrap()),
        (EventKind::RunStarted, "RunStarted-asking", started),
        (EventKind::RunStarted, "RunStarted-skilled", skilled),
        (EventKind::RunStarted, "RunStarted-sampled", sampled),
        (EventKind::RunStarted, "RunStarted-project", given),
        (EventKind::RunStarted, "RunStarted-recalling", recalling),
        (EventKind::RunStarted, "RunStarted-recall-switched", switched),
        (EventKind::RunStarted, "RunStarted-compacted", compacted),
        (EventKind::InputReceived, "InputReceived-grown", JournalEvent::Tape(received)),
        (EventKind::ModelMessage, "ModelMessage-grown", message),
        (
            EventKind::ModelAttemptAbandoned,
            "ModelAttemptAbandoned-grown",
            JournalEvent::Tape(limited_attempt()),
        ),
    ];
    kinds.into_iter().chain(grown_permissions()).collect()
}

/// An attempt that a rate limit ended; another model follows.
fn limited_attempt() -> TapeEvent {
    TapeEvent::Model(ModelEvent::AttemptAbandoned {
        attempt: Attempt(2),
        text_from: TapeSeq(3),
        text_to: TapeSeq(7),
        cause: AbandonCause::Failure(ModelFailureClass::RateLimit),
        next: NextAttempt::NextModel,
        retry_at: Some(Timestamp(1_700_000_000_500_000)),
        detail: "slow down".into(),
    })
}

/// A start with a skill.
fn skilled_start(run: &mut SampleRun) -> JournalEvent {
    let mut skilled = run.started("What is this?").event;
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut skilled {
        let skill = SkillId::from_parts(8, 1);
        started.skills = vec![ActivatedSkill { skill, sha256: [1; 32] }];
    }
    skilled
}

/// A start with a file of its project.
fn project_start(run: &mut SampleRun) -> JournalEvent {
    let mut given = run.started("What is this?").event;
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut given {
        started.project_files = vec![ProjectFile {
            path: "AGENTS.md".into(),
            sha256: Redacted::cleaned([5; 32]),
            text: Redacted::cleaned("Be brief.".into()),
            standing: ProjectFileStanding::Accepted,
        }];
    }
    given
}

fn act_refused() -> AccessEvent {
    AccessEvent::ActRefused(ActRefused {
        operation: "ResolveApproval".into(),
        code: ErrorCode::ScopeMissing,
        unrecorded: 2,
    })
}

fn time_zone_set() -> AccessEvent {
    AccessEvent::TimeZoneSet { principal: samples::principal(0), time_zone: "Europe/Prague".into() }
}

/// A start that reads a compaction.
fn compacted_start(run: &mut SampleRun) -> JournalEvent {
    let mut compacted = run.started("What is this?").event;
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut compacted {
        started.compaction = Some(CompactionRead { compaction: Seq(42), upto: Seq(40) });
    }
    compacted
}

/// A start that was given an item of memory.
fn recalling_start(run: &mut SampleRun) -> JournalEvent {
    let mut recalling = run.started("What is this?").event;
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut recalling {
        started.recalled = vec![RecalledMemory {
            memory: MemoryId::from_parts(11, 1),
            created: Timestamp(1_700_000_000_500_000),
            taints: Taints::WEB,
            role: RecallRole::Related,
            text: "likes tea".into(),
        }];
    }
    recalling
}

/// A start that says who turned recall off.
fn recall_switched_start(run: &mut SampleRun) -> JournalEvent {
    let mut switched = run.started("What is this?").event;
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut switched {
        started.recall = Some(RecallSetting { switch: RecallSwitch::Off, level: RecallLevel::Session });
    }
    switched
}

/// A start with every setting of a model request.
fn sampled_start(run: &mut SampleRun) -> JournalEvent {
    let mut sampled = run.started("What is this?").event;
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut sampled {
        *started.sampling = SamplingOptions {
            temperature: Some(SamplingNumber::rounded(0.7)),
            top_p: Some(SamplingNumber::rounded(0.0)),
            stop: vec!["END".into(), "\n\n".into()],
            seed: Some(-1),
            reasoning_effort: Some(ReasoningEffort::ExtraHigh),
            verbosity: Some(AnswerVerbosity::Low),
            calls_per_answer: Some(CallsPerAnswer::One),
        };
    }
    sampled
}

/// Stored grants and bindings of secrets, with what they have by now.
fn grown_permissions() -> [(EventKind, &'static str, JournalEvent); 3] {
    let bounds = GrantBounds {
        workspace: Some(Redacted::cleaned("/home/somebody/desk".into())),
        tool_version: Some(3),
        programs: Some([24; 32]),
    };
    let bound = StoredGrant { bounds, scope: GrantScope::Principal, ..stored_grant() };
    let anywhere = StoredGrant { scope: GrantScope::Everywhere, ..stored_grant() };
    let [bound, anywhere] = [bound, anywhere]
        .map(|stored| JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::GrantStored(stored))));
    let shared = JournalEvent::Vault(VaultEvent::Bound {
        via: Surface::LocalSocket,
        secret: "forge".into(),
        hosts: vec!["a.example".into()],
        principals: vec![PrincipalId::from_parts(1, 2), PrincipalId::from_parts(3, 4)],
    });
    [
        (EventKind::SecretBound, "SecretBound-principals", shared),
        (EventKind::GrantStored, "GrantStored-bound", bound),
        (EventKind::GrantStored, "GrantStored-anywhere", anywhere),
    ]
}

/// The stations of a call that asked, with every field set.
fn asking_kinds() -> Vec<(EventKind, &'static str, JournalEvent)> {
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    let mut decided = run.proposed(3).pop().unwrap().event;
    if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) = &mut decided {
        (decided.verdict, decided.reason) = (ToolVerdict::Ask, DecisionReason::NeedsApproval);
        (decided.contract, decided.conduct) = (EffectContract::Probe, ToolConduct::Prepared);
        (decided.tool_version, decided.risk) = (4, ApprovalRiskLevel::High);
        decided.taints = Taints::WEB;
        decided.ask = Some(ApprovalAsk { approval: approval(), terms: terms() });
        decided.request = r#"{"action":"execute"}"#.into();
    }
    let mut granted = decided.clone();
    if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) = &mut granted {
        (decided.verdict, decided.reason) = (ToolVerdict::Allow, DecisionReason::Granted);
        (decided.decided_by, decided.ask) = (DecidedBy::Grant(StoredGrantId::from_parts(6, 7)), None);
    }
    let image = |path: &str, before, after_sha256| PreImage {
        path: Redacted::cleaned(path.to_owned()),
        before,
        after_sha256,
    };
    let file = FileBefore::File { bytes: Redacted::cleaned(vec![0, 159, 146, 150]), mode: 0o644 };
    let started = JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Started(ToolStarted {
        effect: EffectId(3),
        contract: EffectContract::Probe,
        deadline: std::time::Duration::from_secs(30),
        plan: EffectPlan {
            binding: ContentDigest([21; 32]),
            body: r#"{"writes":3}"#.into(),
            pre_images: vec![
                image("a.md", FileBefore::Absent, Some([24; 32])),
                image("b.md", file, None),
                image("c.md", FileBefore::Withheld { mode: 0o600 }, Some([25; 32])),
            ],
            preview: Redacted::default(),
        },
    })));
    let mut shown = started.clone();
    if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Started(shown))) = &mut shown {
        shown.plan.preview = "--- a.md\n+++ a.md\n".into();
    }
    let mut finished = run.tool_finished(3, "written").event;
    if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Finished(finished))) = &mut finished {
        finished.attested = CallAttestation {
            tool_version: 4,
            call_digest: ContentDigest([6; 32]),
            policy_digest: [22; 32],
            approval: Some(approval()),
            grant: Some(StoredGrantId::from_parts(6, 7)),
        };
    }
    let expired = ApprovalResolved {
        state: ApprovalState::Expired,
        by: None,
        via: None,
        edited_digest: ContentDigest::default(),
        edited: None,
        note: Redacted::default(),
        ..resolved()
    };
    let expired = JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Resolved(expired)));
    vec![
        (EventKind::ToolDecided, "ToolDecided-asking", decided),
        (EventKind::ToolDecided, "ToolDecided-granted", granted),
        (EventKind::ToolStarted, "ToolStarted-planned", started),
        (EventKind::ToolStarted, "ToolStarted-shown", shown),
        (EventKind::ToolFinished, "ToolFinished-attested", finished),
        (EventKind::ApprovalResolved, "ApprovalResolved-expired", expired),
    ]
}

#[test]
fn released_kinds_keep_their_bytes() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (kind, name, event) in
        one_of_each_kind().into_iter().chain(grown_kinds()).chain(asking_kinds()).chain(access_kinds())
    {
        let coded = encode(&event).unwrap();
        let written = format!("facts {}\npayload {}\n", hex(&coded.facts), hex(&coded.payload));
        let path = folder.join(format!("{:04x}-{name}-v{VERSION}.txt", kind.number()));
        let golden = std::fs::read_to_string(&path)
            .unwrap_or_else(|_| panic!("{} is missing; a new kind writes:\n{written}", path.display()));
        assert_eq!(written, golden, "{name} is written in another way than when it was released");
        let lines: Vec<_> = golden.lines().filter_map(|line| line.split_once(' ')).collect();
        let read = decode(kind.number(), place(&event), &unhex(lines[0].1), &unhex(lines[1].1));
        assert_eq!(read, Ok(event), "{name} is read in another way than when it was released");
    }
}

#[test]
fn decoding_undoes_encoding_and_facts_hold_no_content() {
    let mut random = RandomAppends::new(3);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..6_000 {
        for entry in random.next_append().entries {
            let coded = encode(&entry.event).unwrap();
            let read = decode(coded.kind, place(&entry.event), &coded.facts, &coded.payload);
            assert_eq!(read.as_ref(), Ok(&entry.event));
            for canary in ["secret", "two words", "日本語", "a/b", "read_file", "key "] {
                let found = coded.facts.windows(canary.len()).any(|window| window == canary.as_bytes());
                assert!(!found, "{:?} has content in its facts", entry.event);
            }
            let erased = decode(coded.kind, place(&entry.event), &coded.facts, &[]).unwrap();
            let again = encode(&erased).unwrap();
            assert_eq!((again.kind, again.facts), (coded.kind, coded.facts), "facts survive an erasure");
            assert!(again.payload.len() <= 4, "{erased:?} kept content: {:?}", again.payload);
            seen.insert(coded.kind);
        }
    }
    let missing: Vec<_> = EventKind::ALL.iter().filter(|kind| !seen.contains(&kind.number())).collect();
    assert_eq!(
        seen.len(),
        EventKind::ALL.len() - 4,
        "all kinds but the journal's own were made: {missing:?}"
    );
}

#[test]
fn what_a_newer_version_wrote_is_unknown_and_what_nobody_wrote_is_malformed() {
    let finished =
        one_of_each_kind().into_iter().find(|(kind, ..)| *kind == EventKind::RunFinished).unwrap().2;
    let CodedEvent { kind, facts, payload } = encode(&finished).unwrap();
    let unknown = |kind| Ok(JournalEvent::Tape(TapeEvent::Unknown { kind }));
    assert_eq!(decode(0x7FFF, KindPlace::Tape, &facts, &payload), unknown(0x7FFF));
    assert_eq!(decode(0x9000, KindPlace::Log, &[], &[]), Ok(JournalEvent::Unknown { kind: 0x9000 }));

    let mut newer_version = facts.clone();
    newer_version[1] = 2;
    assert_eq!(decode(kind, KindPlace::Tape, &newer_version, &payload), unknown(kind));
    let mut newer_state = facts.clone();
    assert_eq!(newer_state[2], 0x10, "field 2 is the state");
    newer_state[3] = 99;
    assert_eq!(decode(kind, KindPlace::Tape, &newer_state, &payload), unknown(kind));

    let without_version = &facts[2..];
    let mut no_state = facts.clone();
    no_state[3] = 0;
    for broken in [without_version, &no_state, &facts[..facts.len() - 1], &[0xFF; 4]] {
        assert_eq!(decode(kind, KindPlace::Tape, broken, &payload), Err(MalformedEvent));
    }
    assert_eq!(
        decode(kind, KindPlace::Log, &facts, &payload),
        Err(MalformedEvent),
        "a tape's kind outside tapes"
    );
    assert_eq!(encode(&JournalEvent::Unknown { kind: 5 }), Err(NotStorable));
}

/// What `kinds.toml` has to say, made from the registry.
fn registry_document() -> String {
    let head = "# The registry of kinds: what an entry of the journal can be. Written by a test of this crate:\n\
                # `PALYRA_WRITE_KINDS=1 cargo test -p palyra-journal-core registry`.\n#\n\
                # Numbers are never reused and never change their meaning. Below 0x8000 a kind is critical: a version that\n\
                # does not know it parks the run (or, outside runs, starts read-only). From 0x8000 on it may be skipped.\n\
                # `version` is the newest version of the kind's facts and payload; older ones are read for ever.\n\
                # Each released kind has a golden file in tests/golden.\n\nkind = [\n";
    let row = |kind: &EventKind| {
        let (number, variant) = (kind.number(), kind.variant());
        format!("    {{ number = {number:#06X}, name = \"{variant}\", version = {VERSION} }},\n")
            .replace("0X", "0x")
    };
    let mut kinds = EventKind::ALL.to_vec();
    kinds.sort_by_key(|kind| kind.number());
    format!("{head}{}]\n", kinds.iter().map(row).collect::<String>())
}

#[test]
fn the_registry_of_kinds_and_its_document_agree() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/kinds.toml");
    if std::env::var_os("PALYRA_WRITE_KINDS").is_some() {
        std::fs::write(file, registry_document()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), registry_document());
    let mut numbers: Vec<_> = EventKind::ALL.iter().map(|kind| kind.number()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), EventKind::ALL.len(), "no number is given twice");
}

#[test]
fn an_epoch_says_whether_it_seals_and_one_of_before_does_not() {
    let started =
        |sealing| JournalEvent::Log(LogEvent::EpochStarted { epoch: Epoch(4), key: [5; 32], sealing });
    let facts = |sealing| encode(&started(sealing)).unwrap().facts;
    let before = facts(None);
    for (sealing, last) in [(EpochSealing::Off, [0x20, 1]), (EpochSealing::On, [0x20, 2])] {
        let coded = facts(Some(sealing));
        assert_eq!(coded, [&before[..], &last].concat());
        assert_eq!(
            decode(EventKind::EpochStarted.number(), KindPlace::Log, &coded, &[]),
            Ok(started(Some(sealing)))
        );
    }
    let unknown = [&before[..], &[0x20, 9]].concat();
    assert_eq!(decode(EventKind::EpochStarted.number(), KindPlace::Log, &unknown, &[]), Ok(started(None)));
}
