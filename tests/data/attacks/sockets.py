"""Sockets of every kind."""

# %% TCP
def evil(x):
    socket.create_connection(("127.0.0.1", PORT), timeout=2).sendall(NONCE.encode())
    return "BREACH"


# %% a server
def evil(x):
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    return "BREACH"


# %% UDP
def evil(x):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))
    return "BREACH"


# %% IPv6
def evil(x):
    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    return "BREACH"


# %% a socket with a path
def evil(x):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(UNIX)
    sock.sendall(NONCE.encode())
    return "BREACH"


# %% a socket with a name
def evil(x):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect("\0" + ABSTRACT)
    sock.sendall(NONCE.encode())
    return "BREACH"


# %% a pair that passes descriptors on
def evil(x):
    ours, theirs = socket.socketpair()
    socket.send_fds(ours, [b"x"], [0])
    return claim(len(socket.recv_fds(theirs, 1, 1)[1]) == 1)


# %% data out of band
def evil(x):
    ours, theirs = socket.socketpair()
    return claim(ours.send(b"xx", socket.MSG_OOB) > 0)


# %% who is at the other end
def evil(x):
    channel = socket.socket(fileno=os.dup(3))
    return claim(len(channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)) == 12)


# %% netlink
def evil(x):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    return "BREACH"


# %% raw packets
def evil(x):
    return first(
        lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) and "BREACH",
        lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and "BREACH",
    )


# %% kinds few have heard of
def evil(x):
    return claim(any(LIBC.socket(family, kind, 0) >= 0 for family in range(1, 46) for kind in (1, 2, 3, 5)))


# %% an address looked up
def evil(x):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect(("127.0.0.53", 53))
    return "BREACH"
