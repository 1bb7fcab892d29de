//! Tables at the widths of terminals.

use proptest::prelude::*;

use super::*;

fn used(requests: u64, input: u64, output: u64, cost: Option<u64>) -> v1::UsageTotals {
    let (unpriced_requests, unpriced_tokens) =
        if cost.is_some() { (0, 0) } else { (requests, input + output) };
    v1::UsageTotals {
        requests,
        input_tokens: input,
        output_tokens: output,
        cost_millionths: cost,
        unpriced_requests,
        unpriced_tokens,
        ..Default::default()
    }
}

fn model(name: &str, totals: v1::UsageTotals) -> v1::UsageRow {
    v1::UsageRow {
        grouping: UsageGrouping::Model.into(),
        model: name.to_owned(),
        totals: Some(totals),
        ..Default::default()
    }
}

fn usage(currency: &str) -> v1::GetUsageResponse {
    let all = v1::UsageTotals {
        unpriced_requests: 2,
        unpriced_tokens: 440,
        ..used(17, 46_400, 1_840, Some(1_500_000))
    };
    v1::GetUsageResponse {
        all: Some(all),
        rows: vec![
            model("acme/large-with-a-very-long-name-of-2026", used(12, 45_000, 1_200, Some(1_250_000))),
            model("acme/small", used(3, 1_000, 600, Some(250_000))),
            model("local/m", used(2, 400, 40, None)),
        ],
        currency: currency.to_owned(),
        ..Default::default()
    }
}

fn shown(currency: &str, columns: Option<usize>) -> String {
    let style = TableStyle { columns, ambiguous: AmbiguousWidth::Wide };
    usage_lines(&usage(currency), UsageGrouping::Model, style).join("\n")
}

#[test]
fn a_terminal_of_eighty_columns_shows_all_numbers_and_bars() {
    assert_eq!(
        shown("EUR", Some(80)),
        "\
MODEL                            REQUESTS  INPUT  OUTPUT  COST EUR
acme/large-with-a-very-long-na…        12  45000    1200      1.25  ############
acme/small                              3   1000     600      0.25  ###
local/m                                 2    400      40  no price
total                                  17  46400    1840     1.50+"
    );
}

#[test]
fn a_terminal_of_forty_columns_joins_numbers_and_keeps_bars() {
    assert_eq!(
        shown("EUR", Some(40)),
        "\
MODEL             TOKENS       EUR
acme/large-with…   46.2k      1.25  ####
acme/small          1600      0.25  #
local/m              440  no price
total              48.2k     1.50+"
    );
}

#[test]
fn without_costs_bars_show_tokens_and_there_is_no_column_of_costs() {
    let text = shown("", Some(60));
    assert!(!text.contains("EUR") && !text.contains("no price"), "{text}");
    let mut plain = usage("");
    plain.rows.iter_mut().for_each(|row| {
        row.totals = row.totals.map(|used| v1::UsageTotals { cost_millionths: None, ..used });
    });
    let style = TableStyle { columns: Some(60), ambiguous: AmbiguousWidth::Narrow };
    let lines = usage_lines(&plain, UsageGrouping::Model, style);
    let bar = |line: &str| line.matches('█').count();
    assert!(
        bar(&lines[1]) > bar(&lines[2]) && bar(&lines[2]) >= bar(&lines[3]) && bar(&lines[3]) == 1,
        "{lines:?}"
    );
    assert_eq!((bar(&lines[0]), bar(&lines[4])), (0, 0));
}

#[test]
fn a_pipe_gets_whole_names_and_no_bars() {
    let text = shown("EUR", None);
    assert!(text.contains("acme/large-with-a-very-long-name-of-2026  "), "{text}");
    assert!(!text.contains('#'), "{text}");
}

#[test]
fn an_answer_without_rows_is_a_head_and_a_sum_of_nothing() {
    let style = TableStyle { columns: Some(80), ambiguous: AmbiguousWidth::Narrow };
    let lines = usage_lines(&v1::GetUsageResponse::default(), UsageGrouping::Day, style);
    assert_eq!(lines, ["DAY    REQUESTS  INPUT  OUTPUT", "total         0      0       0"]);
}

#[test]
fn short_numbers_have_five_characters_at_most() {
    for (number, expect) in [
        (0, "0"),
        (9_999, "9999"),
        (10_000, "10.0k"),
        (99_999, "99.9k"),
        (999_999, "999k"),
        (1_000_000, "1.0M"),
        (12_345_678, "12.3M"),
        (u64::MAX, "18.4E"),
    ] {
        assert_eq!(short_number(number), expect);
        assert!(short_number(number).len() <= 5);
    }
}

#[test]
fn words_of_others_steer_no_terminal() {
    let answer = v1::GetUsageResponse {
        rows: vec![model("a/\u{1b}[31mred\nnew\u{202e}line", used(1, 1, 1, None))],
        ..Default::default()
    };
    for columns in [None, Some(40), Some(80)] {
        let lines = usage_lines(
            &answer,
            UsageGrouping::Model,
            TableStyle { columns, ambiguous: AmbiguousWidth::Narrow },
        );
        let text = lines.join("|");
        assert!(!text.contains(['\u{1b}', '\n', '\u{202e}']), "{text:?}");
    }
}

proptest! {
    #[test]
    fn rows_fit_and_the_largest_has_the_longest_bar(
        values in proptest::collection::vec((0..9_999_999_u64, 0..9_999_u64, proptest::option::of(0..99_999_999_u64)), 1..6),
        columns in 40..140_usize,
        name in "[a-zé大/-]{1,40}",
    ) {
        let rows: Vec<v1::UsageRow> =
            values.iter().map(|(input, output, cost)| model(&name, used(1, *input, *output, *cost))).collect();
        let answer = v1::GetUsageResponse { rows, currency: "EUR".to_owned(), ..Default::default() };
        let lines = usage_lines(&answer, UsageGrouping::Model, TableStyle { columns: Some(columns), ambiguous: AmbiguousWidth::Narrow });
        prop_assert_eq!(lines.len(), values.len() + 2);
        prop_assert!(lines.iter().all(|line| line.width() <= columns), "{} {:#?}", columns, lines);
    }
}
