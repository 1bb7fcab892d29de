//! Adding a model: tested first, saved then, taken on at once.

use palyra_testkit::model_server::{Behaviour, Reply};

use crate::home::Home;
use crate::openai_server::{runtime, serve};

#[test]
fn a_model_that_answers_is_saved_and_used_by_the_running_daemon() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("At your service.")).with_key("sesame"));
    let home = Home::new().with("BOX_KEY", "sesame");
    home.palyra(&["run", "hello"]).expect(0);
    let url = server.base_url();
    let add = ["model", "add", "box", "--base-url", &url, "--model", "test-model", "--key", "env:BOX_KEY"];
    let added = home.palyra(&add).expect(0);
    assert!(added.out.starts_with("ok: box/test-model answers"), "{}", added.out);
    assert!(added.err.contains("✓ the running daemon uses it"), "{}", added.err);
    let text = std::fs::read_to_string(home.config_file()).unwrap();
    assert!(text.contains("key = \"env:BOX_KEY\"") && !text.contains("sesame"), "{text}");
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "At your service.\n");
    home.palyra(&["model", "test", "box/test-model"]).expect(0);
    let listed = home.palyra(&["model", "list"]).expect(0);
    assert!(listed.out.contains("*  box/test-model"), "{}", listed.out);
}

#[test]
fn a_model_that_does_not_answer_is_not_saved() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("hi")).with_key("sesame"));
    let home = Home::new();
    let url = server.base_url();
    let refused =
        home.palyra(&["model", "add", "box", "--base-url", &url, "--model", "test-model"]).expect(1);
    assert!(
        refused.err.contains("error[PLY-3001]") && refused.err.contains("stays as it was"),
        "{}",
        refused.err
    );
    assert!(!home.config_file().exists());
    let key = home
        .palyra(&["model", "add", "box", "--base-url", &url, "--model", "m", "--key", "sk-sesame"])
        .expect(2);
    assert!(!key.err.contains("sesame"), "{}", key.err);
}
