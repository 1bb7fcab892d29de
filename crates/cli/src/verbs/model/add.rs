//! `palyra model add`: writes a provider into the configuration file, after a real completion.
//!
//! The test runs in a daemon of its own, with a state directory that is thrown away and the new
//! configuration: what is saved is exactly what was tried, and the running daemon is not touched
//! before. Only references to keys are ever written.

mod add_request;

use std::path::Path;

use palyra_client::{AskProviders, Client, ClientError, DaemonTarget, LogTail, StartPolicy};
use palyra_config_text::{
    DefaultChange, EditConfigError, ProviderSection, named_default, provider_field, with_provider,
    write_whole,
};
use palyra_types::ErrorCode;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use serde_json::{Value, json};

use self::add_request::AddRequest;
use super::config_file::{ConfigText, ModelInForce, default_before, is_set, save, take_on, way_back};
use super::test::{TestPurpose, show};
use crate::context::Context;
use crate::daemon_hooks::ConfigMistake;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_explain::{mend_of_try, mend_without_key, replaced_key, vault_key_untested};
use palyra_screen_text::{addresses, authority_of_url, is_same_server, is_server_name, server_name_like};
use palyra_terminal::{NoteKind, OutputError, PromptReader, ReadingMode};

/// Add a server of models after a test, by default that of the environment.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  palyra model add local --base-url http://127.0.0.1:11434/v1 --model qwen3"
)]
pub(crate) struct AddArgs {
    /// A name of your own for the server: a-z, 0-9 and -
    name: Option<String>,
    /// Where its API begins [default: OPENAI_BASE_URL]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The model to use there [default: PALYRA_MODEL]
    #[arg(long)]
    model: Option<String>,
    /// openai_chat [default], openai_responses or anthropic_messages
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, hide_default_value = true)]
    format: WireFormat,
    /// Where its key is: env:NAME, file:PATH, vault:NAME
    #[arg(long, value_name = "REFERENCE")]
    key: Option<String>,
    /// The model's window in tokens
    #[arg(long, value_name = "N")]
    context_tokens: Option<u32>,
    /// Send images to it, without a test for that
    #[arg(long)]
    images: bool,
    /// Do not make it the default model
    #[arg(long)]
    no_default: bool,
    /// Replace a default or a server without asking
    #[arg(long)]
    yes: bool,
    /// Save without a test
    #[arg(long)]
    no_test: bool,
    /// The outcome as JSON
    #[arg(long)]
    json: bool,
}

/// A wire format, as the configuration names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum WireFormat {
    #[default]
    #[value(name = "openai_chat")]
    OpenAiChat,
    #[value(name = "openai_responses")]
    OpenAiResponses,
    #[value(name = "anthropic_messages")]
    AnthropicMessages,
}

