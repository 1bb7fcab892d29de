//! One runtime put together for a test, and the few verbs that tests need.
//!
//! Invariant: nothing here waits for time, only for events; a test that waits for what never comes is ended
//! by [`soon`]. Begin at [`Rig::start`].

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_policy::{CandidatePolicies, PolicyFile, ToolCallPolicySnapshot, ToolPolicyRules};

use palyra_ports::read_records::{RunFilter, RunQuery, SessionFilter, SessionQuery};
use palyra_ports::redactor::REGISTERED_PLACEHOLDER;
use palyra_ports::{
    AppendTape, CleanedText, Clock, ComponentStore, JournalAppendRequest, MaintainJournal, NewEntry,
    ProjectFiles, ReadTape, Recorder, RedactStream, RedactionFindings, Redactor, RestoreFiles, RestoreOrder,
    SearchMemories, ToolRuntime, WorkspaceChoice, WorkspaceError, Workspaces,
};
use palyra_runtime::gateway;
use palyra_runtime::runs::{CancelReceipt, InputReceipt, InputRequest};
use palyra_runtime::session::{ResolvedSession, SessionSelector, SubmitReceipt, SubmitRequest};
use palyra_runtime::tape::{TapeFollowEvent, TapeFollower};
use palyra_runtime::{
    Caller, GatewayRuntimeConfigSnapshot, GatewayRuntimeState, ModelDirectory, RequestError, RuntimePorts,
};
use palyra_testkit::JournalReads;
use palyra_testkit::{
    FakeClock, FixedEntropy, MemoryJournal, MemorySecrets, MemorySkillFolders, ScriptedProvider,
    ScriptedTools,
};
use palyra_types::access::{Credential, CredentialKind, Role};
use palyra_types::effect::{FileBefore, RawUndoneFile, RestoreImage, UndoResult, UndoneFile};
use palyra_types::event::{JournalEvent, LogEvent, ModelEvent, TapeEvent};
use palyra_types::model::ModelRef;
use palyra_types::run::{RunPhase, RunRecord, UserInput};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::surface::Surface;
use palyra_types::tape::{JournalEventRecord, OrchestratorTapeRecord};
use palyra_types::tool::ToolCatalog;
use palyra_types::{Content, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, TokenId};
use tokio::sync::watch;

use crate::faults::FaultyJournal;

/// A test that waits longer than this waits for what never comes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Turns given to other tasks before the runtime counts as settled.
const SETTLING_TURNS: usize = 512;

/// Waits for an event that must come.
pub(crate) async fn soon<T>(what: &str, event: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, event).await {
        Ok(value) => value,
        Err(_) => panic!("it never happened: {what}"),
    }
}

/// Gives every task its turns; on one thread nothing is under way afterwards but what waits for an event.
pub(crate) async fn settle() {
    for _ in 0..SETTLING_TURNS {
        tokio::task::yield_now().await;
    }
}

/// A runtime with everything a test may turn.
pub(crate) struct Rig {
    pub(crate) gateway: GatewayRuntimeState,
    pub(crate) memory: MemoryJournal,
    pub(crate) faults: FaultyJournal,
    pub(crate) model: ScriptedProvider,
    pub(crate) tools: ScriptedTools,
    pub(crate) restore: ScriptedRestore,
    pub(crate) skills: MemorySkillFolders,
    pub(crate) clock: FakeClock,
    models: watch::Sender<Arc<ModelDirectory>>,
    config: watch::Sender<Arc<GatewayRuntimeConfigSnapshot>>,
    policy: (watch::Sender<Arc<ToolCallPolicySnapshot>>, Arc<ToolCatalog>),
}

/// A runtime about to be started.
pub(crate) struct Parts {
    pub(crate) memory: MemoryJournal,
    pub(crate) model: ScriptedProvider,
    pub(crate) tools: ScriptedTools,
    /// Instead of the scripted tools.
    pub(crate) equipment: Option<Arc<dyn ToolRuntime>>,
    pub(crate) restore: ScriptedRestore,
    pub(crate) components: Arc<dyn ComponentStore>,
    pub(crate) skills: MemorySkillFolders,
    pub(crate) project_files: Arc<dyn ProjectFiles>,
    pub(crate) memories: Arc<dyn SearchMemories>,
    pub(crate) secrets: Arc<MemorySecrets>,
    pub(crate) clock: FakeClock,
    pub(crate) config: GatewayRuntimeConfigSnapshot,
    pub(crate) rules: ToolPolicyRules,
    pub(crate) seed: u64,
}

