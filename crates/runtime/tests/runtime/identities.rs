//! Texts by which something is found again: one that holds a secret is refused by its field, and recorded nowhere.

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::AdminError;
use palyra_admin::models::TryImage;
use palyra_admin::vault::{PutRequest, PutStanding};
use palyra_ports::redactor::REGISTERED_PLACEHOLDER;
use palyra_ports::{
    ComponentStore, ComponentStoreError, ExecuteToolError, NewSecret, PreparedCall, SecretChange,
    SecretStore, Supervision, ToolRuntime,
};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_runtime::RequestError;
use palyra_testkit::scripted_tools::CHANGE;
use palyra_testkit::{MemorySecrets, Script, ScriptedTools};
use palyra_types::component::{
    ComponentCapability, ComponentDescription, ComponentRecord, ExaminedComponent,
};
use palyra_types::effect::{FileBefore, PreImage};
use palyra_types::event::{ModelEvent, TapeEvent, ToolEvent};
use palyra_types::model::{ModelFailure, ModelFailureClass};
use palyra_types::tool::{EffectContract, RawToolOutcome, ToolCatalog, ToolName};
use palyra_types::{Content, Redacted, Seq, Timestamp};

use crate::approval_calls::{approve, asked, asking};
use crate::rig::{Parts, Rig, SECRET};

/// Says that a request was refused for a secret in this field, and returns the message.
#[track_caller]
fn refused<T>(answer: Result<T, impl Into<RequestError>>, field: &str) {
    match answer.map(drop).map_err(Into::into) {
        Err(RequestError::Admin(AdminError::SecretInIdentity { field: found })) => assert_eq!(found, field),
        other => panic!("{field}: {other:?}"),
    }
}

async fn recorded_bytes(rig: &Rig) -> String {
    let mut all = String::new();
    for entry in rig.memory_entries().await {
        entry.event.for_each_content(&mut |_, leaf| leaf.for_each_text(&mut |text| all.push_str(text)));
    }
    all
}

pub(crate) fn put(name: &str, host: &str, sent_as: Option<&str>) -> PutRequest {
    PutRequest {
        name: name.to_owned(),
        value: "walnut-harbour-lantern-0417".into(),
        hosts: Some(vec![host.to_owned()]),
        sent_as: sent_as.map(str::to_owned),
        standing: PutStanding::New,
    }
}

#[tokio::test]
async fn names_hosts_and_headers_of_the_vault_that_hold_a_secret_are_refused() {
    let rig = Rig::start().await;
    let (vault, me) = (rig.gateway.admin.vault.clone(), rig.me());
    let host = format!("{SECRET}.example");
    refused(vault.put(me, put(SECRET, "a.example", None)).await, "the name of the secret");
    refused(vault.put(me, put("forge", &host, None)).await, "the host of the secret");
    let header = format!("x-{SECRET}");
    refused(vault.put(me, put("forge", "a.example", Some(&header))).await, "the header of the secret");
    vault.put(me, put("forge", "a.example", None)).await.unwrap();
    refused(vault.bind(me, "forge", &host).await, "the host of the secret");
    assert_eq!(vault.list(me).await.unwrap().len(), 1);
    // The control, which also shows that entries are searched.
    let recorded = recorded_bytes(&rig).await;
    assert!(recorded.contains("a.example") && !recorded.contains("<secret:"), "{recorded}");
    assert!(!recorded.contains(SECRET));
}

#[tokio::test]
async fn a_name_that_was_there_before_can_go_and_is_not_rewritten() {
    let secrets = Arc::new(MemorySecrets::default());
    let rig = Parts { secrets: Arc::clone(&secrets) as _, ..Parts::new() }.start().await;
    let new = NewSecret {
        name: SECRET.parse().unwrap(),
        value: "walnut-harbour-lantern-0417".into(),
        hosts: Some([format!("{SECRET}.example"), "b.example".to_owned()].into()),
        sent_as: None,
        now: Timestamp(1),
    };
    secrets.stage(SecretChange::Put(new), Seq(0)).unwrap();
    secrets.commit().unwrap();
    let vault = rig.gateway.admin.vault.clone();
    vault.unbind(rig.me(), SECRET, "b.example").await.unwrap();
    vault.remove(rig.me(), SECRET).await.unwrap();
    assert!(vault.list(rig.me()).await.unwrap().is_empty());
    let recorded = recorded_bytes(&rig).await;
    assert!(!recorded.contains(SECRET) && !recorded.contains("<secret:"), "{recorded}");
}

/// Takes every file for this component.
pub(crate) struct OneComponent {
    pub(crate) name: String,
    pub(crate) schema: String,
    pub(crate) capabilities: Vec<ComponentCapability>,
}

impl Default for OneComponent {
    fn default() -> Self {
        let schema = r#"{"type":"object"}"#.to_owned();
        Self { name: "counter".to_owned(), schema, capabilities: Vec::new() }
    }
}

impl OneComponent {
    pub(crate) fn asking_for(capability: ComponentCapability) -> Self {
        Self { capabilities: vec![capability], ..Self::default() }
    }
}

type Answer<T> = BoxFuture<'static, Result<T, ComponentStoreError>>;

impl ComponentStore for OneComponent {
    fn examine(&self, _source: Content<PathBuf>) -> Answer<ExaminedComponent> {
        let description = ComponentDescription {
            name: ToolName::new(&self.name),
            text: "Counts.".to_owned(),
            schema: self.schema.clone(),
            contract: EffectContract::Keyed,
            capabilities: self.capabilities.clone(),
        };
        async { Ok(ExaminedComponent { sha256: [7; 32], bytes: 1, description }) }.boxed()
    }