impl WireFormat {
    fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
            Self::AnthropicMessages => "anthropic_messages",
        }
    }
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: AddArgs) -> Result<Exit, Failure> {
    context.require_local("model add")?;
    let args = match AddRequest::complete(args, |name| std::env::var(name).ok()) {
        Ok(args) => args,
        Err(failure) => {
            // The servers that the daemon found on this machine, where one runs.
            if let Ok(client) = context.connect_running().await
                && let Ok(listed) = client.list_models(AskProviders::No).await
            {
                listed.suggestions.iter().for_each(|found| context.output.note(NoteKind::Info, found));
            }
            return Err(failure);
        }
    };
    check_arguments(&args)?;
    if !args.variables.is_empty() {
        let note = format!("adding the server of {} as {}", args.variables.join(", "), args.name);
        context.output.note(NoteKind::Info, &note);
    }
    let config = ConfigText::read(context.config_file()?)?;
    check_replaced(&config.text, &args)?;
    if let Ok(client) = context.connect_running().await {
        check_own_server(&args, &client.status().await?.listening)?;
    }
    let named = named_default(&config.text);
    let was = default_before(context, ModelInForce::of(context).await.as_ref(), named.as_deref());
    let tried = try_addresses(context, &config, &args).await?;
    if tried.tested.as_ref().is_some_and(|tested| !tested.ok) {
        if args.json {
            context.output.json(&outcome(&config.file, &args, &tried, None))?;
        }
        context.output.note(NoteKind::Bad, &format!("{} stays as it was", config.file.display()));
        return Ok(Exit::Failed);
    }
    let change = default_change(context, &args, named.clone()).await?;
    let new =
        edited(&config.text, &tried.settings(&args), change).map_err(|error| config.unusable(&error))?;
    let is_new = new != config.text;
    if is_new {
        save(context, &config.file, &new)?;
        let former = provider_field(&config.text, &args.name, "key");
        let note = replaced_key(&args.name, former.as_deref(), args.key.as_deref());
        note.iter().for_each(|note| context.output.note(NoteKind::Info, note));
    } else {
        let note = format!("{} is there already, with the same settings; nothing to save", args.name);
        context.output.note(NoteKind::Info, &note);
    }
    let now = if change == DefaultChange::Set { args.model_name() } else { was.clone() };
    let note = match change {
        DefaultChange::Set if now != was => {
            format!(
                "the default model is now {now} (was {was}); {}",
                way_back(context.daemon, &new, named.as_deref())
            )
        }
        DefaultChange::Set => format!("the default model is {now}"),
        DefaultChange::Keep => {
            format!("the default model stays {was}; `--model {}` asks this one", args.model_name())
        }
    };
    context.output.note(NoteKind::Info, &note);
    if is_new {
        take_on(context, Some(&args.name), |config| has_provider(config, &args.name)).await?;
    }
    if args.json {
        let saved = SavedDefault { before: was, now };
        context.output.json(&outcome(&config.file, &args, &tried, Some(&saved)))?;
    }
    Ok(Exit::Done)
}

/// The default model before and after a change that was saved.
struct SavedDefault {
    before: String,
    now: String,
}

fn outcome(file: &Path, args: &AddRequest, tried: &TriedAddress, saved: Option<&SavedDefault>) -> Value {
    json!({
        "config_file": file.display().to_string(),
        "model": args.model_name(),
        "base_url": tried.base_url,
        "saved": saved.is_some(),
        "default_before": saved.map(|saved| &saved.before),
        "default_model": saved.map(|saved| &saved.now),
        "tested": tried.tested.as_ref().map(to_json_with_defaults),
    })
}

/// Asks before a default that a person has named is replaced.
async fn default_change(
    context: &Context,
    args: &AddRequest,
    named: Option<String>,
) -> Result<DefaultChange, Failure> {
    let new = args.model_name();
    let Some(named) = named.filter(|named| *named != new) else {
        return Ok(if args.no_default { DefaultChange::Keep } else { DefaultChange::Set });
    };
    if args.no_default || args.yes {
        return Ok(if args.no_default { DefaultChange::Keep } else { DefaultChange::Set });
    }
    let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
        context.output.note(NoteKind::Info, &format!("{named} is the default model; --yes replaces it"));
        return Ok(DefaultChange::Keep);
    };
    let question = format!("? make {new} the default model instead of {named}? [y/N]");
    let answer =
        reader.ask(&question, ReadingMode::Shown).await.map_err(OutputError::Failed)?.unwrap_or_default();
    let agreed = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    Ok(if agreed { DefaultChange::Set } else { DefaultChange::Keep })
}

/// An address that was tried, and what came of it.
struct TriedAddress {
    base_url: String,
    tested: Option<v1::TestModelResponse>,
}

impl TriedAddress {
    /// Returns what is written of the provider.
    fn settings<'a>(&'a self, args: &'a AddRequest) -> ProviderSettings<'a> {
        let was_seen =
            self.tested.as_ref().is_some_and(|tested| tested.images() == v1::ImageSupport::TriedYes);
        let takes_images = args.images || was_seen;
        ProviderSettings { args, base_url: &self.base_url, takes_images }
    }
}

