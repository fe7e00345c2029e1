"""Fetch a model from the Hugging Face hub into its cache, and find it there.

`hf_hub_download` is not used: its progress moves, and it can be stopped, in steps of 10 MB only, and it throws away
what it has when it is stopped. All that is needed of the hub's protocol is a GET of each file at a pinned revision.
What arrives is checked against the catalogue's size and SHA-256: neither the hub nor anyone in between can hand us
another file.
"""

import contextlib
import errno
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import filelock
import httpx2
from huggingface_hub import constants, get_session, hf_hub_url, try_to_load_from_cache
from huggingface_hub.errors import OfflineModeIsEnabled
from huggingface_hub.file_download import repo_folder_name

from core.models.catalogue import Entry, File
from core.models.checksums import sha256
from core.models.problems import ModelError, ModelProblem

TIMEOUT = 10.0  # seconds without any answer


@dataclass(frozen=True, slots=True)
class Hub:
    """Where models come from and where they are kept; None = as HF_ENDPOINT and HF_HOME say, or the hub's defaults."""

    endpoint: str | None = None
    cache_dir: Path | None = None

    @property
    def host(self) -> str:
        return self.endpoint or constants.ENDPOINT


def cached_files(entry: Entry, hub: Hub) -> dict[str, Path] | None:
    """The model's files in the cache, by name; None unless all are there in their full size."""
    files = {}
    for file in entry.files:
        path = _cached(entry, file, hub)
        if path is None:
            return None
        files[file.name] = path
    return files


def checked_files(entry: Entry, hub: Hub) -> dict[str, Path]:
    """The model's files in the cache, each with the content that the catalogue states. Never touches the network.

    Raises: ModelError.
    """
    files = cached_files(entry, hub)
    if files is None:
        raise ModelError(ModelProblem.NOT_DOWNLOADED, f"{entry.name} has not been downloaded yet.")
    for file in entry.files:
        if sha256(files[file.name]) != file.sha256:
            raise ModelError(
                ModelProblem.DAMAGED, f"{file.name} of {entry.name} in the cache is damaged: download it again."
            )
    return files


