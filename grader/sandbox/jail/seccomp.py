"""The system call filter: the system calls that a worker may make, as a BPF program.

A call on the list is allowed. A call that no honest program makes ends the process. Any other call fails with an error,
because a library that only tries it can continue without it. libseccomp would build the same program, but a container
without libseccomp would have no jail. A test compares our system call numbers with libseccomp's.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import socket
import struct

from grader.sandbox.jail import kernel

# name, number on x86_64, number on aarch64; "-" if an architecture does not have it.
_TABLE = """
access 21 -  acct 163 89  add_key 248 217  alarm 37 -  arch_prctl 158 -  bind 49 200  bpf 321 280  brk 12 214
chdir 80 49  chroot 161 51  clock_getres 229 114  clock_gettime 228 113  clock_nanosleep 230 115  clock_settime 227 112
clone 56 220  clone3 435 435  close 3 57  close_range 436 436  delete_module 176 106  dup 32 23  dup2 33 -
dup3 292 24  epoll_create 213 -  epoll_create1 291 20  epoll_ctl 233 21  epoll_pwait 281 22  epoll_pwait2 441 441
epoll_wait 232 -  eventfd 284 -  eventfd2 290 19  exit 60 93  exit_group 231 94  faccessat 269 48
faccessat2 439 439  fadvise64 221 223  fallocate 285 47  fchdir 81 50  fcntl 72 25  fdatasync 75 83
finit_module 313 273  flock 73 32  fork 57 -  fsconfig 431 431  fsmount 432 432  fsopen 430 430  fspick 433 433
fstat 5 80  fstatfs 138 44  fsync 74 82  ftruncate 77 46  futex 202 98  futex_waitv 449 449  get_robust_list 274 100
getcpu 309 168  getcwd 79 17  getdents 78 -  getdents64 217 61  getegid 108 177  geteuid 107 175  getgid 104 176
getgroups 115 158  getitimer 36 102  getpeername 52 205  getpgid 121 155  getpgrp 111 -  getpid 39 172
getppid 110 173  getpriority 140 141  getrandom 318 278  getresgid 120 150  getresuid 118 148  getrlimit 97 163
getrusage 98 165  getsid 124 156  getsockname 51 204  getsockopt 55 209  gettid 186 178  gettimeofday 96 169
getuid 102 174  init_module 175 105  io_uring_enter 426 426  io_uring_register 427 427  io_uring_setup 425 425
ioctl 16 29  ioperm 173 -  iopl 172 -  kcmp 312 272  kexec_file_load 320 294  kexec_load 246 104  keyctl 250 219
kill 62 129  listen 50 201  lseek 8 62  lstat 6 -  madvise 28 233  membarrier 324 283  mincore 27 232
mkdir 83 -  mkdirat 258 34
mmap 9 222  modify_ldt 154 -  mount 165 40  mount_setattr 442 442  move_mount 429 429  mprotect 10 226
mremap 25 216  msync 26 227  munmap 11 215  name_to_handle_at 303 264  nanosleep 35 101  newfstatat 262 79  open 2 -
open_by_handle_at 304 265  open_tree 428 428  openat 257 56  openat2 437 437  pause 34 -  perf_event_open 298 241
pidfd_getfd 438 438  pidfd_open 434 434  pidfd_send_signal 424 424  pipe 22 -  pipe2 293 59  pivot_root 155 41
poll 7 -  ppoll 271 73  prctl 157 167  pread64 17 67  preadv 295 69  preadv2 327 286  prlimit64 302 261
process_madvise 440 440  process_mrelease 448 448  process_vm_readv 310 270  process_vm_writev 311 271
pselect6 270 72  ptrace 101 117  pwrite64 18 68  pwritev 296 70  pwritev2 328 287  quotactl 179 60  read 0 63
readlink 89 -  readlinkat 267 78  readv 19 65  reboot 169 142  recvfrom 45 207  rename 82 -  renameat 264 38
renameat2 316 276  request_key 249 218  restart_syscall 219 128  rmdir 84 -  rseq 334 293  rt_sigaction 13 134
rt_sigpending 127 136  rt_sigprocmask 14 135  rt_sigqueueinfo 129 138  rt_sigreturn 15 139  rt_sigsuspend 130 133
rt_sigtimedwait 128 137  rt_tgsigqueueinfo 297 240  sched_get_priority_max 146 125  sched_get_priority_min 147 126
sched_getaffinity 204 123  sched_getparam 143 121  sched_getscheduler 145 120  sched_yield 24 124  select 23 -
sendto 44 206  set_robust_list 273 99  set_tid_address 218 96  setdomainname 171 162  sethostname 170 161
setitimer 38 103  setns 308 268  settimeofday 164 170  sigaltstack 131 132  socket 41 198  socketpair 53 199  stat 4 -
statfs 137 43  statx 332 291  swapoff 168 225  swapon 167 224  sysinfo 99 179  syslog 103 116  tgkill 234 131
time 201 -  times 100 153  umask 95 166  umount2 166 39  uname 63 160  unlink 87 -  unlinkat 263 35  unshare 272 97
userfaultfd 323 282  vfork 58 -  wait4 61 260  waitid 247 95  write 1 64  writev 20 66
"""

# The column in the table, and the kernel's number for the architecture (AUDIT_ARCH_…).
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


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


class UnknownMachineError(OSError):
    """An architecture that the table does not cover."""


def architecture() -> int:
    """Return the number of this machine's architecture in a system call filter."""
    return _architecture_of("")[1]


def numbers(machine: str = "") -> dict[str, int]:
    """Return the system call numbers of an architecture, by default this machine's."""
    column = _architecture_of(machine)[0]
    words = _TABLE.split()
    rows = zip(words[0::3], words[1 + column :: 3], strict=True)
    return {name: int(number) for name, number in rows if number != "-"}


def _architecture_of(machine: str) -> tuple[int, int]:
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        raise UnknownMachineError(f"there is no system call filter for {machine or 'this machine'}")
    return _ARCHITECTURES[machine]


def build(pid: int, *, threads: bool, gpu: bool = False) -> bytes:
    """Return the filter for a worker whose own pid is `pid`. `threads`: it may start threads. `gpu`: it has a GPU."""
    number = numbers()
    refused = _error(errno.EPERM)
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture()),
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
