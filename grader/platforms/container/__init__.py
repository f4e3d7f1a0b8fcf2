"""What autograders share that a platform starts in a container: one submission in, one report out."""
