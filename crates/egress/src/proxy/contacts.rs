//! Whom a program asked for. Bounded: further contacts than the limit are served and only counted. Invariant: no number
//! of other contacts takes the room of a server that was reached.

use std::sync::{Mutex, PoisonError};

use palyra_ports::{EgressContact, EgressContacts, EgressVerdict};

use crate::target::Endpoint;

/// The different contacts, in the order of their first time.
#[derive(Debug)]
pub(super) struct ContactLog {
    contacts: Mutex<EgressContacts>,
    contacts_max: usize,
}

impl ContactLog {
    /// Makes an empty book.
    pub(super) fn new(contacts_max: usize) -> Self {
        Self { contacts: Mutex::default(), contacts_max }
    }

    /// Notes what became of a contact; nothing could be read where there is no endpoint.
    pub(super) fn note(&self, endpoint: Option<&Endpoint>, verdict: EgressVerdict) {
        let (host, port) = endpoint.map_or((String::new(), 0), |it| (it.host.to_string(), it.port));
        let contact = EgressContact { host, port, verdict };
        let mut contacts = self.contacts.lock().unwrap_or_else(PoisonError::into_inner);
        let EgressContacts { reached, others, reached_unnoted, others_unnoted } = &mut *contacts;
        let (noted, is_known, unnoted) = match &contact.verdict {
            EgressVerdict::Reached { .. } => {
                let same = |old: &EgressContact| old.host == contact.host && old.port == contact.port;
                let is_known = reached.iter().any(same);
                (reached, is_known, reached_unnoted)
            }
            EgressVerdict::Refused { .. } | EgressVerdict::Failed => {
                let is_known = others.contains(&contact);
                (others, is_known, others_unnoted)
            }
        };
        if is_known {
            return;
        }
        if noted.len() < self.contacts_max {
            noted.push(contact);
        } else {
            *unnoted = unnoted.saturating_add(1);
        }
    }

    /// Returns all that was noted.
    pub(super) fn list(&self) -> EgressContacts {
        self.contacts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
