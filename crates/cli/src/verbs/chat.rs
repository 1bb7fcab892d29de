//! `palyra chat`: one line, one input, in the session of this folder.

use std::io::IsTerminal;

use palyra_client::{Client, RunFollower};
use palyra_types::RunId;
use palyra_wire::v1;

use super::ids::session_selector;
use super::start_run::{Choice, note_other_model, start, workspace_root};
use crate::context::Context;
use crate::drive::{DaemonRun, Format, Seat, drive};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{Echo, age, count};
use crate::terminal::{Mark, TypedLines};

const HELP: [&str; 5] = [
    "/status  which session and model this is",
    "/reset   begin a fresh context; nothing is deleted",
    "/quit    leave; Ctrl-D does too",
    "Ctrl-C   cancels the answer that comes; twice leaves",
    "anything else is sent as it is",
];

/// Talk, line by line, and go on where this folder's last chat ended.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  palyra chat\n  palyra chat --session notes")]
pub(crate) struct ChatArgs {
    /// The session: its id, or a key of your own [default: this folder's]
    #[arg(long, value_name = "ID|KEY")]
    session: Option<String>,
    /// Every entry of the answers' tapes as a line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: Choice,
}

/// What a typed line means.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Nothing,
    Help,
    Quit,
    Reset,
    Status,
    Unknown(&'a str),
    Say(&'a str),
}

fn read(line: &str) -> Line<'_> {
    match line.trim() {
        "" => Line::Nothing,
        "/help" | "/?" => Line::Help,
        "/quit" | "/exit" | "/q" => Line::Quit,
        "/reset" | "/new" => Line::Reset,
        "/status" => Line::Status,
        // A path is not a command.
        command if command.starts_with('/') && !command[1..].contains(['/', ' ', '.']) => {
            Line::Unknown(command)
        }
        _ => Line::Say(line),
    }
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: ChatArgs) -> Result<Exit, Failure> {
    let workspace_root = workspace_root(context)?;
    let client = context.connect().await?;
    let key = || format!("chat:{workspace_root}");
    let selector = session_selector(&args.session.clone().unwrap_or_else(key));
    let mut chat = Chat {
        context,
        client,
        choice: args.choice,
        selector,
        workspace_root,
        lines: TypedLines::of_process(),
        interactive: std::io::stdin().is_terminal() && context.output.can_ask(),
        format: args.json.into(),
        told_model: false,
    };
    let session = chat.resolve(None).await?;
    chat.greet(&session);
    let mut exit = chat.go_on_with(&session).await?;
    while let Some(line) = chat.typed().await {
        match chat.obey(&line).await? {
            Obeyed::Quit => break,
            Obeyed::Command => {}
            Obeyed::Ran(ended) => {
                // A script that talks is told by the exit code that something went wrong on the way.
                if exit == Exit::Done {
                    exit = ended;
                }
                if !chat.interactive && ended == Exit::Withheld {
                    break;
                }
            }
        }
    }
    Ok(if chat.interactive { Exit::Done } else { exit })
}

enum Obeyed {
    Quit,
    Command,
    Ran(Exit),
}

struct Chat<'a> {
    context: &'a Context,
    client: Client,
    choice: Choice,
    selector: v1::SessionSelector,
    workspace_root: String,
    lines: TypedLines,
    interactive: bool,
    format: Format,
    told_model: bool,
}

