"""Downloads from a stand-in for the hub on this machine: progress, cancelling, resuming, and all that can go wrong."""

import contextlib
import errno
import hashlib
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import filelock
import huggingface_hub
import pytest
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from core import models
from core.models import CATALOGUE, Entry, File, Hub, ModelError, ModelProblem
from tests import tiny, tiny_text

WEIGHTS = "model.safetensors"


@dataclass
class Behaviour:
    """What the stand-in does; a test changes it while the server runs."""

    files: dict[str, bytes]
    status: int | None = None  # instead of any file
    ranges: bool = True  # may a download start in the middle?
    break_after: int | None = None  # bytes of body, then the connection is closed
    lengths: bool = True  # is the length announced?
    redirect: bool = False  # to another path, as the hub does with large files
    requests: list[tuple[str, str | None]] = field(default_factory=list)  # path, Range
    sent: int = 0  # bytes of bodies that a client took


def handler(behaviour: Behaviour) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            behaviour.requests.append((self.path, wanted))
            content = behaviour.files.get(self.path.removeprefix("/cdn"))
            if behaviour.status is not None or content is None:
                self.answer(behaviour.status or 404, {"Content-Length": "0"})
                return
            if behaviour.redirect and not self.path.startswith("/cdn"):
                self.answer(302, {"Location": "/cdn" + self.path, "Content-Length": "0"})
                return
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and behaviour.ranges else 0
            headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
            if behaviour.lengths:
                headers["Content-Length"] = str(len(content) - start)
            else:
                headers["Connection"] = "close"
            self.answer(206 if start else 200, headers)
            body = content[start:] if behaviour.break_after is None else content[start:][: behaviour.break_after]
            with contextlib.suppress(ConnectionError):  # the client may have left
                for at in range(0, len(body), 4096):
                    self.wfile.write(body[at : at + 4096])
                    behaviour.sent += len(body[at : at + 4096])
            self.close_connection = behaviour.break_after is not None or not behaviour.lengths

        def answer(self, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


class Stand(NamedTuple):
    behaviour: Behaviour
    hub: Hub
    entry: Entry


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("hub")
    tiny.save_model(tiny.tiny_t5(), tiny.tiny_tokenizer(), folder)
    return {name: (folder / name).read_bytes() for name in ("config.json", "tokenizer.json", WEIGHTS)}


@contextlib.contextmanager
def serving(name: str, contents: dict[str, bytes], cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stand]:
    """A hub that has these files under the name of a model of the catalogue; with an empty cache."""
    files = tuple(File(each, len(data), hashlib.sha256(data).hexdigest()) for each, data in contents.items())
    entry = replace(CATALOGUE[name], files=files, package=None)
    monkeypatch.setattr(models, "CATALOGUE", {**CATALOGUE, name: entry})
    behaviour = Behaviour({f"/{entry.repository}/resolve/{entry.revision}/{n}": data for n, data in contents.items()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(behaviour))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Stand(behaviour, Hub(f"http://127.0.0.1:{server.server_port}", cache), entry)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def stand(contents: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stand]:
    """A hub that has, under the name of t5-small, the tiny T5."""
    with serving("t5-small", contents, tmp_path / "cache", monkeypatch) as stand:
        yield stand


@pytest.mark.parametrize(
    ("name", "network", "tokenizer"),
    [
        ("minilm", tiny_text.bert, tiny_text.word_pieces),
        ("bert-base-chinese", tiny_text.bert, tiny_text.word_pieces),
        ("distilbert-base-uncased", tiny_text.distilbert, tiny_text.word_pieces),
        ("gpt2", tiny_text.gpt2, tiny_text.byte_pairs),
    ],
)
def test_encoders_and_decoders_come_the_same_way(
    name: str,
    network: Callable[[], PreTrainedModel],
    tokenizer: Callable[[], PreTrainedTokenizerFast],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """MiniLM too, where its package is missing."""
    tiny.save_model(network(), tokenizer(), tmp_path)
    contents = {each: (tmp_path / each).read_bytes() for each in ("config.json", "tokenizer.json", WEIGHTS)}
    with serving(name, contents, tmp_path / "cache", monkeypatch) as stand:
        seen: list[tuple[int, int]] = []
        assert not models.is_available(name, hub=stand.hub)
        models.download(name, on_progress=lambda *now: seen.append(now), cancelled=lambda: False, hub=stand.hub)
        assert (seen[0][0], seen[-1]) == (0, (stand.entry.size_bytes,) * 2)
        model = models.load_any(name, hub=stand.hub)
        assert (model.name, model.facts.family) == (name, stand.entry.family)
        with pytest.raises(ModelError, match="does not translate"):
            models.load(name, hub=stand.hub)


def fetch(
    stand: Stand,
    on_progress: Callable[[int, int], None] = lambda *_: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> None:
    models.download("t5-small", on_progress=on_progress, cancelled=cancelled, hub=stand.hub)


def fail(stand: Stand, reason: ModelProblem, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        fetch(stand)
    assert caught.value.reason is reason
    assert not models.is_available("t5-small", hub=stand.hub)
    with pytest.raises(ModelError) as caught:
        models.load("t5-small", hub=stand.hub)
    assert caught.value.reason is ModelProblem.NOT_DOWNLOADED


def change(stand: Stand, name: str, content: bytes) -> None:
    path = next(path for path in stand.behaviour.files if path.endswith(name))
    stand.behaviour.files[path] = content


def ranges(stand: Stand, name: str = WEIGHTS) -> list[str | None]:
    return [wanted for path, wanted in stand.behaviour.requests if path.endswith(name)]


def test_download_then_load(stand: Stand, contents: dict[str, bytes]) -> None:
    assert not models.is_available("t5-small", hub=stand.hub)
    seen: list[tuple[int, int]] = []
    fetch(stand, lambda done, total: seen.append((done, total)))
    assert models.is_available("t5-small", hub=stand.hub)
    total = sum(map(len, contents.values()))
    assert seen[0] == (0, total)
    assert seen[-1] == (total, total)
    assert seen == sorted(set(seen))  # always forward
    assert len(seen) > 5
    count = len(stand.behaviour.requests)
    model = models.load("t5-small", hub=stand.hub)
    assert (model.name, model.facts.family, model.facts.d_model) == ("t5-small", "t5", 26)
    assert [task.name for task in model.tasks] == ["en-de", "en-fr", "en-ro"]
    assert len(stand.behaviour.requests) == count == 3  # loading asks nobody


def test_every_request_is_for_the_pinned_revision(stand: Stand) -> None:
    fetch(stand)
    for path, _ in stand.behaviour.requests:
        assert path.startswith("/google-t5/t5-small/resolve/df1b051c49625cf57a3d0d8d3863ed4d13564fe4/")


def test_what_is_there_is_not_fetched_again(stand: Stand) -> None:
    fetch(stand)
    count = len(stand.behaviour.requests)
    seen: list[tuple[int, int]] = []
    fetch(stand, lambda done, total: seen.append((done, total)))
    assert len(stand.behaviour.requests) == count
    assert seen == [(stand.entry.size_bytes, stand.entry.size_bytes)]


def test_the_hubs_own_tools_find_what_was_downloaded(stand: Stand, contents: dict[str, bytes]) -> None:
    fetch(stand)
    for name, data in contents.items():
        path = huggingface_hub.hf_hub_download(
            "google-t5/t5-small",
            name,
            revision=stand.entry.revision,
            cache_dir=stand.hub.cache_dir,
            local_files_only=True,
        )
        assert Path(path).read_bytes() == data


def test_what_the_hubs_own_tools_downloaded_is_found(stand: Stand, contents: dict[str, bytes]) -> None:
    """They keep contents under blobs and link to them."""
    assert stand.hub.cache_dir is not None
    root = stand.hub.cache_dir / "models--google-t5--t5-small"
    snapshot = root / "snapshots" / str(stand.entry.revision)
    (root / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for name, data in contents.items():
        (root / "blobs" / f"etag-{name}").write_bytes(data)
        (snapshot / name).symlink_to(f"../../blobs/etag-{name}")
    assert models.load("t5-small", hub=stand.hub).facts.d_model == 26


def test_another_revision_in_the_cache_is_not_ours(stand: Stand) -> None:
    fetch(stand)
    assert stand.hub.cache_dir is not None
    snapshots = stand.hub.cache_dir / "models--google-t5--t5-small" / "snapshots"
    (snapshots / str(stand.entry.revision)).rename(snapshots / ("0" * 40))
    assert not models.is_available("t5-small", hub=stand.hub)


def test_redirects_are_followed(stand: Stand) -> None:
    stand.behaviour.redirect = True
    fetch(stand)
    assert models.is_available("t5-small", hub=stand.hub)


def test_cancelled_downloads_go_on_where_they_stopped(stand: Stand, contents: dict[str, bytes]) -> None:
    half = sum(map(len, contents.values())) - len(contents[WEIGHTS]) // 2
    done = [0]

    def note(so_far: int, _: int) -> None:
        done[0] = so_far

    with pytest.raises(ModelError, match="was cancelled; what has arrived is kept") as caught:
        fetch(stand, note, lambda: done[0] >= half)
    assert caught.value.reason is ModelProblem.CANCELLED
    assert not models.is_available("t5-small", hub=stand.hub)
    fetch(stand)
    first, second = ranges(stand)
    assert first is None
    assert second is not None
    assert int(second[len("bytes=") : -1]) > 0
    assert len(stand.behaviour.requests) == 4  # the two small files once
    assert models.load("t5-small", hub=stand.hub).facts.d_model == 26


def test_cancelled_before_anything_arrives(stand: Stand) -> None:
    with pytest.raises(ModelError) as caught:
        fetch(stand, cancelled=lambda: True)
    assert caught.value.reason is ModelProblem.CANCELLED
    assert stand.behaviour.requests == []


@pytest.mark.parametrize("lengths", [True, False])
def test_a_connection_that_breaks_is_taken_up_again(stand: Stand, lengths: bool) -> None:
    stand.behaviour.break_after = 50_000
    stand.behaviour.lengths = lengths
    fetch(stand)
    assert ranges(stand) == [None, "bytes=50000-", "bytes=100000-", "bytes=150000-"]
    assert models.load("t5-small", hub=stand.hub).facts.d_model == 26


def test_a_server_that_knows_no_ranges_starts_again(stand: Stand) -> None:
    stand.behaviour.break_after = 50_000
    stand.behaviour.ranges = False
    fail(stand, ModelProblem.NO_NETWORK, "cannot be reached, or the connection broke off")
    stand.behaviour.break_after = None
    fetch(stand)
    assert models.load("t5-small", hub=stand.hub).facts.d_model == 26


def test_a_connection_that_brings_less_and_less_is_given_up(stand: Stand) -> None:
    """Without ranges every attempt starts again: one that brings less than the one before must not go on for ever."""
    stand.behaviour.ranges = False

    def break_elsewhere(*_: int) -> None:
        stand.behaviour.break_after = 50_000 if len(stand.behaviour.requests) % 2 else 30_000

    with pytest.raises(ModelError) as caught:
        fetch(stand, break_elsewhere, cancelled=lambda: len(stand.behaviour.requests) > 20)
    assert caught.value.reason is ModelProblem.NO_NETWORK


def test_a_connection_that_breaks_at_once(stand: Stand) -> None:
    stand.behaviour.break_after = 0
    fail(stand, ModelProblem.NO_NETWORK, "cannot be reached, or the connection broke off")


def test_no_server(stand: Stand) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    fail(
        stand._replace(hub=replace(stand.hub, endpoint=f"http://127.0.0.1:{port}")), ModelProblem.NO_NETWORK, "reached"
    )


@pytest.mark.parametrize(
    "endpoint", ["http://no-such-host.invalid", "no address at all", "http://[", "ftp://127.0.0.1"]
)
def test_addresses_that_lead_nowhere(stand: Stand, endpoint: str) -> None:
    fail(stand._replace(hub=replace(stand.hub, endpoint=endpoint)), ModelProblem.NO_NETWORK, "cannot be reached")


def test_the_hubs_offline_switch_is_obeyed(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    fail(stand, ModelProblem.NO_NETWORK, "cannot be reached")
    assert stand.behaviour.requests == []


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        (401, ModelProblem.NOT_FOUND, "does not have /google-t5/t5-small/resolve/df1b"),
        (404, ModelProblem.NOT_FOUND, "does not have"),
        (403, ModelProblem.HUB_ERROR, "the HTTP status 403"),
        (429, ModelProblem.HUB_ERROR, "the HTTP status 429"),
        (503, ModelProblem.HUB_ERROR, "the HTTP status 503"),
        (206, ModelProblem.HUB_ERROR, "the HTTP status 206"),  # unasked, and without saying which part
    ],
)
def test_answers_without_a_file(stand: Stand, status: int, reason: ModelProblem, message: str) -> None:
    stand.behaviour.status = status
    fail(stand, reason, message)


def test_a_revision_without_one_of_the_files(stand: Stand) -> None:
    stand.behaviour.files = {path: data for path, data in stand.behaviour.files.items() if WEIGHTS not in path}
    fail(stand, ModelProblem.NOT_FOUND, "does not have .*model.safetensors")


def test_a_file_of_another_length_is_refused_before_it_is_fetched(stand: Stand) -> None:
    change(stand, "config.json", b"<html>Please log in to this wireless network</html>")
    fail(stand, ModelProblem.WRONG_FILE, "offers config.json with 51 bytes; it must have")
    assert len(stand.behaviour.requests) == 1


@pytest.mark.parametrize("lengths", [True, False])
def test_another_content_of_the_same_length(stand: Stand, contents: dict[str, bytes], lengths: bool) -> None:
    stand.behaviour.lengths = lengths
    flipped = bytearray(contents[WEIGHTS])
    flipped[-5] ^= 1
    change(stand, WEIGHTS, bytes(flipped))
    fail(stand, ModelProblem.WRONG_FILE, "sent another model.safetensors")
    change(stand, WEIGHTS, contents[WEIGHTS])
    fetch(stand)  # nothing of the wrong file was kept
    assert ranges(stand) == [None, None]


def test_a_file_without_end(stand: Stand, contents: dict[str, bytes]) -> None:
    stand.behaviour.lengths = False
    change(stand, "config.json", contents["config.json"] + b" " * 60_000_000)
    fail(stand, ModelProblem.WRONG_FILE, "sent another config.json")
    assert stand.behaviour.sent < 50_000_000  # some of it waits in the connection's buffers


def test_a_damaged_cache_is_noticed_and_healed(stand: Stand) -> None:
    fetch(stand)
    files = {file.name: file for file in stand.entry.files}
    path = next((stand.hub.cache_dir or Path()).glob(f"models--*/snapshots/*/{WEIGHTS}"))
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"model.safetensors of t5-small in the cache is damaged") as caught:
        models.load("t5-small", hub=stand.hub)
    assert caught.value.reason is ModelProblem.DAMAGED
    fetch(stand)
    assert models.load("t5-small", hub=stand.hub).facts.d_model == 26
    path.write_bytes(content[:-9])
    assert not models.is_available("t5-small", hub=stand.hub)
    fetch(stand)
    assert path.stat().st_size == files[WEIGHTS].size_bytes


def test_too_little_space_is_noticed_before_anything_is_fetched(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12 - 5, 5))
    fail(stand, ModelProblem.NO_SPACE, rf"needs {stand.entry.size_bytes:,} more bytes on disk; 5 are free")
    assert stand.behaviour.requests == []


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, ModelProblem.NO_SPACE),
        (errno.EDQUOT, ModelProblem.NO_SPACE),
        (errno.EROFS, ModelProblem.NOT_WRITABLE),
        (errno.EACCES, ModelProblem.NOT_WRITABLE),
    ],
)
def test_a_disk_that_refuses(stand: Stand, number: int, reason: ModelProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, "no")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        with pytest.raises(ModelError, match=r"could not be stored|The disk is full") as caught:
            fetch(stand)
    assert caught.value.reason is reason


