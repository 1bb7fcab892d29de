//! Words that would steer the terminal of the person who is asked (23).

use std::fs;
use std::io;

use serde_json::json;

use super::yard::ShellYard;
use crate::calls::call;
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// What no terminal and no reader may get as it is.
const SIGNS: &[(&str, &str)] = &[
    ("a cleared screen", "\u{1b}[2J\u{1b}[H"),
    ("a written clipboard", "\u{1b}]52;c;ZXZpbA==\u{7}"),
    ("a title", "\u{1b}]0;evil\u{7}"),
    ("a hyperlink", "\u{1b}]8;;http://evil\u{1b}\\harmless\u{1b}]8;;\u{1b}\\"),
    ("an answer of the terminal", "\u{1b}[6n"),
    ("a control of one byte", "\u{9b}2J"),
    ("a return of the carriage", "evil\rgood"),
    ("a backspace", "evil\u{8}\u{8}\u{8}\u{8}good"),
    ("a line of its own", "x\nnetwork     full"),
    ("a reversed direction", "\u{202e}gnp.exe"),
    ("an isolated direction", "\u{2067}evil\u{2069}"),
    ("letters that nobody sees", "e\u{200b}v\u{2060}il"),
    ("tags that nobody sees", "a\u{e0041}\u{e0042}"),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trials = SIGNS.iter().flat_map(|&(variant, signs)| {
        [CanaryPosition::Word, CanaryPosition::Folder, CanaryPosition::Script].map(|place| {
            let pair = CasePair::new(23, format!("{variant}, {}", place.name()), "what run_command shows");
            AttackTrial::new(vec![pair], move |at, pairs| shown(place, signs, at, pairs))
        })
    });
    trials.collect()
}

#[derive(Debug, Clone, Copy)]
enum CanaryPosition {
    Word,
    Folder,
    Script,
}

impl CanaryPosition {
    fn name(self) -> &'static str {
        match self {
            Self::Word => "in a word",
            Self::Folder => "in the name of a folder",
            Self::Script => "in the name of a script",
        }
    }
}

async fn shown(
    at: CanaryPosition,
    signs: &'static str,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    let raw = |text: &str| {
        if text.contains(signs) { vec!["a person would get them as they are".to_owned()] } else { Vec::new() }
    };
    run_attempts(pairs, place.half, |_| async {
        let yard = ShellYard::new()?;
        let name = signs.replace('/', "-");
        if name != signs && !matches!(at, CanaryPosition::Word) {
            // No file is called that.
            return Ok(None);
        }
        let arguments = match at {
            CanaryPosition::Word => json!({ "argv": ["echo", signs] }),
            CanaryPosition::Folder => {
                fs::create_dir(yard.work().join(&name))?;
                json!({ "argv": ["echo"], "cwd": name })
            }
            CanaryPosition::Script => {
                yard.write(&name, "echo hello\n")?;
                json!({ "argv": ["sh", name] })
            }
        };
        let outcome = call(&yard.tools(&place.sandbox), "run_command", &arguments, &yard.work()).await;
        if outcome.shown.is_empty() {
            return Err(io::Error::other(outcome.text));
        }
        // The control prints what it was asked for, as most do.
        let said = format!(
            "run {}",
            arguments["argv"]
                .as_array()
                .map_or("", |argv| argv.last().and_then(|word| word.as_str()).unwrap_or_default())
        );
        let said = format!("{said} in {}", arguments["cwd"].as_str().unwrap_or_default());
        Ok(Some((raw(&outcome.shown), raw(&said))))
    })
    .await
}
