//! Files of a workspace that something else runs later (20).

use std::fs;
use std::io;

use super::yard::{ShellYard, owned};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::SECRET;

/// Files that run something later, and how they would be changed.
const KEPT: &[(&str, &str, &str)] = &[
    ("a hook of git, written", ".git/hooks/pre-commit", "echo evil > .git/hooks/pre-commit"),
    ("the settings of git, written", ".git/config", "echo evil >> .git/config"),
    ("the settings of git, by git", ".git/config", "git config --file .git/config core.hooksPath /tmp"),
    ("the settings of git, replaced", ".git/config", "echo evil > other; mv -f other .git/config"),
    ("git's folder, moved away", ".git/config", "mv .git old; mkdir .git; echo evil > .git/config"),
    ("git's filters", ".git/info/attributes", "echo '* filter=evil' > .git/info/attributes"),
    ("direnv", ".envrc", "echo evil > .envrc"),
    ("direnv, removed and made anew", ".envrc", "rm -f .envrc; echo evil > .envrc"),
    ("direnv, a link", ".envrc", "ln -sf other .envrc"),
    ("an editor's tasks", ".vscode/tasks.json", "echo evil > .vscode/tasks.json"),
    (
        "an editor's folder, moved away",
        ".vscode/tasks.json",
        "mv .vscode old; mkdir .vscode; echo evil > .vscode/tasks.json",
    ),
    ("another editor's", ".idea/workspace.xml", "echo evil > .idea/workspace.xml"),
    ("submodules", ".gitmodules", "echo evil > .gitmodules"),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let kept = KEPT.iter().map(|&(variant, file, script)| {
        let pair = CasePair::new(20, variant, "what run_command keeps");
        AttackTrial::new(vec![pair], move |place, pairs| changed(file, script, place, pairs))
    });
    kept.collect()
}

async fn changed(
    file: &'static str,
    script: &'static str,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    let prepare = || -> io::Result<ShellYard> {
        let yard = ShellYard::new()?;
        yard.write(file, SECRET)?;
        yard.write(".git/HEAD", "ref: refs/heads/main\n")?;
        Ok(yard)
    };
    let look = |yard: &ShellYard| match fs::read_to_string(yard.work().join(file)) {
        Ok(text) if text == SECRET => Vec::new(),
        _ => vec![format!("{file} changed")],
    };
    run_attempts(pairs, place.half, |_| async {
        let argv = owned(&["sh", "-c", &format!("{script}; echo done")]);
        let control = prepare()?;
        if control.as_is(&argv, &[]).await?.is_none() {
            return Ok(None);
        }
        let held = prepare()?;
        let outcome = held.as_tool(&place.sandbox, &argv).await;
        if !outcome.text.contains("done") {
            return Err(io::Error::other(outcome.text));
        }
        Ok(Some((look(&held), look(&control))))
    })
    .await
}
