//! Sessions of web pages: a one-time link, made at the daemon's own socket, becomes a session of one browser.
//!
//! Invariant: only digests of links and cookies are kept, in memory; a restart ends all of them. A session never has more
//! than its person's role has now, and none of a disabled person works. Begin at [`AccessHandle::create_page_link`].

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palyra_ports::AppendError;
use palyra_types::access::{ActorIdentity, Credential, CredentialKind, PrincipalKind};
use palyra_types::event::AccessEvent;
use palyra_types::surface::Surface;
use palyra_types::{BootTime, Content, PrincipalId, TokenId};

use super::AccessHandle;
use super::snapshot::same_digest;
use crate::error::AdminError;

/// How long a link works that its person uses at once.
pub const PAGE_LINK_SPAN: Duration = Duration::from_secs(60);
/// How long a link works that is sent to another person.
pub const INVITATION_SPAN: Duration = Duration::from_secs(24 * 3_600);
/// Links that work at once; a further one ends the oldest.
const LINKS_MAX: usize = 64;
/// A session ends after so long without a request.
const IDLE_SPAN_MAX: Duration = Duration::from_secs(12 * 3_600);
/// A session ends so long after its begin.
const LIFE_SPAN_MAX: Duration = Duration::from_secs(7 * 24 * 3_600);
/// Sessions of one person; a further one ends the one that was used least recently.
const SESSIONS_OF_ONE_MAX: usize = 64;

/// The links and sessions that work.
#[derive(Debug, Default)]
pub(super) struct PageSessions {
    state: Mutex<PageState>,
}

#[derive(Debug, Default)]
struct PageState {
    /// Oldest first.
    links: Vec<PageLink>,
    sessions: Vec<PageSession>,
}

#[derive(Debug)]
struct PageLink {
    sha256: [u8; 32],
    entry: PageEntry,
    ends: BootTime,
}

/// For whom a link is, and what its session begins with.
#[derive(Debug, Clone)]
pub struct PageEntry {
    /// The person.
    pub principal: PrincipalId,
    /// The folder that the link was made in: runs of the session may work there.
    pub folder: Option<Content<PathBuf>>,
}

impl PageEntry {
    /// Returns the entry of a person who brings no folder.
    #[must_use]
    pub fn of(principal: PrincipalId) -> Self {
        Self { principal, folder: None }
    }
}

#[derive(Debug)]
struct PageSession {
    sha256: [u8; 32],
    /// The link that began it, so that a second use of that one is noticed.
    link_sha256: [u8; 32],
    entry: PageEntry,
    credential: TokenId,
    begun: BootTime,
    used: BootTime,
}

impl PageSession {
    fn is_over(&self, now: BootTime) -> bool {
        now.since(self.used) >= IDLE_SPAN_MAX || now.since(self.begun) >= LIFE_SPAN_MAX
    }
}

/// Whether a look at a session counts as a use of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionUse {
    /// It counts as used.
    Counts,
    /// It is only looked at.
    Looks,
}

impl PageState {
    fn drop_ended(&mut self, now: BootTime) {
        self.links.retain(|link| now < link.ends);
        self.sessions.retain(|session| !session.is_over(now));
    }

    fn add_link(&mut self, code: &str, entry: PageEntry, span: Duration, now: BootTime) {
        self.drop_ended(now);
        if self.links.len() >= LINKS_MAX {
            self.links.remove(0);
        }
        let sha256 = palyra_ledger::sha256(code.as_bytes());
        self.links.push(PageLink { sha256, entry, ends: now.after(span) });
    }

    /// Takes a link; whose it was. One that was used before ends the session that it began.
    fn take_link(&mut self, sha256: &[u8; 32], now: BootTime) -> Option<PageEntry> {
        self.drop_ended(now);
        self.sessions.retain(|session| !same_digest(&session.link_sha256, sha256));
        let at = self.links.iter().position(|link| same_digest(&link.sha256, sha256))?;
        Some(self.links.remove(at).entry)
    }