/// Tests the address; one without a scheme is tried with each that may be meant.
async fn try_addresses(
    context: &Context,
    config: &ConfigText,
    args: &AddRequest,
) -> Result<TriedAddress, Failure> {
    let mut addresses = addresses(&args.base_url).into_iter();
    let Some(first) = addresses.next() else { return Err(Failure::Usage("--base-url is empty".to_owned())) };
    if args.no_test {
        if first != args.base_url {
            context.output.note(NoteKind::Doubt, &format!("{first} is taken as its address, without a test"));
        }
        return Ok(TriedAddress { base_url: first, tested: None });
    }
    check_key(args)?;
    let mut failed: Option<TriedAddress> = None;
    for base_url in std::iter::once(first).chain(addresses) {
        let settings = ProviderSettings { args, base_url: &base_url, takes_images: false };
        let new =
            edited(&config.text, &settings, DefaultChange::Set).map_err(|error| config.unusable(&error))?;
        let tested = test(context, &ConfigText { file: config.file.clone(), text: new }, &settings).await?;
        let tried = TriedAddress { base_url, tested: Some(tested) };
        if tried.tested.as_ref().is_some_and(|tested| tested.ok) {
            failed = Some(tried);
            break;
        }
        failed.get_or_insert(tried);
    }
    let Some(tried) = failed else { return Err(Failure::Usage("--base-url is empty".to_owned())) };
    let mend = if args.key.is_some() { mend_of_try } else { mend_without_key };
    if let (Some(tested), false) = (&tried.tested, args.json) {
        show(&context.output, tested, &TestPurpose::Add { images: args.images, mend })?;
    }
    Ok(tried)
}

/// Says early that a key is not where the test, and each daemon that is started from here, look for it.
fn check_key(args: &AddRequest) -> Result<(), Failure> {
    let Some(name) = args.key.as_deref().and_then(|key| key.strip_prefix("env:")) else { return Ok(()) };
    if is_set(name) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--key {}: {name} is not set in this environment, which the test and each daemon that is started from here \
         use; `export {name}=...` first, or save without a test: --no-test",
        args.key.as_deref().unwrap_or_default()
    )))
}

fn check_arguments(args: &AddRequest) -> Result<(), Failure> {
    if args.name == "demo" {
        let message = "the demo model is built in and needs no server; `palyra model use demo/demo` makes it the default \
                    model, and a server of your own takes another name";
        return Err(Failure::Usage(message.to_owned()));
    }
    if !is_server_name(&args.name) {
        let like = server_name_like(&args.name).unwrap_or_else(|| "local".to_owned());
        return Err(Failure::Usage(format!("the name takes a-z, 0-9 and -; for example `{like}`")));
    }
    let reference = |key: &str| ["env:", "file:", "vault:"].iter().any(|kind| key.starts_with(kind));
    if let Some(secret) =
        args.key.as_deref().and_then(|key| key.strip_prefix("vault:")).filter(|_| !args.no_test)
    {
        let model = format!("{}/{}", args.name, args.model);
        return Err(Failure::Usage(vault_key_untested(secret, authority_of_url(&args.base_url), &model)));
    }
    if args.key.as_deref().is_some_and(|key| !reference(key)) {
        // What was typed may be the key itself, so it is not repeated.
        let message = "--key takes env:NAME, file:PATH or vault:NAME; a key itself would end up in the file and in the shell's history";
        return Err(Failure::Usage(message.to_owned()));
    }
    Ok(())
}

/// Refuses a name that another server has already: what is kept of it would be lost.
fn check_replaced(config: &str, args: &AddRequest) -> Result<(), Failure> {
    let Some(url) = provider_field(config, &args.name, "base_url") else { return Ok(()) };
    let is_same = addresses(&args.base_url).into_iter().any(|address| same_address(&address, &url));
    if args.yes || is_same {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{0} is the name of the server at {url} already; another name keeps both, and --yes replaces {0}",
        args.name
    )))
}

/// Refuses the daemon that runs as a server of its own models: it would ask itself without end.
fn check_own_server(args: &AddRequest, listening: &[String]) -> Result<(), Failure> {
    let typed = addresses(&args.base_url);
    let own = listening.iter().find(|own| typed.iter().any(|address| is_same_server(address, own)));
    let Some(own) = own else { return Ok(()) };
    Err(Failure::Input {
        code: ErrorCode::ConfigInvalid,
        message: format!("{} is this daemon itself ({own}), which would ask itself without end", args.base_url),
        mend: "name a model server: --base-url URL; OPENAI_BASE_URL with the daemon's address is for its clients".into(),
    })
}

