//! With what a test daemon is started: its tools, the rules they are under, and what is wrong with them on purpose.
//!
//! Owns the variables by which that reaches the process. Begin at [`TestSettings`].

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use palyra_daemon::{ToolContext, ToolSetup};

use crate::tools::{CountedTools, ToolFlaw};

/// Variable that names the file of effects.
pub const EFFECTS_VARIABLE: &str = "PALYRA_TESTDAEMON_EFFECTS";
const KEYED_VARIABLE: &str = "PALYRA_TESTDAEMON_KEYED";
const RULES_VARIABLE: &str = "PALYRA_TESTDAEMON_RULES";
const FLAW_VARIABLE: &str = "PALYRA_TESTDAEMON_FLAW";
const HEALING_VARIABLE: &str = "PALYRA_TESTDAEMON_HEALING_MS";

/// Lets everything run by itself.
const UNATTENDED: &str = r#"@id("effects-of-a-test")
@reason("a test wants every effect to run by itself")
permit (principal, action == Action::"execute_unattended", resource);
"#;

/// Lets calls of the tools for tests run by themselves unless they want to be asked about; what ships decides the rest.
const ASKING: &str = r#"@id("quiet-effects-of-a-test")
@reason("a test wants this effect to run by itself")
permit (principal, action == Action::"execute_unattended", resource)
when { [Tool::"look", Tool::"act", Tool::"keyed"].contains(resource) && !(context.args has ask && context.args.ask) };

@id("asked-effects-of-a-test")
@reason("a test wants a person to be asked about this effect")
permit (principal, action == Action::"execute", resource == Tool::"act");
"#;

/// Who is asked before an effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rules {
    /// Nobody.
    #[default]
    Unattended,
    /// A person, where the shipped rules ask or the call wants it.
    AskFirst,
}

/// What a test daemon is started with.
#[derive(Debug, Clone, Default)]
pub struct TestSettings {
    /// Where the server is that its keyed tool asks, if there is one.
    pub keyed: Option<String>,
    /// Its rules.
    pub rules: Rules,
    /// What is wrong with its tools.
    pub flaw: Option<ToolFlaw>,
    /// The window of its self-healing, if it is not the usual one.
    pub healing_window: Option<Duration>,
}

impl TestSettings {
    /// Reads what [`Self::variables`] says.
    ///
    /// # Errors
    /// When a variable says nothing that is known.
    pub fn from_environment() -> Result<Self> {
        let said = |name| std::env::var(name).ok();
        let rules = match said(RULES_VARIABLE).as_deref() {
            None => Rules::Unattended,
            Some("asking") => Rules::AskFirst,
            Some(other) => bail!("{RULES_VARIABLE} is {other}"),
        };
        let flaw = match said(FLAW_VARIABLE).as_deref() {
            None => None,
            Some("act-repeats") => Some(ToolFlaw::ActRepeats),
            Some("new-keys") => Some(ToolFlaw::NewKeys),
            Some(other) => bail!("{FLAW_VARIABLE} is {other}"),
        };
        let healing_window = match said(HEALING_VARIABLE) {
            None => None,
            Some(text) => {
                let millis = text.parse().with_context(|| format!("{HEALING_VARIABLE} is {text}"))?;
                Some(Duration::from_millis(millis))
            }
        };
        Ok(Self { keyed: said(KEYED_VARIABLE), rules, flaw, healing_window })
    }

    /// Returns the variables that tell a process of it.
    #[must_use]
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let rules = match self.rules {
            Rules::Unattended => None,
            Rules::AskFirst => Some("asking"),
        };
        let flaw = self.flaw.map(|flaw| match flaw {
            ToolFlaw::ActRepeats => "act-repeats",
            ToolFlaw::NewKeys => "new-keys",
        });
        let words = [(RULES_VARIABLE, rules), (FLAW_VARIABLE, flaw)];
        let words = words.into_iter().filter_map(|(name, word)| Some((name, word?.to_owned())));
        let window = self.healing_window.map(|window| (HEALING_VARIABLE, window.as_millis().to_string()));
        let words = words.chain(window);
        words.chain(self.keyed.iter().map(|address| (KEYED_VARIABLE, address.clone()))).collect()
    }

    /// Returns the tools, whose effects go to `effects` and to the server, with the rules they are under.
    #[must_use]
    pub fn tool_setup(&self, effects: &Path, place: ToolContext<'_>) -> ToolSetup {
        let shipped = ToolSetup::shipped(place);
        let (name, text) = match self.rules {
            Rules::Unattended => ("effects-of-a-test.cedar", UNATTENDED),
            Rules::AskFirst => ("asked-effects-of-a-test.cedar", ASKING),
        };
        let rules = shipped.rules.clone().with_file(name, text);
        let tools = CountedTools::new(effects, self.keyed.as_deref(), self.flaw, Arc::clone(&shipped.tools));
        ToolSetup { tools: Arc::new(tools), rules, ..shipped }
    }
}

/// Returns where a daemon's environment wants the effects of its opaque tool.
///
/// # Errors
/// When it does not say.
pub fn effects_file() -> Result<std::ffi::OsString> {
    std::env::var_os(EFFECTS_VARIABLE).with_context(|| format!("{EFFECTS_VARIABLE} is not set"))
}
