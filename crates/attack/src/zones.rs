//! The parts of the suite, in the order in which they are carried out.

use crate::trial::AttackTrial;
use crate::{components, fetch, files, judged, pages, processes, secrets, served, shell, state};

/// A part: its name, and what it tries.
pub struct AttackZone {
    /// Its name.
    pub name: &'static str,
    /// Its attacks.
    pub trials: Vec<AttackTrial>,
    /// Where it is carried out.
    pub site: ZoneSite,
}

/// Where a part is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneSite {
    /// As both users.
    BothHalves,
    /// As an ordinary user: it does not matter who asks.
    AsUser,
    /// The same, in a network of its own.
    OwnNetwork,
}

/// Returns every part.
#[must_use]
pub fn all() -> Vec<AttackZone> {
    vec![
        AttackZone { name: "processes", trials: process_trials(), site: ZoneSite::BothHalves },
        AttackZone { name: "shell", trials: shell_trials(), site: ZoneSite::BothHalves },
        AttackZone { name: "pages", trials: pages::trials(), site: ZoneSite::AsUser },
        AttackZone { name: "secrets", trials: secrets::trials(), site: ZoneSite::AsUser },
        AttackZone { name: "components", trials: component_trials(), site: ZoneSite::BothHalves },
        AttackZone { name: "files", trials: file_trials(), site: ZoneSite::BothHalves },
        AttackZone { name: "judged", trials: judged_trials(), site: ZoneSite::BothHalves },
        AttackZone { name: "state", trials: state_trials(), site: ZoneSite::AsUser },
        AttackZone { name: "prompts", trials: served::prompts::trials(), site: ZoneSite::BothHalves },
        AttackZone { name: "served", trials: served_trials(), site: ZoneSite::BothHalves },
        AttackZone { name: "connections", trials: served::connections::trials(), site: ZoneSite::AsUser },
        AttackZone { name: "fetch", trials: fetch_trials(), site: ZoneSite::OwnNetwork },
    ]
}

fn process_trials() -> Vec<AttackTrial> {
    [processes::trials(), processes::own_user::trials()].concat()
}

fn shell_trials() -> Vec<AttackTrial> {
    [
        shell::word_splitting::trials(),
        shell::variables::trials(),
        shell::approvals::trials(),
        shell::output::trials(),
        shell::kept::trials(),
        shell::missing::trials(),
        shell::previews::trials(),
        shell::repository::trials(),
        shell::questions::trials(),
        shell::roots::trials(),
        shell::scripts::trials(),
        shell::leavings::trials(),
        shell::replaced::trials(),
        shell::placed::trials(),
    ]
    .concat()
}

fn component_trials() -> Vec<AttackTrial> {
    [
        components::loops::trials(),
        components::growth::trials(),
        components::depth::trials(),
        components::imports::trials(),
        components::paths::trials(),
        components::traps::trials(),
        components::bombs::trials(),
    ]
    .concat()
}

fn judged_trials() -> Vec<AttackTrial> {
    [
        judged::names::trials(),
        judged::spellings::trials(),
        judged::credentials::trials(),
        judged::grants::trials(),
    ]
    .concat()
}

fn served_trials() -> Vec<AttackTrial> {
    [
        served::withdrawn::trials(),
        served::principals::trials(),
        served::secrets::trials(),
        served::settings::trials(),
    ]
    .concat()
}

fn state_trials() -> Vec<AttackTrial> {
    [state::rows::trials(), state::log::trials(), state::files::trials()].concat()
}

fn fetch_trials() -> Vec<AttackTrial> {
    [
        fetch::addresses::trials(),
        fetch::redirects::trials(),
        fetch::proxies::trials(),
        fetch::headers::trials(),
        fetch::answers::trials(),
    ]
    .concat()
}

fn file_trials() -> Vec<AttackTrial> {
    [files::paths::trials(), files::patches::trials(), files::special::trials(), files::races::trials()]
        .concat()
}
