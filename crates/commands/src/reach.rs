//! Whom a command may speak to, and whom it spoke to.
//!
//! Owns the reading of hosts and credentials, and the door that is open while a program runs. Invariant: a program whose
//! call names no host has no door; one that has it reaches the hosts that were bound, through the guard, and nobody else.
//! Begin at [`NetworkReach::read`].

use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_ports::{
    BoundCredential, CredentialHandle, CredentialUser, EgressContact, EgressContacts, EgressGrant,
    EgressLimits, EgressSession, EgressVerdict, GUARD_PORT, HostRule, SecretName,
};

use crate::failure::CommandFailure;

/// Hosts of one call, at most.
pub(crate) const HOSTS_MAX: usize = 32;
/// Credentials of one call, at most.
pub(crate) const CREDENTIALS_MAX: usize = 8;
/// Contacts that are told, at most.
const TOLD_MAX: usize = 32;
/// The port of servers that speak TLS.
const TLS_PORT: u16 = 443;

/// Hosts, and secrets for some of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NetworkReach {
    hosts: Vec<HostRule>,
    credentials: Vec<Credential>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Credential {
    secret: SecretName,
    host: String,
    port: u16,
}

impl NetworkReach {
    /// Reads hosts such as `*.example.com`, and credentials such as `secret@api.example.com`, each for one of the hosts.
    pub(crate) fn read(hosts: &[String], credentials: &[String]) -> Result<Self, CommandFailure> {
        let hosts = hosts.iter().map(|host| {
            host.parse().map_err(|error| CommandFailure::Arguments(format!("`{host}` in `hosts`: {error}")))
        });
        let hosts: Vec<HostRule> = hosts.collect::<Result<_, _>>()?;
        let credentials = credentials.iter().map(|written| credential(written, &hosts));
        let credentials = credentials.collect::<Result<_, _>>()?;
        Ok(Self { hosts, credentials })
    }

    /// Returns the hosts in their one spelling, in order.
    pub(crate) fn hosts(&self) -> Vec<String> {
        in_order(self.hosts.iter().map(HostRule::to_string).collect())
    }

    /// Returns the credentials in their one spelling, in order.
    pub(crate) fn credentials(&self) -> Vec<String> {
        let told = |Credential { secret, host, port }: &Credential| {
            let secret = secret.as_str();
            if *port == TLS_PORT { format!("{secret}@{host}") } else { format!("{secret}@{host}:{port}") }
        };
        in_order(self.credentials.iter().map(told).collect())
    }

    /// Returns the credentials, each with its one server.
    pub(crate) fn secrets(&self, used_by: Option<CredentialUser>) -> Vec<BoundCredential> {
        let bound = |Credential { secret, host, port }: &Credential| BoundCredential {
            host: host.clone(),
            port: *port,
            handle: CredentialHandle(secret.as_str().to_owned()),
            used_by,
        };
        self.credentials.iter().map(bound).collect()
    }

    /// Returns what the guard lets pass, on behalf of an effect.
    pub(crate) fn grant(self, used_by: CredentialUser) -> EgressGrant {
        EgressGrant {
            credentials: self.secrets(Some(used_by)),
            hosts: self.hosts,
            limits: EgressLimits::default(),
        }
    }
}

fn in_order(mut words: Vec<String>) -> Vec<String> {
    words.sort();
    words.dedup();
    words
}

fn credential(written: &str, hosts: &[HostRule]) -> Result<Credential, CommandFailure> {
    let unread = |why: String| CommandFailure::Arguments(format!("`{written}` in `credentials`: {why}"));
    let (secret, place) =
        written.split_once('@').ok_or_else(|| unread("it has to be NAME@HOST".to_owned()))?;
    let secret = secret.parse::<SecretName>().map_err(|error| unread(error.to_string()))?;
    let place: HostRule =
        place.parse().map_err(|error: palyra_ports::NotAHostRule| unread(error.to_string()))?;
    let (host, port) = (place.host.clone(), place.port.unwrap_or(TLS_PORT));
    if place != HostRule::exact(host.clone()) && place != HostRule::exact(host.clone()).at(port) {
        return Err(unread("a credential is for one host".to_owned()));
    }
    if !hosts.iter().any(|rule| rule.covers(&host, port)) {
        return Err(unread(format!("`{host}` at port {port} is not among `hosts`")));
    }
    Ok(Credential { secret, host, port })
}

