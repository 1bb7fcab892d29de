//! Scripts behind options, wrappers and values (112): written anew between the look at a call and its start, or after a
//! grant was given for their bytes.

use std::io;
use std::sync::LazyLock;

use palyra_policy::{ProgramsFound, ToolCallPolicySnapshot};
use palyra_ports::{CancelFlag, ToolRuntime};
use palyra_testkit::GrantRequest;
use palyra_types::Redacted;
use palyra_types::approval::ArgumentShape;
use palyra_types::tool::EffectContract;
use serde_json::json;

use super::yard::{ShellYard, owned};
use crate::calls::{call_between, supervision};
use crate::judged::{GrantDraft, PolicyCase, is_let_run, shipped_for};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// How a script is started.
struct ScriptForm {
    argv: &'static [&'static str],
    /// The script.
    file: &'static str,
    /// What it says once it is evil: it makes a file.
    evil: &'static str,
}

const SHELL: &str = "#!/bin/sh\ntouch ran ../ran\n";
const PYTHON: &str = "open('ran', 'w')\n";
const MAKE: &str = "x:\n\ttouch ran\n";

const fn form(argv: &'static [&'static str], file: &'static str, evil: &'static str) -> ScriptForm {
    ScriptForm { argv, file, evil }
}

const FORMS: &[ScriptForm] = &[
    form(&["python3", "-X", "dev", "x.py"], "x.py", PYTHON),
    form(&["python3", "-W", "ignore", "x.py"], "x.py", PYTHON),
    form(&["python3", "-m", "module"], "module.py", PYTHON),
    form(&["python3", "-m", "pack"], "pack/__main__.py", PYTHON),
    form(&["python3", "-m", "pack.inner"], "pack/inner.py", PYTHON),
    form(&["python3", "-mpack.inner"], "pack/inner.py", PYTHON),
    form(&["python3", "-Bm", "pack.inner"], "pack/inner.py", PYTHON),
    form(&["python3", "pack"], "pack/__main__.py", PYTHON),
    form(&["bash", "-o", "pipefail", "x.sh"], "x.sh", SHELL),
    form(&["bash", "-O", "extglob", "x.sh"], "x.sh", SHELL),
    form(&["bash", "--rcfile", "none", "x.sh"], "x.sh", SHELL),
    form(&["sh", "-e", "-u", "x.sh"], "x.sh", SHELL),
    form(&["sh", "-c", "cd sub && ./x.sh"], "sub/x.sh", SHELL),
    form(&["sh", "-c", ". ./x.sh"], "x.sh", SHELL),
    form(&["env", "A=1", "./x.sh"], "x.sh", SHELL),
    form(&["env", "-i", "sh", "x.sh"], "x.sh", SHELL),
    form(&["env", "-C", "sub", "./x.sh"], "sub/x.sh", SHELL),
    form(&["env", "-S", "./x.sh a"], "x.sh", SHELL),
    form(&["nice", "-n", "5", "./x.sh"], "x.sh", SHELL),
    form(&["nohup", "./x.sh"], "x.sh", SHELL),
    form(&["timeout", "9", "./x.sh"], "x.sh", SHELL),
    form(&["timeout", "-k", "1", "9", "sh", "x.sh"], "x.sh", SHELL),
    form(&["setsid", "-w", "./x.sh"], "x.sh", SHELL),
    form(&["stdbuf", "-o0", "./x.sh"], "x.sh", SHELL),
    form(&["xargs", "-a", "list", "./x.sh"], "x.sh", SHELL),
    form(&["xargs", "-a", "list", "sh", "x.sh"], "x.sh", SHELL),
    form(&["env", "nice", "timeout", "9", "sh", "x.sh"], "x.sh", SHELL),
    form(&["find", ".", "-maxdepth", "0", "-exec", "./x.sh", ";"], "x.sh", SHELL),
    form(&["find", ".", "-maxdepth", "0", "-exec", "sh", "x.sh", "{}", "+"], "x.sh", SHELL),
    form(
        &["tar", "cf", "/dev/null", "--checkpoint=1", "--checkpoint-action=exec=sh x.sh", "list"],
        "x.sh",
        SHELL,
    ),
    form(&["perl", "-w", "x.pl"], "x.pl", "open(my $f, '>', 'ran');\n"),
    form(&["perl", "-I", "sub", "x.pl"], "x.pl", "open(my $f, '>', 'ran');\n"),
    form(&["sed", "-fx.sed", "list"], "x.sed", "w ran\n"),
    form(&["sed", "--file=x.sed", "list"], "x.sed", "w ran\n"),
    form(&["awk", "-f", "x.awk", "list"], "x.awk", "BEGIN { print 1 > \"ran\" }\n"),
    form(&["make", "-s", "-f", "rules", "x"], "rules", MAKE),
    form(&["make", "-sfrules", "x"], "rules", MAKE),
    form(&["make", "-sCsub", "-frules", "x"], "sub/rules", "x:\n\ttouch ../ran\n"),
    form(&["make", "-s", "x"], "Makefile", MAKE),
    form(&["make", "-C", "sub", "-s", "x"], "sub/Makefile", "x:\n\ttouch ../ran\n"),
    form(&["git", "-c", "alias.x=!./x.sh", "x"], "x.sh", SHELL),
];

