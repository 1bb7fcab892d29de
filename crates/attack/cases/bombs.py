#: 13 | forks | processes=40 alone
made = []
try:
    while len(made) < 120:
        pid = os.fork()
        if pid == 0: time.sleep(60)
        made.append(pid)
except OSError: pass
given(len(made) >= 100)
sys.stdout.flush()
for pid in made: os.kill(pid, 9)
#: 13 | forks that fork | processes=40 alone
top = os.getpid()
read, write = os.pipe()
for depth in range(7):
    try: os.fork()
    except OSError: pass
os.write(write, b'x')
if os.getpid() != top:
    time.sleep(60)
    os._exit(0)
time.sleep(2)
os.set_blocking(read, False)
given(len(os.read(read, 200)) >= 100)
#: 13 | threads | processes=40 alone
import threading
gate = threading.Event()
made = 0
try:
    while made < 120:
        threading.Thread(target=gate.wait, daemon=True).start()
        made += 1
except RuntimeError: pass
given(made >= 100)
sys.stdout.flush()
os._exit(0)
#: 14 | one process, its heap | memory_mib=128 alone
kept = []
while len(kept) < 400: kept.append(b'x' * (1 << 20))
given(True)
#: 14 | one process, mapped pages | memory_mib=128 alone
import mmap
room = mmap.mmap(-1, 400 << 20)
for at_ in range(0, len(room), 4096): room[at_] = 1
given(True)
#: 14 | many processes together | memory_mib=160 counted alone
for n in range(6):
    if os.fork() == 0:
        kept = b'x' * (60 << 20)
        time.sleep(2)
        os._exit(0)
ends = [os.wait()[1] for n in range(6)]
given(not any(ends))
#: 14 | memory that is a file | memory_mib=128 alone
fd = os.memfd_create('memory')
for n in range(400): os.write(fd, b'x' * (1 << 20))
given(True)
#: 14 | memory that is shared | memory_mib=128 alone
id = call('shmget', 0, 400 << 20, 0o1600)
libc.shmat.restype = ctypes.c_void_p
place = libc.shmat(id, None, 0)
call('shmctl', id, 0, 0)
if id >= 0:
    for n in range(0, 400 << 20, 4096): ctypes.memset(place + n, 1, 1)
    given(True)
#: 15 | one large file | file_mib=8
with open('large', 'wb') as file:
    for n in range(40): file.write(b'x' * (1 << 20))
given(os.stat('large').st_size == 40 << 20)
#: 15 | one sparse file | file_mib=8
open('large', 'wb').truncate(1 << 40)
given(True)
#: 15 | one file of reserved space | file_mib=8
os.posix_fallocate(os.open('large', os.O_CREAT | os.O_WRONLY), 0, 40 << 20)
given(True)
#: 15 | many files in scratch space | scratch_mib=16 scratch
for n in range(12):
    with open(f"{E['SCRATCH']}/{n}", 'wb') as file: file.write(b'x' * (4 << 20))
given(True)
#: 15 | names without end in scratch space | scratch_mib=16 scratch
for n in range(6000): open(f"{E['SCRATCH']}/{n}", 'wb').close()
given(True)
#: 15 | folders without end in scratch space | scratch_mib=16 scratch
for n in range(6000): os.mkdir(f"{E['SCRATCH']}/d{n}")
given(True)
#: 15 | descriptors without end | descriptors_max=128
kept = [os.open('/dev/null', os.O_RDONLY) for n in range(400)]
given(True)
#: 15 | processor time without end | seconds=1
until = time.process_time() + 1.8
while time.process_time() < until: pass
given(True)
