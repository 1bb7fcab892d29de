//! A desk: a workspace, the tools for files, and the policy that ships between them and a model.
//!
//! A call is judged as a daemon judges it and carried out only when nobody has to be asked. The judge looks at the files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use palyra_policy::{
    CallEvidence, PolicyFile, PostureRegistry, ProgramsFound, ToolCallPolicySnapshot, ToolPolicyRules,
    decide_tool_call,
};
use palyra_ports::ToolRuntime;
use palyra_tools::BuiltinTools;
use palyra_types::approval::{
    ApproverPresence, ArgumentRule, ArgumentShape, GrantBounds, GrantScope, StoredGrant, StoredGrantRecord,
};
use palyra_types::posture::Posture;
use palyra_types::run::Surface;
use palyra_types::tool::{CallContext, Isolation, Taints, ToolCall, ToolCatalog, ToolName, ToolVerdict};
use palyra_types::{
    AgentId, ApprovalId, PrincipalId, Redacted, RunId, Seq, SessionId, StoredGrantId, Timestamp,
};
use serde_json::{Value, json};

use crate::calls::call;
use crate::trial_folder::{SECRET, TrialFolder};

/// What a writing tool would put somewhere.
pub(super) const PAYLOAD: &str = "payload-9b2d\n";

/// What a person has let run once and for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandingLeave {
    /// Nothing.
    Nothing,
    /// A grant for everything below the workspace.
    Below,
    /// A grant for whatever path.
    AnyPath,
    /// A standing setting of the tools.
    AlwaysAllow,
    /// A rule that permits everything unattended.
    PermitsAll,
}

impl StandingLeave {
    /// Returns what keeps the attacks on it off.
    pub(super) fn mechanism(self) -> &'static str {
        match self {
            Self::Nothing => "reads that are asked about",
            Self::Below => "grants for a folder",
            Self::AnyPath => "grants for any path",
            Self::AlwaysAllow => "always_allow",
            Self::PermitsAll => "rules that forbid",
        }
    }

    /// Returns the one that a mechanism belongs to.
    pub(super) fn of(mechanism: &str) -> Self {
        let all = [Self::Below, Self::AnyPath, Self::AlwaysAllow, Self::PermitsAll];
        all.into_iter().find(|leave| leave.mechanism() == mechanism).unwrap_or(Self::Nothing)
    }

    fn grants(self, workspace: &Path, tool: &str) -> Vec<StoredGrantRecord> {
        let path = match self {
            Self::Below => ArgumentShape::Beneath(".".into()),
            Self::AnyPath => ArgumentShape::Any,
            Self::Nothing | Self::AlwaysAllow | Self::PermitsAll => return Vec::new(),
        };
        let others = ["content", "patch", "mode"].map(|name| (name, ArgumentShape::Any));
        let rules = [("path", path)].into_iter().chain(others);
        vec![GrantDraft::of(tool, rules).within(workspace).0]
    }
}

/// A stored grant in the making.
pub(crate) struct GrantDraft(pub(crate) StoredGrantRecord);

impl GrantDraft {
    /// Makes one for every session of the person, for version 1 of a tool, and so far for no folder.
    pub(crate) fn of<'r>(tool: &str, rules: impl IntoIterator<Item = (&'r str, ArgumentShape)>) -> Self {
        let rule = |(argument, shape): (&str, ArgumentShape)| ArgumentRule {
            argument: Redacted::cleaned(argument.to_owned()),
            shape,
        };
        let stored = StoredGrant {
            grant: StoredGrantId::from_parts(9, 9),
            principal: context().principal,
            approval: ApprovalId::from_parts(8, 8),
            granted_by: context().principal,
            scope: GrantScope::Principal,
            expires: None,
            uses_max: None,
            tool: Redacted::cleaned(tool.to_owned()),
            matcher: rules.into_iter().map(rule).collect(),
            bounds: GrantBounds { tool_version: Some(1), ..GrantBounds::default() },
        };
        let record = StoredGrantRecord { stored, uses: 0, created: Timestamp(0), revoked: None, seq: Seq(1) };
        Self(record)
    }

    /// The same, given in a workspace.
    pub(crate) fn within(mut self, workspace: &Path) -> Self {
        self.0.stored.bounds.workspace = Some(Redacted::cleaned(workspace.to_owned()));
        self
    }
}

