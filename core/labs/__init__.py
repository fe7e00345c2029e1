"""Small trainings that run while the student watches.

A ladder: `events` is what a training tells, `record` what was told so far; every experiment is a module with
`Settings`, `train` and `comparison`; `worker` runs one of them in a process of its own, and `desk` decides whose turn
it is.
"""
