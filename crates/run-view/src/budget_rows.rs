//! Budgets as rows of a table: one for each account.

use palyra_screen_text::{count, short_id};
use palyra_types::budget::MoneyAmount;
use palyra_wire::v1;

use crate::times::date;

/// Returns the rows of a budget; one that has no account yet has one row.
pub fn budget_rows(budget: &v1::Budget) -> Vec<[String; 6]> {
    let empty = v1::BudgetAccount { limits: budget.hard, ..Default::default() };
    let accounts =
        if budget.accounts.is_empty() { std::slice::from_ref(&empty) } else { &budget.accounts[..] };
    accounts.iter().map(|account| row(budget, account)).collect()
}

fn row(budget: &v1::Budget, account: &v1::BudgetAccount) -> [String; 6] {
    let id = if account.run_id.is_empty() { &account.purse_id } else { &account.run_id };
    let kind = if account.run_id.is_empty() { budget.purse().short_name() } else { "run" };
    let purse = if id.is_empty() { kind.to_owned() } else { format!("{kind} {}", short_id(id)) };
    let until =
        account.window_ends.map_or_else(|| budget.window().short_name().to_owned(), |ends| date(Some(ends)));
    let limits = account.limits.unwrap_or_default();
    let limit = [
        limits.tokens.map(|tokens| format!("{tokens} tokens")),
        limits.money_millionths.map(|money| MoneyAmount(money).to_string()),
        limits.requests.map(|requests| count(requests, "request")),
    ];
    let limit: Vec<String> = limit.into_iter().flatten().collect();
    let amount = |amount: Option<v1::BudgetAmount>| amounts(amount.unwrap_or_default(), limits);
    [budget.name.clone(), purse, amount(account.spent), amount(account.reserved), limit.join(", "), until]
}

/// Returns the parts of an amount that are limited, or its tokens.
fn amounts(amount: v1::BudgetAmount, limits: v1::BudgetLimits) -> String {
    let mut parts = Vec::new();
    if limits.tokens.is_some() || limits == v1::BudgetLimits::default() {
        parts.push(amount.tokens.to_string());
    }
    if limits.money_millionths.is_some() {
        parts.push(MoneyAmount(amount.money_millionths).to_string());
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
        assert_eq!(budget_rows(&budget)[0][2..5], ["0, 0", "0, 0", "5, 9 requests"]);
        let spent = v1::BudgetAmount { tokens: 7, money_millionths: 1_250_000, requests: 2 };
        let account = v1::BudgetAccount { spent: Some(spent), limits: Some(hard), ..Default::default() };
        let budget = v1::Budget { accounts: vec![account], ..budget };
        assert_eq!(budget_rows(&budget)[0][2], "1.25, 2");
    }
}
