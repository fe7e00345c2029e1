"""Programs that reproduce the numbers of the embeddings page without this app."""

from collections.abc import Sequence

from core.embedding_maps import Start
from core.embeddings import Sum, WordVectors

_TABLE = """
WORDS = {words!r}
GROUPS = {groups!r}
VECTORS = torch.tensor({vectors!r}, dtype=torch.float64)
"""

_PCA = '''

def pca(vectors, components):
    """Where vectors lie along the directions in which they differ most, and the share of the variance along each."""
    centred = vectors - vectors.mean(dim=0)
    left, sizes, axes = torch.linalg.svd(centred, full_matrices=False)
    axes = axes * axes.gather(1, axes.abs().argmax(dim=1, keepdim=True)).sign()  # the largest number is positive
    return centred @ axes[:components].T, sizes.square()[:components] / sizes.square().sum()

'''

_MAP = (
    '''"""PCA in plain PyTorch beside scikit-learn's t-SNE."""

import torch
from sklearn.manifold import TSNE
'''
    + _TABLE
    + _PCA
    + """
pca_map, shares = pca(VECTORS, {components})
tsne = TSNE(n_components={components}, perplexity={perplexity}, init={start!r}, random_state={seed})
tsne_map = torch.from_numpy(tsne.fit_transform(VECTORS.numpy()))

print("shares of the variance", [round(share, 4) for share in shares.tolist()])
for word, one, other in zip(WORDS, pca_map.tolist(), tsne_map.tolist()):
    print(f"{{word:>12}}", *(f"{{number:8.3f}}" for number in one), " ", *(f"{{number:8.1f}}" for number in other))
"""
)

_STUDY = (
    '''"""t-SNE maps with several perplexities and seeds, and what they keep of the vectors."""

import torch
from sklearn.manifold import TSNE
'''
    + _TABLE
    + '''PERPLEXITIES, SEEDS = {perplexities!r}, {seeds!r}


def distances(points):
    return torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")


def own_share(points):
    """The share of words whose nearest word is of their own group, among those that have company in it."""
    nearest = distances(points).fill_diagonal_(float("inf")).argmin(dim=1).tolist()
    kept = [i for i, group in enumerate(GROUPS) if GROUPS.count(group) > 1]
    return sum(GROUPS[nearest[i]] == GROUPS[i] for i in kept) / len(kept) if kept else float("nan")


def group_distances(points):
    of = torch.tensor(GROUPS)
    middles = torch.stack([points[of == group].mean(dim=0) for group in sorted(set(GROUPS))])
    return distances(middles)[tuple(torch.triu_indices(len(middles), len(middles), offset=1))]


def rank_correlation(one, other):
    """Spearman's; equal values share their mean rank."""

    def ranks(values):
        below, equal = values[:, None] > values[None, :], values[:, None] == values[None, :]
        found = below.sum(dim=1) + (equal.sum(dim=1) - 1) / 2
        return found.double() - found.double().mean()

    a, b = ranks(one), ranks(other)
    return float(a @ b / (a.norm() * b.norm()))


between = group_distances(VECTORS)
print(f"vectors: {{own_share(VECTORS):.2f}} beside their own group")
maps, qualities = {{}}, {{}}
for perplexity in PERPLEXITIES:
    for seed in SEEDS:
        tsne = TSNE(n_components=2, perplexity=perplexity, init="random", random_state=seed)
        maps[perplexity, seed] = points = torch.from_numpy(tsne.fit_transform(VECTORS.numpy())).double()
        qualities[perplexity, seed] = own_share(points), rank_correlation(group_distances(points), between)
        print(perplexity, seed, "own group {{:.2f}}, rank correlation {{:.2f}}".format(*qualities[perplexity, seed]))
'''
)

_RANK = """
target = {total}

cosines = VECTORS @ target / (VECTORS.norm(dim=1) * target.norm())
for name, left_out in (("all words", []), ("without the inputs", {inputs!r})):
    ranking = [i for i in cosines.argsort(descending=True, stable=True).tolist() if WORDS[i] not in left_out]
    print(name, [(WORDS[i], round(float(cosines[i]), 4)) for i in ranking[:9]])
"""

