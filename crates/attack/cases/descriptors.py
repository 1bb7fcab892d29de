#: 17 | a file, read | descriptors alone
print(os.pread(int(E['FD_READ']), 99, 0).decode())
#: 17 | a file, by its number in /proc | descriptors alone
print(open(f"/proc/self/fd/{E['FD_READ']}").read())
#: 17 | a file, written | descriptors alone
os.pwrite(int(E['FD_WRITE']), b'dead', 0)
#: 17 | a folder | descriptors alone
print(os.read(os.open('file', os.O_RDONLY, dir_fd=int(E['FD_FOLDER'])), 99).decode())
#: 17 | a socket that leads somewhere | descriptors alone
os.write(int(E['FD_SOCKET']), b'dead')
#: 17 | every number there is | descriptors alone
for fd in range(3, 1024):
    try:
        if os.fstat(fd).st_ino == int(E['FD_INODE']): print(os.pread(fd, 99, 0).decode())
    except OSError: pass
#: 17 | a program in between | descriptors alone
os.execv('/bin/sh', ['sh', '-c', 'cat /proc/self/fd/$FD_READ'])
