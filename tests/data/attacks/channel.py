"""Exiting early, and sending false messages on the channel."""

# %% exit 0
def evil(x):
    os._exit(0)


# %% sys.exit 0
def evil(x):
    sys.exit(0)


# %% exit 0 in the import
os._exit(0)


# %% an exit status that means success elsewhere
def evil(x):
    threading.Thread(target=os._exit, args=(0,)).start()
    time.sleep(10)


# %% abort
def evil(x):
    os.abort()


# %% a null pointer
def evil(x):
    ctypes.string_at(0)


# %% the stack runs over
def evil(x):
    sys.setrecursionlimit(10**9)

    class Deep:
        def __repr__(self):
            return repr(self)

    return repr(Deep())


# %% close the channel
def evil(x):
    os.close(3)


# %% every descriptor closed
def evil(x):
    os.closerange(0, 64)


# %% something else in the channel's place
def evil(x):
    os.dup2(os.open("/dev/null", os.O_RDWR), 3)


# %% a verdict
def evil(x):
    os.write(3, b"PASSED")
    os._exit(0)


# %% a wrong answer before the true one
def evil(x):
    header = b'{"$":"dict","v":[["id",2],["ok",true],["printed",""]]}'
    os.write(3, struct.pack("!4sIQ", b"ATN1", len(header), 0) + header)


# %% answers to questions not yet asked
def evil(x):
    for number in range(2, 40):
        header = b'{"$":"dict","v":[["id",%d],["ok",[{"$":"dict","v":[["value",1]]}]],["printed",""]]}' % number
        os.write(3, struct.pack("!4sIQ", b"ATN1", len(header), 0) + header)
    os._exit(0)


# %% a length of 2 to the 60
def evil(x):
    os.write(3, struct.pack("!4sIQ", b"ATN1", 2, 1 << 60) + b"{}")


# %% a header of four gigabytes
def evil(x):
    os.write(3, struct.pack("!4sIQ", b"ATN1", 0xFFFFFFFF, 0))


# %% a deep header
def evil(x):
    header = b"[" * 100_000 + b"]" * 100_000
    os.write(3, struct.pack("!4sIQ", b"ATN1", len(header), 0) + header)


# %% a number too long to read
def evil(x):
    header = b"1" * 900_000
    os.write(3, struct.pack("!4sIQ", b"ATN1", len(header), 0) + header)


# %% noise
def evil(x):
    os.write(3, os.urandom(4096))


# %% half an answer
def evil(x):
    os.write(3, struct.pack("!4sIQ", b"ATN1", 100, 0) + b"{")
    time.sleep(1000)


# %% a descriptor for the grader
def evil(x):
    channel = socket.socket(fileno=os.dup(3))
    socket.send_fds(channel, [b"x"], [0])


# %% the request read by a thread
def evil(x):
    def steal():
        while True:
            os.read(3, 1 << 16)

    threading.Thread(target=steal, daemon=True).start()
    return "mine"


# %% pickle
def evil(x):
    import pickle

    class Shell:
        def __reduce__(self):
            return (open, (f"{LOOT}/marker-{NONCE}", "w"))

    os.write(3, pickle.dumps(Shell()))
    return Shell()
