"""Maps as images: the pixels say what the numbers do, few bytes say it, and what is clicked is a mark."""

import base64
import io

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from core.charts import large_map, png, sheet
from core.charts.export import to_svg
from core.charts.theme import style

LIGHT, DARK = style("light"), style("dark")
BERTVIZ = 1_690_000  # bytes that BertViz sends for MiniLM and 23 tokens


def pixels(address: str) -> npt.NDArray[np.uint8]:
    """The image at an address that holds it, as red, green, blue and opacity."""
    raw = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(raw)).convert("RGBA"))


def colour(text: str) -> list[int]:
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)]


def softmaxed(*shape: int) -> npt.NDArray[np.float32]:
    scores = 3 * np.random.default_rng(0).standard_normal(shape)
    exponentials = np.exp(scores)
    return (exponentials / exponentials.sum(axis=-1, keepdims=True)).astype(np.float32)


def test_every_pixel_has_the_colour_of_its_number() -> None:
    values = np.array([[0.0, 0.25], [0.5, 1.0], [-3.0, 7.0]])
    found = pixels(png.picture(png.shades(values, LIGHT.weights), LIGHT.weights, LIGHT.masked))
    assert found.shape == (3, 2, 4)
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            expected = colour(LIGHT.weights.at(value))
            assert np.abs(found[row, column, :3].astype(int) - expected).max() <= 2
    assert (found[..., 3] == 255).all()


def test_what_is_masked_or_empty_or_no_number() -> None:
    shades = png.shades([[np.nan, np.inf, 0.5]], LIGHT.weights)
    assert shades[0, :2].tolist() == [png.MASKED, png.MASKED]
    found = pixels(png.picture(np.array([[png.MASKED, png.EMPTY]], np.uint8), LIGHT.weights, LIGHT.masked))
    assert found[0, 0].tolist() == [*colour(LIGHT.masked), 255]
    assert found[0, 1, 3] == 0


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,)])
def test_a_picture_has_pixels(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="must be of shape"):
        png.picture(np.zeros(shape, np.uint8), LIGHT.weights, LIGHT.masked)


def test_maps_stand_side_by_side() -> None:
    """Two layers, three heads, maps of 5 × 7."""
    weights = np.zeros((2, 3, 5, 7), np.float32)
    weights[1, 2, 4, 6] = 1.0
    found = pixels(sheet.sheet_image(LIGHT, weights))
    assert found.shape == (2 * 7, 3 * 9, 4)
    (row,), (column,) = np.where((found[..., :3] == colour(LIGHT.weights.at(1.0))).all(axis=-1))
    assert (row, column) == (7 + 1 + 4, 2 * 9 + 1 + 6)
    assert found[0, :, 3].max() == 0  # the gap


def test_a_mask_is_grey_in_every_map() -> None:
    mask = np.tril(np.ones((3, 3), bool))
    found = pixels(sheet.sheet_image(DARK, np.full((1, 2, 3, 3), 0.5), mask))
    grey = (found[..., :3] == colour(DARK.masked)).all(axis=-1) & (found[..., 3] == 255)
    assert grey.sum() == 2 * 3


def test_a_grid_costs_less_than_a_tenth_of_what_bertviz_sends() -> None:
    image = sheet.sheet_image(LIGHT, softmaxed(6, 12, 23, 23))
    frames = sheet.sheet_data(image, np.zeros((6, 12, 3)))
    sent = len(image) + sum(frame.nbytes for frame in frames.values())
    assert sent < BERTVIZ / 10
    # The largest: 12 × 12 heads, 64 tokens. BertViz would send (12·12·64²) / (6·12·23²) times as much.
    assert len(sheet.sheet_image(LIGHT, softmaxed(12, 12, 64, 64))) < BERTVIZ / 4


