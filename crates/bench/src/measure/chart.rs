//! A chart of the ratios: a bar for each figure that has an anchor, with its goal as a line.

use std::fmt::Write as _;

use super::figure::{BenchFigure, FigureGoal, GoalVerdict};
use super::report::BenchReport;

const WIDTH: f64 = 960.0;
const LABEL_WIDTH: f64 = 430.0;
const BAR_WIDTH: f64 = 330.0;
const ROW_HEIGHT: f64 = 30.0;
const TOP: f64 = 74.0;
/// A bar longer than this many times its anchor is cut off.
const RATIO_SHOWN_MAX: f64 = 4.0;

/// Draws the chart as SVG.
#[must_use]
pub fn svg(report: &BenchReport) -> String {
    let bars: Vec<&BenchFigure> = report.figures.iter().filter(|figure| fraction(figure).is_some()).collect();
    let height = TOP + ROW_HEIGHT * f64::from(u32::try_from(bars.len()).unwrap_or(0)) + 40.0;
    let mut text = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="16" y="28" font-size="18" font-weight="600" fill="#1f2328">Palyra beside its anchors and goals</text>
<text x="16" y="50" fill="#59636e">{}</text>
"##,
        escaped(&report.machine.sentence())
    );
    for (at, figure) in bars.iter().enumerate() {
        let y = TOP + ROW_HEIGHT * f64::from(u32::try_from(at).unwrap_or(0));
        bar(&mut text, figure, y);
    }
    let _ = writeln!(
        text,
        r##"<text x="16" y="{}" fill="#59636e">A bar ends at its goal's line when the goal is just met. Green: met. Red: missed. Grey: no goal.</text>"##,
        height - 14.0
    );
    text + "</svg>\n"
}

fn bar(text: &mut String, figure: &BenchFigure, y: f64) {
    let Some((share, shown)) = fraction(figure) else { return };
    let colour = match figure.verdict {
        GoalVerdict::Met => "#2da44e",
        GoalVerdict::Missed => "#cf222e",
        GoalVerdict::Told => "#8c959f",
    };
    let unit = BAR_WIDTH / RATIO_SHOWN_MAX;
    let long = share.clamp(0.02, RATIO_SHOWN_MAX) * unit;
    let _ = writeln!(
        text,
        r##"<text x="{}" y="{}" text-anchor="end" fill="#1f2328">{}</text>"##,
        LABEL_WIDTH - 10.0,
        y + 16.0,
        escaped(&figure.what)
    );
    let _ = writeln!(
        text,
        r##"<rect x="{LABEL_WIDTH}" y="{}" width="{long:.1}" height="16" rx="2" fill="{colour}"/>"##,
        y + 3.0
    );
    if figure.goal != FigureGoal::None {
        let at = LABEL_WIDTH + unit;
        let _ = writeln!(
            text,
            r##"<line x1="{at}" x2="{at}" y1="{y}" y2="{}" stroke="#1f2328" stroke-width="1.5"/>"##,
            y + 22.0
        );
    }
    let _ = writeln!(
        text,
        r##"<text x="{:.1}" y="{}" fill="#1f2328">{}</text>"##,
        LABEL_WIDTH + long.max(unit) + 8.0,
        y + 16.0,
        escaped(&shown)
    );
}

/// Returns how much of its goal a figure takes (below 1 is good), and what stands beside the bar.
fn fraction(figure: &BenchFigure) -> Option<(f64, String)> {
    let unit = figure.unit;
    let goal = figure.goal.show(unit);
    let ours = unit.show(figure.ours.p50);
    let ratio = figure.ratio.map(|ratio| format!("{ratio:.2}x {}", anchor(figure)));
    let (share, shown) = match figure.goal {
        FigureGoal::None => (figure.ratio?, ratio?),
        FigureGoal::AtMost(most) => (figure.ours.p50 / most, format!("{ours} ({goal})")),
        FigureGoal::TailAtMost(most) => {
            (figure.ours.p99 / most, format!("p99 {} ({goal})", unit.show(figure.ours.p99)))
        }
        FigureGoal::RatioAtMost(most) => (figure.ratio? / most, format!("{} ({goal})", ratio?)),
        FigureGoal::RatioAtLeast(least) => {
            (least / figure.ratio?.max(f64::MIN_POSITIVE), format!("{} ({goal})", ratio?))
        }
    };
    Some((share, shown))
}

fn anchor(figure: &BenchFigure) -> &'static str {
    figure.anchor.as_ref().map_or("", |anchor| anchor.what)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::figure::Unit;
    use crate::measure::machine::MachineFacts;
    use crate::measure::samples::SampleSummary;

    #[test]
    fn a_bar_reaches_its_line_when_its_goal_is_just_met() {
        let figure = |ours| BenchFigure::new("row", "a < b", Unit::Ms, SampleSummary::single(ours));
        let at_least =
            figure(2.0).beside("floor", SampleSummary::single(4.0)).goal(FigureGoal::RatioAtLeast(0.5));
        assert_eq!(fraction(&at_least), Some((1.0, "0.50x floor (>= 0.5x)".to_owned())));
        let at_most = figure(5.0).goal(FigureGoal::AtMost(20.0));
        assert_eq!(fraction(&at_most), Some((0.25, "5 ms (<= 20 ms)".to_owned())));
        assert_eq!(fraction(&figure(5.0)), None, "nothing to compare with");
        let machine = MachineFacts::look(std::path::Path::new("/"));
        let figures = vec![at_least, at_most, figure(1.0)];
        let report = BenchReport { machine, daemon: None, warnings: Vec::new(), figures };
        let chart = svg(&report);
        assert_eq!(chart.matches("<rect x=").count(), 2, "{chart}");
        assert!(chart.contains("a &lt; b") && !chart.contains("a < b"), "{chart}");
    }
}
