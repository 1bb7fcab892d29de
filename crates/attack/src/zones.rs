//! The parts of the suite, in the order in which they are carried out.

use crate::trial::Trial;
use crate::{components, fetch, files, judged, pages, processes, secrets, served, shell, state};

/// A part: its name, and what it tries.
pub struct Zone {
    /// Its name.
    pub name: &'static str,
    /// Its attacks.
    pub trials: Vec<Trial>,
    /// Where it is carried out.
    pub site: Site,
}

/// Where a part is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// As both users.
    BothHalves,
    /// As an ordinary user: it does not matter who asks.
    AsUser,
    /// The same, in a network of its own.
    OwnNetwork,
}

/// Returns every part.
#[must_use]
pub fn all() -> Vec<Zone> {
    vec![
        Zone { name: "processes", trials: process_trials(), site: Site::BothHalves },
        Zone { name: "shell", trials: shell_trials(), site: Site::BothHalves },
        Zone { name: "pages", trials: pages::trials(), site: Site::AsUser },
        Zone { name: "secrets", trials: secrets::trials(), site: Site::AsUser },
        Zone { name: "components", trials: component_trials(), site: Site::BothHalves },
        Zone { name: "files", trials: file_trials(), site: Site::BothHalves },
        Zone { name: "judged", trials: judged_trials(), site: Site::BothHalves },
        Zone { name: "state", trials: state_trials(), site: Site::AsUser },
        Zone { name: "prompts", trials: served::prompts::trials(), site: Site::BothHalves },
        Zone { name: "served", trials: served_trials(), site: Site::BothHalves },
        Zone { name: "connections", trials: served::connections::trials(), site: Site::AsUser },
        Zone { name: "fetch", trials: fetch_trials(), site: Site::OwnNetwork },
    ]
}

fn process_trials() -> Vec<Trial> {
    [processes::trials(), processes::own_user::trials()].concat()
}

fn shell_trials() -> Vec<Trial> {
    [
        shell::words::trials(),
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

fn component_trials() -> Vec<Trial> {
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

fn judged_trials() -> Vec<Trial> {
    [
        judged::names::trials(),
        judged::spellings::trials(),
        judged::credentials::trials(),
        judged::grants::trials(),
    ]
    .concat()
}

fn served_trials() -> Vec<Trial> {
    [
        served::withdrawn::trials(),
        served::principals::trials(),
        served::secrets::trials(),
        served::settings::trials(),
    ]
    .concat()
}

fn state_trials() -> Vec<Trial> {
    [state::rows::trials(), state::log::trials(), state::files::trials()].concat()
}

fn fetch_trials() -> Vec<Trial> {
    [
        fetch::addresses::trials(),
        fetch::redirects::trials(),
        fetch::proxies::trials(),
        fetch::headers::trials(),
        fetch::answers::trials(),
    ]
    .concat()
}

fn file_trials() -> Vec<Trial> {
    [files::paths::trials(), files::patches::trials(), files::special::trials(), files::races::trials()]
        .concat()
}