def test_what_a_sheet_tells_of_each_map() -> None:
    told = np.arange(2 * 3 * 3, dtype=float).reshape(2, 3, 3)
    frames = sheet.sheet_data("data:", told, chosen=(1, 2), nonce=101)
    maps = frames["maps"].to_pandas()
    assert maps[["layer", "head", "q", "k", "weight"]].to_numpy().tolist()[4] == [1, 1, 12, 13, 14]
    assert set(maps["nonce"]) == {1}
    assert frames["chosen"].to_pandas().to_numpy().tolist() == [[1, 2]]
    assert len(sheet.sheet_data("data:", told)["chosen"].to_pandas()) == 0


def test_cells_are_sharp_where_they_are_large() -> None:
    assert sheet.is_sharp(8, 12, 660)
    assert not sheet.is_sharp(64, 12, 660)


@pytest.mark.parametrize("shape", [(1, 1, 65, 3), (1, 1, 3), (0, 2, 3, 3)])
def test_maps_that_do_not_fit(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"must be .layers, heads, rows, columns., at most 64"):
        sheet.sheet_image(LIGHT, np.zeros(shape))


def test_a_sheet_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"strongest \(2, 3\) must be \(layers, heads, 3\)"):
        sheet.sheet_data("", np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"chosen \(2, 0\) must be a layer below 2 and a head below 3"):
        sheet.sheet_data("", np.zeros((2, 3, 3)), chosen=(2, 0))
    with pytest.raises(ValueError, match="must be at least 1"):
        sheet.sheet(LIGHT, 2, 3, [], ["a"])


def test_a_sheet_is_one_image_and_a_mark_for_each_map() -> None:
    spec = sheet.sheet(LIGHT, 2, 3, ["a"], ['"b'], outer_width=500).to_dict()
    kinds = [layer["mark"]["type"] for layer in spec["layer"]]
    assert kinds == ["image", "rect", "rect", "rect"]
    assert spec["layer"][0]["mark"]["width"] == spec["width"]
    frames = sheet.sheet_data(sheet.sheet_image(LIGHT, softmaxed(2, 3, 1, 1)), np.zeros((2, 3, 3)))
    svg = to_svg(spec, frames, LIGHT)
    assert svg.count("<image") == 1
    assert 'height="430"' in svg[svg.index("<image") :]


def test_images_from_elsewhere_are_not_fetched() -> None:
    spec = sheet.sheet(LIGHT, 2, 3, ["a"], ["b"]).to_dict()
    for address in ("https://example.org/x.png", "file:///etc/passwd", "data:text/html,x"):
        with pytest.raises(ValueError, match="must not load data from an address"):
            to_svg(spec, sheet.sheet_data(address, np.zeros((2, 3, 3))), LIGHT)


def test_a_large_map_has_a_pixel_for_each_weight_and_a_mark_for_each_row() -> None:
    weights = softmaxed(97, 101)
    frames = large_map.large_map_data(LIGHT, weights, marked_row=5, nonce=3)
    assert pixels(frames["image"].to_pandas()["url"][0]).shape == (97, 101, 4)
    rows = frames["rows"].to_pandas()
    assert rows["k"].tolist() == weights.argmax(axis=1).tolist()
    np.testing.assert_array_equal(rows["weight"], weights.max(axis=1))
    assert frames["mark"].to_pandas()["q"].tolist() == [5]
    spec = large_map.large_map(LIGHT, ["a"] * 97, ["b"] * 101).to_dict()
    assert to_svg(spec, frames, LIGHT).count("<image") == 1
    masked = large_map.large_map_data(LIGHT, np.full((2, 2), 0.5), attend_mask=np.tril(np.ones((2, 2))))
    assert pixels(masked["image"].to_pandas()["url"][0])[0, 1, :3].tolist() == colour(LIGHT.masked)


def test_a_large_map_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"weights \(3,\) must be \(queries, keys\)"):
        large_map.large_map_data(LIGHT, np.zeros(3))
    with pytest.raises(ValueError, match=r"marked_row \(2\) must be between 0 and 1"):
        large_map.large_map_data(LIGHT, np.zeros((2, 3)), marked_row=2)
    with pytest.raises(ValueError, match=r"queries \(0\) and keys \(1\) must hold at least one token"):
        large_map.large_map(LIGHT, [], ["a"])
