//! A secret of the vault on its way to the host it is bound to, over real TLS: by a fetch and by a command. That host hears
//! it, another one does not, and it stands nowhere else.

use std::sync::Arc;

use palyra_model_server::ModelServer;
use palyra_testkit::component_text::{ComponentAbout, Wat};
use serde_json::{Value, json};

use crate::asked::asked;
use crate::caller::{call, caller};
use crate::fetches::{allow, approved, output, refused_unasked};
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};
use crate::redaction::{files, forms, holds};
use crate::web_server::{WebServer, said};

/// What is in the vault; no rule knows it.
pub(crate) const CANARY: &str = "walnut-harbour-lantern-0417";

/// Asks for a page by the proxy that the environment names.
const ASKS: &str = "import sys, urllib.request, urllib.error
for url in sys.argv[1:]:
  try: print('read', urllib.request.urlopen(url, timeout=20).read().decode())
  except urllib.error.HTTPError as error: print('no', error.code, error.read().decode())
  except Exception as error: print('no', error)
";

/// A certificate for this machine, and the file of the authority behind it.
pub(crate) fn identity() -> (Arc<rustls::ServerConfig>, String) {
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let root = authority.self_signed(&authority_key).unwrap();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let leaf = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (
        Arc::new(config),
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines_of(&root)),
    )
}

fn lines_of(certificate: &rcgen::Certificate) -> String {
    let text = crate::redaction::base64(certificate.der());
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    lines.join("\n")
}

/// Says back all that it hears.
pub(crate) fn echo(tls: &Arc<rustls::ServerConfig>) -> WebServer {
    WebServer::start_tls(tls, |request| Some(said("200 OK", &[("content-type", "text/plain")], request)))
}

fn times_heard(server: &WebServer) -> usize {
    server.heard().iter().filter(|request| request.contains(CANARY)).count()
}

/// A home that trusts both servers, with a secret that is for the first of them.
pub(crate) fn bound_home(model: &ModelServer, authority: &str, bound: &WebServer, other: &WebServer) -> Home {
    let home = home_with(model);
    home.write("authority.pem", authority);
    let file = home.work().join("authority.pem");
    let home = home.with("SSL_CERT_FILE", file.to_str().unwrap()).with("PALYRA_LOG", "trace");
    allow(&home, &[bound, other]);
    let put = ["admin", "vault", "put", "forge", "--host", &bound.place()];
    home.palyra_reading(&put, CANARY).expect(0);
    home
}

