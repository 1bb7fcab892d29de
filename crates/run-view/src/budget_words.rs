//! Budgets as people type them.

use palyra_types::budget::MoneyAmount;
use palyra_wire::v1;

/// A single request often reserves so many tokens.
const REQUEST_TOKENS: u64 = 20_000;
const PRICES_SETTING: &str = "prices.file";

/// A budget in the words of a command line.
#[derive(Debug, Clone, Default)]
pub struct BudgetWords {
    /// Its name.
    pub name: String,
    /// Its hard limits, such as `tokens=200000` and `money=5.00`.
    pub limit: Vec<String>,
    /// Its soft limits.
    pub soft: Vec<String>,
    /// How long it counts.
    pub window: String,
    /// The kind of purse that it limits.
    pub per: String,
    /// The id of the one purse of the kind; empty for each.
    pub purse: String,
    /// The action at a hard limit.
    pub at_limit: String,
}

/// Returns the request that sets a budget, or what is wrong with the words.
///
/// # Errors
/// A sentence that names the word and how to write it.
pub fn budget_request(words: BudgetWords) -> Result<v1::SetBudgetRequest, String> {
    let window = v1::BudgetWindow::from_short_name(&words.window);
    let purse = v1::BudgetPurse::from_short_name(&words.per);
    let at_limit = v1::BudgetAction::from_short_name(&words.at_limit);
    Ok(v1::SetBudgetRequest {
        name: words.name,
        purse: purse
            .ok_or_else(|| unknown(&words.per, "total, principal, agent, session or schedule"))?
            .into(),
        purse_id: words.purse,
        window: window
            .ok_or_else(|| unknown(&words.window, "run, hour, day, week, month or endless"))?
            .into(),
        hard: Some(limits(&words.limit)?),
        soft: Some(limits(&words.soft)?),
        at_limit: at_limit.ok_or_else(|| unknown(&words.at_limit, "park, ask or refuse"))?.into(),
        auxiliary_percent: None,
    })
}

/// Returns an amount such as `tokens=5000` or `money=2.50`, or what is wrong with the words.
///
/// # Errors
/// See [`budget_request`].
pub fn budget_amount(words: &[String]) -> Result<v1::BudgetAmount, String> {
    let v1::BudgetLimits { tokens, money_millionths, requests } = limits(words)?;
    Ok(v1::BudgetAmount {
        tokens: tokens.unwrap_or_default(),
        money_millionths: money_millionths.unwrap_or_default(),
        requests: requests.unwrap_or_default(),
    })
}

/// Returns remarks about limits that may stop the first request; `setting` knows the settings of the daemon.
pub fn budget_remarks(
    request: &v1::SetBudgetRequest,
    setting: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let hard = request.hard.unwrap_or_default();
    let small = hard.tokens.filter(|tokens| *tokens < REQUEST_TOKENS).map(|tokens| {
        format!(
            "each request reserves its input and the longest answer of its model, often more than 10000 tokens: a limit of \
             {tokens} tokens may stop the first request"
        )
    });
    let has_prices = setting(PRICES_SETTING).is_none_or(|value| !value.trim_matches('"').is_empty());
    let unpriced = (hard.money_millionths.is_some() && !has_prices).then(|| {
        format!(
            "no prices are configured, so each request is refused under a limit on money: `{PRICES_SETTING}` names a file, \
             see `palyra explain budgets#prices`"
        )
    });
    small.into_iter().chain(unpriced).collect()
}

fn limits(words: &[String]) -> Result<v1::BudgetLimits, String> {
    let mut limits = v1::BudgetLimits::default();
    for word in words {
        let wrong = || unknown(word, "tokens=N, money=AMOUNT or requests=N");
        let (measure, value) = word.split_once('=').ok_or_else(wrong)?;
        match measure {
            "tokens" => limits.tokens = Some(value.parse().map_err(|_| wrong())?),
            "requests" => limits.requests = Some(value.parse().map_err(|_| wrong())?),
            "money" => {
                let money: MoneyAmount = value.parse().map_err(|error| format!("{error}"))?;
                limits.money_millionths = Some(money.0);
            }
            _ => return Err(wrong()),
        }
    }
    Ok(limits)
}

fn unknown(given: &str, expected: &str) -> String {
    format!("`{given}` cannot be read; write {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(limit: &[&str], window: &str) -> BudgetWords {
        BudgetWords {
            name: "daily".to_owned(),
            limit: limit.iter().map(|word| (*word).to_owned()).collect(),
            window: window.to_owned(),
            per: "session".to_owned(),
            at_limit: "refuse".to_owned(),
            ..BudgetWords::default()
        }
    }

    #[test]
    fn limits_that_may_stop_the_first_request_are_said() {
        let setting = |_: &str| Some("\"\"".to_owned());
        let remarks = |limit: &[&str]| budget_remarks(&budget_request(words(limit, "day")).unwrap(), setting);
        assert!(remarks(&["tokens=500"])[0].contains("a limit of 500 tokens"));
        assert!(remarks(&["money=5"])[0].contains("no prices are configured"));
        assert!(remarks(&["tokens=200000", "requests=3"]).is_empty());
        let request = budget_request(words(&["money=5"], "day")).unwrap();
        assert!(budget_remarks(&request, |_| Some("\"/prices.toml\"".to_owned())).is_empty());
        assert!(budget_remarks(&request, |_| None).is_empty());
    }

    #[test]
    fn words_become_a_request_or_say_how_to_write_them() {
        let request = budget_request(words(&["tokens=200", "money=2.50"], "week")).unwrap();
        let hard = v1::BudgetLimits { tokens: Some(200), money_millionths: Some(2_500_000), requests: None };
        assert_eq!(request.hard, Some(hard));
        assert_eq!((request.window(), request.purse()), (v1::BudgetWindow::Week, v1::BudgetPurse::Session));
        for (limit, window, wrong) in [
            ("200", "day", "tokens=N"),
            ("tokens=many", "day", "tokens=N"),
            ("money=1,5", "day", "amount of money"),
            ("tokens=1", "year", "endless"),
        ] {
            let error = budget_request(words(&[limit], window)).unwrap_err();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
