//! `palyra tools add`, `list` and `remove`: WebAssembly tools that a person looks at and adds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use palyra_client::Client;
use palyra_run_view::{component_capability, effect_contract};
use palyra_types::ErrorCode;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::date;
use palyra_screen_text::bytes;
use palyra_screen_text::clean_line;
use palyra_terminal::{NoteKind, Output, OutputError, PromptReader, ReadingMode};

const PATH_CHARS_MAX: usize = 300;
const TEXT_CHARS_MAX: usize = 400;

/// What to add.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The component
    file: PathBuf,
    /// Add it without asking
    #[arg(long)]
    yes: bool,
    /// As JSON; asks for nothing, so that it goes with --yes or only shows
    #[arg(long)]
    json: bool,
}

/// What to remove.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Its name or id
    name: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// How to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// As lines of JSON
    #[arg(long)]
    json: bool,
}

/// Shows what a file is and asks for, and adds it after a yes.
pub(super) async fn add(context: &Context, args: AddArgs) -> Result<Exit, Failure> {
    // Told before a daemon is started for it.
    let path = absolute(&args.file)?;
    if !args.yes && !args.json && !context.output.can_ask() {
        return Err(confirmation_missing());
    }
    let client = context.connect().await?;
    if !context.output.is_drawn_on() && !args.json {
        context.output.note(NoteKind::Info, "compiling the component; a large one takes up to a minute");
    }
    let looking = async {
        Ok::<_, Failure>(client.call_slowly(v1::ExamineComponentRequest { path: path.clone() }).await?)
    };
    let examined = context.waiting("compiling", looking).await?;
    let found = examined.component.clone().unwrap_or_default();
    if args.json && !args.yes {
        context.output.json(&to_json_with_defaults(&examined))?;
        return Ok(Exit::Done);
    }
    if !args.json {
        show_found(&context.output, &found, examined.replaces.as_ref())?;
        if !args.yes && !agreed(context).await? {
            context.output.note(NoteKind::Info, "nothing was added");
            return Ok(Exit::Failed);
        }
    }
    let added = client.call_slowly(v1::AddComponentRequest { path, sha256: found.sha256 }).await?;
    if args.json {
        context.output.json(&to_json_with_defaults(&added))?;
        return Ok(Exit::Done);
    }
    let name = clean_line(&found.name, 64);
    let notice = format!(
        "added {name} and pinned its bytes; its calls ask first, unless a rule or `palyra policy posture` says otherwise"
    );
    context.output.note(NoteKind::Good, &notice);
    Ok(Exit::Done)
}

/// Lists all tools, components among them.
pub(super) async fn list(context: &Context, args: ListArgs) -> Result<Exit, Failure> {
    let tools = context.connect().await?.call(v1::ListToolsRequest {}).await?.tools;
    if args.json {
        tools.iter().try_for_each(|tool| context.output.json(&to_json(tool)))?;
        return Ok(Exit::Done);
    }
    context.table(["TOOL", "CALLS", "WHAT IT DOES"], tools.iter().map(row).collect())?;
    Ok(Exit::Done)
}

/// Removes a component.
pub(super) async fn remove(context: &Context, args: RemoveArgs) -> Result<Exit, Failure> {
    let client: Client = context.connect().await?;
    let removed = client.call(v1::RemoveComponentRequest { name: args.name }).await?;
    if args.json {
        context.output.json(&to_json_with_defaults(&removed))?;
    } else {
        context.output.note(NoteKind::Good, &format!("removed {}", clean_line(&removed.name, 64)));
    }
    Ok(Exit::Done)
}

/// The daemon has no place of its own to start a path from.
fn absolute(path: &Path) -> Result<String, Failure> {
    let notice = |what: &str| {
        let shown = clean_line(&path.display().to_string(), PATH_CHARS_MAX);
        Failure::Input {
            code: ErrorCode::ComponentUnreadable,
            message: format!("{shown}: {what}"),
            mend: "check the path: it names the component, a .wasm file".to_owned(),
        }
    };
    let unreadable =
        |error: std::io::Error| Failure::unreadable_file(ErrorCode::ComponentUnreadable, path, &error);
    let real = path.canonicalize().map_err(unreadable)?;
    if !real.is_file() {
        return Err(notice("it is not a file"));
    }
    std::fs::File::open(&real).map_err(unreadable)?;
    real.into_os_string().into_string().map_err(|_| notice("the path is not valid UTF-8"))
}

fn confirmation_missing() -> Failure {
    Failure::Input {
        code: ErrorCode::InvalidArgument,
        message: "adding a tool needs a confirmation, and there is no terminal".to_owned(),
        mend: "add --yes to add it without a question, or --json to look at it only".to_owned(),
    }
}

