//! Over TCP with a token: less than over the socket, and nothing without one.

use std::io::BufReader;
use std::process::{Child, ChildStdout, Stdio};

use rustix::process::Signal;

use crate::home::{Home, ended, read_until, signal};

/// A daemon with a TCP listener, in the foreground.
pub(crate) struct Serving {
    pub(crate) daemon: Child,
    out: BufReader<ChildStdout>,
    pub(crate) address: String,
}

impl Serving {
    pub(crate) fn start(home: &Home) -> Self {
        let mut daemon = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut daemon = daemon.stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(daemon.stdout.take().unwrap());
        read_until(&mut out, "\"ready\":true");
        let checks = home.palyra(&["doctor", "--json"]).expect(0).json();
        let listening =
            checks.iter().find(|check| check["name"] == "listening").unwrap()["found"].as_str().unwrap();
        let address = listening.split(", ").find_map(|one| one.split("127.0.0.1:").nth(1)).unwrap();
        let address = format!("http://127.0.0.1:{address}");
        Self { daemon, out, address }
    }

    pub(crate) fn stop(self) {
        signal(&self.daemon, Signal::TERM);
        drop(self.out);
        ended(self.daemon).expect(0);
    }
}

pub(crate) fn token(home: &Home, principal: &str) -> String {
    home.palyra(&["admin", "tokens", "create", principal]).expect(0).out.trim().to_owned()
}

#[test]
fn a_token_opens_the_tcp_listener_and_nothing_else_does() {
    let home = Home::new();
    let serving = Serving::start(&home);
    let address = serving.address.clone();

    let token = token(&home, "user:alice");
    let without = home.palyra(&["--connect", &address, "run", "hello"]).expect(1);
    assert!(without.err.contains("error[PLY-1201]"), "{}", without.err);
    let home = home.with("PALYRA_TOKEN", &token);
    let with = home.palyra(&["--connect", &address, "run", "hello"]).expect(0);
    assert!(!with.out.is_empty());
    let theirs = home.palyra(&["--connect", &address, "runs", "list", "--json"]).expect(0).json();
    let ours = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!((theirs.len(), ours.len()), (1, 0), "another principal sees nothing");
    let admin = home.palyra(&["--connect", &address, "admin", "tokens", "list"]).expect(1);
    assert!(admin.err.contains("error[PLY-1203]"), "{}", admin.err);

    let listed = home.palyra(&["admin", "tokens", "list", "--json"]).expect(0).json();
    home.palyra(&["admin", "tokens", "revoke", listed[0]["token_id"].as_str().unwrap()]).expect(0);
    home.palyra(&["--connect", &address, "runs", "list"]).expect(1);
    serving.stop();
}
