//! Questions to the tool `git` that would print credentials (102), by options, revisions, objects and paths.

use std::io;
use std::process::Stdio;

use serde_json::{Value, json};

use super::yard::{ShellYard, owned};
use crate::calls::call;
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::SECRET;

/// What is asked: a subcommand and options, where `{BLOB}`, `{OLDER}` and `{TREE}` are digests of `.env`, of an earlier one,
/// and of a folder of credentials.
const QUESTIONS: &[&[&str]] = &[
    &["diff", "--no-index", "/dev/null", ".env"],
    &["diff", "--no-index", "/dev/null", ".ssh/id_rsa"],
    &["diff", "--no-index", "--", "/dev/null", "secrets/db"],
    &["diff", "--no-index", "/dev/null", "{OUT}/file"],
    &["diff", "--no-index", "notes.txt", "../outside/file"],
    &["grep", "--no-index", "-h", "", "--", ".env", "secrets", ".ssh"],
    &["grep", "--untracked", "-h", "canary"],
    &["diff"],
    &["diff", "HEAD~1"],
    &["diff", "HEAD~1", "HEAD", "-w"],
    &["diff", "--cached", "HEAD~1"],
    &["diff", "--word-diff", "HEAD~1"],
    &["diff", "--word-diff=color", "HEAD~1"],
    &["diff", "--text", "HEAD~1..HEAD"],
    &["diff", "-R", "HEAD"],
    &["diff", "--", ".env"],
    &["diff", "--", ".e*"],
    &["diff", "HEAD", "--", ":(top,icase).ENV"],
    &["diff", "{OLDER}", "{BLOB}"],
    &["diff", "{OLDER}..{BLOB}"],
    &["diff", "HEAD:notes.txt", "HEAD:.env"],
    &["show"],
    &["show", "HEAD:.env"],
    &["show", ":.env"],
    &["show", ":0:.env"],
    &["show", "HEAD:./.env"],
    &["show", "@:.env"],
    &["show", "HEAD~1:secrets/db"],
    &["show", "HEAD:deep/er/server.KEY"],
    &["show", "HEAD^{tree}:.env"],
    &["show", "main:.ssh/id_rsa"],
    &["show", "{BLOB}"],
    &["show", "{TREE}:db"],
    &["show", "-m", "--cc"],
    &["log", "-p"],
    &["log", "-p", "--all", "-m"],
    &["log", "-u", "-1"],
    &["log", "-U0", "--reverse"],
    &["log", "--patch-with-stat"],
    &["log", "--patch-with-raw", "--text"],
    &["log", "--full-diff", "-p", "--", "notes.txt"],
    &["log", "-L1,1:.env"],
    &["grep", "-h", "canary"],
    &["grep", "-h", "canary", "HEAD"],
    &["grep", "-h", "--cached", "canary"],
    &["grep", "-h", "-e", "canary", "{BLOB}"],
    &["grep", "-hE", "[c]anary", "--", ".e*"],
    &["grep", "-h", "-C3", "three"],
    &["grep", "-h", "", "HEAD:secrets"],
    &["grep", "-h", "-f", "all", "--", ".env"],
    &["blame", "--", ".env"],
    &["blame", "--contents", ".env", "notes.txt"],
    &["blame", "-S.env", "notes.txt"],
    &["blame", "HEAD", "--", "secrets/db"],
];

/// Paths of the same questions, in the argument for them.
const PATHS: &[(&str, &str)] = &[
    ("diff", ":(top,icase).ENV"),
    ("diff", ":(glob).e*"),
    ("grep", ":/.env"),
    ("grep", ":(attr:!x).env"),
    ("diff", "../outside/file"),
    ("blame", "../outside/file"),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let asked = QUESTIONS.iter().map(|&words| {
        let pair = CasePair::new(102, format!("git {}", words.join(" ")), "what the tool git is asked");
        AttackTrial::new(vec![pair], move |place, pairs| carry_out(words, place, pairs))
    });
    let paths = PATHS.iter().map(|&(subcommand, path)| {
        let pair =
            CasePair::new(102, format!("git {subcommand} of the path {path}"), "what the tool git is asked");
        AttackTrial::new(vec![pair], move |place, pairs| {
            by_path(PathQuestion { subcommand, path }, place, pairs)
        })
    });
    asked.chain(paths).collect()
}

