//! What stands behind a component's imports during one call.

use std::os::fd::AsRawFd;
use std::path::Path;

use palyra_ports::{OpenRootError, WorkspaceRoot};
use palyra_types::PrincipalId;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::limits::{CallLimiter, HANDLES_MAX};
use crate::reach::{CallReach, GivenFiles, Ports};

/// Where a component finds the workspace.
const WORKSPACE: &str = "/workspace";

/// One call's state.
pub(crate) struct InstanceState {
    pub(crate) table: ResourceTable,
    pub(crate) limits: CallLimiter,
    pub(crate) given: CallReach,
    pub(crate) ports: Option<Ports>,
    pub(crate) principal: PrincipalId,
    /// Bytes that were logged so far.
    pub(crate) logged: usize,
    /// Requests that were made so far.
    pub(crate) requests: u32,
    wasi: WasiCtx,
}

impl InstanceState {
    pub(crate) fn with_nothing() -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES_MAX);
        Self {
            table,
            limits: CallLimiter::default(),
            given: CallReach::default(),
            ports: None,
            principal: PrincipalId::from_parts(0, 0),
            logged: 0,
            requests: 0,
            wasi: closed().build(),
        }
    }

    pub(crate) fn new(given: CallReach, ports: Ports, principal: PrincipalId) -> Result<Self, OpenRootError> {
        let mut wasi = closed();
        match &given.files {
            GivenFiles::None => {}
            GivenFiles::Read(root) => preopen(&mut wasi, root, FsPerms::ReadOnly)?,
            GivenFiles::Change(root) => preopen(&mut wasi, root, FsPerms::ReadWrite)?,
        }
        Ok(Self { given, ports: Some(ports), principal, wasi: wasi.build(), ..Self::with_nothing() })
    }
}

/// Gives the folder that lies at a path without links, by its descriptor: the path is not resolved again.
fn preopen(wasi: &mut WasiCtxBuilder, root: &Path, perms: FsPerms) -> Result<(), OpenRootError> {
    let root = WorkspaceRoot::open(root)?;
    let opened = format!("/proc/self/fd/{}", root.descriptor().as_raw_fd());
    let given = wasi.preopened_dir(opened, WORKSPACE, perms);
    given.map(drop).map_err(|error| OpenRootError::Unusable(std::io::Error::other(error.to_string())))
}

/// No arguments, no environment, no streams, no network, no names.
fn closed() -> WasiCtxBuilder {
    const RANDOM_BYTES_MAX: u64 = 64 << 10;
    let mut wasi = WasiCtxBuilder::new();
    wasi.allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .socket_addr_check(|_, _| Box::pin(async { false }))
        .max_random_size(RANDOM_BYTES_MAX)
        .allow_blocking_current_thread(false);
    wasi
}

impl WasiView for InstanceState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}
