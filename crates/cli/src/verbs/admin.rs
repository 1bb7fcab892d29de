//! `palyra admin`: tokens, agents, the daemon's end.

use clap::Subcommand;
use palyra_client::{Client, ClientError};
use palyra_types::TokenId;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{date, table};
use crate::terminal::Mark;

/// Tokens, agents, and the daemon itself.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminVerb {
    /// Access tokens for the TCP listener
    #[command(subcommand)]
    Tokens(TokensVerb),
    /// List agents
    Agents {
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Stop the daemon; open runs go on at its next start
    Stop,
}

/// Access tokens for the TCP listener.
#[derive(Debug, Subcommand)]
pub(crate) enum TokensVerb {
    /// Make a token; its text is shown once, and kept nowhere
    Create {
        /// Whom it stands for, such as user:alice
        principal: String,
        /// What it is for
        #[arg(long, default_value = "")]
        label: String,
        /// Days until it ends
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=365))]
        days: u32,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// List tokens, never their text
    List {
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token
    Revoke {
        /// Its id
        token: TokenId,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: AdminVerb) -> Result<Exit, Failure> {
    match verb {
        AdminVerb::Tokens(verb) => tokens(context, &context.connect().await?, verb).await,
        AdminVerb::Agents { json: true } => {
            let agents = context.connect().await?.list_agents().await?;
            agents.iter().try_for_each(|agent| context.output.json(&to_json(agent)))?;
            Ok(Exit::Done)
        }
        AdminVerb::Agents { json: false } => {
            let agents = context.connect().await?.list_agents().await?;
            let row = |agent: v1::Agent| [agent.name, agent.agent_id, agent.model, agent.instructions];
            let rows = agents.into_iter().map(row).collect();
            table(["NAME", "AGENT", "MODEL", "INSTRUCTIONS"], rows)
                .iter()
                .try_for_each(|line| context.output.line(line))?;
            Ok(Exit::Done)
        }
        AdminVerb::Stop => stop(context).await,
    }
}

async fn tokens(context: &Context, client: &Client, verb: TokensVerb) -> Result<Exit, Failure> {
    match verb {
        TokensVerb::Create { principal, label, days, json } => {
            let made = client.create_token(v1::CreateTokenRequest { principal, label, days }).await?;
            if json {
                context.output.json(&to_json_with_defaults(&made))?;
                return Ok(Exit::Done);
            }
            context.output.line(&made.token)?;
            let told =
                format!("token {}, until {}; it is not shown again", made.token_id, date(made.expires));
            context.output.note(Mark::Info, &told);
        }
        TokensVerb::List { json } => {
            let tokens = client.list_tokens().await?;
            if json {
                tokens.iter().try_for_each(|token| context.output.json(&to_json(token)))?;
                return Ok(Exit::Done);
            }
            let row = |token: v1::Token| {
                let ends = if token.revoked.is_some() { "revoked".to_owned() } else { date(token.expires) };
                [token.token_id, token.principal, ends, token.label]
            };
            let rows = tokens.into_iter().map(row).collect();
            table(["TOKEN", "PRINCIPAL", "ENDS", "LABEL"], rows)
                .iter()
                .try_for_each(|line| context.output.line(line))?;
        }
        TokensVerb::Revoke { token } => {
            client.revoke_token(token).await?;
            context.output.note(Mark::Good, "the token no longer works");
        }
    }
    Ok(Exit::Done)
}

async fn stop(context: &Context) -> Result<Exit, Failure> {
    match context.connect_running().await {
        Ok(client) => {
            client.stop_daemon().await?;
            context.output.note(Mark::Good, "the daemon has stopped");
        }
        Err(Failure::Client(ClientError::NotRunning { .. })) => {
            context.output.note(Mark::Info, "no daemon is running");
        }
        Err(failure) => return Err(failure),
    }
    Ok(Exit::Done)
}
