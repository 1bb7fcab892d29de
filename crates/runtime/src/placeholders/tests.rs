//! A placeholder in any content field marks its entry, and too many registered values are noted once.

use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::journal_suite::{components, policies, skills};
use palyra_types::agent::AgentProfile;
use palyra_types::approval::{
    ApprovalPromptRecord, ApprovalRequested, ApprovalTerms, ArgumentRule, ArgumentShape, AtExpiry,
    GrantBounds, GrantScope, Separation, StoredGrant,
};
use palyra_types::component::{AddedComponent, ComponentCapability, ComponentEvent};
use palyra_types::digest::ContentDigest;
use palyra_types::effect::{Before, EffectPlan, PreImage, UndoRequested, UndoResult, UndoneFile};
use palyra_types::event::{
    AccessEvent, AgentEvent, ApprovalEvent, EffectEvent, ModelEvent, ModelMessage, PolicyEvent, RunEvent,
    RunStarted, SessionEvent, TapeEvent, ToolDecided, ToolEvent, ToolProposed, ToolStarted,
};
use palyra_types::model::{ModelRef, ProviderContinuation, ResponseFormat};
use palyra_types::posture::{Posture, PostureChanged, PostureScope};
use palyra_types::skill::{InstalledSkill, SkillEvent};
use palyra_types::tool::{ApprovalRiskLevel, EffectContract, ToolName};
use palyra_types::{
    AgentId, ApprovalId, EffectId, PrincipalId, Redacted, RunId, SessionId, StoredGrantId, UndoId,
};

use super::*;

/// A placeholder inside of other words.
const MARK: &str = "x<secret:token>y";

fn is_marked(event: &JournalEvent) -> bool {
    let mut bears = false;
    for_each_content(event, &mut |text| bears |= text.contains(PLACEHOLDER_BEGINS));
    bears
}

/// Returns an event made by changing an example in one field.
fn with<T: Clone>(example: &T, wrap: fn(T) -> JournalEvent, change: impl FnOnce(&mut T)) -> JournalEvent {
    let mut changed = example.clone();
    change(&mut changed);
    wrap(changed)
}

fn check(events: &[(&str, JournalEvent)]) {
    let unmarked: Vec<&str> =
        events.iter().filter(|(_, event)| !is_marked(event)).map(|(field, _)| *field).collect();
    assert_eq!(unmarked, [""; 0], "a placeholder in these fields marks nothing");
}

#[test]
fn a_placeholder_in_entries_outside_of_runs_marks_them() {
    let profile =
        AgentProfile { name: "main".into(), instructions: "Be brief.".into(), model: None, tools: None };
    let saved = |profile| JournalEvent::Agent(AgentEvent::Saved { agent: AgentId::NIL, profile });
    let added = components::added(1, "count");
    let component = |added| JournalEvent::Component(ComponentEvent::Added(added));
    let notes = skills::installed(1, "notes");
    let skill = |installed| JournalEvent::Skill(SkillEvent::Installed(installed));
    let changed = policies::posture(PostureScope::Global, Some(Posture::Ask), None);
    let posture = |changed| JournalEvent::Policy(PolicyEvent::PostureChanged(changed));
    assert!(!is_marked(&saved(profile.clone())) && !is_marked(&component(added.clone())));
    assert!(!is_marked(&skill(notes.clone())) && !is_marked(&posture(changed.clone())));
    check(&[
        ("profile.name", with(&profile, saved, |profile| profile.name = MARK.into())),
        ("profile.instructions", with(&profile, saved, |profile| profile.instructions = MARK.into())),
        ("profile.model", with(&profile, saved, |profile| profile.model = Some(ModelRef::new("demo", MARK)))),
        ("profile.tools", with(&profile, saved, |profile| profile.tools = Some(vec![ToolName::new(MARK)]))),
        ("component.name", with(&added, component, |added: &mut AddedComponent| added.name = MARK.into())),
        ("component.text", with(&added, component, |added| added.text = MARK.into())),
        ("component.schema", with(&added, component, |added| added.schema = MARK.into())),
        ("component.source", with(&added, component, |added| added.source = MARK.into())),
        (
            "component.capabilities",
            with(&added, component, |added| {
                added.capabilities = vec![ComponentCapability::Http(MARK.to_owned())];
            }),
        ),
        ("skill.name", with(&notes, skill, |installed: &mut InstalledSkill| installed.name = MARK.into())),
        (
            "skill.allowed_tools",
            with(&notes, skill, |installed| installed.allowed_tools = Some(vec![ToolName::new(MARK)])),
        ),
        ("posture.tool", with(&changed, posture, |changed: &mut PostureChanged| changed.tool = MARK.into())),
        (
            "principal.name",
            JournalEvent::Access(AccessEvent::PrincipalRegistered {
                principal: PrincipalId::NIL,
                name: MARK.into(),
            }),
        ),
        ("undo_requested.paths", undo_requested(MARK)),
        ("undo_finished.path", undo_finished(MARK, UndoResult::Restored)),
        ("undo_finished.failed", undo_finished("a.md", UndoResult::Failed(MARK.into()))),
        ("undo_finished.conflict", undo_finished("a.md", UndoResult::Conflict(MARK.into()))),
        (
            "session.label",
            JournalEvent::Session(SessionEvent::Renamed {
                session: SessionId::from_parts(1, 2),
                label: Some(MARK.into()),
            }),
        ),
    ]);
}

