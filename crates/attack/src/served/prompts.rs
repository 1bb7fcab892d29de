//! A yes belongs to the prompt that a person has seen (101). The control delivers what was typed early to the prompt,
//! as a program does that reads its input ahead.

use std::io;

use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::Gate;
use palyra_testkit::pty::Pty;
use serde_json::json;

use super::early::{EarlyInput, PROMPT, PWNED};
use super::home::{ServedHome, blocking};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Terminals: a name, a variable, and their columns.
const TERMINALS: &[(&str, (&str, &str), u16)] = &[
    ("the prompt at a terminal", ("TERM", "xterm"), 100),
    ("the prompt without colours", ("NO_COLOR", "1"), 100),
    ("the prompt in 40 columns", ("TERM", "xterm"), 40),
    ("the prompt at a dumb terminal", ("TERM", "dumb"), 100),
];

/// Answers to a call of critical risk that repeat nothing of its prompt.
const TOO_LITTLE: &[(&str, &str)] = &[
    ("a letter for a critical call", "y\r"),
    ("a word for a critical call", "yes\r"),
    ("a session's yes for a critical call", "s\r"),
    ("an empty line for a critical call", "\r"),
    ("a word of another prompt for a critical call", "0000\r"),
    ("a letter twice for a critical call", "y\ry\r"),
];

/// Whether what was typed early reaches the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptReaderKind {
    /// The shipped one.
    Shipped,
    /// One that reads ahead.
    Ahead,
}

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let early = EarlyInput::ALL.into_iter().map(|early| {
        let pairs = TERMINALS.iter().map(|(name, ..)| CasePair::new(101, early.variant(), *name)).collect();
        AttackTrial::new(pairs, move |place, pairs| typed_early(early, place, pairs))
    });
    let critical = TOO_LITTLE.iter().map(|&(variant, keys)| {
        let pair = CasePair::new(101, variant, "the word of the prompt");
        AttackTrial::new(vec![pair], move |place, pairs| too_little(keys, place, pairs))
    });
    let inbox =
        ["y\ry\r", "y\ry\ry\r", "y\r\x1b[200~y\r\x1b[201~"].into_iter().enumerate().map(|(at, keys)| {
            let pair = CasePair::new(
                101,
                format!("{} lines for another session's call", at + 2),
                "the inbox's prompt",
            );
            AttackTrial::new(vec![pair], move |place, pairs| for_the_next(keys, place, pairs))
        });
    let chat = CasePair::new(101, "a line before the question", "the prompt of a chat");
    let chat = AttackTrial::new(vec![chat], in_a_chat);
    early.chain(critical).chain(inbox).chain([chat]).collect()
}

fn touched(home: &ServedHome, file: &str) -> Vec<String> {
    if home.work().join(file).exists() { vec![format!("{file} was written")] } else { Vec::new() }
}

async fn both<F>(attempt: F) -> io::Result<Option<(Vec<String>, Vec<String>)>>
where
    F: Fn(PromptReaderKind) -> io::Result<Vec<String>> + Send + 'static,
{
    let both = move || Ok(Some((attempt(PromptReaderKind::Shipped)?, attempt(PromptReaderKind::Ahead)?)));
    blocking(both).await
}

async fn typed_early(early: EarlyInput, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| {
        let place = place.clone();
        both(move |reader| type_early(early, &mechanism, &place, reader))
    })
    .await
}

fn type_early(
    early: EarlyInput,
    terminal: &str,
    place: &TrialContext,
    reader: PromptReaderKind,
) -> io::Result<Vec<String>> {
    let known = TERMINALS.iter().find(|(name, ..)| *name == terminal);
    let &(_, (name, value), columns) = known.ok_or_else(|| io::Error::other("an unknown terminal"))?;
    let gate = Gate::closed();
    let home = ServedHome::with_model(place, early.behaviour(&gate))?.with(name, value);
    let unattended = "@id(\"mine\")\npermit (principal, action == Action::\"execute_unattended\", \
                      resource == Tool::\"run_command\");\n";
    home.write_rule("mine.cedar", unattended)?;
    let mut pty = Pty::spawn(&home.command(&["run", "look around"]), columns);
    early.press(&mut pty, &gate);
    pty.expect("? write_file");
    pty.expect(PROMPT);
    if reader == PromptReaderKind::Shipped && early == EarlyInput::Letter {
        pty.expect_after("\r", PROMPT);
    }
    pty.ended_after(if reader == PromptReaderKind::Shipped { "n\r" } else { "y\r" });
    Ok(touched(&home, PWNED))
}

async fn too_little(keys: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| {
        let place = place.clone();
        both(move |reader| {
            let critical = json!({ "path": ".envrc", "content": "touch pwned" }).to_string();
            let behaviour = Behaviour::each(vec![Reply::empty().call("write_file", &critical)]);
            let home = ServedHome::with_model(&place, behaviour)?;
            let mut pty = Pty::spawn(&home.command(&["run", "look around"]), 100);
            pty.expect("? critical risk: type ");
            let word = pty.expect(" to run it");
            pty.expect(PROMPT);
            if reader == PromptReaderKind::Shipped {
                pty.expect_after(keys, &format!("{word} runs this call"));
                pty.expect("? critical risk: type ");
                pty.expect(PROMPT);
                pty.ended_after("n\r");
            } else {
                pty.ended_after(&format!("{word}\r"));
            }
            Ok(touched(&home, ".envrc"))
        })
    })
    .await
}

/// Answers the first call in the inbox with more lines than one.
async fn for_the_next(keys: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| {
        let place = place.clone();
        both(move |reader| {
            let home = ServedHome::new(&place)?;
            for name in ["a", "b"] {
                home.palyra(&["run", &format!("create {name}.txt with hello")])?.expect(3)?;
            }
            let mut pty = Pty::spawn(&home.command(&["approve"]), 100);
            pty.expect("1 of 2");
            pty.expect(PROMPT);
            pty.expect_after(keys, "2 of 2");
            let second = pty.expect(PROMPT);
            pty.ended_after(if reader == PromptReaderKind::Shipped { "n\r" } else { "y\r" });
            let file = if second.contains("a.txt") { "a.txt" } else { "b.txt" };
            for run in home.palyra(&["runs", "list", "--json"])?.json()? {
                home.palyra(&["runs", "tail", run["run_id"].as_str().unwrap_or_default()])?;
            }
            Ok(touched(&home, file))
        })
    })
    .await
}

async fn in_a_chat(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| {
        let place = place.clone();
        both(move |reader| {
            let gate = Gate::closed();
            let home = ServedHome::with_model(&place, EarlyInput::Line.behaviour(&gate))?;
            let mut pty = Pty::spawn(&home.command(&["chat"]), 100);
            pty.expect("> ");
            pty.type_in("look around\r");
            EarlyInput::Line.press(&mut pty, &gate);
            pty.expect("? write_file");
            pty.expect(PROMPT);
            let (keys, said) =
                if reader == PromptReaderKind::Shipped { ("n\r", "denied") } else { ("y\r", "approved") };
            pty.expect_after(keys, said);
            home.palyra(&["runs", "tail", "last"])?;
            Ok(touched(&home, PWNED))
        })
    })
    .await
}
