//! The places that messages of people and programs come from, and what differs between them.
//!
//! Owns the list of surfaces and their profiles. Differences between surfaces are rows of [`Surface::profile`], never
//! branches in a second engine. Begin at [`Surface`].

use crate::recall::RecallSwitch;

/// Where a call or an input came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    /// The daemon's own Unix socket.
    LocalSocket,
    /// The loopback TCP listener.
    Tcp,
    /// The HTTP API.
    Http,
    /// The web console.
    Console,
    /// The OpenAI-compatible endpoints.
    Openai,
    /// A schedule that was due.
    Schedule,
    /// The background queue.
    Background,
    /// A channel: mail or a chat.
    Channel,
    /// The QUIC listener.
    Quic,
}

/// Where the workspace root of a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceRootSource {
    /// The client names a folder: only its own user can have made that call.
    Client,
    /// The agent's profile, or a folder of the session.
    Agent,
}

/// Whether a call of this surface may carry a person's decision about an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalAuthority {
    /// A caller whose credential has the scope `approve` may decide.
    ByScope,
    /// No caller may, even if its credential says so: programs are on the other side.
    Never,
}

/// What happens to a run when the client that started it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisconnect {
    /// The run goes on; a client can attach again.
    Continue,
    /// The run is cancelled, unless the request asked for background work or a person is awaited.
    Cancel,
}

/// What is different for one surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurfaceProfile {
    /// The stable name that policies, JSON and the journal show.
    pub name: &'static str,
    /// Where the workspace root of a run comes from.
    pub workspace_root: WorkspaceRootSource,
    /// Whether a person can decide approvals here.
    pub approvals: ApprovalAuthority,
    /// What happens to a run when its client is gone.
    pub on_disconnect: OnDisconnect,
    /// Whether runs are given items of memory unasked; `None` leaves it to agent and configuration.
    pub recall: Option<RecallSwitch>,
}

impl Surface {
    /// Every surface, in order of its stored number.
    pub const ALL: [Self; 9] = [
        Self::LocalSocket,
        Self::Tcp,
        Self::Http,
        Self::Console,
        Self::Openai,
        Self::Schedule,
        Self::Background,
        Self::Channel,
        Self::Quic,
    ];

    /// Returns what is different for this surface.
    #[must_use]
    pub const fn profile(self) -> SurfaceProfile {
        use ApprovalAuthority::{ByScope, Never};
        use OnDisconnect::{Cancel, Continue};
        use WorkspaceRootSource::{Agent, Client};
        let (name, workspace_root, approvals, on_disconnect) = match self {
            Self::LocalSocket => ("local_socket", Client, ByScope, Continue),
            Self::Tcp => ("tcp", Agent, Never, Continue),
            Self::Http => ("http", Agent, Never, Continue),
            Self::Console => ("console", Agent, ByScope, Continue),
            Self::Openai => ("openai", Agent, Never, Cancel),
            Self::Schedule => ("schedule", Agent, Never, Continue),
            Self::Background => ("background", Agent, Never, Continue),
            Self::Channel => ("channel", Agent, ByScope, Continue),
            Self::Quic => ("quic", Agent, Never, Continue),
        };
        SurfaceProfile { name, workspace_root, approvals, on_disconnect, recall: None }
    }

    /// Returns the stable name, such as `local_socket`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.profile().name
    }

    /// Returns the surface of a stable name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for surface in Surface::ALL {
            assert_eq!(Surface::from_name(surface.name()), Some(surface));
        }
        assert_eq!(Surface::from_name("LocalSocket"), None);
    }

    #[test]
    fn only_the_socket_lets_a_client_name_its_folder() {
        let naming = Surface::ALL
            .into_iter()
            .filter(|surface| surface.profile().workspace_root == WorkspaceRootSource::Client);
        assert_eq!(naming.collect::<Vec<_>>(), [Surface::LocalSocket]);
    }

    /// Programs call over the others.
    #[test]
    fn approvals_are_decided_where_a_person_is() {
        let deciding = Surface::ALL
            .into_iter()
            .filter(|surface| surface.profile().approvals == ApprovalAuthority::ByScope);
        assert_eq!(deciding.collect::<Vec<_>>(), [Surface::LocalSocket, Surface::Console, Surface::Channel]);
    }
}
