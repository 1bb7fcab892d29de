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
use palyra_terminal::NoteKind;

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
    let written = match write_new(&file, &(context.daemon.config_template)()) {
        Ok(()) => {
            context.output.note(NoteKind::Good, &format!("wrote {}", file.display()));
            true
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            context.output.note(NoteKind::Info, &format!("{} exists and stays as it is", file.display()));
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
    context.output.note(NoteKind::Info, &format!("the model is {}", models.default_model));
    for suggestion in &models.suggestions {
        context.output.note(NoteKind::Info, suggestion);
    }
    context.output.note(NoteKind::Info, "try: palyra run \"What can you do?\"");
    Ok(Exit::Done)
}

/// Writes the file only where there is none.
fn write_new(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    new.write_all(text.as_bytes())?;
    new.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_never_touched() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("palyra/palyra.toml");
        write_new(&file, "# new\n").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "# new\n");
        std::fs::write(&file, "mine").unwrap();
        assert_eq!(write_new(&file, "# new\n").unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }
}
