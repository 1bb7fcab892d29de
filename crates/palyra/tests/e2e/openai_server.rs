//! A server named by the environment is used, and its failures are told.

use std::time::Duration;

use palyra_model_server::{Behaviour, ModelServer, Reply};

use crate::home::Home;

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

pub(crate) fn serve(runtime: &tokio::runtime::Runtime, behaviour: Behaviour) -> ModelServer {
    runtime.block_on(ModelServer::start(behaviour)).unwrap()
}

pub(crate) fn home_with(server: &ModelServer) -> Home {
    Home::new()
        .with("OPENAI_BASE_URL", &server.base_url())
        .with("OPENAI_API_KEY", "sesame")
        .with("PALYRA_MODEL", "test-model")
}

#[test]
fn a_server_named_by_the_environment_reads_and_answers() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::assistant(Duration::from_millis(5)).with_key("sesame"));
    let home = home_with(&server);
    home.write("README.md", "# Lantern 4711\n\nIt shines.\n");
    let ended = home.palyra(&["run", "Read README.md and tell me what this project does"]).expect(0);
    assert!(ended.out.contains("Lantern 4711"), "{}", ended.out);
    assert!(ended.err.contains("· read_file {\"path\":\"README.md\"}\n✓ "), "{}", ended.err);
    let asked: Vec<_> =
        server.requests().into_iter().filter(|request| request.path.contains("chat")).collect();
    assert_eq!(asked.len(), 2);
    for request in &asked {
        assert_eq!(request.authorization.as_deref(), Some("Bearer sesame"));
        assert_eq!((&request.body["stream"], &request.body["model"]), (&true.into(), &"test-model".into()));
    }
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn a_refused_key_fails_the_run_and_is_told_with_a_mend() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("hi")).with_key("another"));
    let ended = home_with(&server).palyra(&["run", "hello"]).expect(1);
    assert!(
        ended.err.contains("error[PLY-3001]: ")
            && ended.err.contains("then the same command again: an idle daemon"),
        "{}",
        ended.err
    );
    assert!(!ended.err.contains("sesame"), "{}", ended.err);
}

#[test]
fn what_a_model_says_stays_exact_in_a_pipe() {
    let runtime = runtime();
    let said = "tab\tred \u{1b}[31m\u{202e}\r\nend";
    let server = serve(&runtime, Behaviour::always(Reply::text(said)));
    let home = home_with(&server);
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, format!("{said}\n"));
    let json = home.palyra(&["run", "--json", "hello"]).expect(0);
    let clean = |c: char| c == '\n' || (!c.is_control() && c != '\u{202e}');
    assert!(json.out.chars().all(clean), "{}", json.out);
    let whole: String = json.json().iter().filter_map(|entry| entry["model_text"]["text"].as_str()).collect();
    assert_eq!(whole, said);
}

#[test]
fn an_answer_without_end_is_cut_off_at_the_limit_of_tokens() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text(&"word ".repeat(3_000)).without_usage()));
    let home = home_with(&server).with("PALYRA__LIMITS__OUTPUT_TOKENS_MAX", "50");
    let ended = home.palyra(&["run", "hello"]).expect(1);
    assert!(ended.err.contains("error[PLY-5001]: the run used all the tokens it may write"), "{}", ended.err);
    assert!(ended.out.starts_with(&"word ".repeat(40)), "what was received is shown: {}", ended.out);
    let asked: Vec<_> = server.asked().iter().map(|request| request.body["max_tokens"].clone()).collect();
    assert_eq!(asked, [50]);
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).json();
    let said: String = tape.iter().filter_map(|entry| entry["model_text"]["text"].as_str()).collect();
    assert!(said.starts_with(ended.out.trim_end()), "{said}");
    home.palyra(&["journal", "verify"]).expect(0);
    // Without the limit the same answer is a whole one.
    let home = home_with(&server);
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out.trim_end(), "word ".repeat(3_000).trim_end());
}
