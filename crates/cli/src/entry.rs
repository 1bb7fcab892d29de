//! The way in: reads the arguments, gives the verb what it needs, and turns its end into an exit code.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use crate::command_line::{self, CommandLine, ServeVerb, Verb};
use crate::context::{Context, GlobalArgs};
use crate::daemon_hooks::{DaemonHooks, ServeArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::help;
use crate::verbs;
use palyra_backup_verb::BackupOutcome;
use palyra_terminal::{CommandOptions, ErrorFormat, InterruptListener, Output};

/// Runs the program with its arguments, the program's name first.
pub fn run(arguments: Vec<OsString>, daemon: DaemonHooks) -> ExitCode {
    let json = arguments.iter().any(|argument| argument == "--json");
    let options = CommandOptions::of_arguments(&arguments);
    let (line, json) = match command_line::parse(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            let output = Output::of_process(json.into());
            output.set_options(options);
            return help::say(&error, &output).into();
        }
    };
    let output = Output::of_process(json.into());
    output.set_options(options);
    let CommandLine { global, verb } = line;
    let verb = match verb {
        Some(Verb::Serve(verb)) => return run_daemon(global, verb, daemon),
        Some(verb) => verb,
        None if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() => {
            Verb::Chat(verbs::chat::ChatArgs::default())
        }
        None => return help::overview_instead(&output).into(),
    };
    // One worker beside this thread, so that a second Ctrl-C is heard while a write blocks.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            Failure::local(palyra_types::ErrorCode::Internal, error.to_string()).show(&output);
            return Exit::Failed.into();
        }
    };
    let exit = runtime.block_on(async {
        let interrupts = InterruptListener::listen(&output);
        let context = Context { global, output, interrupts, definition: command_line::definition, daemon };
        dispatch(&context, verb).await.unwrap_or_else(|failure| {
            let failure = context.with_mend(failure);
            failure.show(&context.output);
            failure.exit()
        })
    });
    // Reads of standard input cannot be called back.
    runtime.shutdown_background();
    exit.into()
}

fn run_daemon(global: GlobalArgs, verb: ServeVerb, daemon: DaemonHooks) -> ExitCode {
    let ServeVerb { auto_started, listen } = verb;
    let args = ServeArgs { auto_started, state_dir: global.state_dir, config: global.config, listen };
    (daemon.serve)(args).unwrap_or_else(|error| {
        Failure::local(palyra_types::ErrorCode::Internal, format!("{error:#}"))
            .show(&Output::of_process(ErrorFormat::Text));
        Exit::Failed.into()
    })
}

