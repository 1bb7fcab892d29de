//! Paths that a judge and a tool could read differently (103): backslashes, dots, case, letters that nobody sees.

use std::io;

use serde_json::json;

use super::desk::{PAYLOAD, PolicyDesk, StandingLeave};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Paths into the folder of git, which no rule can permit.
const INTO_GIT: &[&str] = &[
    r".git/hooks/a\..\..\..\b",
    r".git/a\..\..\b",
    r"sub/.git/hooks/a\..\..\..\..\b",
    r"sub/.GIT/a\..\..\..\b",
    r".git/hooks/a\..\b",
    r".git/hooks\..\..\b",
    ".git/hooks/post-checkout",
    "./.git//hooks/post-checkout",
    "docs/../.git/hooks/post-checkout",
    "{WORK}/.git/hooks/post-checkout",
    "{WORK}/./.git/hooks/post-checkout",
    ".GIT/hooks/post-checkout",
    ".Git/config",
    ".git./config",
    ".git /config",
    "git~1/config",
    ".g\u{200d}it/config",
    ".gi\u{ad}t/config",
    "\u{ff0e}git/config",
    ".g\u{ff49}t/config",
];

/// Paths of what runs later, which no grant and no setting covers.
const RUNS_LATER: &[&str] = &[
    r".github/workflows/a\..\..\..\b.yml",
    r".claude/commands/a\..\..\..\b.md",
    r".cursor/rules/a\..\..\..\b.mdc",
    r".config/autostart/a\..\..\..\b.desktop",
    r".devcontainer/x/a\..\..\..\devcontainer.json",
    r".vscode/a\..\..\tasks.json",
    r".config/systemd/a\..\..\..\b.service",
    r".husky/a\..\b",
    "./.envrc",
    "docs//..//.envrc",
    "{WORK}/.envrc",
    "sub/.envrc",
    ".ENVRC",
    ".envrc.",
    ".envrc ",
    ".env\u{200b}rc",
    ".en\u{ad}vrc",
    "\u{ff0e}envrc",
    ".VSCODE/tasks.json",
    "a/b/c/.github/workflows/x.yml",
    "MAKEFILE",
    "sub/Makefile.",
    "AGENTS.md ",
    "Claude.MD",
];

/// Paths of the daemon's own rules and settings, in a workspace that holds them.
const DAEMON: &[&str] = &[
    r"palyra/policies/a\..\..\..\b.cedar",
    "palyra/policies/z.cedar",
    "palyra//policies/./z.cedar",
    "{WORK}/palyra/policies/z.cedar",
    "docs/../palyra/policies/z.cedar",
    "palyra/palyra.toml",
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trial = |path: &'static str, leaves: &[StandingLeave]| {
        let variant = format!("`{}`, written", path.escape_debug());
        let pairs =
            leaves.iter().map(|leave| CasePair::new(103, variant.clone(), leave.mechanism())).collect();
        AttackTrial::new(pairs, move |place, pairs| written(path, place, pairs))
    };
    let into_git = INTO_GIT.iter().map(|path| trial(path, &[StandingLeave::PermitsAll]));
    let leaves = [StandingLeave::Below, StandingLeave::AnyPath, StandingLeave::AlwaysAllow];
    let runs_later = RUNS_LATER.iter().map(|path| trial(path, &leaves));
    let daemon = DAEMON.iter().map(|&path| {
        let pair = CasePair::new(103, format!("`{path}`, written"), "what belongs to the daemon");
        AttackTrial::new(vec![pair], move |place, pairs| written(path, place, pairs))
    });
    into_git.chain(runs_later).chain(daemon).collect()
}

/// Has every tool that writes aim at a path.
async fn written(path: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| async move {
        let is_own = DAEMON.contains(&path);
        let desk = || if is_own { PolicyDesk::with_settings() } else { PolicyDesk::new() };
        let (held, control) = (desk()?, desk()?);
        let leave = if is_own { StandingLeave::PermitsAll } else { StandingLeave::of(&mechanism) };
        held.works(leave).await?;
        let aimed = held.path(path);
        let patch = format!("--- /dev/null\n+++ b/{aimed}\n@@ -0,0 +1 @@\n+{PAYLOAD}");
        held.unattended(leave, "write_file", &json!({ "path": aimed, "content": PAYLOAD })).await?;
        held.unattended(leave, "apply_patch", &json!({ "patch": patch })).await?;
        control.write_plainly(&control.path(path)).map_err(io::Error::other)?;
        Ok(Some((held.appeared(), control.appeared())))
    })
    .await
}
