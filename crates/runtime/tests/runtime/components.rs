//! Components: changes come one by one, and one that began is finished whoever still waits for it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{ComponentStore, ComponentStoreError, ErasureSubject};
use palyra_testkit::Script;
use palyra_types::component::{ComponentDescription, ComponentRecord, ExaminedComponent};
use palyra_types::proof::ErasureReason;
use palyra_types::tool::{EffectContract, ToolName};
use palyra_types::{Content, Redacted};
use tokio::sync::Semaphore;

use crate::rig::{Parts, Rig, settle, soon};

/// Takes every file for a component of its name; what it offers waits for a permit.
#[derive(Clone)]
struct ScriptedShelf {
    permits: Arc<Semaphore>,
    seen: Arc<Mutex<SeenCalls>>,
}

#[derive(Default)]
struct SeenCalls {
    inside: usize,
    inside_max: usize,
    begun: Vec<Vec<String>>,
    offered: Vec<String>,
    forgotten: Vec<String>,
}

type Answer<T> = BoxFuture<'static, Result<T, ComponentStoreError>>;

impl ScriptedShelf {
    fn open() -> Self {
        Self { permits: Arc::new(Semaphore::new(1_000)), seen: Arc::default() }
    }

    fn close(&self) {
        self.permits.forget_permits(usize::MAX);
    }

    fn let_pass(&self) {
        self.permits.add_permits(1_000);
    }

    fn offered(&self) -> Vec<String> {
        self.seen.lock().unwrap().offered.clone()
    }

    fn begun(&self) -> usize {
        self.seen.lock().unwrap().begun.len()
    }
}

impl ComponentStore for ScriptedShelf {
    fn examine(&self, source: Content<PathBuf>) -> Answer<ExaminedComponent> {
        let name = source.expose().file_stem().unwrap().to_str().unwrap().to_owned();
        let description = ComponentDescription {
            name: ToolName::new(&name),
            text: "Does nothing.".to_owned(),
            schema: r#"{"type":"object"}"#.to_owned(),
            contract: EffectContract::Keyed,
            capabilities: Vec::new(),
        };
        async { Ok(ExaminedComponent { sha256: [7; 32], bytes: 1, description }) }.boxed()
    }

    fn check(&self, _components: &[ComponentRecord]) -> Result<(), ComponentStoreError> {
        Ok(())
    }

    fn offer(&self, components: Vec<ComponentRecord>) -> Answer<()> {
        let names: Vec<_> = components.iter().map(|record| record.added.name.expose().clone()).collect();
        let this = self.clone();
        async move {
            {
                let mut seen = this.seen.lock().unwrap();
                seen.inside += 1;
                seen.inside_max = seen.inside_max.max(seen.inside);
                seen.begun.push(names.clone());
            }
            let permit = this.permits.acquire().await.unwrap();
            permit.forget();
            let mut seen = this.seen.lock().unwrap();
            seen.inside -= 1;
            seen.offered = names;
            Ok(())
        }
        .boxed()
    }

    fn forget_values(&self, tool: ToolName) -> Answer<()> {
        self.seen.lock().unwrap().forgotten.push(tool.to_string());
        async { Ok(()) }.boxed()
    }
}

async fn rig() -> (Rig, ScriptedShelf) {
    let shelf = ScriptedShelf::open();
    let rig = Parts { components: Arc::new(shelf.clone()), ..Parts::new() }.start().await;
    (rig, shelf)
}

async fn add(rig: &Rig, name: &str) {
    let handle = rig.gateway.admin.components.clone();
    let path = Redacted::cleaned(PathBuf::from(format!("/{name}.wasm")));
    handle.add(rig.me(), path.into(), [7; 32]).await.unwrap();
}

#[tokio::test]
async fn a_change_is_finished_when_its_caller_has_gone() {
    let (rig, shelf) = rig().await;
    let recorded = rig.memory_entries().await.len();
    shelf.close();
    {
        let adding = add(&rig, "first");
        tokio::pin!(adding);
        let begun = shelf.begun();
        while shelf.begun() == begun {
            assert!((&mut adding).now_or_never().is_none(), "the shelf is closed");
            settle().await;
        }
    }
    assert_eq!(rig.memory_entries().await.len(), recorded + 1, "it is recorded, and its caller has gone");
    // Whoever comes next waits for the change before it.
    let handle = rig.gateway.admin.components.clone();
    let caller = rig.me();
    let removing = tokio::spawn(async move { handle.remove(caller, "first").await });
    settle().await;
    assert!(!removing.is_finished());
    shelf.let_pass();
    soon("the removal", removing).await.unwrap().unwrap();
    let seen = shelf.seen.lock().unwrap();
    assert_eq!((seen.inside, seen.inside_max), (0, 1), "{:?}", seen.begun);
    assert_eq!(seen.begun[seen.begun.len() - 2..], [vec!["first".to_owned()], Vec::new()]);
}

#[tokio::test]
async fn an_erasure_offers_behind_a_change_that_is_under_way() {
    let (rig, shelf) = rig().await;
    rig.model.push(Script::new().text("done"));
    let run = rig.submit("k", "to be erased").await.run;
    rig.finished(run).await;
    shelf.close();
    let begun = shelf.begun();
    let adding = add(&rig, "first");
    let erasures = rig.gateway.admin.erasures.clone();
    let erasing = async {
        while shelf.begun() == begun {
            settle().await;
        }
        let me = rig.me().actor.principal;
        let erased = erasures.erase(me, ErasureSubject::Run(run), ErasureReason::Request);
        tokio::pin!(erased);
        for _ in 0..4 {
            assert!((&mut erased).now_or_never().is_none(), "it offers what is added meanwhile");
            settle().await;
        }
        shelf.let_pass();
        erased.await.unwrap()
    };
    soon("both", async { tokio::join!(adding, erasing) }).await;
    assert_eq!(shelf.offered(), ["first"]);
    assert_eq!(shelf.seen.lock().unwrap().inside_max, 1);
}

#[tokio::test]
async fn one_of_a_name_that_is_new_begins_with_nothing() {
    let (rig, shelf) = rig().await;
    let forgotten = || shelf.seen.lock().unwrap().forgotten.clone();
    add(&rig, "first").await;
    assert_eq!(forgotten(), ["first"]);
    add(&rig, "first").await;
    assert_eq!(forgotten(), ["first"], "a new version keeps what the old one kept");
}
