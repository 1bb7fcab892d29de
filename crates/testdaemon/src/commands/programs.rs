//! What the run starts, in the order in which the model wants it, and what it leaves behind.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::test_home::TestHome;

pub(super) const RUN: &str = "run_command";
pub(super) const START: &str = "start_job";
pub(super) const STOP: &str = "stop_job";

/// The first program, the one beside the job, and the job.
pub(super) const FIRST: &str = "c1";
pub(super) const BESIDE: &str = "c2";
pub(super) const JOB: &str = "j1";
pub(super) const ALL: [&str; 3] = [FIRST, JOB, BESIDE];
/// The places at which a program says where it is.
pub(super) const STEPS: [&str; 3] = ["began", "counted", "marked"];

/// The pipe on which programs say where they are.
pub(super) const SAID: &str = "said";
/// The file with a line for each time that a program ran.
const COUNTED: &str = "counted";
const SCRIPT: &str = "count.sh";
const TEXT: &str = r#"name=$1
step() {
    printf '%s %s\n' "$name" "$1" > said
    read -r go < "go-$name"
}
step began
printf '%s\n' "$name" >> counted
step counted
: > "marker-$name"
step marked
if [ "$2" = stay ]; then read -r never < "never"; fi
"#;

/// The pipe on which a program hears that it may go on.
pub(super) fn go(name: &str) -> String {
    format!("go-{name}")
}

/// The pipe on which nobody ever says anything.
pub(super) const NEVER: &str = "never";

/// Returns the calls but the last one, which ends the job: tool and arguments.
pub(super) fn calls() -> [(&'static str, Value); 3] {
    [
        (RUN, json!({ "argv": ["sh", SCRIPT, FIRST] })),
        (START, json!({ "argv": ["sh", SCRIPT, JOB, "stay"] })),
        (RUN, json!({ "argv": ["sh", SCRIPT, BESIDE] })),
    ]
}

/// Returns which program a call starts.
pub(super) fn program_of(arguments: &str) -> Option<&'static str> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let name = arguments["argv"][2].as_str()?;
    ALL.into_iter().find(|known| *known == name)
}

/// Puts the programs into a workspace.
pub(super) fn install(house: &TestHome) -> Result<()> {
    fs::write(house.work().join(SCRIPT), TEXT).context("could not write the script")
}

/// Returns how often each program ran.
pub(super) fn counted(house: &TestHome) -> Result<BTreeMap<String, usize>> {
    let text = match fs::read_to_string(house.work().join(COUNTED)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.context("could not read what the programs counted")?,
    };
    let mut counted = BTreeMap::new();
    for line in text.lines() {
        *counted.entry(line.to_owned()).or_default() += 1;
    }
    Ok(counted)
}
