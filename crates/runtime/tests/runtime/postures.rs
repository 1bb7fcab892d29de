//! Standing settings of tools: in force with the next call, durable, told with who made them, out of reach for runs.

use palyra_admin::AdminError;
use palyra_admin::postures::{PostureToClear, PostureWhere};
use palyra_testkit::Script;
use palyra_testkit::scripted_tools::LOOK;
use palyra_types::event::{JournalEvent, PolicyEvent, TapeEvent, ToolDecided, ToolEvent};
use palyra_types::posture::Posture;
use palyra_types::tool::{DecisionReason, ToolName, ToolVerdict};
use palyra_types::{RunId, SessionId};

use crate::rig::{Parts, Rig};
use crate::shapes::check;

fn look() -> ToolName {
    ToolName::new(LOOK)
}

/// Lets a run of a session look; returns the run and what was decided.
async fn decided(rig: &Rig, key: &str) -> (RunId, ToolDecided) {
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.model.push(Script::new().text("done"));
    let run = rig.submit(key, "go").await.run;
    rig.finished(run).await;
    let tape = rig.tape(run).await;
    check(&tape);
    let decided = tape.iter().find_map(|entry| match &entry.event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) => Some(decided.clone()),
        _ => None,
    });
    (run, decided.unwrap())
}

async fn set(rig: &Rig, place: PostureWhere, posture: Posture) -> Result<(), AdminError> {
    rig.gateway.admin.policy.set_posture(rig.me(), look(), place, posture).await.map(drop)
}

async fn session_of(rig: &Rig, key: &str) -> SessionId {
    rig.resolve(crate::rig::by_key(key)).await.unwrap().record.session.id
}

#[tokio::test]
async fn a_setting_of_a_session_governs_its_next_call_and_no_other_session() {
    let rig = Rig::start().await;
    assert_eq!(decided(&rig, "k").await.1.verdict, ToolVerdict::Allow);
    let session = session_of(&rig, "k").await;
    set(&rig, PostureWhere::Session { principal: None, session }, Posture::Disabled).await.unwrap();
    let executed = rig.tools.executions().len();
    let (run, denied) = decided(&rig, "k").await;
    assert_eq!((denied.verdict, denied.reason), (ToolVerdict::Deny, DecisionReason::Disabled));
    let by = rig.me().actor.principal;
    let told = format!("posture: disabled for this session, set by {by} on ");
    assert!(denied.explanation.expose().contains(&told), "{}", denied.explanation.expose());
    assert_eq!(rig.tools.executions().len(), executed, "the canary is untouched");
    let explained = rig.gateway.admin.policy.explain(denied.request.expose()).unwrap();
    assert!(explained.lines.iter().any(|line| line.starts_with("posture: disabled for this session")));
    assert_eq!(decided(&rig, "other").await.1.verdict, ToolVerdict::Allow, "the control");
    assert_eq!(rig.tools.executions().len(), executed + 1);

    // Both texts that name the policy are kept: the settings, and the rules that they refer to.
    let statics = rig.memory.statics();
    let own = statics.iter().find(|(digest, _)| *digest == denied.policy_digest).unwrap();
    let base = own.1.lines().find_map(|line| line.strip_prefix("beside ")).unwrap().to_owned();
    let hex = |digest: &[u8; 32]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert!(statics.iter().any(|(digest, _)| hex(digest) == base));
    assert!(rig.gateway.admin.policy.recorded(rig.me(), run, denied.effect).await.is_ok());
}

