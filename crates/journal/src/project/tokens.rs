//! Access tokens, by digest. Owns the table `token`.

use palyra_types::access::TokenRecord;
use palyra_types::{PrincipalId, Redacted, Seq, Timestamp, TokenId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

const COLUMNS: &str = "token, principal, sha256, created, expires, revoked, label, seq";

/// A row of `token`.
#[derive(Debug, Clone)]
pub(crate) struct TokenRow {
    record: TokenRecord,
    seq: Seq,
}

/// The table `token`.
pub(crate) struct Tokens;

impl Family for Tokens {
    type Key = TokenId;
    type Row = TokenRow;

    fn load(connection: &Connection, key: &TokenId) -> rusqlite::Result<Option<TokenRow>> {
        let sql = format!("SELECT {COLUMNS} FROM token WHERE token = ?1");
        connection.prepare_cached(&sql)?.query_row([key.to_bytes()], read).optional()
    }

    fn store(connection: &Connection, row: &TokenRow) -> rusqlite::Result<()> {
        let record = &row.record;
        let sql = "INSERT INTO token(token, principal, sha256, created, expires, revoked, label, seq)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT(token) DO UPDATE SET revoked = excluded.revoked";
        let values = params![
            record.id.to_bytes(),
            record.principal.to_bytes(),
            record.sha256,
            record.created.0,
            record.expires.map(|time| time.0),
            record.revoked.map(|time| time.0),
            record.label.expose(),
            seq_to_sql(row.seq),
        ];
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds a new token; an id is given once.
pub(super) fn created(
    tokens: &mut Held<Tokens>,
    connection: &Connection,
    entry: &Folded<'_>,
    id: TokenId,
    (sha256, expires, label): (&[u8; 32], Option<Timestamp>, &Redacted<String>),
) -> rusqlite::Result<()> {
    if tokens.get(connection, &id)?.is_some() {
        return Ok(());
    }
    let record = TokenRecord {
        id,
        principal: entry.principal,
        sha256: *sha256,
        created: entry.time,
        expires,
        revoked: None,
        label: label.clone(),
    };
    tokens.put(id, TokenRow { record, seq: entry.seq });
    Ok(())
}

/// Folds a revocation; the first one counts.
pub(super) fn revoked(
    tokens: &mut Held<Tokens>,
    connection: &Connection,
    entry: &Folded<'_>,
    id: TokenId,
) -> rusqlite::Result<()> {
    tokens.change(connection, &id, |row| row.record.revoked = row.record.revoked.or(Some(entry.time)))
}

/// Returns all tokens in order of id.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<TokenRecord>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM token ORDER BY token"))?;
    let rows = statement.query_map([], read)?;
    rows.map(|row| row.map(|row| row.record)).collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<TokenRow> {
    let record = TokenRecord {
        id: TokenId::from_bytes(row.get(0)?),
        principal: PrincipalId::from_bytes(row.get(1)?),
        sha256: row.get(2)?,
        created: Timestamp(row.get(3)?),
        expires: row.get::<_, Option<i64>>(4)?.map(Timestamp),
        revoked: row.get::<_, Option<i64>>(5)?.map(Timestamp),
        label: row.get::<_, String>(6)?.into(),
    };
    Ok(TokenRow { record, seq: seq_from_sql(row.get(7)?) })
}
