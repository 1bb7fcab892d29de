//! Several people with one daemon: what belongs to one of them is nothing to another.

use std::path::Path;

use palyra_client::{Client, ConnectOptions, DaemonTarget, TcpAddress};
use palyra_wire::v1::{SessionSelector, StartRunRequest};
use serde_json::{Value, json};

use crate::asked::of;
use crate::bound_hosts::{CANARY, bound_home, echo, identity};
use crate::caller::{call, caller};
use crate::fetches::output;
use crate::home::{Ended, Home, ended};
use crate::openai_server::{home_with, runtime, serve};
use crate::tcp::{Serving, token};

/// Somebody with a token.
struct Member<'a> {
    home: &'a Home,
    address: &'a str,
    token: String,
}

impl<'a> Member<'a> {
    fn new(home: &'a Home, serving: &'a Serving, name: &str) -> Self {
        Self { home, address: &serving.address, token: token(home, name) }
    }

    fn palyra(&self, arguments: &[&str]) -> Ended {
        let arguments = [&["--connect", self.address], arguments].concat();
        ended(self.home.command(&arguments).env("PALYRA_TOKEN", &self.token).spawn().unwrap())
    }

    /// Reads a file in a session whose id the client chooses; returns the run's tape.
    async fn reads(&self, session: &str, path: &str) -> String {
        let address = TcpAddress::parse(self.address, Some(self.token.clone().into())).unwrap();
        let client = Client::connect(ConnectOptions::new(DaemonTarget::Tcp(address))).await.unwrap();
        let session = SessionSelector { session_id: session.to_owned(), ..SessionSelector::default() };
        let input = call("read_file", &json!({ "path": path }));
        let request = StartRunRequest { session: Some(session), input, ..StartRunRequest::default() };
        let run = client.start_run(request).await.unwrap().run_id;
        let (home, address, token) = (self.home, self.address, &self.token);
        let mut tail = home.command(&["--connect", address, "runs", "tail", &run, "--json"]);
        ended(tail.env("PALYRA_TOKEN", token).spawn().unwrap()).expect(0).out
    }

    /// Has a call asked, has the owner answer it at the daemon's socket, and returns what came of it.
    fn approved(&self, tool: &str, arguments: &Value) -> Value {
        self.palyra(&["run", &call(tool, arguments)]).expect(3);
        let waiting = self.palyra(&["approve", "list", "--json"]).expect(0).json();
        let text = |name: &str| waiting[0][name].as_str().unwrap().to_owned();
        let yes = ["approve", "yes", &text("approval_id")];
        assert!(self.palyra(&yes).expect(1).err.contains("PLY-1203"), "no token decides");
        self.home.palyra(&yes).expect(0);
        let tape = self.palyra(&["runs", "tail", &text("run_id"), "--json"]).json();
        of(&tape, "tool_finished").first().copied().cloned().unwrap_or_else(|| panic!("{tape:#?}"))
    }
}

/// Puts a file into every folder below one that holds no other folder.
fn plant(folder: &Path, name: &str, text: &str) -> usize {
    let folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let folders: Vec<_> = folders.into_iter().filter(|path| path.is_dir()).collect();
    if folders.is_empty() {
        std::fs::write(folder.join(name), text).unwrap();
        return 1;
    }
    folders.iter().map(|folder| plant(folder, name, text)).sum()
}

#[test]
fn a_session_id_of_another_principal_is_not_the_way_to_their_folder() {
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let home = home_with(&model);
    let serving = Serving::start(&home);
    let (carol, bob) = (Member::new(&home, &serving, "user:carol"), Member::new(&home, &serving, "user:bob"));
    let canary = "a lantern of Carol";
    let reads =
        |member: &Member<'_>| runtime.block_on(member.reads("01JZZZZZZZZZZZZZZZZZZZZZZZ", "kept.txt"));
    reads(&carol);
    assert_eq!(plant(&home.state_dir().join("workspaces"), "kept.txt", canary), 1);
    let stranger = reads(&bob);
    assert!(!stranger.contains(canary), "{stranger}");
    // The control: it is there for the one whose session it is.
    let theirs = reads(&carol);
    assert!(theirs.contains(canary), "{theirs}");
    serving.stop();
}

#[test]
fn a_secret_of_the_owner_is_nothing_to_another_principal_until_it_is_bound_to_them() {
    let (tls, authority) = identity();
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let (server, other) = (echo(&tls), echo(&tls));
    let home = bound_home(&model, &authority, &server, &other);
    home.palyra(&["admin", "stop"]).expect(0);
    let serving = Serving::start(&home);
    let (bob, eve) = (Member::new(&home, &serving, "user:bob"), Member::new(&home, &serving, "user:eve"));
    let heard = || server.heard().iter().filter(|request| request.contains(CANARY)).count();
    let url = format!("https://{}/", server.place());
    let send = |member: &Member<'_>, credential: &str| {
        let arguments = json!({ "url": url, "method": "POST", "body": "x", "credential": credential });
        output(&member.approved("http_send", &arguments)).to_owned()
    };
    let refused = send(&bob, "forge");
    assert_eq!(heard(), 0, "{refused}");
    // It is answered like a name that there is not.
    assert_eq!(refused, send(&bob, "gorge").replace("gorge", "forge"));
    let ask = json!({
        "argv": ["python3", "-c", "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=20)", server.url("/")],
        "hosts": [server.place()],
        "credentials": [format!("forge@{}", server.place())],
    });
    bob.approved("run_command", &ask);
    assert_eq!(heard(), 0, "nor by the proxy");
    // The control: the owner binds it, and then it is there for the one that it is bound to.
    home.palyra(&["admin", "vault", "bind", "forge", "--to", "user:bob"]).expect(0);
    send(&bob, "forge");
    assert_eq!(heard(), 1);
    bob.approved("run_command", &ask);
    assert_eq!(heard(), 2);
    send(&eve, "forge");
    assert_eq!(heard(), 2, "and for nobody else");
    home.palyra(&["admin", "vault", "unbind", "forge", "--to", "user:bob"]).expect(0);
    assert_eq!(send(&bob, "forge"), refused);
    assert_eq!(heard(), 2);
    let unknown = home.palyra(&["admin", "vault", "bind", "forge", "--to", "user:nobody"]).expect(1);
    assert!(unknown.err.contains("palyra admin tokens create"), "{}", unknown.err);
    serving.stop();
}