    fn check(&self, _components: &[ComponentRecord]) -> Result<(), ComponentStoreError> {
        Ok(())
    }

    fn offer(&self, _components: Vec<ComponentRecord>) -> Answer<()> {
        async { Ok(()) }.boxed()
    }

    fn forget_values(&self, _tool: ToolName) -> Answer<()> {
        async { Ok(()) }.boxed()
    }
}

#[tokio::test]
async fn hosts_and_names_of_secrets_that_a_component_asks_for_are_checked() {
    let host = |name: &str| ComponentCapability::Http(format!("{name}.example"));
    let cases = [
        (host(SECRET), Some("a host of the component")),
        (ComponentCapability::Secret(SECRET.to_owned()), Some("a secret's name in the component")),
        (host("a"), None),
        (ComponentCapability::Secret("forge".to_owned()), None),
    ];
    for (capability, field) in cases {
        let shelf = Arc::new(OneComponent::asking_for(capability));
        let rig = Parts { components: shelf, ..Parts::new() }.start().await;
        let before = rig.memory_entries().await.len();
        let handle = rig.gateway.admin.components.clone();
        let added = handle.add(rig.me(), Redacted::cleaned("/counter.wasm".into()).into(), [7; 32]).await;
        match field {
            Some(field) => {
                refused(added, field);
                assert_eq!(rig.memory_entries().await.len(), before);
            }
            None => assert!(added.is_ok(), "the control"),
        }
    }
}

/// The scripted tools; each call changes a file of this path.
struct Changing(ScriptedTools, String);

impl ToolRuntime for Changing {
    fn catalog(&self) -> Arc<ToolCatalog> {
        self.0.catalog()
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let path = self.1.as_str().into();
        let prepared = self.0.prepare(intent);
        async move {
            let image = PreImage { path, before: FileBefore::Absent, after_sha256: None };
            Ok(PreparedCall { pre_images: vec![image], ..prepared.await? })
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

#[tokio::test]
async fn a_call_that_changes_a_file_whose_name_holds_a_secret_is_refused() {
    for (path, is_refused) in [(format!("notes/{SECRET}.md"), true), ("notes/plan.md".to_owned(), false)] {
        let tools = ScriptedTools::new();
        let equipment: Arc<dyn ToolRuntime> = Arc::new(Changing(tools.clone(), path));
        let parts =
            Parts { rules: asking(), tools: tools.clone(), equipment: Some(equipment), ..Parts::new() };
        let rig = parts.start().await;
        rig.model.push(Script::new().call(CHANGE, "{}"));
        rig.model.push(Script::new().text("Done."));
        let run = rig.submit("k", "go").await.run;
        if !is_refused {
            approve(&rig, asked(&rig, run).await).await.unwrap();
        }
        rig.finished(run).await;
        let tape = rig.tape(run).await;
        let started = |event: &TapeEvent| matches!(event, TapeEvent::Tool(ToolEvent::Started(_)));
        assert_eq!(tape.iter().any(|entry| started(&entry.event)), !is_refused);
        assert!(!recorded_bytes(&rig).await.contains(SECRET));
    }
}

#[tokio::test]
async fn a_name_of_a_model_that_holds_a_secret_is_not_recorded() {
    let rig = Rig::start().await;
    for (said, holds) in [(format!("model-{SECRET}"), false), ("another".to_owned(), true)] {
        rig.model.push(Script::new().text("Hello.").answered_by(&said));
        let run = rig.submit("k", "hi").await.run;
        rig.finished(run).await;
        let models = rig.tape(run).await.into_iter().filter_map(|entry| match entry.event {
            TapeEvent::Model(ModelEvent::Message(message)) => message.model.into_exposed(),
            _ => None,
        });
        let models: Vec<_> = models.map(|model| model.to_string()).collect();
        assert_eq!((models.len(), models[0].contains(&said)), (1, holds));
    }
}

#[tokio::test]
async fn a_test_of_a_model_shows_no_secret() {
    let rig = Rig::start().await;
    let test = async || rig.gateway.models.test(None, TryImage::No).await;
    rig.model.push(Script::new().text(&format!("the key is {SECRET}")));
    let said = test().await.unwrap().1.text;
    assert_eq!(said.expose(), &format!("the key is {REGISTERED_PLACEHOLDER}"));
    let quoted = ModelFailure {
        class: ModelFailureClass::Auth,
        detail: format!("no such key: {SECRET}").into(),
        retry_after: None,
    };
    rig.model.push(Script::new().fail_with(quoted));
    let Err(AdminError::Model(failure)) = test().await else { panic!("the provider failed") };
    assert_eq!(failure.detail.expose(), &format!("no such key: {REGISTERED_PLACEHOLDER}"));
    // The control: other words come as they are.
    rig.model.push(Script::new().text("hello"));
    assert_eq!(test().await.unwrap().1.text.expose(), "hello");
}

#[tokio::test]
async fn an_id_of_an_answer_that_holds_a_secret_is_left_out() {
    let rig = Rig::start().await;
    for (said, kept) in [(format!("resp-{SECRET}"), ""), ("resp-1".to_owned(), "resp-1")] {
        rig.model.push(Script::new().text("Hello.").response_id(&said));
        let run = rig.submit("k", "hi").await.run;
        rig.finished(run).await;
        let messages = rig.tape(run).await.into_iter().filter_map(|entry| match entry.event {
            TapeEvent::Model(ModelEvent::Message(message)) => Some(message.response_id.into_exposed()),
            _ => None,
        });
        assert_eq!(messages.collect::<Vec<_>>(), [kept]);
    }
}
