"""Harm to other processes: the grader, the zygote, the sibling."""

# %% kill the grader
def evil(x):
    os.kill(GRADER, signal.SIGKILL)


# %% kill the parent
def evil(x):
    os.kill(os.getppid() or ZYGOTE, signal.SIGKILL)
    os.kill(ZYGOTE, signal.SIGKILL)


# %% kill the sibling
def evil(x):
    os.kill(SIBLING, signal.SIGKILL)


# %% kill the grader's group
def evil(x):
    os.killpg(GRADER, signal.SIGKILL)


# %% kill every neighbour there may be
def evil(x):
    for pid in (GRADER, ZYGOTE, SIBLING):
        for number in range(max(pid - 3, 2), pid + 4):
            if number in (GRADER, ZYGOTE, SIBLING):
                try:
                    os.kill(number, signal.SIGTERM)
                except OSError:
                    pass


# %% kill whoever shares this view
def evil(x):
    # Only where these pids can only be workers: outside bubblewrap's view they could be any process.
    if os.path.isdir("/box") and not os.path.exists("/etc/passwd"):
        for pid in range(2, 300):
            if pid != os.getpid():
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
    else:
        os.kill(ZYGOTE, signal.SIGKILL)


# %% stop the sibling
def evil(x):
    os.kill(SIBLING, signal.SIGSTOP)


# %% a signal with a message
def evil(x):
    info = ctypes.create_string_buffer(struct.pack("iiiiii", 9, 0, -1, 0, os.getpid(), os.getuid()) + bytes(104))
    call("rt_sigqueueinfo", SIBLING, 9, info)


# %% a signal through a pidfd
def evil(x):
    call("pidfd_send_signal", call("pidfd_open", SIBLING, 0), 9, 0, 0)


# %% a signal to a thread
def evil(x):
    LIBC.tgkill(SIBLING, SIBLING, 9)
    LIBC.syscall(ctypes.c_long(130 if sys.maxsize and os.uname().machine == "aarch64" else 200), SIBLING, 9)


# %% the kernel sends the signal
def evil(x):
    import fcntl

    a, b = os.pipe()
    for victim in (ZYGOTE, SIBLING, GRADER):
        fcntl.fcntl(a, fcntl.F_SETOWN, victim)
        fcntl.fcntl(a, 10, signal.SIGKILL)  # F_SETSIG
        fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
        os.write(b, b"x")
        time.sleep(0.05)


# %% attach to the grader
def evil(x):
    result = call("ptrace", 16, GRADER, 0, 0)
    call("ptrace", 17, GRADER, 0, 0)
    return claim(result >= 0)


# %% seize the sibling
def evil(x):
    return claim(call("ptrace", 0x4206, SIBLING, 0, 0) >= 0)


# %% read the grader's memory
def evil(x):
    target = ctypes.create_string_buffer(TOKEN_LENGTH)
    ours = struct.pack("QQ", ctypes.addressof(target), TOKEN_LENGTH)
    theirs = struct.pack("QQ", TOKEN_ADDRESS, TOKEN_LENGTH)
    call("process_vm_readv", GRADER, ours, 1, theirs, 1, 0)
    return target.raw


# %% write the sibling's memory
def evil(x):
    source = ctypes.create_string_buffer(b"x")
    ours = struct.pack("QQ", ctypes.addressof(source), 1)
    return claim(call("process_vm_writev", SIBLING, ours, 1, struct.pack("QQ", TOKEN_ADDRESS + 1000, 1), 1, 0) > 0)


# %% write the parent's memory
def evil(x):
    return first(lambda: open(f"/proc/{ZYGOTE}/mem", "r+b", buffering=0) and "BREACH")


# %% take the grader's descriptors
def evil(x):
    opened = call("pidfd_open", GRADER, 0)
    return claim(opened >= 0 and any(call("pidfd_getfd", opened, number, 0) >= 0 for number in range(16)))


# %% the grader's limits
def evil(x):
    import resource

    soft, hard = resource.prlimit(GRADER, resource.RLIMIT_CORE)
    resource.prlimit(GRADER, resource.RLIMIT_CORE, (soft, hard))
    return "BREACH"


# %% one's own limits
def evil(x):
    import resource

    for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE):
        resource.setrlimit(kind, resource.getrlimit(kind))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return "BREACH"


# %% the grader's priority
def evil(x):
    os.setpriority(os.PRIO_PROCESS, GRADER, 1)
    return "BREACH"


# %% the sibling's processors
def evil(x):
    os.sched_setaffinity(SIBLING, os.sched_getaffinity(0))
    return "BREACH"


# %% first to die when memory is short
def evil(x):
    with open(f"/proc/{GRADER}/oom_score_adj", "w") as file:
        file.write("1000")
    return "BREACH"
