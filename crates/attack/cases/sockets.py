#: 18 | a path, stream
s = socket.socket(socket.AF_UNIX)
s.connect(OUT + '/socket')
#: 18 | a path, datagrams
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendto(b'x', OUT + '/datagrams')
#: 18 | a path, sequenced packets
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(OUT + '/packets')
#: 18 | an abstract name, stream
s = socket.socket(socket.AF_UNIX)
s.connect('\0' + E['ABSTRACT'])
#: 18 | an abstract name, datagrams
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendto(b'x', '\0' + E['ABSTRACT'] + '-datagrams')
#: 18 | a path, by one end of a pair
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.sendto(b'x', OUT + '/datagrams')
#: 18 | an abstract name, by one end of a pair
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.sendto(b'x', '\0' + E['ABSTRACT'] + '-datagrams')
#: 18 | a path, by a link in the workspace
os.symlink(OUT + '/socket', 'agent')
s = socket.socket(socket.AF_UNIX)
s.connect('agent')
#: 18 | a path, as a program of the system does it
os.execv('/usr/bin/perl', ['perl', '-MIO::Socket::UNIX', '-e', 'IO::Socket::UNIX->new(Peer => $ARGV[0])', OUT + '/socket'])
#: 18 | netlink
s = socket.socket(16, socket.SOCK_RAW, 0)
print(E['WORD'])
#: 18 | the kernel's ciphers | kernel
s = socket.socket(38, socket.SOCK_SEQPACKET)
print(E['WORD'])
#: 18 | packets of the wire | root
s = socket.socket(17, socket.SOCK_RAW, 0)
print(E['WORD'])
#: 18 | the machine below (vsock) | kernel
s = socket.socket(40, socket.SOCK_STREAM)
print(E['WORD'])
#: 18 | shared memory of System V | shared
room = ctypes.create_string_buffer(64)
id = call('shmget', int(E['SHARED']), 0, 0)
libc.shmat.restype = ctypes.c_void_p
place = libc.shmat(id, None, 0o10000)
if id >= 0 and place not in (None, ctypes.c_void_p(-1).value): print(ctypes.string_at(place, 16).decode())
#: 18 | semaphores of System V | shared
id = call('semget', int(E['SHARED']), 0, 0)
given(id >= 0 and call('semctl', id, 0, 16, 7) == 0)
#: 18 | messages of System V | shared
room = ctypes.create_string_buffer(64)
id = call('msgget', int(E['SHARED']), 0)
if call('msgrcv', id, room, 56, 0, 0o4000) > 0: print(room.raw[8:].decode())
#: 43 | a port of the host, IPv4
socket.create_connection(('127.0.0.1', PORT), 2)
#: 43 | a port of the host, IPv6
socket.create_connection(('::1', int(E['PORT6'])), 2)
#: 43 | a port of the host, 0.0.0.0
socket.create_connection(('0.0.0.0', PORT), 2)
#: 43 | a port of the host, mapped
s = socket.socket(socket.AF_INET6)
s.connect(('::ffff:127.0.0.1', PORT))
#: 43 | a port of the host, by its name
socket.create_connection(('localhost', PORT), 2)
#: 43 | a port of the host, without waiting
s = socket.socket()
s.setblocking(False)
s.connect_ex(('127.0.0.1', PORT))
time.sleep(0.1)
#: 43 | a port of the host, with data at once (MSG_FASTOPEN)
s = socket.socket()
s.sendto(b'x', 0x20000000, ('127.0.0.1', PORT))
time.sleep(0.1)
#: 43 | a port of the host, multipath TCP | kernel
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
s.connect(('127.0.0.1', PORT))
#: 43 | a port of the host, as a shell does it
os.execv('/bin/bash', ['bash', '-c', 'exec 5<>/dev/tcp/127.0.0.1/$PORT'])
#: 43 | a port of its own for others | listens
s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen()
print('listens', s.getsockname()[1], flush=True)
s.accept()
time.sleep(1000)
#: 47 | UDP, IPv4
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'x', ('127.0.0.1', int(E['UDP'])))
#: 47 | UDP, IPv6
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.sendto(b'x', ('::1', int(E['UDP6'])))
#: 47 | UDP, connected
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('127.0.0.1', int(E['UDP'])))
s.send(b'x')
#: 47 | UDP, mapped
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.sendto(b'x', ('::ffff:127.0.0.1', int(E['UDP'])))
#: 47 | UDP, as a shell does it
os.execv('/bin/bash', ['bash', '-c', 'echo x > /dev/udp/127.0.0.1/$UDP'])
#: 47 | a question to a name server
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
question = b'\x12\x34\x01\0\0\1\0\0\0\0\0\0' + b'\x06secret\x07example\0' + b'\0\1\0\1'
s.sendto(question, ('127.0.0.1', int(E['UDP'])))
#: 47 | UDP, several at once (sendmmsg)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
address = struct.pack('=H', 2) + struct.pack('>H', int(E['UDP'])) + bytes([127, 0, 0, 1]) + bytes(8)
name, data = ctypes.create_string_buffer(address), ctypes.create_string_buffer(b'x')
vector = struct.pack('QQ', ctypes.addressof(data), 1)
vectors = ctypes.create_string_buffer(vector)
head = struct.pack('QI4xQQQQi4xI4x', ctypes.addressof(name), 16, ctypes.addressof(vectors), 1, 0, 0, 0, 0)
libc.sendmmsg(s.fileno(), ctypes.create_string_buffer(head), 1, 0)
#: 47 | an echo request | root
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
given(s.sendto(b'\x08\0\0\0\0\0\0\1data', ('127.0.0.1', 0)) > 0)
#: 47 | an echo request without rights | kernel
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1)
given(s.sendto(b'\x08\0\0\0\0\0\0\1data', ('127.0.0.1', 0)) > 0)
#: 47 | a stream of messages (SCTP) | kernel
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
given(True)