    /// Takes a link and begins its session in one step, so that all that ends sessions finds the new one; whose it is.
    fn begin(&mut self, code: &str, cookie: &str, credential: TokenId, now: BootTime) -> Option<PrincipalId> {
        let link_sha256 = palyra_ledger::sha256(code.as_bytes());
        let entry = self.take_link(&link_sha256, now)?;
        let principal = entry.principal;
        let sha256 = palyra_ledger::sha256(cookie.as_bytes());
        self.add_session(PageSession { sha256, link_sha256, entry, credential, begun: now, used: now });
        Some(principal)
    }

    fn end(&mut self, cookie: &str) -> bool {
        let sha256 = palyra_ledger::sha256(cookie.as_bytes());
        let before = self.sessions.len();
        self.sessions.retain(|session| !same_digest(&session.sha256, &sha256));
        self.sessions.len() < before
    }

    fn add_session(&mut self, session: PageSession) {
        let of_one = |other: &PageSession| other.entry.principal == session.entry.principal;
        if self.sessions.iter().filter(|other| of_one(other)).count() >= SESSIONS_OF_ONE_MAX {
            let oldest = self.sessions.iter().enumerate().filter(|(_, other)| of_one(other));
            if let Some((at, _)) = oldest.min_by_key(|(_, other)| other.used) {
                self.sessions.remove(at);
            }
        }
        self.sessions.push(session);
    }

    fn find(&mut self, cookie: &str, counts: SessionUse, now: BootTime) -> Option<(PrincipalId, TokenId)> {
        self.drop_ended(now);
        let sha256 = palyra_ledger::sha256(cookie.as_bytes());
        let session = self.sessions.iter_mut().find(|session| same_digest(&session.sha256, &sha256))?;
        if counts == SessionUse::Counts {
            session.used = now;
        }
        Some((session.entry.principal, session.credential))
    }
}

/// A session that is not on record yet; it ends when this is dropped with its cookie.
struct UnrecordedSession<'a> {
    access: &'a AccessHandle,
    cookie: Option<String>,
}

impl Drop for UnrecordedSession<'_> {
    fn drop(&mut self) {
        if let Some(cookie) = self.cookie.take() {
            self.access.end_page_session(&cookie);
        }
    }
}

