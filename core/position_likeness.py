"""How alike the vectors of two positions are, by their distance: what a table of positions knows before any word."""

import torch
from torch import Tensor, nn

from core.checks import check_between


def likeness_by_distance(table: Tensor, most: int) -> Tensor:
    """The mean cosine of all pairs of positions 0, 1, 2, … most apart.

    Shapes: table (positions, d_model) → (most + 1,), float64.
    Raises: ValueError if most is negative, or the table has no two positions so far apart.
    """
    check_between("most", most, 0, len(table) - 1)
    units = torch.nn.functional.normalize(table.double(), dim=-1)
    cosines = units @ units.T  # (positions, positions)
    return torch.stack([cosines.diagonal(distance).mean() for distance in range(most + 1)])


def random_table(positions: int, d_model: int, *, generator: torch.Generator) -> Tensor:
    """Learnt positions as they begin: independent normal numbers, which know nothing of neighbours; float64."""
    return torch.randn(positions, d_model, generator=generator, dtype=torch.float64)


def learnt_positions(network: nn.Module) -> Tensor | None:
    """The table of a loaded BERT, DistilBERT or GPT-2, (positions, d_model); None for a network without one."""
    tables = dict(network.named_parameters())
    names = ("embeddings.position_embeddings.weight", "transformer.wpe.weight")
    return next((tables[name].detach() for name in names if name in tables), None)
