//! What is known of principals and tokens: replaced as a whole, so that a call sees one state of both.

use palyra_journal_core::families::{principals, tokens};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::ReadError;
use palyra_types::access::{Credential, PrincipalRecord, Role, TokenRecord};
use palyra_types::approval::ApproverSet;
use palyra_types::{PrincipalId, Timestamp};

/// What is known of principals and tokens.
#[derive(Debug, Clone, Default)]
pub struct AccessSnapshot {
    /// All principals.
    pub principals: Vec<PrincipalRecord>,
    /// All tokens, ended ones too.
    pub tokens: Vec<TokenRecord>,
    /// The principal behind the daemon's own socket.
    pub(super) local: Option<PrincipalId>,
}

impl AccessSnapshot {
    pub(super) async fn read(families: &dyn ReadFamilies) -> Result<Self, ReadError> {
        Ok(Self {
            principals: families.query(|rows, _| principals::all(rows)).await?,
            tokens: families.query(|rows, _| tokens::all(rows)).await?,
            local: None,
        })
    }

    /// Returns a principal.
    #[must_use]
    pub fn principal(&self, id: PrincipalId) -> Option<&PrincipalRecord> {
        self.principals.iter().find(|principal| principal.id == id)
    }

    /// Returns a principal's name.
    #[must_use]
    pub fn name_of(&self, id: PrincipalId) -> Option<&str> {
        Some(self.principal(id)?.name.expose().as_str())
    }

    /// Returns what a principal may do. The one behind the daemon's own socket is always an owner: older versions
    /// registered it without a role.
    #[must_use]
    pub fn role_of(&self, principal: &PrincipalRecord) -> Role {
        if self.local == Some(principal.id) { Role::Owner } else { principal.role }
    }

    /// Returns whether a principal is one of some approvers, by role or by name.
    #[must_use]
    pub fn is_one_of(&self, id: PrincipalId, approvers: &ApproverSet) -> bool {
        self.principal(id).is_some_and(|known| approvers.contains(id, self.role_of(known)))
    }

    pub(super) fn id_of(&self, name: &str) -> Option<PrincipalId> {
        self.principals.iter().find(|principal| principal.name.expose() == name).map(|principal| principal.id)
    }

    /// Finds the record of a token's text.
    pub(super) fn token_of(&self, text: &str) -> Option<&TokenRecord> {
        let digest = palyra_ledger::sha256(text.as_bytes());
        self.tokens.iter().find(|token| same_digest(&token.sha256, &digest))
    }

    /// Returns what a token proves now.
    pub(super) fn credential(&self, token: &TokenRecord, now: Timestamp) -> Option<Credential> {
        let principal = self.principal(token.principal)?;
        let live = token.revoked.is_none()
            && token.expires.is_none_or(|expires| now < expires)
            && principal.disabled.is_none();
        live.then(|| Credential {
            principal: principal.id,
            token: token.id,
            kind: token.kind,
            scopes: token.scopes.both(self.role_of(principal).scopes()),
        })
    }

    pub(super) fn put(&mut self, principal: PrincipalRecord) {
        self.principals.retain(|other| other.id != principal.id);
        self.principals.push(principal);
    }

    pub(super) fn principal_mut(&mut self, id: PrincipalId) -> Option<&mut PrincipalRecord> {
        self.principals.iter_mut().find(|principal| principal.id == id)
    }
}

/// Compares in a time that does not tell where two digests differ.
pub(super) fn same_digest(left: &[u8; 32], right: &[u8; 32]) -> bool {
    left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}
