//! Joins the command line and the daemon, which do not know each other.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use palyra_cli::{ConfigMistake, ConfigVerdict, DaemonHooks, OwnModel, PolicyReport, PolicyWork, ServeArgs};
use palyra_daemon::config::{self, ListExtent, ValueOrigin};
use palyra_daemon::{CheckVerdict, ConfigFinding, ExaminedPolicies, PolicyExamination};

/// Runs the program with these arguments, its own name first.
pub fn program(arguments: Vec<OsString>) -> ExitCode {
    let daemon = DaemonHooks {
        serve,
        check_config,
        own_model,
        policies,
        shipped_policies: palyra_daemon::shipped_policies,
        config_template: config::as_toml,
        config_schema: config::as_json_schema,
    };
    palyra_cli::run(arguments, daemon)
}

/// Returns the arguments as the command line reads them: a program whose name is `palyrad` serves, whether the verb is there
/// (a client that starts a daemon gives it that name, for lists of processes) or not (a link of that name).
#[must_use]
pub fn words(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_daemon = |program: &OsString| Path::new(program).file_name().is_some_and(|name| name == "palyrad");
    if arguments.first().is_some_and(is_daemon) { daemon_words(arguments) } else { arguments }
}

/// Returns the arguments of the daemon's program with the verb `serve`, unless they have it or ask for the version.
#[must_use]
pub fn daemon_words(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_complete = |word: &OsString| word == "serve" || word == "--version" || word == "-V";
    if !arguments.get(1).is_some_and(is_complete) {
        arguments.insert(1.min(arguments.len()), "serve".into());
    }
    arguments
}

fn serve(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let ServeArgs { auto_started, state_dir, config, listen } = args;
    let usual = palyra_daemon::ServeArgs::default();
    palyra_daemon::serve(palyra_daemon::ServeArgs { auto_started, state_dir, config, listen, ..usual })
}

fn check_config(file: Option<&Path>) -> ConfigVerdict {
    let CheckVerdict { file, findings, more } =
        palyra_daemon::check_configuration(file, &palyra_daemon::process_environment());
    let mistakes = findings.into_iter().map(mistake).collect();
    ConfigVerdict { file, mistakes, incomplete: more == ListExtent::Perhaps }
}

fn own_model(file: Option<&Path>) -> OwnModel {
    let environment = palyra_daemon::process_environment();
    let variables = palyra_daemon::model_variables(&environment);
    match palyra_daemon::own_model(file, &environment) {
        Ok(own) => OwnModel {
            name: own.name.clone(),
            // Variables that name what the configuration names change nothing.
            variables: if own.is_named_twice { Vec::new() } else { variables },
            unset_key: own.unset_key,
            unset_server: own.unset_server,
            unnamed_fingerprint: {
                let own = own.clone();
                Arc::new(move |salt| own.unnamed_fingerprint(salt))
            },
            keyless_fingerprint: {
                let own = own.clone();
                Arc::new(move |salt| own.keyless_fingerprint(salt))
            },
            fingerprint: Arc::new(move |salt| match own.unset_server {
                Some(variable) => Err(format!("it names a model of {variable}, which is not set here")),
                None => Ok(own.fingerprint(salt)),
            }),
        },
        Err(why) => OwnModel {
            name: "a model that cannot be used".to_owned(),
            variables,
            unset_key: None,
            unset_server: None,
            unnamed_fingerprint: Arc::new(|_| None),
            keyless_fingerprint: Arc::new(|_| None),
            fingerprint: Arc::new(move |_| Err(why.clone())),
        },
    }
}

fn policies(
    work: PolicyWork,
    folder: Option<&Path>,
    config: Option<&Path>,
    state: Option<&Path>,
) -> PolicyReport {
    let wanted = match work {
        PolicyWork::Check => PolicyExamination::Check,
        PolicyWork::Test => PolicyExamination::Test,
    };
    let environment = palyra_daemon::process_environment();
    let ExaminedPolicies { folder, in_force, files, passed, mistakes, remarks } =
        palyra_daemon::examine_policies(wanted, folder, config, &environment, state);
    PolicyReport { folder, in_force, files: files as u64, passed: passed as u64, mistakes, remarks }
}

fn mistake(finding: ConfigFinding) -> ConfigMistake {
    let ConfigFinding { code, message, origin, key } = finding;
    let in_environment = matches!(origin, Some(ValueOrigin::Variable { .. }));
    let place = match origin {
        Some(ValueOrigin::File { line, column, .. }) => Some((line, column)),
        Some(ValueOrigin::Default | ValueOrigin::Variable { .. } | ValueOrigin::Flag) | None => None,
    };
    ConfigMistake { code, message, key, place, in_environment }
}
