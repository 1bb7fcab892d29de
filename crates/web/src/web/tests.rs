//! Both tools over a fetcher that says what it is told and remembers what it was asked.

use std::path::Path;
use std::sync::Mutex;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    BodyCompleteness, CredentialUser, EffectKey, ExecuteToolError, FetchMethod, SecretName, Supervision,
    ToolRuntime, UrlPrivacy, UrlServer,
};
use palyra_testkit::{GrantRequest, PassThrough};
use palyra_tool_kit::conclude;
use palyra_types::tool::{EffectContract, RawToolOutcome, Taints};
use palyra_types::{EffectId, Redacted, RunId};
use serde_json::{Value, json};

use super::*;
use crate::failure::WebFailure;
use crate::prepare::{prepare_fetch, prepare_send};

type Reply = Arc<dyn Fn(&FetchRequest) -> Result<FetchResponse, FetchError> + std::marker::Send + Sync>;

/// Answers as it is told.
#[derive(Clone)]
struct Scripted {
    reply: Reply,
    asked: Arc<Mutex<Vec<(PrincipalId, FetchRequest)>>>,
    principal: PrincipalId,
}

impl FetchHttp for Scripted {
    fn fetch(
        &self,
        request: FetchRequest,
        _cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        let reply = (self.reply)(&request);
        self.asked.lock().unwrap().push((self.principal, request));
        async move { reply }.boxed()
    }
}

struct OneServer;

impl ReadUrl for OneServer {
    fn read_url(&self, url: &str) -> Result<UrlServer, &'static str> {
        let rest = url.strip_prefix("https://").ok_or("only https:// in this test")?;
        let server = rest.split('/').next().unwrap_or_default();
        let (host, port) = server.split_once(':').unwrap_or((server, "443"));
        let port = port.parse().map_err(|_| "a port is expected")?;
        Ok(UrlServer { host: host.to_owned(), port, privacy: UrlPrivacy::Tls })
    }

    fn certain_refusal(&self, url: &str) -> Option<String> {
        url.contains("private.example").then(|| "`private.example` is refused here".to_owned())
    }
}

fn sent_as(name: &SecretName) -> Option<String> {
    (name.as_str() == "api").then(|| "bearer".to_owned())
}

struct Bench {
    tools: WebTools,
    calls: Arc<WebCalls>,
    asked: Arc<Mutex<Vec<(PrincipalId, FetchRequest)>>>,
}

fn bench(
    reply: impl Fn(&FetchRequest) -> Result<FetchResponse, FetchError> + std::marker::Send + Sync + 'static,
) -> Bench {
    let (reply, asked): (Reply, _) = (Arc::new(reply), Arc::new(Mutex::new(Vec::new())));
    let book = Arc::clone(&asked);
    let fetcher_of = Arc::new(move |principal| {
        Arc::new(Scripted { reply: Arc::clone(&reply), asked: Arc::clone(&book), principal })
            as Arc<dyn FetchHttp>
    });
    let redactor = Arc::new(PassThrough);
    let parts = WebParts { fetcher_of, reader: Arc::new(OneServer), sent_as: Arc::new(sent_as), redactor };
    let calls = Arc::new(WebCalls::new(parts));
    Bench { tools: WebTools::of(&calls), calls, asked }
}

fn said(status: u16, content_type: &str, body: &str) -> Result<FetchResponse, FetchError> {
    Ok(FetchResponse {
        url: "https://a.example/".into(),
        hops: Vec::new(),
        status,
        headers: vec![("content-type".to_owned(), content_type.into())],
        body: Redacted::cleaned(body.as_bytes().to_vec()).into(),
        completeness: BodyCompleteness::Whole,
    })
}

fn called(tool: &str, arguments: &Value) -> ToolInvocation {
    let grant = GrantRequest::new(tool, &arguments.to_string(), Path::new("/"));
    let mut invocation = ToolInvocation::of(&grant.output_bytes_max(4096).grant(), Supervision::default());
    invocation.used_by = CredentialUser {
        principal: PrincipalId::from_parts(1, 7),
        run: RunId::from_parts(1, 8),
        effect: EffectId(3),
    };
    invocation.supervision.key = EffectKey([0xab; 32]);
    invocation
}

fn again(first: &ToolInvocation) -> ToolInvocation {
    let mut again = first.clone();
    again.execution = ExecutionAttempt::Again;
    again
}

impl Bench {
    async fn run(&self, tool: &str, arguments: Value) -> Result<ToolResult, WebFailure> {
        self.call(&called(tool, &arguments)).await
    }

