//! `palyra runs effects`: what runs did, and settling an outcome that is not known.

use clap::{Args, Subcommand};
use palyra_client::{Client, ClientError};
use palyra_types::ErrorCode;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::ids::RunName;
use palyra_run_view::{effect_row, how_to_go_on, how_to_resolve};
use palyra_screen_text::clean_line;
use palyra_terminal::NoteKind;

const PAGE_SIZE_MAX: u32 = 500;

/// List what runs did, and say what became of an unknown outcome
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  palyra runs effects last\n  palyra runs effects --unknown\n  palyra runs effects resolve last 3 happened"
)]
pub(crate) struct EffectsArgs {
    #[command(subcommand)]
    verb: Option<EffectsVerb>,
    /// Of this run only: its id or a part of it, `last`
    run: Option<RunName>,
    /// Only those with an unknown outcome
    #[arg(long, conflicts_with = "changing")]
    unknown: bool,
    /// Only those that may have changed something
    #[arg(long)]
    changing: bool,
    /// At most so many
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// One line of JSON each
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum EffectsVerb {
    /// Say what became of an effect with an unknown outcome; a run that waits for it goes on
    #[command(
        after_help = "Example:\n  palyra runs effects resolve last 3 did-not-happen --note \"no mail went out\""
    )]
    Resolve {
        /// The run: its id, 4 letters of its beginning or end, `last`, `last~2`
        run: RunName,
        /// The effect's number
        effect: u32,
        /// What became of it; retry: it did not, and the model may call again, unless the run is over
        #[arg(value_parser = ["happened", "did-not-happen", "retry"])]
        resolution: String,
        /// What to say with it; the model of a run that goes on reads it
        #[arg(long, default_value = "", value_name = "TEXT")]
        note: String,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Lists effects, or resolves one.
pub(super) async fn run(context: &Context, client: &Client, args: EffectsArgs) -> Result<Exit, Failure> {
    if let Some(EffectsVerb::Resolve { run, effect, resolution, note, json }) = args.verb {
        let request = v1::ResolveEffectRequest {
            run_id: run.resolve(client).await?.to_string(),
            effect_id: effect,
            resolution: v1::EffectResolution::from_short_name(&resolution.replace('-', "_"))
                .unwrap_or_default()
                .into(),
            note,
        };
        return resolve(context, client, request, json.into()).await;
    }
    let only = match (args.unknown, args.changing) {
        (true, _) => v1::EffectFilter::Unknown,
        (false, true) => v1::EffectFilter::Changing,
        (false, false) => v1::EffectFilter::Unspecified,
    };
    let run_id = match args.run {
        Some(run) => run.resolve(client).await?.to_string(),
        None => String::new(),
    };
    let request = v1::ListEffectsRequest { run_id, only: only.into(), ..Default::default() };
    list(context, client, request, args.limit, args.json.into()).await
}

async fn list(
    context: &Context,
    client: &Client,
    mut request: v1::ListEffectsRequest,
    limit: u32,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let mut effects: Vec<v1::EffectInfo> = Vec::new();
    loop {
        let left = limit.saturating_sub(u32::try_from(effects.len()).unwrap_or(u32::MAX));
        if left == 0 {
            break;
        }
        request.page_size = left.min(PAGE_SIZE_MAX);
        let page = client.call(request.clone()).await?;
        effects.extend(page.effects);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if format == OutputFormat::Json {
        effects.iter().try_for_each(|effect| context.output.json(&to_json(effect)))?;
        return Ok(Exit::Done);
    }
    if effects.is_empty() {
        context.output.note(NoteKind::Info, "there are no such effects");
        return Ok(Exit::Done);
    }
    context
        .table(["RUN", "EFFECT", "STATE", "AGE", "TOOL", "CALL"], effects.iter().map(effect_row).collect())?;
    let unknown = effects.iter().find(|effect| effect.state() == v1::EffectState::Unknown);
    if let Some(effect) = unknown {
        let run = context.output.id(&effect.run_id);
        let is_over = match effect.run_id.parse() {
            Ok(id) => client.get_run(id).await?.phase() == v1::RunPhase::Finished,
            Err(_) => false,
        };
        context.output.note(NoteKind::Info, &how_to_settle(&run, effect.effect_id, is_over));
    }
    Ok(Exit::Done)
}

/// Names the command that settles an unknown outcome. Where the run is over, nothing can be made again in it.
fn how_to_settle(run: &str, effect: u32, is_over: bool) -> String {
    let command = how_to_resolve(run, effect);
    if is_over { command.replace("|retry", "") } else { command }
}

/// Names each effect of a run whose outcome is unknown, and the command that settles it.
pub(super) async fn show_unknown(context: &Context, client: &Client, run: &v1::Run) -> Result<(), Failure> {
    let is_over = run.phase() == v1::RunPhase::Finished;
    let id = context.output.id(&run.run_id);
    let request = v1::ListEffectsRequest {
        run_id: run.run_id.clone(),
        only: v1::EffectFilter::Unknown.into(),
        ..Default::default()
    };
    for effect in client.call(request).await?.effects {
        let tool = clean_line(&effect.tool, 32);
        context.output.line(&format!(
            "{:<9}effect {}, {tool}: its outcome is not known",
            "unknown", effect.effect_id
        ))?;
        context.output.line(&format!(
            "{:<9}{}",
            "",
            context.output.completed(&how_to_settle(&id, effect.effect_id, is_over))
        ))?;
    }
    Ok(())
}

async fn resolve(
    context: &Context,
    client: &Client,
    request: v1::ResolveEffectRequest,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let run = request.run_id.clone();
    let is_retry = request.resolution() == v1::EffectResolution::Retry;
    let open = match run.parse() {
        Ok(run) => client.get_run(run).await.ok().and_then(|run| how_to_go_on(&run)),
        Err(_) => None,
    };
    let effect = client.resolve_effect(request).await.map_err(|error| match error {
        ClientError::Refused { code: code @ ErrorCode::EffectNotUnknown, message } if open.is_some() => {
            let open = open.unwrap_or_default();
            Failure::WithMend { code, message, mend: format!("the run waits for something else: {open}") }
        }
        ClientError::Refused { code: code @ ErrorCode::RunFinished, message } if is_retry => Failure::WithMend {
            code,
            message: format!("{message}, so nothing is made again there"),
            mend: "say `happened` or `did-not-happen` in place of `retry`; a new run can make the call again".to_owned(),
        },
        error => Failure::from(error).naming(&context.output.id(&run)),
    })?;
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(&effect))?;
    } else {
        let message = format!(
            "recorded; a run that waited for it goes on: `palyra runs tail {}`",
            context.output.id(&run)
        );
        context.output.note(NoteKind::Good, &message);
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_over_makes_nothing_again() {
        assert!(
            how_to_settle("96C5QJ", 3, false).contains("resolve 96C5QJ 3 happened|did-not-happen|retry`")
        );
        assert!(how_to_settle("96C5QJ", 3, true).ends_with("resolve 96C5QJ 3 happened|did-not-happen`"));
    }
}
