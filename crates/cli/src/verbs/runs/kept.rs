//! `palyra runs kept`: what commands left in protected places is looked at and, after a yes, put in place.

use clap::{Args, Subcommand};
use palyra_client::Client;
use palyra_types::{ErrorCode, RunId};
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::ids::RunName;
use palyra_run_view::{age, is_back};
use palyra_screen_text::clean_line;
use palyra_screen_text::{bytes, count, diff_lines, shell_word, short_id};
use palyra_terminal::{NoteKind, Output, OutputError, PromptReader, ReadingMode};

const PLACE_CHARS_MAX: usize = 200;
const REFUSAL_CHARS_MAX: usize = 400;
/// Characters of the shown digest that a yes repeats.
const WORD_CHARS: usize = 4;

/// Look at what commands left in protected places, and put it in place
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  palyra runs kept list last\n  palyra runs kept show last .git/hooks/pre-commit\n  palyra runs kept apply last .git/hooks/pre-commit"
)]
pub(crate) struct KeptArgs {
    #[command(subcommand)]
    verb: KeptVerb,
}

#[derive(Debug, Subcommand)]
enum KeptVerb {
    /// List what a run's commands left, oldest first
    #[command(after_help = "Example:\n  palyra runs kept list last")]
    List {
        /// The run's id, or `last`
        run: RunName,
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Show what putting one in place would change
    #[command(after_help = "Example:\n  palyra runs kept show last .envrc")]
    Show {
        #[command(flatten)]
        which: WhichArgs,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Put one in place, after a yes to what is shown
    #[command(
        after_help = "Examples:\n  palyra runs kept apply last .envrc\n  palyra runs kept apply last .envrc --shown 5f0c..."
    )]
    Apply {
        #[command(flatten)]
        which: WhichArgs,
        /// Do not ask: the digest that `show` printed for what you looked at
        #[arg(long, value_name = "SHA256")]
        shown: Option<String>,
        /// One line of JSON for each file; goes with --shown
        #[arg(long, requires = "shown")]
        json: bool,
    },
    /// Delete one
    #[command(after_help = "Example:\n  palyra runs kept discard last .envrc --yes")]
    Discard {
        #[command(flatten)]
        which: WhichArgs,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// A line of JSON that names it; goes with --yes
        #[arg(long, requires = "yes")]
        json: bool,
    },
}

/// Which kept file.
#[derive(Debug, Args)]
struct WhichArgs {
    /// The run's id, or `last`
    run: RunName,
    /// Its place in the workspace or, where there are several of it, its id
    #[arg(value_name = "PLACE")]
    place: String,
}

/// A kept file of a run.
struct FoundFile {
    run: RunId,
    file: v1::KeptFile,
}

impl WhichArgs {
    async fn find(&self, client: &Client) -> Result<FoundFile, Failure> {
        let run = self.run.resolve(client).await?;
        let mut files = client.list_kept_files(run).await?;
        files.retain(|file| file.kept_id == self.place || file.place == self.place);
        let place = clean_line(&self.place, PLACE_CHARS_MAX);
        let refused = |message: String, mend: String| {
            Err(Failure::WithMend { code: ErrorCode::KeptFileRefused, message, mend })
        };
        match files.as_slice() {
            [file] => Ok(FoundFile { run, file: file.clone() }),
            [] => {
                let mend =
                    format!("`palyra runs kept list {}` shows what was kept", short_id(&run.to_string()));
                refused(format!("nothing was kept of `{place}`"), mend)
            }
            several => {
                let ids: Vec<_> = several.iter().map(|file| file.kept_id.as_str()).collect();
                refused(
                    format!("several were kept of `{place}`"),
                    format!("name one by its id: {}", ids.join(", ")),
                )
            }
        }
    }
}

impl FoundFile {
    /// Names the run and the place in the mend of a failure.
    fn named_in(&self, failure: Failure) -> Failure {
        failure.naming_parts(&[(" RUN", &self.run.to_string()), (" PLACE", &self.file.place)])
    }

    async fn show(&self, client: &Client) -> Result<v1::ShowKeptFileResponse, Failure> {
        let request =
            v1::ShowKeptFileRequest { run_id: self.run.to_string(), kept_id: self.file.kept_id.clone() };
        Ok(client.show_kept_file(request).await?)
    }
}

/// Runs the verb.
pub(super) async fn run(context: &Context, client: &Client, args: KeptArgs) -> Result<Exit, Failure> {
    match args.verb {
        KeptVerb::List { run, json } => list(context, client, run, json.into()).await,
        KeptVerb::Show { which, json } => {
            let shown = which.find(client).await?.show(client).await?;
            if json {
                context.output.json(&to_json_with_defaults(&shown))?;
            } else {
                tell(context, &shown);
                context.output.line(&format!("shown {}", shown.shown_sha256))?;
            }
            Ok(Exit::Done)
        }
        KeptVerb::Apply { which, shown, json } => {
            apply(context, client, which.find(client).await?, shown, json.into()).await
        }
        KeptVerb::Discard { which, yes, json } => {
            discard(context, client, which.find(client).await?, yes, json.into()).await
        }
    }
}

async fn list(
    context: &Context,
    client: &Client,
    run: RunName,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let files = client.list_kept_files(run.resolve(client).await?).await?;
    if format == OutputFormat::Json {
        files.iter().try_for_each(|file| context.output.json(&to_json(file)))?;
        return Ok(Exit::Done);
    }
    if files.is_empty() {
        context.output.note(NoteKind::Info, "nothing of this run was kept aside");
        return Ok(Exit::Done);
    }
    let header = ["PLACE", "WAS", "KIND", "SIZE", "DIGEST", "CALL", "AGE", "ID"];
    context.table(header, files.iter().map(row).collect())?;
    Ok(Exit::Done)
}

