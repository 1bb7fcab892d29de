//! `palyra model add`: writes a provider into the configuration file, after a real completion.
//!
//! The test runs in a daemon of its own, with a state directory that is thrown away and the new
//! configuration: what is saved is exactly what was tried, and the running daemon is not touched
//! before. Only references to keys are ever written.

use std::io::Write;
use std::path::Path;

use palyra_client::{Client, ClientError, StartPolicy, Target};
use palyra_types::ErrorCode;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, value};

use super::test::tell;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::Mark;

/// Add a server of models, after a test.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  palyra model add local --base-url http://127.0.0.1:11434/v1 --model qwen3"
)]
pub(crate) struct AddArgs {
    /// A name of your own for the server: a-z, 0-9 and -
    name: String,
    /// Where its API begins, such as https://api.openai.com/v1
    #[arg(long, value_name = "URL")]
    base_url: String,
    /// The model to use there
    #[arg(long)]
    model: String,
    /// The wire format it speaks
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Where its key is found: env:NAME or file:PATH, never the key itself
    #[arg(long, value_name = "REFERENCE")]
    key: Option<String>,
    /// The model's window in tokens
    #[arg(long, value_name = "N")]
    context_tokens: Option<u32>,
    /// Do not make it the default model
    #[arg(long)]
    no_default: bool,
    /// Save without a test
    #[arg(long)]
    no_test: bool,
    /// The outcome as JSON
    #[arg(long)]
    json: bool,
}

/// A wire format, as the configuration names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    #[default]
    #[value(name = "openai_chat")]
    OpenAiChat,
    #[value(name = "anthropic_messages")]
    AnthropicMessages,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai_chat",
            Self::AnthropicMessages => "anthropic_messages",
        }
    }
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: AddArgs) -> Result<Exit, Failure> {
    context.require_local("model add")?;
    check_arguments(&args)?;
    let file = context.config_file()?;
    let old = read(&file)?;
    let new = edited(&old, &args)
        .map_err(|what| Failure::local(ErrorCode::ConfigInvalid, format!("{}: {what}", file.display())))?;
    let tested = if args.no_test { None } else { Some(test(context, &new, &args).await?) };
    if tested.as_ref().is_some_and(|tested| !tested.ok) {
        if args.json {
            context.output.json(&outcome(&file, &args, tested.as_ref(), false))?;
        }
        context.output.note(Mark::Bad, &format!("{} stays as it was", file.display()));
        return Ok(Exit::Failed);
    }
    write(&file, &new).map_err(|error| {
        let message = format!("{} cannot be written: {error}", file.display());
        Failure::local(ErrorCode::ConfigUnreadable, message)
    })?;
    context.output.note(Mark::Good, &format!("saved in {}", file.display()));
    take_on(context, &args).await?;
    if args.json {
        context.output.json(&outcome(&file, &args, tested.as_ref(), true))?;
    }
    Ok(Exit::Done)
}

fn outcome(file: &Path, args: &AddArgs, tested: Option<&v1::TestModelResponse>, saved: bool) -> Value {
    json!({
        "config_file": file.display().to_string(),
        "model": model_name(args),
        "saved": saved,
        "tested": tested.map(to_json_with_defaults),
    })
}

fn check_arguments(args: &AddArgs) -> Result<(), Failure> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if args.name.is_empty() || !args.name.chars().all(plain) || args.name == "demo" {
        return Err(Failure::Usage("the name takes a-z, 0-9 and -, and `demo` is taken".to_owned()));
    }
    let reference = |key: &str| key.starts_with("env:") || key.starts_with("file:");
    if args.key.as_deref().is_some_and(|key| !reference(key)) {
        // What was typed may be the key itself, so it is not repeated.
        let told = "--key takes env:NAME or file:PATH; a key itself would end up in the file and in the shell's history";
        return Err(Failure::Usage(told.to_owned()));
    }
    Ok(())
}

fn read(file: &Path) -> Result<String, Failure> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::local(
            ErrorCode::ConfigUnreadable,
            format!("{} cannot be read: {error}", file.display()),
        )),
    }
}

/// Returns the file's text with the provider in it; everything else, comments too, stays.
fn edited(old: &str, args: &AddArgs) -> Result<String, String> {
    let mut document: DocumentMut =
        old.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let providers = document.entry("providers").or_insert_with(implicit_table);
    let providers = providers.as_table_mut().ok_or("`providers` is not a table")?;
    let provider = providers.entry(&args.name).or_insert_with(|| Item::Table(Table::new()));
    let provider =
        provider.as_table_mut().ok_or_else(|| format!("`providers.{}` is not a table", args.name))?;
    // Its older name, which takes one value only.
    provider.remove("kind");
    provider["format"] = value(args.format.name());
    provider["base_url"] = value(args.base_url.as_str());
    match &args.key {
        Some(key) => provider["key"] = value(key.as_str()),
        None => {
            provider.remove("key");
        }
    }
    if let Some(tokens) = args.context_tokens {
        provider["context_tokens"] = value(i64::from(tokens));
    }
    if !args.no_default {
        let model = document.entry("model").or_insert_with(|| Item::Table(Table::new()));
        let model = model.as_table_mut().ok_or("`model` is not a table")?;
        model["default"] = value(model_name(args));
    }
    Ok(document.to_string())
}

fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn model_name(args: &AddArgs) -> String {
    format!("{}/{}", args.name, args.model)
}

/// Tests the model in a daemon of its own.
async fn test(context: &Context, config: &str, args: &AddArgs) -> Result<v1::TestModelResponse, Failure> {
    let folder = tempfile::Builder::new().prefix("palyra-model-").tempdir();
    let folder = folder.map_err(|error| {
        Failure::local(ErrorCode::StateDirUnusable, format!("no temporary folder can be made: {error}"))
    })?;
    let file = folder.path().join("palyra.toml");
    write(&file, config).map_err(|error| {
        Failure::local(ErrorCode::StateDirUnusable, format!("{} cannot be written: {error}", file.display()))
    })?;
    let mut options = context.connect_options()?;
    options.target = Target::StateDir(folder.path().join("state"));
    options.start = StartPolicy::Allowed;
    options.heads = None;
    options.serve_arguments = vec!["--config".into(), file.into_os_string()];
    options.notices = std::sync::Arc::new(|_| {});
    context.output.note(Mark::Info, &format!("asking {}", model_name(args)));
    let client = Client::connect(options).await?;
    let name = model_name(args);
    let tested = context.waiting("waiting for the model", client.test_model(Some(&name))).await;
    // It would go by itself, but not before its folder does.
    let stopped = client.stop_daemon().await;
    let tested = tested?;
    stopped?;
    if !args.json {
        tell(&context.output, &tested)?;
    }
    Ok(tested)
}

/// Writes the whole file at once: a reader sees the old one or the new one.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}

/// Has a daemon that runs read its configuration again.
async fn take_on(context: &Context, args: &AddArgs) -> Result<(), Failure> {
    let client = match context.connect_running().await {
        Ok(client) => client,
        Err(Failure::Client(ClientError::NotRunning { .. })) => return Ok(()),
        Err(failure) => return Err(failure),
    };
    let reloaded = client.reload_config().await?;
    if let Some(mistake) = reloaded.mistakes.first() {
        let told = format!(
            "the running daemon could not take it on; `palyra admin stop` lets the next start do so: {mistake}"
        );
        context.output.note(Mark::Doubt, &told);
    } else if names(&client.config().await?, &args.name) {
        context.output.note(Mark::Good, "the running daemon uses it");
    } else {
        let told =
            "the running daemon reads another file; `palyra admin stop` lets the next start read this one";
        context.output.note(Mark::Doubt, told);
    }
    Ok(())
}

/// Returns whether a configuration has a provider of this name.
fn names(config: &v1::GetConfigResponse, provider: &str) -> bool {
    let prefix = format!("providers.{provider}.");
    config.values.iter().any(|value| value.key.starts_with(&prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(name: &str, key: Option<&str>) -> AddArgs {
        AddArgs {
            name: name.to_owned(),
            base_url: "http://127.0.0.1:1/v1".to_owned(),
            model: "small".to_owned(),
            format: Format::OpenAiChat,
            key: key.map(str::to_owned),
            context_tokens: None,
            no_default: false,
            no_test: false,
            json: false,
        }
    }

    #[test]
    fn a_provider_is_written_and_comments_stay() {
        let old = "# mine\n[model]\n# which\ndefault = \"demo/demo\" # for now\n\n[limits]\nturns_max = 5\n";
        let new = edited(old, &args("local", Some("env:KEY"))).unwrap();
        assert_eq!(
            new,
            "# mine\n[model]\n# which\ndefault = \"local/small\"\n\n[limits]\nturns_max = 5\n\n\
             [providers.local]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\nkey = \"env:KEY\"\n"
        );
    }

    #[test]
    fn an_empty_file_becomes_a_whole_one_and_a_second_time_changes_nothing() {
        let once = edited("", &args("local", None)).unwrap();
        assert_eq!(
            once,
            "[providers.local]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\n\
             [model]\ndefault = \"local/small\"\n"
        );
        assert_eq!(edited(&once, &args("local", None)).unwrap(), once);
        let older = once.replace("format = \"openai_chat\"", "kind = \"openai-chat\"");
        let messages = AddArgs { format: Format::AnthropicMessages, ..args("local", None) };
        let expect = "[providers.local]\nbase_url = \"http://127.0.0.1:1/v1\"\nformat = \"anthropic_messages\"\n\n\
                      [model]\ndefault = \"local/small\"\n";
        assert_eq!(edited(&older, &messages).unwrap(), expect);
    }

    #[test]
    fn what_cannot_be_edited_is_said() {
        assert!(edited("providers = 3", &args("local", None)).is_err());
        assert!(edited("[[", &args("local", None)).is_err());
    }

    #[test]
    fn a_key_itself_is_refused_and_not_repeated() {
        let failure = check_arguments(&args("local", Some("sk-sesame"))).unwrap_err();
        assert_eq!(failure.exit(), Exit::Usage);
        assert!(!failure.lines().join("\n").contains("sesame"));
        assert!(check_arguments(&args("Local", None)).is_err());
        assert!(check_arguments(&args("demo", None)).is_err());
        assert!(check_arguments(&args("my-box-2", Some("file:/run/key"))).is_ok());
    }
}
