//! `palyra admin tokens`: credentials that programs keep, and what they may be used for.

use clap::Subcommand;
use palyra_client::Client;
use palyra_types::access::{AccessScope, Role};
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;
use serde_json::json;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::ids::TokenName;
use palyra_run_view::date;
use palyra_screen_text::short_id;
use palyra_terminal::NoteKind;

/// Access tokens for programs.
#[derive(Debug, Subcommand)]
pub(crate) enum TokensVerb {
    /// Make a token; its text is shown once, and kept nowhere
    #[command(
        after_help = "Examples:\n  palyra admin tokens create user:alice --label laptop --days 90\n  palyra admin tokens create user:alice --scope openai"
    )]
    Create {
        /// The user or service that it identifies, such as user:alice
        principal: String,
        /// What it is for
        #[arg(long, default_value = "", hide_default_value = true)]
        label: String,
        /// Days until it ends
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=365))]
        days: u32,
        /// What it may be used for, such as runs.read or openai; repeatable [default: runs and runs.read]
        #[arg(long = "scope", value_name = "SCOPE", conflicts_with = "role")]
        scopes: Vec<AccessScope>,
        /// All that a role allows a program, such as viewer
        #[arg(long)]
        role: Option<Role>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// List tokens, never their text
    #[command(after_help = "Example:\n  palyra admin tokens list")]
    List {
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token
    #[command(after_help = "Example:\n  palyra admin tokens revoke 9G5FAV")]
    Revoke {
        /// Its id, or 4 letters of its beginning or end
        token: TokenName,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(super) async fn run(context: &Context, client: &Client, verb: TokensVerb) -> Result<Exit, Failure> {
    match verb {
        TokensVerb::Create { principal, label, days, scopes, role, json } => {
            let of_role =
                role.into_iter().flat_map(|role| role.scopes().without(AccessScope::Approve).iter());
            let scopes = scopes.into_iter().chain(of_role).map(|scope| scope_to_wire(scope).into()).collect();
            let request = v1::CreateTokenRequest { principal, label, days, scopes };
            create(context, &client.call(request).await?, json.into())?;
        }
        TokensVerb::List { json } => list(context, client.list_tokens().await?, json.into())?,
        TokensVerb::Revoke { token, json } => {
            let token = token.resolve(client).await?;
            client.revoke_token(token).await?;
            if json {
                context.output.json(&json!({ "token_id": token.to_string(), "revoked": true }))?;
            } else {
                context.output.note(NoteKind::Good, "the token no longer works");
            }
        }
    }
    Ok(Exit::Done)
}

fn create(context: &Context, made: &v1::CreateTokenResponse, format: OutputFormat) -> Result<(), Failure> {
    if format == OutputFormat::Json {
        return Ok(context.output.json(&to_json_with_defaults(made))?);
    }
    context.output.exact_line(&made.token)?;
    let message = format!(
        "token {}, until {}; it is not shown again",
        context.output.id(&made.token_id),
        date(made.expires)
    );
    context.output.note(NoteKind::Info, &message);
    Ok(())
}

fn list(context: &Context, tokens: Vec<v1::Token>, format: OutputFormat) -> Result<(), Failure> {
    if format == OutputFormat::Json {
        return Ok(tokens.iter().try_for_each(|token| context.output.json(&to_json(token)))?);
    }
    let row = |token: v1::Token| {
        let ends = if token.revoked.is_some() { "revoked".to_owned() } else { date(token.expires) };
        let scopes: Vec<&str> = token.scopes().map(scope_name).collect();
        [short_id(&token.token_id), token.principal, scopes.join(","), ends, token.label]
    };
    context.table(["TOKEN", "PRINCIPAL", "SCOPES", "ENDS", "LABEL"], tokens.into_iter().map(row).collect())
}

/// Returns how a scope is written on the command line.
fn scope_name(scope: v1::TokenScope) -> &'static str {
    let known = AccessScope::ALL.into_iter().find(|known| scope_to_wire(*known) == scope);
    known.map_or("?", AccessScope::name)
}

fn scope_to_wire(scope: AccessScope) -> v1::TokenScope {
    match scope {
        AccessScope::Runs => v1::TokenScope::Runs,
        AccessScope::RunsRead => v1::TokenScope::RunsRead,
        AccessScope::Approve => v1::TokenScope::Approve,
        AccessScope::Openai => v1::TokenScope::Openai,
        AccessScope::Memory => v1::TokenScope::Memory,
        AccessScope::Schedules => v1::TokenScope::Schedules,
        AccessScope::Channel => v1::TokenScope::Channel,
        AccessScope::Metrics => v1::TokenScope::Metrics,
        AccessScope::Admin => v1::TokenScope::Admin,
    }
}