    /// Makes a call as its tool does, without the kit around it.
    async fn call(&self, invocation: &ToolInvocation) -> Result<ToolResult, WebFailure> {
        let exchange = (row(invocation).exchange)(&OneServer, invocation)?;
        self.calls.exchange(exchange, invocation).await
    }

    /// Makes a call, and returns what becomes of it.
    async fn outcome(&self, invocation: &ToolInvocation) -> Result<RawToolOutcome, ExecuteToolError> {
        let row = row(invocation);
        let ended = self.calls.call(row.exchange, invocation).await;
        conclude((row.spec)().contract, invocation, ended)
    }

    fn last(&self) -> FetchRequest {
        self.asked.lock().unwrap().last().expect("a request").1.clone()
    }
}

fn row(invocation: &ToolInvocation) -> WebTool {
    TOOLS.into_iter().find(|row| (row.spec)().name == invocation.tool).expect("a tool")
}

#[test]
fn every_argument_declares_what_it_names() {
    for tool in bench(|_| said(200, "text/plain", "")).tools.catalog().iter() {
        let undeclared = palyra_types::argument_meaning::undeclared_properties(&tool.schema);
        assert!(undeclared.is_empty(), "{}: say with `x-palyra-meaning` what {undeclared:?} name", tool.name);
    }
}

#[tokio::test]
async fn a_page_comes_as_markdown_in_a_fence() {
    let bench = bench(|_| said(200, "text/html", "<h1>Tea</h1><p>Hot.</p>"));
    let made = bench.run("http_fetch", json!({"url": "https://a.example/"})).await.unwrap();
    assert_eq!(made.failure, None);
    assert!(made.text.starts_with("[HTTP 200 from https://a.example/; text/html"), "{}", made.text);
    assert!(made.text.contains("\n<fetched-") && made.text.contains("# Tea"), "{}", made.text);
    let (principal, request) = bench.asked.lock().unwrap()[0].clone();
    assert_eq!((principal, request.method), (PrincipalId::from_parts(1, 7), FetchMethod::Get));
    assert!(request.headers.is_empty() && request.credentials.is_empty());
}

#[tokio::test]
async fn a_long_text_comes_in_parts() {
    let text: String = (0..1000).map(|line| format!("line {line}\n")).collect();
    let whole = text.clone();
    let bench = bench(move |_| said(200, "text/plain", &text));
    let (mut offset, mut seen) = (0, String::new());
    loop {
        let made =
            bench.run("http_fetch", json!({"url": "https://a.example/", "offset": offset})).await.unwrap();
        assert!(made.text.len() <= 4096 && made.bytes_total == whole.len() as u64);
        let lines: Vec<&str> = made.text.lines().filter(|line| line.starts_with("line ")).collect();
        seen.push_str(&lines.join("\n"));
        seen.push('\n');
        match made.text.split_once("continue with offset=") {
            Some((_, next)) => offset = next.trim_end_matches(']').parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(seen, whole);
}

#[tokio::test]
async fn a_failing_status_fails_the_call_and_shows_what_was_said() {
    let bench = bench(|_| said(404, "text/plain", "no such page"));
    let made = bench.run("http_fetch", json!({"url": "https://a.example/x"})).await.unwrap();
    assert_eq!(made.failure, Some(ErrorCode::FetchStatus));
    assert!(made.text.contains("HTTP 404") && made.text.contains("no such page"), "{}", made.text);
}

#[tokio::test]
async fn what_is_refused_is_told_with_its_code() {
    let elsewhere = || FetchFailure::HostNotGranted { host: "b.example".to_owned(), port: 443 };
    let bench = bench(move |_| Err(FetchError { failure: elsewhere(), reached: FetchReach::OnlyAsked }));
    let refused = bench.run("http_fetch", json!({"url": "https://a.example/"})).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FetchRefused);
    assert!(refused.to_string().contains("in `hosts`"), "{refused}");
    let unread = bench.run("http_fetch", json!({"url": "ftp://a.example/"})).await.unwrap_err();
    assert_eq!((unread.code(), bench.asked.lock().unwrap().len()), (ErrorCode::FetchRefused, 1));
}

#[tokio::test]
async fn what_is_sent_carries_the_key_of_its_effect() {
    let bench = bench(|_| said(201, "application/json", "{}"));
    let arguments = json!({
        "url": "https://a.example/items", "method": "POST", "body": "{\"a\":1}",
        "headers": {"Content-Type": "application/json"}, "credential": "api",
    });
    let made = bench.run("http_send", arguments).await.unwrap();
    assert_eq!(made.failure, None);
    let request = bench.last();
    assert_eq!((request.method, request.body.expose().as_slice()), (FetchMethod::Post, &b"{\"a\":1}"[..]));
    let header = |name: &str| {
        request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.expose().clone())
    };
    let key = header("idempotency-key").unwrap();
    // The server learns nothing of the key of the effect, of which the fence is made.
    assert!(key.len() == 64 && key != "ab".repeat(32), "{key}");
    assert_eq!(header("content-type").as_deref(), Some("application/json"));
    let used_by = request.credentials[0].used_by.unwrap();
    assert_eq!((used_by.run, used_by.effect), (RunId::from_parts(1, 8), EffectId(3)));
}

