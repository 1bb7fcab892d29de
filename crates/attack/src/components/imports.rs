//! What a component is not offered, or was not given (52).

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use palyra_testkit::component_text::Wat;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::attempt::Attempt;
use super::call::{CallerKind, ComponentCall};
use super::reaching::reaching;
use super::watched::{HostCanary, hear};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::SECRET;

const OFFERED: &str = "what is offered";
const EMPTY: &str = "a host of its own, with nothing in it";
const GIVEN: &str = "what a call is given";

/// One thing that is reached for.
#[derive(Clone, Copy)]
struct ImportCase {
    variant: &'static str,
    mechanism: &'static str,
    bytes: fn() -> Vec<u8>,
    /// What it is told; `{OUT}`, `{PORT}` and `{OTHER}` are places of the attack.
    told: &'static str,
    canary: CanaryKind,
    /// What it may ask.
    hosts: &'static [&'static str],
}

/// By what it is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CanaryKind {
    Secret,
    File,
    Dead,
    /// More requests came to the server than may.
    Server(usize),
}

const fn wants(
    variant: &'static str,
    bytes: fn() -> Vec<u8>,
    told: &'static str,
    canary: CanaryKind,
) -> ImportCase {
    ImportCase { variant, mechanism: EMPTY, bytes, told, canary, hosts: &[] }
}

const fn asks(variant: &'static str, bytes: fn() -> Vec<u8>, told: &'static str) -> ImportCase {
    let canary = CanaryKind::Server(0);
    ImportCase { mechanism: GIVEN, hosts: &["127.0.0.1:{OTHER}"], ..wants(variant, bytes, told, canary) }
}

const ALL: &[ImportCase] = &[
    ImportCase { mechanism: OFFERED, ..wants("a shell", shell, "echo > {OUT}/ran", CanaryKind::File) },
    wants("variables of the host", variables, "told", CanaryKind::Secret),
    wants("what the host is told", input, "told", CanaryKind::Secret),
    wants("the host's output", || streams(OUTPUT), SECRET, CanaryKind::Secret),
    wants("the host's errors", || streams(ERRORS), SECRET, CanaryKind::Secret),
    wants(
        "the end of the host",
        || streams("(call $exit (i32.const 1)) (unreachable)"),
        "told",
        CanaryKind::Dead,
    ),
    ImportCase {
        mechanism: GIVEN,
        ..wants("a value, with no place to keep any", values, "told", CanaryKind::Secret)
    },
    ImportCase {
        mechanism: GIVEN,
        ..wants("what another tool and another person keep", values, "key", CanaryKind::Secret)
    },
    ImportCase { hosts: &[], ..asks("a host, of one that was given none", get, "http://127.0.0.1:{PORT}/") },
    asks("another port of a host", get, "http://127.0.0.1:{PORT}/"),
    asks("another name of a host", get, "http://localhost:{PORT}/"),
    asks("a host behind the name of another", get, "http://127.0.0.1:{OTHER}@127.0.0.1:{PORT}/"),
    asks("a host in another spelling", get, "http://127.1:{PORT}/"),
    asks("a redirect of a host to another", get, "http://127.0.0.1:{OTHER}/"),
    ImportCase {
        hosts: &["127.0.0.1:{PORT}"],
        ..asks("a change, by one that says it changes nothing", post, "http://127.0.0.1:{PORT}/")
    },
    ImportCase {
        hosts: &["127.0.0.1:{PORT}"],
        canary: CanaryKind::Server(64),
        ..asks("more requests than a call may make", many, "http://127.0.0.1:{PORT}/")
    },
];

fn get() -> Vec<u8> {
    reaching("(call $ask (i32.const 3007) (i32.const 3) (local.get $ptr) (local.get $len))").bytes()
}

fn post() -> Vec<u8> {
    reaching("(call $ask (i32.const 3010) (i32.const 4) (local.get $ptr) (local.get $len))").bytes()
}

fn many() -> Vec<u8> {
    reaching(
        "(local $n i32) (loop $l
           (drop (call $ask (i32.const 3007) (i32.const 3) (local.get $ptr) (local.get $len)))
           (local.set $n (i32.add (local.get $n) (i32.const 1)))
           (br_if $l (i32.lt_u (local.get $n) (i32.const 80))))
         (call $answer (i32.const 0) (i32.const 0) (i32.const 0))",
    )
    .bytes()
}

