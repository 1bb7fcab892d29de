//! One half of the suite: everything that is carried out as one user, in this process.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::Stdio;

use futures::StreamExt;
use futures::stream;

use crate::fetch::network;
use crate::pair::{AttackerUser, PairDivision, PairResult};
use crate::trial::{AttackTrial, TrialContext, TrialIsolation};
use crate::zones::{self, AttackZone, ZoneSite};

/// Attacks that are carried out at once.
const AT_ONCE: usize = 4;

/// Where this process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkPlace {
    /// In the network of this host.
    Host,
    /// In one of its own.
    OwnNetwork,
}

/// Which of its pairs a half carries out.
#[derive(Debug, Clone, Default)]
pub struct ChosenPairs {
    /// Those whose text contains this, or those of one part.
    pub only: Option<String>,
    /// Where both users could carry a pair out, one of them does.
    pub division: Option<PairDivision>,
}

/// Carries out one half and prints a line of JSON for each pair.
///
/// # Errors
/// When nobody listens any more, or a network of its own cannot be made.
pub async fn carry_out(place: TrialContext, inside: NetworkPlace, chosen: &ChosenPairs) -> io::Result<()> {
    let only = chosen.only.as_deref();
    for AttackZone { name, trials, site } in zones::all() {
        let wanted = trials.into_iter().filter(|trial| place.half == AttackerUser::Root || !trial.root_only);
        let wanted = wanted.filter_map(|trial| match only {
            Some(pattern) if pattern != name => trial.only(pattern),
            Some(_) | None => Some(trial),
        });
        let wanted = wanted.filter_map(|trial| match chosen.division {
            Some(division) if site == ZoneSite::BothHalves => trial.of_half(division, place.half),
            Some(_) | None => Some(trial),
        });
        let (alone, others): (Vec<_>, Vec<_>) =
            wanted.partition(|trial| trial.company == TrialIsolation::Alone);
        match (site, place.half, inside) {
            (ZoneSite::BothHalves, _, NetworkPlace::Host)
            | (ZoneSite::AsUser, AttackerUser::User, NetworkPlace::Host)
            | (ZoneSite::OwnNetwork, AttackerUser::User, NetworkPlace::OwnNetwork) => {
                together(AT_ONCE, others, &place, name).await?;
                together(1, alone, &place, name).await?;
            }
            (ZoneSite::OwnNetwork, AttackerUser::User, NetworkPlace::Host)
                if !alone.is_empty() || !others.is_empty() =>
            {
                go_inside(only).await?;
            }
            (ZoneSite::BothHalves | ZoneSite::AsUser, _, NetworkPlace::OwnNetwork)
            | (ZoneSite::AsUser | ZoneSite::OwnNetwork, AttackerUser::Root, _)
            | (ZoneSite::OwnNetwork, AttackerUser::User, NetworkPlace::Host) => {}
        }
    }
    Ok(())
}

/// The hidden option of a process in a network of its own.
pub const OWN_NETWORK: &str = "--own-network";

/// Has the parts that want a network of their own carried out in one; what is found there is printed there.
async fn go_inside(only: Option<&str>) -> io::Result<()> {
    let mut arguments: Vec<OsString> = ["--half", "user", OWN_NETWORK].map(OsString::from).to_vec();
    if let Some(only) = only {
        arguments.extend(["--only".into(), only.into()]);
    }
    let (command, itself) = network::inside(&arguments)?;
    let status = tokio::process::Command::from(command).stdin(Stdio::null()).status().await?;
    drop(itself);
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(
            "a network of its own could not be made; it needs user namespaces, `unshare` and `ip`",
        ))
    }
}

async fn together(
    at_once: usize,
    trials: Vec<AttackTrial>,
    place: &TrialContext,
    zone: &str,
) -> io::Result<()> {
    let mut running = stream::iter(trials)
        .map(|AttackTrial { run, pairs, .. }| {
            let place = place.clone();
            async move {
                let lost = pairs.clone();
                match tokio::spawn(run(place.clone(), pairs)).await {
                    Ok(found) => found,
                    Err(error) => {
                        let lost = lost.into_iter();
                        lost.map(|pair| PairResult::broken(pair, place.half, error.to_string())).collect()
                    }
                }
            }
        })
        .buffer_unordered(at_once);
    while let Some(found) = running.next().await {
        for found in found {
            let found = PairResult { zone: zone.to_owned(), ..found };
            let mut out = io::stdout().lock();
            writeln!(out, "{}", serde_json::to_string(&found)?)?;
            out.flush()?;
        }
    }
    Ok(())
}