/// Returns where every call comes from.
pub(super) fn context() -> CallContext {
    CallContext {
        principal: PrincipalId::from_parts(1, 1),
        agent: AgentId::from_parts(2, 2),
        session: SessionId::from_parts(3, 3),
        run: RunId::from_parts(4, 4),
        surface: Surface::LocalSocket,
        approvers: ApproverPresence::Inbox,
        taints: Taints::NONE,
        turns: 1,
        tool_calls: 0,
        now: Timestamp(1_700_000_000_000_000),
        isolation: Isolation::DescriptorRelative,
    }
}

/// A call, and what is known beside it.
pub(crate) struct PolicyCase<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Value,
    pub(crate) workspace: &'a Path,
    pub(crate) grants: &'a [StoredGrantRecord],
    pub(crate) programs: ProgramsFound,
}

/// Whether a call starts without a question.
pub(crate) fn is_let_run(snapshot: &ToolCallPolicySnapshot, judged: &PolicyCase<'_>) -> bool {
    let call = ToolCall {
        tool: ToolName::new(judged.tool),
        arguments: Redacted::cleaned(judged.arguments.to_string()),
        context: context(),
    };
    let workspace = judged.workspace.display().to_string();
    let evidence = CallEvidence {
        grants: judged.grants,
        workspace: Some(&workspace),
        programs: judged.programs,
        ..CallEvidence::default()
    };
    decide_tool_call(snapshot, &call, &evidence).verdict == ToolVerdict::Allow
}

/// Compiles the policies that ship for some tools.
pub(crate) fn shipped_for(
    catalog: &Arc<ToolCatalog>,
    change: impl FnOnce(ToolPolicyRules) -> ToolPolicyRules,
) -> io::Result<ToolCallPolicySnapshot> {
    let rules = change(ToolPolicyRules::shipped());
    ToolCallPolicySnapshot::compile(Arc::clone(catalog), rules, |_| [0; 32]).map_err(io::Error::other)
}

/// A rule of a person who wants no questions.
pub(crate) fn permits_all(mut rules: ToolPolicyRules) -> ToolPolicyRules {
    let text = "@id(\"mine\")\npermit (principal, action == Action::\"execute_unattended\", resource);";
    rules.files.push(PolicyFile::new("mine.cedar", text));
    rules
}

fn always_allow(rules: ToolPolicyRules) -> ToolPolicyRules {
    let tools = ["write_file", "edit_file", "apply_patch", "read_file", "search", "glob", "list_dir"];
    let allow = |registry: PostureRegistry, tool| registry.with(&ToolName::new(tool), Posture::AlwaysAllow);
    ToolPolicyRules { postures: tools.into_iter().fold(rules.postures.clone(), allow), ..rules }
}

/// Compiled once: it takes longer than the attacks.
static TOOLS: LazyLock<BuiltinTools> = LazyLock::new(BuiltinTools::new);
static SHIPPED: LazyLock<io::Result<ToolCallPolicySnapshot>> =
    LazyLock::new(|| shipped_for(&TOOLS.catalog(), |rules| rules));
static WITH_SETTINGS: LazyLock<io::Result<ToolCallPolicySnapshot>> =
    LazyLock::new(|| shipped_for(&TOOLS.catalog(), always_allow));
static WITH_MY_RULE: LazyLock<io::Result<ToolCallPolicySnapshot>> =
    LazyLock::new(|| shipped_for(&TOOLS.catalog(), permits_all));

