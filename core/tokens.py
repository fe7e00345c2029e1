"""How tokens are written."""

WORD_MARK = "▁"  # how sentencepiece and its kin write "a word begins here"
