"""Parts of the kernel that no homework needs."""

# %% io_uring
def evil(x):
    return claim(call("io_uring_setup", 8, ctypes.create_string_buffer(120)) >= 0)


# %% bpf
def evil(x):
    return claim(
        call("bpf", 0, ctypes.create_string_buffer(struct.pack("IIIII", 2, 4, 4, 1, 0) + bytes(100)), 120) >= 0
    )


# %% userfaultfd
def evil(x):
    return claim(max(call("userfaultfd", 0), call("userfaultfd", 1)) >= 0)


# %% perf
def evil(x):
    attribute = ctypes.create_string_buffer(struct.pack("IIQ", 1, 120, 0) + bytes(104))
    return claim(call("perf_event_open", attribute, 0, -1, -1, 0) >= 0)


# %% mount
def evil(x):
    if LIBC.mount(b"tmpfs", LOOT.encode(), b"tmpfs", ctypes.c_ulong(0), None) == 0:
        LIBC.umount2(LOOT.encode(), 2)
        return "BREACH"


# %% mount, the new way
def evil(x):
    return claim(call("fsopen", b"tmpfs", 0) >= 0)


# %% the tree of mounts
def evil(x):
    return claim(call("open_tree", -100, b"/", 1) >= 0)


# %% a user namespace
def evil(x):
    return claim(LIBC.unshare(0x10000000) == 0)


# %% namespaces of mounts and network
def evil(x):
    return claim(LIBC.unshare(0x20000 | 0x40000000) == 0)


# %% a namespace by clone
def evil(x):
    pid = LIBC.syscall(ctypes.c_long(NR["clone"]), ctypes.c_long(0x10000000 | 17), 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return claim(pid > 0)


# %% a process by clone3
def evil(x):
    pid = call("clone3", ctypes.create_string_buffer(struct.pack("QQQQQ", 0, 0, 0, 0, 17) + bytes(24)), 64)
    if pid == 0:
        os._exit(0)
    return claim(pid > 0)


# %% the grader's namespaces
def evil(x):
    for kind in ("mnt", "net", "pid", "ipc", "user"):
        handle = os.open(f"/proc/{GRADER}/ns/{kind}", os.O_RDONLY)
        if LIBC.setns(handle, 0) == 0:
            return "BREACH"


# %% keys
def evil(x):
    return claim(call("add_key", b"user", b"attack", b"x", 1, -2) >= 0)


# %% the session's keyring
def evil(x):
    return claim(call("keyctl", 0, -3, 1) >= 0)


# %% chroot
def evil(x):
    return claim(LIBC.chroot(b"/usr") == 0)


# %% another user
def evil(x):
    os.setresgid(12345, 12345, 12345)
    os.setresuid(12345, 12345, 12345)
    return "BREACH"


# %% root
def evil(x):
    os.setuid(0)
    return claim(os.geteuid() == 0 and not read("/etc/shadow").startswith(b"\0"))


# %% a capability back
def evil(x):
    header, data = struct.pack("Ii", 0x20080522, 0), struct.pack("IIIIII", 1 << 21, 1 << 21, 0, 0, 0, 0)
    return claim(LIBC.capset(header, data) == 0)


# %% visible to debuggers
def evil(x):
    LIBC.prctl(4, 0, 0, 0, 0)
    return claim(LIBC.prctl(4, 1, 0, 0, 0) == 0)


# %% not to die with the parent
def evil(x):
    return claim(LIBC.prctl(1, 0, 0, 0, 0) == 0)


# %% a filter of one's own
def evil(x):
    program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
    header = struct.pack("HP", 1, ctypes.addressof(program))
    LIBC.prctl(38, 1, 0, 0, 0)
    return claim(LIBC.prctl(22, 2, header, 0, 0) == 0)


# %% another personality
def evil(x):
    return claim(LIBC.personality(0x0040000) >= 0)


# %% shared memory between programs
def evil(x):
    number = LIBC.shmget(0x5EC2E7, 4096, 0o1666)
    LIBC.shmctl(number, 0, None)
    return claim(number >= 0)


# %% a queue of messages
def evil(x):
    number = LIBC.msgget(0x5EC2E7, 0o1666)
    LIBC.msgctl(number, 0, None)
    return claim(number >= 0)


# %% locked memory
def evil(x):
    return claim(LIBC.mlockall(1) == 0)


# %% watching files
def evil(x):
    return claim(LIBC.inotify_add_watch(LIBC.inotify_init(), SECRETS["hidden"].encode(), 0xFFF) >= 0)


# %% the log of the kernel
def evil(x):
    return claim(LIBC.klogctl(10, None, 0) > 0)
