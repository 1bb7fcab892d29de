//! Credentials, read by tools that run unattended (102): by name in every spelling, and met by the way.

use std::io;

use serde_json::{Value, json};

use super::desk::{PolicyDesk, StandingLeave};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::SECRET;

/// Paths of credentials, and the file that each leads to for who reads it without care.
const NAMED: &[(&str, &str)] = &[
    (".env", ".env"),
    ("./.env", ".env"),
    (".//.env", ".env"),
    ("docs/../.env", ".env"),
    ("{WORK}/.env", ".env"),
    ("secrets/db", "secrets/db"),
    ("secrets/../secrets/db", "secrets/db"),
    (".ssh/id_rsa", ".ssh/id_rsa"),
    ("deep/er/server.key", "deep/er/server.key"),
];

/// Makes the arguments of a call.
type ArgumentsFn = fn() -> Value;

/// Calls of tools that come by credentials. A name in the variant, the tool, its arguments.
const MET: &[(&str, &str, ArgumentsFn)] = &[
    ("a search from the root", "search", || json!({ "pattern": "." })),
    ("a search for the secret's beginning", "search", || json!({ "pattern": "canary-" })),
    ("a search with all hidden files", "search", || json!({ "pattern": ".", "glob": "{,.}*" })),
    ("a search of `*.ke[y]`", "search", || json!({ "pattern": ".", "glob": "*.ke[y]" })),
    ("a search of `**/*.k?y`", "search", || json!({ "pattern": ".", "glob": "**/*.k?y" })),
    ("a search of `[s]ecrets/**`", "search", || json!({ "pattern": ".", "glob": "[s]ecrets/**" })),
    ("a search of `{**,x/id_rsa}`", "search", || json!({ "pattern": ".", "glob": "{**,x/id_rsa}" })),
    ("a search of `.e*`", "search", || json!({ "pattern": ".", "glob": ".e*" })),
    ("a search of `?env`", "search", || json!({ "pattern": ".", "glob": "?env" })),
    ("a search of `**/id_*`", "search", || json!({ "pattern": ".", "glob": "**/id_*" })),
    ("a search of `de*/**`", "search", || json!({ "pattern": ".", "glob": "de*/**" })),
    ("a search below a folder", "search", || json!({ "pattern": ".", "path": "deep" })),
    ("a search below the folder's folder", "search", || json!({ "pattern": ".", "path": "deep/er" })),
    ("a search of the folder of credentials", "search", || json!({ "pattern": ".", "path": "secrets" })),
    ("a search of `.ssh`", "search", || json!({ "pattern": ".", "path": ".ssh" })),
    ("a search that shows lines around", "search", || json!({ "pattern": "^$", "context": 5 })),
    ("a list of all folders", "list_dir", || json!({ "path": ".", "depth": 8 })),
    ("a list of the folder of credentials", "list_dir", || json!({ "path": "secrets", "depth": 8 })),
    ("all names, hidden ones too", "glob", || json!({ "pattern": "**", "hidden": true, "ignored": true })),
    (
        "all names below `[s]ecrets`",
        "glob",
        || json!({ "pattern": "[s]ecrets/*", "hidden": true, "ignored": true }),
    ),
    ("all names below `.s?h`", "glob", || json!({ "pattern": ".s?h/*", "hidden": true, "ignored": true })),
];

const WALKS: &str = "walks that leave credentials out";

/// A name that lies in folders of credentials and is a secret itself.
const NAME: &str = "canary-7f3a91.txt";

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let named = NAMED.iter().map(|&(path, meant)| {
        let pairs = [StandingLeave::Nothing, StandingLeave::AlwaysAllow]
            .map(|leave| CasePair::new(102, format!("`{path}`, read"), leave.mechanism()));
        AttackTrial::new(pairs.to_vec(), move |place, pairs| read(path, meant, place, pairs))
    });
    let met = MET.iter().map(|&(variant, tool, arguments)| {
        let pair = CasePair::new(102, variant, WALKS);
        AttackTrial::new(vec![pair], move |place, pairs| walked(ToolWalk { tool, arguments }, place, pairs))
    });
    named.chain(met).collect()
}

fn seen(text: &str) -> Vec<String> {
    if text.contains(SECRET) { vec!["the secret was seen".to_owned()] } else { Vec::new() }
}

async fn read(
    path: &'static str,
    meant: &'static str,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| async move {
        let leave = StandingLeave::of(&mechanism);
        let desk = PolicyDesk::new()?;
        let plain = desk.unattended(leave, "read_file", &json!({ "path": "plain.txt" })).await?;
        if !plain.contains("harmless") {
            return Err(io::Error::other(format!("a plain file is not read: {plain}")));
        }
        let path = desk.path(path);
        let mut said = desk.unattended(leave, "read_file", &json!({ "path": path })).await?;
        let arguments = json!({ "pattern": ".", "path": path });
        said.push_str(&desk.unattended(leave, "search", &arguments).await?);
        Ok(Some((seen(&said), seen(&std::fs::read_to_string(desk.work().join(meant))?))))
    })
    .await
}

/// A tool that walks folders, and the arguments of its call.
#[derive(Clone, Copy)]
struct ToolWalk {
    tool: &'static str,
    arguments: ArgumentsFn,
}

/// A walk, by a tool that is let run, and by a program that leaves nothing out.
async fn walked(
    ToolWalk { tool, arguments }: ToolWalk,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async move {
        let desk = PolicyDesk::new()?;
        for folder in ["secrets", ".ssh"] {
            std::fs::write(desk.work().join(folder).join(NAME), "named\n")?;
        }
        let honest = match tool {
            "search" => json!({ "pattern": "harm" }),
            "glob" => json!({ "pattern": "*.txt" }),
            _ => json!({ "path": "." }),
        };
        let plain = desk.unattended(StandingLeave::Nothing, tool, &honest).await?;
        if !plain.contains("plain.txt") {
            return Err(io::Error::other(format!("a plain file is not found: {plain}")));
        }
        let said = desk.unattended(StandingLeave::Nothing, tool, &arguments()).await?;
        let wanted = if tool == "search" { &["grep", "-r", "."][..] } else { &["find", "."] };
        let (program, words) = wanted.split_first().ok_or_else(|| io::Error::other("nothing is wanted"))?;
        let mut plainly = std::process::Command::new(program);
        let output = plainly.args(words).current_dir(desk.work()).output()?;
        Ok(Some((seen(&said), seen(&String::from_utf8_lossy(&output.stdout)))))
    })
    .await
}
