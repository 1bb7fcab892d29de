#: 24 | an absolute path, cut | user
os.truncate(OUT + '/file', 0)
#: 24 | an absolute path, its owner set | mounts
os.chown(OUT + '/file', os.getuid(), os.getgid())
#: 24 | an absolute path, an attribute set | mounts user
os.setxattr(OUT + '/file', 'user.palyra', b'dead')
#: 24 | an absolute path, mapped | user
import mmap
with open(OUT + '/file', 'r+b') as file: mmap.mmap(file.fileno(), 0)[0:4] = b'dead'
#: 24 | an absolute path, by a descriptor of its folder
folder = os.open(OUT, os.O_PATH)
print(os.read(os.open('file', os.O_RDONLY, dir_fd=folder), 99).decode())
#: 24 | an absolute path, made by a name of its own | user
fd = os.open(OUT, os.O_TMPFILE | os.O_WRONLY)
os.link(f'/proc/self/fd/{fd}', OUT + '/new', src_dir_fd=os.open('/', os.O_PATH))
#: 24 | an absolute path, watched | own_root
watch = libc.inotify_init1(0)
if libc.inotify_add_watch(watch, OUT.encode(), 0x20) >= 0: given(True)
#: 24 | an absolute path, its mode through a path of no rights | mounts
fd = os.open(OUT + '/file', os.O_PATH)
os.chmod(f'/proc/self/fd/{fd}', 0o777)
#: 29 | a pipe of the host
import threading
threading.Timer(1, lambda: os._exit(0)).start()
with open(OUT + '/pipe', 'w') as pipe: pipe.write('dead')
#: 8 | ptrace, attached | user
call('ptrace', 16, VICTIM, 0, 0)
time.sleep(0.05)
call('ptrace', 8, VICTIM, 0, 0)
time.sleep(0.1)
#: 8 | ptrace, seized | user
given(call('ptrace', 0x4206, VICTIM, 0, 0) == 0)
#: 8 | /proc/PID/mem | user
import re
for line in open(f'/proc/{VICTIM}/maps'):
    if '[stack]' in line:
        a, b = (int(x, 16) for x in line.split()[0].split('-'))
        m = open(f'/proc/{VICTIM}/mem', 'rb')
        m.seek(a)
        found = re.search(rb'SECRET=([a-z0-9-]+)', m.read(b - a))
        print(found.group(1).decode() if found else '')
#: 8 | /proc/PID/mem, written | user
for line in open(f'/proc/{VICTIM}/maps'):
    if ' r-xp ' in line and 'libc' in line:
        a, b = (int(x, 16) for x in line.split()[0].split('-'))
        m = open(f'/proc/{VICTIM}/mem', 'r+b', buffering=0)
        m.seek(a)
        given(m.write(m.read(0) or b'\x7f') == 1)
        break
#: 8 | process_vm_readv | user
import re
a = b = 0
for line in open(f'/proc/{VICTIM}/maps'):
    if '[stack]' in line: a, b = (int(x, 16) for x in line.split()[0].split('-'))
room = ctypes.create_string_buffer(b - a)
here = (ctypes.c_size_t * 2)(ctypes.addressof(room), b - a)
there = (ctypes.c_size_t * 2)(a, b - a)
call('process_vm_readv', VICTIM, here, 1, there, 1, 0)
found = re.search(rb'SECRET=([a-z0-9-]+)', room.raw)
print(found.group(1).decode() if found else '')
#: 8 | pidfd_getfd | user
pid = call('pidfd_open', VICTIM, 0)
fd = call('pidfd_getfd', pid, 9, 0)
if fd >= 0: print(os.pread(fd, 99, 0).decode())
#: 8 | kcmp | kernel
given(call('kcmp', os.getpid(), VICTIM, 1, 0, 0) >= 0)
#: 8 | process_madvise | root kernel
pid = call('pidfd_open', VICTIM, 0)
a = 0
for line in open(f'/proc/{VICTIM}/maps'):
    if '[stack]' in line: a = int(line.split('-')[0], 16)
