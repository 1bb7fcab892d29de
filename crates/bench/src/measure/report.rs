//! All figures of one command, as a table for people, as Markdown, and as JSON for programs.

use std::fmt::Write as _;

use serde::Serialize;

use super::figure::{BenchFigure, GoalVerdict, Unit};
use super::machine::MachineFacts;
use super::samples::SampleSummary;
use crate::process::measured_daemon::MeasuredDaemon;

/// Everything one command measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchReport {
    /// Where and when.
    pub machine: MachineFacts,
    /// Which daemon, where one was measured.
    pub daemon: Option<MeasuredDaemon>,
    /// What makes the figures worth less than they look.
    pub warnings: Vec<String>,
    /// The figures, in the order of their rows.
    pub figures: Vec<BenchFigure>,
}

const HEADS: [&str; 6] = ["what", "ours", "anchor", "ratio", "goal", "verdict"];

impl BenchReport {
    /// Renders a table for a terminal.
    #[must_use]
    pub fn table(&self) -> String {
        let rows: Vec<[String; 6]> = self.figures.iter().map(cells).collect();
        let mut widths = HEADS.map(str::len);
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let line = |cells: [&str; 6]| {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        let mut text = line(HEADS);
        for (row, figure) in rows.iter().zip(&self.figures) {
            text += &line(row.each_ref().map(String::as_str));
            if let Some(note) = &figure.note {
                let _ = writeln!(text, "  {note}");
            }
        }
        let _ = writeln!(text, "\n{}", self.machine.sentence());
        if let Some(daemon) = &self.daemon {
            let _ = writeln!(text, "{}", daemon.sentence());
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
        text + &self.tally()
    }

    /// Renders a Markdown table.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("| {} | |\n|---|--:|--:|--:|--:|---|---|\n", HEADS.join(" | "));
        for figure in &self.figures {
            let note = figure.note.as_deref().unwrap_or_default();
            let _ = writeln!(text, "| {} | {note} |", cells(figure).join(" | "));
        }
        let _ = writeln!(text, "\n{}", self.machine.sentence());
        for said in self.daemon.iter().map(MeasuredDaemon::sentence).chain(self.warnings.iter().cloned()) {
            let _ = writeln!(text, "; {said}");
        }
        text
    }

    fn tally(&self) -> String {
        let count = |verdict| self.figures.iter().filter(|figure| figure.verdict == verdict).count();
        format!("{} goals met, {} missed\n", count(GoalVerdict::Met), count(GoalVerdict::Missed))
    }
}

fn cells(figure: &BenchFigure) -> [String; 6] {
    let anchor = figure.anchor.as_ref().map_or_else(
        || "-".to_owned(),
        |anchor| format!("{} {}", anchor.what, measured(figure.unit, anchor.value)),
    );
    [
        figure.what.clone(),
        measured(figure.unit, figure.ours),
        anchor,
        figure.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}x")),
        figure.goal.show(figure.unit),
        figure.verdict.word().to_owned(),
    ]
}

fn measured(unit: Unit, value: SampleSummary) -> String {
    if value.samples <= 1 {
        return unit.show(value.p50);
    }
    format!("{} (p99 {}, n {})", unit.show(value.p50), unit.show(value.p99), value.samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::figure::FigureGoal;

    #[test]
    fn tables_line_up_and_say_what_was_missed() {
        let value = |p50| SampleSummary { p50, p99: p50 * 2.0, samples: 9 };
        let figure = BenchFigure::new("row", "added first token", Unit::Ms, value(3.0));
        let figure =
            figure.beside("floor", value(1.0)).goal(FigureGoal::RatioAtMost(1.5)).note("direct 1 ms");
        let machine = MachineFacts::look(std::path::Path::new("/"));
        let daemon = MeasuredDaemon {
            file: "/bin/palyrad".into(),
            version: "0.1.0".to_owned(),
            build: "0.1.0+1-2".to_owned(),
            written_unix_seconds: 2,
            commit: Some("abc".to_owned()),
            built_in: false,
        };
        let report =
            BenchReport { machine, daemon: Some(daemon), warnings: Vec::new(), figures: vec![figure] };
        let table = report.table();
        let row =
            "added first token  3 ms (p99 6 ms, n 9)  floor 1 ms (p99 2 ms, n 9)  3.00x  <= 1.5x  MISSED";
        assert_eq!(table.lines().nth(1), Some(row), "{table}");
        assert!(table.contains("\ndaemon 0.1.0 at abc (build 0.1.0+1-2, /bin/palyrad)\n"), "{table}");
        assert!(table.ends_with("0 goals met, 1 missed\n"), "{table}");
        let markdown = report.markdown();
        assert!(markdown.contains("| 3.00x | <= 1.5x | MISSED | direct 1 ms |"), "{markdown}");
    }
}