def test_a_cache_that_is_a_file(stand: Stand) -> None:
    (stand.hub.cache_dir or Path()).write_bytes(b"")
    fail(stand, ModelProblem.NOT_WRITABLE, "could not be stored")


def test_a_file_system_without_locks(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise NotImplementedError("FileSystem does not appear to support flock")

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    fail(stand, ModelProblem.NOT_WRITABLE, "does not appear to support flock")


def test_one_download_at_a_time(stand: Stand) -> None:
    """A second visitor presses the button while the first one's download runs."""
    problems: list[ModelProblem] = []

    def press_again(_: int, __: int) -> None:
        if not problems:
            with pytest.raises(ModelError, match="is being downloaded by somebody else") as caught:
                fetch(stand)
            problems.append(caught.value.reason)

    fetch(stand, press_again)
    assert problems == [ModelProblem.BUSY]
    assert models.is_available("t5-small", hub=stand.hub)


def test_a_server_may_forbid_downloads(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    for word in ("forbid", "FORBID ", "none"):
        monkeypatch.setenv("ATLAS_DOWNLOADS", word)
        fail(stand, ModelProblem.DOWNLOADS_FORBIDDEN, "downloads no models")
        assert not models.downloads_allowed()
    assert stand.behaviour.requests == []
    monkeypatch.setenv("ATLAS_DOWNLOADS", "allow")
    fetch(stand)
    monkeypatch.setenv("ATLAS_DOWNLOADS", "forbid")
    assert models.load("t5-small", hub=stand.hub).name == "t5-small"  # what is there may be used


@pytest.mark.parametrize("name", ["atlas-fr-en", "bert", "/tmp"])
def test_only_hub_models_can_be_downloaded(name: str) -> None:
    with pytest.raises(ModelError, match="no model that can be downloaded") as caught:
        models.download(name, on_progress=lambda *_: None, cancelled=lambda: False)
    assert caught.value.reason is ModelProblem.UNKNOWN_NAME


def test_a_fault_in_the_callers_progress_is_the_callers(stand: Stand) -> None:
    def broken(done: int, _: int) -> None:
        if done:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fetch(stand, broken)
    fetch(stand)  # the lock was given back
