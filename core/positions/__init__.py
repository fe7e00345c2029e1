"""How attention learns where a token stands.

frequencies  how fast each pair of dimensions turns
sinusoidal   waves added to the embeddings
order        what attention makes of the order of words, without positions and with them
rope         queries and keys turned by their position
pairing      which two dimensions turn together
families     who uses which pairing
scalings     ways to turn more slowly, so that longer texts fit
tables       a cache of cosines and sines
precision    what float32 and bfloat16 make of large angles
plane        one pair of dimensions, looked at closely
distance     a score against the distance
extension    the scalings side by side
"""
