//! What a call that names hosts gets, over a sandbox and a guard that do nothing but remember.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    ConfinedCommand, ConfinedProcess, CredentialUser, EgressContact, EgressContacts, EgressGrant,
    EgressSession, EgressVerdict, GuardEgress, GuardEgressError, NetworkAccess, ProcessSandbox, ProcessTier,
    ProgramEnd, SandboxError, SandboxOffer,
};
use palyra_testkit::FakeClock;
use palyra_types::{EffectId, ErrorCode, PrincipalId, RunId};
use tempfile::TempDir;

use super::{CommandSettings, CommandTools};
use crate::failure::CommandFailure;
use crate::run_command;

#[derive(Clone, Default)]
struct Remembered {
    commands: Arc<Mutex<Vec<ConfinedCommand>>>,
    grants: Arc<Mutex<Vec<EgressGrant>>>,
    stopped: Arc<Mutex<usize>>,
}

struct Sandbox(Remembered, SandboxOffer);

/// It has ended before anybody looks.
struct Over(Option<OwnedFd>);

impl ProcessSandbox for Sandbox {
    fn offer(&self) -> &SandboxOffer {
        &self.1
    }

    fn start(
        &self,
        command: ConfinedCommand,
    ) -> BoxFuture<'static, Result<Box<dyn ConfinedProcess>, SandboxError>> {
        let listener = (command.network == NetworkAccess::Guarded)
            .then(|| TcpListener::bind("127.0.0.1:0").expect("a listener").into());
        self.0.commands.lock().unwrap().push(command);
        async move { Ok(Box::new(Over(listener)) as Box<dyn ConfinedProcess>) }.boxed()
    }
}

impl ConfinedProcess for Over {
    fn take_output(&mut self) -> Option<(OwnedFd, OwnedFd)> {
        None
    }

    fn take_listener(&mut self) -> Option<OwnedFd> {
        self.0.take()
    }

    fn wait(&mut self) -> BoxFuture<'_, ProgramEnd> {
        async { ProgramEnd::Exited { code: 0 } }.boxed()
    }

    fn stop(&mut self) {}
}

impl GuardEgress for Remembered {
    fn serve(
        &self,
        _listener: OwnedFd,
        grant: EgressGrant,
    ) -> Result<Box<dyn EgressSession>, GuardEgressError> {
        self.grants.lock().unwrap().push(grant);
        Ok(Box::new(self.clone()))
    }
}

impl EgressSession for Remembered {
    fn contacts(&self) -> EgressContacts {
        let refused = EgressVerdict::Refused { reason: "it is not among the hosts that were granted" };
        let reached = EgressVerdict::Reached { address: [9, 9, 9, 9].into() };
        let contact = |host: &str, verdict| EgressContact { host: host.to_owned(), port: 443, verdict };
        let (reached, others) = (vec![contact("a.example", reached)], vec![contact("evil.example", refused)]);
        EgressContacts { reached, others, ..EgressContacts::default() }
    }

    fn stop(&mut self) -> BoxFuture<'_, ()> {
        *self.stopped.lock().unwrap() += 1;
        async {}.boxed()
    }
}

struct Bench {
    tools: CommandTools,
    remembered: Remembered,
    folder: TempDir,
    aside: TempDir,
}

fn user() -> CredentialUser {
    CredentialUser {
        principal: PrincipalId::from_parts(1, 1),
        run: RunId::from_parts(1, 2),
        effect: EffectId(3),
    }
}

impl Bench {
    fn new(offer: SandboxOffer) -> Self {
        let remembered = Remembered::default();
        let sandbox = Arc::new(Sandbox(remembered.clone(), offer));
        let guard = Arc::new(remembered.clone());
        let clock = Arc::new(FakeClock::new());
        let aside = tempfile::tempdir().expect("a folder");
        let settings = CommandSettings::new(aside.path().join("kept-aside"));
        let tools = CommandTools::new(settings, sandbox, clock, Some(guard));
        Self { tools, remembered, folder: tempfile::tempdir().expect("a folder"), aside }
    }

    fn prepare(&self, arguments: &str) -> Result<String, CommandFailure> {
        let prepared = run_command::prepare(&self.tools.parts, arguments, self.folder.path(), &[])?;
        Ok(prepared.body.expose().clone())
    }

    async fn run(&self, tool: &str, arguments: &str, plan: &str) -> Result<String, CommandFailure> {
        let mut granted = super::tests::granted(self.folder.path(), tool, arguments, plan);
        granted.used_by = user();
        self.tools.run(&granted).await.map(|made| made.text)
    }
}