fn shell() -> Vec<u8> {
    Wat {
        imports: r#"(import "palyra:tool/shell@1.0.0" (instance $shell (export "run" (func (param "line" string)))))"#,
        with: r#"(core func $shell' (canon lower (func $shell "run") (memory $memory)))
            (core instance $host (export "shell" (func $shell')))"#,
        core_imports: r#"(import "host" "shell" (func $shell (param i32 i32)))"#,
        ..Wat::running("(call $shell (local.get $ptr) (local.get $len)) (unreachable)")
    }
    .bytes()
}

fn variables() -> Vec<u8> {
    Wat {
        imports: r#"(import "wasi:cli/environment@0.2.12" (instance $env
            (export "get-environment" (func (result (list (tuple string string)))))))"#,
        with: r#"(core func $env' (canon lower (func $env "get-environment") (memory $memory) (realloc $realloc)))
            (core instance $host (export "env" (func $env')))"#,
        core_imports: r#"(import "host" "env" (func $env (param i32)))"#,
        ..Wat::running(
            "(call $env (i32.const 3000))
             (if (i32.eqz (i32.load (i32.const 3004))) (then (unreachable)))
             (call $answer (i32.const 0) (i32.load (i32.add (i32.load (i32.const 3000)) (i32.const 8)))
               (i32.load (i32.add (i32.load (i32.const 3000)) (i32.const 12))))",
        )
    }
    .bytes()
}

fn values() -> Vec<u8> {
    Wat {
        imports: r#"(import "palyra:tool/key-value@1.0.0" (instance $kv
            (type $p' (variant (case "refused" string) (case "too-large") (case "failed" string)))
            (export "problem" (type $p (eq $p')))
            (export "get" (func (param "key" string) (result (result (option (list u8)) (error $p)))))))"#,
        with: r#"(core func $get' (canon lower (func $kv "get") (memory $memory) (realloc $realloc)))
            (core instance $host (export "get" (func $get')))"#,
        core_imports: r#"(import "host" "get" (func $get (param i32 i32 i32)))"#,
        core: r#"(data (i32.const 3000) "key")"#,
        ..Wat::running(
            "(call $get (i32.const 3000) (i32.const 3) (i32.const 3100))
             (if (i32.or (i32.load8_u (i32.const 3100)) (i32.eqz (i32.load8_u (i32.const 3104)))) (then (unreachable)))
             (call $answer (i32.const 0) (i32.load (i32.const 3108)) (i32.load (i32.const 3112)))",
        )
    }
    .bytes()
}

const STREAMS: &str = r#"
  (import "wasi:io/error@0.2.12" (instance $err (export "error" (type $e (sub resource)))))
  (alias export $err "error" (type $error))
  (import "wasi:io/streams@0.2.12" (instance $io
    (export "input-stream" (type $in (sub resource))) (export "output-stream" (type $out (sub resource)))
    (alias outer 1 $error (type $er')) (export "error" (type $er (eq $er')))
    (type $se' (variant (case "last-operation-failed" (own $er)) (case "closed"))) (export "stream-error" (type $se (eq $se')))
    (export "[method]input-stream.blocking-read" (func (param "self" (borrow $in)) (param "len" u64)
      (result (result (list u8) (error $se)))))
    (export "[method]output-stream.blocking-write-and-flush" (func (param "self" (borrow $out)) (param "contents" (list u8))
      (result (result (error $se)))))))
  (alias export $io "input-stream" (type $input))
  (alias export $io "output-stream" (type $output))
  (import "wasi:cli/stdin@0.2.12" (instance $stdin
    (alias outer 1 $input (type $t)) (export "input-stream" (type $own (eq $t))) (export "get-stdin" (func (result (own $own))))))
  (import "wasi:cli/stdout@0.2.12" (instance $stdout
    (alias outer 1 $output (type $t)) (export "output-stream" (type $own (eq $t))) (export "get-stdout" (func (result (own $own))))))
  (import "wasi:cli/stderr@0.2.12" (instance $stderr
    (alias outer 1 $output (type $t)) (export "output-stream" (type $own (eq $t))) (export "get-stderr" (func (result (own $own))))))
  (import "wasi:cli/exit@0.2.12" (instance $exit (export "exit" (func (param "status" (result))))))"#;
const WITH_STREAMS: &str = r#"
  (core func $read' (canon lower (func $io "[method]input-stream.blocking-read") (memory $memory) (realloc $realloc)))
  (core func $write' (canon lower (func $io "[method]output-stream.blocking-write-and-flush") (memory $memory)))
  (core func $in' (canon lower (func $stdin "get-stdin")))
  (core func $out' (canon lower (func $stdout "get-stdout")))
  (core func $err' (canon lower (func $stderr "get-stderr")))
  (core func $exit' (canon lower (func $exit "exit")))
  (core instance $host (export "read" (func $read')) (export "write" (func $write')) (export "in" (func $in'))
    (export "out" (func $out')) (export "err" (func $err')) (export "exit" (func $exit')))"#;
const CORE_STREAMS: &str = r#"
    (import "host" "read" (func $read (param i32 i64 i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (import "host" "in" (func $in (result i32)))
    (import "host" "out" (func $out (result i32)))
    (import "host" "err" (func $err (result i32)))
    (import "host" "exit" (func $exit (param i32)))"#;
const OUTPUT: &str = "(call $write (call $out) (local.get $ptr) (local.get $len) (i32.const 3100))
    (call $answer (i32.const 0) (i32.const 0) (i32.const 0))";
const ERRORS: &str = "(call $write (call $err) (local.get $ptr) (local.get $len) (i32.const 3100))
    (call $answer (i32.const 0) (i32.const 0) (i32.const 0))";

fn streams(run: &'static str) -> Vec<u8> {
    Wat { imports: STREAMS, with: WITH_STREAMS, core_imports: CORE_STREAMS, ..Wat::running(run) }.bytes()
}

fn input() -> Vec<u8> {
    streams(
        "(call $read (call $in) (i64.const 64) (i32.const 3100))
         (if (i32.load8_u (i32.const 3100)) (then (unreachable)))
         (call $answer (i32.const 0) (i32.load (i32.const 3104)) (i32.load (i32.const 3108)))",
    )
}

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    ALL.iter()
        .map(|wanted| {
            let pair = CasePair::new(52, wanted.variant, wanted.mechanism);
            AttackTrial::new(vec![pair], move |place, pairs| carry_out(*wanted, place, pairs))
        })
        .collect()
}

async fn carry_out(wanted: ImportCase, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, async |_| {
        let bytes = (wanted.bytes)();
        let control = reached(wanted, CallerKind::Plain, &bytes, &place).await?;
        Ok(Some((reached(wanted, CallerKind::Held, &bytes, &place).await?, control)))
    })
    .await
}

async fn reached(
    wanted: ImportCase,
    way: CallerKind,
    bytes: &[u8],
    place: &TrialContext,
) -> io::Result<Vec<String>> {
    let attempt = Attempt::new(bytes)?;
    let server =
        Server::start("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok".to_owned())?;
    let to = format!("http://127.0.0.1:{}/", server.port);
    let redirect =
        format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let other = Server::start(redirect)?;
    let out = attempt.trial_folder.outside().display().to_string();
    let filled = |text: &str| {
        let text = text.replace("{OUT}", &out).replace("{PORT}", &server.port.to_string());
        text.replace("{OTHER}", &other.port.to_string())
    };
    // The operator lets both be reached; what a call may ask is another thing.
    let lifted = ["127.0.0.1:{OTHER}", "127.0.0.1:{PORT}", "localhost:{PORT}"].map(filled).to_vec();
    let hosts = wanted.hosts.iter().map(|host| filled(host)).collect();
    let spec = ComponentCall { arguments: filled(wanted.told), hosts, lifted, ..attempt.spec.clone() };
    let canary = if wanted.canary == CanaryKind::Dead { HostCanary::Dead } else { HostCanary::Secret };
    let heard = hear(&place.program, way, &spec, &[canary]).await?;
    Ok(match wanted.canary {
        CanaryKind::Secret | CanaryKind::Dead => heard.touched(&[canary]),
        CanaryKind::File if attempt.trial_folder.outside().join("ran").exists() => {
            vec!["a command ran".to_owned()]
        }
        CanaryKind::Server(most) if server.settled().await? > most => vec!["the server was asked".to_owned()],
        CanaryKind::File | CanaryKind::Server(_) => Vec::new(),
    })
}

/// Answers everybody alike, and counts them.
struct Server {
    port: u16,
    asked: Arc<AtomicUsize>,
    serving: tokio::task::JoinHandle<()>,
}

impl Server {
    fn start(answer: String) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let asked = Arc::new(AtomicUsize::new(0));
        let (listener, counting) = (tokio::net::TcpListener::from_std(listener)?, Arc::clone(&asked));
        let serving = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counting.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                tokio::spawn(async move {
                    let mut said = [0; 4096];
                    // Who asks and goes away was counted.
                    let _ = stream.read(&mut said).await;
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Ok(Self { port, asked, serving })
    }

    /// Returns how many came, once all that came before this question were taken.
    async fn settled(&self) -> io::Result<usize> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await?;
        stream.read_to_end(&mut Vec::new()).await?;
        Ok(self.asked.load(Ordering::SeqCst) - 1)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
