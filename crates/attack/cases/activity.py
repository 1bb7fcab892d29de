#: 21 | /proc/allocinfo | mounts kernel
given(len(os.read(os.open('/proc/allocinfo', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/diskstats | mounts kernel
given(len(os.read(os.open('/proc/diskstats', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/interrupts | mounts kernel
given(len(os.read(os.open('/proc/interrupts', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/kallsyms | mounts kernel
given(len(os.read(os.open('/proc/kallsyms', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/kcore | mounts kernel
given(len(os.read(os.open('/proc/kcore', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/key-users | mounts kernel
given(len(os.read(os.open('/proc/key-users', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/keys | mounts kernel
given(len(os.read(os.open('/proc/keys', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/kmsg | mounts kernel
given(len(os.read(os.open('/proc/kmsg', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/kpagecgroup | mounts kernel
given(len(os.read(os.open('/proc/kpagecgroup', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/kpagecount | mounts kernel
given(len(os.read(os.open('/proc/kpagecount', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/kpageflags | mounts kernel
given(len(os.read(os.open('/proc/kpageflags', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/latency_stats | mounts kernel
given(len(os.read(os.open('/proc/latency_stats', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/locks | mounts kernel
given(len(os.read(os.open('/proc/locks', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/modules | mounts kernel
given(len(os.read(os.open('/proc/modules', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/pagetypeinfo | mounts kernel
given(len(os.read(os.open('/proc/pagetypeinfo', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/sched_debug | mounts kernel
given(len(os.read(os.open('/proc/sched_debug', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/schedstat | mounts kernel
given(len(os.read(os.open('/proc/schedstat', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/slabinfo | mounts kernel
given(len(os.read(os.open('/proc/slabinfo', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/softirqs | mounts kernel
given(len(os.read(os.open('/proc/softirqs', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/timer_list | mounts kernel
given(len(os.read(os.open('/proc/timer_list', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/timer_stats | mounts kernel
given(len(os.read(os.open('/proc/timer_stats', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/vmallocinfo | mounts kernel
given(len(os.read(os.open('/proc/vmallocinfo', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/keys, by the folder of a thread | mounts kernel
given(len(os.read(os.open('/proc/thread-self/../../../keys', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/locks, by the folder of a thread | mounts kernel
given(len(os.read(os.open('/proc/thread-self/../../../locks', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/interrupts, by the folder of a thread | mounts kernel
given(len(os.read(os.open('/proc/thread-self/../../../interrupts', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | /proc/diskstats, by the folder of a thread | mounts kernel
given(len(os.read(os.open('/proc/thread-self/../../../diskstats', os.O_RDONLY | os.O_NONBLOCK), 8)) > 0)
#: 21 | the start of a program, watched | own_root busy
import select
watch = libc.inotify_init1(0)
libc.inotify_add_watch(watch, b'/usr/bin/whoami', 0x20)
given(bool(select.select([watch], [], [], 1)[0]))
#: 21 | the start of a program, by its folder | own_root busy
import select
watch = libc.inotify_init1(0)
libc.inotify_add_watch(watch, b'/usr/bin', 0x20)
seen, until = b'', time.time() + 1
while b'whoami' not in seen and select.select([watch], [], [], max(0, until - time.time()))[0]:
    seen += os.read(watch, 1 << 16)
given(b'whoami' in seen)
#: 21 | the end of a program, watched | own_root busy
import select
watch = libc.inotify_init1(0)
libc.inotify_add_watch(watch, b'/usr/bin/whoami', 0x10)
given(bool(select.select([watch], [], [], 1)[0]))
#: 21 | a file of the system that is read, watched | own_root busy
import select
watch = libc.inotify_init1(0)
libc.inotify_add_watch(watch, b'/etc/protocols', 0x21)
given(bool(select.select([watch], [], [], 1)[0]))
#: 21 | a lock of another on a file of the system | own_root locked alone
import fcntl
try: fcntl.flock(open('/etc/protocols'), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError: given(True)
#: 21 | a lock of another, by a lock for reading | own_root locked alone
import fcntl
try: fcntl.flock(open('/etc/protocols'), fcntl.LOCK_SH | fcntl.LOCK_NB)
except BlockingIOError: given(True)