/// Returns the variables by which programs find the door.
pub(crate) fn environment(hosts: &[String]) -> Vec<(String, String)> {
    let proxy = format!("http://127.0.0.1:{GUARD_PORT}");
    let own = ["localhost", "127.0.0.1", "[::1]"];
    // What a program says to itself needs no door, unless that very name is what the call means.
    let is_named = |name: &str| hosts.iter().any(|host| host.starts_with(name));
    let spared: Vec<&str> = own.into_iter().filter(|name| !is_named(name)).collect();
    let spared = spared.join(",");
    ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
        .into_iter()
        .map(|name| (name.to_owned(), proxy.clone()))
        .chain(["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), spared.clone())))
        .collect()
}

/// A door that is open while a program runs, and remembers who went through.
pub(crate) struct EgressDoor(Mutex<DoorState>);

enum DoorState {
    Open(Box<dyn EgressSession>),
    Closed(EgressContacts),
}

impl EgressDoor {
    /// Keeps a session of the guard.
    pub(crate) fn new(session: Box<dyn EgressSession>) -> Self {
        Self(Mutex::new(DoorState::Open(session)))
    }

    fn state(&self) -> MutexGuard<'_, DoorState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts every connection, and returns once none is left.
    pub(crate) async fn close(&self) {
        let open = {
            let mut state = self.state();
            let contacts = match &*state {
                DoorState::Open(session) => session.contacts(),
                DoorState::Closed(_) => return,
            };
            match std::mem::replace(&mut *state, DoorState::Closed(contacts)) {
                DoorState::Open(session) => session,
                DoorState::Closed(_) => return,
            }
        };
        let mut session = open;
        session.stop().await;
    }

    /// Says in one line who was reached and who was not.
    pub(crate) fn describe(&self) -> String {
        match &*self.state() {
            DoorState::Open(session) => describe(&session.contacts()),
            DoorState::Closed(contacts) => describe(contacts),
        }
    }
}

fn describe(contacts: &EgressContacts) -> String {
    let EgressContacts { reached, others, reached_unnoted, others_unnoted } = contacts;
    let mut text = String::from("network: ");
    if reached.is_empty() && others.is_empty() {
        text.push_str("no host was requested");
    }
    for (at, EgressContact { host, port, verdict }) in reached.iter().chain(others).take(TOLD_MAX).enumerate()
    {
        let first = if at == 0 { "" } else { "; " };
        let whom =
            if host.is_empty() { "what could not be read".to_owned() } else { format!("{host}:{port}") };
        let _ = match verdict {
            EgressVerdict::Reached { .. } => write!(text, "{first}reached {whom}"),
            EgressVerdict::Failed => write!(text, "{first}could not reach {whom}"),
            EgressVerdict::Refused { reason } => write!(text, "{first}refused {whom}: {reason}"),
        };
    }
    let unshown = reached.len().saturating_sub(TOLD_MAX);
    if unshown > 0 || *reached_unnoted > 0 {
        let _ = write!(text, "; and reached {}", more(unshown, *reached_unnoted));
    }
    let unshown = others.len().saturating_sub(TOLD_MAX.saturating_sub(reached.len()));
    if unshown > 0 || *others_unnoted > 0 {
        let _ = write!(text, "; and did not reach {}", more(unshown, *others_unnoted));
    }
    text
}

/// Those that were noted are different ones; the others were only counted.
fn more(noted: usize, unnoted: u64) -> String {
    if unnoted > 0 {
        format!("{noted} more, and further ones {unnoted} times")
    } else {
        format!("{noted} more")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(hosts: &[&str], credentials: &[&str]) -> Result<NetworkReach, CommandFailure> {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        NetworkReach::read(&owned(hosts), &owned(credentials))
    }

    #[test]
    fn hosts_and_credentials_have_one_spelling() {
        let reach = read(
            &["*.B.example", "a.example:8443", "*.b.example"],
            &["tok@api.B.example", "tok@a.example:8443"],
        );
        let reach = reach.unwrap();
        assert_eq!(reach.hosts(), ["*.b.example", "a.example:8443"]);
        assert_eq!(reach.credentials(), ["tok@a.example:8443", "tok@api.b.example"]);
        let again = NetworkReach::read(&reach.hosts(), &reach.credentials()).unwrap();
        assert_eq!((again.hosts(), again.credentials()), (reach.hosts(), reach.credentials()));
    }

    #[test]
    fn a_credential_is_for_one_host_among_those_that_are_named() {
        for credential in
            ["tok", "tok@", "Tok@a.example", "tok@*.a.example", "tok@b.example", "tok@a.example:8443"]
        {
            assert!(read(&["a.example"], &[credential]).is_err(), "{credential}");
        }
        assert!(read(&["a.example"], &["tok@a.example"]).is_ok());
    }

    #[test]
    fn a_program_speaks_to_itself_without_the_door() {
        let spared = |hosts: &[&str]| {
            let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
            let found = environment(&hosts).into_iter().find(|(name, _)| name == "NO_PROXY");
            found.map(|(_, value)| value).unwrap_or_default()
        };
        assert_eq!(spared(&["a.example"]), "localhost,127.0.0.1,[::1]");
        assert_eq!(spared(&["127.0.0.1:8080"]), "localhost,[::1]");
        assert_eq!(spared(&["localhost:80", "[::1]:80"]), "127.0.0.1");
    }

    #[test]
    fn contacts_are_told_in_one_line_that_has_an_end() {
        let refused = EgressVerdict::Refused { reason: "it is not among the hosts that were granted" };
        let contact = |host: &str, verdict: &EgressVerdict| EgressContact {
            host: host.to_owned(),
            port: 443,
            verdict: verdict.clone(),
        };
        let reached = EgressVerdict::Reached { address: [9, 9, 9, 9].into() };
        let line = describe(&EgressContacts {
            reached: vec![contact("a.example", &reached)],
            others: vec![contact("b.example", &refused), contact("", &refused)],
            ..EgressContacts::default()
        });
        assert_eq!(
            line,
            "network: reached a.example:443; refused b.example:443: it is not among the hosts that were granted; \
             refused what could not be read: it is not among the hosts that were granted"
        );
        let many = |count: usize, verdict| {
            (0..count).map(|n| contact(&format!("h{n}.example"), verdict)).collect::<Vec<_>>()
        };
        let contacts = EgressContacts { reached: many(100, &reached), ..EgressContacts::default() };
        assert!(describe(&contacts).ends_with("; and reached 68 more"));
        let contacts = EgressContacts {
            reached: vec![contact("a.example", &reached)],
            others: many(256, &refused),
            others_unnoted: 44,
            ..EgressContacts::default()
        };
        let line = describe(&contacts);
        assert!(line.starts_with("network: reached a.example:443; refused h0.example"), "{line}");
        assert!(line.ends_with("; and did not reach 225 more, and further ones 44 times"), "{line}");
        assert_eq!(describe(&EgressContacts::default()), "network: no host was requested");
    }
}