/// Lets scripted tools that change nothing run unattended, beside the shipped rules.
const LOOKING: &str = r#"@id("looks") @reason("it only looks")
permit (principal, action == Action::"execute_unattended", resource in Contract::"pure");"#;

/// Returns the shipped rules, and what lets scripted tools look.
pub(crate) fn looking() -> ToolPolicyRules {
    ToolPolicyRules::shipped().with_file("looking.cedar", LOOKING)
}

fn compile(catalog: Arc<ToolCatalog>, rules: &ToolPolicyRules) -> Arc<ToolCallPolicySnapshot> {
    let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
    Arc::new(ToolCallPolicySnapshot::compile(catalog, rules.clone(), digest).unwrap())
}

fn compiled(ports: &RuntimePorts, rules: &ToolPolicyRules) -> Arc<ToolCallPolicySnapshot> {
    compile(ports.tools.catalog(), rules)
}

/// Puts files back in word only, and remembers what it was told to.
#[derive(Clone, Default)]
pub(crate) struct ScriptedRestore(Arc<Mutex<Restoring>>);

#[derive(Default)]
struct Restoring {
    orders: Vec<RestoreOrder>,
    results: VecDeque<Option<UndoResult<Content<String>>>>,
}

impl ScriptedRestore {
    /// Returns what was to be put back so far.
    pub(crate) fn orders(&self) -> Vec<RestoreOrder> {
        self.0.lock().unwrap().orders.clone()
    }

    /// Says what becomes of the next file; otherwise each is restored that can be.
    pub(crate) fn says(&self, result: UndoResult<Content<String>>) {
        self.0.lock().unwrap().results.push_back(Some(result));
    }

    /// Panics when the next file is to be put back.
    pub(crate) fn panics(&self) {
        self.0.lock().unwrap().results.push_back(None);
    }
}

impl RestoreFiles for ScriptedRestore {
    fn restore(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<RawUndoneFile>> {
        let mut restoring = self.0.lock().unwrap();
        let mut restored = |file: &RestoreImage| {
            let default = match file.before {
                FileBefore::Withheld { .. } => UndoResult::Withheld,
                FileBefore::Absent | FileBefore::File { .. } => UndoResult::Restored,
            };
            let result = restoring.results.pop_front().unwrap_or(Some(default));
            UndoneFile {
                path: file.path.clone(),
                result: result.unwrap_or(UndoResult::Failed("panic".into())),
            }
        };
        let files: Vec<RawUndoneFile> = order.files.iter().map(&mut restored).collect();
        restoring.orders.push(order);
        drop(restoring);
        let panics = files.iter().any(|file| file.result == UndoResult::Failed("panic".into()));
        async move {
            assert!(!panics, "putting files back panics");
            files
        }
        .boxed()
    }
}

impl Parts {
    pub(crate) fn new() -> Self {
        let clock = FakeClock::new();
        Self {
            memory: MemoryJournal::new(),
            model: ScriptedProvider::new(Arc::new(clock.clone())),
            tools: ScriptedTools::new(),
            equipment: None,
            restore: ScriptedRestore::default(),
            components: Arc::new(palyra_testkit::NoComponents),
            skills: MemorySkillFolders::default(),
            project_files: Arc::new(palyra_ports::NoProjectFiles),
            memories: Arc::new(palyra_testkit::SharedWordSearch),
            secrets: Arc::default(),
            clock,
            config: GatewayRuntimeConfigSnapshot::default(),
            rules: looking(),
            seed: 7,
        }
    }

