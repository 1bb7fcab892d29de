//! `palyra admin complete`: what there is now, for a shell that completes a command line.
//!
//! Owns which arguments are completed from the daemon, and the lines that do it in each shell. Invariant: completing
//! starts no daemon, and says nothing where there is none.

use clap::{Command, ValueEnum};
use clap_complete::Shell;
use palyra_client::{AskProviders, Client};
use palyra_types::ErrorCode;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::api::callable;
use palyra_explain::topic_names;
use palyra_run_view::{session_title, summary};
use palyra_screen_text::clean_line;
use palyra_screen_text::short_id;

/// Candidates of one kind, at most: the newest.
const CANDIDATES_MAX: u32 = 100;
const ABOUT_CHARS_MAX: usize = 60;

/// How arguments are called that are completed, and by what. A new kind is a row here and a case in [`candidates`].
const COMPLETED: [(&str, CandidateKind); 8] = [
    ("RUN", CandidateKind::Runs),
    ("RUN[@SEQ]", CandidateKind::Runs),
    ("SESSION", CandidateKind::Sessions),
    ("ID|KEY", CandidateKind::Sessions),
    ("APPROVAL", CandidateKind::Approvals),
    ("MODEL", CandidateKind::Models),
    ("TOPIC", CandidateKind::Topics),
    ("OPERATION", CandidateKind::Operations),
];

/// Print what there is of one kind: a name, a tab, what it is about
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra admin complete runs")]
pub(crate) struct CompleteArgs {
    /// What to print
    kind: CandidateKind,
}

/// What is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CandidateKind {
    /// Runs, newest first.
    Runs,
    /// Sessions, the last used first.
    Sessions,
    /// Approvals that wait.
    Approvals,
    /// Models that can be asked.
    Models,
    /// What `palyra explain` explains.
    Topics,
    /// What `palyra api` calls.
    Operations,
}

impl CandidateKind {
    fn word(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Sessions => "sessions",
            Self::Approvals => "approvals",
            Self::Models => "models",
            Self::Topics => "topics",
            Self::Operations => "operations",
        }
    }
}

/// Runs the verb.
pub(super) async fn run(context: &Context, args: &CompleteArgs) -> Result<Exit, Failure> {
    if let Some(mut known) = known_without_daemon(args.kind) {
        return Ok(known
            .try_for_each(|(name, about)| context.output.exact_line(&format!("{name}\t{about}")))
            .map(|()| Exit::Done)?);
    }
    // A shell that completes has no place for errors.
    let Ok(client) = context.connect_running().await else { return Ok(Exit::Done) };
    for (name, about) in candidates(&client, args.kind).await.unwrap_or_default() {
        let about = clean_line(&about, ABOUT_CHARS_MAX);
        context.output.exact_line(&format!("{name}\t{about}"))?;
    }
    Ok(Exit::Done)
}

async fn candidates(client: &Client, kind: CandidateKind) -> Result<Vec<(String, String)>, Failure> {
    let page_size = CANDIDATES_MAX;
    Ok(match kind {
        CandidateKind::Runs => {
            let request = v1::ListRunsRequest { page_size, ..Default::default() };
            let runs = client.call(request).await?.runs;
            runs.into_iter().map(|run| (short_id(&run.run_id), run.input_preview)).collect()
        }
        CandidateKind::Sessions => {
            let request = v1::ListSessionsRequest { page_size, ..Default::default() };
            let sessions = client.call(request).await?.sessions;
            sessions.iter().map(|one| (short_id(&one.session_id), session_title(one))).collect()
        }
        CandidateKind::Approvals => {
            let request = v1::ListApprovalsRequest { page_size, ..Default::default() };
            let approvals = client.call(request).await?.approvals;
            let about = |approval: &v1::Approval| approval.prompt.as_ref().map(summary).unwrap_or_default();
            approvals.iter().map(|one| (short_id(&one.approval_id), about(one))).collect()
        }
        CandidateKind::Models => {
            let models = client.list_models(AskProviders::No).await?.models;
            let named = |name: String| if name.contains('/') { name } else { format!("{name}/") };
            models.into_iter().map(|model| (named(model.model), String::new())).collect()
        }
        CandidateKind::Topics | CandidateKind::Operations => Vec::new(),
    })
}

/// Returns what this program knows itself; no daemon is asked for that.
fn known_without_daemon(kind: CandidateKind) -> Option<Box<dyn Iterator<Item = (String, String)>>> {
    match kind {
        CandidateKind::Topics => Some(Box::new(topics())),
        CandidateKind::Operations => Some(Box::new(
            callable().map(|operation| (operation.name.to_owned(), operation.summary.to_owned())),
        )),
        CandidateKind::Runs | CandidateKind::Sessions | CandidateKind::Approvals | CandidateKind::Models => {
            None
        }
    }
}

/// Returns what can be explained.
fn topics() -> impl Iterator<Item = (String, String)> {
    let codes = ErrorCode::ALL.iter().map(|code| (code.to_string(), code.slug().to_owned()));
    topic_names().chain(codes)
}

/// An argument that is completed: the verb it belongs to, its option if it is one, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CompletedWord {
    verb: String,
    option: Option<String>,
    by: CandidateKind,
}

