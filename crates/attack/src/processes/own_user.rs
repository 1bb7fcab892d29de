//! Attacks on what belongs to root, by programs of root's daemon: their own user is all that is in the way.
//!
//! Some are carried out with the user of a held program and without the sandbox around it, as if all of that had failed:
//! the control has the user that programs have where the host gives them none, which is root without capabilities. Others
//! are held under tier C, and for the control under a tier C without that mechanism.

use std::io;
use std::sync::Arc;

use palyra_ports::ProcessSandbox;
use palyra_sandbox::Sandbox;
use tokio::process::Command;

use super::canaries::Canaries;
use super::carry_out::{carried_out_by, carried_out_in};
use super::hold::{ConfinementKind, command};
use super::written::{self, ProgramAttack};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

const ALONE: &str = "the program's user alone";
const HELD: &str = "the program's user under tier C";

/// Returns all of them; where the attacker is nobody, there is nothing that only root has.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let alone = written::all().into_iter().chain(written::of_users()).filter(|attack| attack.has("user"));
    let alone = alone.map(|attack| trial(attack, ALONE));
    let held = written::of_users().into_iter().map(|attack| trial(attack, HELD));
    alone.chain(held).collect()
}

fn trial(attack: ProgramAttack, mechanism: &'static str) -> AttackTrial {
    let pair = CasePair::new(attack.case, attack.variant.clone(), mechanism);
    let attack = Arc::new(attack);
    let run = move |place, pairs| carry_out(Arc::clone(&attack), mechanism, place, pairs);
    AttackTrial { root_only: true, ..AttackTrial::new(vec![pair], run) }
}

async fn carry_out(
    attack: Arc<ProgramAttack>,
    mechanism: &'static str,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        if !place.sandbox.offer().own_users {
            return Ok(None);
        }
        let without = place.sandbox.without(|offer| offer.own_users = false);
        let control = attempt(&attack, mechanism, &without).await?;
        Ok(Some((attempt(&attack, mechanism, &place.sandbox).await?, control)))
    })
    .await
}

async fn attempt(attack: &ProgramAttack, mechanism: &str, sandbox: &Sandbox) -> io::Result<Vec<String>> {
    let canaries = Canaries::new(attack)?;
    if mechanism == ALONE {
        let user = user_of(sandbox).await?;
        let (program, arguments) = attack.program();
        let mut plain = Command::new("setpriv");
        plain.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--no-new-privs"]);
        plain.args(["--inh-caps=-all", "--bounding-set=-all", program]).args(arguments);
        return carried_out_by(plain, attack, canaries).await;
    }
    let mut command = command(attack, ConfinementKind::Isolated, &canaries).map_err(io::Error::other)?;
    command.readable = vec![canaries.trial_folder.outside()];
    let started = sandbox.start(command).await.map_err(io::Error::other)?;
    carried_out_in(started, attack, canaries).await
}

/// Returns the number of the user as which a sandbox holds its programs.
async fn user_of(sandbox: &Sandbox) -> io::Result<String> {
    use std::io::Read;
    let asks = written::asks_for_its_user();
    let canaries = Canaries::new(&asks)?;
    let command = command(&asks, ConfinementKind::Isolated, &canaries).map_err(io::Error::other)?;
    let mut process = sandbox.start(command).await.map_err(io::Error::other)?;
    let (output, _errors) = process.take_output().ok_or(io::ErrorKind::BrokenPipe)?;
    process.wait().await;
    let mut said = String::new();
    std::fs::File::from(output).read_to_string(&mut said)?;
    let number = said.lines().last().filter(|line| line.parse::<u32>().is_ok());
    number.map(str::to_owned).ok_or_else(|| io::Error::other(format!("it has no user: {said}")))
}
