#: 114 | a closed file of root, read | closed user
print(open(OUT + '/file').read())
#: 114 | a closed file of root, by a link | closed
os.symlink(OUT + '/file', 'in')
print(open('in').read())
#: 114 | a closed file of root, by a descriptor of its folder | closed user
folder = os.open(OUT, os.O_PATH)
print(os.read(os.open('file', os.O_RDONLY, dir_fd=folder), 99).decode())
#: 114 | a closed file of root, by a path of no rights | closed user
fd = os.open(OUT + '/file', os.O_PATH)
print(open(f'/proc/self/fd/{fd}').read())
#: 114 | a closed setting of the kernel
given(len(open('/proc/sys/kernel/cad_pid').read()) > 0)
#: 114 | another closed setting of the kernel
given(len(open('/proc/sys/kernel/usermodehelper/bset').read()) > 0)
#: 114 | the descriptors of the process that reaps for it
given(len(os.listdir('/proc/1/fd')) > 0)
#: 114 | more processes than its user may have
import resource, signal
resource.setrlimit(resource.RLIMIT_NPROC, (20, 20))
made = []
try:
    while len(made) < 40:
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
        made.append(pid)
except OSError:
    pass
given(len(made) == 40)
for pid in made: os.kill(pid, signal.SIGKILL)