fn same_address(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// What is written of a provider.
struct ProviderSettings<'a> {
    args: &'a AddRequest,
    base_url: &'a str,
    takes_images: bool,
}

/// Returns the file's text with the provider in it; everything else, comments too, stays.
fn edited(
    old: &str,
    settings: &ProviderSettings<'_>,
    change: DefaultChange,
) -> Result<String, EditConfigError> {
    let args = settings.args;
    let section = ProviderSection {
        name: &args.name,
        model: &args.model,
        format: args.format.name(),
        base_url: settings.base_url,
        key: args.key.as_deref(),
        context_tokens: args.context_tokens.map(u64::from),
        takes_images: settings.takes_images,
    };
    with_provider(old, &section, change)
}

/// Returns whether a configuration has a provider of this name.
fn has_provider(config: &v1::GetConfigResponse, provider: &str) -> bool {
    let prefix = format!("providers.{provider}.");
    config.values.iter().any(|value| value.key.starts_with(&prefix))
}

/// Tests the model in a daemon of its own, with this text in a copy of the configuration file.
async fn test(
    context: &Context,
    config: &ConfigText,
    settings: &ProviderSettings<'_>,
) -> Result<v1::TestModelResponse, Failure> {
    let args = settings.args;
    let folder = tempfile::Builder::new().prefix("palyra-model-").tempdir();
    let folder = folder.map_err(|error| {
        Failure::local(ErrorCode::StateDirUnusable, format!("no temporary folder can be made: {error}"))
    })?;
    let file = folder.path().join("palyra.toml");
    let copy = CopiedFile { copy: &file, real: &config.file };
    write_whole(&file, &config.text).map_err(|error| {
        Failure::local(ErrorCode::StateDirUnusable, format!("no temporary file can be written: {error}"))
    })?;
    let verdict = (context.daemon.check_config)(Some(&file));
    if let Some(mistake) = verdict.mistakes.first() {
        return Err(mistake_failure(mistake, &copy, args));
    }
    // Only now is it known that the address holds no credential.
    context.output.note(NoteKind::Info, &format!("asking {} at {}", args.model_name(), settings.base_url));
    let mut options = context.connect_options()?;
    options.target = DaemonTarget::StateDir(folder.path().join("state"));
    options.start = StartPolicy::Allowed;
    options.heads = None;
    options.serve_arguments = vec!["--config".into(), file.clone().into_os_string()];
    options.notices = std::sync::Arc::new(|_| {});
    let client = Client::connect(options).await.map_err(|error| copy.without_path(error))?;
    let name = args.model_name();
    let tested = context.waiting("waiting for the model", client.test_model(Some(&name))).await;
    // It would go by itself, but not before its folder does.
    let stopped = client.stop_daemon().await;
    let tested = tested?;
    stopped?;
    Ok(tested)
}

/// Says which option is wrong, or where the file was wrong before.
fn mistake_failure(mistake: &ConfigMistake, copied: &CopiedFile<'_>, args: &AddRequest) -> Failure {
    let key = mistake.key.as_deref().unwrap_or_default();
    let of_it = |field: &str| key == format!("providers.{}.{field}", args.name);
    let cause = mistake.message.rsplit(": ").next().unwrap_or_default();
    if of_it("base_url") {
        return Failure::Usage(format!("--base-url: {cause}"));
    }
    if of_it("key") {
        return Failure::Usage(format!("--key: {cause}"));
    }
    Failure::local(mistake.code, copied.named_as_real(&mistake.message))
}

/// A copy of the configuration file, which no message names.
struct CopiedFile<'a> {
    copy: &'a Path,
    real: &'a Path,
}

impl CopiedFile<'_> {
    fn named_as_real(&self, text: &str) -> String {
        text.replace(&self.copy.display().to_string(), &self.real.display().to_string())
    }

    /// Names the configuration file instead of its copy.
    fn without_path(&self, error: ClientError) -> ClientError {
        match error {
            ClientError::StartFailed { code, message, log } => {
                let lines = log.lines.iter().map(|line| self.named_as_real(line)).collect();
                let message = self.named_as_real(&message);
                ClientError::StartFailed { code, message, log: LogTail { file: None, lines } }
            }
            error => error,
        }
    }
}

#[cfg(test)]
mod tests;