#[tokio::test]
async fn after_a_crash_only_what_means_the_same_twice_is_sent_again() {
    for (arguments, is_repeated) in [
        (json!({"url": "https://a.example/", "method": "PUT"}), true),
        (json!({"url": "https://a.example/", "method": "DELETE"}), true),
        (json!({"url": "https://a.example/", "method": "POST", "repeatable": true}), true),
        (json!({"url": "https://a.example/", "method": "POST"}), false),
        (json!({"url": "https://a.example/", "method": "PATCH", "repeatable": false}), false),
    ] {
        let bench = bench(|_| said(200, "text/plain", "done"));
        let first = called("http_send", &arguments);
        bench.outcome(&first).await.unwrap();
        let repeated = bench.outcome(&again(&first)).await;
        let asked = bench.asked.lock().unwrap();
        if is_repeated {
            assert_eq!(repeated.unwrap().failure, None, "{arguments}");
            assert_eq!(asked[0].1.headers, asked[1].1.headers, "the same key");
        } else {
            assert_eq!((repeated.is_err(), asked.len()), (true, 1), "{arguments}");
        }
    }
}

#[tokio::test]
async fn what_keeps_a_repetition_from_being_answered_says_nothing_of_the_first_try() {
    let gone = || FetchFailure::Unreachable {
        host: "a.example".to_owned(),
        port: 443,
        cause: std::io::ErrorKind::ConnectionRefused.into(),
    };
    let bench = bench(move |_| Err(FetchError { failure: gone(), reached: FetchReach::Nobody }));
    for arguments in [
        json!({"url": "https://a.example/", "method": "PUT"}),
        json!({"url": "ftp://a.example/", "method": "PUT"}),
        json!({"url": "https://a.example/", "method": "PUT", "headers": {"cookie": "a"}}),
        json!({"url": "https://a.example/", "method": "SHOUT"}),
    ] {
        let first = called("http_send", &arguments);
        let outcome = bench.outcome(&first).await.expect("it is known that nothing was sent");
        assert!(outcome.failure.is_some(), "{arguments}");
        assert!(bench.outcome(&again(&first)).await.is_err(), "{arguments}");
    }
    let only_asks = called("http_fetch", &json!({"url": "https://a.example/"}));
    let outcome = bench.outcome(&again(&only_asks)).await.expect("it only asks");
    assert_eq!(outcome.failure, Some(ErrorCode::FetchFailed));
}

#[tokio::test]
async fn a_failing_answer_to_a_repetition_may_be_the_first_ones_doing() {
    for status in [404, 412] {
        let bench = bench(move |_| said(status, "text/plain", "no"));
        let first = called("http_send", &json!({"url": "https://a.example/", "method": "DELETE"}));
        let noted = |made: &ToolResult| {
            made.text.lines().next().unwrap().contains("its first try may have been heard")
        };
        let made = bench.call(&first).await.unwrap();
        assert!(made.failure.is_some() && !noted(&made), "{}", made.text);
        let made = bench.call(&again(&first)).await.unwrap();
        assert!(made.failure.is_some() && noted(&made), "{}", made.text);
    }
    let bench = bench(|_| said(200, "text/plain", "done"));
    let first = called("http_send", &json!({"url": "https://a.example/", "method": "DELETE"}));
    let made = bench.call(&again(&first)).await.unwrap();
    assert!(!made.text.contains("first try"), "{}", made.text);
}