impl Chat<'_> {
    fn greet(&self, session: &v1::Session) {
        if !self.interactive {
            return;
        }
        let known = match session.runs {
            0 => "a new chat".to_owned(),
            runs => format!("going on after {}, the last {} ago", count(runs, "run"), age(session.updated)),
        };
        self.context.output.note(Mark::Info, &format!("{known}; /help lists commands"));
    }

    async fn resolve(&self, reset: Option<()>) -> Result<v1::Session, Failure> {
        let session = Some(v1::SessionSelector { reset: reset.is_some(), ..self.selector.clone() });
        let agent = self.choice.agent.clone().unwrap_or_default();
        let answer = self
            .client
            .resolve_session(v1::ResolveSessionRequest { session, agent, branch_from: None })
            .await?;
        let missing = palyra_client::ClientError::Protocol { what: "a session was not described" };
        Ok(answer.session.ok_or(missing)?)
    }

    /// Follows runs of this session that are still open, so that what is typed next does not wait behind them unseen.
    async fn go_on_with(&mut self, session: &v1::Session) -> Result<Exit, Failure> {
        let request = v1::ListRunsRequest {
            session_id: session.session_id.clone(),
            only: "open".to_owned(),
            ..Default::default()
        };
        let open = self.client.list_runs(request).await?.runs;
        let mut exit = Exit::Done;
        for run in open.iter().rev().filter_map(|run| run.run_id.parse::<RunId>().ok()) {
            self.context
                .output
                .note(Mark::Info, &format!("run {run} of this chat is still open; following it"));
            let follower = RunFollower::attach(&self.client, run, 0);
            let followed = DaemonRun { client: self.client.clone(), follower };
            exit = self.drive(followed, Echo::Inputs).await?;
        }
        Ok(exit)
    }

    /// Returns the next line; `None` when there is no more, or Ctrl-C was pressed twice.
    async fn typed(&mut self) -> Option<String> {
        self.context.interrupts.begin("");
        loop {
            if self.interactive {
                self.context.output.prompt("> ");
            }
            tokio::select! {
                biased;
                () = self.context.interrupts.pressed(), if self.interactive => {
                    self.context.output.note(Mark::Info, "Ctrl-C again leaves, as does /quit");
                }
                line = self.lines.next() => {
                    self.context.output.line_was_typed();
                    return line;
                }
            }
        }
    }

    async fn obey(&mut self, line: &str) -> Result<Obeyed, Failure> {
        let output = &self.context.output;
        match read(line) {
            Line::Nothing => {}
            Line::Quit => return Ok(Obeyed::Quit),
            Line::Help => HELP.iter().for_each(|line| output.note(Mark::Info, line)),
            Line::Unknown(command) => {
                output.note(Mark::Bad, &format!("there is no {command}; /help lists commands"));
            }
            Line::Reset => {
                self.resolve(Some(())).await?;
                output.note(Mark::Good, "a fresh context begins; what was said before stays in the journal");
            }
            Line::Status => self.status().await?,
            Line::Say(text) => return Ok(Obeyed::Ran(self.say(text.to_owned()).await?)),
        }
        Ok(Obeyed::Command)
    }

    async fn status(&self) -> Result<(), Failure> {
        let session = self.resolve(None).await?;
        let status = self.client.list_models(palyra_client::AskProviders::No).await?;
        let model = self.choice.model.as_ref().unwrap_or(&status.default_model);
        let told = format!("session {}, {}, model {model}", session.session_id, count(session.runs, "run"));
        self.context.output.note(Mark::Info, &told);
        Ok(())
    }

    async fn say(&mut self, input: String) -> Result<Exit, Failure> {
        let request = v1::StartRunRequest {
            session: Some(self.selector.clone()),
            input,
            workspace_root: self.workspace_root.clone(),
            ..Default::default()
        };
        let followed = start(&self.client, &self.choice, request);
        self.drive(followed, Echo::No).await
    }

    async fn drive(&mut self, mut followed: DaemonRun, echo: Echo) -> Result<Exit, Failure> {
        let context = self.context;
        let (choice, told) = (&self.choice, &mut self.told_model);
        let seat = Seat {
            output: &context.output,
            interrupts: &context.interrupts,
            answers: self.interactive.then_some(&mut self.lines),
            format: self.format,
            echo,
            time_limit: None,
        };
        let opened = |opened: &v1::Opened| {
            if !std::mem::replace(told, true) {
                note_other_model(&context.output, choice, &opened.model);
            }
        };
        match drive(&mut followed, seat, opened).await {
            // The next line may fare better; only what ends the chat is an error.
            Err(Failure::Client(error)) if !error.is_unreachable() => {
                let failure = Failure::Client(error);
                context.output.failure(&failure);
                Ok(failure.exit())
            }
            outcome => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_what_is_said() {
        for (line, expect) in [
            ("  ", Line::Nothing),
            ("/help", Line::Help),
            (" /quit ", Line::Quit),
            ("/reset", Line::Reset),
            ("/status", Line::Status),
            ("/stats", Line::Unknown("/stats")),
            ("/etc/passwd is what?", Line::Say("/etc/passwd is what?")),
            ("/README.md", Line::Say("/README.md")),
            ("hello /quit", Line::Say("hello /quit")),
        ] {
            assert_eq!(read(line), expect);
        }
    }
}
