"""core.decoding against `generate` in transformers: token for token, and score for score."""

import pytest
import torch

from core.decoding import Sampling, translate
from tests.french import french_sentences
from tests.reference import generated
from tests.tiny import Model, tiny_marian, tiny_t5, tiny_tokenizer

SENTENCES = french_sentences(200)
MAX_NEW_TOKENS = 12


@pytest.fixture(scope="module", params=[tiny_t5, tiny_marian], ids=["t5", "marian"])
def model(request: pytest.FixtureRequest) -> Model:
    return Model(request.param().double(), tiny_tokenizer())


def assert_equal(model, sentences, *, forced_prefix=None, batch_size=50, reference_settings=None, **settings) -> None:
    """Ours, a sentence at a time, is theirs."""
    settings = {"max_new_tokens": MAX_NEW_TOKENS, **settings}
    theirs = generated(
        model.network, model.tokenizer, sentences, batch_size=batch_size, **settings, **(reference_settings or {})
    )
    for sentence, expected in zip(sentences, theirs, strict=True):
        trace = translate(model, sentence, **settings, forced_prefix=forced_prefix)
        assert trace.token_ids == expected.token_ids, sentence
        if expected.score is not None:
            assert trace.score == pytest.approx(expected.score, rel=1e-6), sentence


@pytest.mark.parametrize("num_beams", [1, 2, 4, 8])
def test_200_sentences(model: Model, num_beams: int) -> None:
    assert_equal(model, SENTENCES, num_beams=num_beams)


@pytest.mark.parametrize("num_beams", [1, 4])
def test_long_translations(model: Model, num_beams: int) -> None:
    assert_equal(model, SENTENCES[::16], num_beams=num_beams, max_new_tokens=30)


@pytest.mark.parametrize("num_beams", [2, 4, 8])
@pytest.mark.parametrize(("length_penalty", "early_stopping"), [(0.6, True), (2.0, "never")])
def test_40_sentences_with_other_length_penalties_and_ends(
    model: Model, num_beams: int, length_penalty: float, early_stopping: bool | str
) -> None:
    assert_equal(
        model,
        SENTENCES[::5],
        num_beams=num_beams,
        length_penalty=length_penalty,
        early_stopping=early_stopping,
    )


@pytest.mark.parametrize("early_stopping", [False, True, "never"])
@pytest.mark.parametrize("length_penalty", [-0.5, 0.0, 1.0])
def test_every_way_to_stop(model: Model, length_penalty: float, early_stopping: bool | str) -> None:
    assert_equal(model, SENTENCES[::16], num_beams=3, length_penalty=length_penalty, early_stopping=early_stopping)


@pytest.mark.parametrize("num_beams", [1, 4])
def test_the_reference_may_be_made_in_batches(model: Model, num_beams: int) -> None:
    settings = {"num_beams": num_beams, "max_new_tokens": MAX_NEW_TOKENS}
    alone = generated(model.network, model.tokenizer, SENTENCES[:24], batch_size=1, **settings)
    together = generated(model.network, model.tokenizer, SENTENCES[:24], batch_size=24, **settings)
    assert [g.token_ids for g in alone] == [g.token_ids for g in together]
    if num_beams > 1:
        assert [g.score for g in alone] == pytest.approx([g.score for g in together], rel=1e-6)


def test_the_sentences_are_varied_enough(model: Model) -> None:
    """They end early, late or not at all, and say different things; else the tests above would prove little."""
    said = [g.token_ids for g in generated(model.network, model.tokenizer, SENTENCES, max_new_tokens=MAX_NEW_TOKENS)]
    lengths_of_finished = [len(token_ids) for token_ids in said if token_ids[-1] == 1]
    assert len(set(said)) > 120
    assert len(set(lengths_of_finished)) > 7
    assert 40 < len(lengths_of_finished) < 160


