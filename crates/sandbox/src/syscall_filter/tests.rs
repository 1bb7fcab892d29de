//! What the lists hold, and what they must never hold.

use super::*;

const ALL: [FilterSurroundings; 4] = [
    FilterSurroundings { unmapped: UnmappedMemory::Counted, others: TableSharing::OutOfSight },
    FilterSurroundings { unmapped: UnmappedMemory::Refused, others: TableSharing::OutOfSight },
    FilterSurroundings { unmapped: UnmappedMemory::Counted, others: TableSharing::InSight },
    FilterSurroundings { unmapped: UnmappedMemory::Refused, others: TableSharing::InSight },
];

/// A call on both lists would be allowed whatever its arguments.
#[test]
fn what_is_looked_at_is_not_allowed_outright() {
    for around in ALL {
        let (always, looked_at) = rules(around).expect("rules");
        let both: Vec<_> = looked_at.keys().filter(|call| always.contains(call)).collect();
        assert!(both.is_empty(), "{around:?}: {both:?}");
    }
}

#[test]
fn ways_round_the_sandbox_are_on_no_list() {
    let never = [
        libc::SYS_clone3,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_mount_setattr,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
        libc::SYS_kcmp,
        libc::SYS_bpf,
        libc::SYS_io_uring_setup,
        libc::SYS_add_key,
        libc::SYS_keyctl,
        libc::SYS_request_key,
        libc::SYS_userfaultfd,
        libc::SYS_perf_event_open,
        libc::SYS_init_module,
        libc::SYS_kexec_load,
        libc::SYS_openat2,
        libc::SYS_open_by_handle_at,
        libc::SYS_clock_settime,
    ];
    for around in ALL {
        let (always, looked_at) = rules(around).expect("rules");
        for call in never {
            assert!(!always.contains(&call) && !looked_at.contains_key(&call), "{around:?}: {call}");
        }
    }
}

#[test]
fn where_others_are_in_sight_a_program_has_no_socket_and_no_shared_memory() {
    for around in ALL.into_iter().filter(|around| around.others == TableSharing::InSight) {
        let (always, looked_at) = rules(around).expect("rules");
        for call in IN_OWN_TABLES.iter().chain(SHARED_MEMORY).chain(&[libc::SYS_socket]) {
            assert!(!always.contains(call), "{around:?}: {call}");
        }
        assert!(!looked_at.contains_key(&libc::SYS_socket));
    }
}
