//! What one call may reach, and through what.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_ports::{CancelFlag, Clock, CredentialUser, EffectKey, FetchHttp, SecretNames};

use crate::key_value::KeepValues;

/// What a call may reach.
#[derive(Debug, Clone, Default)]
pub struct CallReach {
    /// The workspace, and whether it may be changed.
    pub files: GivenFiles,
    /// Hosts in small letters, each with a port behind a colon where another than 80 and 443 is meant.
    pub hosts: BTreeSet<String>,
    /// What may be asked of them.
    pub methods: Methods,
    /// Names of secrets.
    pub secrets: BTreeSet<String>,
    /// The name under which values are kept between calls; `None` when none may be.
    pub key_value: Option<String>,
    /// Which effect the call is: its principal has to be one who may use the secrets, and each use is recorded with it.
    pub used_by: Option<CredentialUser>,
    /// Makes a header `idempotency-key` for each request, the same when the call is made again.
    pub key: Option<EffectKey>,
}

/// Which files a call may reach.
#[derive(Debug, Clone, Default)]
pub enum GivenFiles {
    /// None.
    #[default]
    None,
    /// Those below a folder, to read.
    Read(PathBuf),
    /// The same, and to change.
    Change(PathBuf),
}

/// What a call may ask of its hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Methods {
    /// What changes nothing over there, as far as a method can say.
    #[default]
    Safe,
    /// Everything.
    All,
}

/// What components reach through the daemon.
#[derive(Clone)]
pub struct Ports {
    /// Other machines; `None` where the daemon reaches none.
    pub fetch: Option<Arc<dyn FetchHttp>>,
    /// Which secrets there are; without it, one that is not there is found out when it is sent.
    pub secrets: Option<Arc<dyn SecretNames>>,
    /// Values between calls.
    pub values: Arc<dyn KeepValues>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Raised when the call should end.
    pub cancel: CancelFlag,
}
