//! Phases: named steps that run in order, are timed, and may be left out by name.
//!
//! Owns the table printed at the end. Knows no phase by name.

use std::time::{Duration, Instant};

use anyhow::Result;

/// A run of phases with one deadline for all of them.
pub(super) struct PhaseRunner {
    started: Instant,
    deadline: Instant,
    skip: Vec<String>,
    lines: Vec<String>,
    failed: Vec<&'static str>,
}

impl PhaseRunner {
    /// Starts the clock; phases named in `skip` will be left out and listed.
    pub(super) fn start(time: Duration, skip: &[&str]) -> Self {
        let started = Instant::now();
        let skip = skip.iter().map(|name| (*name).to_owned()).collect();
        Self { started, deadline: started + time, skip, lines: Vec::new(), failed: Vec::new() }
    }

    /// Runs `step` unless it was left out; a failure is noted, and said at once.
    pub(super) fn run<T>(
        &mut self,
        name: &'static str,
        step: impl FnOnce(Instant) -> Result<T>,
    ) -> Option<T> {
        if self.skip.iter().any(|skipped| skipped == name) {
            self.lines.push(format!("{name:<8} SKIPPED by --skip"));
            return None;
        }
        println!("==> {name}");
        let began = Instant::now();
        let outcome = if began < self.deadline {
            step(self.deadline)
        } else {
            Err(anyhow::anyhow!("the time for the whole suite is up before this phase began"))
        };
        let seconds = began.elapsed().as_secs_f64();
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("==> {name}: {word} ({seconds:.1} s)");
        self.lines.push(format!("{name:<8} {word:<6} {seconds:>7.1} s"));
        outcome
            .map_err(|error| {
                eprintln!("{name}: {error:#}");
                self.failed.push(name);
            })
            .ok()
    }

    /// Notes that a phase has nothing to work on, and why.
    pub(super) fn leave_out(&mut self, name: &'static str, why: &str) {
        self.lines.push(format!("{name:<8} left out: {why}"));
    }

    /// Prints the table and returns whether every phase that ran succeeded.
    pub(super) fn finish(&self) -> Result<(), Vec<&'static str>> {
        println!();
        for line in &self.lines {
            println!("{line}");
        }
        println!("in all {:.1} s", self.started.elapsed().as_secs_f64());
        if self.failed.is_empty() { Ok(()) } else { Err(self.failed.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_phase_fails_the_run_and_a_skipped_one_does_not() {
        let mut phases = PhaseRunner::start(Duration::from_secs(60), &["b"]);
        assert_eq!(phases.run("a", |_| Ok(1)), Some(1));
        assert_eq!(phases.run("b", |_| Ok(2)), None);
        assert!(phases.finish().is_ok());
        assert_eq!(phases.run("c", |_| -> Result<()> { anyhow::bail!("no") }), None);
        assert_eq!(phases.finish(), Err(vec!["c"]));
    }

    #[test]
    fn no_phase_begins_after_the_deadline() {
        let mut phases = PhaseRunner::start(Duration::ZERO, &[]);
        let mut ran = false;
        phases.run("a", |_| {
            ran = true;
            Ok(())
        });
        assert!(!ran);
        assert_eq!(phases.finish(), Err(vec!["a"]));
    }
}
