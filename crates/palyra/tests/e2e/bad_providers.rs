//! A provider that misbehaves in every way there is: what the person sees, and that the session goes on.

use palyra_model_server::{Behaviour, Fault, Reply, RetryAfter, Tear};
use palyra_testkit::Gate;

use crate::home::{Home, ended};
use crate::openai_server::{home_with, runtime, serve};

/// One way to misbehave and what comes of it.
struct Case {
    reply: Reply,
    /// How often the model misbehaves, and is asked, before it answers or the run gives up.
    asked: usize,
    exit: i32,
    out: &'static str,
    /// What standard error holds.
    err: &'static str,
}

fn case(reply: Reply, exit: i32, out: &'static str, err: &'static str) -> Case {
    Case { reply, asked: 1, exit, out, err }
}

/// A failure that lasts: the model is asked so often, and then the run fails with nothing on standard output.
fn fails(reply: impl Into<Reply>, asked: usize, err: &'static str) -> Case {
    Case { asked, ..case(reply.into(), 1, "", err) }
}

const READ: &str = "{\"path\":\"a.md\"}";

/// The server checks like OpenAI: a request with unpaired calls and results is answered 400.
fn play(cases: Vec<Case>) {
    let runtime = runtime();
    for Case { reply, asked, exit, out, err } in cases {
        let shown: String = format!("{reply:?}").chars().take(160).collect();
        let second = Behaviour::times(asked, reply).then(Reply::text("Second.")).then(Reply::text("Third."));
        let server = serve(&runtime, second);
        let home = home_with(&server);
        home.write("a.md", "# A\n");
        let first = home.palyra(&["run", "--session", "s", "do it"]);
        assert_eq!((first.code, first.out.as_str()), (exit, out), "{shown}:\n{}", first.err);
        assert!(first.err.contains(err), "{shown}: wanted {err}\nbut:\n{}", first.err);
        assert!(!first.err.contains('\u{1b}') && !first.err.contains("docs/errors"), "{}", first.err);
        assert!(exit != 1 || server.asked().len() == asked, "{shown}: {} requests", server.asked().len());
        let again = home.palyra(&["run", "--session", "s", "again"]);
        assert_eq!(again.code, 0, "{shown}: the next run:\n{}", again.err);
        assert!(["Second.\n", "Third.\n"].contains(&again.out.as_str()), "{}", again.out);
        assert_eq!(server.counts().invalid, 0, "{shown}");
        home.palyra(&["journal", "verify"]).expect(0);
    }
}

#[test]
fn an_answer_that_is_none_fails_the_run_in_plain_words() {
    let garbage = Reply::raw("text/event-stream", b"\x00\xff garbage \n\n\r\r");
    play(vec![
        fails(
            Fault::HtmlPage(200),
            2,
            "error[PLY-3009]: the reply is neither an event stream nor JSON\n  try again; ",
        ),
        fails(garbage, 2, "error[PLY-3009]: "),
        fails(Reply::raw("text/event-stream", b""), 2, "error[PLY-3009]: "),
        fails(Reply::empty().call("", "{}"), 2, "error[PLY-3009]: a tool call has no name"),
        fails(
            Reply::status(500, "<html>\u{1b}[31mboom</html>"),
            3,
            "error[PLY-3005]: HTTP 500: the server answers with a web page",
        ),
        fails(Reply::error(400, "odd", "\u{1b}]0;x\u{7} thing"), 1, "error[PLY-3006]: HTTP 400: "),
        fails(
            Fault::RateLimit(RetryAfter::Seconds(5 * 3_600)),
            1,
            "error[PLY-3003]: the provider takes no request before ",
        ),
        fails(Fault::Quota, 1, "error[PLY-3004]: HTTP 429: You exceeded your current quota"),
        fails(Fault::Permission, 1, "error[PLY-3002]: HTTP 403: "),
        fails(Fault::ContextExceeded, 1, "error[PLY-3007]: "),
        fails(Fault::ContentPolicy, 1, "error[PLY-3008]: "),
        fails(Fault::Reset, 3, "error[PLY-3010]: "),
        case(Reply::empty(), 0, "", "! the model returned an empty answer\n"),
        case(Reply::text("all well").with_unknown_fields().finish("weird"), 0, "all well\n", ""),
    ]);
}

#[test]
fn half_an_answer_does_not_count_and_is_never_there_twice() {
    let broke = "error[PLY-3010]: the connection broke in the middle of the answer: ";
    let ended = "error[PLY-3009]: the answer ended without a finish reason\n";
    let twice = "error[PLY-3009]: the answer went on after its end\n";
    let calling = || Reply::text("Look. ").call("read_file", READ);
    play(vec![
        fails(Reply::text("one two").torn(Tear::MidFrame), 2, broke),
        fails(Reply::text("one two").torn(Tear::CleanEnd), 2, ended),
        fails(calling().torn(Tear::MidFrame), 2, broke),
        fails(calling().torn(Tear::CleanEnd), 2, ended),
        fails(Reply::text("one").twice(), 2, twice),
        fails(Reply::empty().call("read_file", READ).twice(), 2, twice),
        case(Reply::text("one two").torn(Tear::MidFrame), 0, "Second.\n", "it begins again"),
        case(Fault::Server(503).into(), 0, "Second.\n", "; asking again"),
        case(Reply::text("cut").finish("length"), 0, "cut\n", "! the answer was cut off"),
        case(Reply::text("ab").finish("content_filter"), 1, "ab\n", "error[PLY-3008]: "),
    ]);
}

