//! By which door each field comes in by which something is found again, and that the door refuses a secret.
//!
//! Owns one row for each such field of the document of content fields, so that a new one names its door.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use palyra_admin::AdminError;
use palyra_admin::access::TokenRequest;
use palyra_admin::agents::AgentChange;
use palyra_admin::memories::{MemoryFilter, NewMemory};
use palyra_runtime::RequestError;
use palyra_runtime::approvals::{ApprovalReply, RememberRequest, RememberScope};

use palyra_admin::postures::PostureWhere;
use palyra_runtime::session::{IncomingFile, SessionSelector, SubmitRequest};
use palyra_testkit::journal_suite::content_examples::examples;
use palyra_testkit::scripted_tools::{ACT, LOOK};
use palyra_testkit::skill_file;
use palyra_types::access::Role;
use palyra_types::approval::{ApprovalDecision, ArgumentRule, ArgumentShape};
use palyra_types::client_tool::{ClientTool, ClientToolChoice, ClientToolOffer};
use palyra_types::component::ComponentCapability;
use palyra_types::event::content::ContentClass;
use palyra_types::model::{ModelRef, ResponseFormat};
use palyra_types::posture::Posture;
use palyra_types::sampling::SamplingOptions;
use palyra_types::tool::ToolName;
use palyra_types::{Content, Redacted};

use crate::approval_calls::{answer, ask, asking};
use crate::identities::OneComponent;
use crate::rig::{Parts, Rig, SECRET, by_key, request};

/// Where a field comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    /// A request, which is refused with an error that names this.
    Request(&'static str),
    /// A model or a provider: replaced or left out, because nothing is found by it.
    Model,
    /// A call that is refused before it starts.
    Call,
    /// What an earlier entry says already.
    Earlier,
    /// The daemon's own settings, or its code.
    Daemon,
    /// The path of a file of the workspace: one with a secret in it is left out.
    LeftOut,
    /// A use of a secret, recorded for people: nothing is found by it.
    Use,
}

use Door::{Call, Daemon, Earlier, LeftOut, Model, Request, Use};

const DOORS: &[(&str, Door)] = &[
    ("agent_saved.profile.model", Request("the model of the agent")),
    ("agent_saved.profile.name", Request("the name of the agent")),
    ("agent_saved.profile.tools", Daemon),
    ("agent_saved.profile.workspace_roots", Request("the path of the workspace root")),
    ("approval_requested.prompt.tool", Earlier),
    ("auxiliary_used.model", Daemon),
    ("budget_set.name", Request("the name of a budget")),
    ("client_tools_called.calls.model_call", Model),
    ("client_tools_called.calls.name", Model),
    ("client_tools_offered.tools.name", Request("the name of a function")),
    ("client_tools_offered.tools.parameters", Request("the schema of a function")),
    ("compacted.model", Daemon),
    ("component_added.capabilities.http", Request("a host of the component")),
    ("component_added.capabilities.secret", Request("a secret's name in the component")),
    ("component_added.name", Request("the name of the component")),
    ("component_added.schema", Request("the schema of the component")),
    ("delivery_planned.target", Daemon),
    ("grant_stored.bounds.workspace", Earlier),
    ("grant_stored.matcher.argument", Request("the argument of a rule")),
    ("grant_stored.matcher.beneath", Request("the path of a rule")),
    ("grant_stored.matcher.equal", Request("the value of a rule")),
    ("grant_stored.matcher.origin", Request("the address of a rule")),
    ("grant_stored.tool", Earlier),
    ("input_received.input.attachments.media_type", Request("its media type")),
    ("memory_saved.scope.root", Request("the folder of an item")),
    ("model_message.continuation.model", Daemon),
    ("model_message.model", Daemon),
    ("model_message.response_id", Model),
    ("model_requested.model", Daemon),
    ("model_requested.routing.passed_over", Daemon),
    ("model_switched.model", Daemon),
    ("posture_changed.scope.workspace", Request("the path of the workspace")),
    ("posture_changed.tool", Daemon),
    ("principal_registered.name", Request("the principal's name")),
    ("principal_renamed.name", Request("the principal's name")),
    ("project_rules_accepted.path", LeftOut),
    ("project_rules_accepted.root", Request("the path of the workspace")),
    ("run_started.fallbacks", Daemon),
    ("run_started.input.attachments.media_type", Request("its media type")),
    ("run_started.model", Daemon),
    ("run_started.project_files.path", LeftOut),
    ("run_started.response_format.schema", Request("the schema of the answer")),
    ("run_started.sampling.stop", Request("a text to stop at")),
    ("run_started.workspace_root", Request("the path of the workspace")),
    ("schedule_created.times.line", Daemon),
    ("schedule_created.times.local", Daemon),
    ("schedule_created.times.zone", Daemon),
    ("schedule_edited.times.line", Daemon),
    ("schedule_edited.times.local", Daemon),
    ("schedule_edited.times.zone", Daemon),
    ("secret_bound.hosts", Request("the host of the secret")),
    ("secret_bound.secret", Earlier),
    ("secret_put.hosts", Request("the host of the secret")),
    ("secret_put.secret", Request("the name of the secret")),
    ("secret_put.sent_as", Request("the header of the secret")),
    ("secret_removed.secret", Earlier),
    ("secret_used.host", Use),
    ("secret_used.secret", Use),
    ("session_opened.key", Request("the session key")),
    ("skill_installed.allowed_tools", Request("a tool that the skill allows")),
    ("skill_installed.name", Request("the name of the skill")),
    ("time_zone_set.time_zone", Daemon),
    ("tool_proposed.model_call_id", Model),
    ("tool_proposed.tool", Model),
    ("tool_started.plan.pre_images.path", Call),
    ("undo_finished.files.path", Earlier),
    ("undo_requested.paths", Earlier),
];

