"""Faults of the file system, as a sentence that says what to do next."""

from __future__ import annotations

import errno

_NEXT = {
    errno.ENOSPC: "the disk is full. Make room, then run it again",
    errno.EDQUOT: "your quota is used up. Make room, then run it again",
    errno.EFBIG: "it is larger than this system allows. Raise the limit (ulimit -f), then run it again",
    errno.EROFS: "it is on a read-only file system. Name another place",
    errno.EACCES: "you have no permission. Change its permissions, or name another place",
    errno.EPERM: "you have no permission. Change its permissions, or name another place",
    errno.ENOENT: "there is no such file or folder. Check the path",
    errno.ENOTDIR: "a part of the path is a file, not a folder. Name another path",
    errno.EEXIST: "a file is where a folder should be. Name another path, or move the file away",
    errno.EISDIR: "it is a folder where a file should be. Name another path, or move the folder away",
    errno.ENOTEMPTY: "it is a folder that is not empty. Name another path, or move the folder away",
    errno.ENAMETOOLONG: "the name is too long. Use a shorter one",
    errno.ELOOP: "its links lead in a circle. Name the file itself",
    errno.EMFILE: "too many files are open. Raise the limit (ulimit -n), then run it again",
    errno.ENFILE: "too many files are open. Close programs, then run it again",
    errno.ENOMEM: "there is not enough memory. Close programs or use fewer processes (-j 1), then run it again",
    errno.EIO: "the disk or network drive does not answer. Check it, then run it again",
    errno.EPIPE: "the program that read the output has ended. Run it again without the pipe",
}

# These need no path to make sense.
_OF_THE_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EPIPE}


def system_sentence(error: OSError) -> str:
    """Return what happened and the next step."""
    path = error.filename2 or error.filename
    where = f"{path}: " if isinstance(path, str) else f"{path.decode(errors='replace')}: " if path else ""
    known = _NEXT.get(error.errno or 0)
    if known and (where or error.errno in _OF_THE_MACHINE):
        return f"{where}{known}"
    return f"{where}{error.strerror or error}. Check the path and this machine, then run it again"
