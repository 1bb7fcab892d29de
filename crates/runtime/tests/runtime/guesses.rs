//! Guesses at secrets by names are counted like guesses by text: the one beyond the limit is logged.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::access::TokenRequest;
use palyra_admin::postures::PostureWhere;
use palyra_ports::{ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_runtime::approvals::{ApprovalReply, RememberRequest, RememberScope};
use palyra_runtime::session::{IncomingFile, SubmitRequest};
use palyra_testkit::scripted_tools::{ACT, CHANGE, LOOK};
use palyra_testkit::{Script, ScriptedTools, skill_file};
use palyra_types::approval::{ApprovalDecision, ArgumentRule, ArgumentShape};
use palyra_types::effect::{FileBefore, PreImage};
use palyra_types::model::ResponseFormat;
use palyra_types::posture::Posture;
use palyra_types::tool::{RawToolOutcome, ToolCatalog, ToolName};
use palyra_types::{ApprovalId, Redacted};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::approval_calls::{answer, ask, asked, asking, deny};
use crate::identities::{OneComponent, put};
use crate::rig::{Parts, Rig, SECRET, by_key, request};

/// Secrets that a principal may meet in a minute before that is logged.
const GUESSES_MAX: u32 = 8;

/// Counts the warnings that say that a client may be guessing.
#[derive(Clone, Default)]
struct GuessWarnings(Arc<AtomicU32>);

impl Subscriber for GuessWarnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut MessageVisitor(&self.0));
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

struct MessageVisitor<'w>(&'w AtomicU32);