#[test]
fn a_call_that_makes_no_sense_is_told_to_the_model_and_the_run_goes_on() {
    let invalid = "✗ denied (PLY-4002 invalid_arguments): the arguments of `read_file` do not fit: ";
    let call = |arguments: &str| Reply::empty().call("read_file", arguments);
    let deep = format!("{{\"path\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let mut cases: Vec<_> = [
        "{\"path\": ",
        "[1]",
        "",
        "\u{0}",
        "{\"path\":\"a.md\",\"path\":\"b.md\"}",
        "{\"path\":\"\\ud800\"}",
        "{\"path\":1e400}",
        deep.as_str(),
    ]
    .map(|arguments| case(call(arguments), 0, "Second.\n", invalid))
    .into();
    cases.extend([
        case(call("{\"path\":\"a").finish("length"), 0, "Second.\n", invalid),
        case(
            Reply::empty().call("no tool \u{1b}[31m", "{}"),
            0,
            "Second.\n",
            "✗ denied (PLY-4001 unknown_tool): there is no tool `no tool ",
        ),
        case(
            call(READ).call("read_file", READ).call("x", "nonsense"),
            0,
            "Second.\n",
            "✗ x: denied (PLY-4001 unknown_tool)",
        ),
        case(call("{\"path\":\"/etc/passwd\"}"), 3, "Second.\n", "✗ denied (PLY-4003 forbidden): "),
        case(call("{\"path\":\"../a.md\"}"), 3, "Second.\n", "✗ denied (PLY-4003 forbidden): "),
        case(call("{\"path\":\"none.md\"}"), 0, "Second.\n", "✗ PLY-4009 "),
    ]);
    play(cases);
}

#[test]
fn a_server_that_is_not_there_or_redirects_is_told_without_a_library_s_words() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    drop(taken);
    let home =
        Home::new().with("OPENAI_BASE_URL", &format!("http://{address}/v1")).with("PALYRA_MODEL", "any");
    let ended = home.palyra(&["run", "hello"]).expect(1);
    let told = format!(
        "error[PLY-3010]: no connection to the server at {address}: Connection refused (os error 111)\n  check the provider's address"
    );
    assert!(ended.err.contains(&told), "{}", ended.err);
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::status(302, "").header("Location", "http://x/")));
    let ended = home_with(&server).palyra(&["run", "hello"]).expect(1);
    assert!(
        ended.err.contains("error[PLY-3006]: HTTP 302: the server answers with a redirect"),
        "{}",
        ended.err
    );
}

#[test]
fn a_server_that_never_answers_is_left_by_a_cancel_and_the_session_goes_on() {
    let runtime = runtime();
    let gate = Gate::closed();
    for (reply, speaks) in [(Reply::silent(), None), (Reply::text("one two").hold(&gate), Some(&gate))] {
        let server = serve(&runtime, Behaviour::each(vec![reply, Reply::text("Second.")]));
        let home = home_with(&server);
        let child = home.command(&["run", "--session", "s", "do it"]).spawn().unwrap();
        runtime.block_on(server.wait_asked(1));
        if let Some(gate) = speaks {
            runtime.block_on(gate.reached());
        }
        home.palyra(&["runs", "cancel", "last"]).expect(0);
        let left = ended(child).expect(130);
        assert!(left.err.contains("· cancelled\n"), "{}", left.err);
        runtime.block_on(server.wait_until(|counts| counts.aborted == 1));
        let run = &home.palyra(&["runs", "show", "last", "--json"]).expect(0).json()[0];
        assert_eq!(run["state"], "RUN_STATE_CANCELLED");
        let again = home.palyra(&["run", "--session", "s", "again"]).expect(0);
        assert_eq!(again.out, "Second.\n");
        let asked = server.requests().last().unwrap().body["messages"].to_string();
        assert!(asked.contains("do it") && asked.contains("again"), "what was typed stays: {asked}");
        home.palyra(&["journal", "verify"]).expect(0);
    }
}

#[test]
fn a_test_of_a_model_asks_a_server_also_while_requests_to_it_pause() {
    let runtime = runtime();
    let broken = Behaviour::times(6, Fault::Reset);
    let server = serve(&runtime, broken.then_times(9, Reply::text("Well again.")));
    let home = home_with(&server);
    home.palyra(&["run", "--session", "s", "one"]).expect(1);
    let second = home.palyra(&["run", "--session", "s", "two"]).expect(1).err;
    assert!(second.contains("requests to all of its models pause"), "{second}");
    let asked = server.asked().len();
    home.palyra(&["model", "test"]);
    assert!(server.asked().len() > asked, "the pause is no reason not to test");
    for _ in server.asked().len()..6 {
        home.palyra(&["model", "test"]);
    }
    let well = home.palyra(&["model", "test"]).expect(0);
    assert!(well.out.contains("answers"), "{}", well.out);
    assert_eq!(home.palyra(&["run", "--session", "s", "three"]).expect(0).out, "Well again.\n");
}
