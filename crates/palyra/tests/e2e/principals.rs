//! Several people with one daemon: what belongs to one of them is nothing to another.

use std::path::Path;

use palyra_client::{Client, ConnectOptions, Target, TcpAddress};
use palyra_wire::v1::{SessionSelector, StartRunRequest};
use serde_json::json;

use crate::fetches::{call, caller};
use crate::home::{Home, ended};
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

    /// Reads a file in a session whose id the client chooses; returns the run's tape.
    async fn reads(&self, session: &str, path: &str) -> String {
        let address = TcpAddress::parse(self.address, Some(self.token.clone().into())).unwrap();
        let client = Client::connect(ConnectOptions::new(Target::Tcp(address))).await.unwrap();
        let session = SessionSelector { session_id: session.to_owned(), ..SessionSelector::default() };
        let input = call("read_file", &json!({ "path": path }));
        let request = StartRunRequest { session: Some(session), input, ..StartRunRequest::default() };
        let run = client.start_run(request).await.unwrap().run_id;
        let (home, address, token) = (self.home, self.address, &self.token);
        let mut tail = home.command(&["--connect", address, "runs", "tail", &run, "--json"]);
        ended(tail.env("PALYRA_TOKEN", token).spawn().unwrap()).expect(0).out
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
