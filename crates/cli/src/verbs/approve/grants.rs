//! Stored grants: which calls run silently, and the end of that.

use palyra_client::Client;
use palyra_types::StoredGrantId;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{grant_lines, revoked_line};
use palyra_terminal::{NoteKind, Output};

/// List the grants that let calls run silently
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra approve grants --all")]
pub(super) struct GrantsArgs {
    /// Those that were revoked or used up, too
    #[arg(long)]
    all: bool,
    /// One line of JSON each
    #[arg(long)]
    json: bool,
}

/// Lists stored grants.
pub(super) async fn list(context: &Context, client: &Client, args: GrantsArgs) -> Result<Exit, Failure> {
    let grants = client.list_grants(v1::ListGrantsRequest { all: args.all }).await?;
    if args.json {
        grants.iter().try_for_each(|grant| context.output.json(&to_json(grant)))?;
        return Ok(Exit::Done);
    }
    if grants.is_empty() {
        context.output.note(NoteKind::Info, "no stored grants: every call that asks, asks");
        return Ok(Exit::Done);
    }
    for grant in &grants {
        for line in grant_lines(grant) {
            context.output.line(&line)?;
        }
    }
    Ok(Exit::Done)
}

/// Revokes a stored grant.
pub(super) async fn revoke(
    output: &Output,
    client: &Client,
    grant: StoredGrantId,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let revoked = client.revoke_grant(grant).await?;
    if format == OutputFormat::Json {
        output.json(&to_json_with_defaults(&revoked))?;
    } else {
        let left = client.list_grants(v1::ListGrantsRequest { all: false }).await?;
        output.note(NoteKind::Good, &revoked_line(&revoked, &left));
    }
    Ok(Exit::Done)
}
