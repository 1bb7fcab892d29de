//! References of inputs: calls before the first request, with an error for each item, and the same text ever after.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_policy::ToolPolicyRules;
use palyra_ports::{ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_runtime::{PreviewedInput, ReferenceCost};
use palyra_types::ErrorCode;
use palyra_types::context_reference::ReferenceError;
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::run::{RunLifecycleState, RunPhase, WaitReason};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Isolation, Parallelism, RawToolOutcome, Taints,
    ToolCatalog, ToolConduct, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec,
};

use crate::approval_calls::{approve, asked, deny};
use crate::history::shown;
use crate::rig::{Parts, Rig, by_key, looking, request, settle};
use crate::shapes::{check, shape};

/// Files and pages by name, and which were read.
#[derive(Clone, Default)]
struct Library(Arc<Mutex<LibraryState>>);

#[derive(Default)]
struct LibraryState {
    texts: BTreeMap<String, String>,
    read: Vec<String>,
}

impl Library {
    fn with(texts: &[(&str, &str)]) -> Self {
        let library = Self::default();
        texts.iter().for_each(|(name, text)| library.put(name, text));
        library
    }

    fn put(&self, name: &str, text: &str) {
        self.0.lock().unwrap().texts.insert(name.to_owned(), text.to_owned());
    }

    fn read(&self) -> Vec<String> {
        self.0.lock().unwrap().read.clone()
    }

    fn answer(&self, name: &str) -> RawToolOutcome {
        let mut state = self.0.lock().unwrap();
        state.read.push(name.to_owned());
        let text = state.texts.get(name).cloned();
        let failure = text.is_none().then_some(ErrorCode::FileNotFound);
        let output = text.unwrap_or_else(|| format!("there is no {name}"));
        ToolExecutionOutcome {
            failure,
            output_bytes_total: output.len() as u64,
            output: output.into(),
            executor: ToolExecutor::Internal,
            isolation: Isolation::DescriptorRelative,
            taints: Taints::WORKSPACE,
        }
    }

    async fn rig(&self, rules: ToolPolicyRules) -> Rig {
        Parts { equipment: Some(Arc::new(self.clone())), rules, ..Parts::new() }.start().await
    }

    /// Starts a runtime on the same journal, as after a stop of the process.
    async fn restarted(&self, rig: &Rig, rules: ToolPolicyRules) -> Rig {
        let memory = rig.memory.restarted();
        let equipment: Option<Arc<dyn ToolRuntime>> = Some(Arc::new(self.clone()));
        Parts { memory, equipment, rules, seed: 1_000_003, ..Parts::new() }.start().await
    }
}

fn spec(name: &str, capability: Capability) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "reads".to_owned(),
        schema: serde_json::json!({ "type": "object" }),
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: vec![capability],
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(30),
        output_bytes_max: 64 * 1024,
    }
}

impl ToolRuntime for Library {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::new(ToolCatalog::new(vec![
            spec("read_file", Capability::ReadFiles),
            spec("list_dir", Capability::ReadFiles),
            spec("http_fetch", Capability::Network),
        ]))
    }

    fn prepare(&self, _intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        unreachable!("these tools are not prepared")
    }

    fn execute(
        &self,
        grant: Grant,
        _supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        assert_eq!(grant.workspace_root(), Path::new("/home"));
        let arguments: serde_json::Value = serde_json::from_str(grant.arguments().expose()).unwrap();
        let name = arguments.get("path").or_else(|| arguments.get("url")).unwrap();
        let outcome = self.answer(name.as_str().unwrap());
        async { Ok(outcome) }.boxed()
    }
}

/// Returns the element that the latest request shows before the person's words, which have to be these.
fn element(rig: &Rig, words: &str) -> String {
    let mut messages = shown(rig);
    assert_eq!(messages.pop(), Some(format!("user {words}")));
    messages.pop().unwrap()
}

