//! What commands, jobs and git do, over a sandbox that holds nothing: how strongly programs are held is shown where
//! they are held.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    ConfinedCommand, ConfinedProcess, HearOutput, OutputSink, ProcessSandbox, ProgramEnd, SandboxError,
    SandboxOffer, Supervision,
};
use palyra_testkit::{FakeClock, GrantRequest};
use palyra_tool_kit::{ToolInvocation, ToolResult, conclude};
use palyra_types::tool::EffectContract;
use palyra_types::{ErrorCode, SessionId};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::{CommandTools, TOOLS};
use crate::call::{CommandParts, printed_bytes_max};
use crate::failure::CommandFailure;
use crate::run_command;
use crate::settings::CommandSettings;

/// Starts programs as they are, and remembers what it was asked.
struct Unheld {
    offer: SandboxOffer,
    asked: Arc<Mutex<Vec<ConfinedCommand>>>,
}

struct Plain {
    child: Child,
}

impl ProcessSandbox for Unheld {
    fn offer(&self) -> &SandboxOffer {
        &self.offer
    }

    fn start(
        &self,
        command: ConfinedCommand,
    ) -> BoxFuture<'static, Result<Box<dyn ConfinedProcess>, SandboxError>> {
        self.asked.lock().unwrap().push(command.clone());
        async move {
            let mut plain = Command::new(&command.program);
            plain
                .args(&command.arguments[1..])
                .env_clear()
                .envs(command.environment)
                .current_dir(&command.directory)
                .kill_on_drop(true);
            let child = plain.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let failed = |error: std::io::Error| SandboxError::NotStarted {
                program: command.program.display().to_string(),
                cause: error.to_string(),
            };
            Ok(Box::new(Plain { child: child.map_err(failed)? }) as Box<dyn ConfinedProcess>)
        }
        .boxed()
    }
}

impl ConfinedProcess for Plain {
    fn take_output(&mut self) -> Option<(OwnedFd, OwnedFd)> {
        let (output, errors) = (self.child.stdout.take()?, self.child.stderr.take()?);
        Some((output.into_owned_fd().ok()?, errors.into_owned_fd().ok()?))
    }

    fn take_listener(&mut self) -> Option<OwnedFd> {
        None
    }

    fn wait(&mut self) -> BoxFuture<'_, ProgramEnd> {
        async move {
            match self.child.wait().await.expect("its end").code() {
                Some(code) => ProgramEnd::Exited { code },
                None => ProgramEnd::Stopped,
            }
        }
        .boxed()
    }

    fn stop(&mut self) {
        let _ = self.child.start_kill();
    }
}

pub(super) struct Bench {
    pub(super) tools: CommandTools,
    clock: FakeClock,
    folder: TempDir,
    aside: TempDir,
    pub(super) asked: Arc<Mutex<Vec<ConfinedCommand>>>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let offer = SandboxOffer {
            landlock_abi: 7,
            syscall_filter: true,
            user_namespaces: true,
            ..SandboxOffer::default()
        };
        Self::with(offer)
    }

    fn with(offer: SandboxOffer) -> Self {
        let (clock, asked) = (FakeClock::new(), Arc::new(Mutex::new(Vec::new())));
        let sandbox = Arc::new(Unheld { offer, asked: Arc::clone(&asked) });
        let aside = tempfile::tempdir().expect("a folder");
        let settings = CommandSettings::new(aside.path().join("kept-aside"));
        let tools = CommandTools::new(settings, sandbox, Arc::new(clock.clone()), None);
        Self { tools, clock, folder: tempfile::tempdir().expect("a folder"), aside, asked }
    }

    /// Returns the contents of what was kept aside.
    pub(super) fn kept_aside(&self) -> Vec<PathBuf> {
        let folders = |path: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(path)
                .map_or(Vec::new(), |found| found.flatten().map(|one| one.path()).collect())
        };
        let programs = folders(&self.aside.path().join("kept-aside"));
        let items = programs.iter().flat_map(|program| folders(program));
        items.filter(|path| path.extension().is_none()).collect()
    }

    /// Makes the tools anew with other settings.
    pub(super) fn set(&mut self, change: impl FnOnce(&mut CommandSettings)) {
        let CommandParts { settings, sandbox, clock, guard, jobs, tapes } = &*self.tools.parts;
        let mut settings = settings.clone();
        change(&mut settings);
        let (sandbox, clock, guard) = (Arc::clone(sandbox), Arc::clone(clock), guard.clone());
        let parts =
            CommandParts { settings, sandbox, clock, guard, jobs: jobs.clone(), tapes: tapes.clone() };
        self.tools = CommandTools::of(parts);
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder")
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.root().join(name), text).expect("a file");
    }

    pub(super) fn prepare(&self, arguments: &str) -> Result<palyra_ports::PreparedCall, CommandFailure> {
        run_command::prepare(&self.tools.parts, arguments, &self.root(), &[])
    }

    pub(super) fn granted(&self, tool: &str, arguments: &str, plan: &str) -> ToolInvocation {
        granted(&self.root(), tool, arguments, plan)
    }

    pub(super) async fn execute(&self, invocation: &ToolInvocation) -> Result<ToolResult, CommandFailure> {
        self.tools.run(invocation).await
    }

    pub(super) async fn run(&self, tool: &str, arguments: &str) -> Result<ToolResult, CommandFailure> {
        let plan = match tool {
            "run_command" | "start_job" => self.prepare(arguments)?.body.expose().clone(),
            _ => String::new(),
        };
        self.execute(&self.granted(tool, arguments, &plan)).await
    }
}

