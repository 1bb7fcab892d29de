//! Accounts of budgets: one row for each, made by its first entry and folded by the account's own rules.
//!
//! Invariant: a row is what [`BudgetAccount::evolve`] makes of the account's entries, and nothing else writes it.

use palyra_governance::{BudgetAccount, WarnedMeasures, WindowTotals};
use palyra_types::budget::{AccountKey, BudgetEvent, PurseKey, WindowSpan};
use palyra_types::event::JournalEvent;
use palyra_types::{BudgetId, Timestamp};
use palyra_wire::store;

use crate::codec::budget_entries::{
    account_from_stored, account_to_stored, amount_from_stored, amount_to_stored, request_from_stored,
    request_to_stored,
};
use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, RowStore, RowsPerKey,
    ScanOrder, StoreFault, StoredRow, all_rows, find_row, scan_rows,
};

/// The family.
pub struct BudgetAccountFamily;

/// An account with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRow {
    /// Its name.
    pub key: AccountKey,
    /// The account.
    pub account: BudgetAccount,
}

#[derive(Clone, PartialEq, prost::Message)]
struct AccountFacts {
    #[prost(message, optional, tag = "1")]
    key: Option<store::BudgetAccountKey>,
    #[prost(message, optional, tag = "2")]
    span: Option<SpanFacts>,
    #[prost(message, optional, tag = "3")]
    spent: Option<store::BudgetAmount>,
    #[prost(message, optional, tag = "4")]
    auxiliary_spent: Option<store::BudgetAmount>,
    #[prost(message, optional, tag = "5")]
    topped_up: Option<store::BudgetAmount>,
    #[prost(message, optional, tag = "6")]
    above_reservation: Option<store::BudgetAmount>,
    #[prost(message, optional, tag = "7")]
    not_charged: Option<store::BudgetAmount>,
    #[prost(uint64, tag = "8")]
    unpriced_requests: u64,
    #[prost(bool, tag = "9")]
    warned_tokens: bool,
    #[prost(bool, tag = "10")]
    warned_money: bool,
    #[prost(bool, tag = "11")]
    warned_requests: bool,
    #[prost(message, optional, tag = "12")]
    spent_before: Option<store::BudgetAmount>,
    #[prost(message, repeated, tag = "13")]
    open: Vec<store::BudgetRequest>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct SpanFacts {
    #[prost(sint64, tag = "1")]
    start: i64,
    #[prost(sint64, tag = "2")]
    end: i64,
}

const BY_ACCOUNT: usize = 0;
const WITH_RESERVATIONS: usize = 1;

fn of_budget(budget: BudgetId) -> IndexKey {
    IndexKey::new().bytes(&budget.to_bytes())
}

fn key(account: &AccountKey) -> IndexKey {
    let purse = match account.purse {
        PurseKey::Total => [0; 16],
        PurseKey::Principal(id) => id.to_bytes(),
        PurseKey::Agent(id) => id.to_bytes(),
        PurseKey::Session(id) => id.to_bytes(),
        PurseKey::Channel(id) => id.to_bytes(),
        PurseKey::Schedule(id) => id.to_bytes(),
    };
    of_budget(account.budget)
        .byte(account.window as u8)
        .byte(account.purse.kind() as u8)
        .bytes(&purse)
        .bytes(&account.run.map_or([0; 16], |run| run.to_bytes()))
}

impl Family for BudgetAccountFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "budget_account",
        version: 1,
        indexes: &[
            FamilyIndex { name: "by_account", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "with_reservations", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = AccountRow;

    fn facts(row: &AccountRow) -> Vec<u8> {
        let totals = row.account.totals();
        prost::Message::encode_to_vec(&AccountFacts {
            key: Some(account_to_stored(&row.key)),
            span: totals.span.map(|span| SpanFacts { start: span.start.0, end: span.end.0 }),
            spent: Some(amount_to_stored(totals.spent)),
            auxiliary_spent: Some(amount_to_stored(totals.auxiliary_spent)),
            topped_up: Some(amount_to_stored(totals.topped_up)),
            above_reservation: Some(amount_to_stored(totals.above_reservation)),
            not_charged: Some(amount_to_stored(totals.not_charged)),
            unpriced_requests: totals.unpriced_requests,
            warned_tokens: totals.warned.tokens,
            warned_money: totals.warned.money,
            warned_requests: totals.warned.requests,
            spent_before: Some(amount_to_stored(row.account.spent_before())),
            open: row.account.open().values().map(request_to_stored).collect(),
        })
    }

    fn load(stored: &StoredRow) -> Option<AccountRow> {
        let facts = <AccountFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let span = |span: SpanFacts| WindowSpan { start: Timestamp(span.start), end: Timestamp(span.end) };
        let totals = WindowTotals {
            span: facts.span.map(span),
            spent: amount_from_stored(facts.spent),
            auxiliary_spent: amount_from_stored(facts.auxiliary_spent),
            topped_up: amount_from_stored(facts.topped_up),
            above_reservation: amount_from_stored(facts.above_reservation),
            not_charged: amount_from_stored(facts.not_charged),
            unpriced_requests: facts.unpriced_requests,
            warned: WarnedMeasures {
                tokens: facts.warned_tokens,
                money: facts.warned_money,
                requests: facts.warned_requests,
            },
        };
        let open = facts.open.iter().map(request_from_stored).collect::<Option<Vec<_>>>()?;
        Some(AccountRow {
            key: account_from_stored(&facts.key?)?,
            account: BudgetAccount::restored(totals, amount_from_stored(facts.spent_before), open),
        })
    }

    fn index(row: &AccountRow, index: usize) -> Option<IndexKey> {
        (index == BY_ACCOUNT || !row.account.open().is_empty()).then(|| key(&row.key))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Budget(BudgetEvent::Account { account, event }) = entry.event else {
            return Ok(());
        };
        let key = key(account);
        if rows.find(BY_ACCOUNT, &key)?.is_none() {
            rows.insert(entry, AccountRow { key: *account, account: BudgetAccount::default() })?;
        }
        rows.change_by(BY_ACCOUNT, &key, |row| row.account.evolve(event))
    }
}

/// Returns an account; `None` for one that has no entry.
///
/// # Errors
/// [`StoreFault`] when the store fails; so for every query.
pub fn account(rows: &mut dyn RowStore, account: &AccountKey) -> Result<Option<BudgetAccount>, StoreFault> {
    let found = find_row::<BudgetAccountFamily>(rows, BY_ACCOUNT, &key(account))?;
    Ok(found.map(|(_, row)| row.account))
}

/// Returns the accounts of a budget that have entries, up to a limit.
///
/// # Errors
/// See [`account`].
pub fn accounts_of(
    rows: &mut dyn RowStore,
    budget: BudgetId,
    limit: usize,
) -> Result<Vec<AccountRow>, StoreFault> {
    let range = KeyRange::of_prefix(of_budget(budget));
    let found = scan_rows::<BudgetAccountFamily>(rows, BY_ACCOUNT, range, ScanOrder::Ascending, limit)?;
    Ok(found.into_iter().map(|(_, row)| row).collect())
}

/// Returns the accounts that have open reservations.
///
/// # Errors
/// See [`account`].
pub fn with_reservations(rows: &mut dyn RowStore) -> Result<Vec<AccountRow>, StoreFault> {
    Ok(all_rows::<BudgetAccountFamily>(rows, WITH_RESERVATIONS)?.into_iter().map(|(_, row)| row).collect())
}

/// Returns every account, in order of its name.
///
/// # Errors
/// See [`account`].
pub fn all(rows: &mut dyn RowStore) -> Result<Vec<AccountRow>, StoreFault> {
    Ok(all_rows::<BudgetAccountFamily>(rows, BY_ACCOUNT)?.into_iter().map(|(_, row)| row).collect())
}
