"""Where the results of a class are kept: a folder, or a PostgreSQL database that several graders share."""
