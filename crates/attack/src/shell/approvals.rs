//! A program of the same name in the way (5), and an approval that is used for other bytes than were looked at (6).

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use palyra_ports::{CancelFlag, ToolRuntime};
use palyra_testkit::GrantRequest;
use palyra_types::Redacted;
use palyra_types::tool::EffectContract;
use serde_json::{Value, json};

use super::yard::{ShellYard, owned};
use crate::calls::{ForgedEffectTool, call, call_between, supervision};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// What is changed between the look at a call and its start.
struct PlanChange {
    variant: &'static str,
    argv: &'static [&'static str],
    cwd: Option<&'static str>,
    change: fn(&Path) -> io::Result<()>,
}

const HARMLESS: &str = "#!/bin/sh\necho harmless\n";
const EVIL: &str = "#!/bin/sh\ntouch \"$TOUCHED/ran\" ran ../ran 2>/dev/null\n";
const PYTHON: &str = "open('ran', 'w')\n";

const SWAPS: &[PlanChange] = &[
    PlanChange {
        variant: "a script of a shell, written anew",
        argv: &["sh", "a.sh"],
        cwd: None,
        change: |work| fs::write(work.join("a.sh"), EVIL),
    },
    PlanChange {
        variant: "a script of an interpreter with options, written anew",
        argv: &["python3", "-u", "a.py"],
        cwd: None,
        change: |work| fs::write(work.join("a.py"), PYTHON),
    },
    PlanChange {
        variant: "a program of the workspace, written anew",
        argv: &["./tool"],
        cwd: None,
        change: |work| fs::write(work.join("tool"), EVIL),
    },
    PlanChange {
        variant: "a program of the workspace, another put in its place",
        argv: &["./tool"],
        cwd: None,
        change: |work| fs::rename(work.join("evil"), work.join("tool")),
    },
    PlanChange {
        variant: "a program of the workspace, a link put in its place",
        argv: &["./tool"],
        cwd: None,
        change: |work| {
            fs::remove_file(work.join("tool"))?;
            std::os::unix::fs::symlink("evil", work.join("tool"))
        },
    },
    PlanChange {
        variant: "the folder of a program, another put in its place",
        argv: &["./a/tool"],
        cwd: None,
        change: |work| {
            fs::rename(work.join("a"), work.join("old"))?;
            fs::rename(work.join("b"), work.join("a"))
        },
    },
    PlanChange {
        variant: "the folder to start in, a link put in its place",
        argv: &["sh", "tool"],
        cwd: Some("a"),
        change: |work| {
            fs::rename(work.join("a"), work.join("old"))?;
            std::os::unix::fs::symlink("b", work.join("a"))
        },
    },
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let swaps = SWAPS.iter().map(|swap| {
        let pair = CasePair::new(6, swap.variant, "the plan of run_command");
        AttackTrial::new(vec![pair], move |place, pairs| swapped(swap, place, pairs))
    });
    let other = CasePair::new(6, "the same name in another folder", "the plan of run_command");
    let race = CasePair::new(6, "a program that is written anew all the while", "the sealed copy");
    let shadows = ["ls", "git", "python3"].map(|name| {
        let pair = CasePair::new(5, format!("`{name}` in the workspace"), "the search of run_command");
        AttackTrial::new(vec![pair], move |place, pairs| shadowed(name, place, pairs))
    });
    swaps
        .chain(shadows)
        .chain([
            AttackTrial::new(vec![other], another_folder),
            AttackTrial::new(vec![race], all_the_while).alone(),
        ])
        .collect()
}

fn prepare() -> io::Result<ShellYard> {
    let yard = ShellYard::new()?;
    yard.write("a.py", "print('harmless')\n")?;
    for (name, text) in
        [("a.sh", HARMLESS), ("tool", HARMLESS), ("evil", EVIL), ("a/tool", HARMLESS), ("b/tool", EVIL)]
    {
        yard.program(name, text)?;
    }
    Ok(yard)
}

async fn swapped(swap: &'static PlanChange, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        // The control: look, change, and start by name.
        let control = prepare()?;
        let start_in = control.work().join(swap.cwd.unwrap_or("."));
        fs::metadata(&start_in)?;
        (swap.change)(&control.work())?;
        let folder = start_in.display().to_string();
        let argv = owned(&["env", "-C", &folder]).into_iter().chain(owned(swap.argv));
        let touched = [("TOUCHED".to_owned(), control.work().display().to_string())];
        let Some(printed) = control.as_is(&argv.collect::<Vec<_>>(), &touched).await? else {
            return Ok(None);
        };

        let held = prepare()?;
        let mut arguments = json!({ "argv": swap.argv });
        if let (Some(cwd), Some(arguments)) = (swap.cwd, arguments.as_object_mut()) {
            arguments.insert("cwd".to_owned(), Value::from(cwd));
        }
        let mut changed = Ok(());
        let tools = held.tools(&place.sandbox);
        let work = held.work();
        let outcome =
            call_between(&tools, "run_command", &arguments, &work, || changed = (swap.change)(&work)).await;
        changed?;
        if outcome.shown.is_empty() {
            return Err(io::Error::other(outcome.text));
        }
        Ok(Some((held.touched(&outcome.text), control.touched(&printed))))
    })
    .await
}