/// Asks the person; where there is none, the word has to be on the command line.
async fn agreed(context: &Context) -> Result<bool, Failure> {
    let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
        return Err(confirmation_missing());
    };
    let answer = reader.ask("? add it? [y/N]", ReadingMode::Shown).await;
    let answer = answer.map_err(OutputError::Failed)?.unwrap_or_default();
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Shows all that a person decides by.
fn show_found(
    output: &Output,
    found: &v1::Component,
    replaces: Option<&v1::Component>,
) -> Result<(), Failure> {
    let line =
        |label: &str, value: &str| output.line(&format!("{label:<12} {}", clean_line(value, TEXT_CHARS_MAX)));
    line("tool", &found.name)?;
    line("version", &found.version.to_string())?;
    line("says", &found.description)?;
    line("contract", effect_contract(found.contract()))?;
    for reached in &found.capabilities {
        line("asks for", &component_capability(reached))?;
    }
    if found.capabilities.is_empty() {
        line("asks for", "nothing: it computes with its arguments")?;
    }
    line("digest", &format!("sha256:{}", found.sha256))?;
    line("size", &bytes(found.bytes))?;
    if let Some(old) = replaces {
        line("replaces", &format!("version {} of {}", old.version, date(old.added)))?;
        difference(old, found).iter().try_for_each(|one| line("", one))?;
    }
    Ok(())
}

/// Returns what changes with the bytes.
fn difference(old: &v1::Component, new: &v1::Component) -> Vec<String> {
    if old.sha256 == new.sha256 {
        return vec!["the same bytes".to_owned()];
    }
    let set = |one: &v1::Component| one.capabilities.iter().cloned().collect::<BTreeSet<_>>();
    let (before, after) = (set(old), set(new));
    let more = after.difference(&before).map(|one| format!("+ {}", component_capability(one)));
    let less = before.difference(&after).map(|one| format!("- {}", component_capability(one)));
    let mut lines: Vec<_> = more.chain(less).collect();
    if old.contract != new.contract {
        lines.push(format!("contract {} becomes {}", old.contract_name(), new.contract_name()));
    }
    if lines.is_empty() {
        lines.push("other bytes, which ask for the same".to_owned());
    }
    lines
}

/// Returns what helps to choose: what becomes of a call, and what it does; all else is in the JSON.
fn row(tool: &v1::Tool) -> [String; 3] {
    let does = first_sentence(&tool.description);
    let does = match &tool.component {
        None => does,
        Some(component) => {
            let digest: String = component.sha256.chars().take(12).collect();
            let reaches = component.capabilities.join(", ");
            let reaches = if reaches.is_empty() { String::new() } else { format!(", reaches {reaches}") };
            format!("{does} (component {digest}{reaches})")
        }
    };
    [tool.name.clone(), tool.treatment_name().into_owned(), does]
}

fn first_sentence(text: &str) -> String {
    let line = clean_line(text, TEXT_CHARS_MAX);
    line.split_once(". ").map_or(line.trim_end_matches('.'), |(first, _)| first).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(sha256: &str, capabilities: &[&str]) -> v1::Component {
        let capabilities = capabilities.iter().map(|&one| one.to_owned()).collect();
        v1::Component { sha256: sha256.to_owned(), capabilities, ..v1::Component::default() }
    }

    #[test]
    fn a_component_is_told_from_what_ships() {
        let tool = v1::Tool {
            name: "read_file".to_owned(),
            treatment: v1::ToolTreatment::Runs.into(),
            description: "Reads a text file. Long ones in parts.".to_owned(),
            ..v1::Tool::default()
        };
        assert_eq!(row(&tool), ["read_file", "runs", "Reads a text file"]);
        let added = Some(component("0123456789abcdef", &["read_files"]));
        let notice = &row(&v1::Tool { component: added, ..tool })[2];
        assert_eq!(notice, "Reads a text file (component 0123456789ab, reaches read_files)");
    }

    #[test]
    fn what_a_new_file_asks_beyond_the_old_one_is_told() {
        let old = component("aa", &["read_files", "http:a.example"]);
        let new = component("bb", &["read_files", "write_files", "http:b.example"]);
        assert_eq!(
            difference(&old, &new),
            [
                "+ ask the host b.example",
                "+ read and change files of the workspace",
                "- ask the host a.example"
            ]
        );
        assert_eq!(difference(&old, &old), ["the same bytes"]);
        assert_eq!(difference(&old, &component("bb", &["read_files", "http:a.example"])).len(), 1);
    }
}
