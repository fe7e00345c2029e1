"""Properties of core.decoding, cases worked by hand, and every error."""

import copy
import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers import T5ForConditionalGeneration

from core.decoding import DecodingTrace, Fate, Sampling, UnusableNetworkError, score_reference, translate
from core.decoding.beam import beam_search
from core.decoding.decoder import Decoder, Prediction, Rules
from core.decoding.one_by_one import decode_one_by_one, most_probable, score_of
from tests.french import french_sentences
from tests.tiny import Model, tiny_marian, tiny_t5, tiny_tokenizer

SENTENCES = french_sentences(40)
TEXT = "Le chat noir dort sur la table."


@pytest.fixture(scope="module", params=[tiny_t5, tiny_marian], ids=["t5", "marian"])
def model(request: pytest.FixtureRequest) -> Model:
    return Model(request.param().double(), tiny_tokenizer())


@pytest.fixture(scope="module")
def marian() -> Model:
    return Model(tiny_marian().double(), tiny_tokenizer())


MARIAN = Model(tiny_marian(), tiny_tokenizer())  # for hypothesis, which shares no fixtures of a function


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


METHODS = {
    "greedy": lambda: {},
    "beams": lambda: {"num_beams": 3},
    "sampling": lambda: {"sampling": Sampling(1.3, 30, 0.9), "generator": seeded(5)},
}


@pytest.fixture(params=METHODS.values(), ids=METHODS.keys())
def method(request: pytest.FixtureRequest) -> dict[str, object]:
    return request.param()


# ---------------------------------------------------------------------------------------------------------- the trace


def test_shapes_and_names(model: Model, method: dict[str, object]) -> None:
    trace = translate(model, TEXT, max_new_tokens=7, **method)
    config = model.network.config
    encoder_layers = getattr(config, "encoder_layers", None) or config.num_layers
    decoder_layers = getattr(config, "decoder_layers", None) or config.num_decoder_layers
    num_heads, seq_source, said = config.num_attention_heads, len(trace.source_ids), len(trace.steps)
    assert list(trace.source_ids) == model.tokenizer(TEXT).input_ids
    assert list(trace.source_tokens) == model.tokenizer.convert_ids_to_tokens(list(trace.source_ids))
    assert list(trace.tokens) == model.tokenizer.convert_ids_to_tokens(list(trace.token_ids))
    assert (trace.start_id, trace.start_token) == (0, "<pad>")
    assert trace.text == model.tokenizer.decode(trace.token_ids, skip_special_tokens=True)
    assert said == len(trace.token_ids)
    assert trace.encoder_attention.shape == (encoder_layers, num_heads, seq_source, seq_source)
    assert trace.cross_attention.shape == (decoder_layers, num_heads, said, seq_source)
    assert trace.decoder_attention.shape == (decoder_layers, num_heads, said, said)
    for i, step in enumerate(trace.steps):
        assert step.decoder_input == (trace.start_id, *trace.token_ids[:i])
        assert (step.chosen.token_id, step.chosen.token) == (trace.token_ids[i], trace.tokens[i])
        assert step.self_attention.shape == (decoder_layers, num_heads, i + 1)
        assert step.cross_attention.shape == (decoder_layers, num_heads, seq_source)
        assert not step.forced
        assert torch.equal(trace.cross_attention[:, :, i], step.cross_attention)
        assert torch.equal(trace.decoder_attention[:, :, i, : i + 1], step.self_attention)
        assert not trace.decoder_attention[:, :, i, i + 1 :].any()


def test_attention_rows_sum_to_one(model: Model, method: dict[str, object]) -> None:
    trace = translate(model, TEXT, max_new_tokens=9, **method)
    for attention in (trace.encoder_attention, trace.cross_attention, trace.decoder_attention):
        torch.testing.assert_close(attention.sum(-1), torch.ones_like(attention[..., 0]), rtol=0, atol=1e-12)


