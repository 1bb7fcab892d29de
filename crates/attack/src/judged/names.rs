//! Names that something runs or obeys later (20), written where a person has let files be written without questions.

use std::io;

use palyra_types::places::{PlaceKind, place_rows};
use serde_json::json;

use super::desk::{Desk, Leave, PAYLOAD};
use crate::pair::{Found, Pair};
use crate::trial::{Place, Trial, told};

/// Ways in which files are written without a question.
const LEAVES: [Leave; 3] = [Leave::Below, Leave::AnyPath, Leave::AlwaysAllow];

/// Returns all of them: a name of each program that reads one.
pub(crate) fn trials() -> Vec<Trial> {
    let rows = place_rows().iter().filter(|row| {
        matches!(row.kind, PlaceKind::RunsLater | PlaceKind::BuildFiles | PlaceKind::AgentInstructions)
    });
    let name = |path: &str| {
        let path = path.replace('*', "x");
        if path.ends_with('/') { format!("{path}x.md") } else { path }
    };
    rows.filter_map(|row| row.paths.first().map(|path| name(path)))
        .map(|name| {
            let pairs = LEAVES.map(|leave| Pair::new(20, format!("`{name}`, written"), leave.mechanism()));
            Trial::new(pairs.to_vec(), move |place, pairs| written(name.clone(), place, pairs))
        })
        .collect()
}

async fn written(name: String, place: Place, pairs: Vec<Pair>) -> Vec<Found> {
    let name = &name;
    told(pairs, place.half, |mechanism| async move {
        let leave = Leave::of(&mechanism);
        let (held, control) = (Desk::new()?, Desk::new()?);
        held.works(leave).await?;
        let arguments = json!({ "path": name, "content": PAYLOAD });
        held.unattended(leave, "write_file", &arguments).await?;
        control.write_plainly(name).map_err(io::Error::other)?;
        Ok(Some((held.appeared(), control.appeared())))
    })
    .await
}
