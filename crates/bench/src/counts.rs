//! What a run costs the journal: commits, entries, rows and bytes.
//!
//! Entries of the first start and of the opening of a session are left out. The bytes are those of envelopes,
//! payloads and chunks.

use std::path::Path;
use std::time::Duration;

use palyra_testkit::scripted_provider::Script;
use serde::Serialize;

use crate::harness::Harness;

/// What one kind of run costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunCost {
    /// Which kind.
    pub run: &'static str,
    /// Commits.
    pub commits: u64,
    /// The most there may be.
    pub commits_max: u64,
    /// Journal entries.
    pub entries: u64,
    /// Rows inserted, updated or deleted, in all tables.
    pub rows: u64,
    /// Bytes of envelopes, payloads and chunks.
    pub bytes: u64,
}

/// Measures a text run, a run with one tool, and a run whose answer comes in 64 pieces 10 ms apart.
///
/// # Errors
/// What the runtime says, or a run that did not end with an answer.
pub async fn measure(folder: &Path) -> anyhow::Result<Vec<RunCost>> {
    let harness = Harness::start(folder).await?;
    std::fs::write(folder.join("work/notes.txt"), "milk\nbread\n")?;
    let session = warm_up(&harness).await?;
    let text = Script::new().text("It is a gateway").pause(TEXT_PAUSE).text(" for agents.");
    let tool = Script::new().call("read_file", r#"{"path":"notes.txt"}"#);
    let answer = Script::new().text("Milk").pause(TEXT_PAUSE).text(" and bread.");
    let mut streamed = Script::new();
    for piece in 0..64 {
        streamed = streamed.text(&format!("{piece:>3} ")).pause(PIECE_PAUSE);
    }
    let cases = [
        ("text", 3, vec![text]),
        ("one tool", 5, vec![tool, answer]),
        ("64 pieces, 10 ms apart", 16, vec![streamed]),
    ];
    let mut costs = Vec::new();
    for (run, commits_max, scripts) in cases {
        scripts.into_iter().for_each(|script| harness.model.push(script));
        costs.push(cost(&harness, session, run, commits_max).await?);
    }
    Ok(costs)
}

/// Long enough that the first text is committed before the rest comes.
const TEXT_PAUSE: Duration = Duration::from_millis(5);
const PIECE_PAUSE: Duration = Duration::from_millis(10);

/// Opens the session and stores the texts that every later run only names.
async fn warm_up(harness: &Harness) -> anyhow::Result<palyra_types::SessionId> {
    harness.model.push(Script::new().text("hello"));
    Ok(harness.run(None, "hello").await?.0)
}

async fn cost(
    harness: &Harness,
    session: palyra_types::SessionId,
    run: &'static str,
    commits_max: u64,
) -> anyhow::Result<RunCost> {
    let before = harness.gateway.journal.status();
    let (_, tape) = harness.run(Some(session), "What do the notes say?").await?;
    let after = harness.gateway.journal.status();
    let last = tape.last().map(|entry| format!("{:?}", entry.event)).unwrap_or_default();
    anyhow::ensure!(last.contains("FinalAnswer"), "the run `{run}` ended with {last}");
    Ok(RunCost {
        run,
        commits: after.commits - before.commits,
        commits_max,
        entries: after.entries - before.entries,
        rows: after.rows - before.rows,
        bytes: after.bytes - before.bytes,
    })
}

/// Renders the costs as a table for people.
#[must_use]
pub fn table(costs: &[RunCost]) -> String {
    let head = format!("{:<24} {:>8} {:>8} {:>8} {:>8}\n", "run", "commits", "entries", "rows", "bytes");
    let row = |cost: &RunCost| {
        let commits = format!("{}/{}", cost.commits, cost.commits_max);
        format!("{:<24} {commits:>8} {:>8} {:>8} {:>8}\n", cost.run, cost.entries, cost.rows, cost.bytes)
    };
    head + &costs.iter().map(row).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cost_few_commits() {
        let folder = tempfile::tempdir().expect("a folder");
        let costs = crate::harness::on_one_thread(measure(folder.path())).expect("runs end with an answer");
        for cost in &costs {
            assert!(cost.commits <= cost.commits_max, "{}", table(&costs));
        }
        assert_eq!(costs[0].entries, 6, "{}", table(&costs));
        assert!(costs[2].commits >= 12, "time did not pass between the pieces: {}", table(&costs));
    }
}
