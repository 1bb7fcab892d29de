//! What was disturbed, counted by phase and by what it was about.

use std::collections::BTreeMap;

use crate::report::SuiteReport;
use crate::strace::SystemCall;

/// Returns what a call is about, without folders that differ each time.
fn about(call: &SystemCall) -> String {
    let file = match call.path.as_deref() {
        None => "names",
        Some(path) if path.starts_with("anon_inode:") => "wake-ups",
        Some(path) if path.starts_with("pipe:") || path.starts_with("socket:") => "who listens",
        Some(path) if path.ends_with("/work") || path.contains("/work/") => "workspace",
        Some(path) if path.ends_with(".unfinished") => "anchors",
        Some(path) => match path.rsplit_once("/state/") {
            Some((_, file)) => file.strip_prefix("keys/").map_or(file, |_| "keys"),
            None => path.rsplit_once('/').map_or(path, |(_, file)| file),
        },
    };
    let family = if file.ends_with("state") { "folders" } else { file };
    format!("{} {family}", call.kind)
}

/// Counts of what was disturbed, by phase and by what it was about.
#[derive(Debug, Default)]
pub(crate) struct PhaseTally(BTreeMap<(String, String), PhaseCounts>);

#[derive(Debug, Default, Clone, Copy)]
struct PhaseCounts {
    hit: usize,
    passed_by: usize,
    out_of_reach: usize,
}

impl PhaseTally {
    pub(crate) fn hit(&mut self, phase: &str, call: &SystemCall) {
        self.0.entry((phase.to_owned(), about(call))).or_default().hit += 1;
    }

    pub(crate) fn passed_by(&mut self, phase: &str, call: &SystemCall) {
        self.0.entry((phase.to_owned(), about(call))).or_default().passed_by += 1;
    }

    pub(crate) fn out_of_reach(&mut self, phase: &str, call: &SystemCall) {
        self.0.entry((phase.to_owned(), about(call))).or_default().out_of_reach += 1;
    }

    /// Adds a line for each thing that was disturbed, or should have been.
    pub(crate) fn tell(&self, report: &mut SuiteReport) {
        for (what, counts) in self.rows() {
            let missed =
                [(counts.passed_by, "not made this time"), (counts.out_of_reach, "out of strace's reach")];
            let missed = missed.iter().filter(|(count, _)| *count > 0);
            let missed: Vec<String> = missed.map(|(count, why)| format!("{count} more {why}")).collect();
            report.row(what, counts.hit, missed.join(", "));
        }
    }

    fn rows(&self) -> impl Iterator<Item = (String, PhaseCounts)> {
        self.0.iter().map(|((phase, about), counts)| (format!("{phase}: {about}"), *counts))
    }

    pub(crate) fn total(&self) -> usize {
        self.0.values().map(|counts| counts.hit).sum()
    }
}