#[test]
fn a_bound_host_hears_a_secret_and_nobody_else_does() {
    let (tls, authority) = identity();
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let (bound, other) = (echo(&tls), echo(&tls));
    let home = bound_home(&model, &authority, &bound, &other);
    home.write("ask.py", ASKS);
    let url = format!("https://{}/", bound.place());
    let waits = asked(&home, &call("http_fetch", &json!({ "url": url, "credential": "forge" })));
    let words = format!("? http_fetch GET {url}, carries your secret `forge` as bearer (high risk)\n");
    assert!(waits.told.err.contains(&words) && bound.heard().is_empty(), "{}", waits.told.err);
    home.palyra(&["approve", "no", &waits.approval]).expect(0);
    let fetch = |server: &WebServer, offset: usize| {
        let url = format!("https://{}/", server.place());
        approved(&home, "http_fetch", &json!({ "url": url, "credential": "forge", "offset": offset }))
    };
    let ask = |server: &WebServer| {
        let (url, place) = (server.url("/"), server.place());
        let credentials = [format!("forge@{place}")];
        let argv = json!(["python3", "ask.py", url]);
        approved(&home, "run_command", &json!({ "argv": argv, "hosts": [place], "credentials": credentials }))
    };

    let outcome = fetch(&bound, 0);
    assert!(output(&outcome).contains("<secret:vault>"), "{outcome:#}");
    assert_eq!(times_heard(&bound), 1, "{:?}", bound.heard());
    let told = bound.heard()[0].clone();
    // An offset inside of what was said back.
    let mut outcomes = vec![outcome, fetch(&bound, told.find(CANARY).unwrap() + CANARY.len() / 2)];
    let outcome = ask(&bound);
    assert!(output(&outcome).contains("<secret:vault>"), "{outcome:#}");
    assert!(output(&outcome).contains(&format!("network: reached {}", bound.place())), "{outcome:#}");
    assert_eq!(times_heard(&bound), 3, "{:?}", bound.heard());
    outcomes.push(outcome);

    // No person is asked about what the vault refuses with any answer.
    let elsewhere = json!({ "url": format!("https://{}/", other.place()), "credential": "forge" });
    let commands = json!({
        "argv": ["python3", "ask.py", other.url("/")],
        "hosts": [other.place()],
        "credentials": [format!("forge@{}", other.place())],
    });
    for (tool, arguments) in
        [("http_fetch", &elsewhere), ("http_send", &posted(&elsewhere)), ("run_command", &commands)]
    {
        let why = refused_unasked(&home, tool, arguments);
        let told = format!(
            "the secret `forge` is not for `{}`: `palyra admin vault list` shows where it may go, and `palyra explain PLY-4602` how that is changed; nothing was sent",
            other.place()
        );
        assert!(why.contains(&told), "{tool}: {why}");
    }
    assert!(other.heard().is_empty(), "{:?}", other.heard());
    // The control: it is trusted, and answers whoever names no secret.
    let url = format!("https://{}/plain", other.place());
    assert!(output(&approved(&home, "http_fetch", &json!({ "url": url }))).contains("GET /plain"));
    assert_eq!((other.heard().len(), times_heard(&other)), (1, 0));

    nowhere(&home, &model, &outcomes);
}

/// The arguments of a fetch as those of a call that sends.
fn posted(fetch: &Value) -> Value {
    let mut arguments = fetch.clone();
    arguments["method"] = json!("POST");
    arguments["body"] = json!("x");
    arguments
}

/// Spells what it is answered, so that the output holds nothing that a text is searched for.
const SPELLS: &str = "import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=20) as answer:
  print('spelled', ' '.join(answer.headers.get('x-heard', '')), '|', ' '.join(answer.read().decode()))
";

#[test]
fn what_a_bound_host_says_back_reaches_the_program_without_the_secret() {
    let (tls, authority) = identity();
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let said_back = |request: &str| {
        let heard = request.lines().find(|line| line.contains(CANARY)).unwrap_or_default().to_owned();
        Some(said("200 OK", &[("content-type", "text/plain"), ("x-heard", &heard)], request))
    };
    let (bound, other) = (WebServer::start_tls(&tls, said_back), echo(&tls));
    let home = bound_home(&model, &authority, &bound, &other);
    home.write("spell.py", SPELLS);
    let argv = json!(["python3", "spell.py", bound.url("/lantern")]);
    let credentials = [format!("forge@{}", bound.place())];
    let arguments = json!({ "argv": argv, "hosts": [bound.place()], "credentials": credentials });
    let outcome = approved(&home, "run_command", &arguments);
    assert_eq!(times_heard(&bound), 1, "the control: the host was given it");
    let spelled = output(&outcome).replace(' ', "");
    assert!(spelled.contains("spelled") && spelled.contains("GET/lantern"), "{spelled}");
    assert!(!spelled.contains(CANARY), "{spelled}");
    assert_eq!(spelled.matches("<secret:vault>").count(), 2, "in a header and in the body: {spelled}");
}