fn undo_requested(path: &str) -> JournalEvent {
    let (undo, run) = (UndoId::from_parts(7, 8), RunId::from_parts(8, 9));
    let paths = vec![path.into()];
    JournalEvent::Effect(EffectEvent::UndoRequested(UndoRequested { undo, run, paths, kept: None }))
}

fn undo_finished(path: &str, result: UndoResult) -> JournalEvent {
    let files = vec![UndoneFile { path: path.into(), result }];
    let (undo, run) = (UndoId::from_parts(7, 8), RunId::from_parts(8, 9));
    JournalEvent::Effect(EffectEvent::UndoFinished { undo, run, files })
}

fn tape(event: impl Into<TapeEvent>) -> JournalEvent {
    JournalEvent::Tape(event.into())
}

fn sample_run() -> SampleRun {
    SampleRun::new(samples::session(samples::principal(0), 0), 0)
}

fn started(change: impl FnOnce(&mut RunStarted)) -> JournalEvent {
    let mut event = sample_run().started("What is this?").event;
    assert!(!is_marked(&event));
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut event {
        change(started);
    }
    event
}

fn proposed(change: impl FnOnce(&mut ToolProposed)) -> JournalEvent {
    let mut event = sample_run().proposed(1).remove(0).event;
    assert!(!is_marked(&event));
    if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Proposed(proposed))) = &mut event {
        change(proposed);
    }
    event
}

fn decided(change: impl FnOnce(&mut ToolDecided)) -> JournalEvent {
    let mut event = sample_run().proposed(1).remove(1).event;
    assert!(!is_marked(&event));
    if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) = &mut event {
        change(decided);
    }
    event
}

fn message(change: impl FnOnce(&mut ModelMessage)) -> JournalEvent {
    let mut event = sample_run().message(1, 0).event;
    assert!(!is_marked(&event));
    if let JournalEvent::Tape(TapeEvent::Model(ModelEvent::Message(message))) = &mut event {
        change(message);
    }
    event
}

fn planned(path: &str, before: Before) -> JournalEvent {
    let image = PreImage { path: path.into(), before, after_sha256: None };
    tape(ToolEvent::Started(ToolStarted {
        effect: EffectId(3),
        contract: EffectContract::Probe,
        deadline: Duration::from_secs(30),
        plan: EffectPlan {
            binding: ContentDigest([21; 32]),
            body: Redacted::default(),
            pre_images: vec![image],
        },
    }))
}