/// What was recorded of `a/tool` is shown for `b/tool`.
async fn another_folder(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let control = prepare()?;
        let Some(printed) = control.as_is(&owned(&["b/tool"]), &[]).await? else { return Ok(None) };

        let held = prepare()?;
        let (tools, work) = (held.tools(&place.sandbox), held.work());
        let request = |argv: &str| {
            let arguments = json!({ "argv": [argv] }).to_string();
            GrantRequest::new("run_command", &arguments, &work).contract(EffectContract::Opaque)
        };
        let honest = request("a/tool").prepared_by(&tools).await;
        let (looked_at, _) = honest.map_err(|refusal| io::Error::other(refusal.message.expose().clone()))?;
        let body = Redacted::cleaned(looked_at.body.expose().clone());
        let forged = ForgedEffectTool { body, catalog: tools.catalog() };
        let granted = request("b/tool").prepared_by(&forged).await;
        let (_, grant) = granted.map_err(|_| io::Error::other("it was not granted"))?;
        let outcome = tools.execute(grant, supervision(CancelFlag::default())).await;
        let text = outcome.map_or_else(|error| error.to_string(), |outcome| outcome.output.expose().clone());
        Ok(Some((held.touched(&text), control.touched(&printed))))
    })
    .await
}

/// Calls of each kind in a race.
const RACES: usize = 25;
/// Starts of the control, which has to be fooled once: about one in fifty is.
const CONTROL_RACES_MAX: usize = 20_000;

/// A program that is harmless and evil by turns, as fast as it can be written.
async fn all_the_while(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let control = prepare()?;
        let turning = ProgramRewriter::start(&control.work());
        let mut printed = String::new();
        for _ in 0..CONTROL_RACES_MAX {
            // Looks, and starts by name what it saw.
            if fs::read_to_string(control.work().join("tool"))? == HARMLESS {
                // While it is being written it cannot be started.
                if let Ok(Some(said)) = control.as_is(&owned(&["./tool"]), &[]).await {
                    printed.push_str(&said);
                }
            }
            if !control.touched(&printed).is_empty() {
                break;
            }
        }
        drop(turning);

        let held = prepare()?;
        let turning = ProgramRewriter::start(&held.work());
        let (tools, work) = (held.tools(&place.sandbox), held.work());
        // What was looked at while it was evil may run: that is what a person would have seen.
        let evil = digest(&call(&tools, "run_command", &json!({ "argv": ["./evil"] }), &work).await.shown);
        let (mut begun, mut touched) = (0, Vec::new());
        for _ in 0..RACES {
            let _ = fs::remove_file(work.join(super::yard::RAN));
            let outcome = call(&tools, "run_command", &json!({ "argv": ["./tool"] }), &work).await;
            begun += usize::from(outcome.begun);
            if digest(&outcome.shown) != evil {
                touched.extend(held.touched(""));
            }
        }
        drop(turning);
        if begun == 0 || evil.is_empty() {
            return Err(io::Error::other("none was ever started"));
        }
        Ok(Some((touched, control.touched(&printed))))
    })
    .await
}

/// Returns the digest of the program that a person is shown.
fn digest(shown: &str) -> String {
    shown.split("(SHA-256 ").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default().to_owned()
}

/// Writes a program anew until it is dropped.
struct ProgramRewriter {
    end: Arc<AtomicBool>,
    writer: Option<std::thread::JoinHandle<()>>,
}

impl ProgramRewriter {
    fn start(work: &Path) -> Self {
        let (end, ended) = (Arc::new(AtomicBool::new(false)), work.to_owned());
        let flag = Arc::clone(&end);
        let writer = std::thread::spawn(move || {
            let tool = ended.join("tool");
            while !flag.load(Ordering::Relaxed) {
                // Harmless for most of the time, so that it looks the same twice.
                for (text, millis) in [(EVIL, 4), (HARMLESS, 20)] {
                    let _ = fs::write(&tool, text);
                    std::thread::sleep(Duration::from_millis(millis));
                }
            }
        });
        Self { end, writer: Some(writer) }
    }
}

impl Drop for ProgramRewriter {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

async fn shadowed(name: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let prepare = || -> io::Result<ShellYard> {
            let yard = ShellYard::new()?;
            yard.program(name, EVIL)?;
            Ok(yard)
        };
        let control = prepare()?;
        let shell = owned(&["sh", "-c", &format!("PATH=.:$PATH; {name} --version")]);
        let Some(printed) = control.as_is(&shell, &[]).await? else { return Ok(None) };
        let held = prepare()?;
        let outcome = held.as_tool(&place.sandbox, &owned(&[name, "--version"])).await;
        if outcome.shown.is_empty() {
            return Err(io::Error::other(outcome.text));
        }
        Ok(Some((held.touched(&outcome.text), control.touched(&printed))))
    })
    .await
}
