//! Output without end, programs that take for ever, and what they do when their time is over (16).

use std::io;
use std::time::Duration;

use palyra_ports::{CancelFlag, ToolRuntime};
use palyra_testkit::GrantRequest;
use palyra_types::tool::EffectContract;
use serde_json::json;

use super::yard::{RAN, ShellYard, owned};
use crate::calls::{call, supervision};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Bytes of a model's turn that nobody honest fills with one command.
const FLOOD_BYTES: usize = 256 * 1024;

/// Programs that print more than anybody reads.
const FLOODS: &[(&str, &str)] = &[
    ("to its output", "head -c 3000000 /dev/zero | tr '\\0' x"),
    ("to its errors", "head -c 3000000 /dev/zero | tr '\\0' x >&2"),
    (
        "to both at once",
        "head -c 2000000 /dev/zero | tr '\\0' x >&2 & head -c 2000000 /dev/zero | tr '\\0' y; wait",
    ),
    ("in one line of no letters", "head -c 3000000 /dev/urandom"),
    ("by a thousand processes", "for n in $(seq 40); do head -c 80000 /dev/zero | tr '\\0' z & done; wait"),
];

/// Programs that go on when they should not; the last thing that each does is to touch the canary.
const LATE: &[(&str, &str)] = &[
    ("a byte now and then", "for n in 1 2 3 4 5 6; do printf x; sleep 0.5; done; touch ran"),
    ("nothing at all", "sleep 3; touch ran"),
    ("with its output closed", "exec >&- 2>&-; sleep 3; touch ran"),
    ("deaf to every signal", "trap '' HUP INT TERM QUIT ALRM; sleep 3; touch ran"),
    ("in the background", "(sleep 3; touch ran) & wait"),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let floods = FLOODS.iter().map(|&(variant, script)| {
        let pair = CasePair::new(16, format!("a flood, {variant}"), "the transcript of run_command");
        AttackTrial::new(vec![pair], move |place, pairs| flooded(script, place, pairs))
    });
    let late = LATE.iter().map(|&(variant, script)| {
        let pairs =
            [DEADLINE, CANCEL].map(|mechanism| CasePair::new(16, format!("on and on, {variant}"), mechanism));
        AttackTrial::new(pairs.to_vec(), move |place, pairs| on_and_on(script, place, pairs))
    });
    floods.chain(late).collect()
}

const DEADLINE: &str = "the deadline of run_command";
const CANCEL: &str = "the end of its run";

async fn flooded(script: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let count = |text: &str| {
        if text.len() > FLOOD_BYTES {
            vec![format!("{} KiB were kept", text.len() >> 10)]
        } else {
            Vec::new()
        }
    };
    run_attempts(pairs, place.half, |_| async {
        let argv = owned(&["sh", "-c", script]);
        let control = ShellYard::new()?;
        let Some(printed) = control.as_is(&argv, &[]).await? else { return Ok(None) };
        let held = ShellYard::new()?;
        let outcome = held.as_tool(&place.sandbox, &argv).await;
        if !outcome.begun {
            return Err(io::Error::other(outcome.text));
        }
        Ok(Some((count(&outcome.text), count(&printed))))
    })
    .await
}

async fn on_and_on(script: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    // As long as the longest of them, and a little.
    const AFTERWARDS: Duration = Duration::from_millis(3_500);
    run_attempts(pairs, place.half, |mechanism| {
        let place = place.clone();
        async move {
            let argv = owned(&["sh", "-c", script]);
            let (control, held) = (ShellYard::new()?, ShellYard::new()?);
            let tools = held.tools(&place.sandbox);
            let begun = std::time::Instant::now();
            let ended = async {
                if mechanism == DEADLINE {
                    let arguments = json!({ "argv": argv, "timeout_secs": 1 });
                    call(&tools, "run_command", &arguments, &held.work()).await.text
                } else {
                    cancelled(&tools, &argv, &held).await
                }
            };
            let (unheld, text) = futures::join!(control.as_is(&argv, &[]), ended);
            unheld?;
            tokio::time::sleep(AFTERWARDS.saturating_sub(begun.elapsed())).await;
            if text.contains("could not") {
                return Err(io::Error::other(text));
            }
            let ran = |yard: &ShellYard| {
                if yard.work().join(RAN).exists() { vec!["it went on".to_owned()] } else { Vec::new() }
            };
            Ok(Some((ran(&held), ran(&control))))
        }
    })
    .await
}

/// Starts a command, and stops its run soon after.
async fn cancelled(tools: &dyn ToolRuntime, argv: &[String], yard: &ShellYard) -> String {
    const SOON: Duration = Duration::from_millis(500);
    let arguments = json!({ "argv": argv }).to_string();
    let request = GrantRequest::new("run_command", &arguments, &yard.work()).contract(EffectContract::Opaque);
    let grant = match request.prepared_by(tools).await {
        Ok((_, grant)) => grant,
        Err(refusal) => return refusal.message.expose().clone(),
    };
    let cancel = CancelFlag::default();
    let running = tools.execute(grant, supervision(cancel.clone()));
    let stop = async {
        tokio::time::sleep(SOON).await;
        cancel.cancel();
    };
    let (outcome, ()) = futures::join!(running, stop);
    outcome.map_or_else(|error| error.to_string(), |outcome| outcome.output.expose().clone())
}