impl AccessHandle {
    fn pages(&self) -> MutexGuard<'_, PageState> {
        self.pages.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn random_text(&self) -> String {
        self.ports.entropy.bytes32().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Makes a link for a person that works for `span`; returns its code, which is shown once.
    #[must_use]
    pub fn create_page_link(&self, entry: PageEntry, span: Duration) -> Content<String> {
        let code = self.random_text();
        self.pages().add_link(&code, entry, span, self.ports.clock.boot());
        Content::new(code)
    }

    /// Takes the code of a link; returns the cookie of the session that it begins, and nothing for a code that is unknown,
    /// over or used. A second use ends the session that the first one began.
    ///
    /// # Errors
    /// [`AdminError::Append`]: a session that is not on record does not begin, and its link is used up. Only while the
    /// journal is read-only one begins all the same.
    pub async fn redeem_page_link(&self, code: &str) -> Result<Option<Content<String>>, AdminError> {
        let cookie = self.random_text();
        let credential = self.ports.entropy.new_id(self.ports.clock.wall());
        let begun = self.pages().begin(code, &cookie, credential, self.ports.clock.boot());
        let Some(principal) = begun else { return Ok(None) };
        // Until it is recorded only this call knows the cookie, and it ends the session where it is left or refused.
        let mut unrecorded = UnrecordedSession { access: self, cookie: Some(cookie) };
        let actor = ActorIdentity { principal, credential: Some(credential), surface: Surface::Console };
        let begun = AccessEvent::PageSessionBegun { credential };
        match self.ports.recorder.record_act_now(actor, principal, begun).await {
            // Nothing can be changed then, and the screens that say what is wrong with the journal are needed most.
            Err(AppendError::Quarantined) => {
                tracing::warn!("a session of the console began without an entry: the journal is read-only");
            }
            recorded => drop(recorded?),
        }
        Ok(unrecorded.cookie.take().map(Content::new))
    }

    /// Returns what the cookie of a session proves; nothing when the session is over or its person disabled.
    #[must_use]
    pub fn authenticate_page(&self, cookie: &str) -> Option<Credential> {
        self.credential_of_page(cookie, SessionUse::Counts)
    }

    /// Returns the same, and does not count as a use of the session.
    #[must_use]
    pub fn page_credential(&self, cookie: &str) -> Option<Credential> {
        self.credential_of_page(cookie, SessionUse::Looks)
    }

    fn credential_of_page(&self, cookie: &str, counts: SessionUse) -> Option<Credential> {
        let found = self.pages().find(cookie, counts, self.ports.clock.boot());
        let (principal, token) = found?;
        let known = self.known();
        let person = known.principal(principal)?;
        let works = person.disabled.is_none() && person.kind == PrincipalKind::Person;
        works.then(|| Credential {
            principal,
            token,
            kind: CredentialKind::PersonSession,
            scopes: known.role_of(person).scopes(),
        })
    }

    /// Returns the folder that a session may work in beside those of its agents; `None` where it brought none or is over.
    #[must_use]
    pub fn page_folder(&self, credential: TokenId) -> Option<Content<PathBuf>> {
        let mut pages = self.pages();
        pages.drop_ended(self.ports.clock.boot());
        let found = pages.sessions.iter().find(|session| session.credential == credential);
        found.and_then(|session| session.entry.folder.clone())
    }

    /// Ends the session of a cookie; whether there was one.
    pub fn end_page_session(&self, cookie: &str) -> bool {
        self.pages().end(cookie)
    }

    /// Ends every session and every link; returns how many sessions there were.
    pub fn end_page_sessions(&self) -> usize {
        let mut pages = self.pages();
        pages.drop_ended(self.ports.clock.boot());
        pages.links.clear();
        std::mem::take(&mut pages.sessions).len()
    }

    /// Returns whether a link or a session works that would end with the daemon.
    #[must_use]
    pub fn has_page_sessions(&self) -> bool {
        let mut pages = self.pages();
        pages.drop_ended(self.ports.clock.boot());
        !pages.links.is_empty() || !pages.sessions.is_empty()
    }

    /// Ends the sessions and links of one person.
    pub(super) fn end_page_sessions_of(&self, principal: PrincipalId) {
        let mut pages = self.pages();
        pages.links.retain(|link| link.entry.principal != principal);
        pages.sessions.retain(|session| session.entry.principal != principal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> BootTime {
        BootTime::default().after(Duration::from_secs(seconds))
    }

    fn person(number: u64) -> PrincipalId {
        PrincipalId::from_parts(number, 1)
    }

    fn digest(text: &str) -> [u8; 32] {
        palyra_ledger::sha256(text.as_bytes())
    }

    fn session(cookie: &str, principal: PrincipalId, begun: BootTime) -> PageSession {
        PageSession {
            sha256: digest(cookie),
            link_sha256: digest(&format!("link of {cookie}")),
            entry: PageEntry::of(principal),
            credential: TokenId::from_parts(1, 1),
            begun,
            used: begun,
        }
    }

    fn taken(state: &mut PageState, code: &str, now: BootTime) -> Option<PrincipalId> {
        state.take_link(&digest(code), now).map(|entry| entry.principal)
    }

    fn works(state: &mut PageState, cookie: &str, now: BootTime) -> bool {
        state.find(cookie, SessionUse::Counts, now).is_some()
    }

    #[test]
    fn a_link_works_once_and_for_a_minute() {
        let mut state = PageState::default();
        state.add_link("a", PageEntry::of(person(1)), PAGE_LINK_SPAN, at(0));
        assert_eq!(taken(&mut state, "a", at(59)), Some(person(1)));
        assert_eq!(taken(&mut state, "a", at(59)), None, "a second time");
        state.add_link("b", PageEntry::of(person(1)), PAGE_LINK_SPAN, at(0));
        assert_eq!(taken(&mut state, "b", at(60)), None, "a minute later");
        state.add_link("invitation", PageEntry::of(person(2)), INVITATION_SPAN, at(0));
        assert_eq!(taken(&mut state, "invitation", at(24 * 3_600 - 1)), Some(person(2)));
        let mut add = |number: usize| {
            state.add_link(&number.to_string(), PageEntry::of(person(1)), PAGE_LINK_SPAN, at(0));
        };
        (0..=LINKS_MAX).for_each(&mut add);
        assert_eq!(taken(&mut state, "0", at(1)), None, "one too many ends the oldest");
        assert_eq!(taken(&mut state, "1", at(1)), Some(person(1)));
    }

    #[test]
    fn a_second_use_of_a_link_ends_the_session_of_the_first() {
        let mut state = PageState::default();
        state.add_session(session("first", person(1), at(0)));
        state.add_session(session("other", person(1), at(0)));
        assert_eq!(taken(&mut state, "link of first", at(4_000)), None);
        assert!(!works(&mut state, "first", at(4_000)) && works(&mut state, "other", at(4_000)));
    }

    /// While a session is being recorded it is among the others: a second use, a sign-out of all and a disabled person end it.
    #[test]
    fn a_session_that_begins_can_be_ended_at_once() {
        let mut state = PageState::default();
        for (code, cookie) in [("a", "first"), ("b", "second")] {
            state.add_link(code, PageEntry::of(person(1)), PAGE_LINK_SPAN, at(0));
            assert_eq!(state.begin(code, cookie, TokenId::from_parts(1, 1), at(1)), Some(person(1)));
        }
        assert_eq!(state.begin("a", "another", TokenId::from_parts(1, 2), at(2)), None, "a second use");
        assert!(!works(&mut state, "first", at(2)) && !works(&mut state, "another", at(2)));
        assert!(works(&mut state, "second", at(2)), "the control");
        assert!(state.end("second") && !state.end("second"));
    }

    #[test]
    fn a_session_ends_when_it_is_idle_and_after_a_week() {
        let hours = |hours: u64| at(hours * 3_600);
        let mut state = PageState::default();
        state.add_session(session("idle", person(1), at(0)));
        assert!(works(&mut state, "idle", hours(11)) && works(&mut state, "idle", hours(22)));
        assert!(state.find("idle", SessionUse::Looks, hours(33)).is_some());
        assert!(!works(&mut state, "idle", hours(34)), "looking is no use");
        state.add_session(session("busy", person(1), at(0)));
        state.sessions[0].used = hours(11);
        for hour in (11..24 * 7).step_by(11) {
            assert!(works(&mut state, "busy", hours(hour)), "{hour}");
        }
        assert!(!works(&mut state, "busy", hours(24 * 7)));
    }

    #[test]
    fn one_session_too_many_ends_the_least_recently_used_of_the_same_person() {
        let mut state = PageState::default();
        state.add_session(session("of another", person(2), at(0)));
        for number in 0..SESSIONS_OF_ONE_MAX {
            state.add_session(session(&number.to_string(), person(1), at(1)));
        }
        assert!(works(&mut state, "0", at(2)));
        state.add_session(session("one too many", person(1), at(3)));
        assert!(!works(&mut state, "1", at(4)));
        for kept in ["0", "2", "one too many", "of another"] {
            assert!(works(&mut state, kept, at(4)), "{kept}");
        }
    }
}
