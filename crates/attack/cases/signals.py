#: 110 | a file, leased for reading
import fcntl
open('own', 'w').close()
fcntl.fcntl(os.open('own', os.O_RDONLY), 1024, 0)
given(True)
#: 110 | a file, leased for writing
import fcntl
fcntl.fcntl(os.open('own', os.O_RDWR | os.O_CREAT, 0o600), 1024, 1)
given(True)
#: 110 | a file, leased by a number with bits above
open('own', 'w').close()
given(call('fcntl', os.open('own', os.O_RDONLY), 1 << 32 | 1024, 0) == 0)
#: 110 | a file of the system, leased | root
import fcntl
fcntl.fcntl(os.open('/etc/hosts', os.O_RDONLY), 1024, 0)
given(True)
#: 110 | a program of the system, leased | root
import fcntl
fcntl.fcntl(os.open('/usr/bin/whoami', os.O_RDONLY), 1024, 0)
given(True)
#: 110 | a file, leased by its new name
import fcntl
open('own', 'w').close()
os.link('own', 'other')
fcntl.fcntl(os.open('other', os.O_RDONLY), 1024, 0)
given(True)
#: 110 | a folder that tells of changes (F_NOTIFY)
import fcntl
fcntl.fcntl(os.open('.', os.O_RDONLY), 1026, 2)
given(True)
#: 110 | a folder that tells of all changes for ever
import fcntl
fcntl.fcntl(os.open('.', os.O_RDONLY), 1026, 0x80000000 - 0x100000000 | 0x3f)
given(True)
#: 110 | a folder that tells, by a number with bits above
given(call('fcntl', os.open('.', os.O_RDONLY), 1 << 32 | 1026, 2) == 0)
#: 110 | a socket's owner, as a process (F_SETOWN_EX)
import fcntl
a, b = socket.socketpair()
fcntl.fcntl(a, 15, struct.pack('ii', 1, VICTIM))
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | 0x2000)
b.send(b'x')
time.sleep(0.1)
#: 110 | a socket's owner, as a thread (F_SETOWN_EX)
import fcntl
a, b = socket.socketpair()
fcntl.fcntl(a, 15, struct.pack('ii', 0, VICTIM))
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | 0x2000)
b.send(b'x')
time.sleep(0.1)
#: 110 | a socket's owner, by a number with bits above
import fcntl
a, b = socket.socketpair()
call('fcntl', a.fileno(), 1 << 32 | 8, VICTIM)
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | 0x2000)
b.send(b'x')
time.sleep(0.1)
#: 110 | a pipe's owner
import fcntl
r, w = os.pipe()
fcntl.fcntl(r, 8, VICTIM)
fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | 0x2000)
os.write(w, b'x')
time.sleep(0.1)
#: 110 | a socket's owner (FIOSETOWN)
import fcntl
a, b = socket.socketpair()
fcntl.ioctl(a, 0x8901, struct.pack('i', VICTIM))
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | 0x2000)
b.send(b'x')
time.sleep(0.1)
#: 110 | a socket's owner (SIOCSPGRP)
import fcntl
a, b = socket.socketpair()
fcntl.ioctl(a, 0x8902, struct.pack('i', VICTIM))
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | 0x2000)
b.send(b'x')
time.sleep(0.1)
#: 110 | a socket's owner (FIOSETOWN), by a number with bits above
import fcntl
a, b = socket.socketpair()
call('ioctl', a.fileno(), 1 << 32 | 0x8901, at(struct.pack('i', VICTIM)))
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | 0x2000)
b.send(b'x')
time.sleep(0.1)
#: 110 | another signal (F_SETSIG)
import fcntl
fcntl.fcntl(socket.socketpair()[0], 10, 9)
given(True)
#: 110 | another signal, by a number with bits above
a, b = socket.socketpair()
given(call('fcntl', a.fileno(), 1 << 32 | 10, 9) == 0)
#: 110 | the end of a process, by a socket
import fcntl
a, b = socket.socketpair()
fcntl.fcntl(a, 10, 9)
fcntl.fcntl(a, 15, struct.pack('ii', 1, VICTIM))
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | 0x2000)
b.send(b'x')
time.sleep(0.1)
