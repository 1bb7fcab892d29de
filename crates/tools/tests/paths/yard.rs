//! A workspace with folders that matter, beside a folder that nothing may reach.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::OnceLock;

use palyra_policy::{CallEvidence, ToolCallPolicySnapshot, ToolPolicyRules, decide_tool_call};
use palyra_ports::{Supervision, ToolRuntime};
use palyra_testkit::GrantRequest;
use palyra_tools::BuiltinTools;
use palyra_types::approval::ApproverPresence;
use palyra_types::run::Surface;
use palyra_types::tool::{CallContext, Isolation, Taints, ToolCall, ToolName, ToolVerdict};
use palyra_types::{AgentId, PrincipalId, Redacted, RunId, SessionId, Timestamp};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// What every call writes, and nothing else holds.
pub(crate) const PAYLOAD: &str = "payload-7c41";

/// The place; gone when dropped.
pub(crate) struct Yard {
    folder: TempDir,
    root: String,
    snapshot: ToolCallPolicySnapshot,
}

/// What policy read in a call.
pub(crate) struct JudgedCall {
    pub(crate) paths: BTreeSet<String>,
    pub(crate) touches: BTreeSet<String>,
    pub(crate) is_denied: bool,
}

impl Yard {
    /// Makes a workspace with folders of git and of the daemon, and links that lead to them and out.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is a folder for files of the moment");
        let base = folder.path().canonicalize().expect("it has a real path");
        let root = base.join("root").to_str().expect("it is UTF-8").to_owned();
        let rules = ToolPolicyRules { own_paths: vec![format!("{root}/own")], ..ToolPolicyRules::shipped() };
        let snapshot = ToolCallPolicySnapshot::compile(BuiltinTools::new().catalog(), rules, |_| [0; 32]);
        fs::create_dir(base.join("root")).expect("a folder can be made");
        fs::create_dir(base.join("outside")).expect("a folder can be made");
        let yard = Self { folder, root, snapshot: snapshot.expect("what ships compiles") };
        yard.reset();
        yard
    }

    /// Takes away what calls made.
    pub(crate) fn reset(&self) {
        let root = Path::new(&self.root);
        fs::remove_dir_all(root).expect("the workspace can be removed");
        for inner in ["a/b", ".git/hooks", "own"] {
            fs::create_dir_all(root.join(inner)).expect("a folder can be made");
        }
        for (to, name) in [(".git", "link"), ("a", "inner"), ("../outside", "out")] {
            symlink(to, root.join(name)).expect("a link can be made");
        }
    }

    pub(crate) fn root_text(&self) -> &str {
        &self.root
    }

    /// Returns what policy reads; `None` where it refuses the arguments before it reads a path.
    pub(crate) fn judge(&self, tool: &str, arguments: &Value) -> Option<JudgedCall> {
        let call = ToolCall {
            tool: ToolName::new(tool),
            arguments: Redacted::cleaned(arguments.to_string()),
            context: nobody(),
        };
        let evidence = CallEvidence { workspace: Some(&self.root), ..CallEvidence::default() };
        let decision = decide_tool_call(&self.snapshot, &call, &evidence);
        let request: Value = serde_json::from_str(decision.request.expose()).ok()?;
        let texts =
            |name: &str| serde_json::from_value(request["context"][name].clone()).expect("a set of texts");
        Some(JudgedCall {
            paths: texts("paths"),
            touches: texts("touches"),
            is_denied: decision.verdict == ToolVerdict::Deny,
        })
    }

    /// Has the tool do what it is asked, whatever policy says of it.
    pub(crate) fn carry_out(&self, tool: &str, arguments: &Value) {
        static TOOLS: OnceLock<(Runtime, BuiltinTools)> = OnceLock::new();
        let (runtime, tools) =
            TOOLS.get_or_init(|| (Runtime::new().expect("a runtime can be started"), BuiltinTools::new()));
        runtime.block_on(async {
            let request = GrantRequest::new(tool, &arguments.to_string(), Path::new(&self.root));
            if let Ok((_, grant)) = request.prepared_by(tools).await {
                let _ = tools.execute(grant, Supervision::default()).await;
            }
        });
    }

    /// Returns the places, from the root, that hold the payload; links are not followed.
    pub(crate) fn made(&self) -> Vec<String> {
        let mut found = Vec::new();
        look_below(Path::new(&self.root), "", &mut found);
        found.sort();
        found
    }

    pub(crate) fn is_outside_untouched(&self) -> bool {
        let outside = self.folder.path().join("outside");
        let beside = fs::read_dir(self.folder.path()).expect("it can be listed").count();
        fs::read_dir(outside).expect("it can be listed").next().is_none() && beside == 2
    }
}

fn look_below(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("it can be listed") {
        let entry = entry.expect("it can be listed");
        let name = entry.file_name().into_string().expect("a model writes UTF-8");
        let kind = entry.file_type().expect("it has a kind");
        let place = format!("{prefix}{name}");
        if kind.is_dir() {
            look_below(&entry.path(), &format!("{place}/"), found);
        } else if kind.is_file() && fs::read_to_string(entry.path()).is_ok_and(|text| text.contains(PAYLOAD))
        {
            found.push(place);
        }
    }
}

fn nobody() -> CallContext {
    CallContext {
        principal: PrincipalId::NIL,
        agent: AgentId::NIL,
        session: SessionId::NIL,
        run: RunId::NIL,
        surface: Surface::LocalSocket,
        approvers: ApproverPresence::Inbox,
        taints: Taints::NONE,
        turns: 0,
        tool_calls: 0,
        now: Timestamp::default(),
        isolation: Isolation::DescriptorRelative,
    }
}
