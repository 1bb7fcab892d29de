//! What a soak says that it saw: for programs, for a terminal, for a document.

use std::fmt::Write as _;

use serde::Serialize;

use super::judge::WatchedTrend;
use super::mix::RunKind;
use super::sample::SoakSample;
use crate::measure::machine::MachineFacts;
use crate::process::measured_daemon::MeasuredDaemon;

/// The whole of it.
#[derive(Debug, Serialize)]
pub(super) struct SoakReport {
    /// Where and when.
    pub(super) machine: MachineFacts,
    /// Which daemon.
    pub(super) daemon: MeasuredDaemon,
    /// How long, and how hard.
    pub(super) settings: String,
    /// How long it took.
    pub(super) seconds: f64,
    /// Runs by kind, in words.
    pub(super) kinds: Vec<(&'static str, u64)>,
    /// What was seen, in order.
    pub(super) looks: Vec<SoakSample>,
    /// What came of it.
    pub(super) watched: Vec<WatchedTrend>,
}

impl SoakReport {
    /// Returns runs by kind with the kinds' names.
    pub(super) fn named(by_kind: [u64; 10]) -> Vec<(&'static str, u64)> {
        RunKind::ALL.iter().zip(by_kind).map(|((_, name), count)| (*name, count)).collect()
    }

    /// Returns whether everything kept to its limit.
    pub(super) fn is_good(&self) -> bool {
        self.watched.iter().all(|row| row.kept != Some(false))
    }

    /// Says it for a terminal.
    pub(super) fn table(&self) -> String {
        let mut text = format!("soak: {}\n{}\n\n", self.settings, self.sentence());
        let _ = writeln!(text, "{:<38}{:>10}{:>10}{:>10}  slope", "what", "first", "last", "rise");
        for row in &self.watched {
            let WatchedTrend { what, first, last, rise, slope, limit, .. } = row;
            let _ = writeln!(text, "{what:<38}{first:>10.2}{last:>10.2}{rise:>+10.2}  {slope}");
            let _ = writeln!(text, "  {}: {limit}", verdict(row));
        }
        text
    }

    /// Says it for a document.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("{}: {}. {}\n\n", self.machine.sentence(), self.settings, self.sentence());
        text += "| what | first look | last look | rise of the line | slope | limit | |\n|---|--:|--:|--:|--:|---|---|\n";
        for row in &self.watched {
            let WatchedTrend { what, first, last, rise, slope, limit, .. } = row;
            let verdict = verdict(row);
            let _ = writeln!(
                text,
                "| {what} | {first:.2} | {last:.2} | {rise:+.2} | {slope} | {limit} | {verdict} |"
            );
        }
        text
    }

    fn sentence(&self) -> String {
        let runs: u64 = self.kinds.iter().map(|(_, count)| count).sum();
        let kinds: Vec<String> = self.kinds.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let Self { seconds, looks, machine, .. } = self;
        format!(
            "{}. {runs} runs ({}) in {seconds:.0} s, looked at {} times; load {:.1} before, {:.1} after.",
            self.daemon.sentence(),
            kinds.join(", "),
            looks.len(),
            machine.load_before,
            machine.load_after
        )
    }
}

fn verdict(row: &WatchedTrend) -> &'static str {
    match row.kept {
        Some(true) => "kept",
        Some(false) => "NOT KEPT",
        None => "shown",
    }
}
