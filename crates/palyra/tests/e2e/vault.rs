//! The vault, as its owner uses it: a secret is kept, bound and rotated, outlives the daemon, and is shown to nobody.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use palyra_model_server::{Behaviour, Reply};
use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::home::{Ended, Home, until_ended};
use crate::openai_server::{runtime, serve};
use crate::redaction::{files, forms, holds};

/// A value that no rule knows.
const VALUE: &str = "walnut-harbour-lantern-0417";

fn vault(home: &Home, words: &[&str]) -> Ended {
    home.palyra(&[&["admin", "vault"], words].concat())
}

fn put(home: &Home, words: &[&str], value: &str) -> Ended {
    home.palyra_reading(&[&["admin", "vault"], words].concat(), &format!("{value}\n"))
}

/// Returns the kinds of the entries that are about the vault, in order.
fn recorded(home: &Home) -> Vec<String> {
    let entries = home.palyra(&["journal", "show", "--limit", "1000", "--json"]).expect(0).json();
    let kinds = entries.iter().map(|entry| entry["kind"].as_str().unwrap().to_owned());
    kinds.filter(|kind| kind.starts_with("secret_") || kind.starts_with("vault_")).collect()
}

fn kill(home: &Home) {
    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
}

#[track_caller]
fn is_nowhere(home: &Home, value: &str, told: &[&Ended]) {
    let mut places: Vec<(String, Vec<u8>)> = Vec::new();
    for ended in told {
        places.push(("what was told".to_owned(), [ended.out.as_bytes(), ended.err.as_bytes()].concat()));
    }
    files(&home.state_dir(), &mut places);
    assert!(places.iter().any(|(place, _)| place.ends_with(".sealed.json")), "it is sealed somewhere");
    for (place, bytes) in &places {
        for (form, wanted) in forms(value) {
            assert!(!holds(bytes, &wanted), "{place} holds the value: {form}");
        }
    }
}

fn check<'c>(checks: &'c [Value], name: &str) -> &'c Value {
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name} in {checks:?}"))
}

#[test]
fn a_host_that_is_likely_plain_is_told_of_at_once_and_the_list_says_who_uses_a_secret() {
    let home = Home::new();
    for (host, is_told) in
        [("127.0.0.1:8123", true), ("localhost:8123", true), ("api.forge.example:8443", false)]
    {
        let kept = put(&home, &["put", "local", "--host", host], VALUE).expect(0);
        let told = format!(
            "calls of tools send a secret over https:// only, so one of http://{host} that names it is refused, and a server that speaks http:// alone gets none; as the \
             key of a model server, which is on this machine, it is sent over http:// too"
        );
        assert_eq!(
            kept.err.split_whitespace().collect::<Vec<_>>().join(" ").contains(&told),
            is_told,
            "{}",
            kept.err
        );
        vault(&home, &["remove", "local"]).expect(0);
    }
    put(&home, &["put", "forge", "--host", "api.forge.example"], VALUE).expect(0);
    let listed = vault(&home, &["list"]).expect(0).out;
    assert!(listed.lines().any(|line| line.starts_with("forge") && line.contains("  owner  ")), "{listed}");
}

