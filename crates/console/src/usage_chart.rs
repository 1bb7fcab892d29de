//! Usage of each day as bars, drawn by the server: no script, and the table beside it has the same numbers.
//!
//! Owns the geometry. A bar is as high as its part of the largest one; a number above zero can be seen. Kinds of bars differ by
//! colour and by filling.

use maud::{Markup, html};
use palyra_usage_view::day_of;

/// The height of the largest bar, in units of the drawing.
const HEIGHT: u64 = 1_000;
/// The height of the bar of a number above zero, at least.
const HEIGHT_MIN: u64 = 10;
/// The width of a day, and of the gap before its bars.
const DAY_WIDTH: u64 = 100;
const GAP: u64 = 10;
const DAY_SECONDS: i64 = 24 * 60 * 60;
/// Days of one drawing, at most: an answer has no more.
const DAYS_MAX: i64 = 367;

/// A kind of bars.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BarKind {
    /// What its numbers count, such as `input tokens`.
    pub(crate) noun: &'static str,
    /// The class of its bars and of its sign in the legend.
    pub(crate) class: &'static str,
    pub(crate) sign: &'static str,
    /// Writes a number of it.
    pub(crate) write: fn(u64) -> String,
}

/// The numbers of one day, one for each kind of bars.
#[derive(Debug, Clone, Default)]
pub(crate) struct DayNumbers {
    /// The beginning of the day, in seconds since 1970.
    pub(crate) day: i64,
    pub(crate) numbers: Vec<u64>,
}

/// What a drawing shows.
pub(crate) struct UsageChart<'a> {
    /// An id that no other drawing of the page has.
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) kinds: &'a [BarKind],
    /// The beginnings of the first and of the last day, in seconds since 1970.
    pub(crate) from: i64,
    pub(crate) until: i64,
    /// The days with numbers, in order; the others are zero.
    pub(crate) days: &'a [DayNumbers],
}

impl UsageChart<'_> {
    pub(crate) fn markup(&self) -> Markup {
        let days = ((self.until - self.from) / DAY_SECONDS + 1).clamp(1, DAYS_MAX);
        let width = days.unsigned_abs() * DAY_WIDTH;
        let title_id = format!("{}-title", self.id);
        let description_id = format!("{}-text", self.id);
        html! {
            figure {
                svg.chart viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                    aria-labelledby={ (title_id) " " (description_id) } {
                    title id=(title_id) { (self.title) }
                    desc id=(description_id) { (self.description()) }
                    @for day in self.days { (self.day(day)) }
                }
                figcaption.muted {
                    (date(self.from)) " to " (date(self.until)) ". "
                    @for kind in self.kinds {
                        span class=(kind.class) { span aria-hidden="true" { (kind.sign) } " " (kind.noun) } " "
                    }
                }
            }
        }
    }

    fn description(&self) -> String {
        let most = self.kinds.iter().enumerate().filter_map(|(at, kind)| {
            let largest = self.days.iter().max_by_key(|day| number(day, at))?;
            let words = (kind.write)(number(largest, at));
            Some(format!("Most {} in a day: {words}, on {}.", kind.noun, date(largest.day)))
        });
        let most: Vec<String> = most.collect();
        format!("{} The table below has the same numbers.", most.join(" "))
    }

    fn day(&self, day: &DayNumbers) -> Markup {
        let largest = self.days.iter().flat_map(|day| &day.numbers).copied().max().unwrap_or(0).max(1);
        let kinds = u64::try_from(self.kinds.len()).unwrap_or(1).max(1);
        let bar_width = (DAY_WIDTH - GAP) / kinds;
        let place = u64::try_from((day.day - self.from) / DAY_SECONDS).unwrap_or(0);
        let bars = self.kinds.iter().enumerate().map(|(at, kind)| {
            let x = place * DAY_WIDTH + GAP + u64::try_from(at).unwrap_or(0) * bar_width;
            (kind, x, bar_height(number(day, at), largest))
        });
        let numbers = self
            .kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| format!("{} {}", (kind.write)(number(day, at)), kind.noun));
        let numbers: Vec<String> = numbers.collect();
        html! {
            g {
                title { (date(day.day)) ": " (numbers.join(", ")) }
                @for (kind, x, height) in bars {
                    rect class=(kind.class) x=(x) y=(HEIGHT - height) width=(bar_width) height=(height) {}
                }
            }
        }
    }
}

fn number(day: &DayNumbers, kind: usize) -> u64 {
    day.numbers.get(kind).copied().unwrap_or(0)
}

/// Returns the height of a bar; `largest` is above zero.
fn bar_height(number: u64, largest: u64) -> u64 {
    let part = u128::from(number) * u128::from(HEIGHT) / u128::from(largest);
    let height = u64::try_from(part).unwrap_or(HEIGHT).min(HEIGHT);
    if number == 0 { 0 } else { height.max(HEIGHT_MIN) }
}

fn date(seconds: i64) -> String {
    day_of(Some(&prost_types::Timestamp { seconds, nanos: 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [BarKind; 2] = [
        BarKind { noun: "input tokens", class: "info", sign: "■", write: |number| number.to_string() },
        BarKind { noun: "output tokens", class: "positive", sign: "□", write: |number| number.to_string() },
    ];

    fn drawn(days: &[DayNumbers], last_day: i64) -> String {
        let chart = UsageChart {
            id: "tokens",
            title: "Tokens of each day",
            kinds: &KINDS,
            from: 0,
            until: last_day * DAY_SECONDS,
            days,
        };
        chart.markup().into_string()
    }

    #[test]
    fn bars_are_in_proportion_and_a_screen_reader_hears_what_is_largest() {
        let day =
            |day: i64, input, output| DayNumbers { day: day * DAY_SECONDS, numbers: vec![input, output] };
        let text = drawn(&[day(0, 1_000, 1), day(2, 500, 0)], 2);
        assert!(text.contains("viewBox=\"0 0 300 1000\""), "{text}");
        for bar in [
            "class=\"info\" x=\"10\" y=\"0\" width=\"45\" height=\"1000\"",
            "class=\"positive\" x=\"55\" y=\"990\" width=\"45\" height=\"10\"",
            "class=\"info\" x=\"210\" y=\"500\" width=\"45\" height=\"500\"",
            "class=\"positive\" x=\"255\" y=\"1000\" width=\"45\" height=\"0\"",
        ] {
            assert!(text.contains(bar), "{bar} in {text}");
        }
        let labels = "role=\"img\" aria-labelledby=\"tokens-title tokens-text\"";
        assert!(
            text.contains(labels) && text.contains("<title id=\"tokens-title\">Tokens of each day</title>")
        );
        assert!(text.contains("Most input tokens in a day: 1000, on 1970-01-01."), "{text}");
        assert!(text.contains("<title>1970-01-03: 500 input tokens, 0 output tokens</title>"), "{text}");
        assert!(!text.contains("style=") && !text.contains("<script"), "{text}");
    }

    #[test]
    fn nothing_and_the_largest_numbers_are_drawn() {
        assert!(drawn(&[], 0).contains("viewBox=\"0 0 100 1000\""));
        assert!(drawn(&[], 1_000_000).contains("viewBox=\"0 0 36700 1000\""));
        for (number, largest, height) in
            [(0, 1, 0), (1, u64::MAX, HEIGHT_MIN), (u64::MAX, u64::MAX, HEIGHT), (1, 2, 500), (5, 1, HEIGHT)]
        {
            assert_eq!(bar_height(number, largest), height, "{number} of {largest}");
        }
    }
}