@pytest.mark.parametrize("num_beams", [1, 3])
@pytest.mark.parametrize(
    "rules",
    [
        {"bad_words_ids": [[0], [1], [36], [60, 36], [3, 4, 5]]},
        {"forced_eos_token_id": 1},
        {"eos_token_id": [1, 60, 77]},
        {"bad_words_ids": [[0]], "forced_eos_token_id": 77, "eos_token_id": [1, 77]},
        {"decoder_start_token_id": None, "bos_token_id": 5},
    ],
    ids=lambda rules: " ".join(rules),
)
@pytest.mark.parametrize("make", [tiny_t5, tiny_marian])
def test_the_rules_of_the_generation_config(make, rules: dict[str, object], num_beams: int) -> None:
    network = make().double()
    network.generation_config.update(**rules)
    assert_equal(Model(network, tiny_tokenizer()), SENTENCES[5:35:3], num_beams=num_beams, max_new_tokens=7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("make", [tiny_t5, tiny_marian])
def test_other_number_types(make, dtype: torch.dtype) -> None:
    """Greedily they are the same too; among beams, rounding may decide."""
    model = Model(make().to(dtype), tiny_tokenizer())
    assert_equal(model, SENTENCES[11:16], batch_size=1, max_new_tokens=9)
    trace = translate(model, SENTENCES[20], num_beams=3, max_new_tokens=9)
    assert trace.cross_attention.dtype == dtype
    assert trace.score == pytest.approx(sum(s.chosen.log_probability for s in trace.steps) / len(trace.steps))


@pytest.mark.parametrize("max_new_tokens", [1, 2, 5])
@pytest.mark.parametrize("num_beams", [1, 2, 5])
def test_short_limits(model: Model, num_beams: int, max_new_tokens: int) -> None:
    assert_equal(model, SENTENCES[:10], num_beams=num_beams, max_new_tokens=max_new_tokens)


@pytest.mark.parametrize("num_beams", [2, 4])
@pytest.mark.parametrize("prefix", [(60,), (36, 36, 5), (77, 0, 12, 9)])
def test_a_forced_prefix_with_beams(model: Model, prefix: tuple[int, ...], num_beams: int) -> None:
    def only_the_prefix(_: int, read: torch.Tensor) -> list[int]:
        said = len(read) - 1
        return [prefix[said]] if said < len(prefix) else list(range(211))

    assert_equal(
        model,
        SENTENCES[10:40:5],
        num_beams=num_beams,
        forced_prefix=prefix,
        batch_size=1,
        reference_settings={"prefix_allowed_tokens_fn": only_the_prefix},
    )


@pytest.mark.parametrize("prefix", [(60,), (36, 36, 5), (77, 0, 12, 9)])
def test_a_forced_prefix_without_beams(model: Model, prefix: tuple[int, ...]) -> None:
    for sentence in SENTENCES[10:40:5]:
        source = model.tokenizer(sentence, return_tensors="pt", return_token_type_ids=False)
        begun = torch.tensor([[0, *prefix]])
        expected = model.network.generate(
            **source, decoder_input_ids=begun, max_new_tokens=MAX_NEW_TOKENS - len(prefix)
        )
        trace = translate(model, sentence, forced_prefix=prefix, max_new_tokens=MAX_NEW_TOKENS)
        assert [0, *trace.token_ids] == expected[0].tolist()


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(0.6), Sampling(1.7, 5), Sampling(1.2, 40, 0.8)], ids=str)
def test_sampling_draws_what_generate_draws(model: Model, sampling: Sampling) -> None:
    for seed, sentence in enumerate(SENTENCES[10:40:5]):
        source = model.tokenizer(sentence, return_tensors="pt", return_token_type_ids=False)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            expected = model.network.generate(
                **source,
                max_new_tokens=MAX_NEW_TOKENS,
                do_sample=True,
                temperature=sampling.temperature,
                top_k=sampling.top_k,
                top_p=sampling.top_p,
            )
        generator = torch.Generator().manual_seed(seed)
        trace = translate(model, sentence, max_new_tokens=MAX_NEW_TOKENS, sampling=sampling, generator=generator)
        assert [0, *trace.token_ids] == expected[0].tolist()
