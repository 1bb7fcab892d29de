//! The moment after a mount is lost (105): a person replaces a protected file while a program writes to it again and
//! again.
//!
//! The canary is made by the person's own git, shell or editor, once the program has ended.

use std::io;

use serde_json::json;

use super::leavings::{ended, looked_at, plainly};
use super::yard::{ShellYard, owned};
use crate::calls::call;
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

const JOB: &str = "start_job, the watch of its mounts, and the review";

/// A protected file, and what a person does to it meanwhile.
struct ReplacedFile {
    variant: &'static str,
    before: &'static str,
    /// Adds a line by which `$RUN` runs.
    adds: &'static str,
    person: &'static str,
}

const REPLACED: &[ReplacedFile] = &[
    ReplacedFile {
        variant: "what a shell loads, replaced meanwhile",
        before: "echo true > .envrc",
        adds: r#"echo "$RUN" >> .envrc"#,
        person: "cp .envrc new; mv new .envrc",
    },
    ReplacedFile {
        variant: "what a shell loads, removed and made meanwhile",
        before: "echo true > .envrc",
        adds: r#"echo "$RUN" >> .envrc"#,
        person: "rm .envrc; echo true > .envrc",
    },
    ReplacedFile {
        variant: "an editor's folder, replaced meanwhile",
        before: "mkdir .vscode; echo true > .vscode/tasks.json",
        adds: r#"echo "$RUN" >> .vscode/tasks.json"#,
        person: "mv .vscode old; cp -r old .vscode; rm -r old",
    },
    ReplacedFile {
        variant: "the settings of git, changed meanwhile",
        before: "git init -q .",
        adds: r#"printf '[core]\n\tfsmonitor = %s\n' "$RUN" >> .git/config"#,
        person: "git config branch.main.description lantern",
    },
    ReplacedFile {
        variant: "a hook of git, its folder replaced meanwhile",
        before: "git init -q .; mkdir -p .git/hooks; echo a > a.txt; git add a.txt; git commit -q -m one",
        adds: r#"cp "$RUN" .git/hooks/post-index-change; touch a.txt"#,
        person: "mv .git/hooks .git/old; mkdir .git/hooks",
    },
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trial = |replaced: &'static ReplacedFile| {
        let pair = CasePair::new(105, replaced.variant, JOB);
        AttackTrial::new(vec![pair], move |place, pairs| attempt(replaced, place, pairs))
    };
    REPLACED.iter().map(trial).collect()
}

async fn prepare(replaced: &ReplacedFile) -> io::Result<(ShellYard, String)> {
    let yard = ShellYard::new()?;
    plainly(&yard, replaced.before).await?;
    let ran = yard.work().join(super::yard::RAN);
    yard.program("evil.sh", &format!("#!/bin/sh\ntouch {}\ncat > /dev/null\n", ran.display()))?;
    let run = format!("RUN={}", yard.work().join("evil.sh").display());
    Ok((yard, format!("{run}; while [ ! -e over ]; do {}; done 2>/dev/null", replaced.adds)))
}

async fn attempt(
    replaced: &'static ReplacedFile,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    let place = &place;
    run_attempts(pairs, place.half, |_| async move {
        let (control, script) = prepare(replaced).await?;
        let person = replaced.person;
        plainly(&control, &format!("({script}) & {person}; sleep 0.2; touch over; wait")).await?;
        let control = looked_at(&control).await?;

        let (held, script) = prepare(replaced).await?;
        let tools = held.tools(&place.sandbox);
        let arguments = json!({ "argv": owned(&["sh", "-c", &format!("echo done; {script}")]) });
        let started = call(&tools, "start_job", &arguments, &held.work()).await;
        if !started.begun {
            return Err(io::Error::other(format!("it was not started: {}", started.text)));
        }
        begun(&tools, &held).await?;
        plainly(&held, person).await?;
        let said = ended(&tools, &held).await?;
        if !said.contains("was replaced from outside") {
            return Err(io::Error::other(format!("it ended otherwise: {said}")));
        }
        Ok(Some((looked_at(&held).await?, control)))
    })
    .await
}

/// Waits until the only job says that it runs.
async fn begun(tools: &palyra_commands::CommandTools, held: &ShellYard) -> io::Result<()> {
    for _ in 0..200 {
        let look = json!({ "job": "job-1", "from": 0 });
        if call(tools, "tail_job", &look, &held.work()).await.text.contains("done") {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    Err(io::Error::other("the job does not begin"))
}
