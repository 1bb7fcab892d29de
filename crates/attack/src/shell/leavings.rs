//! What a command leaves in a workspace (105), so that it runs once a person looks at the folder.
//!
//! The canary is made by the person's own git, shell or editor, afterwards and without anything that holds them.

use std::io;
use std::process::Stdio;

use serde_json::json;

use super::yard::{ShellYard, owned};
use crate::calls::call;
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// What a command does, where `$RUN` is a program that makes the canary.
struct LeftoverCase {
    variant: &'static str,
    /// What was there before.
    before: &'static str,
    attack: &'static str,
}

const fn leaves(variant: &'static str, before: &'static str, attack: &'static str) -> LeftoverCase {
    LeftoverCase { variant, before, attack }
}

const NOTHING: &str = "true";
/// A repository with one commit and one file.
const REPOSITORY: &str = "git init -q . && echo a > a.txt && git add a.txt && git commit -q -m one";
/// The same, and a second tree of it.
const WORKTREE: &str =
    "git init -q . && echo a > a.txt && git add a.txt && git commit -q -m one && git worktree add -q tree";

const LEAVINGS: &[LeftoverCase] = &[
    leaves(
        "a common folder of another repository",
        REPOSITORY,
        r#"cp -r .git t; mv t .git/x
        printf '[core]\n\tfsmonitor = %s\n' "$RUN" >> .git/x/config; echo x > .git/commondir"#,
    ),
    leaves(
        "a repository within, with a watcher of files",
        REPOSITORY,
        r#"git init -q sub; cd sub
        git commit -q --allow-empty -m x; git config core.fsmonitor "$RUN"; cd ..
        git update-index --add --cacheinfo 160000,$(git -C sub -c core.fsmonitor=false rev-parse HEAD),sub"#,
    ),
    leaves("a repository where none was", NOTHING, r#"git init -q .; git config core.fsmonitor "$RUN""#),
    leaves(
        "a repository within, entered by a person",
        NOTHING,
        r#"git init -q sub; git -C sub config core.fsmonitor "$RUN""#,
    ),
    leaves(
        "a bare repository of another name",
        REPOSITORY,
        r#"mkdir -p docs/build; cd docs/build; git init -q --bare .
        printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = %s\n' "$RUN" > config"#,
    ),
    leaves(
        "a file of a second tree that leads elsewhere",
        WORKTREE,
        r#"cp -r .git ev
        printf '[core]\n\tfsmonitor = %s\n' "$RUN" >> ev/config; echo "gitdir: ../ev" > tree/x; mv tree/x tree/.git"#,
    ),
    leaves(
        "a file of a second tree that leads into the repository's objects",
        WORKTREE,
        r#"cp -r .git ev
        printf '[core]\n\tfsmonitor = %s\n' "$RUN" >> ev/config; mv ev .git/objects/ev
        rm -f tree/.git; echo "gitdir: ../.git/objects/ev" > tree/.git"#,
    ),
    leaves(
        "a link in the place of a repository's folder",
        REPOSITORY,
        r#"cp -r .git ev
        printf '[core]\n\tfsmonitor = %s\n' "$RUN" >> ev/config; mkdir sub; ln -s ../ev sub/.git; touch sub/a.txt"#,
    ),
    leaves("a setting of the repository", REPOSITORY, r#"git config core.fsmonitor "$RUN""#),
    leaves(
        "a setting in a line that goes on",
        REPOSITORY,
        r#"printf '[core]\n\tfsmonitor = \\\n%s\n' "$RUN" >> .git/config"#,
    ),
    leaves(
        "a setting with its heading in one line",
        NOTHING,
        r#"git init -q .; printf '[core] fsmonitor = %s\n' "$RUN" >> .git/config"#,
    ),
    leaves(
        "a setting in large letters",
        NOTHING,
        r#"git init -q .; printf '[CORE]\n\tFSMONITOR=%s\n' "$RUN" >> .git/config"#,
    ),
    leaves(
        "settings that are included",
        NOTHING,
        r#"git init -q .; printf '[core]\n\tfsmonitor = %s\n' "$RUN" > more
        printf '[include]\n\tpath = ../more\n' >> .git/config"#,
    ),
    leaves(
        "settings that are included for a branch",
        NOTHING,
        r#"git init -q -b main .; printf '[core]\n\tfsmonitor = %s\n' "$RUN" > more
        printf '[includeIf "onbranch:main"]\n\tpath = ../more\n' >> .git/config"#,
    ),
    leaves(
        "settings of one tree",
        NOTHING,
        r#"git init -q .; git config extensions.worktreeConfig true
        printf '[core]\n\tfsmonitor = %s\n' "$RUN" > .git/config.worktree"#,
    ),
    leaves(
        "a folder of hooks elsewhere",
        NOTHING,
        r#"git init -q .; echo a > a.txt; git add a.txt; git commit -q -m one
        mkdir hooks; cp "$RUN" hooks/post-index-change; git config core.hooksPath hooks; touch a.txt"#,
    ),
    leaves("a hook", REPOSITORY, r#"cp "$RUN" .git/hooks/post-index-change; touch a.txt"#),
    leaves(
        "a hook of a repository that is new",
        NOTHING,
        r#"git init -q .; echo a > a.txt; git add a.txt; git commit -q -m one
        mkdir -p .git/hooks; cp "$RUN" .git/hooks/post-index-change; touch a.txt"#,
    ),
    leaves(
        "a filter and whom it is for",
        NOTHING,
        r#"git init -q .; echo a > a.txt; git add a.txt; git commit -q -m one
        git config filter.x.clean "$RUN"; echo '*.txt filter=x' > .gitattributes; touch a.txt"#,
    ),
    leaves("an alias that a person uses", NOTHING, r#"git init -q .; git config alias.st "!$RUN""#),
    leaves("what a shell loads on entering", NOTHING, r#"echo "$RUN" > .envrc"#),
    leaves("what a shell loads, by a rename", NOTHING, r#"echo "$RUN" > x; mv x .envrc"#),
    leaves("what a shell loads, by a link", NOTHING, r#"echo "$RUN" > x; ln -s x .envrc"#),
    leaves("what a shell loads, by a second name", NOTHING, r#"echo "$RUN" > x; ln x .envrc"#),
    leaves(
        "what a shell loads, in the place of another",
        "echo true > .envrc",
        r#"rm -f .envrc; mv .envrc x; echo "$RUN" > .envrc"#,
    ),
    leaves("what a shell loads, in a folder within", NOTHING, r#"mkdir sub; echo "$RUN" > sub/.envrc"#),
    leaves("what an editor runs", NOTHING, r#"mkdir .vscode; echo "$RUN" > .vscode/tasks.json"#),
    leaves(
        "what an editor runs, its folder by a rename",
        NOTHING,
        r#"mkdir x; echo "$RUN" > x/tasks.json; mv x .vscode"#,
    ),
    leaves(
        "what an editor runs, in a folder that was there",
        "mkdir .vscode && echo true > .vscode/settings.json",
        r#"echo "$RUN" > .vscode/tasks.json"#,
    ),
    leaves(
        "what an editor runs, in the place of its folder",
        "mkdir .vscode && echo true > .vscode/settings.json",
        r#"mv .vscode x
        mkdir .vscode; echo "$RUN" > .vscode/tasks.json"#,
    ),
    leaves(
        "what an editor runs, in a folder within",
        NOTHING,
        r#"mkdir -p sub/.vscode; echo "$RUN" > sub/.vscode/tasks.json"#,
    ),
    leaves("a start of a shell", NOTHING, r#"echo "$RUN" > .bashrc"#),
    leaves(
        "what is left by a process that goes on",
        NOTHING,
        r#"(sleep 0.2; echo "$RUN" > .envrc) & sleep 0.4"#,
    ),
];

/// What the tools are called, with the sandbox that holds them.
const ISOLATED: &str = "run_command in tier C, and the review";
const WITHOUT: &str = "run_command in tier B without namespaces, and the review";
const JOB: &str = "start_job, and the review";

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    LEAVINGS
        .iter()
        .map(|leaving| {
            let pairs =
                [ISOLATED, WITHOUT, JOB].map(|mechanism| CasePair::new(105, leaving.variant, mechanism));
            AttackTrial::new(pairs.to_vec(), move |place, pairs| left(leaving, place, pairs))
        })
        .collect()
}

/// What a person does who looks at the folder, with the settings of no repository but this one.
const LOOKS: &str = r#"for folder in . sub tree docs/build; do [ -d "$folder" ] && (
        cd "$folder"; git status; git log -1; git st; git add -A -n .
        [ -f .envrc ] && . ./.envrc; [ -f .vscode/tasks.json ] && sh .vscode/tasks.json; [ -f .bashrc ] && sh .bashrc)
    done; true"#;

const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "a"),
    ("GIT_AUTHOR_EMAIL", "a@b.example"),
    ("GIT_COMMITTER_NAME", "a"),
    ("GIT_COMMITTER_EMAIL", "a@b.example"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
];

/// Runs a script in the workspace without anything that holds it.
pub(super) async fn plainly(yard: &ShellYard, script: &str) -> io::Result<()> {
    let mut shell = tokio::process::Command::new("sh");
    shell
        .args(["-c", script])
        .current_dir(yard.work())
        .envs(IDENTITY)
        .env("HOME", yard.trial_folder.scratch());
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().await.map(drop)
}

/// A workspace as it was before, and the attack's words.
async fn prepare(leaving: &LeftoverCase) -> io::Result<(ShellYard, String)> {
    let yard = ShellYard::new()?;
    plainly(&yard, leaving.before).await?;
    let ran = yard.work().join(super::yard::RAN);
    // A watcher is asked by git with a version and a token, a pager by what is piped into it.
    yard.program("evil.sh", &format!("#!/bin/sh\ntouch {}\ncat > /dev/null\n", ran.display()))?;
    let script = format!("RUN={}; {}", yard.work().join("evil.sh").display(), leaving.attack);
    Ok((yard, script))
}

/// Has the person look, after whatever the attack ran by itself is gone.
pub(super) async fn looked_at(yard: &ShellYard) -> io::Result<Vec<String>> {
    match std::fs::remove_file(yard.work().join(super::yard::RAN)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    plainly(yard, LOOKS).await?;
    Ok(yard.touched(""))
}

async fn left(leaving: &'static LeftoverCase, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let place = &place;
    run_attempts(pairs, place.half, |mechanism| async move {
        let (control, script) = prepare(leaving).await?;
        plainly(&control, &script).await?;
        let control = looked_at(&control).await?;

        let (held, script) = prepare(leaving).await?;
        let sandbox = if mechanism == WITHOUT { &place.without_namespaces } else { &place.sandbox };
        let tools = held.tools(sandbox);
        let argv = owned(&["sh", "-c", &format!("{script}\necho done")]);
        let arguments = json!({ "argv": argv });
        let tool = if mechanism == JOB { "start_job" } else { "run_command" };
        let outcome = call(&tools, tool, &arguments, &held.work()).await;
        let said = match mechanism.as_str() {
            JOB => ended(&tools, &held).await?,
            _ => outcome.text,
        };
        // Where nothing can be kept because there are no mounts, nothing is started.
        let is_refused = mechanism == WITHOUT && said.contains("this host has no");
        if !said.contains("done") && !is_refused {
            return Err(io::Error::other(format!("it was not run: {said}")));
        }
        Ok(Some((looked_at(&held).await?, control)))
    })
    .await
}

/// Waits for the end of the only job, and returns what it said.
pub(super) async fn ended(tools: &palyra_commands::CommandTools, held: &ShellYard) -> io::Result<String> {
    let mut said = String::new();
    for _ in 0..200 {
        let tail = call(tools, "tail_job", &json!({ "job": "job-1" }), &held.work()).await.text;
        said.push_str(&tail);
        if !tail.starts_with("still running") {
            return Ok(said);
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    Err(io::Error::other("the job does not end"))
}
