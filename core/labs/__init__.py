"""Small trainings that run while the student watches.

A ladder: `events` is what a training tells, `record` what was told so far; every experiment is a module with
`Settings`, `train` and `comparison`, named in the `catalogue`; `worker` runs one of them in a process of its own;
`process` starts that and reads it, `training` is what there is to see of it, and `desk` decides whose turn it is, with
as many `places` as the server has. `shipped` holds the results that come with the app, `spread` says how far their
seeds lie apart, and `reproduction` compares them with new ones. What several experiments learn from, or with, is in
`text` and `character_model`; what one of them needs alone begins with its name.
"""
