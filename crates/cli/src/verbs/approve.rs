//! `palyra approve`: what waits for a person, the answers, and the grants that outlive them.

mod answer;
mod deny_all;
mod grants;
mod inbox;
mod rules;

use std::io::IsTerminal;

use clap::{Args, Subcommand};
use palyra_client::{Client, WatchedApproval};
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use self::answer::{EditArgs, RememberArgs};
pub(crate) use self::answer::{folder_of, scope_of};
use super::ids::{ApprovalName, GrantName, RunName};
use super::open_questions::nothing_to_approve;
use super::pages::{ItemSelection, read_list};
use super::start_run::workspace_root;
use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{
    ERASED_MARK, OfferScope, PreviewDetail, approval_row, approval_state_name, date, decider, question,
    time_to_answer, who_decides,
};
use palyra_screen_text::short_id;
use palyra_screen_text::{clean_line, clean_text};
use palyra_terminal::{NoteKind, Output};

const PAGE_SIZE_MAX: u32 = 500;

/// Answer what waits for you; without a word, one by one
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  palyra approve\n  palyra approve yes last\n  palyra approve no last --note \"not this file\""
)]
pub(crate) struct ApproveArgs {
    #[command(subcommand)]
    verb: Option<ApproveVerb>,
}

#[derive(Debug, Subcommand)]
enum ApproveVerb {
    /// List what waits, newest first
    #[command(after_help = "Example:\n  palyra approve list --all")]
    List {
        /// Those that are decided, too
        #[arg(long)]
        all: bool,
        /// Of this run only: its id or a part of it, `last`
        #[arg(long, value_name = "RUN")]
        run: Option<RunName>,
        /// At most so many
        #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Show one with everything that would run
    #[command(after_help = "Example:\n  palyra approve show last")]
    Show {
        /// Its id or a part of it, or `last` where only one waits in this folder
        approval: ApprovalName,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a call run
    #[command(
        after_help = "Examples:\n  palyra approve yes last --wait\n  palyra approve yes last --set path=drafts/notes.txt"
    )]
    Yes {
        /// Its id or a part of it, or `last` where only one waits in this folder
        approval: Option<ApprovalName>,
        /// What to say with it
        #[arg(long, default_value = "", value_name = "TEXT")]
        note: String,
        #[command(flatten)]
        edit: EditArgs,
        /// Follow the run to its end or its next question, with the exit codes of `run`
        #[arg(long)]
        wait: bool,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
    /// Approve this call, and run matching calls without asking from now on
    #[command(
        after_help = "Examples:\n  palyra approve always last --here --uses 5\n  palyra approve always last --any content --below path=drafts\n  palyra approve always last --host url=https://api.example"
    )]
    Always {
        /// Its id or a part of it, or `last` where only one waits in this folder
        approval: ApprovalName,
        #[command(flatten)]
        remember: RememberArgs,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
    /// Do not let a call run
    #[command(
        after_help = "Examples:\n  palyra approve no last --note \"write to drafts/ instead\"\n  palyra approve no --all"
    )]
    No {
        /// Its id or a part of it, or `last` where only one waits in this folder
        approval: Option<ApprovalName>,
        /// Why not, as --note says it
        #[arg(conflicts_with = "note")]
        reason: Vec<String>,
        /// Every call that waits in this folder, after a question
        #[arg(long, conflicts_with = "approval")]
        all: bool,
        /// Do not ask before all are denied
        #[arg(long, requires = "all")]
        yes: bool,
        /// What to say with it; the model reads it
        #[arg(long, alias = "reason", default_value = "", value_name = "TEXT")]
        note: String,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what waits, and each change as it comes
    #[command(after_help = "Example:\n  palyra approve watch --json")]
    Watch {
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Write every approval as a line of JSON, newest first
    #[command(after_help = "Example:\n  palyra approve export --days 30 > approvals.jsonl")]
    Export {
        /// Those of the last days only
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        days: Option<u32>,
        /// It is JSON with or without
        #[arg(long)]
        json: bool,
    },
    Grants(grants::GrantsArgs),
    Rules(rules::RulesArgs),
    /// Revoke a grant
    #[command(after_help = "Example:\n  palyra approve revoke 3B7M2Q")]
    Revoke {
        /// Its id, or 4 letters of its beginning or end
        grant: GrantName,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: ApproveArgs) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let Some(verb) = args.verb else { return without_verb(context, &client).await };
    match verb {
        ApproveVerb::List { all, run, limit, json } => {
            let request = v1::ListApprovalsRequest {
                run_id: match run {
                    Some(run) => run.resolve(&client).await?.to_string(),
                    None => String::new(),
                },
                only: if all { v1::ApprovalFilter::All } else { v1::ApprovalFilter::Pending }.into(),
                ..Default::default()
            };
            list(context, &client, request, limit, json.into()).await
        }
        ApproveVerb::Show { approval, json } => {
            let approval = client.get_approval(approval.resolve(&client).await?).await?;
            let changed = answer::changes_since(&client, &approval).await?;
            let scope = scope_of(&client, &approval.run_id).await;
            show(context, &approval, &changed, &scope, json.into())
        }
        ApproveVerb::Yes { approval: None, .. } => Err(answer::unnamed_call(&client, "yes").await?),
        ApproveVerb::Yes { approval: Some(approval), note, edit, wait, json } => {
            let approval = client.get_approval(approval.resolve(&client).await?).await?;
            let edited = edit.arguments(&approval)?;
            let format = json.into();
            if let Some(end) = inbox::end_of_risky(context, &client, &approval, &edited, format).await? {
                return Ok(end);
            }
            let proposed = yes(approval.approval_id.clone());
            let request = v1::ResolveApprovalRequest { note, edited_arguments: edited, ..proposed };
            if wait {
                return answer::send_and_follow(context, &client, request, &approval.run_id, format).await;
            }
            answer::send(context, &client, request, format).await
        }
        ApproveVerb::Always { approval, remember, json } => {
            let approval = client.get_approval(approval.resolve(&client).await?).await?;
            if let Some(end) = inbox::end_of_risky(context, &client, &approval, "", json.into()).await? {
                return Ok(end);
            }
            let remember = Some(remember.grant_request());
            let request = v1::ResolveApprovalRequest { remember, ..yes(approval.approval_id) };
            answer::send(context, &client, request, json.into()).await
        }
        ApproveVerb::No { approval: Some(approval), reason, note, json, .. } => {
            let note = if reason.is_empty() { note } else { reason.join(" ") };
            let request = no(approval.resolve(&client).await?.to_string(), note);
            answer::send(context, &client, request, json.into()).await
        }
        ApproveVerb::No { approval: None, all: false, .. } => Err(answer::unnamed_call(&client, "no").await?),
        ApproveVerb::No { approval: None, yes, note, json, .. } => {
            let asks =
                if yes { deny_all::ConfirmationSource::Given } else { deny_all::ConfirmationSource::Prompt };
            deny_all::run(context, &client, deny_all::DenyAllOrder { confirmation: asks, note }, json.into())
                .await
        }
        ApproveVerb::Watch { json } => watch(context, &client, json.into()).await,
        ApproveVerb::Export { days, json: _ } => export(&context.output, &client, days).await,
        ApproveVerb::Grants(args) => grants::list(context, &client, args).await,
        ApproveVerb::Rules(args) => {
            let root = args.place().map(|place| workspace_root(context, &place)).transpose()?;
            rules::run(&context.output, &client, args, root).await
        }
        ApproveVerb::Revoke { grant, json } => {
            let grant = grant.resolve(&client).await?;
            grants::revoke(&context.output, &client, grant, json.into()).await
        }
    }
}

/// Asks about each open approval at a terminal, and lists them elsewhere.
async fn without_verb(context: &Context, client: &Client) -> Result<Exit, Failure> {
    if std::io::stdin().is_terminal() && context.output.can_ask() {
        return inbox::answer_all(context, client).await;
    }
    list(context, client, v1::ListApprovalsRequest::default(), PAGE_SIZE_MAX, OutputFormat::Text).await
}

fn no(approval_id: String, note: String) -> v1::ResolveApprovalRequest {
    let decision = v1::ApprovalDecision::Deny.into();
    v1::ResolveApprovalRequest { approval_id, decision, note, ..Default::default() }
}

fn yes(approval_id: String) -> v1::ResolveApprovalRequest {
    let decision = v1::ApprovalDecision::Approve.into();
    v1::ResolveApprovalRequest { approval_id, decision, ..Default::default() }
}

async fn list(
    context: &Context,
    client: &Client,
    request: v1::ListApprovalsRequest,
    limit: u32,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let listed = read_list(limit, ItemSelection::All, |page_size, page_token| {
        let request = v1::ListApprovalsRequest { page_size, page_token, ..request.clone() };
        async move { client.call(request).await.map(|page| (page.approvals, page.next_page_token)) }
    })
    .await?;
    let approvals = &listed.items;
    if format == OutputFormat::Json {
        approvals.iter().try_for_each(|approval| context.output.json(&to_json(approval)))?;
        listed.note_further(&context.output);
        return Ok(Exit::Done);
    }
    if approvals.is_empty() {
        context.output.note(NoteKind::Info, &nothing_to_approve(client).await?);
        return Ok(Exit::Done);
    }
    context
        .table(["APPROVAL", "STATE", "RISK", "AGE", "CALL"], approvals.iter().map(approval_row).collect())?;
    listed.note_further(&context.output);
    let waiting = approvals.iter().find(|approval| approval.state() == v1::ApprovalState::Pending);
    if let Some(waiting) = waiting {
        let id = short_id(&waiting.approval_id);
        let here = deny_all::waits_here(client, approvals).await;
        let all = if here { ", `palyra approve no --all` denies all of this folder" } else { "" };
        let asks = if context.output.is_watched() { "`palyra approve` asks about each; " } else { "" };
        let note = format!("{asks}`palyra approve yes {id}` or `no {id}` answers one{all}");
        context.output.note(NoteKind::Info, &note);
    }
    Ok(Exit::Done)
}

fn show(
    context: &Context,
    approval: &v1::Approval,
    changed: &[String],
    scope: &OfferScope,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(approval))?;
        return Ok(Exit::Done);
    }
    let needs = match approval.needed {
        0 | 1 => String::new(),
        needed => format!("{} of {needed} people said yes", approval.voters.len()),
    };
    let who = who_decides(approval);
    for (name, value) in [
        ("approval", approval.approval_id.clone()),
        ("state", approval_state_name(approval.state()).to_owned()),
        ("run", approval.run_id.clone()),
        ("asked", date(approval.created)),
        ("time", time_to_answer(approval)),
        ("needs", needs),
        ("by", who),
        ("decided", date(approval.decided)),
        ("decider", decider(approval)),
        ("note", clean_line(&approval.note, 400)),
    ] {
        if !value.is_empty() {
            context.output.line(&format!("{name:<10}{value}"))?;
        }
    }
    for (at, line) in changed.iter().enumerate() {
        let begin = if at == 0 { "changed" } else { "" };
        context.output.line(&format!("{begin:<10}{line}"))?;
    }
    let prompt = approval.prompt.clone().unwrap_or_default();
    if prompt.tool.is_empty() {
        return Ok(context.output.line(ERASED_MARK).map(|()| Exit::Done)?);
    }
    // In a pipe too: a person who reads it there decides by it.
    let lines = question(&approval.approval_id, &prompt, &approval.risk_name(), PreviewDetail::Full, scope);
    for (at, line) in lines.iter().enumerate() {
        for text in line.text.split('\n') {
            let text = clean_text(text);
            match at {
                0 => context.output.styled_line(&text, line.look.color())?,
                _ => context.output.looked_line(&text, line.look)?,
            }
        }
    }
    Ok(Exit::Done)
}

