//! Components as tools: added, called with what they were given, changed, removed.

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::{ComponentStore, ComponentStoreError, FetchMethod, ToolRuntime};
use palyra_testkit::grants::GrantRequest;
use palyra_types::ErrorCode;
use palyra_types::component::ComponentCapability;
use palyra_types::tool::{EffectContract, Isolation, ToolExecutor, ToolName};
use palyra_wasm::{COMPILE_LIMITS, KeepValues};

use crate::component::{ComponentAbout, ECHO, Wat};
use crate::files;
use crate::shelf::{Shelf, native, record, supervision};

fn echo() -> Wat {
    let about = ComponentAbout { name: "echo_back", contract: 1, ..ComponentAbout::default() };
    Wat { about, ..Wat::running(ECHO) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_asks_its_host_and_writes_a_file_of_the_workspace() {
    let shelf = Shelf::new();
    let examined = shelf.add(&files::saves("https://a.example/page", "a.example")).await;
    assert_eq!(
        examined.description.capabilities,
        [ComponentCapability::WriteFiles, ComponentCapability::Http("a.example".to_owned())]
    );
    let outcome = shelf.call("save_page", "{}").await;
    assert_eq!((outcome.failure, outcome.output.expose().as_str()), (None, "written"));
    assert_eq!((outcome.executor, outcome.isolation), (ToolExecutor::Wasm, Isolation::Component));
    assert_eq!(std::fs::read_to_string(shelf.work().join("page.txt")).unwrap(), "the page");
    let asked = shelf.asked.0.lock().unwrap();
    assert_eq!(asked[0].method, FetchMethod::Get);
    let key = asked[0].headers.iter().find(|(name, _)| name == "idempotency-key").expect("a key");
    assert!(key.1.expose().ends_with("-1"), "the first request of a keyed call");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_compiled_once_is_not_compiled_again() {
    let shelf = Shelf::new();
    let examined = shelf.add(&echo()).await;
    assert_eq!(shelf.call("echo_back", "a").await.output.expose(), "a");
    assert_eq!(*shelf.sandbox.started.lock().unwrap(), 1);
    let again = shelf.restarted();
    assert!(
        again.components.catalog().get(&ToolName::new("echo_back")).is_some(),
        "before the journal is read"
    );
    assert_eq!(again.call("echo_back", "b").await.output.expose(), "b");
    assert_eq!(*again.sandbox.started.lock().unwrap(), 0, "its native code was kept");
    // Native code that is damaged is made anew from the component, whose digest holds.
    let native = native(&shelf.kept(&examined));
    let mut bytes = std::fs::read(&native).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&native, bytes).unwrap();
    let mended = shelf.restarted();
    assert_eq!(mended.call("echo_back", "c").await.output.expose(), "c");
    assert_eq!(*mended.sandbox.started.lock().unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn native_code_that_differs_is_found_and_compiled_again() {
    let shelf = Shelf::new();
    let examined = shelf.add(&echo()).await;
    let native = native(&shelf.kept(&examined));
    let bytes = std::fs::metadata(&native).unwrap().len();
    let check = || shelf.components.check_native(&examined.sha256).unwrap();
    assert_eq!(check(), Some(bytes));
    shelf.components.remake_native(examined.sha256).await.unwrap();
    assert_eq!(*shelf.sandbox.started.lock().unwrap(), 1, "what is whole stays");
    let mut damaged = std::fs::read(&native).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(&native, damaged).unwrap();
    assert_eq!(check(), None);
    shelf.components.remake_native(examined.sha256).await.unwrap();
    assert_eq!((check(), *shelf.sandbox.started.lock().unwrap()), (Some(bytes), 2));
    assert_eq!(shelf.restarted().call("echo_back", "c").await.output.expose(), "c");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_differs_is_named_when_it_is_called_and_only_its_own_bytes_are_put_back() {
    let shelf = Shelf::new();
    let examined = shelf.add(&echo()).await;
    let (components, digest) = (&shelf.components, examined.sha256);
    let whole = std::fs::read(components.component_path(&digest)).unwrap();
    assert_eq!(components.check_component(&digest).unwrap(), Some(whole.len() as u64));
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(components.component_path(&digest), &damaged).unwrap();
    let again = shelf.restarted();
    assert_eq!(again.call("echo_back", "c").await.failure, Some(ErrorCode::ComponentChanged));
    assert_eq!(again.components.take_differing().into_iter().collect::<Vec<_>>(), [digest]);
    assert!(again.components.take_differing().is_empty());
    assert_eq!(components.check_component(&digest).unwrap(), None);
    components.put_back(&digest, &damaged).unwrap_err();
    assert_eq!(std::fs::read(components.component_path(&digest)).unwrap(), damaged);
    components.put_back(&digest, &whole).unwrap();
    assert_eq!(again.call("echo_back", "c").await.output.expose(), "c");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compilation_outlives_the_calls_that_wait_for_it() {
    let shelf = Shelf::new();
    let examined = shelf.add(&echo()).await;
    // As an upgrade leaves it: nothing fits this engine.
    std::fs::rename(native(&shelf.kept(&examined)), shelf.kept(&examined).join("native-0")).unwrap();
    let again = shelf.restarted();
    let closed = Arc::clone(&again.sandbox.gate).lock_owned().await;
    let grant = || GrantRequest::new("echo_back", "a", &shelf.work()).contract(EffectContract::Keyed);
    let short = grant().deadline(Duration::from_millis(20)).grant();
    let ended = again.components.execute(short, supervision()).await.unwrap();
    assert_eq!(ended.failure, Some(ErrorCode::ComponentLimit));
    assert!(ended.output.expose().ends_with("nothing of it ran"), "{:?}", ended.output);
    let waiting = supervision();
    let cancel = waiting.cancel.clone();
    let stopped = tokio::spawn(again.components.execute(grant().grant(), waiting));
    cancel.cancel();
    assert_eq!(stopped.await.unwrap().unwrap().failure, Some(ErrorCode::ToolCancelled));
    drop(closed);
    assert_eq!(again.call("echo_back", "b").await.output.expose(), "b");
    assert_eq!(*again.sandbox.started.lock().unwrap(), 1, "all of them waited for one");
    assert!(!shelf.kept(&examined).join("native-0").exists(), "what no engine reads is not kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_looked_at_is_not_removed_by_what_is_offered_meanwhile() {
    let shelf = Shelf::new();
    let closed = Arc::clone(&shelf.sandbox.gate).lock_owned().await;
    let file = shelf.folder.path().join("tool.wasm");
    std::fs::write(&file, echo().bytes()).unwrap();
    let looking = tokio::spawn(shelf.components.examine(palyra_types::Redacted::cleaned(file).into()));
    while *shelf.sandbox.started.lock().unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    shelf.components.offer(Vec::new()).await.unwrap();
    drop(closed);
    let examined = looking.await.unwrap().unwrap();
    assert!(shelf.kept(&examined).exists());
    // The control: looked at and not added, it goes with the next offer.
    shelf.components.offer(Vec::new()).await.unwrap();
    assert!(!shelf.kept(&examined).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_component_kept_goes_with_it_however_the_daemon_ended() {
    let shelf = Shelf::new();
    let examined = shelf.add(&echo()).await;
    let values = shelf.folder.path().join("components/values");
    let kept = palyra_wasm::FileValues::new(values.clone());
    kept.set("echo_back", palyra_types::PrincipalId::from_parts(1, 3), "n", Some(vec![1])).unwrap();
    let files = || std::fs::read_dir(&values).unwrap().count();
    // What is offered keeps its values over a start.
    let again = shelf.restarted();
    again.components.offer(vec![record(&examined)]).await.unwrap();
    assert_eq!(files(), 1, "the control");
    // Killed when the removal was recorded, and nothing done: the next start offers what the journal says.
    let after_kill = shelf.restarted();
    after_kill.components.offer(Vec::new()).await.unwrap();
    assert_eq!(files(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_longer_offered_is_gone() {
    let shelf = Shelf::new();
    let examined = shelf.add(&echo()).await;
    let mut removed = record(&examined);
    removed.removed = Some(palyra_types::Timestamp(2));
    shelf.components.offer(vec![removed]).await.unwrap();
    assert!(shelf.components.catalog().is_empty() && !shelf.kept(&examined).exists());
    let grant = GrantRequest::new("echo_back", "a", &shelf.work()).contract(EffectContract::Keyed).grant();
    assert!(shelf.components.execute(grant, supervision()).await.is_err(), "nobody runs it");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_than_was_decided_about_does_not_run() {
    let shelf = Shelf::new();
    let examined = shelf.add(&files::writes()).await;
    let mut newer = record(&examined);
    newer.added.tool_version = 2;
    shelf.components.offer(vec![newer]).await.unwrap();
    let call = async |version| {
        let request = GrantRequest::new("save", "x.txt", &shelf.work()).contract(EffectContract::Keyed);
        let ran = shelf.components.execute(request.tool_version(version).grant(), supervision());
        ran.await.unwrap()
    };
    let refused = call(1).await;
    assert_eq!(refused.failure, Some(ErrorCode::ComponentChanged));
    assert!(refused.output.expose().ends_with("nothing of it ran"), "{:?}", refused.output);
    assert!(!shelf.work().join("x.txt").exists());
    // The control: the version that is there runs for whom it was decided about.
    assert_eq!(call(2).await.failure, None);
    assert!(shelf.work().join("x.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_has_its_code() {
    let shelf = Shelf::new();
    for (run, code) in [
        ("(call $answer (i32.const 1) (local.get $ptr) (local.get $len))", ErrorCode::ToolFailed),
        ("(unreachable)", ErrorCode::ComponentTrapped),
    ] {
        let about = ComponentAbout { name: "fails", contract: 1, ..ComponentAbout::default() };
        shelf.add(&Wat { about, ..Wat::running(run) }).await;
        assert_eq!(shelf.call("fails", "no").await.failure, Some(code), "{run}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_ends() {
    let shelf = Shelf::new();
    let about = ComponentAbout { name: "spins", contract: 1, ..ComponentAbout::default() };
    shelf.add(&Wat { about, ..Wat::running("(loop $l (br $l)) (unreachable)") }).await;
    let supervision = supervision();
    let cancel = supervision.cancel.clone();
    let grant = GrantRequest::new("spins", "", &shelf.work()).contract(EffectContract::Keyed).grant();
    let running = tokio::spawn(shelf.components.execute(grant, supervision));
    tokio::task::yield_now().await;
    cancel.cancel();
    assert_eq!(running.await.unwrap().unwrap().failure, Some(ErrorCode::ToolCancelled));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_component_is_told_apart() {
    let shelf = Shelf::new();
    let refused = shelf.examine(b"not wasm at all").await.unwrap_err();
    assert!(matches!(refused, ComponentStoreError::Invalid { .. }), "{refused}");
    let nameless = ComponentAbout { name: "No Name", ..ComponentAbout::default() };
    let refused = shelf.examine(&Wat { about: nameless, ..Wat::running(ECHO) }.bytes()).await.unwrap_err();
    assert!(refused.to_string().contains("is not a tool name"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_compiler_it_is_said_what_brings_it() {
    let built = Shelf::new();
    let absent = built.folder.path().join("palyra-component-compile");
    let missing = Shelf::with_compiler(Arc::clone(&built.folder), COMPILE_LIMITS, absent.clone());
    let refused = missing.examine(&echo().bytes()).await.expect_err("there is no compiler");
    let text = refused.to_string();
    assert!(text.contains(&absent.display().to_string()), "{text}");
    assert!(text.contains("cargo build --release -p palyra-wasm --features compiler"), "{text}");
    built.examine(&echo().bytes()).await.expect("the control: with the compiler it is a component");
    missing.examine(&echo().bytes()).await.expect("what was compiled already needs none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compiler_of_another_version_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let built = Shelf::new();
    let other = built.folder.path().join("palyra-component-compile");
    std::fs::write(&other, "#!/bin/sh\nprintf 'code of another version'\n").unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let skewed = Shelf::with_compiler(Arc::clone(&built.folder), COMPILE_LIMITS, other);
    let text = skewed.examine(&echo().bytes()).await.expect_err("it fits no engine").to_string();
    assert!(text.contains("is of another version than this daemon"), "{text}");
    built.examine(&echo().bytes()).await.expect("what did not fit is made again");
}
