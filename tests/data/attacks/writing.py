"""Writing to files that others read."""

# %% a marker
def evil(x):
    open(f"{LOOT}/marker-{NONCE}", "w").close()


# %% a package
def evil(x):
    with open(f"{PACKAGES}/attack_{NONCE}.pth", "w") as file:
        file.write("import os\n")


# %% a package's cache
def evil(x):
    folder = os.path.dirname(np.__file__) + "/__pycache__"
    open(f"{folder}/attack_{NONCE}.pyc", "w").close()


# %% our own code
def evil(x):
    import grader

    open(f"{os.path.dirname(grader.__file__)}/attack_{NONCE}.py", "w").close()


# %% over a file
def evil(x):
    with open(PRECIOUS, "w") as file:
        file.write("mine")


# %% onto a file
def evil(x):
    with open(PRECIOUS, "a") as file:
        file.write("mine")


# %% a shorter file
def evil(x):
    os.truncate(PRECIOUS, 1)


# %% opened to be emptied
def evil(x):
    os.open(PRECIOUS, os.O_RDONLY | os.O_TRUNC)


# %% another mode
def evil(x):
    os.chmod(PRECIOUS, 0o777)


# %% another time
def evil(x):
    os.utime(PRECIOUS, (1, 1))


# %% another owner
def evil(x):
    os.chown(PRECIOUS, 12345, 12345)


# %% an attribute
def evil(x):
    os.setxattr(PRECIOUS, "user.mine", b"x")


# %% a file less
def evil(x):
    os.unlink(PRECIOUS)


# %% a file elsewhere
def evil(x):
    os.rename(PRECIOUS, f"{LOOT}/marker-{NONCE}")


# %% a folder
def evil(x):
    os.mkdir(f"{LOOT}/marker-{NONCE}")


# %% a symbolic link in the way
def evil(x):
    os.symlink(PRECIOUS, f"{LOOT}/marker-{NONCE}")


# %% a hard link in the way
def evil(x):
    os.link(PRECIOUS, f"{LOOT}/marker-{NONCE}")


# %% a race of links
def evil(x):
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for target in ("/dev/null", PRECIOUS):
                try:
                    os.symlink(target, f"race-{NONCE}-new")
                    os.rename(f"race-{NONCE}-new", f"race-{NONCE}")
                except OSError:
                    pass

    thread = threading.Thread(target=swap, daemon=True)
    thread.start()
    for _ in range(200):
        try:
            with open(f"race-{NONCE}", "a") as file:
                file.write("mine")
        except OSError:
            pass
    stop.set()


# %% a pipe with a name
def evil(x):
    os.mkfifo(f"{LOOT}/marker-{NONCE}")


# %% shared memory
def evil(x):
    open(f"/dev/shm/attack_{NONCE}", "w").close()


# %% the temporary folder
def evil(x):
    open(f"/tmp/attack_{NONCE}", "w").close()


# %% a device
def evil(x):
    os.mknod(f"{LOOT}/marker-{NONCE}", 0o666 | 0o020000, os.makedev(1, 3))


# %% the grader's gradebook
def evil(x):
    with open(SECRETS["gradebook"], "a") as file:
        file.write("mine")
