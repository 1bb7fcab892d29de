//! `palyra admin tokens`: who may use the TCP listener.

use clap::Subcommand;
use palyra_client::Client;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;
use serde_json::json;

use crate::context::Context;
use crate::drive::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::ids::TokenName;
use palyra_run_view::date;
use palyra_screen_text::short_id;
use palyra_terminal::NoteKind;

/// Access tokens for the TCP listener.
#[derive(Debug, Subcommand)]
pub(crate) enum TokensVerb {
    /// Make a token; its text is shown once, and kept nowhere
    #[command(after_help = "Example:\n  palyra admin tokens create user:alice --label laptop --days 90")]
    Create {
        /// The user or service that it identifies, such as user:alice
        principal: String,
        /// What it is for
        #[arg(long, default_value = "", hide_default_value = true)]
        label: String,
        /// Days until it ends
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=365))]
        days: u32,
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
        TokensVerb::Create { principal, label, days, json } => {
            let request = v1::CreateTokenRequest { principal, label, days };
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

fn create(context: &Context, made: &v1::CreateTokenResponse, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return Ok(context.output.json(&to_json_with_defaults(made))?);
    }
    context.output.exact_line(&made.token)?;
    let message = format!("token {}, until {}; it is not shown again", made.token_id, date(made.expires));
    context.output.note(NoteKind::Info, &message);
    Ok(())
}

fn list(context: &Context, tokens: Vec<v1::Token>, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return Ok(tokens.iter().try_for_each(|token| context.output.json(&to_json(token)))?);
    }
    let row = |token: v1::Token| {
        let ends = if token.revoked.is_some() { "revoked".to_owned() } else { date(token.expires) };
        [short_id(&token.token_id), token.principal, ends, token.label]
    };
    context.table(["TOKEN", "PRINCIPAL", "ENDS", "LABEL"], tokens.into_iter().map(row).collect())
}