/// Files that hold credentials, and plain ones.
const FILES: [(&str, &str); 7] = [
    (".env", SECRET),
    (".ssh/id_rsa", SECRET),
    ("secrets/db", SECRET),
    ("deep/er/server.KEY", SECRET),
    ("notes.txt", "plain"),
    ("src/main.rs", "plain"),
    ("all", ""),
];

/// A repository with two commits of them, and changes on top.
fn repository() -> io::Result<ShellYard> {
    let yard = ShellYard::new()?;
    git(&yard, &["init", "-q", "-b", "main"])?;
    for version in ["one", "two", "three"] {
        for (path, what) in FILES {
            yard.write(path, &format!("{version} {what}\n"))?;
        }
        if version != "three" {
            git(&yard, &["add", "-A", "-f"])?;
            git(&yard, &["commit", "-q", "-m", version])?;
        }
    }
    Ok(yard)
}

/// Has git, as it is, do something; returns what it prints.
fn git(yard: &ShellYard, words: &[&str]) -> io::Result<String> {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example", "-c", "commit.gpgsign=false"]).args(words);
    git.current_dir(yard.work()).env("HOME", yard.trial_folder.scratch()).env("GIT_CONFIG_NOSYSTEM", "1");
    let done = git.stdin(Stdio::null()).output()?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(io::Error::other(format!("git {words:?}: {said}")));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// Puts digests where a word has placeholders.
fn with_digests(yard: &ShellYard, word: &str) -> io::Result<String> {
    let mut word = yard.word(word);
    for (name, of) in [("{BLOB}", "HEAD:.env"), ("{OLDER}", "HEAD~1:.env"), ("{TREE}", "HEAD:secrets")] {
        if word.contains(name) {
            word = word.replace(name, &git(yard, &["rev-parse", of])?);
        }
    }
    Ok(word)
}

/// Whether other files are told about at all.
async fn answers(place: &TrialContext, yard: &ShellYard) -> io::Result<()> {
    let arguments = json!({ "subcommand": "show", "options": ["HEAD:notes.txt"] });
    let said = call(&yard.tools(&place.sandbox), "git", &arguments, &yard.work()).await.text;
    if said.contains("two plain") {
        Ok(())
    } else {
        Err(io::Error::other(format!("git does not answer: {said}")))
    }
}

async fn shell_questions(
    place: &TrialContext,
    yard: &ShellYard,
    arguments: &Value,
) -> io::Result<Vec<String>> {
    answers(place, yard).await?;
    let outcome = call(&yard.tools(&place.sandbox), "git", arguments, &yard.work()).await;
    Ok(yard.touched(&outcome.text))
}

async fn plainly(argv: Vec<String>) -> io::Result<Option<Vec<String>>> {
    let control = repository()?;
    let argv: Vec<String> = argv.iter().map(|word| with_digests(&control, word)).collect::<Result<_, _>>()?;
    Ok(control.as_is(&argv, &[]).await?.map(|printed| control.touched(&printed)))
}

async fn carry_out(
    words: &'static [&'static str],
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    let place = &place;
    run_attempts(pairs, place.half, |_| async move {
        let argv = owned(&["git"]).into_iter().chain(owned(words)).collect();
        let Some(control) = plainly(argv).await? else { return Ok(None) };
        let held = repository()?;
        let words: Vec<String> =
            words.iter().map(|word| with_digests(&held, word)).collect::<Result<_, _>>()?;
        let (subcommand, options) =
            words.split_first().ok_or_else(|| io::Error::other("nothing is asked"))?;
        let arguments = json!({ "subcommand": subcommand, "options": options });
        Ok(Some((shell_questions(place, &held, &arguments).await?, control)))
    })
    .await
}

/// A question to git about one path.
#[derive(Clone, Copy)]
struct PathQuestion {
    subcommand: &'static str,
    path: &'static str,
}

/// A control that reads what the path leads to, magic left aside.
async fn by_path(
    PathQuestion { subcommand, path }: PathQuestion,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    let place = &place;
    run_attempts(pairs, place.half, |_| async move {
        let control = repository()?;
        let meant = if path.contains("outside") { "../outside/file" } else { ".env" };
        let Some(printed) = control.as_is(&owned(&["cat", meant]), &[]).await? else { return Ok(None) };
        let held = repository()?;
        let options: &[&str] = if subcommand == "grep" { &["-h", "-e", ""] } else { &[] };
        let arguments = json!({ "subcommand": subcommand, "options": options, "paths": [path] });
        Ok(Some((shell_questions(place, &held, &arguments).await?, control.touched(&printed))))
    })
    .await
}