fn row(file: &v1::KeptFile) -> [String; 8] {
    [
        clean_line(&file.place, PLACE_CHARS_MAX),
        file.change_name().into_owned(),
        file.kind_name().into_owned(),
        bytes(file.bytes),
        file.sha256.chars().take(12).collect(),
        file.effect_id.to_string(),
        age(file.kept),
        file.kept_id.clone(),
    ]
}

/// Shows all that a person decides by.
fn tell(context: &Context, shown: &v1::ShowKeptFileResponse) {
    let file = shown.file.clone().unwrap_or_default();
    let place = clean_line(&file.place, PLACE_CHARS_MAX);
    let message = format!(
        "{place}: {} of {}, {}, left by call {}",
        file.kind_name(),
        bytes(file.bytes),
        file.change_name(),
        file.effect_id
    );
    context.output.note(NoteKind::Info, &message);
    let lines = diff_lines(&shown.difference);
    context.output.diff(lines.iter().map(|line| (line.text.as_str(), line.look)));
    if !shown.refusal.is_empty() {
        let why = clean_line(&shown.refusal, REFUSAL_CHARS_MAX);
        context.output.note(NoteKind::Doubt, &format!("it cannot be put in place: {why}"));
    }
}

async fn apply(
    context: &Context,
    client: &Client,
    found: FoundFile,
    known: Option<String>,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let shown_sha256 = match known {
        Some(known) => known,
        None => match confirm_kept(context, client, &found).await? {
            Some(shown) => shown,
            None => return Ok(Exit::Cancelled),
        },
    };
    let refused = |failure: Failure| found.named_in(failure);
    let kept_id = found.file.kept_id.clone();
    let request = v1::PlaceKeptFileRequest { run_id: found.run.to_string(), kept_id, shown_sha256 };
    let files = client.place_kept_file(request).await.map_err(|error| refused(error.into()))?;
    let left = files.iter().filter(|file| !is_back(file)).count();
    if format == OutputFormat::Json {
        files.iter().try_for_each(|file| context.output.json(&to_json_with_defaults(file)))?;
    } else {
        files.iter().for_each(|file| show_placed(&context.output, file));
        let placed = count((files.len() - left) as u64, "file");
        context.output.note(NoteKind::Info, &format!("{placed} in place, {left} left alone"));
    }
    Ok(if left == 0 { Exit::Done } else { Exit::Conflict })
}

fn show_placed(output: &Output, file: &v1::UndoneFile) {
    let (mark, message) = match file.result() {
        v1::UndoResult::Restored => (NoteKind::Good, "in place".to_owned()),
        v1::UndoResult::AlreadyRestored => (NoteKind::Good, "was in place already".to_owned()),
        v1::UndoResult::Conflict => {
            (NoteKind::Doubt, "changed since it was shown, and left alone".to_owned())
        }
        v1::UndoResult::Withheld | v1::UndoResult::Failed | v1::UndoResult::Unspecified => {
            (NoteKind::Bad, clean_line(&file.detail, REFUSAL_CHARS_MAX))
        }
    };
    output.note(mark, &format!("{}: {message}", clean_line(&file.path, PLACE_CHARS_MAX)));
}

/// Shows a kept file and asks the person; a yes repeats the beginning of what was shown.
async fn confirm_kept(
    context: &Context,
    client: &Client,
    found: &FoundFile,
) -> Result<Option<String>, Failure> {
    let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
        let (run, place) = (context.output.id(&found.run.to_string()), shell_word(&found.file.place));
        return Err(Failure::Usage(format!(
            "what a command left is put in place after a yes; look at it with `palyra runs kept show {run} {place}`, then \
             name the digest that it shows with --shown"
        )));
    };
    let shown = found.show(client).await?;
    tell(context, &shown);
    if !shown.refusal.is_empty() {
        let message = "nothing was put in place".to_owned();
        return Err(found.named_in(Failure::local(ErrorCode::KeptFileRefused, message)));
    }
    let word: String = shown.shown_sha256.chars().take(WORD_CHARS).collect();
    let prompt = format!("? high risk: something runs this later; type {word} to put it in place [{word}/n]");
    let answer =
        reader.ask(&prompt, ReadingMode::Shown).await.map_err(OutputError::Failed)?.unwrap_or_default();
    if answer.trim().eq_ignore_ascii_case(&word) {
        return Ok(Some(shown.shown_sha256));
    }
    context.output.note(NoteKind::Info, "nothing was put in place");
    Ok(None)
}

async fn discard(
    context: &Context,
    client: &Client,
    found: FoundFile,
    yes: bool,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let place = clean_line(&found.file.place, PLACE_CHARS_MAX);
    if !yes {
        let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
            let message = "what is deleted does not come back; say so with --yes";
            return Err(Failure::Usage(message.to_owned()));
        };
        let prompt = format!("? delete what was kept of {place}? [y/N]");
        let answer =
            reader.ask(&prompt, ReadingMode::Shown).await.map_err(OutputError::Failed)?.unwrap_or_default();
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            return Ok(Exit::Cancelled);
        }
    }
    let FoundFile { run, file } = found;
    let request =
        v1::DiscardKeptFileRequest { run_id: run.to_string(), kept_id: file.kept_id, sha256: file.sha256 };
    let discarded = serde_json::json!({ "run_id": request.run_id, "discarded": request.kept_id });
    client.discard_kept_file(request).await?;
    match format {
        OutputFormat::Json => context.output.json(&discarded)?,
        OutputFormat::Text => {
            context.output.note(NoteKind::Good, &format!("deleted what was kept of {place}"));
        }
    }
    Ok(Exit::Done)
}