#[test]
fn a_secret_is_kept_bound_and_shown_to_nobody() {
    let home = Home::new().with("PALYRA_LOG", "trace");
    let kept = put(&home, &["put", "forge", "--host", "API.forge.example.", "--as", "X-Api-Key"], VALUE);
    let kept = kept.expect(0);
    assert!(
        kept.err.contains("saved secret forge (version 1), sent as x-api-key to api.forge.example"),
        "{}",
        kept.err
    );
    let bound = vault(&home, &["bind", "forge", "uploads.forge.example:8443", "--json"]).expect(0);
    let hosts = &bound.json()[0]["hosts"];
    assert_eq!(*hosts, serde_json::json!(["api.forge.example", "uploads.forge.example:8443"]));
    let listed = vault(&home, &["list"]).expect(0);
    assert!(listed.out.contains("forge") && listed.out.contains("x-api-key"), "{}", listed.out);
    let again = put(&home, &["put", "forge"], "another-value-entirely").expect(1);
    assert!(again.err.contains("palyra admin vault rotate forge"), "{}", again.err);
    is_nowhere(&home, VALUE, &[&kept, &bound, &listed, &again]);

    // It outlives the daemon, whatever ends it.
    kill(&home);
    home.write("told.txt", &format!("the key is {VALUE}, and walnut stays\n"));
    let told = home.palyra(&["run", "read told.txt"]);
    let tape = home.palyra(&["runs", "tail", "last", "--json"]);
    assert!(tape.out.contains("the key is <secret:vault>, and walnut stays"), "{}", tape.out);
    let listed = vault(&home, &["list", "--json"]).expect(0);
    assert_eq!(listed.json()[0]["version"], 1);
    is_nowhere(&home, VALUE, &[&told, &tape, &listed]);

    let other = "copper-meadow-thimble-2201";
    let rotated = put(&home, &["rotate", "forge", "--json"], other).expect(0);
    assert_eq!((&rotated.json()[0]["version"], &rotated.json()[0]["hosts"]), (&2.into(), hosts));
    home.write("both.txt", &format!("was {VALUE}, is {other}\n"));
    home.palyra(&["run", "read both.txt"]);
    let tape = home.palyra(&["runs", "tail", "last", "--json"]);
    assert!(
        tape.out.contains("was <secret:vault>, is <secret:vault>"),
        "a former value counts: {}",
        tape.out
    );
    vault(&home, &["unbind", "forge", "uploads.forge.example:8443"]).expect(0);
    vault(&home, &["remove", "forge"]).expect(0);
    vault(&home, &["remove", "forge"]).expect(1);
    assert!(vault(&home, &["list", "--json"]).expect(0).out.is_empty());
    assert_eq!(
        recorded(&home),
        ["secret_put", "secret_bound", "secret_put", "secret_bound", "secret_removed"]
    );
    home.palyra(&["journal", "verify"]).expect(0);
    // The control: the same search finds what is no secret.
    let mut found = Vec::new();
    files(&home.state_dir(), &mut found);
    assert!(found.iter().any(|(_, bytes)| holds(bytes, b"and walnut stays")));
}

/// A model's server uses a key of the vault as long as the vault gives it out, and not until the configuration is read again.
#[test]
fn a_model_loses_its_key_with_the_binding_and_has_it_back_with_a_new_one() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("Here I am.")).with_key(VALUE));
    let home = Home::new();
    let host = server.base_url().trim_start_matches("http://").split('/').next().unwrap().to_owned();
    put(&home, &["put", "box-key", "--host", &host], VALUE).expect(0);
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "[model]\ndefault = \"box/test-model\"\n[providers.box]\nbase_url = \"{}\"\nkey = \"vault:box-key\"\n",
        server.base_url()
    );
    std::fs::write(home.config_file(), text).unwrap();
    home.palyra(&["config", "reload"]).expect(0);
    let asks = || home.palyra(&["run", "hello"]);
    assert_eq!(asks().expect(0).out, "Here I am.\n");
    let asked = server.asked().len();
    vault(&home, &["unbind", "box-key", &host]).expect(0);
    let refused = asks().expect(1);
    assert!(refused.err.contains("palyra admin vault bind box-key"), "{}", refused.err);
    assert_eq!(server.asked().len(), asked, "nothing is sent with a key that is not bound any more");
    vault(&home, &["bind", "box-key", &host]).expect(0);
    assert_eq!(asks().expect(0).out, "Here I am.\n");
    vault(&home, &["remove", "box-key"]).expect(0);
    asks().expect(1);
    assert_eq!(server.asked().len(), asked + 1);
}

