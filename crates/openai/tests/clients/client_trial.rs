//! A client with its daemon and its runs.

use palyra_ports::read_records::{RunFilter, RunQuery};
use palyra_runtime::Caller;
use palyra_runtime::approvals::ApprovalReply;
use palyra_testkit::Script;
use palyra_testkit::scripted_tools::CHANGE;
use palyra_types::PrincipalId;
use palyra_types::approval::{ApprovalDecision, ApprovalRecord, ApprovalState};
use palyra_types::run::{RunPhase, RunRecord, WaitReason};

use crate::client_program::ClientProgram;
use crate::daemon::TestDaemon;

/// What the model says after the call.
pub(crate) const ANSWER: &str = "All is changed.";

/// A client with its daemon, and how many runs it began with a question that a person has to approve.
pub(crate) struct ClientTrial {
    pub(crate) daemon: TestDaemon,
    pub(crate) client: ClientProgram,
    principal: PrincipalId,
    begun: usize,
}

impl ClientTrial {
    pub(crate) async fn python(name: &str) -> Self {
        Self::of(|daemon, token| ClientProgram::python(name, daemon, token)).await
    }

    pub(crate) async fn node(name: &str) -> Self {
        Self::of(|daemon, token| ClientProgram::node(name, daemon, token)).await
    }

    pub(crate) async fn codex() -> Self {
        Self::of(ClientProgram::codex).await
    }

    async fn of(start: impl FnOnce(&TestDaemon, &str) -> ClientProgram) -> Self {
        let daemon = TestDaemon::start().await;
        let (principal, token) = daemon.token("user:alice").await;
        let client = start(&daemon, &token);
        Self { daemon, client, principal, begun: 0 }
    }

    /// Has the client ask for something that a person has to approve.
    pub(crate) async fn ask(&mut self) {
        self.daemon.provider.push(Script::new().call(CHANGE, r#"{"path":"notes.txt"}"#));
        self.daemon.provider.push(Script::new().text(ANSWER));
        self.begun += 1;
        self.client.request().await;
    }

    /// Says yes at the daemon's own socket.
    pub(crate) async fn approve(&self, asked: &ApprovalRecord) {
        let yes = ApprovalReply::plain(ApprovalDecision::Approve);
        let resolved =
            self.daemon.state.waiting.approvals.resolve(self.daemon.owner(), asked.approval, yes).await;
        assert_eq!(resolved.unwrap().record.state, ApprovalState::Approved);
    }

    /// Whose runs the client begins.
    pub(crate) fn caller(&self) -> Caller {
        Caller::at_socket(self.principal)
    }

    /// The runs of the client.
    pub(crate) async fn runs(&self) -> Vec<RunRecord> {
        let query = RunQuery {
            principal: self.principal,
            session: None,
            only: RunFilter::All,
            before: None,
            limit: 100,
        };
        self.daemon.state.runs.list(self.caller(), query, None).await.unwrap().runs
    }

    /// Panics unless each question of the client is one run: `open` of them wait, the others are over with one effect.
    pub(crate) async fn check_runs(&self, open: usize) {
        let runs = self.runs().await;
        assert_eq!(runs.len(), self.begun);
        let waiting = RunPhase::Waiting(WaitReason::Approval);
        assert_eq!(runs.iter().filter(|run| run.phase == waiting).count(), open);
        assert_eq!(self.daemon.tools.executions().len(), self.begun - open);
        assert_eq!(self.daemon.provider.requests().len(), 2 * self.begun - open);
    }
}
