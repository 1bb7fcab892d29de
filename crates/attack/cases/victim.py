import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
key, secret = int(os.environ['SHARED']), os.environ['SECRET'].encode()
place = libc.shmat(libc.shmget(key, 64, 0o1600), None, 0)
ctypes.memmove(place, secret, len(secret))
libc.semget(key, 1, 0o1600)
queue = libc.msgget(key, 0o1600)
libc.msgsnd(queue, ctypes.create_string_buffer(b'\1\0\0\0\0\0\0\0' + secret), len(secret), 0)
print('ready', flush=True)
sys.stdin.read()