impl Visit for MessageVisitor<'_> {
    fn record_debug(&mut self, _field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        assert!(!text.contains(SECRET), "the warning shows no secret");
        if text.contains("may be guessing") {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// By which field a word is tried.
#[derive(Debug, Clone, Copy)]
enum GuessField {
    Text,
    SessionKey,
    AnswerSchema,
    WorkspacePath,
    MediaType,
    BinaryFile,
    RuleArgument,
    RuleValue,
    EditedArguments,
    PostureFolder,
    JudgedArguments,
    TokenPrincipal,
    SkillName,
    SkillTool,
    VaultName,
    VaultHost,
    VaultHeader,
    ComponentName,
    ChangedPath,
}

const FIELDS: &[GuessField] = &[
    GuessField::Text,
    GuessField::SessionKey,
    GuessField::AnswerSchema,
    GuessField::WorkspacePath,
    GuessField::MediaType,
    GuessField::BinaryFile,
    GuessField::RuleArgument,
    GuessField::RuleValue,
    GuessField::EditedArguments,
    GuessField::PostureFolder,
    GuessField::JudgedArguments,
    GuessField::TokenPrincipal,
    GuessField::SkillName,
    GuessField::SkillTool,
    GuessField::VaultName,
    GuessField::VaultHost,
    GuessField::VaultHeader,
    GuessField::ComponentName,
    GuessField::ChangedPath,
];

/// Tries one word in one field, again and again.
struct Guesser {
    rig: Rig,
    approval: ApprovalId,
    changed_path: Arc<Mutex<String>>,
    tried: u32,
}

impl Guesser {
    async fn new(word: &str) -> Self {
        let changed_path = Arc::new(Mutex::new("plan.md".to_owned()));
        let tools = ScriptedTools::new();
        let equipment: Arc<dyn ToolRuntime> = Arc::new(ChangingTools(tools.clone(), changed_path.clone()));
        let components = Arc::new(OneComponent { name: word.to_owned(), ..OneComponent::default() });
        let parts = Parts { rules: asking(), tools, equipment: Some(equipment), components, ..Parts::new() };
        let rig = parts.start().await;
        let (_, approval) = ask(&rig, "asking", ACT, r#"{"a":"b"}"#).await;
        Self { rig, approval, changed_path, tried: 0 }
    }

    async fn guess(&mut self, field: GuessField, word: &str) {
        self.tried += 1;
        match field {
            GuessField::Text => {
                let key = format!("k{}", self.tried);
                self.rig.model.push(Script::new().text("Done."));
                let run = self.rig.submit(&key, word).await.run;
                self.rig.finished(run).await;
            }
            GuessField::SessionKey
            | GuessField::AnswerSchema
            | GuessField::WorkspacePath
            | GuessField::MediaType
            | GuessField::BinaryFile => self.submit(field, word).await,
            GuessField::RuleArgument | GuessField::RuleValue | GuessField::EditedArguments => {
                self.reply(field, word).await;
            }
            GuessField::ChangedPath => self.call(word).await,
            GuessField::PostureFolder
            | GuessField::JudgedArguments
            | GuessField::TokenPrincipal
            | GuessField::SkillName
            | GuessField::SkillTool
            | GuessField::VaultName
            | GuessField::VaultHost
            | GuessField::VaultHeader
            | GuessField::ComponentName => self.decide(field, word).await,
        }
    }

    async fn submit(&self, field: GuessField, word: &str) {
        let file = |media_type: &str, bytes: String| IncomingFile {
            name: "a".into(),
            media_type: media_type.into(),
            content: Redacted::cleaned(Arc::from(bytes.into_bytes())).into(),
        };
        let go = || request(by_key("asking"), "go");
        let tried = match field {
            GuessField::SessionKey => request(by_key(word), "go"),
            GuessField::AnswerSchema => {
                // A schema by which nothing is accepted: the control is refused, and not for a secret.
                let schema = Redacted::cleaned(format!(r#"{{"type":"{word}"}}"#).into()).into();
                SubmitRequest { response_format: Some(ResponseFormat { schema }), ..go() }
            }
            GuessField::WorkspacePath => {
                let path = Redacted::cleaned(format!("/{word}").into()).into();
                SubmitRequest { workspace_root: Some(path), ..go() }
            }
            GuessField::MediaType => {
                let media_type = format!("application/x-{word}");
                SubmitRequest { files: vec![file(&media_type, "\0".to_owned())], ..go() }
            }
            _ => SubmitRequest { files: vec![file("", format!("\0{word}"))], ..go() },
        };
        let _ = self.rig.gateway.sessions.submit(self.rig.me(), tried).await;
    }

    async fn reply(&self, field: GuessField, word: &str) {
        let approve = ApprovalReply::plain(ApprovalDecision::Approve);
        let rule = |argument: &str, shape| {
            let rules = vec![ArgumentRule { argument: argument.into(), shape }];
            Some(RememberRequest { scope: RememberScope::Session, expires: None, uses_max: None, rules })
        };
        let reply = match field {
            GuessField::RuleArgument => ApprovalReply { remember: rule(word, ArgumentShape::Any), ..approve },
            GuessField::RuleValue => {
                let value = ArgumentShape::Equal(format!("\"{word}\"").into());
                ApprovalReply { remember: rule("a", value), ..approve }
            }
            _ => ApprovalReply { edited: Some(format!(r#"{{"a":"{word}"}}"#).into()), ..approve },
        };
        let _ = answer(&self.rig, self.rig.me(), self.approval, reply).await;
    }

    async fn call(&self, word: &str) {
        *self.changed_path.lock().unwrap() = format!("notes/{word}.md");
        self.rig.model.push(Script::new().call(CHANGE, "{}"));
        self.rig.model.push(Script::new().text("Done."));
        let run = self.rig.submit(&format!("k{}", self.tried), "go").await.run;
        if word != SECRET {
            deny(&self.rig, asked(&self.rig, run).await).await.unwrap();
        }
        self.rig.finished(run).await;
    }

    async fn decide(&self, field: GuessField, word: &str) {
        let (rig, me) = (&self.rig, self.rig.me());
        let admin = &rig.gateway.admin;
        match field {
            GuessField::PostureFolder => {
                let place = PostureWhere::Workspace(format!("/{word}"));
                let _ = admin.policy.set_posture(me, ToolName::new(LOOK), place, Posture::Ask).await;
            }
            GuessField::JudgedArguments => {
                let arguments = format!(r#"{{"a":"{word}"}}"#);
                drop(admin.policy.judge(me, LOOK, arguments.into()));
            }
            GuessField::TokenPrincipal => {
                let request = TokenRequest::program(word, "laptop", Duration::from_secs(3_600));
                let _ = admin.access.create_token(me, request).await;
            }
            GuessField::SkillName | GuessField::SkillTool => {
                let (name, tool) =
                    if matches!(field, GuessField::SkillName) { (word, "look") } else { ("notes", word) };
                let text =
                    format!("---\nname: {name}\ndescription: Does it.\nallowed-tools: {tool}\n---\nLook.\n");
                let source = format!("/home/me/{name}");
                rig.skills.lay(&source, vec![skill_file("SKILL.md", &text)]);
                let _ = admin.skills.install(me, Redacted::cleaned(source.into()).into()).await;
            }
            GuessField::VaultName => drop(admin.vault.put(me, put(word, "a.example", None)).await),
            GuessField::VaultHost => {
                let host = format!("{word}.example");
                let _ = admin.vault.put(me, put("forge", &host, None)).await;
            }
            GuessField::VaultHeader => {
                let header = format!("x-{word}");
                let _ = admin.vault.put(me, put("forge", "a.example", Some(&header))).await;
            }
            _ => {
                let source = Redacted::cleaned("/a.wasm".into()).into();
                let _ = admin.components.add(me, source, [7; 32]).await;
            }
        }
    }
}

/// The scripted tools; each call that changes something changes the file of this path.
struct ChangingTools(ScriptedTools, Arc<Mutex<String>>);

impl ToolRuntime for ChangingTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        self.0.catalog()
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let path = self.1.lock().unwrap().as_str().into();
        let changes = intent.tool().as_str() == CHANGE;
        let prepared = self.0.prepare(intent);
        async move {
            let image = PreImage { path, before: FileBefore::Absent, after_sha256: None };
            let pre_images = if changes { vec![image] } else { Vec::new() };
            Ok(PreparedCall { pre_images, ..prepared.await? })
        }
        .boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        self.0.execute(grant, supervision)
    }
}

/// Tries a word in a field; returns after how many tries there was a warning, if there was one.
async fn tries_until_warning(field: GuessField, word: &str) -> Option<u32> {
    let warnings = GuessWarnings::default();
    let _subscribed = tracing::subscriber::set_default(warnings.clone());
    let mut guesser = Guesser::new(word).await;
    for tried in 1..=GUESSES_MAX + 2 {
        guesser.guess(field, word).await;
        if warnings.0.load(Ordering::Relaxed) > 0 {
            return Some(tried);
        }
    }
    None
}

#[tokio::test]
async fn guesses_by_names_are_counted_as_guesses_by_text_are() {
    let mut uncounted = BTreeSet::new();
    for field in FIELDS {
        if tries_until_warning(*field, SECRET).await != Some(GUESSES_MAX + 1) {
            uncounted.insert(format!("{field:?}"));
        }
    }
    assert!(uncounted.is_empty(), "not counted: {uncounted:?}");
}

#[tokio::test]
async fn words_that_hold_no_secret_are_no_guesses() {
    for field in FIELDS {
        assert_eq!(tries_until_warning(*field, "harmless").await, None, "{field:?}");
    }
}