    pub(crate) async fn start(self) -> Rig {
        let Self {
            memory,
            model,
            tools,
            equipment,
            restore,
            components,
            skills,
            project_files,
            memories,
            secrets,
            clock,
            config,
            rules,
            seed,
        } = self;
        let faults = FaultyJournal::new(memory.clone());
        let default = ModelRef::new("scripted", "scripted");
        let directory = ModelDirectory::new(vec![Arc::new(model.clone())], default, Vec::new());
        let (models_in, models) = watch::channel(Arc::new(directory));
        let (config_in, config) = watch::channel(Arc::new(config));
        let redactor = Arc::new(Touchy);
        let journal = Arc::new(faults.clone());
        let ports = RuntimePorts {
            recorder: Recorder::new(journal, redactor.clone(), Arc::new(clock.clone())),
            tapes: Arc::new(faults.clone()),
            families: Arc::new(faults.clone()),
            maintain: Arc::new(memory.clone()),
            proofs: Arc::new(memory.clone()),
            backups: Arc::new(palyra_ports::NoBackups),
            spare: Arc::new(palyra_ports::NoSpareFiles),
            artifacts: Arc::new(palyra_ports::NoArtifacts),
            notify: Arc::new(palyra_ports::NoTargets),
            erasures: Arc::new(memory.clone()),
            tools: equipment.unwrap_or_else(|| Arc::new(tools.clone())),
            restore: Arc::new(restore.clone()),
            kept: Arc::new(palyra_ports::NoKeptFiles),
            redactor,
            secrets,
            skills: Arc::new(skills.clone()),
            components,
            memories,
            workspaces: Arc::new(WantedOrHome),
            project_files,
            clock: Arc::new(clock.clone()),
            entropy: Arc::new(FixedEntropy::new(seed)),
            models,
        };
        let (policy_in, policy) = watch::channel(compiled(&ports, &rules));
        let catalog = ports.tools.catalog();
        let gateway = gateway::start_with_policy(ports, policy, config).await.unwrap();
        let (models, config, policy) = (models_in, config_in, (policy_in, catalog));
        Rig { gateway, memory, faults, model, tools, restore, skills, clock, models, config, policy }
    }
}

/// A redactor that takes one secret out, and panics at one text.
struct Touchy;

/// The text that makes the redactor panic.
pub(crate) const UNSPEAKABLE: &str = "unspeakable";
/// The text that is a secret.
pub(crate) const SECRET: &str = "canary-secret-61f0";

impl Redactor for Touchy {
    fn ruleset(&self) -> u32 {
        0
    }

    fn redact(&self, text: Content<String>) -> CleanedText {
        speak(text.expose());
        let replaced = u32::try_from(text.expose().matches(SECRET).count()).unwrap();
        let text = Redacted::cleaned(text.expose().replace(SECRET, REGISTERED_PLACEHOLDER));
        CleanedText { text, findings: RedactionFindings { replaced, registered: replaced } }
    }

    fn redact_json(&self, text: Content<String>) -> CleanedText {
        self.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        Box::new(TouchyStream(String::new()))
    }
}

/// Holds back what may become the secret.
struct TouchyStream(String);

impl RedactStream for TouchyStream {
    fn push(&mut self, piece: Content<&str>) -> Redacted<String> {
        speak(piece.expose());
        self.0.push_str(piece.expose());
        let clean = self.0.replace(SECRET, REGISTERED_PLACEHOLDER);
        let held = (1..SECRET.len()).rev().find(|length| clean.ends_with(&SECRET[..*length])).unwrap_or(0);
        let (given, held) = clean.split_at(clean.len() - held);
        let given = Redacted::cleaned(given.to_owned());
        self.0 = held.to_owned();
        given
    }

    fn finish(&mut self) -> Redacted<String> {
        Redacted::cleaned(std::mem::take(&mut self.0))
    }

    fn take_findings(&mut self) -> RedactionFindings {
        RedactionFindings::default()
    }
}

fn speak(text: &str) {
    assert!(text != UNSPEAKABLE, "the redactor panics");
}

/// Gives every run the folder it asks for, else `/home`.
struct WantedOrHome;

impl Workspaces for WantedOrHome {
    fn choose(
        &self,
        wanted: Option<&Content<PathBuf>>,
        _session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        let root = wanted.cloned().unwrap_or_else(|| Content::new(PathBuf::from("/home")));
        Ok(WorkspaceChoice { root, note: None })
    }

    fn look(
        &self,
        wanted: Option<&Content<PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        self.choose(wanted, session)
    }
}

/// Asks for an input in a session, and for nothing else.
pub(crate) fn request(session: SessionSelector, text: &str) -> SubmitRequest {
    SubmitRequest::new(session, UserInput::text(text.into()))
}

/// Selects a session by key.
pub(crate) fn by_key(key: &str) -> SessionSelector {
    SessionSelector { key: Some(key.into()), ..SessionSelector::default() }
}

/// Selects a session by id.
pub(crate) fn by_id(id: SessionId) -> SessionSelector {
    SessionSelector { id: Some(id), ..SessionSelector::default() }
}

impl Rig {
    pub(crate) async fn start() -> Self {
        Parts::new().start().await
    }

    /// Starts another runtime on the same journal, as after a kill: this one is fenced from now on.
    pub(crate) async fn restarted(&self) -> Self {
        Self::on(self.memory.restarted()).await
    }