/// The value of a key is replaced without a reload, and a look at the configuration names the key of the default model.
#[test]
fn a_key_that_was_rotated_is_used_at_once_and_one_that_was_removed_is_named() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("Here I am.")).with_key(VALUE));
    let home = Home::new();
    let host = server.base_url().trim_start_matches("http://").split('/').next().unwrap().to_owned();
    put(&home, &["put", "box-key", "--host", &host], VALUE).expect(0);
    home.configure(&format!(
        "[model]\ndefault = \"box/test-model\"\n[providers.box]\nbase_url = \"{}\"\nkey = \"vault:box-key\"\n",
        server.base_url()
    ));
    home.palyra(&["config", "reload"]).expect(0);
    for (value, code) in [("walnut-lantern-harbour-7140", 1), (VALUE, 0)] {
        put(&home, &["rotate", "box-key"], value).expect(0);
        home.palyra(&["run", "hello"]).expect(code);
    }
    let same = home.palyra(&["config", "reload"]).expect(0);
    assert!(same.err.contains("no setting changed (secrets of the vault are used at once"), "{}", same.err);
    let whole = home.palyra(&["config", "check"]).expect(0);
    assert!(!whole.err.contains("no key"), "{}", whole.err);

    let removed = vault(&home, &["remove", "box-key"]).expect(0);
    assert!(removed.err.contains("the key of the server `box`"), "{}", removed.err);
    let checked = home.palyra(&["config", "check"]).expect(0);
    assert!(checked.err.contains("! the default model has no key in the running daemon"), "{}", checked.err);
    let put_again = format!("`palyra admin vault put box-key --host {host}`");
    assert!(checked.err.contains(&put_again), "{}", checked.err);
    let refused = home.palyra(&["config", "reload"]).expect(2);
    assert!(refused.out.contains(&put_again), "{}", refused.out);
    put(&home, &["put", "box-key", "--host", &host], VALUE).expect(0);
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "Here I am.\n");
}

#[test]
fn a_passphrase_locks_the_vault_at_each_start() {
    let home = Home::new();
    put(&home, &["put", "forge", "--host", "api.forge.example"], VALUE).expect(0);
    let status = vault(&home, &["status"]).expect(0);
    assert!(
        status.out.contains("1 secret, encrypted with a key file in the state directory (vault/root.key"),
        "{}",
        status.out
    );
    let key = home.state_dir().join("vault/root.key");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let doctor = home.palyra(&["doctor", "--json"]).json();
    assert!(check(&doctor, "vault")["found"].as_str().unwrap().contains("`vault/root.key`"));

    let passphrase = "a heron on the eastern jetty";
    let set = put(&home, &["passphrase", "--json"], passphrase).expect(0);
    assert_eq!((&set.json()[0]["key"], &set.json()[0]["open"]), (&"passphrase".into(), &true.into()));
    assert!(!key.exists(), "the key file went with what it sealed");
    is_nowhere(&home, passphrase, &[&set]);
    kill(&home);
    let status = vault(&home, &["status", "--json"]).expect(0);
    assert_eq!(status.json()[0]["open"], false);
    assert_eq!(vault(&home, &["list", "--json"]).expect(0).json()[0]["name"], "forge");
    let refused = put(&home, &["put", "other"], "another-value-entirely").expect(1);
    assert!(refused.err.contains("PLY-4604"), "{}", refused.err);
    let wrong = put(&home, &["unlock"], "a heron on the western jetty").expect(1);
    assert!(wrong.err.contains("PLY-4606"), "{}", wrong.err);
    let doctor = home.palyra(&["doctor", "--json"]).json();
    assert_eq!(check(&doctor, "vault")["level"], "warning");

    // The control: while it is locked, nobody knows what to look for; the passphrase opens it for the daemon's life.
    home.write("told.txt", &format!("the key is {VALUE}\n"));
    home.palyra(&["run", "read told.txt"]);
    assert!(home.palyra(&["runs", "tail", "last", "--json"]).out.contains(VALUE));
    let opened = put(&home, &["unlock"], passphrase).expect(0);
    assert!(opened.err.contains("the vault is open"), "{}", opened.err);
    home.palyra(&["run", "read told.txt"]);
    assert!(home.palyra(&["runs", "tail", "last", "--json"]).out.contains("the key is <secret:vault>"));
    put(&home, &["put", "other"], "another-value-entirely").expect(0);
    let wanted = ["secret_put", "vault_passphrase_set", "vault_unlocked", "vault_unlocked", "secret_put"];
    assert_eq!(recorded(&home), wanted);
}
