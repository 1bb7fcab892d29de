//! Names that something runs or obeys later (20), written where a person has let files be written without questions.

use std::io;

use palyra_types::places::{PlaceKind, place_rows};
use serde_json::json;

use super::desk::{PAYLOAD, PolicyDesk, StandingLeave};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Ways in which files are written without a question.
const LEAVES: [StandingLeave; 3] = [StandingLeave::Below, StandingLeave::AnyPath, StandingLeave::AlwaysAllow];

/// Returns all of them: a name of each program that reads one.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let rows = place_rows().iter().filter(|row| {
        matches!(row.kind, PlaceKind::RunsLater | PlaceKind::BuildFiles | PlaceKind::AgentInstructions)
    });
    let name = |path: &str| {
        let path = path.replace('*', "x");
        if path.ends_with('/') { format!("{path}x.md") } else { path }
    };
    rows.filter_map(|row| row.paths.first().map(|path| name(path)))
        .map(|name| {
            let pairs =
                LEAVES.map(|leave| CasePair::new(20, format!("`{name}`, written"), leave.mechanism()));
            AttackTrial::new(pairs.to_vec(), move |place, pairs| written(name.clone(), place, pairs))
        })
        .collect()
}

async fn written(name: String, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let name = &name;
    run_attempts(pairs, place.half, |mechanism| async move {
        let leave = StandingLeave::of(&mechanism);
        let (held, control) = (PolicyDesk::new()?, PolicyDesk::new()?);
        held.works(leave).await?;
        let arguments = json!({ "path": name, "content": PAYLOAD });
        held.unattended(leave, "write_file", &arguments).await?;
        control.write_plainly(name).map_err(io::Error::other)?;
        Ok(Some((held.appeared(), control.appeared())))
    })
    .await
}
