//! What `run` and `chat` share: a Start from this folder, and what to say when another model answers.

use std::path::{Path, PathBuf};

use palyra_client::{Client, RunFollower};
use palyra_types::ErrorCode;
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::DaemonRun;
use crate::failure::Failure;
use crate::verbs::model::has_images;
use palyra_run_view::{ChatFolder, InputPlace, unkinded_files};
use palyra_terminal::{NoteKind, Output};

/// Which model and agent a run is to use.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct RunChoice {
    /// The model to ask, as provider/model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The agent [default: the session's, else main]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The folder to work in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

/// Returns the real path of the folder to work in, where the daemon takes one. A folder that no agent may work in is
/// refused here: an answer about another one would be about nothing that the person sees.
pub(super) fn workspace_root(context: &Context, choice: &RunChoice) -> Result<String, Failure> {
    let unusable = |what: String| Failure::local(ErrorCode::InvalidArgument, what);
    if !context.is_local() {
        if choice.workspace.is_some() {
            let what = "--workspace does not go with --connect: only the daemon's own socket takes a folder";
            return Err(Failure::Usage(what.to_owned()));
        }
        let note = "over --connect this folder is not used: the agent sees a folder of the session's own, beside the daemon";
        context.output.note(NoteKind::Info, note);
        return Ok(String::new());
    }
    let named = choice.workspace.as_deref();
    let shown = named.map_or_else(|| "this folder".to_owned(), |folder| folder.display().to_string());
    let folder = named.map_or_else(std::env::current_dir, |folder| Ok(folder.to_owned()));
    let folder = folder.and_then(std::fs::canonicalize);
    let folder = folder.map_err(|error| unusable(format!("{shown} cannot be used: {error}")))?;
    if !folder.is_dir() {
        return Err(unusable(format!("{shown} cannot be used: it is not a folder")));
    }
    let home = std::env::var_os("HOME").and_then(|home| std::fs::canonicalize(home).ok());
    let state_dir = context.state_dir()?;
    // A link in the place of the state directory is none of it, and refused when the daemon is looked for.
    let real = state_dir.parent().and_then(|parent| std::fs::canonicalize(parent).ok());
    let state_dir = match (real, state_dir.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => state_dir,
    };
    if let Some(reason) = refusal(&folder, home.as_deref(), &state_dir) {
        let mend = "change to the folder of a project, or name one with `--workspace DIR`";
        return Err(unusable(format!("no agent works in {shown}: {reason}; {mend}")));
    }
    let not_text = |_| unusable("this folder's name is not valid UTF-8".to_owned());
    folder.into_os_string().into_string().map_err(not_text)
}

/// Returns where a conversation can go on that is named to the person in this folder.
pub(super) fn chat_folder(context: &Context) -> ChatFolder {
    let is_refused = context.is_local() && workspace_root(context, &RunChoice::default()).is_err();
    if is_refused { ChatFolder::Elsewhere } else { ChatFolder::Here }
}

/// Returns the folder that the person is in, where it is the one to work in or below it; otherwise an empty text.
pub(super) fn working_folder(workspace_root: &str) -> String {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).unwrap_or_default();
    let is_inside = !workspace_root.is_empty() && here.starts_with(workspace_root);
    here.into_os_string().into_string().ok().filter(|_| is_inside).unwrap_or_default()
}

/// Returns why no agent works in a folder; the daemon has the same rule.
fn refusal(folder: &Path, home: Option<&Path>, state_dir: &Path) -> Option<&'static str> {
    if folder == Path::new("/") {
        return Some("it is the root of the file system");
    }
    if home == Some(folder) {
        return Some("it is the whole home folder");
    }
    let related = state_dir.starts_with(folder) || folder.starts_with(state_dir);
    related.then_some("the daemon's own state is there")
}

/// Adds model, agent and folder to what is to be started.
pub(super) fn with_choice(choice: &RunChoice, start: v1::StartRunRequest) -> v1::StartRunRequest {
    v1::StartRunRequest {
        model: choice.model.clone().unwrap_or_default(),
        agent: choice.agent.clone().unwrap_or_default(),
        working_folder: working_folder(&start.workspace_root),
        ..start
    }
}

/// Starts a run and returns it as one to be driven.
pub(super) fn start(client: &Client, choice: &RunChoice, start: v1::StartRunRequest) -> DaemonRun {
    let start = with_choice(choice, start);
    DaemonRun { client: client.clone(), follower: RunFollower::start(client, start) }
}

/// Says that variables which select a model are not used, where the daemon is another environment's.
pub(super) fn note_other_model(context: &Context, choice: &RunChoice, in_force: &str) {
    if choice.model.is_some() || context.is_local() {
        return;
    }
    let variables = (context.daemon.own_model)(context.global.config.as_deref()).variables;
    if !variables.is_empty() {
        let message = format!(
            "{} of this environment {} not used with --connect: the daemon there uses {in_force}",
            variables.join(", "),
            if variables.len() > 1 { "are" } else { "is" }
        );
        context.output.note(NoteKind::Doubt, &message);
    }
}

/// Says how files of the folder are referred to that an input names without a kind.
pub(super) fn note_unkinded(output: &Output, input: &str, workspace_root: &str, place: InputPlace) {
    // A folder of another machine is not to be seen from here.
    let folder = Some(Path::new(workspace_root)).filter(|folder| folder.is_absolute());
    let notes = unkinded_files(input, place, |path| folder.is_some_and(|folder| folder.join(path).is_file()));
    notes.iter().for_each(|note| output.note(NoteKind::Doubt, note));
}

/// Says so where a note of the daemon advises a setting of pictures that the configuration file has already.
pub(super) fn note_unapplied_images(context: &Context, notes: &[String]) {
    let Ok(file) = context.config_file() else { return };
    let advised = notes.iter().filter(|note| note.contains("`images = true`")).find_map(|note| {
        let (_, provider) = note.split_once("`[providers.")?;
        provider.split_once("]`").map(|(provider, _)| provider)
    });
    if let Some(provider) = advised.filter(|provider| has_images(&file, provider)) {
        let message = format!(
            "{} has `images = true` for {provider} already, and the daemon has not applied it: `palyra config reload` does",
            file.display()
        );
        context.output.note(NoteKind::Doubt, &message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_agent_works_in_a_whole_home_or_beside_the_state() {
        let refused = |folder: &str| {
            refusal(Path::new(folder), Some(Path::new("/home/me")), Path::new("/home/me/.local/state/palyra"))
        };
        for folder in
            ["/", "/home", "/home/me", "/home/me/.local", "/home/me/.local/state/palyra/workspaces/x"]
        {
            assert!(refused(folder).is_some(), "{folder}");
        }
        for folder in ["/home/me/project", "/home/me/.local/share", "/tmp/x", "/srv"] {
            assert_eq!(refused(folder), None, "{folder}");
        }
    }
}
