//! Where a chat's lines come from: an editor, a plain terminal, or a script.

use std::sync::{Arc, Mutex, PoisonError};

use crate::context::Context;
use crate::failure::Failure;
use palyra_run_view::suggest_in_chat;
use palyra_terminal::{
    AsItIs, HISTORY_FILE_NAME, LineEditor, LineOutcome, NoteKind, OutputError, PromptReader, PromptReply,
    ReadingMode, TypedLines, goes_on, joined,
};

const LEAVES: &str = "Ctrl-C again leaves, as does /quit";

/// Where lines come from.
pub(super) enum Input {
    /// A terminal that can be drawn on.
    Editor(Box<LineEditor>),
    /// A terminal that cannot.
    Person(PromptReader),
    /// A pipe or a file.
    Script(TypedLines),
}

impl Input {
    /// Opens what this process was given.
    pub(super) fn open(context: &Context, models: &Arc<Mutex<Vec<String>>>) -> Result<Self, Failure> {
        let Some(reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
            return Ok(Self::Script(TypedLines::of_process()));
        };
        if !context.output.is_drawn_on() {
            return Ok(Self::Person(reader));
        }
        let history = context.state_dir().ok().map(|dir| dir.join(HISTORY_FILE_NAME));
        let models = Arc::clone(models);
        let suggest =
            move |line: &str| suggest_in_chat(line, &models.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Self::Editor(Box::new(LineEditor::open(history, Arc::new(suggest))?)))
    }

    /// Returns whether somebody sits here.
    pub(super) fn is_person(&self) -> bool {
        !matches!(self, Self::Script(_))
    }

    /// Returns the next line while no run is active; `None` when there is none.
    pub(super) async fn typed(&mut self, context: &Context) -> Result<Option<String>, Failure> {
        context.interrupts.begin("");
        match self {
            Self::Editor(editor) => edited(editor, context).await,
            Self::Person(reader) => read_input(reader, context).await,
            Self::Script(lines) => Ok(piped(lines).await),
        }
    }
}

async fn edited(editor: &mut LineEditor, context: &Context) -> Result<Option<String>, Failure> {
    let _as_it_is = AsItIs::keep(&context.interrupts);
    let mut pressed = false;
    loop {
        match editor.read("> ", |_| false, &context.output).await? {
            LineOutcome::Text(line) => return Ok(Some(line)),
            LineOutcome::End => return Ok(None),
            LineOutcome::Interrupted if pressed => return Ok(None),
            LineOutcome::Interrupted => pressed = true,
        }
        context.output.note(NoteKind::Info, LEAVES);
    }
}

/// Asks for a line, and those it goes on in.
async fn read_input(reader: &mut PromptReader, context: &Context) -> Result<Option<String>, Failure> {
    let mut whole = String::new();
    loop {
        reader.begin(">", ReadingMode::Shown).map_err(OutputError::Failed)?;
        let reply = tokio::select! {
            biased;
            () = context.interrupts.pressed() => {
                reader.withdraw();
                context.output.note(NoteKind::Info, LEAVES);
                continue;
            }
            reply = reader.replied() => reply.map_err(OutputError::Failed)?,
        };
        let PromptReply::Line(line) = reply else {
            context.output.close_line();
            return Ok((!whole.is_empty()).then_some(whole));
        };
        whole.push_str(&line);
        if !goes_on(&line) {
            return Ok(Some(joined(&whole)));
        }
        whole.push('\n');
    }
}

/// Reads a line, and those it goes on in.
async fn piped(lines: &mut TypedLines) -> Option<String> {
    let mut whole = String::new();
    loop {
        let Some(line) = lines.next().await else { return (!whole.is_empty()).then_some(whole) };
        whole.push_str(&line);
        if !goes_on(&line) {
            return Some(joined(&whole));
        }
        whole.push('\n');
    }
}
