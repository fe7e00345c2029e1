"""What the page on the whole Transformer offers to take along runs, and gives the numbers of the screen."""

from pathlib import Path
from typing import Any

import pytest
import torch

from core import models, transformer_snippets
from core.anatomy import Side
from core.initial_gradients import measure_start
from core.masks import causal_mask, combine, padding_mask
from core.model_pass import Sizes, pass_of_network, pass_through
from core.models import load
from core.residual_stream import read_stream
from core.transformer import NormPlace, TransformerConfig
from tests.core.test_anatomy import CONFIGS, LARGE, NETWORKS, SIZES

ATLAS = "core/assets/atlas-fr-en"


def ran(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    try:
        exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    finally:
        torch.set_default_device(None)
    return names


@pytest.mark.parametrize("config", [*CONFIGS, LARGE], ids=lambda c: f"{c.stacks}-{c.norm}-{c.positions}-{c.tied}")
def test_counts(config: TransformerConfig, capsys: pytest.CaptureFixture[str]) -> None:
    names = ran(transformer_snippets.counts(config, SIZES))
    anatomy = pass_through(config, SIZES).anatomy
    assert (names["parameters"], names["multiply_adds"]) == (anatomy.parameters, anatomy.multiply_adds)
    assert f"{anatomy.parameters:,} parameters" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["bert", "distilbert", "gpt2", "t5"])
def test_counts_of_a_network(name: str, tmp_path: Path) -> None:
    network = NETWORKS[name]()
    network.save_pretrained(tmp_path)
    names = ran(transformer_snippets.counts_of_network(network, SIZES, folder=str(tmp_path), revision=None))
    anatomy = pass_of_network(network, SIZES).anatomy
    assert (names["parameters"], names["multiply_adds"]) == (anatomy.parameters, anatomy.multiply_adds)


def test_counts_of_the_bundled_model() -> None:
    network = load("atlas-fr-en").network
    names = ran(transformer_snippets.counts_of_network(network, SIZES, folder=ATLAS, revision=None))
    anatomy = pass_of_network(network, SIZES).anatomy
    assert (names["parameters"], names["multiply_adds"]) == (anatomy.parameters, anatomy.multiply_adds)


def test_before_training() -> None:
    names = ran(transformer_snippets.before_training(3, seeds=2))
    for norm in NormPlace:
        found, runs = measure_start(3, norm, seeds=2), names["found"][norm is NormPlace.PRE]
        for seed, (gradients, sizes) in enumerate(runs):
            for side in Side:
                assert gradients[side] == pytest.approx(found.gradients[side][seed].tolist(), rel=1e-3)
                assert sizes[side] == pytest.approx(found.stream[side][seed].tolist(), rel=1e-3)


def test_the_stream_of_the_bundled_model() -> None:
    model = load("atlas-fr-en")
    ids, said = model.tokenizer("Il pleut.").input_ids, model.tokenizer("It rains.").input_ids
    read = [model.facts.start_id, *said[:-1]]
    names = ran(transformer_snippets.stream(model.network, folder=ATLAS, revision=None, ids=ids, read=read))
    stream = read_stream(model, ids, said)
    for side, blocks in ((Side.ENCODER, 2), (Side.DECODER, 3)):
        steps = stream.of(side)
        expected = [steps[0].before, *(step.after for step in steps[blocks - 1 :: blocks])]
        assert names["lengths"][side] == pytest.approx([float(x.norm(dim=-1).mean()) for x in expected], rel=1e-3)


def test_the_stream_of_an_encoder(tmp_path: Path) -> None:
    network = NETWORKS["bert"]()
    network.save_pretrained(tmp_path)
    names = ran(transformer_snippets.stream(network, folder=str(tmp_path), revision=None, ids=[3, 4, 5], read=()))
    assert len(names["lengths"]["stack"]) == 3


@pytest.mark.parametrize(("source", "target"), [((3, 2), (2, 4)), ((3, 1), ()), ((), (2, 5, 1))])
def test_masks(source: tuple[int, ...], target: tuple[int, ...]) -> None:
    names = ran(transformer_snippets.masks(source_lengths=source, target_lengths=target))
    expected = {}
    if source:
        padding = padding_mask(source, max(source))[:, 0]
        expected["encoder"] = padding.expand(-1, max(source), -1)
    if target:
        expected["decoder"] = combine(causal_mask(max(target)), padding_mask(target, max(target))[:, 0])
    if source and target:
        expected["cross"] = padding.expand(-1, max(target), -1)
    assert set(names["masks"]) == set(expected)
    assert all(torch.equal(names["masks"][name], mask) for name, mask in expected.items())


def test_what_loads_a_network() -> None:
    program = transformer_snippets.counts_of_network(
        models.load("atlas-fr-en").network, Sizes(1, 2, 3), folder="somebody/model", revision="abc"
    )
    assert "AutoModelForSeq2SeqLM.from_pretrained" in program
    assert "REVISION = 'abc'" in program