/// Opens the secret `forge`, asks with it for the page that it was given, and spells the answer, so that its output holds
/// nothing that a text is searched for.
fn spelling_component(web: &WebServer) -> Wat {
    Wat {
        imports: r#"
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
    (export "fetch-with" (func (param "request" $q) (param "secret" (borrow $s)) (result (result $r (error $p)))))))"#,
        with: r#"
  (core func $open' (canon lower (func $secrets "open") (memory $memory) (realloc $realloc)))
  (core func $fetch' (canon lower (func $http "fetch-with") (memory $memory) (realloc $realloc)))
  (core instance $host (export "open" (func $open')) (export "fetch" (func $fetch')))"#,
        core_imports: r#"
    (import "host" "open" (func $open (param i32 i32 i32)))
    (import "host" "fetch" (func $fetch (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))"#,
        core: r#"(data (i32.const 3000) "GETforge") (global $at (mut i32) (i32.const 0))"#,
        run: r#"
    (call $open (i32.const 3003) (i32.const 5) (i32.const 3200))
    (if (i32.load8_u (i32.const 3200)) (then (unreachable)))
    (call $fetch (i32.const 3000) (i32.const 3) (i32.const 1024) (global.get $given)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.load (i32.const 3204)) (i32.const 3300))
    (if (i32.load8_u (i32.const 3300)) (then
      (return (call $answer (i32.const 1) (i32.load (i32.const 3308)) (i32.load (i32.const 3312))))))
    (global.set $at (i32.const 0))
    (loop $next
      (i32.store8 (i32.add (i32.const 65536) (i32.mul (global.get $at) (i32.const 2)))
        (i32.load8_u (i32.add (i32.load (i32.const 3316)) (global.get $at))))
      (i32.store8 (i32.add (i32.const 65537) (i32.mul (global.get $at) (i32.const 2))) (i32.const 32))
      (global.set $at (i32.add (global.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (global.get $at) (i32.load (i32.const 3320)))))
    (call $answer (i32.const 0) (i32.const 65536) (i32.mul (global.get $at) (i32.const 2)))"#,
        about: ComponentAbout {
            name: "spell_page",
            contract: 0,
            capabilities: vec![(2, web.place()), (3, "forge".to_owned())],
        },
        given: format!("https://{}/lantern", web.place()),
        ..Wat::default()
    }
}

#[test]
fn what_a_bound_host_says_back_reaches_a_component_without_the_secret() {
    let (tls, authority) = identity();
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let (bound, other) = (echo(&tls), echo(&tls));
    let home = bound_home(&model, &authority, &bound, &other);
    let file = home.work().join("spell_page.wasm");
    std::fs::write(&file, spelling_component(&bound).bytes()).unwrap();
    home.palyra(&["tools", "add", file.to_str().unwrap(), "--yes"]).expect(0);
    let outcome = approved(&home, "spell_page", &json!({}));
    assert_eq!(times_heard(&bound), 1, "the control: the host was given it: {outcome:#}");
    let spelled = output(&outcome).replace(' ', "");
    assert!(spelled.contains("GET/lantern"), "{spelled}");
    assert!(!spelled.contains(CANARY), "{spelled}");
    assert_eq!(spelled.matches("<secret:vault>").count(), 1, "{spelled}");
}

/// Looks for the value, and for the half of it behind an offset, wherever something was written down.
#[track_caller]
fn nowhere(home: &Home, model: &ModelServer, outcomes: &[Value]) {
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).expect(0);
    let sent: String = model.asked().iter().map(|asked| asked.body.to_string()).collect();
    let results: String = outcomes.iter().map(Value::to_string).collect();
    let mut places = vec![
        ("the tape".to_owned(), tape.out.into_bytes()),
        ("what the model was sent".to_owned(), sent.into_bytes()),
        ("the results".to_owned(), results.into_bytes()),
    ];
    home.palyra(&["admin", "stop"]).expect(0);
    files(&home.state_dir(), &mut places);
    for place in ["journal.db", "palyrad.log"] {
        assert!(places.iter().any(|(name, bytes)| name.contains(place) && !bytes.is_empty()), "{place}");
    }
    let half = &CANARY[CANARY.len() / 2..];
    for (place, bytes) in &places {
        for (form, wanted) in forms(CANARY).into_iter().chain(forms(half)) {
            assert!(!holds(bytes, &wanted), "{place} holds it: {form}");
        }
    }
}
