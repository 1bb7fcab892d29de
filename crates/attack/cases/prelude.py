import ctypes, os, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
E = os.environ
OUT, VICTIM, PORT = E.get('OUT', ''), int(E.get('VICTIM', 0)), int(E.get('PORT', 0))
X86 = dict(ptrace=101, process_vm_readv=310, process_vm_writev=311, unshare=272, mount=165, umount2=166, pivot_root=155,
    setns=308, chroot=161, bpf=321, add_key=248, request_key=249, keyctl=250, userfaultfd=323, perf_event_open=298,
    fanotify_init=300, kcmp=312, name_to_handle_at=303, syslog=103, personality=135, prlimit64=302, setpriority=141,
    sched_setaffinity=203, sched_setscheduler=144, ioprio_set=251, shmget=29, shmat=30, shmctl=31, semget=64, semctl=66,
    msgget=68, msgsnd=69, msgrcv=70, tgkill=234, rt_sigqueueinfo=129, adjtimex=159, mq_open=240, move_pages=279,
    modify_ldt=154, clone=56, sched_setattr=314, mknodat=259, acct=163, quotactl=179, fcntl=72, ioctl=16)
ARM = dict(ptrace=117, process_vm_readv=270, process_vm_writev=271, unshare=97, mount=40, umount2=39, pivot_root=41,
    setns=268, chroot=51, bpf=280, add_key=217, request_key=218, keyctl=219, userfaultfd=282, perf_event_open=241,
    fanotify_init=262, kcmp=272, name_to_handle_at=264, syslog=116, personality=92, prlimit64=261, setpriority=140,
    sched_setaffinity=122, sched_setscheduler=119, ioprio_set=30, shmget=194, shmat=196, shmctl=195, semget=190, semctl=191,
    msgget=186, msgsnd=189, msgrcv=188, tgkill=131, rt_sigqueueinfo=138, adjtimex=171, mq_open=180, move_pages=239,
    clone=220, sched_setattr=274, mknodat=33, acct=89, quotactl=60, fcntl=25, ioctl=29)
NEW = dict(io_uring_setup=425, pidfd_send_signal=424, open_tree=428, fsopen=430, fspick=433, pidfd_open=434, clone3=435,
    pidfd_getfd=438, process_madvise=440, mount_setattr=442, memfd_secret=447, process_mrelease=448, cachestat=451)
NR = dict(X86 if os.uname().machine == 'x86_64' else ARM, **NEW)
def call(name, *arguments):
    return libc.syscall(ctypes.c_long(NR[name]), *[a if not isinstance(a, int) else ctypes.c_long(a) for a in arguments])
def given(ok):
    print(E['WORD'] if ok else 'refused: ' + os.strerror(ctypes.get_errno()))
def at(data):
    return ctypes.cast(ctypes.create_string_buffer(data, max(len(data), 1)), ctypes.c_void_p)
print('alive', flush=True)
