"""What a user can do to a kernel, one file each: a frozen dataclass whose fields are its options, with `apply`.

The command line makes its arguments of these fields, hosts and Python callers give them by name.
"""
