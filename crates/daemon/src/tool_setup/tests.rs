//! The page about the tools says what the tools say of themselves.

use palyra_types::tool::{EffectContract, ToolSpec};

use super::*;
use crate::vault::{OpenVault, VaultCredentials};
use crate::{config, secrets};

#[test]
fn the_page_about_the_tools_has_each_of_them_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let vault = OpenVault::open(folder.path());
    let filling = VaultCredentials::new(vault as _, Arc::new(SystemClock), secrets::scanner());
    let filling = Arc::new(filling);
    let names: Arc<dyn SecretNames> = Arc::clone(&filling) as _;
    let credentials: Arc<dyn FillCredential> = filling;
    let config = config::load(None, &BTreeMap::new(), &[]).expect("defaults");
    let place = ToolContext {
        own_paths: &[],
        state_dir: folder.path(),
        config: &config,
        environment: &BTreeMap::new(),
        credentials: &credentials,
        secrets: &names,
    };
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md");
    let page = std::fs::read_to_string(page).expect("a page");
    let mut told: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).map(cells).collect();
    let catalog = ToolSetup::shipped(place).tools.catalog();
    let mut specs: Vec<_> = catalog.iter().map(row).collect();
    told.sort();
    specs.sort();
    assert_eq!(told, specs);
}

/// What a line of the page says: name, contract, time, size.
fn cells(line: &str) -> [String; 4] {
    let cells: Vec<_> = line.split('|').map(str::trim).collect();
    let contract = cells[4].split(':').next().unwrap_or_default();
    [cells[1].trim_matches('`'), contract, cells[5], cells[6]].map(str::to_owned)
}

fn row(spec: &ToolSpec) -> [String; 4] {
    let contract = match spec.contract {
        EffectContract::Pure => "pure",
        EffectContract::Keyed => "keyed",
        EffectContract::Probe => "probe",
        EffectContract::Local => "local",
        EffectContract::Opaque => "opaque",
    };
    let days = spec.deadline.as_secs() / 86_400;
    let time = if days > 0 { format!("{days} d") } else { format!("{} s", spec.deadline.as_secs()) };
    [spec.name.to_string(), contract.to_owned(), time, format!("{} KiB", spec.output_bytes_max / 1024)]
}
