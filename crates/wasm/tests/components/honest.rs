//! What components are for.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use palyra_ports::{CredentialHandle, HostScope, NewSecret, SecretChange, SecretStore};
use palyra_testkit::{FakeClock, MemorySecrets};
use palyra_types::{PrincipalId, Redacted, Seq, Timestamp};
use palyra_wasm::{
    CallError, CallLimits, CallReach, CallRequest, DescribedCapability, DescribedContract, KeepValues,
    MemoryValues, Ports,
};
use tracing::instrument::WithSubscriber;

use crate::component::{Bench, ECHO, FetchRecorder, Wat};

#[tokio::test(flavor = "multi_thread")]
async fn a_component_says_what_it_is_and_what_it_is_told() {
    let bench = Bench::new();
    let echo = Wat::running(ECHO);
    let described = bench.engine.describe(&bench.compile(&echo)).await.expect("a description");
    assert_eq!((described.name.as_str(), described.schema.as_str()), ("echo", r#"{"type":"object"}"#));
    assert_eq!(described.contract, DescribedContract::Pure);
    assert_eq!(described.capabilities, [DescribedCapability::KeyValue]);
    assert_eq!(bench.run(&echo, CallReach::default(), CallLimits::default()).await, Ok("told".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_says_why_it_could_not() {
    let bench = Bench::new();
    let no = Wat::running("(call $answer (i32.const 1) (local.get $ptr) (local.get $len))");
    let said = bench.run(&no, CallReach::default(), CallLimits::default()).await;
    assert_eq!(said, Err(CallError::Said("told".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_do_not_see_each_other() {
    let bench = Bench::new();
    let counting = Wat {
        core: "(global $n (mut i32) (i32.const 48))",
        run: "(global.set $n (i32.add (global.get $n) (i32.const 1)))
              (i32.store8 (i32.const 400) (global.get $n))
              (call $answer (i32.const 0) (i32.const 400) (i32.const 1))",
        ..Wat::default()
    };
    for _ in 0..3 {
        assert_eq!(
            bench.run(&counting, CallReach::default(), CallLimits::default()).await,
            Ok("1".to_owned())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_wait_for_room_and_all_are_answered() {
    let bench = Bench::new();
    let echo = Wat::running(ECHO);
    let calls = (0..100).map(|_| bench.run(&echo, CallReach::default(), CallLimits::default()));
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer, Ok("told".to_owned()));
    }
}

/// The whole world but files: secrets and what they are sent with, values, the log and the clock.
const WORLD: &str = r#"
  (import "palyra:tool/secrets@1.0.0" (instance $secrets
    (export "secret" (type $s (sub resource)))
    (type $p' (variant (case "refused" string) (case "missing"))) (export "problem" (type $p (eq $p')))
    (export "open" (func (param "name" string) (result (result (own $s) (error $p)))))))
  (alias export $secrets "secret" (type $secret))
  (import "palyra:tool/http@1.0.0" (instance $http
    (alias outer 1 $secret (type $s')) (export "secret" (type $s (eq $s')))
    (type $q' (record (field "method" string) (field "url" string) (field "headers" (list (tuple string string))) (field "body" (list u8))))
    (export "request" (type $q (eq $q')))
    (type $r' (record (field "status" u16) (field "headers" (list (tuple string string))) (field "body" (list u8)) (field "truncated" bool)))
    (export "response" (type $r (eq $r')))
    (type $p' (variant (case "refused" string) (case "invalid" string) (case "failed" string))) (export "problem" (type $p (eq $p')))
    (export "fetch-with" (func (param "request" $q) (param "secret" (borrow $s)) (result (result $r (error $p)))))))
  (import "palyra:tool/key-value@1.0.0" (instance $values
    (type $p' (variant (case "refused" string) (case "too-large") (case "failed" string))) (export "problem" (type $p (eq $p')))
    (export "get" (func (param "key" string) (result (result (option (list u8)) (error $p)))))
    (export "set" (func (param "key" string) (param "value" (list u8)) (result (result (error $p)))))
    (export "delete" (func (param "key" string) (result (result (error $p)))))
    (export "keys" (func (result (result (list string) (error $p)))))))
  (import "palyra:tool/log@1.0.0" (instance $log
    (type $l' (enum "debug" "info" "warn" "error")) (export "level" (type $l (eq $l')))
    (export "write" (func (param "level" $l) (param "message" string)))))
  (import "palyra:tool/clock@1.0.0" (instance $clock (export "now-ms" (func (result u64)))))"#;

const LOWERED: &str = r#"
  (core func $open' (canon lower (func $secrets "open") (memory $memory) (realloc $realloc)))
  (core func $part' (canon resource.drop $secret))
  (core func $fetch' (canon lower (func $http "fetch-with") (memory $memory) (realloc $realloc)))
  (core func $get' (canon lower (func $values "get") (memory $memory) (realloc $realloc)))
  (core func $set' (canon lower (func $values "set") (memory $memory) (realloc $realloc)))
  (core func $delete' (canon lower (func $values "delete") (memory $memory) (realloc $realloc)))
  (core func $keys' (canon lower (func $values "keys") (memory $memory) (realloc $realloc)))
  (core func $log' (canon lower (func $log "write") (memory $memory) (realloc $realloc)))
  (core func $now' (canon lower (func $clock "now-ms")))
  (core instance $host (export "open" (func $open')) (export "part" (func $part')) (export "fetch" (func $fetch'))
    (export "get" (func $get')) (export "set" (func $set')) (export "delete" (func $delete')) (export "keys" (func $keys'))
    (export "log" (func $log')) (export "now" (func $now')))"#;

const IMPORTED: &str = r#"
    (import "host" "open" (func $open (param i32 i32 i32)))
    (import "host" "part" (func $part (param i32)))
    (import "host" "fetch" (func $fetch (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "get" (func $get (param i32 i32 i32)))
    (import "host" "set" (func $set (param i32 i32 i32 i32 i32)))
    (import "host" "delete" (func $delete (param i32 i32 i32)))
    (import "host" "keys" (func $keys (param i32)))
    (import "host" "log" (func $log (param i32 i32 i32)))
    (import "host" "now" (func $now (result i64)))"#;

/// Where texts lie: GET, page, time, old, missing, lost.
const TEXTS: &str = r#"(data (i32.const 3000) "GETpagetimeoldmissinglost")"#;

/// Logs its argument, opens the secret of that name, asks with it, keeps the page and the time, forgets what is old, and
/// answers with the page as it was kept, if there are two keys then.
const WORK: &str = r#"
    (call $log (i32.const 2) (local.get $ptr) (local.get $len))
    (call $open (local.get $ptr) (local.get $len) (i32.const 3200))
    (if (i32.load8_u (i32.const 3200)) (then
      (if (i32.load8_u (i32.const 3204)) (then (return (call $answer (i32.const 1) (i32.const 3014) (i32.const 7)))))
      (return (call $answer (i32.const 1) (i32.load (i32.const 3208)) (i32.load (i32.const 3212))))))
    (call $fetch (i32.const 3000) (i32.const 3) (i32.const 1024) (global.get $given)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.load (i32.const 3204)) (i32.const 3300))
    (call $part (i32.load (i32.const 3204)))
    (if (i32.load8_u (i32.const 3300)) (then
      (return (call $answer (i32.const 1) (i32.load (i32.const 3308)) (i32.load (i32.const 3312))))))
    (call $set (i32.const 3003) (i32.const 4) (i32.load (i32.const 3316)) (i32.load (i32.const 3320)) (i32.const 3400))
    (i64.store (i32.const 3500) (call $now))
    (call $set (i32.const 3007) (i32.const 4) (i32.const 3500) (i32.const 8) (i32.const 3420))
    (call $delete (i32.const 3011) (i32.const 3) (i32.const 3440))
    (call $get (i32.const 3003) (i32.const 4) (i32.const 3460))
    (call $keys (i32.const 3480))
    (if (i32.or (i32.or (i32.load8_u (i32.const 3400)) (i32.load8_u (i32.const 3420)))
          (i32.or (i32.or (i32.load8_u (i32.const 3440)) (i32.load8_u (i32.const 3460)))
            (i32.or (i32.load8_u (i32.const 3480)) (i32.ne (i32.load (i32.const 3488)) (i32.const 2)))))
      (then (return (call $answer (i32.const 1) (i32.const 3021) (i32.const 4)))))
    (call $answer (i32.eqz (i32.load8_u (i32.const 3464))) (i32.load (i32.const 3468)) (i32.load (i32.const 3472)))"#;

/// A component that uses all of its imports, and what stands behind them.
struct Errand {
    bench: Bench,
    wat: Wat,
    asked: Arc<FetchRecorder>,
    values: Arc<MemoryValues>,
}

/// Who calls.
fn person() -> PrincipalId {
    PrincipalId::from_parts(1, 1)
}

impl Errand {
    fn new() -> Self {
        let (asked, values) = (Arc::new(FetchRecorder::default()), Arc::new(MemoryValues::default()));
        let secrets = MemorySecrets::default();
        let secret = NewSecret {
            name: "token".parse().expect("a name"),
            value: Redacted::cleaned("a value of a secret".to_owned()).into(),
            hosts: None,
            sent_as: None,
            now: Timestamp(1),
        };
        secrets.stage(SecretChange::Put(secret), Seq(1)).expect("it is staged");
        secrets.commit().expect("it is kept");
        values.set("errand", person(), "old", Some(b"x".to_vec())).expect("it is kept");
        let engine = Bench::new().engine;
        let ports = Ports {
            fetch: Some(Arc::clone(&asked) as _),
            secrets: Some(Arc::new(secrets)),
            values: Arc::clone(&values) as _,
            clock: Arc::new(FakeClock::new()),
            cancel: palyra_ports::CancelFlag::default(),
        };
        let wat = Wat {
            imports: WORLD,
            core_imports: IMPORTED,
            with: LOWERED,
            core: TEXTS,
            run: WORK,
            given: "https://tea.example/leaves".to_owned(),
            ..Wat::default()
        };
        Self { bench: Bench { engine, ports }, wat, asked, values }
    }

    /// Runs with the name of a secret, having been given `token` and `gone`.
    async fn run(&self, name: &str) -> Result<String, CallError> {
        let compiled = self.bench.compile(&self.wat);
        let request =
            CallRequest { arguments: Redacted::cleaned(name.to_owned()).into(), principal: person() };
        let given = CallReach {
            hosts: ["tea.example".to_owned()].into(),
            secrets: ["token", "gone"].map(str::to_owned).into(),
            key_value: Some("errand".to_owned()),
            ..CallReach::default()
        };
        let ports = self.bench.ports.clone();
        self.bench.engine.call(&compiled, request, given, ports, CallLimits::default()).await
    }

    fn kept(&self, key: &str) -> Option<Vec<u8>> {
        self.values.get("errand", person(), key).expect("it is read")
    }
}

/// Remembers what is logged.
#[derive(Clone, Default)]
struct LoggedText(Arc<Mutex<String>>);

impl tracing::field::Visit for LoggedText {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        write!(self.0.lock().expect("unpoisoned"), "{field}={value:?} ").expect("it is written");
    }
}

impl tracing::Subscriber for LoggedText {
    fn enabled(&self, _metadata: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _span: &tracing::span::Id, _values: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _span: &tracing::span::Id, _follows: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _span: &tracing::span::Id) {}

    fn exit(&self, _span: &tracing::span::Id) {}
}

#[tokio::test]
async fn a_component_asks_with_a_secret_keeps_values_tells_the_time_and_logs() {
    let (errand, heard) = (Errand::new(), LoggedText::default());
    let answer = errand.run("token").with_subscriber(heard.clone()).await;
    assert_eq!(answer, Ok("the page".to_owned()));
    let asked = errand.asked.0.lock().expect("unpoisoned");
    let [request] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(request.url.expose(), "https://tea.example/leaves");
    assert!(matches!(&request.hosts, HostScope::Only(rules) if rules.len() == 1), "{request:?}");
    let [credential] = request.credentials.as_slice() else { panic!("{request:?}") };
    assert_eq!((credential.host.as_str(), credential.port), ("tea.example", 443));
    assert_eq!(credential.handle, CredentialHandle("token".to_owned()));
    assert_eq!(errand.kept("page"), Some(b"the page".to_vec()));
    let time = errand.bench.ports.clock.wall().unix_ms();
    assert_eq!(errand.kept("time"), Some(time.to_le_bytes().to_vec()));
    assert_eq!(errand.kept("old"), None);
    let heard = heard.0.lock().expect("unpoisoned").clone();
    assert!(heard.contains("level=Level::Warn") && heard.contains("line=token"), "{heard}");
}

#[tokio::test]
async fn a_secret_that_was_not_given_is_refused_and_one_that_is_not_there_is_missing() {
    let errand = Errand::new();
    let said = |what: &str| Err(CallError::Said(what.to_owned()));
    assert_eq!(errand.run("other").await, said("this tool was not given the secret `other`"));
    assert_eq!(errand.run("gone").await, said("missing"));
    assert!(errand.asked.0.lock().expect("unpoisoned").is_empty(), "nobody was asked");
    assert!(errand.kept("old").is_some() && errand.kept("page").is_none());
    // The control: the one that was given and is there.
    assert_eq!(errand.run("token").await, Ok("the page".to_owned()));
}