fn strong() -> SandboxOffer {
    SandboxOffer { landlock_abi: 7, syscall_filter: true, user_namespaces: true, ..SandboxOffer::default() }
}

const CALL: &str = r#"{"argv":["true"],"hosts":["*.B.example","a.example"],"credentials":["tok@a.example"]}"#;

#[tokio::test]
async fn a_call_that_names_hosts_gets_a_door_to_them_and_no_other() {
    let bench = Bench::new(strong());
    let plan = bench.prepare(CALL).unwrap();
    assert!(plan.contains(r#""hosts":["*.b.example","a.example"]"#), "{plan}");
    let told = bench.run("run_command", CALL, &plan).await.unwrap();
    let line = "network: reached a.example:443; refused evil.example:443: it is not among";
    assert!(told.starts_with(&format!("exit code 0\n{line}")), "{told}");
    let commands = bench.remembered.commands.lock().unwrap();
    assert_eq!((commands[0].network, commands[0].tier), (NetworkAccess::Guarded, ProcessTier::Isolated));
    let variable = |name: &str| {
        commands[0].environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        assert_eq!(variable(name), Some("http://127.0.0.1:3128".into()), "{name}");
    }
    let grants = bench.remembered.grants.lock().unwrap();
    let covers = |host: &str| grants[0].hosts.iter().any(|rule| rule.covers(host, 443));
    assert!(covers("a.example") && covers("c.b.example") && !covers("b.example") && !covers("evil.example"));
    let credential = &grants[0].credentials[0];
    assert_eq!((credential.handle.0.as_str(), credential.host.as_str()), ("tok", "a.example"));
    assert_eq!((credential.port, credential.used_by), (443, Some(user())));
    assert_eq!(*bench.remembered.stopped.lock().unwrap(), 1, "nothing is left of it");
}

#[tokio::test]
async fn a_call_that_names_none_has_no_network() {
    let bench = Bench::new(strong());
    let call = r#"{"argv":["true"]}"#;
    let plan = bench.prepare(call).unwrap();
    assert!(!plan.contains("hosts") && !plan.contains("credentials"), "{plan}");
    assert_eq!(bench.run("run_command", call, &plan).await.unwrap(), "exit code 0");
    // What is kept aside is in a folder of the bench, which goes with it.
    let left = format!("palyra-kept-aside-{}", std::process::id());
    assert!(bench.aside.path().join("kept-aside").exists() && !std::env::temp_dir().join(left).exists());
    let commands = bench.remembered.commands.lock().unwrap();
    assert_eq!(commands[0].network, NetworkAccess::None);
    assert!(!commands[0].environment.iter().any(|(name, _)| name == "HTTP_PROXY"));
    assert!(bench.remembered.grants.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_was_approved_for_other_hosts_is_not_run() {
    let bench = Bench::new(strong());
    let plan = bench.prepare(r#"{"argv":["true"],"hosts":["a.example"]}"#).unwrap();
    for call in [CALL, r#"{"argv":["true"]}"#, r#"{"argv":["true"],"hosts":["a.example","c.example"]}"#] {
        let refused = bench.run("run_command", call, &plan).await;
        assert!(matches!(refused, Err(CommandFailure::Drifted(_))), "{refused:?}");
    }
    assert!(bench.remembered.commands.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_job_tells_whom_it_spoke_to_while_it_runs() {
    let bench = Bench::new(strong());
    let call = r#"{"argv":["true"],"hosts":["a.example"]}"#;
    let plan = bench.prepare(call).unwrap();
    bench.run("start_job", call, &plan).await.unwrap();
    let told = bench.run("tail_job", r#"{"job":"job-1"}"#, "").await.unwrap();
    assert!(told.contains("\nnetwork: reached a.example:443"), "{told}");
}

#[test]
fn without_a_network_of_its_own_a_command_gets_no_door() {
    let weak = SandboxOffer { user_namespaces: false, ..strong() };
    let bench = Bench::new(weak);
    assert!(bench.prepare(r#"{"argv":["true"]}"#).is_ok());
    assert_eq!(bench.prepare(CALL).unwrap_err().code(), ErrorCode::SandboxMissing);
    for call in [
        r#"{"argv":["true"],"hosts":["https://a.example"]}"#,
        r#"{"argv":["true"],"hosts":["127.1"]}"#,
        r#"{"argv":["true"],"credentials":["tok@a.example"]}"#,
    ] {
        assert_eq!(Bench::new(strong()).prepare(call).unwrap_err().code(), ErrorCode::ToolArgumentsInvalid);
    }
}
