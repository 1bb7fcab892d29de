//! Budgets as rows of a table: one for each account.

use palyra_screen_text::{clean_line, count, short_id};
use palyra_types::budget::MoneyAmount;
use palyra_wire::v1;

use crate::times::date;

const GOES_ON: &str = "the run goes on once";
const RAISED_NOTE: &str = "(+N) is the part of a limit that `palyra budget go-on` or `top-up` granted; it counts until the time in \
    UNTIL";
const SPENT_NOTE: &str = "SPENT counts a request whose tokens the provider did not count as it was reserved, with the longest \
    answer, so it can be more than `palyra usage` shows";
/// The unit of an amount of money where no prices are configured, whose file names the currency.
const NO_CURRENCY: &str = "in money";
const NAME_CHARS_MAX: usize = 80;

/// Returns the rows of a budget, with amounts in a currency; one that has no account yet has one row.
pub fn budget_rows(budget: &v1::Budget, currency: &str) -> Vec<[String; 6]> {
    let empty = v1::BudgetAccount { limits: budget.hard, ..Default::default() };
    let accounts =
        if budget.accounts.is_empty() { std::slice::from_ref(&empty) } else { &budget.accounts[..] };
    accounts.iter().map(|account| row(budget, account, currency)).collect()
}

fn row(budget: &v1::Budget, account: &v1::BudgetAccount, currency: &str) -> [String; 6] {
    let id = if account.run_id.is_empty() { &account.purse_id } else { &account.run_id };
    let kind = if account.run_id.is_empty() { budget.purse().short_name() } else { "run" };
    let purse = if id.is_empty() { kind.to_owned() } else { format!("{kind} {}", short_id(id)) };
    let until =
        account.window_ends.map_or_else(|| budget.window().short_name().to_owned(), |ends| date(Some(ends)));
    let limits = account.limits.unwrap_or_default();
    let raised = account.topped_up.unwrap_or_default();
    let limit = [
        limits.tokens.map(|tokens| (format!("{tokens} tokens"), raised.tokens.to_string())),
        limits
            .money_millionths
            .map(|limit| (money(limit, currency), MoneyAmount(raised.money_millionths).to_string())),
        limits.requests.map(|requests| (count(requests, "request"), raised.requests.to_string())),
    ];
    let limit: Vec<String> =
        limit.into_iter().flatten().map(|(limit, raised)| with_raise(limit, &raised)).collect();
    let amount = |amount: Option<v1::BudgetAmount>| amounts(amount.unwrap_or_default(), limits, currency);
    [budget.name.clone(), purse, amount(account.spent), amount(account.reserved), limit.join(", "), until]
}

/// Returns an amount of money with its unit.
fn money(millionths: u64, currency: &str) -> String {
    let unit = if currency.is_empty() { NO_CURRENCY } else { currency };
    format!("{} {unit}", MoneyAmount(millionths))
}

/// Adds to a limit the part of it that was granted for the current window.
fn with_raise(limit: String, raised: &str) -> String {
    if raised == "0" { limit } else { format!("{limit} (+{raised})") }
}

/// Returns remarks about a list of budgets: what its marks mean, and why amounts differ from those of `palyra usage`.
pub fn budget_notes(budgets: &[v1::Budget]) -> Vec<String> {
    let accounts: Vec<&v1::BudgetAccount> = budgets.iter().flat_map(|budget| &budget.accounts).collect();
    let mut notes = Vec::new();
    if accounts.iter().any(|account| account.topped_up.is_some()) {
        notes.push(RAISED_NOTE.to_owned());
    }
    if accounts.into_iter().any(has_charged_tokens) {
        notes.push(SPENT_NOTE.to_owned());
    }
    notes
}

fn has_charged_tokens(account: &v1::BudgetAccount) -> bool {
    let limits = account.limits.unwrap_or_default();
    let is_limited = limits.tokens.is_some() || limits.money_millionths.is_some();
    is_limited && account.spent.is_some_and(|spent| spent.tokens > 0)
}

/// Says that a run goes on once, and by how much that raises limits.
pub fn goes_on_words(answer: &v1::GoOnOnceResponse) -> String {
    let v1::GoOnOnceResponse { raised, currency } = answer;
    let of_budget = |raised: &v1::RaisedBudget| {
        let until = raised
            .until
            .map_or_else(|| "with no end".to_owned(), |until| format!("until {}", date(Some(until))));
        let amount = amount_words(raised.amount.unwrap_or_default(), currency);
        format!(
            "the limit of `{}` is raised by {amount} for it, {until}",
            clean_line(&raised.budget, NAME_CHARS_MAX)
        )
    };
    let raised: Vec<String> = raised.iter().map(of_budget).collect();
    if raised.is_empty() { GOES_ON.to_owned() } else { format!("{GOES_ON}: {}", raised.join("; ")) }
}

