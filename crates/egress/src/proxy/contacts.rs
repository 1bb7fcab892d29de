//! Whom a program asked for. Bounded: further contacts than the limit are served and not remembered.

use std::sync::{Mutex, PoisonError};

use palyra_ports::{EgressContact, EgressVerdict};

use crate::target::Endpoint;

/// The different contacts, in the order of their first time.
#[derive(Debug)]
pub(super) struct ContactBook {
    contacts: Mutex<Vec<EgressContact>>,
    contacts_max: usize,
}

impl ContactBook {
    /// Makes an empty book.
    pub(super) fn new(contacts_max: usize) -> Self {
        Self { contacts: Mutex::default(), contacts_max }
    }

    /// Notes what became of a contact; nothing could be read where there is no endpoint.
    pub(super) fn note(&self, endpoint: Option<&Endpoint>, verdict: EgressVerdict) {
        let (host, port) = endpoint.map_or((String::new(), 0), |it| (it.host.to_string(), it.port));
        let contact = EgressContact { host, port, verdict };
        let mut contacts = self.contacts.lock().unwrap_or_else(PoisonError::into_inner);
        if contacts.len() < self.contacts_max && !contacts.contains(&contact) {
            contacts.push(contact);
        }
    }

    /// Returns all that was noted.
    pub(super) fn list(&self) -> Vec<EgressContact> {
        self.contacts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