/// Returns the arguments of a command line that are completed from the daemon.
fn completed(command: &Command, verb: &str) -> Vec<CompletedWord> {
    let own = command.get_arguments().filter(|argument| !argument.is_global_set()).filter_map(|argument| {
        let named = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        let named = named.unwrap_or_else(|| argument.get_id().as_str().to_uppercase());
        let (_, by) = COMPLETED.iter().find(|(known, _)| *known == named)?;
        let option = argument.get_long().map(|long| format!("--{long}"));
        let takes_value = argument.is_positional() || argument.get_action().takes_values();
        takes_value.then(|| CompletedWord { verb: verb.to_owned(), option, by: *by })
    });
    let below = command.get_subcommands().flat_map(|inner| {
        let verb = format!("{verb} {}", inner.get_name());
        completed(inner, verb.trim())
    });
    own.chain(below).collect()
}

/// Returns a shell's completions with ids and models completed from the daemon.
pub(super) fn with_known(shell: Shell, definition: &Command, script: &str) -> String {
    let completed = completed(definition, "");
    match shell {
        Shell::Bash => format!("{script}{}", bash(&completed)),
        Shell::Fish => format!("{script}{}", fish(&completed)),
        Shell::Zsh => zsh(script),
        _ => script.to_owned(),
    }
}

/// Arguments are known by the verb's words, and by the word before where that is an option.
fn bash(completed: &[CompletedWord]) -> String {
    let (options, positional): (Vec<_>, Vec<_>) = completed.iter().partition(|one| one.option.is_some());
    let positional =
        positional.iter().map(|one| format!("        \" {} \") kind={} ;;\n", one.verb, one.by.word()));
    let options = options.iter().map(|one| {
        let option = one.option.as_deref().unwrap_or_default();
        format!("        *\" {} \"*\"|{option}\") kind={} ;;\n", one.verb, one.by.word())
    });
    format!(
        r#"
_palyra_known() {{
    _palyra "$@"
    local cur="${{COMP_WORDS[COMP_CWORD]}}" words=" ${{COMP_WORDS[*]:1:COMP_CWORD-1}} " kind="" known
    case "$cur" in -*) return ;; esac
    case "$words" in
{}    esac
    case "$words|${{COMP_WORDS[COMP_CWORD-1]}}" in
{}    esac
    [ -n "$kind" ] || return
    known=$("${{COMP_WORDS[0]}}" admin complete "$kind" 2>/dev/null | cut -f1)
    [ "$kind" = models ] || [ "$kind" = topics ] || [ "$kind" = operations ] || cur="${{cur^^}}"
    COMPREPLY+=($(compgen -W "$known" -- "$cur"))
}}
complete -F _palyra_known -o bashdefault -o default palyra
"#,
        positional.collect::<String>(),
        options.collect::<String>(),
    )
}

/// The script names the value of each option, and the argument of each place, so that these lines are changed.
fn zsh(script: &str) -> String {
    let line = |line: &str| {
        let text = line.trim_start();
        let by = COMPLETED.iter().find(|(name, _)| {
            let argument = name.split('[').next().unwrap_or(name).to_lowercase();
            line.contains(&format!(":{name}:_default"))
                || ["':", "'::", "'*::"]
                    .iter()
                    .any(|begin| text.starts_with(&format!("{begin}{argument} -- ")))
        });
        by.map_or_else(
            || format!("{line}\n"),
            |(_, by)| {
                format!("{}\n", line.replace(":_default", &format!(":{{_palyra_known {}}}", by.word())))
            },
        )
    };
    let known = r#"_palyra_known() {
    local -a known
    known=(${(f)"$(palyra admin complete $1 2>/dev/null | sed -e 's/:/\\:/g' -e 's/\t/:/')"})
    _describe -V "$1" known
}

"#;
    let lines: String = script.lines().map(line).collect();
    lines.replacen("_palyra() {", &format!("{known}_palyra() {{"), 1)
}

fn fish(completed: &[CompletedWord]) -> String {
    let line = |one: &CompletedWord| {
        let seen: Vec<String> =
            one.verb.split(' ').map(|word| format!("__fish_seen_subcommand_from {word}")).collect();
        let option = one.option.as_ref().map(|option| format!(" -l {} -r", option.trim_start_matches('-')));
        format!(
            "complete -c palyra -n \"{}\"{} -f -k -a '(palyra admin complete {} 2>/dev/null)'\n",
            seen.join("; and "),
            option.unwrap_or_default(),
            one.by.word()
        )
    };
    completed.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_that_names_a_run_a_session_an_approval_or_a_model_is_completed() {
        let all = completed(&crate::command_line::definition(), "");
        for (verb, option, by) in [
            ("runs show", None, CandidateKind::Runs),
            ("runs effects resolve", None, CandidateKind::Runs),
            ("sessions branch", None, CandidateKind::Runs),
            ("journal export", Some("--run"), CandidateKind::Runs),
            ("sessions rename", None, CandidateKind::Sessions),
            ("run", Some("--session"), CandidateKind::Sessions),
            ("approve yes", None, CandidateKind::Approvals),
            ("run", Some("--model"), CandidateKind::Models),
            ("runs wait", None, CandidateKind::Runs),
            ("explain", None, CandidateKind::Topics),
            ("api", None, CandidateKind::Operations),
        ] {
            let wanted = CompletedWord { verb: verb.to_owned(), option: option.map(str::to_owned), by };
            assert!(all.contains(&wanted), "{wanted:?}: {all:#?}");
        }
    }
}
