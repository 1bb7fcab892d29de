//! Usage as a table with a bar in each row, as wide as a terminal.
//!
//! Invariant: numbers are never cut; where the width is small, names are cut, columns are joined and bars become shorter.

use palyra_screen_text::{AmbiguousWidth, clean_line};
use palyra_wire::v1::{self, UsageGrouping};
use unicode_width::UnicodeWidthStr;

use crate::money::cost_cell;
use crate::row_name::row_name;

/// Columns between two cells.
const GAP: usize = 2;
/// Columns of a name, at most, and the least that is left of it.
const NAME_COLUMNS_MAX: usize = 32;
const NAME_COLUMNS_MIN: usize = 10;
const NAME_COLUMNS_WIDE_MIN: usize = 20;
/// Columns of the longest bar, at most, and those below which the wide table becomes the narrow one.
const BAR_COLUMNS_MAX: usize = 30;
const BAR_COLUMNS_WIDE_MIN: usize = 12;
const BAR_COLUMNS_MIN: usize = 4;
const TOTAL: &str = "total";

/// How a table is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableStyle {
    /// The width of the terminal; without one there are no bars and nothing is cut.
    pub columns: Option<usize>,
    /// How the terminal draws blocks: where they are wide, bars are number signs.
    pub ambiguous: AmbiguousWidth,
}

/// Returns the lines of a table: a head, the rows of one grouping, their sum. A bar shows the cost, or the tokens where
/// nothing has a cost.
pub(super) fn usage_lines(usage: &v1::GetUsageResponse, by: UsageGrouping, style: TableStyle) -> Vec<String> {
    let rows: Vec<&v1::UsageRow> = usage.rows.iter().filter(|row| row.grouping() == by).collect();
    let mut names: Vec<String> = vec![head_of(by).to_owned()];
    names.extend(rows.iter().map(|row| clean_line(&row_name(row), NAME_COLUMNS_MAX * 4)));
    names.push(TOTAL.to_owned());
    let used = rows.iter().map(|row| row.totals.unwrap_or_default());
    let used: Vec<v1::UsageTotals> = used.chain([usage.all.unwrap_or_default()]).collect();
    let wide = NumberColumns::new(&used, &usage.currency, ColumnChoice::All);
    let Some(columns) = style.columns else { return lines(&names, &wide, &[]) };
    let longest = names.iter().map(|name| name.width()).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
    let wide_name = longest.min(wide.name_columns(columns, BAR_COLUMNS_WIDE_MIN).max(NAME_COLUMNS_WIDE_MIN));
    let numbers = if wide.bar_columns(columns, wide_name) >= BAR_COLUMNS_WIDE_MIN {
        wide
    } else {
        NumberColumns::new(&used, &usage.currency, ColumnChoice::Joined)
    };
    let name_columns = longest.min(
        numbers
            .name_columns(columns, numbers.choice.bar_columns_min())
            .max(numbers.choice.name_columns_min()),
    );
    let bar_columns = numbers.bar_columns(columns, name_columns).min(BAR_COLUMNS_MAX);
    names.iter_mut().for_each(|name| *name = cut(name, name_columns));
    lines(&names, &numbers, &bars(&used[..rows.len()], bar_columns, style.ambiguous))
}

fn head_of(by: UsageGrouping) -> &'static str {
    match by {
        UsageGrouping::Unspecified | UsageGrouping::Day => "DAY",
        UsageGrouping::Model => "MODEL",
        UsageGrouping::Session => "SESSION",
        UsageGrouping::Surface => "SURFACE",
        UsageGrouping::Agent => "AGENT",
    }
}

/// Which numbers a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnChoice {
    /// Requests, tokens read, tokens written, cost.
    All,
    /// All tokens, in short, and the cost.
    Joined,
}

impl ColumnChoice {
    fn bar_columns_min(self) -> usize {
        match self {
            Self::All => BAR_COLUMNS_WIDE_MIN,
            Self::Joined => BAR_COLUMNS_MIN,
        }
    }

    fn name_columns_min(self) -> usize {
        match self {
            Self::All => NAME_COLUMNS_WIDE_MIN,
            Self::Joined => NAME_COLUMNS_MIN,
        }
    }

    fn heads(self, currency: &str) -> Vec<String> {
        let numbers: &[&str] = match self {
            Self::All => &["REQUESTS", "INPUT", "OUTPUT"],
            Self::Joined => &["TOKENS"],
        };
        let cost = match self {
            Self::All => format!("COST {currency}"),
            Self::Joined => currency.to_owned(),
        };
        let heads = numbers.iter().map(|&head| head.to_owned());
        heads.chain(Some(cost).filter(|_| !currency.is_empty())).collect()
    }