fn amount_words(amount: v1::BudgetAmount, currency: &str) -> String {
    let parts = [
        (amount.tokens > 0).then(|| count(amount.tokens, "token")),
        (amount.money_millionths > 0).then(|| money(amount.money_millionths, currency)),
        (amount.requests > 0).then(|| count(amount.requests, "request")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

/// Returns the parts of an amount that are limited, or its tokens.
fn amounts(amount: v1::BudgetAmount, limits: v1::BudgetLimits, currency: &str) -> String {
    let mut parts = Vec::new();
    if limits.tokens.is_some() || limits == v1::BudgetLimits::default() {
        parts.push(amount.tokens.to_string());
    }
    if limits.money_millionths.is_some() {
        parts.push(money(amount.money_millionths, currency));
    }
    if limits.requests.is_some() {
        parts.push(amount.requests.to_string());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_what_is_limited() {
        let hard = v1::BudgetLimits { money_millionths: Some(5_000_000), requests: Some(9), tokens: None };
        let budget = v1::Budget { name: "daily".to_owned(), hard: Some(hard), ..Default::default() };
        let row = |budget: &v1::Budget| budget_rows(budget, "EUR")[0].clone();
        assert_eq!(row(&budget)[2..5], ["0 EUR, 0", "0 EUR, 0", "5 EUR, 9 requests"]);
        assert_eq!(budget_rows(&budget, "")[0][4], "5 in money, 9 requests");
        let spent = v1::BudgetAmount { tokens: 7, money_millionths: 1_250_000, requests: 2 };
        let account = v1::BudgetAccount { spent: Some(spent), limits: Some(hard), ..Default::default() };
        let budget = v1::Budget { accounts: vec![account], ..budget };
        assert_eq!(row(&budget)[2], "1.25 EUR, 2");
    }

    #[test]
    fn a_limit_shows_the_part_of_it_that_was_granted() {
        let hard = v1::BudgetLimits { tokens: Some(6_000), requests: Some(9), ..Default::default() };
        let raised = v1::BudgetAmount { tokens: 1_000, ..Default::default() };
        let spent = v1::BudgetAmount { tokens: 7, ..Default::default() };
        let plain = v1::BudgetAccount { limits: Some(hard), spent: Some(spent), ..Default::default() };
        let account = v1::BudgetAccount { topped_up: Some(raised), ..plain.clone() };
        let of = |account| v1::Budget { accounts: vec![account], hard: Some(hard), ..Default::default() };
        assert_eq!(budget_rows(&of(account.clone()), "")[0][4], "6000 tokens (+1000), 9 requests");
        assert_eq!(budget_rows(&of(plain.clone()), "")[0][4], "6000 tokens, 9 requests");
        let notes = |account| budget_notes(&[of(account)]);
        assert!(notes(account)[0].contains("palyra budget go-on"));
        let unraised = notes(plain);
        assert!(unraised.len() == 1 && unraised[0].contains("palyra usage"), "{unraised:?}");
        assert_eq!(notes(v1::BudgetAccount::default()), Vec::<String>::new());
    }

    #[test]
    fn a_run_that_goes_on_says_by_how_much_and_until_when_limits_are_raised() {
        let amount = Some(v1::BudgetAmount { tokens: 1_234, money_millionths: 500_000, requests: 1 });
        let until = Some(prost_types::Timestamp { seconds: 1_800_000_000, nanos: 0 });
        let raised = |until| v1::RaisedBudget { budget: "daily".to_owned(), amount, until };
        let words = |raised: &[v1::RaisedBudget]| {
            let (raised, currency) = (raised.to_vec(), "EUR".to_owned());
            goes_on_words(&v1::GoOnOnceResponse { raised, currency })
        };
        assert_eq!(
            words(&[raised(until)]),
            "the run goes on once: the limit of `daily` is raised by 1234 tokens and 0.5 EUR and 1 request for it, \
             until 2027-01-15T08:00:00Z"
        );
        assert!(words(&[raised(None), raised(until)]).contains("for it, with no end; the limit of"));
        assert_eq!(words(&[]), "the run goes on once");
    }
}