    /// Starts a runtime on a journal, with a model and tools of its own.
    pub(crate) async fn on(memory: MemoryJournal) -> Self {
        // Another start throws other dice, for ids must not come twice.
        let seed = 1_000_003 + memory.status().entries;
        Parts { memory, seed, ..Parts::new() }.start().await
    }

    pub(crate) fn me(&self) -> Caller {
        Caller::at_socket(self.gateway.admin.access.local_principal())
    }

    /// Another member, in a session of their own.
    pub(crate) fn stranger(&self) -> Caller {
        Self::person(9, Role::Member)
    }

    /// Another owner, in a session of their own.
    pub(crate) fn other_owner(&self) -> Caller {
        Self::person(10, Role::Owner)
    }

    fn person(n: u64, role: Role) -> Caller {
        let (principal, token) = (PrincipalId::from_parts(n, 9), TokenId::from_parts(n, 9));
        let (kind, scopes) = (CredentialKind::PersonSession, role.scopes());
        Caller::with_credential(&Credential { principal, token, kind, scopes }, Surface::Console)
    }

    /// Returns how many commits there were.
    pub(crate) fn memory_commits(&self) -> u64 {
        self.memory.status().commits
    }

    /// Replaces the configuration.
    pub(crate) fn configure(&self, change: impl FnOnce(&mut GatewayRuntimeConfigSnapshot)) {
        self.config.send_modify(|config| change(Arc::make_mut(config)));
    }

    /// Replaces the rules that calls are judged by.
    pub(crate) fn rule(&self, rules: &ToolPolicyRules) {
        let (policy, catalog) = &self.policy;
        policy.send_replace(compile(Arc::clone(catalog), rules));
    }

    /// Replaces the rules that calls are judged by, and tries policies out beside them.
    pub(crate) fn try_out(&self, rules: &ToolPolicyRules, candidate: &str) {
        let (policy, catalog) = &self.policy;
        let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
        let files = [PolicyFile::new("candidate.cedar", candidate)];
        let candidate = CandidatePolicies::compile(&files, catalog, digest).unwrap();
        let snapshot = ToolCallPolicySnapshot::compile(Arc::clone(catalog), rules.clone(), digest).unwrap();
        policy.send_replace(Arc::new(snapshot.beside(Some(Arc::new(candidate)))));
    }

    /// Returns all entries.
    pub(crate) async fn memory_entries(&self) -> Vec<JournalEventRecord> {
        entries_of(&self.memory).await
    }

    /// Replaces all models.
    pub(crate) fn replace_models(&self, directory: ModelDirectory) {
        self.models.send_replace(Arc::new(directory));
    }

    pub(crate) async fn try_submit(
        &self,
        session: SessionSelector,
        text: &str,
    ) -> Result<SubmitReceipt, RequestError> {
        let submitting = self.gateway.sessions.submit(self.me(), request(session, text));
        soon("an answer to a submit", submitting).await
    }

    pub(crate) async fn submit(&self, key: &str, text: &str) -> SubmitReceipt {
        self.try_submit(by_key(key), text).await.unwrap()
    }

    pub(crate) async fn resolve(&self, selector: SessionSelector) -> Result<ResolvedSession, RequestError> {
        soon("an answer to a resolve", self.gateway.sessions.resolve(self.me(), selector, None)).await
    }

    pub(crate) async fn cancel(&self, run: RunId) -> Result<CancelReceipt, RequestError> {
        soon("an answer to a cancel", self.gateway.runs.cancel(self.me(), run)).await
    }

    pub(crate) async fn input(&self, run: RunId, text: &str) -> Result<InputReceipt, RequestError> {
        let sending = self.gateway.runs.send_input(self.me(), run, InputRequest::text(text.into()));
        soon("an answer to an input", sending).await
    }

    /// Lists sessions of the caller.
    pub(crate) async fn sessions(&self, only: SessionFilter) -> Vec<OrchestratorSessionRecord> {
        let principal = self.me().actor.principal;
        let query = SessionQuery { principal, after: None, search: None, only, surface: None, limit: 100 };
        self.gateway.sessions.list(self.me(), query).await.unwrap()
    }

    /// Returns how many runs there are.
    pub(crate) async fn memory_runs(&self) -> usize {
        let principal = self.me().actor.principal;
        let query = RunQuery { principal, session: None, only: RunFilter::All, before: None, limit: 500 };
        self.gateway.runs.list(self.me(), query, None).await.unwrap().runs.len()
    }

