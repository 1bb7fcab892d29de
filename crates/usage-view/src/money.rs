//! Amounts of money, and costs of which a part may be unknown.

use palyra_screen_text::count;
use palyra_wire::v1;

/// Millionths of one unit of a currency.
const MILLIONTHS: u64 = 1_000_000;
/// Digits behind the point, at least.
const FRACTION_DIGITS_MIN: usize = 2;

/// Returns an amount with two to six digits behind the point, exactly.
#[must_use]
pub fn money(millionths: u64) -> String {
    let fraction = format!("{:06}", millionths % MILLIONTHS);
    let digits = fraction.trim_end_matches('0').len().max(FRACTION_DIGITS_MIN);
    format!("{}.{}", millionths / MILLIONTHS, &fraction[..digits])
}

/// Returns a cost for a cell: `1.20`; `1.20+` where a part has no price; `no price` where no part has one; nothing for
/// usage without prices.
#[must_use]
pub fn cost_cell(used: &v1::UsageTotals) -> String {
    let is_partial = used.unpriced_requests > 0 || used.unpriced_tokens > 0;
    match (used.cost_millionths, is_partial) {
        (Some(cost), false) => money(cost),
        (Some(cost), true) => format!("{}+", money(cost)),
        (None, true) => "no price".to_owned(),
        (None, false) => String::new(),
    }
}

/// Returns the cost of a run in words; nothing where it is not known.
#[must_use]
pub fn run_cost_words(cost: &v1::RunCost) -> Option<String> {
    let amount = format!("{} {}", money(cost.cost_millionths?), cost.currency);
    Some(match (cost.unpriced_requests, cost.unpriced_tokens) {
        (0, 0) => amount,
        (0, _) => format!("at least {amount}, a part has no price"),
        (requests, _) => format!("at least {amount}, {} without a price", count(requests, "request")),
    })
}

/// Returns the cost of a run that is over, in words; nothing where it is not known.
#[must_use]
pub fn finished_cost(run: &v1::Run) -> Option<String> {
    let cost = run.cost.as_ref().filter(|_| run.phase() == v1::RunPhase::Finished);
    cost.and_then(run_cost_words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_and_have_two_digits_at_least() {
        for (millionths, expect) in [
            (0, "0.00"),
            (1, "0.000001"),
            (10, "0.00001"),
            (100_000, "0.10"),
            (1_234_567, "1.234567"),
            (1_200_000, "1.20"),
            (12_345_000_000, "12345.00"),
            (u64::MAX, "18446744073709.551615"),
        ] {
            assert_eq!(money(millionths), expect);
        }
    }

    #[test]
    fn a_cost_says_whether_a_part_of_it_is_unknown() {
        let used = |cost_millionths, unpriced_requests, unpriced_tokens| v1::UsageTotals {
            cost_millionths,
            unpriced_requests,
            unpriced_tokens,
            ..Default::default()
        };
        for (used, expect) in [
            (used(Some(1_200_000), 0, 0), "1.20"),
            (used(Some(0), 0, 0), "0.00"),
            (used(Some(1_200_000), 1, 9), "1.20+"),
            (used(Some(1_200_000), 0, 9), "1.20+"),
            (used(None, 2, 0), "no price"),
            (used(None, 0, 0), ""),
        ] {
            assert_eq!(cost_cell(&used), expect, "{used:?}");
        }
    }

    #[test]
    fn the_cost_of_a_run_is_left_out_where_it_is_not_known() {
        let cost = |cost_millionths, unpriced_requests, unpriced_tokens| {
            let currency = "EUR".to_owned();
            run_cost_words(&v1::RunCost { cost_millionths, currency, unpriced_requests, unpriced_tokens })
        };
        assert_eq!(cost(None, 3, 5), None);
        assert_eq!(cost(Some(20_000), 0, 0).as_deref(), Some("0.02 EUR"));
        let open = v1::Run {
            cost: Some(v1::RunCost { cost_millionths: Some(1), ..Default::default() }),
            phase: v1::RunPhase::Running.into(),
            ..Default::default()
        };
        assert_eq!(finished_cost(&open), None);
        let finished = v1::Run { phase: v1::RunPhase::Finished.into(), ..open };
        assert_eq!(finished_cost(&finished).as_deref(), Some("0.000001 "));
        assert_eq!(cost(Some(0), 1, 5).as_deref(), Some("at least 0.00 EUR, 1 request without a price"));
        assert_eq!(cost(Some(1), 0, 5).as_deref(), Some("at least 0.000001 EUR, a part has no price"));
    }
}
