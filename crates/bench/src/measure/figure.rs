//! One figure: ours, its anchor, their ratio, and what was wished for.
//!
//! Invariant: a ratio is made of two things measured in the same run of the command.

use serde::Serialize;

use super::samples::SampleSummary;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// Microseconds of processor time.
    CpuUs,
    /// Per second.
    PerSecond,
    /// Bytes.
    Bytes,
    /// Mebibytes.
    MiB,
    /// A plain number.
    Count,
}

/// What was wished for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureGoal {
    /// Nothing: the figure is told for its own sake.
    None,
    /// Ours, its median at most.
    AtMost(f64),
    /// Ours, its 99th percentile at most.
    TailAtMost(f64),
    /// The ratio, at most.
    RatioAtMost(f64),
    /// The ratio, at least.
    RatioAtLeast(f64),
}

/// How the figure stands to its goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalVerdict {
    /// As wished.
    Met,
    /// Not as wished.
    Missed,
    /// Nothing was wished for.
    Told,
}

/// What ours is measured beside.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Anchor {
    /// What it is.
    pub what: &'static str,
    /// What was measured.
    pub value: SampleSummary,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchFigure {
    /// The row it belongs to.
    pub row: &'static str,
    /// What was measured.
    pub what: String,
    /// What the numbers count.
    pub unit: Unit,
    /// Ours.
    pub ours: SampleSummary,
    /// What stands beside it.
    pub anchor: Option<Anchor>,
    /// Ours divided by the anchor.
    pub ratio: Option<f64>,
    /// What was wished for.
    pub goal: FigureGoal,
    /// How it stands.
    pub verdict: GoalVerdict,
    /// What else a reader should know.
    pub note: Option<String>,
}

impl BenchFigure {
    /// Makes a figure without anchor or goal.
    #[must_use]
    pub fn new(row: &'static str, what: impl Into<String>, unit: Unit, ours: SampleSummary) -> Self {
        Self {
            row,
            what: what.into(),
            unit,
            ours,
            anchor: None,
            ratio: None,
            goal: FigureGoal::None,
            verdict: GoalVerdict::Told,
            note: None,
        }
    }

    /// Puts an anchor beside it; the ratio is that of the medians.
    #[must_use]
    pub fn beside(mut self, what: &'static str, value: SampleSummary) -> Self {
        self.ratio = (value.p50 > 0.0).then(|| self.ours.p50 / value.p50);
        self.anchor = Some(Anchor { what, value });
        self.judged()
    }

    /// Puts another ratio in its place, such as the median over pairs.
    #[must_use]
    pub fn ratio(mut self, ratio: f64) -> Self {
        self.ratio = Some(ratio);
        self.judged()
    }

    /// Says what was wished for.
    #[must_use]
    pub fn goal(mut self, goal: FigureGoal) -> Self {
        self.goal = goal;
        self.judged()
    }

    /// Adds what else a reader should know.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    fn judged(mut self) -> Self {
        let met = match self.goal {
            FigureGoal::None => None,
            FigureGoal::AtMost(most) => Some(self.ours.p50 <= most),
            FigureGoal::TailAtMost(most) => Some(self.ours.p99 <= most),
            FigureGoal::RatioAtMost(most) => self.ratio.map(|ratio| ratio <= most),
            FigureGoal::RatioAtLeast(least) => self.ratio.map(|ratio| ratio >= least),
        };
        self.verdict = match met {
            None => GoalVerdict::Told,
            Some(true) => GoalVerdict::Met,
            Some(false) => GoalVerdict::Missed,
        };
        self
    }
}

impl GoalVerdict {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "MISSED",
            Self::Told => "-",
        }
    }
}

impl Unit {
    /// Writes a number with its unit.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Ms => format!("{} ms", plain(value)),
            Self::CpuUs => format!("{value:.0} us"),
            Self::PerSecond => format!("{}/s", grouped(value)),
            Self::Bytes => format!("{} B", grouped(value)),
            Self::MiB => format!("{value:.1} MiB"),
            Self::Count => plain(value),
        }
    }
}

impl FigureGoal {
    /// Writes the goal; `unit` is that of the figure.
    #[must_use]
    pub fn show(self, unit: Unit) -> String {
        match self {
            Self::None => "-".to_owned(),
            Self::AtMost(most) => format!("<= {}", unit.show(most)),
            Self::TailAtMost(most) => format!("p99 <= {}", unit.show(most)),
            Self::RatioAtMost(most) => format!("<= {most}x"),
            Self::RatioAtLeast(least) => format!(">= {least}x"),
        }
    }
}

/// Writes a number with as many digits as say something.
fn plain(value: f64) -> String {
    match value.abs() {
        size if value.fract() == 0.0 => grouped(size.copysign(value)),
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => grouped(value),
    }
}

/// Writes a whole number with a comma after every third digit.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_follows_goal_and_ratio() {
        let figure =
            || BenchFigure::new("row", "what", Unit::Ms, SampleSummary { p50: 2.0, p99: 9.0, samples: 3 });
        let beside = || figure().beside("anchor", SampleSummary::single(1.0));
        assert_eq!(figure().verdict, GoalVerdict::Told);
        assert_eq!(figure().goal(FigureGoal::AtMost(2.0)).verdict, GoalVerdict::Met);
        assert_eq!(figure().goal(FigureGoal::TailAtMost(2.0)).verdict, GoalVerdict::Missed);
        assert_eq!(beside().goal(FigureGoal::RatioAtMost(1.9)).verdict, GoalVerdict::Missed);
        assert_eq!(beside().goal(FigureGoal::RatioAtLeast(0.5)).verdict, GoalVerdict::Met);
        assert_eq!(beside().goal(FigureGoal::RatioAtLeast(0.5)).ratio(0.4).verdict, GoalVerdict::Missed);
        assert_eq!(
            figure().goal(FigureGoal::RatioAtMost(1.0)).verdict,
            GoalVerdict::Told,
            "no ratio, no verdict"
        );
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(Unit::Ms.show(0.123), "0.12 ms");
        assert_eq!(Unit::PerSecond.show(12_345.6), "12,346/s");
        assert_eq!(Unit::Count.show(6.0), "6");
        assert_eq!(Unit::Bytes.show(-1_234.0), "-1,234 B");
        assert_eq!(FigureGoal::RatioAtMost(1.05).show(Unit::Ms), "<= 1.05x");
        assert_eq!(FigureGoal::AtMost(65_536.0).show(Unit::Bytes), "<= 65,536 B");
    }
}
