//! Damage to bundles.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::expect::Case;
use crate::writer::{Chance, Log};

pub(super) fn bundle(log: &Log, chance: &mut Chance, folder: &Path) -> Option<Case> {
    let runs = log.runs();
    let run = runs.get(chance.place(runs.len().max(1)))?;
    let (size, _) = log.newest()?;
    log.save_bundle(run, folder);
    let file = *chance.pick(&["entries.jsonl", "proofs.jsonl", "checkpoint"]);
    let text = std::fs::read_to_string(folder.join(file)).expect("a file");
    if file == "checkpoint" {
        let (body, line) = text.trim_end().rsplit_once(' ')?;
        let broken = format!("{body} {}\n", flipped(line, chance)?);
        std::fs::write(folder.join(file), broken).expect("a file");
        return Some(Case::plain(14, size - 1));
    }
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let at = chance.place(lines.len());
    let seq = lines[at]["seq"].as_u64()?;
    let mut code = 10;
    let mut erases = false;
    if file == "proofs.jsonl" {
        let hashes = lines[at]["hashes"].as_array_mut()?;
        let which = chance.place(hashes.len());
        let broken = flipped(hashes[which].as_str()?, chance)?;
        hashes[which] = broken.into();
    } else {
        erases = log.kind(seq) == 3;
        match chance.below(3) {
            0 => lines[at]["envelope"] = flipped(lines[at]["envelope"].as_str()?, chance)?.into(),
            1 => lines[at]["payload"] = flipped(lines[at]["payload"].as_str()?, chance)?.into(),
            _ => {
                lines[at]["payload"].as_str()?;
                lines[at]["payload"] = Value::Null;
                lines[at]["files"] = Value::Array(Vec::new());
                code = 15;
            }
        }
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.join(file), text).expect("a file");
    Some(if erases { Case::any(&[10, 15], super::expect::Seq::AtMost(seq)) } else { Case::plain(code, seq) })
}

fn flipped(text: &str, chance: &mut Chance) -> Option<String> {
    let mut bytes = STANDARD.decode(text).ok()?;
    chance.flip(&mut bytes);
    Some(STANDARD.encode(bytes))
}