there = (ctypes.c_size_t * 2)(a, 4096)
given(call('process_madvise', pid, there, 1, 20, 0) >= 0)
#: 8 | move_pages | kernel
given(call('move_pages', VICTIM, 0, 0, 0, 0, 0) == 0)
#: 9 | clone with a user of its own
pid = call('clone', 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0:
    print(E['WORD'], flush=True)
    os._exit(0)
if pid > 0: os.waitpid(pid, 0)
#: 9 | clone3 with a user of its own | kernel
arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
pid = call('clone3', arguments, 88)
if pid == 0:
    print(E['WORD'], flush=True)
    os._exit(0)
if pid > 0: os.waitpid(pid, 0)
#: 9 | setns by a descriptor of a process
def inside():
    pid = call('pidfd_open', VICTIM, 0)
    return call('setns', pid, 0x10000000) == 0 or call('setns', pid, 0x20000) == 0
if call('unshare', 0x10000000) == 0: given(True)
else: given(inside())
#: 9 | open_tree, a copy of the root | root
given(call('open_tree', -100, at(b'/\0'), 1) >= 0)
#: 9 | fsopen | root
given(call('fsopen', at(b'tmpfs\0'), 0) >= 0)
#: 9 | pivot_root in mounts of its own
if call('unshare', 0x10020000) == 0:
    given(call('pivot_root', at(b'/\0'), at(b'/\0')) < 0 and ctypes.get_errno() in (16, 22))
else: given(False)
#: 10 | io_uring_setup | kernel
given(call('io_uring_setup', 4, at(bytes(120))) >= 0)
#: 10 | bpf | root kernel
given(call('bpf', 0, at(struct.pack('IIII', 2, 4, 4, 1) + bytes(112)), 128) >= 0)
#: 10 | add_key | kernel
given(call('add_key', at(b'user\0'), at(b'canary\0'), at(b'x'), 1, -3) > 0)
#: 10 | request_key | kernel
call('request_key', at(b'user\0'), at(b'canary\0'), 0, -3)
given(ctypes.get_errno() in (126, 127, 2))
#: 10 | keyctl | kernel
given(call('keyctl', 1, 0) > 0)
#: 10 | userfaultfd | kernel
given(call('userfaultfd', 1) >= 0)
#: 10 | perf_event_open | kernel
attr = (ctypes.c_uint32 * 32)(1, 128)
attr[10] = 0x60
given(call('perf_event_open', attr, 0, -1, -1, 0) >= 0)
#: 10 | fanotify_init | root kernel
given(call('fanotify_init', 0, 0) >= 0)
#: 10 | name_to_handle_at | kernel
room = struct.pack('Ii', 128, 0) + bytes(128)
number = (ctypes.c_int * 1)()
given(call('name_to_handle_at', -100, at(OUT.encode() + b'/file\0'), at(room), number, 0) == 0)
#: 10 | syslog | root
given(call('syslog', 10, 0, 0) >= 0)
#: 10 | personality
given(call('personality', 0x0040000) >= 0)
#: 10 | adjtimex | kernel
given(call('adjtimex', at(bytes(256))) >= 0)
#: 10 | memfd_secret | kernel
given(call('memfd_secret', 0) >= 0)
#: 10 | mq_open | kernel
given(call('mq_open', at(f'palyra{os.getpid()}\0'.encode()), 0o102, 0o600, 0) >= 0)
libc.mq_unlink(f'/palyra{os.getpid()}'.encode())
#: 10 | modify_ldt | x86 kernel
room = ctypes.create_string_buffer(64)
given(call('modify_ldt', 0, room, 64) >= 0)
#: 11 | TIOCSTI | kernel
import fcntl, pty
master, slave = pty.openpty()
if os.fork() == 0:
    os.setsid()
    fcntl.ioctl(slave, 0x540E, 0)
    fcntl.ioctl(slave, 0x5412, b'x')
    print(E['WORD'], flush=True)
    os._exit(0)
os.wait()
#: 11 | TIOCSETD
import fcntl, pty
master, slave = pty.openpty()
fcntl.ioctl(slave, 0x5423, struct.pack('i', 0))
print(E['WORD'])
#: 11 | a terminal of its own
import pty
pty.openpty()
print(E['WORD'])
#: 12 | two forks and a session
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv('/bin/sleep', ['sleep', '300'])
    os._exit(0)
os.wait()
#: 12 | a child that adopts
libc.prctl(36, 1, 0, 0, 0)
if os.fork() == 0:
    libc.prctl(36, 1, 0, 0, 0)
    os.setsid()
    if os.fork() == 0:
        os.execv('/bin/sleep', ['sleep', '300'])
    time.sleep(300)
#: 12 | two forks when it is stopped | stop
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv('/bin/sleep', ['sleep', '300'])
    os._exit(0)
os.wait()
print('ready', flush=True)
time.sleep(300)
#: 12 | forks without an end when it is stopped | stop
if os.fork() == 0:
    os.setsid()
    until = time.time() + 20
    while time.time() < until:
        if os.fork() != 0: os._exit(0)
        time.sleep(0.03)
    os._exit(0)
print('ready', flush=True)
time.sleep(300)
#: 19 | tgkill | user
call('tgkill', VICTIM, VICTIM, 15)
time.sleep(0.1)
#: 19 | rt_sigqueueinfo | user
info = struct.pack('iiiiii', 15, 0, -1, 0, os.getpid(), os.getuid()) + bytes(104)
call('rt_sigqueueinfo', VICTIM, 15, at(info))
time.sleep(0.1)
#: 19 | pidfd_send_signal | user
pid = call('pidfd_open', VICTIM, 0)
call('pidfd_send_signal', pid, 15, 0, 0)
time.sleep(0.1)
#: 19 | a descriptor's owner (F_SETOWN)
import fcntl
a, b = socket.socketpair()
fcntl.fcntl(a, 8, VICTIM)
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | 0x2000)
b.send(b'x')
time.sleep(0.1)
#: 19 | limits of another process (prlimit) | user
call('prlimit64', VICTIM, 7, at(struct.pack('QQ', 3, 3)), 0)
#: 19 | the priority of another process | user
call('setpriority', 0, VICTIM, 19)
#: 19 | the processors of another process | user
cpus = sorted(os.sched_getaffinity(VICTIM))
os.sched_setaffinity(VICTIM, cpus[:1])
#: 19 | the scheduler of another process | user
call('sched_setscheduler', VICTIM, 5, at(struct.pack('i', 0)))
#: 19 | the disk priority of another process | user
given(call('ioprio_set', 1, VICTIM, 3 << 13) == 0)
#: 19 | the priority of a whole group
call('setpriority', 1, os.getpgid(VICTIM), 19)