#[test]
fn each_field_by_which_something_is_found_has_a_door() {
    let of_class = examples().into_iter().filter(|example| example.field.class == ContentClass::Identity);
    let fields: BTreeSet<String> = of_class.map(|example| example.field.to_string()).collect();
    let doors: BTreeSet<String> = DOORS.iter().map(|(field, _)| (*field).to_owned()).collect();
    assert_eq!(fields, doors);
}

/// Which field a refusal names.
#[track_caller]
fn named<T>(answer: Result<T, impl Into<RequestError>>) -> String {
    match answer.map(drop).map_err(Into::into) {
        Err(RequestError::Admin(AdminError::SecretInIdentity { field })) => field.to_owned(),
        // Of files, the error says which one it is as well.
        Err(error) if error.to_string().contains("its media type looks like it holds a secret") => {
            assert!(!error.to_string().contains(SECRET));
            "its media type".to_owned()
        }
        other => panic!("{other:?}"),
    }
}

async fn refused_components(found: &mut BTreeSet<String>) {
    let cases = [
        OneComponent { name: SECRET.to_owned(), ..OneComponent::default() },
        OneComponent { schema: format!(r#"{{"title":"{SECRET}"}}"#), ..OneComponent::default() },
        OneComponent::asking_for(ComponentCapability::Http(format!("{SECRET}.example"))),
        OneComponent::asking_for(ComponentCapability::Secret(SECRET.to_owned())),
    ];
    for component in cases {
        let rig = Parts { components: Arc::new(component), ..Parts::new() }.start().await;
        let handle = rig.gateway.admin.components.clone();
        found.insert(named(handle.add(rig.me(), Redacted::cleaned("/a.wasm".into()).into(), [7; 32]).await));
    }
}

async fn refused_rules(rig: &Rig, found: &mut BTreeSet<String>) {
    let (_, approval) = ask(rig, "rules", ACT, r#"{"a":"b"}"#).await;
    let secret = || Content::<String>::from(SECRET);
    let cases = [
        ArgumentRule { argument: secret(), shape: ArgumentShape::Any },
        ArgumentRule { argument: "a".into(), shape: ArgumentShape::Equal(format!("\"{SECRET}\"").into()) },
        ArgumentRule { argument: "a".into(), shape: ArgumentShape::Beneath(secret()) },
        ArgumentRule { argument: "a".into(), shape: ArgumentShape::Origin(secret()) },
    ];
    for rule in cases {
        let rules = vec![rule];
        let remember =
            RememberRequest { scope: RememberScope::Session, expires: None, uses_max: None, rules };
        let reply =
            ApprovalReply { remember: Some(remember), ..ApprovalReply::plain(ApprovalDecision::Approve) };
        found.insert(named(answer(rig, rig.me(), approval, reply).await));
    }
}

fn stops_at(text: &str) -> SamplingOptions<Content<String>> {
    SamplingOptions { stop: vec![text.into()], ..SamplingOptions::default() }
}

fn offers(name: &str, parameters: &str) -> ClientToolOffer<Content<String>> {
    let tool = ClientTool {
        name: name.into(),
        description: Content::default(),
        parameters: parameters.into(),
        strict: None,
    };
    ClientToolOffer {
        tools: vec![tool],
        choice: ClientToolChoice::Auto,
        answer_tokens_max: None,
        answer_within: Duration::from_secs(60),
    }
}

async fn refused_inputs(rig: &Rig, found: &mut BTreeSet<String>) {
    let go = || request(by_key("k"), "go");
    let schema = Content::new(format!(r#"{{"title":"{SECRET}"}}"#).into());
    let file = IncomingFile {
        name: "a".into(),
        media_type: format!("application/x-{SECRET}").into(),
        content: Redacted::cleaned(Arc::from(&b"\0\x01"[..])).into(),
    };
    let cases = [
        request(by_key(SECRET), "go"),
        SubmitRequest { response_format: Some(ResponseFormat { schema }), ..go() },
        SubmitRequest { sampling: stops_at(SECRET), ..go() },
        SubmitRequest { workspace_root: Some(Redacted::cleaned(format!("/{SECRET}").into()).into()), ..go() },
        SubmitRequest { files: vec![file], ..go() },
        SubmitRequest { client_tools: Some(offers(SECRET, "{}")), ..go() },
        SubmitRequest { client_tools: Some(offers("f", &format!(r#"{{"title":"{SECRET}"}}"#))), ..go() },
    ];
    for case in cases {
        found.insert(named(rig.gateway.sessions.submit(rig.me(), case).await));
    }
    found.insert(named(rig.resolve(SessionSelector { label: None, ..by_key(SECRET) }).await));
}

async fn refused_settings(rig: &Rig, found: &mut BTreeSet<String>) {
    let place = PostureWhere::Workspace(format!("/{SECRET}"));
    let rules = rig.gateway.admin.policy.clone();
    found.insert(named(rules.set_posture(rig.me(), ToolName::new(LOOK), place, Posture::Ask).await));
    let request = TokenRequest::program(SECRET, "laptop", Duration::from_secs(3_600));
    let access = &rig.gateway.admin.access;
    found.insert(named(access.create_token(rig.me(), request).await));
    found.insert(named(access.create_person(rig.me(), SECRET, Role::Member).await));
    found.insert(named(access.rename_person(rig.me(), rig.me().actor.principal, SECRET).await));
    for change in [
        AgentChange { name: Some(SECRET.to_owned()), ..AgentChange::default() },
        AgentChange { model: Some(Some(ModelRef::new("demo", SECRET))), ..AgentChange::default() },
        AgentChange { workspace_roots: Some(vec![format!("/{SECRET}").into()]), ..AgentChange::default() },
    ] {
        found.insert(named(rig.gateway.agents.create(rig.me(), change).await));
    }
    let item = NewMemory {
        text: "likes tea".into(),
        scope: MemoryFilter::Folder(Content::new(format!("/{SECRET}").into())),
        lifetime: None,
        replaces: None,
    };
    found.insert(named(rig.gateway.admin.memories.save(rig.me(), item).await));
    let budget = crate::budgets::daily(SECRET, crate::budgets::tokens(1));
    found.insert(named(rig.gateway.admin.usage.set_budget(rig.me(), budget).await));
    for (name, tools) in [(SECRET, "look"), ("notes", SECRET)] {
        let text = format!("---\nname: {name}\ndescription: Does it.\nallowed-tools: {tools}\n---\nLook.\n");
        let source = format!("/home/me/{name}");
        rig.skills.lay(&source, vec![skill_file("SKILL.md", &text)]);
        let skills = &rig.gateway.admin.skills;
        found.insert(named(skills.install(rig.me(), Redacted::cleaned(source.into()).into()).await));
    }
    let vault = rig.gateway.admin.vault.clone();
    let host = format!("{SECRET}.example");
    found.insert(named(vault.put(rig.me(), crate::identities::put(SECRET, "a.example", None)).await));
    found.insert(named(vault.put(rig.me(), crate::identities::put("forge", &host, None)).await));
    let header = format!("x-{SECRET}");
    let put = crate::identities::put("forge", "a.example", Some(&header));
    found.insert(named(vault.put(rig.me(), put).await));
}

#[tokio::test]
async fn each_door_refuses_a_secret_and_records_nothing() {
    let rig = Parts { rules: asking(), ..Parts::new() }.start().await;
    let mut found = BTreeSet::new();
    refused_components(&mut found).await;
    refused_rules(&rig, &mut found).await;
    let before = rig.memory_entries().await.len();
    refused_inputs(&rig, &mut found).await;
    refused_settings(&rig, &mut found).await;
    assert_eq!(rig.memory_entries().await.len(), before, "what was refused left nothing");
    let expected = DOORS.iter().filter_map(|(_, door)| match door {
        Request(field) => Some((*field).to_owned()),
        Model | Call | Earlier | Daemon | LeftOut | Use => None,
    });
    assert_eq!(found, expected.collect());
}