fn asked(prompt: ApprovalPromptRecord) -> JournalEvent {
    let terms = ApprovalTerms {
        span: Duration::from_secs(60),
        at_expiry: AtExpiry::Park,
        separation: Separation::AnotherPerson,
        needed: 1,
    };
    tape(ApprovalEvent::Requested(Box::new(ApprovalRequested {
        approval: ApprovalId::from_parts(5, 6),
        effect: EffectId(3),
        binding: ContentDigest([21; 32]),
        risk: ApprovalRiskLevel::Medium,
        terms,
        expires: None,
        policy_digest: [22; 32],
        prompt,
    })))
}

fn granted(change: impl FnOnce(&mut StoredGrant)) -> JournalEvent {
    let mut stored = StoredGrant {
        grant: StoredGrantId::from_parts(6, 7),
        principal: samples::principal(0),
        approval: ApprovalId::from_parts(5, 6),
        granted_by: samples::principal(1),
        scope: GrantScope::Principal,
        expires: None,
        uses_max: None,
        tool: "write_file".into(),
        matcher: Vec::new(),
        bounds: GrantBounds::default(),
    };
    change(&mut stored);
    tape(ApprovalEvent::GrantStored(stored))
}

fn rule(argument: &str, shape: ArgumentShape) -> JournalEvent {
    granted(|stored| stored.matcher = vec![ArgumentRule { argument: argument.into(), shape }])
}

#[test]
fn a_placeholder_in_entries_of_a_tape_marks_them() {
    let file = |text: &str| Before::File { bytes: Redacted::new(text.as_bytes().to_vec()), mode: 0o644 };
    let continuation =
        ProviderContinuation { model: samples::model(), format: "sample/1".to_owned(), body: MARK.into() };
    let prompt = |change: fn(&mut ApprovalPromptRecord)| {
        let mut prompt = ApprovalPromptRecord::default();
        change(&mut prompt);
        asked(prompt)
    };
    assert!(!is_marked(&prompt(|_| ())) && !is_marked(&rule("text", ArgumentShape::Any)));
    assert!(!is_marked(&planned("a.md", file("nothing"))));
    check(&[
        ("workspace_root", started(|started| started.workspace_root = Redacted::new(MARK.into()))),
        (
            "response_format.schema",
            started(|started| {
                started.response_format = Some(ResponseFormat { schema: Redacted::new(MARK.into()) });
            }),
        ),
        ("proposed.tool", proposed(|proposed| proposed.tool = MARK.into())),
        ("proposed.model_call_id", proposed(|proposed| proposed.model_call_id = MARK.into())),
        ("decided.explanation", decided(|decided| decided.explanation = MARK.into())),
        ("message.response_id", message(|message| message.response_id = MARK.into())),
        ("message.continuation", message(|message| message.continuation = Some(continuation))),
        ("pre_images.path", planned(MARK, Before::Absent)),
        ("pre_images.before", planned("a.md", file(MARK))),
        ("prompt.tool", prompt(|prompt| prompt.tool = MARK.into())),
        ("prompt.asked_again", prompt(|prompt| prompt.asked_again = MARK.into())),
        ("grant.tool", granted(|stored| stored.tool = MARK.into())),
        ("grant.argument", rule(MARK, ArgumentShape::Any)),
        ("grant.equal", rule("path", ArgumentShape::Equal(MARK.into()))),
        ("grant.beneath", rule("path", ArgumentShape::Beneath(MARK.into()))),
        ("grant.origin", rule("path", ArgumentShape::Origin(MARK.into()))),
        ("grant.workspace", granted(|stored| stored.bounds.workspace = Some(Redacted::new(MARK.into())))),
    ]);
}

#[test]
fn many_hits_in_a_minute_are_told_once() {
    let guesses = Guesses::default();
    let somebody = PrincipalId::NIL;
    let at = |seconds| BootTime::default().after(Duration::from_secs(seconds));
    assert!(!guesses.count(somebody, GUESSES_MAX, at(0)));
    assert!(guesses.count(somebody, 1, at(1)));
    assert!(!guesses.count(somebody, 5, at(2)));
    assert!(!guesses.count(somebody, GUESSES_MAX, at(100)));
    assert!(guesses.count(somebody, 1, at(101)));
}