    /// Returns the runs that are not over.
    pub(crate) async fn open_runs(&self) -> Vec<RunId> {
        let open = self.memory.open_runs().await.unwrap();
        open.into_iter().map(|record| record.run).collect()
    }

    pub(crate) async fn record(&self, run: RunId) -> RunRecord {
        self.gateway.runs.get(self.me(), run).await.unwrap()
    }

    pub(crate) async fn follow(&self, run: RunId, after: u32) -> TapeFollower {
        self.gateway.tapes.follow(self.me(), run, TapeSeq(after)).await.unwrap()
    }

    /// Follows a run until an entry is as wanted, and returns it.
    pub(crate) async fn until(
        &self,
        run: RunId,
        what: &str,
        wanted: impl Fn(&TapeEvent) -> bool,
    ) -> Arc<OrchestratorTapeRecord> {
        let mut follower = self.follow(run, 0).await;
        let seen = async {
            while let Some(followed) = follower.next().await.unwrap() {
                if let TapeFollowEvent::Entry(entry) = followed
                    && wanted(&entry.event)
                {
                    return entry;
                }
            }
            panic!("the run ended without: {what}");
        };
        soon(what, seen).await
    }

    /// Waits until a run is over, while each pause before a repeated request passes at once; returns its record.
    pub(crate) async fn finished(&self, run: RunId) -> RunRecord {
        let mut follower = self.follow(run, 0).await;
        let over = async {
            while let Some(followed) = follower.next().await.unwrap() {
                if let TapeFollowEvent::Entry(entry) = followed
                    && let TapeEvent::Model(ModelEvent::AttemptAbandoned { retry_at: Some(retry_at), .. }) =
                        &entry.event
                {
                    settle().await;
                    self.clock.advance(retry_at.since(self.clock.wall()));
                }
            }
        };
        soon("the end of a run", over).await;
        let record = self.record(run).await;
        assert_eq!(record.phase, RunPhase::Finished);
        record
    }

    /// Returns a run's whole tape, as the journal has it.
    pub(crate) async fn tape(&self, run: RunId) -> Vec<OrchestratorTapeRecord> {
        tape_of(&self.memory, run).await
    }
}

/// Returns a run's whole tape.
pub(crate) async fn tape_of(memory: &MemoryJournal, run: RunId) -> Vec<OrchestratorTapeRecord> {
    let mut entries: Vec<OrchestratorTapeRecord> = Vec::new();
    loop {
        let after = entries.last().map_or(TapeSeq(0), |entry| entry.tape_seq);
        let page = memory.tape(run, after, 1_000).await.unwrap();
        if page.entries.is_empty() {
            return entries;
        }
        entries.extend(page.entries);
    }
}

/// Follows to the end and returns the entries.
pub(crate) async fn follow_to_end(mut follower: TapeFollower) -> Vec<Arc<OrchestratorTapeRecord>> {
    let all = async {
        let mut entries = Vec::new();
        while let Some(followed) = follower.next().await.unwrap() {
            if let TapeFollowEvent::Entry(entry) = followed {
                entries.push(entry);
            }
        }
        entries
    };
    soon("the end of a tape", all).await
}

/// Returns all entries of a journal.
pub(crate) async fn entries_of(memory: &MemoryJournal) -> Vec<JournalEventRecord> {
    let mut entries: Vec<JournalEventRecord> = Vec::new();
    loop {
        let page = memory.entries(Seq(entries.len() as u64), 1_000).await.unwrap();
        if page.is_empty() {
            return entries;
        }
        entries.extend(page);
    }
}

/// Makes a journal that holds these entries, but for what a journal writes by itself.
pub(crate) async fn journal_of(entries: &[JournalEventRecord]) -> MemoryJournal {
    let memory = MemoryJournal::new();
    for entry in entries {
        let own =
            matches!(entry.event, JournalEvent::Log(LogEvent::Opened { .. } | LogEvent::EpochStarted { .. }));
        if !own {
            let new = NewEntry {
                time: entry.time,
                principal: entry.principal,
                session: entry.session,
                run: entry.run,
                event: entry.event.clone(),
            };
            append(&memory, new).await;
        }
    }
    memory
}

/// Appends one entry, unconditionally.
pub(crate) async fn append(memory: &MemoryJournal, entry: NewEntry) {
    let request = JournalAppendRequest { entries: vec![entry], ..JournalAppendRequest::default() };
    memory.append(request).await.unwrap();
}