def download(entry: Entry, hub: Hub, *, on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
    """Bring every file of a hub model into the cache that is not yet there, whole and right.

    on_progress(bytes so far, bytes in all) is called at the start and after every piece; `cancelled` is asked as often.
    What has arrived when a download ends early stays, and the next one goes on from there.
    Raises: ModelError.
    """
    folder = _snapshot(entry, hub)
    try:
        for needed in (folder, _parts(entry, hub)):
            needed.mkdir(parents=True, exist_ok=True)
        with _alone(entry, hub):
            missing = [file for file in entry.files if not _is_whole(_cached(entry, file, hub), file)]
            parts = {file.name: _parts(entry, hub) / f"{file.sha256}.incomplete" for file in missing}
            still = sum(file.size_bytes - _size(parts[file.name]) for file in missing)
            free = shutil.disk_usage(folder).free
            if still > free:
                raise ModelError(
                    ModelProblem.NO_SPACE, f"{entry.name} needs {still:,} more bytes on disk; {free:,} are free."
                )
            done = entry.size_bytes - sum(file.size_bytes for file in missing)
            on_progress(done, entry.size_bytes)
            for file in missing:
                url = hf_hub_url(str(entry.repository), file.name, revision=entry.revision, endpoint=hub.endpoint)

                def report(size: int, before: int = done) -> None:
                    on_progress(before + size, entry.size_bytes)

                _fetch(file, url, parts[file.name], hub, report, cancelled)
                parts[file.name].replace(folder / file.name)
                done += file.size_bytes
    except (OSError, NotImplementedError) as error:  # the latter: a file system without locks
        raise _disk_problem(error, entry) from error


def _fetch(
    file: File, url: str, part: Path, hub: Hub, report: Callable[[int], None], cancelled: Callable[[], bool]
) -> None:
    """Fill `part` up to the whole file. A broken connection is taken up again while every attempt brings something."""
    before: int = -1
    broken: Exception | None = None
    while (size := _size(part)) < file.size_bytes:
        if size <= before:
            raise ModelError(
                ModelProblem.NO_NETWORK, f"{hub.host} cannot be reached, or the connection broke off."
            ) from broken
        if cancelled():
            raise _cancelled()
        before = size
        try:
            _stream(file, url, part, size, report, cancelled)
        except (httpx2.RequestError, httpx2.InvalidURL, OfflineModeIsEnabled) as error:
            broken = error
    if size != file.size_bytes or sha256(part) != file.sha256:
        part.unlink()
        raise ModelError(ModelProblem.WRONG_FILE, f"{hub.host} sent another {file.name} than was asked for.")


def _stream(
    file: File, url: str, part: Path, start: int, report: Callable[[int], None], cancelled: Callable[[], bool]
) -> None:
    """Append to `part` what the server sends of the file from byte `start` on."""
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with get_session().stream("GET", url, headers=headers, timeout=TIMEOUT, follow_redirects=True) as response:
        resumed = _check_answer(response, file, start)
        with part.open("ab" if resumed else "wb") as target:
            for piece in response.iter_bytes():
                if cancelled():
                    raise _cancelled()
                target.write(piece)
                report(min(target.tell(), file.size_bytes))
                if target.tell() > file.size_bytes:
                    return  # something else than what was asked for, and perhaps without an end


def _check_answer(response: httpx2.Response, file: File, start: int) -> bool:
    """Is the file coming, and does it come from byte `start` on (rather than from its beginning)?"""
    match response.status_code:
        case 200:
            total, resumed = response.headers.get("Content-Length"), False
        case 206 if found := re.fullmatch(rf"bytes {start}-\d+/(\d+)", response.headers.get("Content-Range", "")):
            total, resumed = found[1], True
        case 401 | 404 | 410:
            raise ModelError(ModelProblem.NOT_FOUND, f"{response.url.host} does not have {response.url.path}.")
        case status:
            raise ModelError(ModelProblem.HUB_ERROR, f"{response.url.host} answered with the HTTP status {status}.")
    if total is not None and total != str(file.size_bytes):
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"{response.url.host} offers {file.name} with {total} bytes; it must have {file.size_bytes}.",
        )
    return resumed


@contextlib.contextmanager
def _alone(entry: Entry, hub: Hub) -> Iterator[None]:
    """Keep two visitors of one server, or two servers with one cache, from writing to the same file."""
    lock = filelock.FileLock(_parts(entry, hub) / f"{entry.name}.lock")
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout as error:
        raise ModelError(ModelProblem.BUSY, f"{entry.name} is being downloaded by somebody else right now.") from error
    try:
        yield
    finally:
        lock.release()


def _repository_folder(entry: Entry, hub: Hub) -> Path:
    cache = hub.cache_dir or Path(constants.HF_HUB_CACHE)
    return cache / repo_folder_name(repo_id=str(entry.repository), repo_type="model")


def _snapshot(entry: Entry, hub: Hub) -> Path:
    """Where the hub's own tools look for this revision's files, so that they find what we bring, as we find theirs."""
    return _repository_folder(entry, hub) / "snapshots" / str(entry.revision)


def _parts(entry: Entry, hub: Hub) -> Path:
    return _repository_folder(entry, hub) / "blobs"


def _cached(entry: Entry, file: File, hub: Hub) -> Path | None:
    found = try_to_load_from_cache(str(entry.repository), file.name, cache_dir=hub.cache_dir, revision=entry.revision)
    return Path(found) if isinstance(found, str) and _size(Path(found)) == file.size_bytes else None


def _is_whole(path: Path | None, file: File) -> bool:
    return path is not None and sha256(path) == file.sha256


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _cancelled() -> ModelError:
    return ModelError(ModelProblem.CANCELLED, "The download was cancelled; what has arrived is kept.")


def _disk_problem(error: OSError | NotImplementedError, entry: Entry) -> ModelError:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ModelError(ModelProblem.NO_SPACE, f"The disk is full: {entry.name} could not be stored.")
    return ModelError(ModelProblem.NOT_WRITABLE, f"{entry.name} could not be stored: {error}.")