/// The place; gone when dropped.
pub(super) struct PolicyDesk {
    trial_folder: TrialFolder,
    /// Where settings of the daemon lie in the workspace, it has rules of its own.
    own: Option<ToolCallPolicySnapshot>,
    before: Vec<PathBuf>,
}

impl PolicyDesk {
    /// Makes a workspace with a repository's folder, credentials, and plain files beside them.
    pub(super) fn new() -> io::Result<Self> {
        let trial_folder = TrialFolder::new()?;
        for (name, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".env", SECRET),
            ("secrets/db", SECRET),
            (".ssh/id_rsa", SECRET),
            ("deep/er/server.key", SECRET),
            ("plain.txt", "harmless\n"),
        ] {
            write(&trial_folder.work().join(name), text)?;
        }
        let before = all_below(&trial_folder.work());
        Ok(Self { trial_folder, own: None, before })
    }

    /// The same, with the daemon's policies below `palyra`.
    pub(super) fn with_settings() -> io::Result<Self> {
        let mut desk = Self::new()?;
        let own = ["palyra/policies", "palyra/palyra.toml"].map(|name| desk.text(name));
        let rules = |rules| ToolPolicyRules { own_paths: own.to_vec(), ..permits_all(rules) };
        desk.own = Some(shipped_for(&TOOLS.catalog(), rules)?);
        Ok(desk)
    }

    pub(super) fn work(&self) -> PathBuf {
        self.trial_folder.work()
    }

    fn text(&self, name: &str) -> String {
        self.work().join(name).display().to_string()
    }

    /// Puts the workspace where a path has a placeholder.
    pub(super) fn path(&self, path: &str) -> String {
        path.replace("{WORK}", &self.work().display().to_string())
    }

    /// Has a tool called, if nobody has to be asked first; returns what a model would read.
    pub(super) async fn unattended(
        &self,
        leave: StandingLeave,
        tool: &str,
        arguments: &Value,
    ) -> io::Result<String> {
        let snapshot = match (&self.own, leave) {
            (Some(own), _) => own,
            (None, StandingLeave::AlwaysAllow) => known(&WITH_SETTINGS)?,
            (None, StandingLeave::PermitsAll) => known(&WITH_MY_RULE)?,
            (None, StandingLeave::Nothing | StandingLeave::Below | StandingLeave::AnyPath) => {
                known(&SHIPPED)?
            }
        };
        let workspace = self.work();
        let grants = leave.grants(&workspace, tool);
        let programs = ProgramsFound::default();
        let judged = PolicyCase { tool, arguments, workspace: &workspace, grants: &grants, programs };
        if !is_let_run(snapshot, &judged) {
            return Ok("it is asked about or denied".to_owned());
        }
        Ok(call(&*TOOLS, tool, arguments, &workspace).await.text)
    }

    /// Whether plain work is done without a question: else nothing is proved by what is not.
    pub(super) async fn works(&self, leave: StandingLeave) -> io::Result<()> {
        let arguments = json!({ "path": "docs/plain.md", "content": PAYLOAD });
        let said = self.unattended(leave, "write_file", &arguments).await?;
        let made = self.work().join("docs/plain.md");
        if !made.exists() {
            return Err(io::Error::other(format!("a plain file is not written: {said}")));
        }
        fs::remove_file(made)
    }

    /// Writes as plain code does.
    pub(super) fn write_plainly(&self, path: &str) -> io::Result<()> {
        write(&self.work().join(path), PAYLOAD)
    }

    /// Says which files are there that were not.
    pub(super) fn appeared(&self) -> Vec<String> {
        let now = all_below(&self.work()).into_iter();
        now.filter(|path| !self.before.contains(path)).map(|path| format!("{path:?} is there")).collect()
    }
}

fn known(
    snapshot: &'static LazyLock<io::Result<ToolCallPolicySnapshot>>,
) -> io::Result<&'static ToolCallPolicySnapshot> {
    (**snapshot).as_ref().map_err(|error| io::Error::other(error.to_string()))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)
}

fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(all_below(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}