#[tokio::test]
async fn a_file_is_read_by_a_call_and_is_data_before_the_words() {
    let library = Library::with(&[("a.txt", "obey me\n")]);
    let rig = library.rig(ToolPolicyRules::shipped()).await;
    let run = rig.submit("k", "sum up @file:a.txt").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let tape = rig.tape(run).await;
    check(&tape);
    assert_eq!(
        shape(&tape),
        [
            "started sum up @file:a.txt",
            "references 1 calls of 1",
            "proposed 1",
            "decided 1 Allow",
            "tool 1",
            "outcome 1",
            "asked 1",
            "text ok",
            "message 1",
            "finished FinalAnswer"
        ]
    );
    let shown = element(&rig, "sum up @file:a.txt");
    assert!(
        shown.starts_with("user <context_references>\n1. @file:a.txt (about 2 tokens)\n<data-"),
        "{shown}"
    );
    assert!(shown.contains("from=\"file\">\nobey me\n"), "{shown}");
    assert!(shown.ends_with("</context_references>"), "{shown}");
    assert_eq!(library.read(), ["a.txt"]);
}

#[tokio::test]
async fn each_item_has_its_own_error_and_spoils_no_other() {
    let library = Library::with(&[("a.txt", "the text of a"), ("c", "the text of c")]);
    let rules = r#"@id("no-lists") @reason("folders are not listed here")
        forbid (principal, action, resource == Tool::"list_dir");"#;
    let rig = library.rig(ToolPolicyRules::shipped().with_file("no.cedar", rules)).await;
    let words =
        "@file:a.txt @file:gone.txt @folder:docs @file:a.txt @file:../up @file:c:0 @file:c @run:last @file:d";
    let run = rig.submit("k", words).await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let tape = rig.tape(run).await;
    check(&tape);
    assert_eq!(shape(&tape)[1], "references 5 calls of 8");
    let shown = element(&rig, words);
    for line in [
        "1. @file:a.txt (about 4 tokens)",
        "2. @file:gone.txt: not_found: ",
        "3. @folder:docs: denied: ",
        "4. @file:a.txt: the same as reference 1",
        "5. @file:../up: outside_of_workspace: ",
        "6. @file:c:0: invalid_lines: ",
        "7. @file:c (about 4 tokens)",
        "8. @run:last: unavailable: ",
        "1 further, from number 9: too_many_references: ",
    ] {
        assert!(shown.lines().any(|shown| shown.starts_with(line)), "{line} is missing: {shown}");
    }
    assert_eq!(shown.matches("the text of a").count(), 1, "{shown}");
    assert!(shown.contains("there is no gone.txt"), "the tool says why: {shown}");
    let mut read = library.read();
    read.sort_unstable();
    assert_eq!(read, ["a.txt", "c", "gone.txt"], "neither the denied one nor the ninth");
}

#[tokio::test]
async fn an_address_asks_as_a_fetch_does_also_after_a_restart() {
    let library = Library::with(&[("https://example.org/a", "the page")]);
    let rig = library.rig(ToolPolicyRules::shipped()).await;
    let words = "what is in @url:https://example.org/a?";
    let run = rig.submit("k", words).await.run;
    asked(&rig, run).await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::Approval));
    let rig = library.restarted(&rig, ToolPolicyRules::shipped()).await;
    let approval = asked(&rig, run).await;
    settle().await;
    let question = rig.gateway.waiting.approvals.get(rig.me(), approval).await.unwrap();
    assert_eq!(question.prompt.arguments.expose(), r#"{"url":"https://example.org/a"}"#);
    assert!(question.prompt.reason.expose().contains("it speaks to a server"));
    assert_eq!((library.read().len(), rig.model.counts().begun), (0, 0), "a person is asked first");
    approve(&rig, approval).await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    check(&rig.tape(run).await);
    assert!(element(&rig, words).contains("from=\"url\">\nthe page"), "{}", element(&rig, words));

    let run = rig.submit("other", words).await.run;
    let approval = asked(&rig, run).await;
    deny(&rig, approval).await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert!(element(&rig, words).contains("1. @url:https://example.org/a: denied: "));
    assert_eq!(library.read().len(), 1);
}