def test_candidates_are_the_most_probable_tokens(model: Model, method: dict[str, object]) -> None:
    for step in translate(model, TEXT, max_new_tokens=9, **method).steps:
        best = step.candidates[:20]
        values = [c.log_probability for c in best]
        assert len({c.token_id for c in step.candidates}) == len(step.candidates)
        assert values == sorted(values, reverse=True)
        assert sum(c.probability for c in step.candidates) <= 1 + 1e-6
        assert step.chosen in step.candidates
        if step.rank <= 20:
            assert best[step.rank - 1] == step.chosen
            assert len(step.candidates) == 20
        else:
            assert step.candidates[20:] == (step.chosen,)
        assert step.chosen.probability == pytest.approx(math.exp(step.chosen.log_probability))


def test_a_chosen_token_below_the_first_20_is_appended(model: Model) -> None:
    plain = translate(model, TEXT).steps[0]
    unlikely = next(i for i in range(211) if i not in {c.token_id for c in plain.candidates})
    step = translate(model, TEXT, forced_prefix=[unlikely]).steps[0]
    assert step.rank > 20
    assert step.candidates == (*plain.candidates, step.chosen)


ATOL = 1e-7  # T5 normalises in float32, whatever its type


@torch.inference_mode()
def in_parallel(model: Model, trace: DecodingTrace) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same sentence, given to the network all at once and without a cache."""
    output = model.network(
        input_ids=torch.tensor([trace.source_ids]),
        decoder_input_ids=torch.tensor([[trace.start_id, *trace.token_ids[:-1]]]),
        use_cache=False,
        output_attentions=True,
    )
    return (
        output.logits[0].log_softmax(-1),
        torch.cat(output.encoder_attentions),
        torch.cat(output.decoder_attentions),
        torch.cat(output.cross_attentions),
    )


def test_what_is_seen_step_by_step_is_what_the_network_does_at_once(model: Model, method: dict[str, object]) -> None:
    for sentence in SENTENCES[::8]:
        trace = translate(model, sentence, max_new_tokens=9, **method)
        log_probs, encoder, decoder, cross = in_parallel(model, trace)
        torch.testing.assert_close(trace.encoder_attention, encoder, rtol=0, atol=ATOL)
        torch.testing.assert_close(trace.decoder_attention, decoder, rtol=0, atol=ATOL)
        torch.testing.assert_close(trace.cross_attention, cross, rtol=0, atol=ATOL)
        for i, step in enumerate(trace.steps):
            for candidate in step.candidates:
                assert candidate.log_probability == pytest.approx(log_probs[i, candidate.token_id].item(), abs=1e-5)
            assert step.rank == 1 + (log_probs[i] > log_probs[i, step.chosen.token_id]).sum()


def test_the_score_is_the_mean_with_the_length_penalty(model: Model, method: dict[str, object]) -> None:
    for length_penalty in (0.0, 1.0, 2.0, -0.5):
        trace = translate(model, TEXT, max_new_tokens=9, length_penalty=length_penalty, **method)
        total = sum(step.chosen.log_probability for step in trace.steps)
        assert trace.score == pytest.approx(total / len(trace.steps) ** length_penalty, rel=1e-5)
        if "generator" in method:
            method["generator"].manual_seed(5)


def test_finished_or_cut_off(model: Model, method: dict[str, object]) -> None:
    cut = translate(model, TEXT, max_new_tokens=2, forced_prefix=[60, 61], **method)
    assert not cut.finished
    assert len(cut.steps) == 2
    ended = translate(model, TEXT, max_new_tokens=2, forced_prefix=[60, 1], **method)
    assert ended.finished
    assert ended.tokens[-1] == "</s>"


@pytest.mark.parametrize("text", ["", " ", "\n\t  \u2003"])
def test_empty_text_is_not_given_to_the_network(model: Model, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(type(model.network), "forward")
    monkeypatch.setattr(type(model.network), "get_encoder", None)
    for trace in (translate(model, text), translate(model, text, num_beams=2), score_reference(model, text, "I")):
        assert (trace.text, trace.token_ids, trace.steps, trace.source_ids, trace.search) == ("", (), (), (), ())
        assert trace.finished
        assert trace.score == 0
        assert trace.start_token == "<pad>"
        for attention in (trace.encoder_attention, trace.cross_attention, trace.decoder_attention):
            assert attention.shape == (0, 0, 0, 0)


def test_tokens_that_only_the_network_has_are_named_by_their_id() -> None:
    network = tiny_t5()
    network.resize_token_embeddings(230, mean_resizing=False)
    trace = translate(Model(network, tiny_tokenizer()), TEXT, forced_prefix=[60, 222], max_new_tokens=2)
    assert trace.tokens[1] == "<222>"
    assert trace.text == tiny_tokenizer().decode([60])


def test_more_layers_in_the_decoder_than_in_the_encoder() -> None:
    config = tiny_t5().config
    config.num_layers, config.num_decoder_layers = 1, 3
    network = T5ForConditionalGeneration(config).eval()
    trace = translate(Model(network, tiny_tokenizer()), TEXT, num_beams=2, max_new_tokens=4)
    assert trace.encoder_attention.shape[0] == 1
    assert trace.cross_attention.shape[0] == 3


# ---------------------------------------------------------------------------------------------------- beams by hand


@dataclass(slots=True)
class Table:
    """A network that looks only at the newest token: 0 = start, 1 = end, 2 = a, 3 = b, 4 = c."""

    probabilities: dict[int, list[float]]
    rules: Rules = field(default_factory=lambda: Rules(0, frozenset([1]), (), ()))
    read: list[tuple[int, ...]] = field(default_factory=lambda: [()])

    def advance(self, token_ids, rows=(0,)) -> Prediction:
        self.read = [(*self.read[row], token_id) for row, token_id in zip(rows, token_ids, strict=True)]
        log_probs = torch.tensor([self.probabilities[token_id] for token_id in token_ids]).log()
        nothing = torch.zeros(0, len(rows), 0, 0)
        return Prediction(tuple(self.read), log_probs, nothing, nothing)


#       start  end    a     b     c
DETOUR = {
    0: [0.00, 0.00, 0.60, 0.40, 0.00],
    2: [0.00, 0.30, 0.35, 0.25, 0.10],  # after a, the best goes on, and on
    3: [0.00, 0.90, 0.05, 0.05, 0.00],  # after b, the end is almost certain
}
FOR_TWO = {"num_beams": 2, "length_penalty": 0.0, "early_stopping": False}


def words(nodes) -> list[str]:
    return ["".join("^$abc"[n.move.token_id] for n in node.line()) for node in nodes]


def test_beam_search_finds_what_greedy_decoding_misses() -> None:
    greedy = decode_one_by_one(Table(DETOUR), most_probable, max_new_tokens=3)
    assert [move.token_id for move in greedy] == [2, 2, 2]
    assert score_of(greedy, 0.0) == pytest.approx(math.log(0.60 * 0.35 * 0.35))
    winner, _ = beam_search(Table(DETOUR), **FOR_TWO, max_new_tokens=3)
    assert words([winner]) == ["b$"]
    assert winner.score == pytest.approx(math.log(0.40 * 0.90))


def test_every_hypothesis_and_its_fate() -> None:
    _, steps = beam_search(Table(DETOUR), **FOR_TWO, max_new_tokens=3)
    assert [words(nodes) for nodes in steps] == [
        ["a", "b"],  # 0.60, 0.40; nothing else is possible
        ["b$", "aa", "a$", "ab"],  # 0.36, 0.21, 0.18, 0.15
        ["ab$", "aaa", "aa$", "aab"],  # 0.135, 0.0735, 0.063, 0.0525; here all end
    ]
    assert [[node.fate for node in nodes] for nodes in steps] == [
        [Fate.KEPT, Fate.KEPT],
        [Fate.FINISHED, Fate.KEPT, Fate.DROPPED, Fate.KEPT],  # a$ has ended too, but not among the best two
        [Fate.FINISHED, Fate.OUTSCORED, Fate.DROPPED, Fate.DROPPED],
    ]


def test_the_search_stops_when_nothing_can_improve() -> None:
    _, steps = beam_search(Table(DETOUR), **FOR_TWO, max_new_tokens=10)
    assert len(steps) == 3  # b$ (0.36) and ab$ (0.135) are results, and aaa has only 0.0735 left
    assert [node.fate for node in steps[2]] == [Fate.FINISHED, Fate.ABANDONED, Fate.DROPPED, Fate.ABANDONED]


def test_forbidden_tokens_and_a_forced_end() -> None:
    table = Table(DETOUR, Rules(0, frozenset([1]), forbidden=((2, 2), (4,)), forced_end_ids=(1,)))
    moves = decode_one_by_one(table, most_probable, max_new_tokens=4)
    assert [move.token_id for move in moves] == [2, 1]  # no a after a: the end, 0.30, is next
    moves = decode_one_by_one(Table(table.probabilities, table.rules), most_probable, max_new_tokens=3, prefix=[2, 2])
    assert [move.token_id for move in moves] == [2, 2, 1]  # what is prescribed goes before what is forbidden
    assert [move.log_probability for move in moves] == pytest.approx([math.log(0.60), math.log(0.35), 0.0])


# --------------------------------------------------------------------------------------------------------------- beams


def test_the_tree_of_hypotheses_hangs_together(model: Model) -> None:
    for sentence in SENTENCES[::4]:
        trace = translate(model, sentence, num_beams=3, max_new_tokens=9, length_penalty=0.7)
        by_number = {h.number: h for step in trace.search for h in step}
        assert list(by_number) == list(range(sum(map(len, trace.search))))
        for length, step in enumerate(trace.search, start=1):
            assert len(step) <= 6
            totals = [h.log_probability for h in step]
            assert totals == sorted(totals, reverse=True)
            for h in step:
                assert h.score == pytest.approx(h.log_probability / length**0.7, rel=1e-6)
                assert h.token == model.tokenizer.convert_ids_to_tokens(h.token_id)
                if length == 1:
                    assert h.parent is None
                else:
                    parent = by_number[h.parent]
                    assert parent in trace.search[length - 2]
                    assert parent.fate is Fate.KEPT
                    assert h.log_probability <= parent.log_probability
            goes_on = [h for h in step if h.fate in (Fate.KEPT, Fate.ABANDONED)]
            assert len(goes_on) == (3 if length < 9 else 0)
        results = [h for h in by_number.values() if h.fate is Fate.FINISHED]
        others = [h for h in by_number.values() if h.fate is Fate.OUTSCORED]
        assert len(results) == 3
        assert min(h.score for h in results) >= max((h.score for h in others), default=-math.inf)

        line = [by_number[number] for number in trace.winner]
        assert tuple(h.token_id for h in line) == trace.token_ids
        assert [h.parent for h in line] == [None, *trace.winner[:-1]]
        assert line[-1].score == trace.score == max(h.score for h in results)
        assert [step.beams for step in trace.steps] == list(trace.search[: len(trace.steps)])


def test_without_beams_there_are_no_hypotheses(model: Model) -> None:
    trace = translate(model, TEXT, max_new_tokens=3)
    assert trace.search == trace.winner == ()
    assert all(step.beams == () for step in trace.steps)


@torch.inference_mode()
def test_greedy_decoding_is_a_beam_of_one(model: Model) -> None:
    for sentence in SENTENCES[::2]:
        greedy = translate(model, sentence, max_new_tokens=9)
        decoder = Decoder(model.network, greedy.source_ids)
        winner, _ = beam_search(decoder, num_beams=1, length_penalty=1.0, early_stopping=True, max_new_tokens=9)
        assert tuple(node.move.token_id for node in winner.line()) == greedy.token_ids
        assert winner.score == pytest.approx(greedy.score, rel=1e-6)


def test_who_stops_early_searches_less(model: Model) -> None:
    for sentence in SENTENCES[::8]:
        eager, usual, never = (
            len(translate(model, sentence, num_beams=3, max_new_tokens=15, early_stopping=choice).search)
            for choice in (True, False, "never")
        )
        assert eager <= usual <= never


# -------------------------------------------------------------------------------------------------------------- forced


@settings(deadline=None, max_examples=25)
@given(
    prefix=st.lists(st.integers(0, 210), max_size=8),
    name=st.sampled_from(sorted(METHODS)),
    text=st.sampled_from(SENTENCES),
)
def test_the_sentence_begins_with_the_prefix(prefix: list[int], name: str, text: str) -> None:
    trace = translate(MARIAN, text, forced_prefix=prefix, max_new_tokens=9, **METHODS[name]())
    said = prefix[: prefix.index(1) + 1] if 1 in prefix else prefix
    assert list(trace.token_ids[: len(said)]) == said
    assert [step.forced for step in trace.steps] == [i < len(said) for i in range(len(trace.steps))]
    if 1 in prefix:
        assert list(trace.token_ids) == said
        assert trace.finished


@pytest.mark.parametrize("name", ["greedy", "sampling"])
def test_forcing_what_would_be_said_anyway_changes_nothing(model: Model, name: str) -> None:
    free = translate(model, TEXT, max_new_tokens=9, **METHODS[name]())
    for length in range(len(free.token_ids) + 1):
        forced = translate(model, TEXT, max_new_tokens=9, forced_prefix=free.token_ids[:length], **METHODS[name]())
        assert forced.token_ids == free.token_ids
        assert forced.score == free.score


def test_a_reference_is_scored_as_the_network_trains_on_it(model: Model) -> None:
    reference = "The black cat is sleeping on the table."
    trace = score_reference(model, TEXT, reference)
    assert list(trace.token_ids) == model.tokenizer(reference).input_ids
    assert trace.text == reference
    assert trace.finished
    assert all(step.forced for step in trace.steps)
    batch = model.tokenizer(TEXT, return_tensors="pt", return_token_type_ids=False)
    with torch.inference_mode():
        loss = model.network(**batch, labels=torch.tensor([trace.token_ids])).loss
    assert trace.score == pytest.approx(-loss.item(), rel=1e-6)
    log_probs = in_parallel(model, trace)[0]
    for i, step in enumerate(trace.steps):
        assert step.rank == 1 + (log_probs[i] > log_probs[i, step.chosen.token_id]).sum()
        assert step.candidates[0].token_id == log_probs[i].argmax()
    total = score_reference(model, TEXT, reference, length_penalty=0.0).score
    assert total == pytest.approx(trace.score * len(trace.steps))


def test_a_reference_that_the_network_never_says() -> None:
    network = tiny_marian()
    model = Model(network, tiny_tokenizer())
    never = model.tokenizer("The cat").input_ids[1]
    network.final_logits_bias[0, never] = -math.inf
    trace = score_reference(model, TEXT, "The cat")
    assert list(trace.token_ids) == model.tokenizer("The cat").input_ids
    assert trace.score == trace.steps[1].chosen.log_probability == -math.inf
    assert (trace.steps[1].chosen.token_id, trace.steps[1].rank) == (never, 211)


def test_an_empty_reference_is_only_the_end(model: Model) -> None:
    assert score_reference(model, TEXT, "").tokens == ("</s>",)


# ------------------------------------------------------------------------------------------------------------- sharing


def test_eight_threads_share_one_network() -> None:
    network = tiny_marian()  # fresh: its first use is by all threads at once
    model = Model(network, tiny_tokenizer())
    jobs = list(itertools.product(SENTENCES[:12], METHODS))

    def run(job: tuple[str, str]) -> tuple[object, ...]:
        trace = translate(model, job[0], max_new_tokens=6, **METHODS[job[1]]())
        return trace.token_ids, trace.score, trace.cross_attention.tolist()

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(run, jobs))
    assert together == [run(job) for job in jobs]


def test_the_network_is_left_as_it_was(model: Model, method: dict[str, object]) -> None:
    weights = {name: tensor.clone() for name, tensor in model.network.state_dict().items()}
    configs = copy.deepcopy((model.network.config.to_dict(), model.network.generation_config.to_dict()))
    trace = translate(model, TEXT, max_new_tokens=4, **method)
    assert not trace.cross_attention.requires_grad
    assert configs == (model.network.config.to_dict(), model.network.generation_config.to_dict())
    assert not model.network.training
    assert all(torch.equal(weights[name], tensor) for name, tensor in model.network.state_dict().items())


# -------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_beams": 0}, r"num_beams \(0\) must lie between 1 and vocab_size \(211\)"),
        ({"num_beams": 212}, r"num_beams \(212\) must lie between 1 and vocab_size \(211\)"),
        ({"length_penalty": math.nan}, r"length_penalty \(nan\) must lie between -10 and 10"),
        ({"length_penalty": 10.5}, r"length_penalty \(10.5\) must lie between -10 and 10"),
        ({"early_stopping": "maybe"}, r"early_stopping \('maybe'\) must be True, False or 'never'"),
        ({"max_new_tokens": 0}, r"max_new_tokens \(0\) must be at least 1"),
        ({"max_new_tokens": 102}, r"max_new_tokens \(102\) must be at most the network's number of positions \(101\)"),
        ({"forced_prefix": [5, 211]}, r"forced_prefix: the id 211 must be at least 0 and below vocab_size \(211\)"),
        ({"forced_prefix": [-1]}, r"forced_prefix: the id -1 must be at least 0 and below vocab_size \(211\)"),
        (
            {"forced_prefix": [5, 6, 7], "max_new_tokens": 2},
            r"forced_prefix \(3 tokens\) must not be longer than max_new_tokens \(2\)",
        ),
        (
            {"num_beams": 2, "sampling": Sampling(), "generator": torch.Generator()},
            r"num_beams \(2\) must be 1 with sampling",
        ),
        ({"sampling": Sampling()}, "sampling must come with a generator"),
        ({"generator": torch.Generator()}, "generator must come with sampling"),
    ],
)
@pytest.mark.parametrize("text", [TEXT, ""])
def test_bad_arguments(marian: Model, text: str, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        translate(marian, text, **arguments)


@pytest.mark.parametrize(
    ("prefix", "refused"),
    [
        ((7,), 7),
        ((60, 5, 7), 7),
        ((60, 9), 9),  # a bad word of one token
        ((60, 11, 12), 12),  # of two
        ((0, 13), 13),  # of three, where the start token is the first
        ((12, 60, 11), None),
        ((60, 0, 11), None),
        ((60, 13, 12), None),
        ((60, 1, 7), None),  # the sentence ends before the 7
    ],
)
def test_a_prefix_that_the_network_never_says(
    prefix: tuple[int, ...], refused: int | None, method: dict[str, object]
) -> None:
    network = tiny_marian()
    network.final_logits_bias[0, 7] = -math.inf
    network.generation_config.bad_words_ids = [[9], [11, 12], [0, 0, 13]]
    model = Model(network, tiny_tokenizer())
    if refused is None:
        said = translate(model, TEXT, forced_prefix=prefix, max_new_tokens=4, **method).token_ids
        assert said[: len(prefix)] == prefix[: prefix.index(1) + 1 if 1 in prefix else None]
        return
    with pytest.raises(ValueError, match=f"^forced_prefix: the network never says the id {refused}$"):
        translate(model, TEXT, forced_prefix=prefix, max_new_tokens=4, **method)


def test_the_greatest_arguments(marian: Model) -> None:
    assert translate(marian, TEXT, max_new_tokens=101, forced_prefix=[5] * 101).token_ids == (5,) * 101
    assert len(translate(marian, TEXT, num_beams=211, max_new_tokens=2).search[1]) == 422


def test_too_long_a_text(marian: Model) -> None:
    assert len(translate(marian, "x" * 99, max_new_tokens=1).source_ids) == 101
    too_long = r"number of tokens in text \(\d+\) must be at most the network's number of positions \(101\)"
    with pytest.raises(ValueError, match=too_long):
        translate(marian, "x " * 120)
    with pytest.raises(ValueError, match=too_long.replace("text", "reference")):
        score_reference(marian, TEXT, "x " * 120)
    with pytest.raises(ValueError, match=r"length_penalty \(11\) must"):
        score_reference(marian, TEXT, "x", length_penalty=11)


def test_relative_positions_have_no_end() -> None:
    model = Model(tiny_t5(), tiny_tokenizer())
    assert len(translate(model, "x " * 150, max_new_tokens=130, forced_prefix=[5] * 130).source_ids) > 150


def test_networks_that_cannot_be_used() -> None:
    other = tiny_t5()
    other.set_attn_implementation("sdpa")
    with pytest.raises(ValueError, match='must have attn_implementation="eager"'):
        translate(Model(other, tiny_tokenizer()), TEXT)
    damaged = tiny_t5()
    with torch.no_grad():
        damaged.lm_head.weight[5, 5] = math.nan
    with pytest.raises(UnusableNetworkError, match="gives NaN for the next token"):
        translate(Model(damaged, tiny_tokenizer()), TEXT, num_beams=2)
    assert issubclass(UnusableNetworkError, ValueError)
    endless = tiny_t5()
    endless.generation_config.decoder_start_token_id = None
    with pytest.raises(ValueError, match="must have a decoder_start_token_id or a bos_token_id"):
        translate(Model(endless, tiny_tokenizer()), "")
