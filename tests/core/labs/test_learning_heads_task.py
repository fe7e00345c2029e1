"""The task: what a token wants is what its answers are, and nobody wants to look at oneself."""

import pytest
import torch

from core.labs.learning_heads_task import MOST_LOOK_UPS, NAMES, TAGS, Batch, draw_batch, table_rows


def drawn(look_ups: int = 3, seed: int = 0, batch: int = 5) -> Batch:
    return draw_batch(batch, look_ups, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("look_ups", range(1, MOST_LOOK_UPS + 1))
def test_shapes_and_parts(look_ups: int) -> None:
    batch = drawn(look_ups)
    assert batch.parts.shape == (5, NAMES, 2 + look_ups)
    assert batch.places.shape == batch.answers.shape == (5, NAMES, look_ups)
    assert int(batch.parts.min()) >= 0
    assert int(batch.parts.max()) < table_rows(look_ups)
    torch.testing.assert_close(batch.parts[..., 0], batch.names)
    torch.testing.assert_close(batch.parts[..., 1], NAMES + batch.tags)


def test_every_name_stands_once() -> None:
    torch.testing.assert_close(drawn().names.sort(dim=-1).values, torch.arange(NAMES).expand(5, -1))


def test_a_wish_names_the_token_whose_tag_is_the_answer() -> None:
    batch = drawn()
    for sequence in range(5):
        names = batch.names[sequence].tolist()
        for query in range(NAMES):
            for wish in range(3):
                wanted = int(batch.parts[sequence, query, 2 + wish]) - NAMES - TAGS - wish * NAMES
                place = names.index(wanted)
                assert place == int(batch.places[sequence, query, wish])
                assert int(batch.answers[sequence, query, wish]) == int(batch.tags[sequence, place])


def test_the_wishes_of_a_token_are_others_and_differ() -> None:
    places = drawn(MOST_LOOK_UPS, batch=64).places
    assert not (places == torch.arange(NAMES)[None, :, None]).any()
    ordered = places.sort(dim=-1).values
    assert (ordered[..., 1:] != ordered[..., :-1]).all()


def test_all_tags_and_places_occur() -> None:
    batch = drawn(batch=64)
    assert set(batch.tags.flatten().tolist()) == set(range(TAGS))
    assert set(batch.places.flatten().tolist()) == set(range(NAMES))


def test_the_seed_decides() -> None:
    torch.testing.assert_close(drawn().parts, drawn().parts)
    assert not torch.equal(drawn().parts, drawn(seed=1).parts)


@pytest.mark.parametrize(
    ("batch", "look_ups", "said"),
    [
        (0, 1, r"batch \(0\) must be at least 1"),
        (1, 0, r"look_ups \(0\) must be between 1 and 4"),
        (1, 5, r"look_ups \(5\) must be between 1 and 4"),
    ],
)
def test_what_is_impossible(batch: int, look_ups: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        draw_batch(batch, look_ups, generator=torch.Generator())
