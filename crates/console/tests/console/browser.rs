//! A browser as far as requests go: one origin, one cookie, a request on each connection.

use std::net::SocketAddr;
use std::time::Duration;

use palyra_admin::access::{PAGE_LINK_SPAN, PageEntry};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::daemon::TestDaemon;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A browser that the daemon's own person signed in with.
pub(crate) struct ConsoleBrowser {
    address: SocketAddr,
    cookie: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct PageAnswer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl PageAnswer {
    /// Returns where a form leads.
    #[track_caller]
    pub(crate) fn location(&self) -> &str {
        let line = self.head.lines().find_map(|line| line.strip_prefix("location: "));
        line.unwrap_or_else(|| panic!("no location: {self:?}"))
    }

    /// Returns the token of the form that is sent to a path.
    #[track_caller]
    pub(crate) fn token_for(&self, path: &str) -> &str {
        let form = format!("action=\"{path}\"");
        let (_, after) =
            self.body.split_once(&form).unwrap_or_else(|| panic!("no form for {path}: {}", self.body));
        let (_, value) = after.split_once("name=\"token\" value=\"").unwrap();
        value.split('"').next().unwrap()
    }
}

impl ConsoleBrowser {
    pub(crate) async fn sign_in(daemon: &TestDaemon) -> Self {
        let access = &daemon.state.admin.access;
        let code = access.create_page_link(PageEntry::of(access.local_principal()), PAGE_LINK_SPAN);
        let cookie = access.redeem_page_link(code.expose()).await.unwrap().unwrap();
        Self { address: daemon.address, cookie: format!("palyra_console={}", cookie.expose()) }
    }

    pub(crate) async fn get(&self, path: &str) -> PageAnswer {
        self.send(&format!("GET {path}"), "", "").await
    }

    /// Sends a form as a page of the console does.
    pub(crate) async fn post(&self, path: &str, body: &str) -> PageAnswer {
        let lines = format!(
            "origin: http://localhost:{}\r\nsec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\n",
            self.address.port()
        );
        self.send(&format!("POST {path}"), &lines, body).await
    }

    async fn send(&self, line: &str, lines: &str, body: &str) -> PageAnswer {
        let (port, cookie, length) = (self.address.port(), &self.cookie, body.len());
        let head = format!(
            "{line} HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\ncookie: {cookie}\r\ncontent-length: {length}\r\n{lines}\r\n"
        );
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut text = String::new();
        timeout(PATIENCE, stream.read_to_string(&mut text)).await.expect("an answer in time").unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        PageAnswer { status, head: head.replace("\r\n", "\n"), body: body.to_owned() }
    }
}