    fn cells(self, used: &v1::UsageTotals, currency: &str) -> Vec<String> {
        let mut cells = match self {
            Self::All => [used.requests, used.input_tokens, used.output_tokens]
                .map(|number| number.to_string())
                .to_vec(),
            Self::Joined => vec![short_number(tokens(used))],
        };
        if !currency.is_empty() {
            cells.push(cost_cell(used));
        }
        cells
    }
}

/// The cells with numbers, each row with its head, and the width of each column.
struct NumberColumns {
    choice: ColumnChoice,
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl NumberColumns {
    fn new(used: &[v1::UsageTotals], currency: &str, choice: ColumnChoice) -> Self {
        let mut rows = vec![choice.heads(currency)];
        rows.extend(used.iter().map(|used| choice.cells(used, currency)));
        let mut widths = vec![0; rows[0].len()];
        for row in &rows {
            widths.iter_mut().zip(row).for_each(|(width, cell)| *width = cell.width().max(*width));
        }
        Self { choice, rows, widths }
    }

    /// Returns the columns of all cells with the gap before each.
    fn width(&self) -> usize {
        self.widths.iter().map(|width| width + GAP).sum()
    }

    /// Returns the columns that are left for a name beside a bar.
    fn name_columns(&self, columns: usize, bar: usize) -> usize {
        columns.saturating_sub(self.width() + GAP + bar)
    }

    /// Returns the columns that are left for a bar beside a name.
    fn bar_columns(&self, columns: usize, name: usize) -> usize {
        columns.saturating_sub(self.width() + GAP + name)
    }
}

fn lines(names: &[String], numbers: &NumberColumns, bars: &[String]) -> Vec<String> {
    let name_columns = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (at, (name, cells)) in names.iter().zip(&numbers.rows).enumerate() {
        let mut line = format!("{name}{}", " ".repeat(name_columns.saturating_sub(name.width())));
        for (cell, width) in cells.iter().zip(&numbers.widths) {
            line.push_str(&" ".repeat(GAP + width.saturating_sub(cell.width())));
            line.push_str(cell);
        }
        // The head and the sum have no bar.
        let bar = at.checked_sub(1).and_then(|row| bars.get(row));
        if let Some(bar) = bar.filter(|bar| !bar.is_empty()) {
            line.push_str(&" ".repeat(GAP));
            line.push_str(bar);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Returns a bar for each row: the largest number is the longest one, and each number above zero has a sign at least.
fn bars(used: &[v1::UsageTotals], columns: usize, ambiguous: AmbiguousWidth) -> Vec<String> {
    let has_cost = used.iter().any(|used| used.cost_millionths.is_some_and(|cost| cost > 0));
    let values: Vec<u64> = if has_cost {
        used.iter().map(|used| used.cost_millionths.unwrap_or_default()).collect()
    } else {
        used.iter().map(tokens).collect()
    };
    let most = u128::from(values.iter().copied().max().unwrap_or(0).max(1));
    let columns = u128::try_from(columns).unwrap_or(0);
    let sign = match ambiguous {
        AmbiguousWidth::Narrow => "█",
        AmbiguousWidth::Wide => "#",
    };
    let lengths = values.iter().map(|value| (u128::from(*value) * columns).div_ceil(most));
    lengths.map(|length| sign.repeat(usize::try_from(length).unwrap_or(0))).collect()
}

fn tokens(used: &v1::UsageTotals) -> u64 {
    used.input_tokens.saturating_add(used.output_tokens)
}

/// Returns a number of at most five characters, such as `1234`, `12.3k` or `456M`, rounded down.
fn short_number(number: u64) -> String {
    const UNITS: [&str; 6] = ["k", "M", "G", "T", "P", "E"];
    if number < 10_000 {
        return number.to_string();
    }
    let mut tenths = u128::from(number) * 10 / 1_000;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1_000;
        unit += 1;
    }
    if tenths < 1_000 {
        format!("{}.{}{}", tenths / 10, tenths % 10, UNITS[unit])
    } else {
        format!("{}{}", tenths / 10, UNITS[unit])
    }
}

/// Cuts a name to so many columns; its end goes.
fn cut(name: &str, columns: usize) -> String {
    if name.width() <= columns {
        return name.to_owned();
    }
    let mut kept = String::new();
    for c in name.chars() {
        if kept.width() + c.to_string().width() + 1 > columns {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

#[cfg(test)]
mod tests;
