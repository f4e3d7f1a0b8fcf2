"""The system call filter: the system calls that a worker may make, as a BPF program.

A call on the list is allowed. A call that no honest program makes ends the process. Any other call fails with an error,
because a library that only tries it can continue without it. libseccomp would build the same program, but a container
without libseccomp would have no jail. A test compares our system call numbers with libseccomp's.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import struct

from grader.sandbox.jail import kernel, syscalls

_ALLOWED = """
read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 close close_range lseek dup dup2 dup3 pipe
pipe2 getdents getdents64 getcwd chdir fchdir stat lstat fstat newfstatat statx statfs fstatfs access faccessat
faccessat2 readlink readlinkat mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 ftruncate fallocate
fsync fdatasync fadvise64 umask brk munmap mprotect mremap madvise mincore msync membarrier futex futex_waitv
set_robust_list get_robust_list rseq set_tid_address arch_prctl exit exit_group restart_syscall rt_sigaction
rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack pause alarm setitimer getitimer
nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times getrusage getrandom sched_yield
sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min getcpu getpriority
uname sysinfo getpid getppid gettid getuid geteuid getgid getegid getgroups getresuid getresgid getpgid getpgrp
getsid getrlimit wait4 waitid poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
epoll_pwait2 eventfd eventfd2 getsockname getpeername
"""

_ALLOWED_WITH_GPU = "bind listen"

_FATAL = """
ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_open pidfd_getfd
pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo mount umount2 move_mount open_tree fsopen fsconfig fsmount
fspick mount_setattr pivot_root chroot unshare setns bpf perf_event_open io_uring_setup io_uring_enter
io_uring_register userfaultfd add_key request_key keyctl init_module finit_module delete_module kexec_load
kexec_file_load reboot swapon swapoff acct quotactl name_to_handle_at open_by_handle_at iopl ioperm modify_ldt
settimeofday clock_settime sethostname setdomainname syslog
"""

# glibc falls back to an older call if these do not exist.
_UNKNOWN = "clone3 openat2"

_CLONE_THREAD = 0x00010000
_CLONE_FILES = 0x00000400  # without it, each thread would have its own table of descriptors with its own limit
_CLONE_NAMESPACES = 0x7E020080
_MAP_PRIVATE, _MAP_ANONYMOUS, _MAP_TYPE = 0x02, 0x20, 0x0F
_SOCKET_OPTIONS = (3, 38, 39)  # SO_TYPE, SO_PROTOCOL, SO_DOMAIN: Python reads these from a given descriptor
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC. Not F_SETOWN: it makes the kernel send signals.
_FCNTL = (0, 1, 2, 3, 4, 1030)
_UVM = (0x30000001, 0x30000002)  # UVM_INITIALIZE, UVM_DEINITIALIZE
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_GET_SECCOMP, PR_SET_VMA
_PRCTL = (3, 15, 16, 23, 21, 0x53564D41)

_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_X32 = 0x40000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2

Instruction = tuple[int, int, int, int]  # code, skip if true, skip if false, operand


def _error(number: int) -> int:
    return 0x00050000 | number


def build(pid: int, *, threads: bool, gpu: bool = False) -> bytes:
    """Return the filter for a worker whose own pid is `pid`. `threads`: it may start threads. `gpu`: it has a GPU."""
    number = syscalls.numbers()
    refused = _error(errno.EPERM)
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, syscalls.architecture()),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),  # the x32 numbering of x86_64, which no comparison below would match
        (_RETURN, 0, 0, _KILL),
    ]
    allowed = f"{_ALLOWED} {_ALLOWED_WITH_GPU}" if gpu else _ALLOWED
    for names, action in ((allowed, _ALLOW), (_FATAL, _KILL), (_UNKNOWN, _error(errno.ENOSYS))):
        for name in names.split():
            if name in number:
                program += _when(number[name], [(_RETURN, 0, 0, action)])
    conditional = {
        "open": _unless_emptied(1),
        "openat": _unless_emptied(2),
        "mmap": [(_RETURN, 0, 0, _ALLOW)] if gpu else _unless_shared_memory(),  # the driver shares memory with itself
        "sendto": _if_argument(
            3, (0,), refused
        ),  # no flags: out-of-band data would open a rarely used part of the kernel
        "recvfrom": _if_argument(3, (0,), refused),
        "getsockopt": _if_argument(2, _SOCKET_OPTIONS, refused),
        "socket": _if_argument(0, (socket.AF_UNIX,), refused)
        if gpu
        else [],  # the driver listens, but nothing can connect
        "socketpair": _if_argument(0, (socket.AF_UNIX,), refused),  # asyncio uses one to wake itself
        "fcntl": _if_argument(1, _FCNTL, refused),
        "ioctl": [*(_if_of_gpu(1) if gpu else ()), *_if_argument(1, _IOCTL, _error(errno.ENOTTY))],
        "prctl": _if_argument(0, _PRCTL, refused),
        "prlimit64": _if_null(2),  # to read a limit, not to set one
        "kill": _if_own_signal(pid, 1),
        "tgkill": _if_own_signal(pid, 2),
        "clone": _if_thread() if threads else [],
    }
    for name, block in conditional.items():
        if name in number:
            program += _when(number[name], [*block, (_RETURN, 0, 0, refused)])
    program.append((_RETURN, 0, 0, refused))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def load(program: bytes) -> None:
    """Apply a filter to this process and everything that it starts."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    arguments = (ctypes.c_ulong(_MODE_FILTER), header, ctypes.c_ulong(0), ctypes.c_ulong(0))
    kernel.call("prctl", ctypes.c_int(_PR_SET_SECCOMP), *arguments)


