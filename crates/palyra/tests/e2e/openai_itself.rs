//! A daemon whose model is itself finds so with the first request, and refuses it.

use std::os::unix::fs::PermissionsExt;

use crate::home::Home;
use crate::openai_clients::{HttpDaemon, token_of};

#[test]
fn a_daemon_whose_model_is_itself_refuses_its_own_request_and_starts_no_second_run() {
    let home = Home::new().with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    let daemon = HttpDaemon::start(&home);
    let base_url = daemon.base_url().to_owned();
    let key = home.state_dir().with_file_name("own-token");
    std::fs::write(&key, token_of(&home, "user:alice")).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let reference = format!("file:{}", key.display());
    let added = home.palyra(&[
        "model",
        "add",
        "self",
        "--base-url",
        &base_url,
        "--model",
        "palyra",
        "--key",
        &reference,
    ]);
    let added = added.expect(2);
    assert!(added.err.contains("is this daemon itself"), "{}", added.err);
    home.configure(&format!("[providers.self]\nbase_url = \"{base_url}\"\nkey = \"{reference}\"\n"));
    home.palyra(&["config", "reload"]).expect(0);
    let refused = home.palyra(&["run", "--model", "self/palyra", "hello"]).expect(1);
    assert!(refused.err.contains("this gateway is its own model"), "{}", refused.err);
    assert!(refused.err.contains("gateway_loop"), "{}", refused.err);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), 1, "{runs:?}");
    daemon.stop();
}
