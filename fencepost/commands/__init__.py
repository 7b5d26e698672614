"""The commands of the command line, one file each: `add_arguments` says what it takes, `run` does it."""