#[tokio::test]
async fn what_was_answered_is_no_doubt_even_if_the_rest_is_lost() {
    for (status, failure) in [(201, None), (500, Some(ErrorCode::FetchStatus))] {
        let lost = || FetchFailure::Answer { reason: "its body is damaged or ended too early" };
        let bench =
            bench(move |_| Err(FetchError { failure: lost(), reached: FetchReach::Answered { status } }));
        let made =
            bench.run("http_send", json!({"url": "https://a.example/", "method": "POST"})).await.unwrap();
        assert_eq!(made.failure, failure, "{}", made.text);
        assert!(made.text.contains(&format!("answered with HTTP {status}")), "{}", made.text);
    }
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_hears_that_it_should_stop() {
    let bench = bench(|_| said(200, "text/plain", "done"));
    let _all = bench.calls.fetches.acquire_many(16).await.unwrap();
    let waiting = called("http_send", &json!({"url": "https://a.example/", "method": "POST"}));
    let cancel = waiting.supervision.cancel.clone();
    let mut waits = std::pin::pin!(bench.call(&waiting));
    assert!(futures::poll!(&mut waits).is_pending());
    cancel.cancel();
    let stopped = waits.await.unwrap_err();
    assert_eq!((stopped.code(), bench.asked.lock().unwrap().len()), (ErrorCode::ToolCancelled, 0));
}

#[tokio::test]
async fn an_answer_that_waits_to_be_read_is_known_when_its_call_is_stopped() {
    let bench = bench(|_| said(201, "text/plain", "done"));
    let _all = bench.calls.pages.acquire_many(2).await.unwrap();
    let waiting = called("http_send", &json!({"url": "https://a.example/", "method": "POST"}));
    let cancel = waiting.supervision.cancel.clone();
    let mut waits = std::pin::pin!(bench.call(&waiting));
    assert!(futures::poll!(&mut waits).is_pending());
    cancel.cancel();
    let made = waits.await.unwrap();
    assert!(made.failure.is_none() && made.text.contains("answered with HTTP 201"), "{}", made.text);
}

#[tokio::test]
async fn a_sent_request_that_lost_its_answer_is_in_doubt() {
    for (reached, in_doubt) in [(FetchReach::PerhapsDone, true), (FetchReach::Nobody, false)] {
        let failure = || FetchFailure::Answer { reason: "it ended before its headers did" };
        let bench = bench(move |_| Err(FetchError { failure: failure(), reached }));
        let lost =
            bench.run("http_send", json!({"url": "https://a.example/", "method": "POST"})).await.unwrap_err();
        assert_eq!(lost == WebFailure::InDoubt, in_doubt, "{lost}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_text_leaves_no_doubt_that_there_was_one() {
    let bench = bench(|_| said(200, "image/png", "x"));
    let made = bench.run("http_send", json!({"url": "https://a.example/", "method": "PUT"})).await.unwrap();
    assert!(made.failure.is_none() && made.text.starts_with("the request was heard"), "{}", made.text);
    let refused = bench.run("http_fetch", json!({"url": "https://a.example/"})).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FetchBinary);
}

#[test]
fn the_server_of_a_secret_is_shown_with_its_port_where_it_is_bound_with_one() {
    for (url, server) in [
        ("https://localhost:8443/orders", "localhost:8443"),
        ("https://a.example:443/orders", "a.example"),
        ("https://a.example/orders", "a.example"),
    ] {
        let send = json!({"url": url, "method": "PUT", "credential": "api"}).to_string();
        let fetch = json!({"url": url, "credential": "api"}).to_string();
        for prepared in
            [prepare_send(&OneServer, &sent_as, &send), prepare_fetch(&OneServer, &sent_as, &fetch)]
        {
            let preview = prepared.unwrap().preview;
            assert!(
                preview.expose().contains(&format!("secret: `api`, sent to {server} only\n")),
                "{preview:?}"
            );
        }
    }
}

#[test]
fn a_person_is_shown_what_would_be_sent() {
    let arguments = json!({
        "url": "https://a.example/items", "method": "POST", "body": "{\"a\":1}", "credential": "api",
        "headers": {"content-type": "application/json"}, "hosts": ["b.example"],
    });
    let prepared = prepare_send(&OneServer, &sent_as, &arguments.to_string()).unwrap();
    assert_eq!(
        prepared.summary.expose(),
        "POST https://a.example/items, sends 7 bytes of application/json, carries your secret `api` as bearer"
    );
    let preview = prepared.preview.expose();
    for part in [
        "POST https://a.example/items\n",
        "content-type: application/json\n",
        "`api`, sent to a.example only",
        "b.example",
        "\n\n{\"a\":1}",
    ] {
        assert!(preview.contains(part), "{part} in {preview}");
    }
    let long = json!({"url": "https://a.example/", "method": "PUT", "body": "é".repeat(500_000)});
    let prepared = prepare_send(&OneServer, &sent_as, &long.to_string()).unwrap();
    assert!(prepared.preview.expose().len() <= palyra_types::effect::PREVIEW_BYTES_MAX);
}

#[test]
fn a_fetch_is_said_in_words_and_never_as_json() {
    for (arguments, expect) in [
        (json!({"url": "https://a.example/v1/items"}), "GET https://a.example/v1/items"),
        (json!({"url": "https://a.example/", "method": "HEAD"}), "HEAD https://a.example/"),
        (
            json!({"url": "https://a.example/v1", "credential": "api"}),
            "GET https://a.example/v1, carries your secret `api` as bearer",
        ),
        (
            json!({"url": "https://a.example/v1", "credential": "other"}),
            "GET https://a.example/v1, carries your secret `other`",
        ),
    ] {
        let prepared = prepare_fetch(&OneServer, &sent_as, &arguments.to_string()).unwrap();
        assert_eq!(prepared.summary.expose(), expect);
    }
    let more = json!({
        "url": format!("https://a.example/{}", "x".repeat(900)), "headers": {"accept": "text/plain"}, "hosts": ["b.example"],
    });
    let prepared = prepare_fetch(&OneServer, &sent_as, &more.to_string()).unwrap();
    assert!(prepared.summary.expose().ends_with("x…"), "{}", prepared.summary.expose());
    let preview = prepared.preview.expose();
    for part in [&format!("/{}\n", "x".repeat(900)), "accept: text/plain\n", "redirects also to: b.example\n"]
    {
        assert!(preview.contains(part), "{part} in {preview}");
    }
    let bare = json!({"url": "https://a.example/", "method": "DELETE"});
    let prepared = prepare_send(&OneServer, &sent_as, &bare.to_string()).unwrap();
    assert_eq!(prepared.summary.expose(), "DELETE https://a.example/, sends no body");
}

#[test]
fn an_address_that_is_refused_anyway_is_not_asked_about() {
    let refused = |url: &str| {
        let fetch = json!({"url": url}).to_string();
        let send = json!({"url": url, "method": "PUT"}).to_string();
        [prepare_fetch(&OneServer, &sent_as, &fetch), prepare_send(&OneServer, &sent_as, &send)]
    };
    for prepared in refused("https://private.example/") {
        let refusal = prepared.unwrap_err();
        assert_eq!(refusal.code(), ErrorCode::FetchRefused);
        assert_eq!(refusal.to_string(), "`private.example` is refused here; nothing was sent");
    }
    // The control.
    assert!(refused("https://a.example/").iter().all(Result::is_ok));
}

#[tokio::test]
async fn a_body_is_measured_in_bytes() {
    let bench = bench(|_| said(200, "text/plain", "done"));
    let send = |body: String| {
        bench.run("http_send", json!({"url": "https://a.example/", "method": "PUT", "body": body}))
    };
    let most = 1 << 20;
    send("\u{e9}".repeat(most / 2)).await.unwrap();
    assert_eq!(bench.last().body.expose().len(), most);
    let refused = send("\u{e9}".repeat(most / 2 + 1)).await.unwrap_err();
    assert!(matches!(refused, WebFailure::Arguments(_)), "{refused}");
    assert_eq!(bench.asked.lock().unwrap().len(), 1);
}

#[test]
fn the_catalogue_says_what_each_tool_may_do_when_it_is_cut_off() {
    let bench = bench(|_| said(200, "text/plain", ""));
    let contracts: Vec<_> = bench
        .tools
        .catalog()
        .iter()
        .map(|tool| (tool.name.as_str().to_owned(), tool.contract, tool.taints))
        .collect();
    assert_eq!(
        contracts,
        [
            ("http_fetch".to_owned(), EffectContract::Pure, Taints::WEB),
            ("http_send".to_owned(), EffectContract::Keyed, Taints::WEB)
        ]
    );
}

#[tokio::test]
async fn a_tool_of_another_name_sends_nothing() {
    let bench = bench(|_| said(200, "text/plain", "done"));
    let arguments = json!({"url": "https://a.example/", "method": "POST", "body": "x"});
    let other = || {
        let request = GrantRequest::new("http_other", &arguments.to_string(), Path::new("/"));
        request.contract(EffectContract::Keyed)
    };
    for grant in [other().grant(), other().repeated()] {
        let refused = bench.tools.execute(grant, Supervision::default()).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::ToolUnknown);
    }
    assert!(bench.asked.lock().unwrap().is_empty());
    // The control: the tool that sends.
    bench.run("http_send", arguments).await.unwrap();
    assert_eq!(bench.asked.lock().unwrap().len(), 1);
}
