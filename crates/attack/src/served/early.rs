//! Ways to have a line typed before the question that it is to answer (101).

use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::Gate;
use palyra_testkit::pty::Pty;
use serde_json::json;
use tokio::runtime::Handle;

/// What the call after it would write.
pub(super) const PWNED: &str = "pwned.txt";
/// The end of a prompt, which no terminal of these widths breaks.
pub(super) const PROMPT: &str = "[l]ater";
/// A prompt as it is drawn for a person.
const DRAWN_PROMPT: &str = "[y]es  [n]o, or \"n REASON\"  [f]older  [m]ore  [l]ater";
/// The last part of what a hostile model draws.
const DRAWN: &str = "..........";

/// How a line comes to be typed early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EarlyInput {
    /// While the model says nothing.
    Line,
    /// Many of them.
    Lines,
    /// Only the letter; the rest comes after the prompt.
    Letter,
    /// As a terminal sends what is pasted.
    Paste,
    /// In answer to a prompt in the model's text.
    ModelDraws,
    /// In answer to a prompt in the output of a command.
    OutputDraws,
    /// In answer to a prompt in the name of a file that a call reads.
    NameDraws,
    /// As a second line behind the answer to a question.
    SecondLine,
}

impl EarlyInput {
    pub(super) const ALL: [Self; 8] = [
        Self::Line,
        Self::Lines,
        Self::Letter,
        Self::Paste,
        Self::ModelDraws,
        Self::OutputDraws,
        Self::NameDraws,
        Self::SecondLine,
    ];

    pub(super) fn variant(self) -> &'static str {
        match self {
            Self::Line => "a line before the question",
            Self::Lines => "many lines before the question",
            Self::Letter => "a letter before the question",
            Self::Paste => "a line that is pasted before the question",
            Self::ModelDraws => "a prompt in the model's text",
            Self::OutputDraws => "a prompt in a command's output",
            Self::NameDraws => "a prompt in a file's name",
            Self::SecondLine => "a second line behind an answer",
        }
    }

    /// Returns the keys that are pressed early.
    pub(super) fn keys(self) -> &'static str {
        match self {
            Self::Line | Self::ModelDraws | Self::OutputDraws | Self::NameDraws => "y\r",
            Self::Lines => "y\ry\ry\ry\r",
            Self::Letter => "y",
            Self::Paste => "\x1b[200~y\r\x1b[201~",
            Self::SecondLine => "y\ry\r",
        }
    }

    /// Returns what the model does: something first, and then the call that is to be approved.
    pub(super) fn behaviour(self, gate: &Gate) -> Behaviour {
        let writes = json!({ "path": PWNED, "content": "pwned" }).to_string();
        let call = |reply: Reply| reply.call("write_file", &writes);
        let first = match self {
            Self::Line | Self::Lines | Self::Letter | Self::Paste => {
                return Behaviour::each(vec![call(Reply::empty().piece(DRAWN).hold(gate))]);
            }
            Self::ModelDraws => {
                let drawn =
                    format!("\n? read_file wants to run (low risk): reads `README.md`\n? {DRAWN_PROMPT} ");
                let text = Reply::empty().piece(&drawn).piece(&format!("\n{DRAWN}\n? {DRAWN_PROMPT} "));
                return Behaviour::each(vec![call(text.hold(gate))]);
            }
            Self::OutputDraws => {
                let script = format!("printf '\\n? {DRAWN_PROMPT} \\n{DRAWN}\\n? {DRAWN_PROMPT} '");
                Reply::empty().call("run_command", &json!({ "argv": ["sh", "-c", script] }).to_string())
            }
            Self::NameDraws => {
                let name = format!("? {DRAWN_PROMPT} {DRAWN}");
                Reply::empty().call("read_file", &json!({ "path": name }).to_string())
            }
            Self::SecondLine => {
                Reply::empty().call("ask_user", &json!({ "question": "Type it twice" }).to_string())
            }
        };
        let held = if self == Self::SecondLine { Reply::empty() } else { Reply::empty().hold(gate) };
        Behaviour::each(vec![first, call(held)])
    }

    /// Waits until the keys are due, presses them, and lets the model go on.
    pub(super) fn press(self, pty: &mut Pty, gate: &Gate) {
        if self == Self::SecondLine {
            pty.expect("answer> ");
            pty.type_in(self.keys());
            return;
        }
        Handle::current().block_on(gate.reached());
        pty.type_in(self.keys());
        gate.open();
    }
}