const PLAN: &str = "the plan of run_command";
const GRANTS: &str = "stored grants of programs";

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    FORMS
        .iter()
        .map(|form| {
            let variant = format!("{} with another {}", form.argv.join(" "), form.file);
            let pairs = [PLAN, GRANTS].map(|mechanism| CasePair::new(112, variant.clone(), mechanism));
            AttackTrial::new(pairs.to_vec(), move |place, pairs| rewritten(form, place, pairs))
        })
        .collect()
}

/// A workspace in which the script does nothing yet.
fn prepare(form: &ScriptForm) -> io::Result<ShellYard> {
    let yard = ShellYard::new()?;
    yard.write("list", "a\n")?;
    yard.write("sub/empty", "")?;
    yard.write("pack/__init__.py", "")?;
    let harmless = match form.evil {
        SHELL => "#!/bin/sh\ntrue\n",
        MAKE => "x:\n\t@true\n",
        evil if evil.starts_with("x:") => "x:\n\t@true\n",
        _ => "\n",
    };
    yard.program(form.file, harmless)?;
    Ok(yard)
}

/// What it did: a folder below may have been where it started.
fn touched(yard: &ShellYard, printed: &str) -> Vec<String> {
    let mut touched = yard.touched(printed);
    if touched.is_empty() && yard.work().join("sub/ran").exists() {
        touched.push("it was run".to_owned());
    }
    touched
}

async fn rewritten(form: &'static ScriptForm, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let place = &place;
    run_attempts(pairs, place.half, |mechanism| async move {
        let control = prepare(form)?;
        control.program(form.file, form.evil)?;
        let Some(printed) = control.as_is(&owned(form.argv), &[]).await? else { return Ok(None) };
        let held = prepare(form)?;
        let said = if mechanism == PLAN {
            by_plan(form, place, &held).await?
        } else {
            by_grant(form, place, &held).await?
        };
        Ok(Some((touched(&held, &said), touched(&control, &printed))))
    })
    .await
}

/// Looked at, changed, started.
async fn by_plan(form: &ScriptForm, place: &TrialContext, held: &ShellYard) -> io::Result<String> {
    let arguments = json!({ "argv": form.argv });
    let (tools, work) = (held.tools(&place.sandbox), held.work());
    let mut changed = Ok(());
    let change = || changed = held.program(form.file, form.evil);
    let outcome = call_between(&tools, "run_command", &arguments, &work, change).await;
    changed?;
    if outcome.shown.is_empty() { Err(io::Error::other(outcome.text)) } else { Ok(outcome.text) }
}

static SHIPPED: LazyLock<io::Result<ToolCallPolicySnapshot>> = LazyLock::new(|| {
    let yard = ShellYard::new()?;
    let nowhere = palyra_sandbox::Sandbox::probe("/nonexistent".into(), yard.trial_folder.scratch());
    shipped_for(&yard.tools(&nowhere).catalog(), |rules| rules)
});

/// Granted for its bytes, changed, looked at again, and started where the grant still covers it.
async fn by_grant(form: &ScriptForm, place: &TrialContext, held: &ShellYard) -> io::Result<String> {
    let snapshot = SHIPPED.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
    let arguments = json!({ "argv": form.argv });
    let (tools, work) = (held.tools(&place.sandbox), held.work());
    let look = || async {
        let request = GrantRequest::new("run_command", &arguments.to_string(), &work);
        let looked = request.contract(EffectContract::Opaque).prepared_by(&tools).await;
        looked.map_err(|refusal| io::Error::other(refusal.message.expose().clone()))
    };
    let (before, _) = look().await?;
    let argv = ArgumentShape::Equal(Redacted::cleaned(json!(form.argv).to_string()));
    let mut grant = GrantDraft::of("run_command", [("argv", argv)]).within(&work).0;
    grant.stored.bounds.programs = before.programs;
    let is_covered = |programs| {
        let case = PolicyCase {
            tool: "run_command",
            arguments: &arguments,
            workspace: &work,
            grants: std::slice::from_ref(&grant),
            programs: ProgramsFound::Found(programs),
        };
        is_let_run(snapshot, &case)
    };
    if !is_covered(before.programs) {
        return Err(io::Error::other("the bytes of the grant are not covered either"));
    }
    held.program(form.file, form.evil)?;
    let (now, start) = look().await?;
    if !is_covered(now.programs) {
        return Ok("it is asked about".to_owned());
    }
    let outcome = tools.execute(start, supervision(CancelFlag::default())).await;
    Ok(outcome.map_or_else(|error| error.to_string(), |outcome| outcome.output.expose().clone()))
}