async fn watch(context: &Context, client: &Client, format: OutputFormat) -> Result<Exit, Failure> {
    context.interrupts.begin("");
    let mut watch = client.watch_approvals(None).await?;
    loop {
        let step = tokio::select! {
            biased;
            () = context.interrupts.pressed() => return Ok(Exit::Done),
            step = watch.next() => step?,
        };
        match (step, format) {
            (WatchedApproval::Approval(approval), OutputFormat::Json) => {
                context.output.json(&to_json(&*approval))?;
            }
            (WatchedApproval::Approval(approval), OutputFormat::Text) => {
                context.output.line(&approval_row(&approval).join("  "))?;
            }
            (WatchedApproval::CaughtUp(0), OutputFormat::Text) => {
                context.output.note(NoteKind::Info, "nothing waits; watching, Ctrl-C ends it");
            }
            (WatchedApproval::CaughtUp(_), OutputFormat::Text) => {
                context.output.note(NoteKind::Info, "that is what waits; watching, Ctrl-C ends it");
            }
            (WatchedApproval::CaughtUp(_), OutputFormat::Json) => {}
        }
    }
}

async fn export(output: &Output, client: &Client, days: Option<u32>) -> Result<Exit, Failure> {
    let since = days.map(|days| {
        let now = jiff::Timestamp::now().as_second();
        prost_types::Timestamp { seconds: now - i64::from(days) * 86_400, nanos: 0 }
    });
    let mut exported = client.export_approvals(v1::ExportApprovalsRequest { since, until: None }).await?;
    while let Some(approval) = exported.next().await? {
        output.json(&to_json(&approval))?;
    }
    Ok(Exit::Done)
}
