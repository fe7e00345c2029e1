"""One module per concept; each has one function, render()."""
