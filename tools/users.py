"""Simulated people on a server: each opens a page and moves its first slider now and then.

They speak Streamlit's websocket protocol, as a browser does, but draw nothing: what is measured is the server.
"""

import asyncio
import random
import statistics
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PATIENCE = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Visit:
    """What the simulated people experienced, in milliseconds."""

    people: int
    first_view_median: float
    change_median: float
    change_95: float
    errors: int


class Person:
    """One session of the app."""

    def __init__(self, url: str, path: str) -> None:
        self._url = url
        self._path = path.strip("/")
        self._page_hash = ""
        self._slider: Any = None
        self._value = 0.0
        self._cache: dict[str, ForwardMsg] = {}
        self.errors = 0

    async def __aenter__(self) -> Self:
        address = self._url.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = await websockets.connect(
            address, subprotocols=[websockets.Subprotocol("streamlit")], max_size=None, open_timeout=PATIENCE
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._socket.close()

    async def run(self) -> float:
        """Let the page run with the slider where it is; milliseconds until it has finished."""
        message = BackMsg()
        client = message.rerun_script
        client.page_script_hash, client.page_name = self._page_hash, "" if self._page_hash else self._path
        client.context_info.timezone, client.context_info.locale = "UTC", "en-US"
        client.context_info.url = f"{self._url}/{self._path}"
        if self._slider is not None:
            widget = client.widget_states.widgets.add()
            widget.id = self._slider.id
            widget.double_array_value.data.append(self._value)
        begun = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        await asyncio.wait_for(self._read_until_finished(), PATIENCE)
        return 1000 * (time.perf_counter() - begun)

    async def move(self, chance: random.Random) -> float:
        """Put the slider somewhere else."""
        if self._slider is not None:
            steps = round((self._slider.max - self._slider.min) / self._slider.step)
            self._value = self._slider.min + chance.randint(0, steps) * self._slider.step
        return await self.run()

    async def _read_until_finished(self) -> None:
        while True:
            message = ForwardMsg.FromString(await self._socket.recv(decode=False))
            if message.WhichOneof("type") == "ref_hash":
                message = self._cache[message.ref_hash]
            elif message.metadata.cacheable:
                self._cache[message.hash] = message
            kind = message.WhichOneof("type")
            if kind == "script_finished":
                return
            if kind == "navigation":
                self._page_hash = message.navigation.page_script_hash
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                self.errors += element.WhichOneof("type") == "exception"
                if self._slider is None and element.WhichOneof("type") == "slider" and not element.slider.disabled:
                    self._slider, self._value = element.slider, element.slider.default[0]


async def visit(url: str, path: str, *, people: int = 30, moves: int = 10, pause: float = 2.0, seed: int = 0) -> Visit:
    """`people` open the page at once; then each moves the slider `moves` times, about every `pause` seconds."""
    chance = random.Random(seed)
    first: list[float] = []
    changes: list[float] = []

    async def one() -> int:
        async with Person(url, path) as person:
            first.append(await person.run())
            for _ in range(moves):
                await asyncio.sleep(chance.expovariate(1 / pause))
                changes.append(await person.move(chance))
            return person.errors

    errors = sum(await asyncio.gather(*(one() for _ in range(people))))
    slow = statistics.quantiles(changes, n=20)[-1]
    return Visit(people, statistics.median(first), statistics.median(changes), slow, errors)
