//! Repositories that would have git run programs (3, 20): asked about by the tool `git`, which only reads.

use std::fs;
use std::io;
use std::process::Stdio;

use serde_json::json;

use super::yard::{ShellYard, owned};
use crate::calls::call;
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// A repository and a question to it.
struct RepositoryCase {
    variant: &'static str,
    /// Settings of the repository, as git is told them.
    settings: &'static [(&'static str, &'static str)],
    attributes: &'static str,
    subcommand: &'static str,
    options: &'static [&'static str],
}

const EVIL: &str = "{WORK}/evil";

const QUESTIONS: &[RepositoryCase] = &[
    RepositoryCase {
        variant: "a watcher of files",
        settings: &[("core.fsmonitor", EVIL)],
        attributes: "",
        subcommand: "status",
        options: &[],
    },
    RepositoryCase {
        variant: "another program for differences",
        settings: &[("diff.external", EVIL)],
        attributes: "",
        subcommand: "diff",
        options: &[],
    },
    RepositoryCase {
        variant: "the same, wanted by an option",
        settings: &[("diff.external", EVIL)],
        attributes: "",
        subcommand: "diff",
        options: &["--ext-diff"],
    },
    RepositoryCase {
        variant: "a driver that makes text",
        settings: &[("diff.evil.textconv", EVIL)],
        attributes: "* diff=evil",
        subcommand: "diff",
        options: &[],
    },
    RepositoryCase {
        variant: "the same, wanted by an option",
        settings: &[("diff.evil.textconv", EVIL)],
        attributes: "* diff=evil",
        subcommand: "show",
        options: &["--textconv"],
    },
    RepositoryCase {
        variant: "a driver of its own",
        settings: &[("diff.evil.command", EVIL)],
        attributes: "* diff=evil",
        subcommand: "diff",
        options: &[],
    },
    RepositoryCase {
        variant: "a filter that cleans",
        settings: &[("filter.evil.clean", EVIL)],
        attributes: "* filter=evil",
        subcommand: "diff",
        options: &[],
    },
    RepositoryCase {
        variant: "a filter that goes on",
        settings: &[("filter.evil.process", EVIL)],
        attributes: "* filter=evil",
        subcommand: "diff",
        options: &[],
    },
    RepositoryCase {
        variant: "a checker of signatures",
        settings: &[("gpg.program", EVIL), ("log.showSignature", "true")],
        attributes: "",
        subcommand: "log",
        options: &["--show-signature"],
    },
    RepositoryCase {
        variant: "a pager of what is found",
        settings: &[],
        attributes: "",
        subcommand: "grep",
        options: &["-O{WORK}/evil", "hello"],
    },
    RepositoryCase {
        variant: "an output file",
        settings: &[],
        attributes: "",
        subcommand: "diff",
        options: &["--output={WORK}/ran"],
    },
    RepositoryCase {
        variant: "a file outside, compared",
        settings: &[],
        attributes: "",
        subcommand: "diff",
        options: &["--no-index", "a.txt", "{OUT}/file"],
    },
    RepositoryCase {
        variant: "a branch, made",
        settings: &[],
        attributes: "",
        subcommand: "branch",
        options: &["made"],
    },
    RepositoryCase {
        variant: "a file outside, blamed for",
        settings: &[],
        attributes: "",
        subcommand: "blame",
        options: &["--contents", "{OUT}/file", "a.txt"],
    },
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trial = |question: &'static RepositoryCase| {
        let variant =
            format!("{}: git {} {}", question.variant, question.subcommand, question.options.join(" "));
        let pair = CasePair::new(3, variant, "the tool git");
        AttackTrial::new(vec![pair], move |place, pairs| git_pairs(question, place, pairs))
    };
    QUESTIONS.iter().map(trial).collect()
}

/// Has git, as it is, do something in a yard.
pub(super) fn git(yard: &ShellYard, arguments: &[&str]) -> io::Result<()> {
    let mut git = std::process::Command::new("git");
    git.args(arguments).current_dir(yard.work()).env("HOME", yard.trial_folder.scratch());
    git.env("GIT_CONFIG_NOSYSTEM", "1").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if git.status()?.success() { Ok(()) } else { Err(io::Error::other(format!("git {arguments:?} failed"))) }
}

fn prepare(question: &RepositoryCase) -> io::Result<ShellYard> {
    let yard = ShellYard::new()?;
    yard.write("a.txt", "hello\n")?;
    git(&yard, &["init", "-q"])?;
    git(&yard, &["add", "a.txt"])?;
    let who = ["-c", "user.name=a", "-c", "user.email=a@example"];
    git(&yard, &[&who[..], &["commit", "-q", "-m", "one"]].concat())?;
    if question.subcommand == "log" && question.options.contains(&"--show-signature") {
        // A commit with something that looks signed.
        sign(&yard)?;
    }
    yard.write("a.txt", "hello\nworld\n")?;
    yard.program("evil", &yard.word("#!/bin/sh\ntouch {WORK}/ran\ncat\n"))?;
    for (name, value) in question.settings {
        git(&yard, &["config", name, &yard.word(value)])?;
    }
    yard.write(".git/info/attributes", question.attributes)?;
    Ok(yard)
}

/// Puts a commit on top that carries a signature of nobody.
fn sign(yard: &ShellYard) -> io::Result<()> {
    let script = "tree=$(git rev-parse HEAD^{tree}); printf 'tree %s\\nauthor a <a> 1 +0000\\ncommitter a <a> 1 +0000\\ngpgsig \
        -----BEGIN PGP SIGNATURE-----\\n x\\n -----END PGP SIGNATURE-----\\n\\ntwo\\n' $tree | git hash-object -t commit -w --stdin | \
        xargs git update-ref HEAD";
    let status = std::process::Command::new("sh").args(["-c", script]).current_dir(yard.work()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("no signed commit could be made")) }
}

/// What git says of itself in a repository: its references.
fn references(yard: &ShellYard) -> usize {
    fs::read_dir(yard.work().join(".git/refs/heads")).into_iter().flatten().count()
}

async fn git_pairs(
    question: &'static RepositoryCase,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    let touched = |yard: &ShellYard, printed: &str| {
        let mut touched = yard.touched(printed);
        if references(yard) != 1 {
            touched.push("the repository changed".to_owned());
        }
        touched
    };
    run_attempts(pairs, place.half, |_| async {
        let control = prepare(question)?;
        let options: Vec<String> = question.options.iter().map(|word| control.word(word)).collect();
        let argv = owned(&["git", question.subcommand]).into_iter().chain(options);
        let Some(printed) = control.as_is(&argv.collect::<Vec<_>>(), &[]).await? else { return Ok(None) };
        let held = prepare(question)?;
        let options: Vec<String> = question.options.iter().map(|word| held.word(word)).collect();
        let arguments = json!({ "subcommand": question.subcommand, "options": options });
        let outcome = call(&held.tools(&place.sandbox), "git", &arguments, &held.work()).await;
        Ok(Some((touched(&held, &outcome.text), touched(&control, &printed))))
    })
    .await
}
