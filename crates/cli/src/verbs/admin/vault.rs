//! `palyra admin vault`: secrets that servers get and no person is shown.

use clap::{Args, Subcommand};
use palyra_client::{Client, ClientError};
use palyra_types::ErrorCode;
use palyra_types::spelling::nearest_name;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_explain::{PlainHostNote, is_same_host};
use palyra_run_view::{saved_secret_note, secret_row, still_named_secret, vault_line};
use palyra_screen_text::shell_word;
use palyra_terminal::{AskCount, HiddenAnswer, NoteKind, Output, ask_unseen};

/// The vault's answer for a name that has a secret.
const NAME_TAKEN: &str = "there is a secret of this name";
/// The daemon refuses a shorter value.
const SECRET_CHARS_MIN: usize = 12;

/// Secrets for servers: encrypted, sent only to the hosts they are bound to, never shown.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  palyra admin vault put forge --host api.forge.example < token.txt")]
pub(crate) enum VaultVerb {
    /// Save a secret; its value (12 characters or more) is asked for, or read from a pipe
    #[command(
        after_help = "Examples:\n  palyra admin vault put forge --host api.forge.example\n  palyra admin vault put maps --as x-api-key --host maps.example < key.txt"
    )]
    Put(PutArgs),
    /// Replace the value of a secret (12 characters or more); hosts and way of sending stay unless given
    #[command(after_help = "Example:\n  palyra admin vault rotate forge < token.txt")]
    Rotate(PutArgs),
    /// List secrets, never their values
    #[command(after_help = "Example:\n  palyra admin vault list")]
    List {
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Allow a secret to be sent to one more host, or used by one more principal
    #[command(
        after_help = "Examples:\n  palyra admin vault bind forge uploads.forge.example\n  palyra admin vault bind forge --to user:alice"
    )]
    Bind(BindArgs),
    /// Stop a secret from being sent to a host, or used by a principal
    #[command(
        after_help = "Examples:\n  palyra admin vault unbind forge uploads.forge.example\n  palyra admin vault unbind forge --to user:alice"
    )]
    Unbind(BindArgs),
    /// Delete a secret
    #[command(after_help = "Example:\n  palyra admin vault remove forge")]
    Remove {
        /// Its name
        name: String,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
    /// Open the vault with its passphrase, until the daemon ends
    #[command(after_help = "Example:\n  palyra admin vault unlock")]
    Unlock {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Set or change the passphrase that replaces the key file
    #[command(
        after_help = "A lost passphrase cannot be recovered.\n\nExample:\n  palyra admin vault passphrase"
    )]
    Passphrase {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show where the key is, and whether the vault is open
    #[command(after_help = "Example:\n  palyra admin vault status")]
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// A value and where it goes.
#[derive(Debug, Args)]
pub(crate) struct PutArgs {
    /// Its name: small letters, digits, `_`, `.` and `-`
    name: String,
    /// A host it may be sent to, `name:port` where the port is not 443; may be given again
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// `bearer`, `basic` (the value is `user:password`), or the name of a header
    #[arg(long = "as", value_name = "WAY")]
    sent_as: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// A secret, and a host or a principal.
#[derive(Debug, Args)]
pub(crate) struct BindArgs {
    /// The secret's name
    name: String,
    /// The host, `name:port` where the port is not 443
    #[arg(required_unless_present = "to", conflicts_with = "to")]
    host: Option<String>,
    /// A principal, as its tokens were made for: beside you, only those that are named may use the secret
    #[arg(long, value_name = "PRINCIPAL")]
    to: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(super) async fn run(context: &Context, verb: VaultVerb) -> Result<Exit, Failure> {
    match verb {
        VaultVerb::Put(args) => put(context, args, SecretChange::New).await,
        VaultVerb::Rotate(args) => put(context, args, SecretChange::Another).await,
        VaultVerb::Unlock { json } => unlock(context, json).await,
        VaultVerb::Passphrase { json } => set_passphrase(context, json).await,
        other => {
            let client = context.connect().await?;
            let name = other.secret_name().map(str::to_owned);
            match (at_once(context, &client, other).await, name) {
                (Err(failure), Some(name)) => Err(with_near_name(&client, failure, &name).await),
                (done, _) => done,
            }
        }
    }
}

impl VaultVerb {
    /// Returns the secret that has to exist.
    fn secret_name(&self) -> Option<&str> {
        match self {
            Self::Bind(args) | Self::Unbind(args) => Some(&args.name),
            Self::Remove { name, .. } => Some(name),
            Self::Put(_)
            | Self::Rotate(_)
            | Self::List { .. }
            | Self::Status { .. }
            | Self::Unlock { .. }
            | Self::Passphrase { .. } => None,
        }
    }
}

/// Names the secret with the nearest name, where there is none of this name and the caller may list them.
async fn with_near_name(client: &Client, failure: Failure, name: &str) -> Failure {
    match failure {
        Failure::Client(error) if error.code() == ErrorCode::SecretNotFound => {
            let names = client.list_secrets().await.unwrap_or_default().into_iter().map(|secret| secret.name);
            match nearest_name(name, names) {
                Some(near) => Failure::WithMend {
                    code: ErrorCode::SecretNotFound,
                    message: error.to_string(),
                    mend: format!("did you mean `{near}`? `palyra admin vault list` lists them all"),
                },
                None => error.into(),
            }
        }
        failure => failure,
    }
}

/// Runs a verb that asks nothing.
async fn at_once(context: &Context, client: &Client, verb: VaultVerb) -> Result<Exit, Failure> {
    match verb {
        VaultVerb::List { json } => list(context, client.list_secrets().await?, json)?,
        VaultVerb::Bind(BindArgs { name, host, to, json }) => {
            let bound = match to {
                Some(principal) => client.bind_secret_to(name, principal).await?,
                None => client.bind_secret(name, host.clone().unwrap_or_default()).await?,
            };
            tell(context, &bound, json)?;
            note_plain_hosts(&context.output, &bound, |known| is_same_host(known, host.as_deref()), json);
        }
        VaultVerb::Unbind(BindArgs { name, host, to, json }) => {
            let unbound = match to {
                Some(principal) => client.unbind_secret_from(name, principal).await?,
                None => client.unbind_secret(name, host.unwrap_or_default()).await?,
            };
            tell(context, &unbound, json)?;
        }
        VaultVerb::Remove { name, json } => {
            client.remove_secret(name.clone()).await?;
            if json {
                context.output.json(&json!({ "name": name, "removed": true }))?;
            } else {
                context
                    .output
                    .note(NoteKind::Good, "deleted from the vault; revoke it at the server as well");
                let settings = client.config().await.map(|config| config.values).unwrap_or_default();
                let named = still_named_secret(&name, &settings);
                named.iter().for_each(|note| context.output.note(NoteKind::Doubt, note));
            }
        }
        VaultVerb::Status { json } => tell_vault(context, &client.get_vault().await?, json)?,
        VaultVerb::Put(_)
        | VaultVerb::Rotate(_)
        | VaultVerb::Unlock { .. }
        | VaultVerb::Passphrase { .. } => {}
    }
    Ok(Exit::Done)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretChange {
    New,
    Another,
}

async fn put(context: &Context, args: PutArgs, standing: SecretChange) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    if standing == SecretChange::New
        && let Ok(secrets) = client.list_secrets().await
        && secrets.iter().any(|secret| secret.name == args.name)
    {
        return Err(taken_name(NAME_TAKEN.to_owned(), &args.name, args.hosts.first().map(String::as_str)));
    }
    let Some(value) = ask(
        context,
        &format!("value of {} ({SECRET_CHARS_MIN} characters or more, not shown)", args.name),
        AskCount::Once,
    )
    .await?
    else {
        return Ok(Exit::Cancelled);
    };
    let request = v1::PutSecretRequest {
        name: args.name,
        value,
        hosts: args.hosts,
        sent_as: args.sent_as.unwrap_or_default(),
        another: standing == SecretChange::Another,
    };
    let name = request.name.clone();
    let host = request.hosts.first().cloned();
    let saved = match client.put_secret(request).await {
        Ok(saved) => saved,
        Err(error) => {
            let failure = name_taken(error, &name, host.as_deref());
            return Err(with_near_name(&client, failure, &name).await);
        }
    };
    tell(context, &saved, args.json)?;
    note_plain_hosts(&context.output, &saved, |_| true, args.json);
    Ok(Exit::Done)
}

/// Names the commands for a secret whose name is taken.
fn name_taken(error: ClientError, name: &str, host: Option<&str>) -> Failure {
    match error {
        ClientError::Refused { code: ErrorCode::SecretUnsuitable, message }
            if message.contains(NAME_TAKEN) =>
        {
            taken_name(message, name, host)
        }
        error => error.into(),
    }
}

fn taken_name(message: String, name: &str, host: Option<&str>) -> Failure {
    let host = shell_word(host.unwrap_or("HOST"));
    let mend = format!(
        "`palyra admin vault rotate {name}` gives it another value, `palyra admin vault bind {name} {host}` allows one \
         more host for it"
    );
    Failure::WithMend { code: ErrorCode::SecretUnsuitable, message, mend }
}

async fn unlock(context: &Context, json: bool) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let Some(passphrase) = ask(context, "passphrase", AskCount::Once).await? else {
        return Ok(Exit::Cancelled);
    };
    tell_vault(context, &client.unlock_vault(passphrase).await?, json)?;
    Ok(Exit::Done)
}

async fn set_passphrase(context: &Context, json: bool) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let Some(passphrase) = ask(context, "new passphrase", AskCount::Twice).await? else {
        return Ok(Exit::Cancelled);
    };
    tell_vault(context, &client.set_vault_passphrase(passphrase).await?, json)?;
    Ok(Exit::Done)
}

/// Asks for what is not shown; `None` when the person left.
async fn ask(context: &Context, what: &str, times: AskCount) -> Result<Option<String>, Failure> {
    match ask_unseen(&context.output, &context.interrupts, what, times).await {
        Ok(HiddenAnswer::Given(given)) => Ok(Some(given.into_exposed())),
        Ok(HiddenAnswer::Quit) => Ok(None),
        Ok(HiddenAnswer::Differ) => Err(Failure::local(
            ErrorCode::InvalidArgument,
            "the two inputs differ; nothing was changed".to_owned(),
        )),
        Err(error) => {
            Err(Failure::local(ErrorCode::InvalidArgument, format!("standard input: {}", error.kind())))
        }
    }
}

fn tell(context: &Context, secret: &v1::Secret, json: bool) -> Result<(), Failure> {
    if json {
        return Ok(context.output.json(&to_json_with_defaults(secret))?);
    }
    context.output.note(NoteKind::Good, &saved_secret_note(secret));
    Ok(())
}

/// Says of some hosts of a secret that they are likely reached without TLS.
fn note_plain_hosts(output: &Output, secret: &v1::Secret, is_new: impl Fn(&str) -> bool, json: bool) {
    let new = secret.hosts.iter().filter(|host| !json && is_new(host));
    for note in new.filter_map(|host| PlainHostNote::of(&secret.name, host)) {
        output.note(NoteKind::Doubt, &note.doubt);
        note.hint.iter().for_each(|hint| output.note(NoteKind::Info, hint));
    }
}

fn list(context: &Context, secrets: Vec<v1::Secret>, json: bool) -> Result<(), Failure> {
    if json {
        return Ok(secrets
            .iter()
            .try_for_each(|secret| context.output.json(&to_json_with_defaults(secret)))?);
    }
    context.table(
        ["SECRET", "VERSION", "AS", "CHANGED", "PRINCIPALS", "HOSTS"],
        secrets.into_iter().map(secret_row).collect(),
    )
}

fn tell_vault(context: &Context, vault: &v1::Vault, json: bool) -> Result<(), Failure> {
    if json {
        return Ok(context.output.json(&to_json_with_defaults(vault))?);
    }
    context.output.line(&vault_line(vault))?;
    if vault.open {
        context.output.note(NoteKind::Good, "the vault is open");
    } else {
        context.output.note(NoteKind::Doubt, &format!("the vault is locked: {}", vault.locked));
    }
    if !vault.damaged.is_empty() {
        context.output.note(NoteKind::Bad, &format!("damaged: {}", vault.damaged.join(", ")));
    }
    Ok(())
}