#[tokio::test]
async fn settings_are_entries_that_outlive_a_restart_and_are_taken_back() {
    let rig = Rig::start().await;
    set(&rig, PostureWhere::Global, Posture::Ask).await.unwrap();
    set(&rig, PostureWhere::Workspace("/home".to_owned()), Posture::AlwaysAllow).await.unwrap();
    set(&rig, PostureWhere::Agent("main".to_owned()), Posture::Disabled).await.unwrap();
    set(&rig, PostureWhere::Agent("main".to_owned()), Posture::Disabled).await.unwrap();
    let changes = async |rig: &Rig| {
        let all = rig.memory_entries().await;
        let is = |event: &JournalEvent| matches!(event, JournalEvent::Policy(PolicyEvent::PostureChanged(changed)) if changed.by == rig.me().actor.principal);
        all.iter().filter(|entry| is(&entry.event)).count()
    };
    assert_eq!(changes(&rig).await, 3, "what holds already is no change");
    let rig = rig.restarted().await;
    assert_eq!(decided(&rig, "k").await.1.reason, DecisionReason::Disabled, "disabled wins");
    let rules = rig.gateway.admin.policy.clone();
    let agent = PostureToClear::Of(look(), PostureWhere::Agent("main".to_owned()));
    let held = rules.clear_posture(rig.me(), agent.clone()).await.unwrap();
    assert_eq!(held.change.posture, Some(Posture::Disabled));
    let again = rules.clear_posture(rig.me(), agent).await;
    assert!(matches!(again, Err(AdminError::InvalidArgument { .. })), "{again:?}");
    // Another place has a setting of the tool, which the refusal names by its entry.
    let said = again.unwrap_err().to_string();
    let seq = rules.postures().stored.unwrap()[0].seq;
    assert!(said.contains(&format!("`palyra policy posture clear --entry {seq}`")), "{said}");
    assert_eq!(
        decided(&rig, "k").await.1.verdict,
        ToolVerdict::Allow,
        "the workspace is closer than everywhere"
    );
    let stored = rules.postures().stored.unwrap();
    assert_eq!(stored.len(), 2);
    rules.clear_posture(rig.me(), PostureToClear::Entry(stored[1].seq)).await.unwrap();
    assert_eq!(rules.postures().stored.unwrap().len(), 1);
    assert_eq!(changes(&rig).await, 5);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let rig = Rig::start().await;
    let session = PostureWhere::Session { principal: None, session: SessionId::from_parts(7, 7) };
    assert!(matches!(set(&rig, session, Posture::Ask).await, Err(AdminError::SessionNotFound)));
    let agent = PostureWhere::Agent("nobody".to_owned());
    assert!(matches!(set(&rig, agent, Posture::Ask).await, Err(AdminError::AgentNotFound)));
    for path in ["desk", "/desk/../x", "/desk/"] {
        let refused = set(&rig, PostureWhere::Workspace(path.to_owned()), Posture::Ask).await;
        assert!(matches!(refused, Err(AdminError::InvalidArgument { .. })), "{path}");
    }
    let (policy, tool) = (&rig.gateway.admin.policy, ToolName::new("mystery"));
    let refused = policy.set_posture(rig.me(), tool, PostureWhere::Global, Posture::Ask).await;
    assert!(matches!(refused, Err(AdminError::InvalidArgument { .. })));
    assert!(rig.gateway.admin.policy.postures().stored.unwrap().is_empty());
}

#[tokio::test]
async fn somebody_elses_session_of_the_same_id_is_not_meant() {
    let rig = Rig::start().await;
    decided(&rig, "k").await;
    let session = session_of(&rig, "k").await;
    let other = Some(rig.stranger().actor.principal);
    let refused = set(&rig, PostureWhere::Session { principal: other, session }, Posture::AlwaysAllow).await;
    assert!(matches!(refused, Err(AdminError::SessionNotFound)));
}

#[tokio::test]
async fn settings_that_cannot_be_read_again_disable_everything() {
    let rig = Rig::start().await;
    set(&rig, PostureWhere::Global, Posture::AlwaysAllow).await.unwrap();
    rig.faults.postures_are_unreadable(true);
    let refused = set(&rig, PostureWhere::Global, Posture::Ask).await;
    assert!(matches!(refused, Err(AdminError::Read(_))), "{refused:?}");
    assert!(rig.gateway.admin.policy.postures().stored.is_none());
    let (_, denied) = decided(&rig, "k").await;
    assert_eq!((denied.verdict, denied.reason), (ToolVerdict::Deny, DecisionReason::PolicyError));
    assert!(rig.tools.executions().is_empty());
    rig.faults.postures_are_unreadable(false);
    set(&rig, PostureWhere::Global, Posture::AlwaysAllow).await.unwrap();
    assert_eq!(decided(&rig, "k").await.1.verdict, ToolVerdict::Allow);
}

#[tokio::test]
async fn no_tool_reaches_the_settings() {
    let rig = Parts::new().start().await;
    for name in ["set_posture", "palyra", "policy", "posture"] {
        rig.model.push(Script::new().call(name, r#"{"tool":"look","posture":"always_allow"}"#));
        rig.model.push(Script::new().text("done"));
        let run = rig.submit("k", "go").await.run;
        rig.finished(run).await;
    }
    assert!(rig.gateway.admin.policy.postures().stored.unwrap().is_empty());
}