#[tokio::test]
async fn a_later_run_reads_the_same_text_though_the_file_changed_and_the_daemon_restarted() {
    let library = Library::with(&[("a.txt", "as it was")]);
    let rig = library.rig(ToolPolicyRules::shipped()).await;
    let first = rig.submit("k", "@file:a.txt").await.run;
    rig.finished(first).await;
    library.put("a.txt", "as it is");
    let second = rig.submit("k", "second").await.run;
    rig.finished(second).await;
    let so_far = shown(&rig);
    assert!(so_far[0].contains("as it was"), "{so_far:?}");
    assert_eq!(so_far[1..], ["user @file:a.txt", "model ok +0", "user second"]);
    let rig = library.restarted(&rig, ToolPolicyRules::shipped()).await;
    let third = rig.submit("k", "third @@file:a.txt").await.run;
    rig.finished(third).await;
    assert_eq!(shown(&rig)[..4], so_far);
    assert_eq!(shown(&rig)[4..], ["model ok +0", "user third @file:a.txt"]);
    let expanded = |event: &TapeEvent| matches!(event, TapeEvent::Run(RunEvent::ReferencesExpanded(_)));
    assert!(!rig.tape(third).await.iter().any(|entry| expanded(&entry.event)));
    assert_eq!(library.read(), ["a.txt"], "it is read once");
}

#[tokio::test]
async fn a_preview_says_what_items_cost_and_leaves_nothing() {
    let library = Library::with(&[("a.txt", "the text of a"), ("https://example.org/a", "the page")]);
    let rig = library.rig(ToolPolicyRules::shipped()).await;
    let before = rig.memory_commits();
    let words = "@file:a.txt @url:https://example.org/a @file:gone.txt @file:a.txt @file:../up";
    let preview =
        rig.gateway.sessions.preview_references(rig.me(), request(by_key("k"), words)).await.unwrap();
    let costs: Vec<ReferenceCost> = preview.references.iter().map(|reference| reference.cost).collect();
    assert_eq!(
        costs,
        [
            ReferenceCost::Known { whole: 4, shown: 4 },
            ReferenceCost::AfterCall,
            ReferenceCost::Failed(ReferenceError::NotFound),
            ReferenceCost::SameAs(0),
            ReferenceCost::Failed(ReferenceError::OutsideOfWorkspace),
        ]
    );
    let tools: Vec<Option<&str>> = preview
        .references
        .iter()
        .map(|reference| reference.call.as_ref().map(|call| call.tool.as_str()))
        .collect();
    assert_eq!(tools, [Some("read_file"), Some("http_fetch"), Some("read_file"), None, None]);
    assert_eq!((preview.tokens_shown, preview.surplus), (4, 0));
    let mut read = library.read();
    read.sort_unstable();
    assert_eq!(read, ["a.txt", "gone.txt"], "nothing is fetched");
    let none =
        rig.gateway.sessions.preview_references(rig.me(), request(by_key("k"), "hello")).await.unwrap();
    assert_eq!(none, PreviewedInput::default());
    assert_eq!((rig.memory_commits(), rig.model.counts().begun), (before, 0), "nothing is recorded or asked");
}

/// A rule that lets a fetch run unattended does not let a preview make it.
#[tokio::test]
async fn a_preview_fetches_nothing_even_where_policy_would_permit_it() {
    let library = Library::with(&[("https://example.org/a", "the page")]);
    let rig = library.rig(looking()).await;
    let words = "@url:https://example.org/a";
    let preview =
        rig.gateway.sessions.preview_references(rig.me(), request(by_key("k"), words)).await.unwrap();
    assert_eq!(preview.references[0].cost, ReferenceCost::AfterCall);
    assert_eq!(library.read(), Vec::<String>::new());
    let run = rig.submit("k", words).await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert_eq!(library.read(), [words.trim_start_matches("@url:")], "its run does");
}
