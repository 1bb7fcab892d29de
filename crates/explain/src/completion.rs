//! Which arguments of the command line a shell completes with what there is, and the lines that do it in each shell.
//!
//! The candidates themselves are printed by `palyra admin complete`. Begin at [`completed_words`].

use clap::{Command, ValueEnum};

/// How arguments are called that are completed, and by what. A new kind is a row here, and a case where the candidates are read.
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

/// What is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CandidateKind {
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
    /// Returns the word for it on a command line.
    pub fn word(self) -> &'static str {
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

/// An argument that is completed: the verb it belongs to, its option if it is one, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedWord {
    /// The words of its verb.
    pub verb: String,
    /// Its option, with `--`; `None` for a positional argument.
    pub option: Option<String>,
    /// What it is completed by.
    pub by: CandidateKind,
}

/// Returns the arguments of a command line that are completed from the daemon.
pub fn completed_words(command: &Command, verb: &str) -> Vec<CompletedWord> {
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
        completed_words(inner, verb.trim())
    });
    own.chain(below).collect()
}

/// Returns the lines of bash. Arguments are known by the verb's words, and by the word before where that is an option.
pub fn bash_lines(completed: &[CompletedWord]) -> String {
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

/// Returns a script of zsh with them. The script names the value of each option, and the argument of each place, so that these lines are changed.
pub fn zsh_script(script: &str) -> String {
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

/// Returns the lines of fish.
pub fn fish_lines(completed: &[CompletedWord]) -> String {
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
