//! Over TCP with a token: less than over the socket, and nothing without one.

use std::io::BufReader;

use rustix::process::Signal;

use crate::home::{Home, ended, read_until, signal};

#[test]
fn a_token_opens_the_tcp_listener_and_nothing_else_does() {
    let home = Home::new();
    let mut daemon = home.command(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut out = BufReader::new(daemon.stdout.take().unwrap());
    read_until(&mut out, "\"ready\":true");
    let checks = home.palyra(&["doctor", "--json"]).expect(0).json();
    let listening =
        checks.iter().find(|check| check["name"] == "listening").unwrap()["found"].as_str().unwrap();
    let address = listening.split(", ").find_map(|one| one.split("127.0.0.1:").nth(1)).unwrap();
    let address = format!("http://127.0.0.1:{address}");

    let made = home.palyra(&["admin", "tokens", "create", "user:alice"]).expect(0);
    let token = made.out.trim().to_owned();
    let without = home.palyra(&["--connect", &address, "run", "hello"]).expect(1);
    assert!(without.err.contains("error[PLY-1201]"), "{}", without.err);
    let home = home.with("PALYRA_TOKEN", &token);
    let with = home.palyra(&["--connect", &address, "run", "hello"]).expect(0);
    assert!(!with.out.is_empty());
    let theirs = home.palyra(&["--connect", &address, "runs", "list", "--json"]).expect(0).json();
    let ours = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!((theirs.len(), ours.len()), (1, 0), "another principal sees nothing");
    let admin = home.palyra(&["--connect", &address, "admin", "tokens", "list"]).expect(1);
    assert!(admin.err.contains("error[PLY-1202]"), "{}", admin.err);

    let listed = home.palyra(&["admin", "tokens", "list", "--json"]).expect(0).json();
    home.palyra(&["admin", "tokens", "revoke", listed[0]["token_id"].as_str().unwrap()]).expect(0);
    home.palyra(&["--connect", &address, "runs", "list"]).expect(1);
    signal(&daemon, Signal::TERM);
    drop(out);
    ended(daemon).expect(0);
}
