"""Skewed waves: groups of waves that run one or more rendezvous behind others (a phase shift, as in ping-pong).

`groups` finds them, `steps` says what each operation does to each pair of groups, `transfer` what is pending between
them.
"""
