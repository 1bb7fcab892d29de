//! Gives away every privilege for good.
//!
//! Source: capabilities(7). Owns the order: what allows the steps goes last.

use std::io;

use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use crate::program_ids::ProgramIds;

/// The highest number of a capability that kernels may know by now; unknown ones are refused, which is as good.
const LAST: u32 = 63;

/// Drops every capability, from what is held now and from what a later program could be given, and the user where
/// another one is named.
pub(crate) fn drop_all(user: Option<ProgramIds>) -> io::Result<()> {
    for capability in 0..=LAST {
        // SAFETY: takes numbers only. A kernel without this capability and all after it says EINVAL, and without the
        // privilege to drop it EPERM: then there is none to drop.
        let dropped = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), 0, 0, 0) };
        if dropped < 0 {
            break;
        }
    }
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    let locked = rustix::thread::set_capabilities_secure_bits(bits);
    // With capabilities to do so, and without a way back.
    user.map_or(Ok(()), ProgramIds::become_them)?;
    let none = CapabilitySet::empty();
    rustix::thread::clear_ambient_capability_set()?;
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )?;
    // An ordinary user without namespaces may not lock anything, and has nothing to lock.
    match locked {
        Ok(()) | Err(rustix::io::Errno::PERM) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