impl CommandTools {
    /// Runs a call as its tool does, without the kit around it.
    pub(super) async fn run(&self, invocation: &ToolInvocation) -> Result<ToolResult, CommandFailure> {
        let row = TOOLS.iter().find(|row| (row.spec)().name == invocation.tool).expect("a tool");
        (row.run)(&self.parts, invocation).await
    }
}

/// Returns an invocation with 4 KiB of room.
pub(crate) fn granted(root: &Path, tool: &str, arguments: &str, plan: &str) -> ToolInvocation {
    let grant = GrantRequest::new(tool, arguments, root).output_bytes_max(4096).grant();
    let mut invocation = ToolInvocation::of(&grant, Supervision::default());
    plan.clone_into(&mut invocation.plan);
    invocation
}

#[test]
fn every_argument_declares_what_it_names() {
    for tool in palyra_ports::ToolRuntime::catalog(&Bench::new().tools).iter() {
        let undeclared = palyra_types::argument_meaning::undeclared_properties(&tool.schema);
        assert!(undeclared.is_empty(), "{}: say with `x-palyra-meaning` what {undeclared:?} name", tool.name);
    }
}

#[tokio::test]
async fn a_command_says_what_it_printed_and_how_it_ended() {
    let bench = Bench::new();
    let made =
        bench.run("run_command", r#"{"argv":["sh","-c","echo out; echo err >&2"]}"#).await.expect("it ran");
    assert_eq!(made.failure, None);
    assert!(made.text.starts_with("exit code 0\n\n"), "{}", made.text);
    assert!(made.text.contains("out\n") && made.text.contains("err\n"), "{}", made.text);
    let made = bench.run("run_command", r#"{"argv":["sh","-c","exit 3"]}"#).await.expect("it ran");
    assert_eq!((made.text.as_str(), made.failure), ("exit code 3", Some(ErrorCode::CommandFailed)));
}

#[tokio::test]
async fn a_result_that_left_out_a_little_says_so_in_its_size() {
    let bench = Bench::new();
    let kept = printed_bytes_max(&bench.granted("run_command", "", ""));
    for (printed, is_cut) in [(kept, false), (kept + 1, true)] {
        let arguments = format!(r#"{{"argv":["head","-c","{printed}","/dev/zero"]}}"#);
        let made = bench.run("run_command", &arguments).await.expect("it ran");
        assert_eq!(made.text.contains("read_output goes on"), is_cut, "{printed}");
        assert_eq!(made.bytes_total > made.text.len() as u64, is_cut, "{printed}");
    }
}

/// Hears what is printed.
struct Ear(tokio::sync::mpsc::UnboundedSender<Vec<u8>>);

impl HearOutput for Ear {
    fn hear(&self, bytes: &[u8]) {
        self.0.send(bytes.to_vec()).expect("the test listens");
    }
}

#[tokio::test]
async fn what_a_command_prints_is_heard_while_it_runs() {
    let bench = Bench::new();
    let arguments =
        r#"{"argv":["sh","-c","echo one; while [ ! -e go ]; do sleep 0.01; done; echo two >&2"]}"#;
    let plan = bench.prepare(arguments).expect("a plan").body.expose().clone();
    let mut granted = bench.granted("run_command", arguments, &plan);
    let (ear, mut heard) = tokio::sync::mpsc::unbounded_channel();
    granted.supervision.output = OutputSink::new(Arc::new(Ear(ear)));
    let tools = bench.tools.clone();
    let run = tokio::spawn(async move { tools.run(&granted).await });
    assert_eq!(heard.recv().await.as_deref(), Some(&b"one\n"[..]));
    assert!(!run.is_finished(), "it waits for the file");
    bench.write("go", "");
    assert_eq!(heard.recv().await.as_deref(), Some(&b"two\n"[..]));
    let made = run.await.expect("it ends").expect("it ran");
    assert_eq!(made.text, "exit code 0\n\none\ntwo\n");
    assert_eq!(heard.recv().await, None, "that was all");
}

#[tokio::test]
async fn the_exit_code_of_a_pipe_is_said_to_be_of_its_last_program() {
    let bench = Bench::new();
    let run = async |line: &str| {
        let arguments = serde_json::json!({"argv": ["sh", "-c", line]}).to_string();
        bench.run("run_command", &arguments).await.expect("it ran").text
    };
    assert_eq!(run("false | cat").await, "exit code 0 (of `cat`, the last program of the pipe)");
    // The control: a line whose code another program can decide.
    assert_eq!(run("true; echo a").await, "exit code 0\n\na\n");
}

#[test]
fn a_program_without_a_folder_is_said_to_be_found_by_the_path_of_commands() {
    let bench = Bench::new();
    let program = |arguments: &str| {
        let shown = bench.prepare(arguments).expect("a plan").preview.expose().clone();
        shown.lines().find(|line| line.starts_with("program ")).expect("a line").to_owned()
    };
    let found = "; found by the PATH of commands, not by your shell's)";
    assert!(program(r#"{"argv":["true"]}"#).ends_with(found));
    // The control: a program that is named with its folder.
    assert!(!program(r#"{"argv":["/bin/true"]}"#).contains("found by"));
}

#[tokio::test]
async fn the_words_reach_the_program_as_they_are() {
    let bench = Bench::new();
    let made = bench
        .run("run_command", r#"{"argv":["printf","%s|","a b","$HOME","*",";","`id`"]}"#)
        .await
        .expect("it ran");
    assert_eq!(made.text, "exit code 0\n\na b|$HOME|*|;|`id`|");
}

#[tokio::test]
async fn nothing_of_the_daemons_environment_is_passed_on() {
    let bench = Bench::new();
    let made = bench.run("run_command", r#"{"argv":["env"]}"#).await.expect("it ran");
    let names: Vec<&str> = made.text.lines().skip(2).filter_map(|line| line.split('=').next()).collect();
    let allowed: Vec<String> =
        CommandSettings::new(PathBuf::new()).environment.into_iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| allowed.iter().any(|known| known == name)), "{names:?}");
}

#[tokio::test]
async fn a_script_that_changed_after_it_was_looked_at_is_not_run() {
    let bench = Bench::new();
    for (argv, file) in
        [(r#"{"argv":["sh","a.sh"]}"#, "a.sh"), (r#"{"argv":["python3","-u","a.py"]}"#, "a.py")]
    {
        bench.write(file, "print('one')");
        let plan = bench.prepare(argv).expect("a plan").body.expose().clone();
        bench.write(file, "print('two')");
        let refused = bench.execute(&bench.granted("run_command", argv, &plan)).await;
        assert!(matches!(refused, Err(CommandFailure::Drifted(_))), "{refused:?}");
        assert!(bench.asked.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_program_of_the_workspace_is_run_from_what_was_read() {
    let bench = Bench::new();
    bench.write("tool", "#!/bin/sh\necho here\n");
    std::fs::set_permissions(bench.root().join("tool"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("mode");
    let made = bench.run("run_command", r#"{"argv":["./tool"]}"#).await.expect("it ran");
    assert_eq!(made.text, "exit code 0\n\nhere\n");
    let asked = bench.asked.lock().unwrap();
    assert_eq!(
        asked[0].sealed.iter().map(|file| file.path.clone()).collect::<Vec<_>>(),
        [bench.root().join("tool")]
    );
}

#[tokio::test]
async fn programs_and_folders_outside_are_refused() {
    let bench = Bench::new();
    let outside = tempfile::tempdir().expect("a folder");
    let program = outside.path().join("evil");
    std::fs::write(&program, "#!/bin/sh\n").expect("a program");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
    std::os::unix::fs::symlink(&program, bench.root().join("link")).expect("a link");
    std::os::unix::fs::symlink(outside.path(), bench.root().join("dir")).expect("a link");
    for arguments in [
        format!(r#"{{"argv":["{}"]}}"#, program.display()),
        r#"{"argv":["./link"]}"#.to_owned(),
        r#"{"argv":["ls"],"cwd":"dir"}"#.to_owned(),
        r#"{"argv":["ls"],"cwd":".."}"#.to_owned(),
    ] {
        let refused = bench.prepare(&arguments);
        assert!(matches!(refused, Err(CommandFailure::PathRefused(_))), "{arguments} {refused:?}");
    }
    assert!(matches!(bench.prepare(r#"{"argv":["no-such-program"]}"#), Err(CommandFailure::NotFound(_))));
}

#[tokio::test]
async fn a_shadow_in_the_workspace_is_not_found_by_name() {
    let bench = Bench::new();
    bench.write("ls", "#!/bin/sh\necho shadow\n");
    std::fs::set_permissions(bench.root().join("ls"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("mode");
    let made = bench.run("run_command", r#"{"argv":["ls"]}"#).await.expect("it ran");
    assert_eq!(made.text, "exit code 0\n\nls\n");
}

#[tokio::test]
async fn a_host_without_a_mechanism_refuses_with_its_name() {
    let bench = Bench::with(SandboxOffer::default());
    let refused = bench.prepare(r#"{"argv":["ls"]}"#).expect_err("it is refused");
    assert_eq!(refused.code(), ErrorCode::SandboxMissing);
    assert!(refused.to_string().contains("Landlock"), "{refused}");
}

#[tokio::test]
async fn a_command_ends_when_its_time_is_over_or_nobody_wants_it() {
    let bench = Bench::new();
    let arguments = r#"{"argv":["sleep","1000"],"timeout_secs":5}"#;
    let plan = bench.prepare(arguments).expect("a plan").body.expose().clone();
    let granted = bench.granted("run_command", arguments, &plan);
    let (tools, clock) = (bench.tools.clone(), bench.clock.clone());
    let run = tokio::spawn(async move { tools.run(&granted).await });
    while clock.next_deadline().is_none() {
        tokio::task::yield_now().await;
    }
    clock.advance(Duration::from_secs(5));
    let made = run.await.expect("it ends").expect("it ran");
    assert_eq!(made.failure, Some(ErrorCode::ToolTimedOut));

    let granted = bench.granted("run_command", arguments, &plan);
    let (tools, cancel) = (bench.tools.clone(), granted.supervision.cancel.clone());
    let asked = Arc::clone(&bench.asked);
    let run = tokio::spawn(async move { tools.run(&granted).await });
    while asked.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    let made = run.await.expect("it ends").expect("it ran");
    assert_eq!(made.failure, Some(ErrorCode::ToolCancelled));
}

#[tokio::test]
async fn a_job_goes_on_is_looked_at_and_ended() {
    let bench = Bench::new();
    let started = bench
        .run("start_job", r#"{"argv":["sh","-c","echo begun; exec sleep 1000"]}"#)
        .await
        .expect("it started");
    assert!(started.text.contains("job-1"), "{}", started.text);
    let seen = loop {
        let seen = bench.run("tail_job", r#"{"job":"job-1"}"#).await.expect("a look").text;
        if seen.contains("begun") {
            break seen;
        }
        tokio::task::yield_now().await;
    };
    assert!(seen.starts_with("still running"), "{seen}");
    let ended = bench.run("stop_job", r#"{"job":"job-1"}"#).await.expect("it ends");
    assert!(ended.text.starts_with("ended"), "{}", ended.text);
    let unknown = bench.run("tail_job", r#"{"job":"job-2"}"#).await;
    assert_eq!(unknown.expect_err("there is none").code(), ErrorCode::JobUnknown);
}

#[tokio::test]
async fn a_look_at_a_job_is_no_longer_than_it_may_be_and_loses_nothing() {
    let bench = Bench::new();
    let script = r#"{"argv":["sh","-c","seq 1 4000; printf '\\377%.0s' $(seq 1 4000); exec sleep 1000"]}"#;
    bench.run("start_job", script).await.expect("it started");
    let look = async |arguments: &str| bench.run("tail_job", arguments).await.expect("a look").text;
    let mut seen = String::new();
    let wanted: String =
        (1..=4000).map(|number| format!("{number}\n")).chain(["\u{fffd}".repeat(4000)]).collect();
    while seen.len() < wanted.len() {
        let text = look(r#"{"job":"job-1"}"#).await;
        assert!(text.len() <= 4096, "{}", text.len());
        if let Some((told, printed)) = text.split_once("\n\n") {
            let from: u64 =
                told.split(' ').nth(3).and_then(|from| from.parse().ok()).expect("where it begins");
            // As one does whose answer was lost.
            let again = look(&format!(r#"{{"job":"job-1","from":{from}}}"#)).await;
            assert!(again.split_once("\n\n").is_some_and(|(_, again)| again.starts_with(printed)), "{again}");
            seen.push_str(again.split_once("\n\n").expect("it printed").1);
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(seen, wanted);
    // One that was cancelled takes nothing.
    let granted = bench.granted("tail_job", r#"{"job":"job-1"}"#, "");
    granted.supervision.cancel.cancel();
    assert_eq!(bench.execute(&granted).await, Err(CommandFailure::Cancelled));
}

#[tokio::test]
async fn what_a_command_says_is_no_longer_than_it_may_be() {
    let bench = Bench::new();
    let script = r#"{"argv":["sh","-c","printf '\\377%.0s' $(seq 1 4000)"]}"#;
    let made = bench.run("run_command", script).await.expect("it ran");
    assert!(made.text.len() > 4096, "the control: what is not text takes more room");
    let invocation = bench.granted("run_command", script, "");
    let outcome = conclude(EffectContract::Opaque, &invocation, Ok(made)).expect("it ran");
    let text = outcome.output.expose();
    assert!(text.len() <= 4096 && text.starts_with("exit code 0\n"), "{}", text.len());
}

#[tokio::test]
async fn more_words_than_a_program_is_given_are_refused_before_anybody_is_asked() {
    let bench = Bench::new();
    let words = |count: usize| serde_json::json!({ "argv": vec!["x".repeat(16_000); count] }).to_string();
    let refused = bench.prepare(&words(8)).expect_err("it is refused");
    assert_eq!(refused.code(), ErrorCode::ToolArgumentsInvalid, "{refused}");
    assert!(refused.to_string().contains("put the rest into a file"), "{refused}");
    assert!(matches!(bench.prepare(&words(7)), Err(CommandFailure::NotFound(_))));
}

#[tokio::test]
async fn a_program_too_large_to_be_looked_at_is_refused_not_looked_at_in_part() {
    let (mut bench, tools) = (Bench::new(), tempfile::tempdir().expect("a folder"));
    bench.set(|settings| settings.readable = vec![tools.path().to_owned()]);
    let program = tools.path().join("tool");
    let file = std::fs::File::create(&program).expect("a program");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
    let arguments = format!(r#"{{"argv":["{}"]}}"#, program.display());
    file.set_len(1 << 20).expect("its length");
    bench.prepare(&arguments).expect("it fits");
    file.set_len((512 << 20) + 1).expect("its length");
    let refused = bench.prepare(&arguments).expect_err("it is refused");
    assert!(refused.to_string().contains("too large"), "{refused}");
}

#[tokio::test]
async fn jobs_belong_to_their_session_and_are_counted() {
    let bench = Bench::new();
    for _ in 0..crate::job_table::JOBS_MAX {
        bench.run("start_job", r#"{"argv":["sleep","1000"]}"#).await.expect("it started");
    }
    let refused = bench.run("start_job", r#"{"argv":["sleep","1000"]}"#).await;
    assert!(matches!(refused, Err(CommandFailure::TooMany(_))), "{refused:?}");
    let mut stranger = bench.granted("tail_job", r#"{"job":"job-1"}"#, "");
    stranger.session = SessionId::from_parts(1, 9);
    assert!(matches!(bench.execute(&stranger).await, Err(CommandFailure::JobUnknown(_))));
}

#[tokio::test]
async fn git_tells_of_the_workspace_and_may_not_write() {
    let bench = Bench::new();
    bench.write("a.txt", "text\n");
    init(&bench.root());
    let made = bench.run("git", r#"{"subcommand":"status","options":["--short"]}"#).await.expect("it ran");
    assert!(made.text.contains("?? a.txt"), "{}", made.text);
    let asked = bench.asked.lock().unwrap().last().expect("a command").clone();
    assert_eq!(asked.access, palyra_ports::WorkspaceAccess::Read);
    let refused = bench.run("git", r#"{"subcommand":"diff","options":["--output=x"]}"#).await;
    assert!(matches!(refused, Err(CommandFailure::Arguments(_))));
}

fn init(folder: &Path) {
    let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(folder).status();
    assert!(made.expect("git runs").success());
}

/// Prepares a command, changes a file, and says whether that changed what the plan is bound to.
fn notices(bench: &Bench, argv: &[&str], file: &str) -> bool {
    let arguments = serde_json::json!({ "argv": argv }).to_string();
    let body = || bench.prepare(&arguments).expect("a plan").body.expose().clone();
    bench.write(file, "one");
    let before = body();
    bench.write(file, "two");
    before != body()
}

#[tokio::test]
async fn every_file_that_a_command_names_is_bound_wherever_it_stands() {
    let bench = Bench::new();
    for folder in ["sub", "pack"] {
        std::fs::create_dir(bench.root().join(folder)).expect("a folder");
    }
    for (argv, file) in [
        (&["python3", "-X", "dev", "x.py"][..], "x.py"),
        (&["bash", "-o", "pipefail", "x.sh"], "x.sh"),
        (&["bash", "-O", "extglob", "x.sh"], "x.sh"),
        (&["env", "A=1", "./x.sh"], "x.sh"),
        (&["nice", "-n", "5", "./x.sh"], "x.sh"),
        (&["timeout", "9", "./x.sh"], "x.sh"),
        (&["xargs", "-a", "list", "./x.sh"], "x.sh"),
        (&["python3", "-m", "mod"], "mod.py"),
        (&["python3", "-m", "pack"], "pack/__main__.py"),
        (&["python3", "-m", "pack.inner"], "pack/inner.py"),
        (&["python3", "pack"], "pack/__main__.py"),
        (&["find", ".", "-exec", "./x.sh", ";"], "x.sh"),
        (&["tar", "cf", "/dev/null", "--checkpoint-action=exec=sh x.sh", "."], "x.sh"),
        (&["perl", "-w", "x.pl"], "x.pl"),
        (&["sh", "-c", "cd sub && ./x.sh"], "sub/x.sh"),
        (&["sed", "-fx.sed", "a.txt"], "x.sed"),
        (&["make", "-sfrules", "x"], "rules"),
        (&["make", "-sCsub", "-frules", "x"], "sub/rules"),
        (&["python3", "-Bm", "pack.inner"], "pack/inner.py"),
        (&["python3", "-mpack.inner"], "pack/inner.py"),
        (&["python3", "-Bmmod"], "mod.py"),
        (&["awk", "-f", "x.awk", "a.txt"], "x.awk"),
        (&["env", "-C", "sub", "./x.sh"], "sub/x.sh"),
        (&["sort", "--compress-program=./x.sh", "a.txt"], "x.sh"),
        (&["cat", "a.txt"], "a.txt"),
    ] {
        assert!(notices(&bench, argv, file), "{argv:?} {file}");
        // The control: a file that it does not name.
        assert!(!notices(&bench, argv, "other.txt"), "{argv:?}");
    }
}

#[tokio::test]
async fn a_grant_knows_the_code_that_a_command_names_and_not_what_it_reads() {
    let bench = Bench::new();
    let programs = |argv: &[&str]| {
        let arguments = serde_json::json!({ "argv": argv }).to_string();
        bench.prepare(&arguments).expect("a plan").programs
    };
    bench.write("a.txt", "one");
    bench.write("x.sh", "one");
    bench.write("Makefile", "one");
    assert_eq!(programs(&["cat", "a.txt"]), None);
    assert_eq!(programs(&["true"]), None);
    let (script, made) = (programs(&["sh", "x.sh"]), programs(&["env", "sh", "x.sh"]));
    assert!(script.is_some() && made.is_some());
    bench.write("a.txt", "two");
    assert_eq!(programs(&["sh", "x.sh"]), script, "the control");
    bench.write("x.sh", "two");
    assert_ne!(programs(&["sh", "x.sh"]), script);
    assert_ne!(programs(&["env", "sh", "x.sh"]), made);
}

#[tokio::test]
async fn what_cannot_be_bound_is_said() {
    let bench = Bench::new();
    let large = std::fs::File::create(bench.root().join("large.bin")).expect("a file");
    large.set_len(65 << 20).expect("a size");
    let prepared = bench.prepare(r#"{"argv":["sort","large.bin"]}"#).expect("a plan");
    assert!(prepared.unbound.expose().contains("large.bin"), "{}", prepared.unbound.expose());
    bench.write("x.sh", "echo");
    let prepared = bench.prepare(r#"{"argv":["timeout","9","sh","x.sh"]}"#).expect("a plan");
    assert!(prepared.preview.expose().contains("x.sh (SHA-256 "), "{}", prepared.preview.expose());
    assert!(!prepared.unbound.expose().contains("x.sh"));
}
