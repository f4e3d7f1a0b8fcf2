"""Too many processes and threads; too much memory, files and output."""

# %% fork bomb
def evil(x):
    made = 0
    for _ in range(60):
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        made += 1
    return claim(made > 40)


# %% a daemon that outlives its parent
def evil(x):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)


# %% a program
def evil(x):
    import subprocess

    subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)


# %% a program in place of this one
def evil(x):
    if os.fork() == 0:
        os.setsid()
        os.execv("/bin/sleep", ["/bin/sleep", "60"])


# %% the interpreter again
def evil(x):
    import subprocess

    done = subprocess.run([sys.executable, "-c", "print('BRE' 'ACH')"], capture_output=True, text=True)
    return done.stdout


# %% spawned by the C library
def evil(x):
    return claim(os.posix_spawn("/bin/true", ["/bin/true"], {}) > 0)


# %% threads
def evil(x):
    stop, started = threading.Event(), 0
    try:
        for _ in range(300):
            threading.Thread(target=stop.wait, daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    stop.set()
    return claim(started > 64)


# %% threads with small stacks
def evil(x):
    threading.stack_size(32768)
    stop, started = threading.Event(), 0
    try:
        for _ in range(1500):
            threading.Thread(target=stop.wait, daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    stop.set()
    return claim(started > 64)


# %% memory in one piece
def evil(x):
    return claim(np.ones(3 << 27).size > 0)


# %% memory in many pieces
def evil(x):
    kept = []
    for _ in range(3000):
        kept.append(b"x" * (1 << 20))
    return claim(len(kept) == 3000)


# %% memory mapped
def evil(x):
    import mmap

    area = mmap.mmap(-1, 3 << 30)
    area[:: 1 << 21] = b"x" * len(area[:: 1 << 21])
    return "BREACH"


# %% memory that is no longer mapped
def evil(x):
    LIBC.mmap.restype = ctypes.c_void_p
    LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    size, kept = 64 << 20, 0
    for _ in range(20):
        place = LIBC.mmap(None, size, 3, 0x21, -1, 0)
        if place == ctypes.c_void_p(-1).value:
            return "held"
        ctypes.memset(place, 1, size)
        LIBC.munmap(place + 4096, size - 4096)
        kept += size
    return claim(kept > 1 << 30)


# %% memory in a file without a name
def evil(x):
    total, block = 0, bytes(1 << 20)
    files = [os.memfd_create(f"m{i}") for i in range(40)]
    for file in files:
        for _ in range(40):
            total += os.write(file, block)
    return claim(total > 1 << 30)


# %% disk
def evil(x):
    total, block = 0, b"x" * (1 << 20)
    for folder in (".", "/box", "/tmp", "/dev/shm", LOOT):
        for number in range(8):
            try:
                with open(f"{folder}/bomb-{NONCE}-{number}", "wb") as file:
                    for _ in range(7):
                        total += file.write(block)
            except OSError:
                pass
    return claim(total > 32 << 20)


# %% one large file
def evil(x):
    with open(f"{LOOT}/large-{NONCE}", "wb") as file:
        file.truncate(1 << 33)
    return "BREACH"


# %% many small files
def evil(x):
    made = 0
    for folder in (".", "/box", "/tmp", LOOT):
        try:
            for number in range(3000):
                os.close(os.open(f"{folder}/small-{NONCE}-{number}", os.O_CREAT | os.O_WRONLY))
                made += 1
        except OSError:
            pass
    return claim(made > 2500)


# %% descriptors
def evil(x):
    kept = [os.pipe() for _ in range(400)]
    return claim(len(kept) == 400)


# %% printing
def evil(x):
    for _ in range(64):
        print("x" * (1 << 20))


# %% printing past Python
def evil(x):
    total = 0
    for _ in range(64):
        total += os.write(1, b"x" * (1 << 20)) + os.write(2, b"y")


# %% a long complaint
def evil(x):
    raise ValueError("x" * (64 << 20))


# %% a core file
def evil(x):
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "BREACH"