_SUM_OF_TABLE = (
    '''"""A sum of words, and the words nearest to it."""

import torch
'''
    + _TABLE
    + """vector = dict(zip(WORDS, VECTORS))
"""
    + _RANK
)

_SUM_OF_MODEL = (
    '''"""A sum of words in the input embeddings of a model, and the pieces of its vocabulary nearest to it."""

import torch
from transformers import {loader}, PreTrainedTokenizerFast

FOLDER = {folder!r}  # or a repository of the hub: config.json, model.safetensors and tokenizer.json
REVISION = {revision!r}

tokenizer = PreTrainedTokenizerFast.from_pretrained(FOLDER, revision=REVISION)
network = {loader}.from_pretrained(FOLDER, revision=REVISION, dtype=torch.float32)
table = network.get_input_embeddings().weight.detach()  # (vocab_size, dim)

pieces = tokenizer.convert_ids_to_tokens(list(range(len(table))))
marked = any(piece and piece.startswith("▁") for piece in pieces)  # else parts of words begin with ##


def as_word(piece):
    if marked:
        word = piece[1:] if piece.startswith("▁") else ""
    else:
        word = "" if piece.startswith("##") else piece
    return word if word.replace("-", "").replace("'", "").isalpha() else ""


def look_up(word):
    return table[tokenizer(word, add_special_tokens=False).input_ids].double().mean(dim=0)  # the mean of its pieces


WORDS = [as_word(piece or "") for piece in pieces]
kept = [i for i, word in enumerate(WORDS) if word and table[i].norm() > 1e-12]
WORDS, VECTORS = [WORDS[i] for i in kept], table[kept].double()
vector = {{word: look_up(word) for word in {inputs!r}}}
'''
    + _RANK
)

_COSINES = (
    '''"""The cosine of every two words."""

import torch
'''
    + _TABLE
    + """
unit = VECTORS / VECTORS.norm(dim=1, keepdim=True)
cosines = unit @ unit.T  # (num_words, num_words)

torch.set_printoptions(precision=3, sci_mode=False, linewidth=200)
print(WORDS, cosines, sep="\\n")
"""
)


def _table(words: Sequence[str], groups: Sequence[int], vectors: Sequence[Sequence[float]]) -> dict[str, object]:
    return {"words": list(words), "groups": list(groups), "vectors": [list(row) for row in vectors]}


def word_map(table: WordVectors, *, components: int, perplexity: int, seed: int, start: Start) -> str:
    """Both maps of the words: PCA and t-SNE."""
    return _MAP.format(
        **_table(table.words, table.groups, table.vectors.tolist()),
        components=components,
        perplexity=perplexity,
        seed=seed,
        start=start.value,
    )


def study(
    words: Sequence[str],
    groups: Sequence[int],
    vectors: Sequence[Sequence[float]],
    *,
    perplexities: Sequence[int],
    seeds: Sequence[int],
) -> str:
    """Many maps, each measured."""
    return _STUDY.format(**_table(words, groups, vectors), perplexities=list(perplexities), seeds=list(seeds))


def sum_of_table(table: WordVectors, asked: Sum) -> str:
    """A sum of words of a table."""
    return _SUM_OF_TABLE.format(
        **_table(table.words, table.groups, table.vectors.tolist()), total=_total(asked), inputs=_inputs(asked)
    )


def sum_of_model(asked: Sum, *, folder: str, revision: str | None, translates: bool) -> str:
    """A sum of words of a model's vocabulary. translates: an encoder with a decoder."""
    return _SUM_OF_MODEL.format(
        folder=folder,
        revision=revision or "main",
        loader="AutoModelForSeq2SeqLM" if translates else "AutoModel",
        total=_total(asked),
        inputs=_inputs(asked),
    )


def cosines(words: Sequence[str], groups: Sequence[int], vectors: Sequence[Sequence[float]]) -> str:
    """The cosine matrix of some words."""
    return _COSINES.format(**_table(words, groups, vectors))


def _total(asked: Sum) -> str:
    signs = {1: "+", -1: "-"}
    return " ".join(f"{signs[term.sign]} vector[{term.word!r}]" for term in asked.terms)


def _inputs(asked: Sum) -> list[str]:
    return [term.word for term in asked.terms]
