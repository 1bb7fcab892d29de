//! Access tokens, by id: an id is given once, and the first revocation counts.

use palyra_types::access::{CredentialKind, ScopeSet, TokenRecord};
use palyra_types::event::{AccessEvent, JournalEvent};
use palyra_types::{PrincipalId, Redacted, Seq, Timestamp, TokenId};

use crate::family::{
    ContentCell, ContentColumn, ContentSource, Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry,
    IndexKey, RowStore, RowsPerKey, StoreFault, StoredRow, all_rows,
};

/// The family.
pub struct TokenFamily;

/// A token and the entry that created it.
#[derive(Debug, Clone)]
pub struct TokenRow {
    /// What is known of it.
    pub record: TokenRecord,
    /// The entry that created it.
    pub created: Seq,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TokenFacts {
    #[prost(bytes = "vec", tag = "1")]
    token: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    principal: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    sha256: Vec<u8>,
    #[prost(sint64, tag = "4")]
    created: i64,
    #[prost(sint64, optional, tag = "5")]
    expires: Option<i64>,
    #[prost(sint64, optional, tag = "6")]
    revoked: Option<i64>,
    #[prost(bool, tag = "7")]
    of_person_session: bool,
    #[prost(uint32, tag = "8")]
    scopes: u32,
}

const BY_TOKEN: usize = 0;

fn key(token: TokenId) -> IndexKey {
    IndexKey::new().bytes(&token.to_bytes())
}

impl Family for TokenFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "token",
        version: 2,
        indexes: &[FamilyIndex { name: "by_token", rows_per_key: RowsPerKey::One }],
        content: &[ContentColumn { name: "label", source: ContentSource::Birth }],
    };

    type Row = TokenRow;

    fn facts(row: &TokenRow) -> Vec<u8> {
        let record = &row.record;
        prost::Message::encode_to_vec(&TokenFacts {
            token: record.id.to_bytes().to_vec(),
            principal: record.principal.to_bytes().to_vec(),
            sha256: record.sha256.to_vec(),
            created: record.created.0,
            expires: record.expires.map(|time| time.0),
            revoked: record.revoked.map(|time| time.0),
            of_person_session: record.kind == CredentialKind::PersonSession,
            scopes: record.scopes.to_bits().into(),
        })
    }

    fn content(row: &TokenRow) -> Vec<ContentCell> {
        vec![ContentCell::new(row.record.label.expose().as_bytes(), row.created)]
    }

    fn load(stored: &StoredRow) -> Option<TokenRow> {
        let facts = <TokenFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let [label] = stored.content.as_slice() else { return None };
        let record = TokenRecord {
            id: TokenId::from_bytes(facts.token.try_into().ok()?),
            principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
            sha256: facts.sha256.try_into().ok()?,
            created: Timestamp(facts.created),
            expires: facts.expires.map(Timestamp),
            revoked: facts.revoked.map(Timestamp),
            label: Redacted::from_stored(label.to_text()?),
            kind: if facts.of_person_session {
                CredentialKind::PersonSession
            } else {
                CredentialKind::Program
            },
            scopes: ScopeSet::from_bits(facts.scopes.try_into().ok()?),
        };
        Some(TokenRow { record, created: stored.id.into() })
    }

    fn index(row: &TokenRow, _index: usize) -> Option<IndexKey> {
        Some(key(row.record.id))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Access(AccessEvent::TokenCreated(created)) => {
                if rows.find(BY_TOKEN, &key(created.token))?.is_some() {
                    return Ok(());
                }
                let record = TokenRecord {
                    id: created.token,
                    principal: entry.principal,
                    sha256: created.sha256,
                    created: entry.time,
                    expires: created.expires,
                    revoked: None,
                    label: created.label.clone(),
                    kind: created.kind,
                    scopes: created.scopes.unwrap_or(ScopeSet::BEFORE_SCOPES),
                };
                rows.insert(entry, TokenRow { record, created: entry.seq })
            }
            JournalEvent::Access(AccessEvent::TokenRevoked { token }) => {
                rows.change_by(BY_TOKEN, &key(*token), |row| {
                    row.record.revoked = row.record.revoked.or(Some(entry.time));
                })
            }
            _ => Ok(()),
        }
    }
}

/// Returns all tokens in order of id.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn all(rows: &mut dyn RowStore) -> Result<Vec<TokenRecord>, StoreFault> {
    let found = all_rows::<TokenFamily>(rows, BY_TOKEN)?;
    Ok(found.into_iter().map(|(_, row)| row.record).collect())
}