async fn dispatch(context: &Context, verb: Verb) -> Result<Exit, Failure> {
    // Boxed, so that this function does not contain, and drop, the state of every verb.
    match verb {
        Verb::Serve(_) => Err(Failure::Usage("serve runs elsewhere".to_owned())),
        Verb::Init(args) => Box::pin(verbs::init::run(context, args)).await,
        Verb::Chat(args) => Box::pin(verbs::chat::run(context, args)).await,
        Verb::Run(args) => Box::pin(verbs::run::run(context, args)).await,
        Verb::Runs(verb) => Box::pin(verbs::runs::run(context, verb)).await,
        Verb::Approve(args) => Box::pin(verbs::approve::run(context, args)).await,
        Verb::Policy(verb) => Box::pin(verbs::policy::run(context, verb)).await,
        Verb::Tools(verb) => Box::pin(verbs::tools::run(context, verb)).await,
        Verb::Sessions(verb) => Box::pin(verbs::sessions::run(context, verb)).await,
        Verb::Budget(args) => verbs::budget::run(&context.output, &context.connect().await?, args).await,
        Verb::Memory(verb) => Box::pin(verbs::memory::run(context, verb)).await,
        Verb::Model(verb) => Box::pin(verbs::model::run(context, verb)).await,
        Verb::Journal(verb) => Box::pin(verbs::journal::run(context, verb)).await,
        Verb::Backup(verb) => match context.backup_command()?.run(verb).await? {
            BackupOutcome::Done => Ok(Exit::Done),
            BackupOutcome::Faulty => Ok(Exit::Failed),
        },
        Verb::Status(args) => Box::pin(verbs::status::run(context, &args)).await,
        Verb::Console(args) => {
            let client = context.connect().await?;
            verbs::console::run(context, &client, &args).await
        }
        Verb::Usage(args) => verbs::usage::run(&context.output, &context.connect().await?, args).await,
        Verb::Logs(args) => Box::pin(verbs::logs::run(context, args)).await,
        Verb::Doctor(args) => Box::pin(verbs::doctor::run(context, args)).await,
        Verb::Config(verb) => Box::pin(verbs::config::run(context, verb)).await,
        Verb::Admin(verb) => Box::pin(verbs::admin::run(context, verb)).await,
        Verb::Api(args) => Box::pin(verbs::api::run(context, args)).await,
        Verb::Help(verb) => help::run(context, &verb.words),
        Verb::Explain(verb) => help::explain(context, &verb),
        Verb::Version(verb) => help::version(&context.output, verb.json.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palyra_client::OwnModel;

    use crate::daemon_hooks::{ConfigVerdict, PolicyReport};

    fn hooks(serve: fn(ServeArgs) -> anyhow::Result<ExitCode>) -> DaemonHooks {
        DaemonHooks {
            serve,
            check_config: |_| ConfigVerdict { file: None, mistakes: Vec::new(), incomplete: false },
            own_model: |_| OwnModel {
                name: String::new(),
                variables: Vec::new(),
                unset_key: None,
                unset_server: None,
                fingerprint: std::sync::Arc::new(|_| Ok(Vec::new())),
                unnamed_fingerprint: std::sync::Arc::new(|_| None),
                keyless_fingerprint: std::sync::Arc::new(|_| None),
            },
            policies: |_, _, _, _| PolicyReport::default(),
            shipped_policies: Vec::new,
            config_template: String::new,
            config_schema: || serde_json::Value::Null,
        }
    }

    #[test]
    fn serve_is_given_its_arguments() {
        #[expect(clippy::needless_pass_by_value, reason = "the hook takes its arguments whole")]
        fn serve(args: ServeArgs) -> anyhow::Result<ExitCode> {
            let expect = ServeArgs {
                auto_started: true,
                state_dir: Some("/state".into()),
                config: Some("/c.toml".into()),
                listen: Some("127.0.0.1:0".to_owned()),
            };
            assert_eq!(args, expect);
            Ok(ExitCode::SUCCESS)
        }
        let arguments = [
            "palyra",
            "serve",
            "--auto-started",
            "--state-dir",
            "/state",
            "--config",
            "/c.toml",
            "--listen",
            "127.0.0.1:0",
        ];
        let exit = run(arguments.map(OsString::from).to_vec(), hooks(serve));
        assert_eq!(exit, ExitCode::SUCCESS);
    }

    #[test]
    fn a_wrong_command_line_exits_with_two() {
        fn serve(_: ServeArgs) -> anyhow::Result<ExitCode> {
            anyhow::bail!("not asked for")
        }
        let exit = run(["palyra", "rum"].map(OsString::from).to_vec(), hooks(serve));
        assert_eq!(exit, ExitCode::from(2));
    }

    /// Returns the commands that a text names in backticks, as they would be typed.
    fn commands_in(text: &str) -> Vec<String> {
        let quoted = text.split('`').skip(1).step_by(2);
        quoted
            .map(|quoted| quoted.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|quoted| quoted.starts_with("palyra "))
            .collect()
    }

    #[test]
    fn every_command_that_an_error_or_its_page_names_exists() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
        let mut named = Vec::new();
        for code in palyra_types::ErrorCode::ALL {
            let page = std::fs::read_to_string(folder.join(format!("{code}.md"))).unwrap();
            named.extend(commands_in(&page).into_iter().map(|command| (code, command)));
            named.extend(commands_in(code.mend()).into_iter().map(|command| (code, command)));
        }
        assert!(named.len() > 40, "{named:?}");
        for (code, command) in named {
            let words = command.split(' ').map(|word| match word {
                "RUN" | "SESSION" | "SCHEDULE" | "ID" => "01ARZ3NDEKTSV4RRFFQ69G5FAV",
                "EFFECT" | "NUMBER" => "1",
                "SCOPE" => "runs",
                // The first of several words to choose from.
                word => word.split('|').next().unwrap_or(word),
            });
            let incomplete = clap::error::ErrorKind::MissingRequiredArgument;
            // What is named in passing leaves out what the verb's help tells.
            let parsed =
                command_line::parse(words.map(OsString::from).collect()).map_err(|error| error.kind());
            assert!(parsed.is_ok() || parsed.is_err_and(|kind| kind == incomplete), "{code}: {command}");
        }
    }
}
