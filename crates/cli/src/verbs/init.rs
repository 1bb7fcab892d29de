//! `palyra init`: a configuration file to begin with, and what was found on this machine.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use palyra_client::AskProviders;
use palyra_types::ErrorCode;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::Mark;

const TEMPLATE: &str = include_str!("init/palyra.toml");

/// Write a configuration file with every setting explained; an existing one is left as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra init")]
pub(crate) struct InitArgs {
    /// The outcome as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: InitArgs) -> Result<Exit, Failure> {
    context.require_local("init")?;
    let file = context.config_file()?;
    let written = match write_new(&file) {
        Ok(()) => {
            context.output.note(Mark::Good, &format!("wrote {}", file.display()));
            true
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            context.output.note(Mark::Info, &format!("{} exists and stays as it is", file.display()));
            false
        }
        Err(error) => {
            let message = format!("{} cannot be written: {error}", file.display());
            return Err(Failure::local(ErrorCode::ConfigUnreadable, message));
        }
    };
    let client = context.connect().await?;
    let models = client.list_models(AskProviders::No).await?;
    if args.json {
        let found = json!({
            "config_file": file.display().to_string(),
            "written": written,
            "default_model": models.default_model,
            "suggestions": models.suggestions,
        });
        context.output.json(&found)?;
        return Ok(Exit::Done);
    }
    context.output.note(Mark::Info, &format!("the model is {}", models.default_model));
    for suggestion in &models.suggestions {
        context.output.note(Mark::Info, suggestion);
    }
    context.output.note(Mark::Info, "try: palyra run \"What can you do?\"");
    Ok(Exit::Done)
}

/// Writes the file only where there is none.
fn write_new(file: &Path) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    new.write_all(TEMPLATE.as_bytes())?;
    new.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_a_configuration_that_changes_nothing() {
        let parsed: toml_edit::DocumentMut = TEMPLATE.parse().unwrap();
        assert!(parsed.is_empty(), "{parsed}");
        // With the comment signs before settings gone, it is one that changes things.
        let uncommented: String =
            TEMPLATE.lines().map(|line| format!("{}\n", line.strip_prefix('#').unwrap_or(line))).collect();
        let settings: toml_edit::DocumentMut = uncommented
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
            .parse()
            .unwrap();
        assert!(settings["model"]["default"].is_str() && settings["providers"]["local"]["kind"].is_str());
    }

    #[test]
    fn an_existing_file_is_never_touched() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("palyra/palyra.toml");
        write_new(&file).unwrap();
        std::fs::write(&file, "mine").unwrap();
        assert_eq!(write_new(&file).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }
}