def _when(number: int, block: list[Instruction]) -> list[Instruction]:
    """Run a block if the call has this number. The block must end with a return."""
    return [(_EQUAL, 0, len(block), number), *block]


def _unless_emptied(flags_index: int) -> list[Instruction]:
    """Allow opening a file, except for reading with truncation, or with access mode 3 (neither read nor write).

    Landlock does not see the first before Linux 6.2, and does not check the second.
    """
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * flags_index),
        (_AND, 0, 0, os.O_ACCMODE | os.O_TRUNC),
        (_EQUAL, 3, 0, os.O_TRUNC),
        (_EQUAL, 2, 0, os.O_ACCMODE),
        (_EQUAL, 1, 0, os.O_ACCMODE | os.O_TRUNC),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _unless_shared_memory() -> list[Instruction]:
    """Allow mapping of files and private memory. Shared memory stays after it is unmapped, outside every limit."""
    flags = _ARGUMENTS + 8 * 3
    return [
        (_LOAD, 0, 0, flags),
        (_AND, 0, 0, _MAP_ANONYMOUS),
        (_EQUAL, 3, 0, 0),
        (_LOAD, 0, 0, flags),
        (_AND, 0, 0, _MAP_ANONYMOUS | _MAP_TYPE),
        (_EQUAL, 0, 1, _MAP_ANONYMOUS | _MAP_PRIVATE),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _if_null(index: int) -> list[Instruction]:
    """Allow the call if a pointer argument is null (both 32-bit halves)."""
    low = _ARGUMENTS + 8 * index
    return [
        (_LOAD, 0, 0, low),
        (_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, low + 4),
        (_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _if_argument(index: int, values: tuple[int, ...], otherwise: int) -> list[Instruction]:
    """Allow the call if an argument is one of these values. The kernel, too, reads only 32 bits of it."""
    block: list[Instruction] = [(_LOAD, 0, 0, _ARGUMENTS + 8 * index)]
    for value in values:
        block += _when(value, [(_RETURN, 0, 0, _ALLOW)])
    return [*block, (_RETURN, 0, 0, otherwise)]


def _if_of_gpu(index: int) -> list[Instruction]:
    """Allow the requests of NVIDIA's driver: those with its letter, and the plain numbers of its memory manager."""
    load = (_LOAD, 0, 0, _ARGUMENTS + 8 * index)
    block: list[Instruction] = [load, (_AND, 0, 0, 0xFF00), *_when(ord("F") << 8, [(_RETURN, 0, 0, _ALLOW)])]
    block += [load, (_AND, 0, 0, 0xFFFFF000), *_when(0, [(_RETURN, 0, 0, _ALLOW)])]
    return [*block, load, *(one for request in _UVM for one in _when(request, [(_RETURN, 0, 0, _ALLOW)]))]


def _if_own_signal(pid: int, signal_index: int) -> list[Instruction]:
    """Allow signals to this process itself, as `raise` and `abort` send them, except SIGKILL."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS),
        (_EQUAL, 0, 3, pid),
        (_LOAD, 0, 0, _ARGUMENTS + 8 * signal_index),
        (_EQUAL, 1, 0, signal.SIGKILL),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _KILL),
    ]


def _if_thread() -> list[Instruction]:
    """Allow `clone` for a thread without new namespaces. A new process is refused."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS),
        (_AND, 0, 0, _CLONE_THREAD | _CLONE_FILES | _CLONE_NAMESPACES),
        (_EQUAL, 0, 1, _CLONE_THREAD | _CLONE_FILES),
        (_RETURN, 0, 0, _ALLOW),
    ]
