# Sockets of every kind.

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


# %% a pair
def evil(x):
    socket.socketpair()
    return "BREACH"


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
