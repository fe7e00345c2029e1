"""Make the pictures of the README: python tools/pictures.py

Each is a page on a screen of 1440 × 900, reduced to 256 colours so that it stays small.
"""

import io
import sys
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.browser import DESKTOP, ROOT, Server, chromium, page_paths, settle

FOLDER = ROOT / "docs"
# path → an address that shows more than the defaults do
INTERESTING = {
    "/translation": "translation_step=3",
    "/explorer": "explorer_view=grid",
    "/open_book": "open_book_view=exam&open_book_guess=closed",
}
MOST_BYTES = 150_000


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with Server() as server, chromium() as browser:
        page = browser.new_page(viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, locale="en-US")
        for path in page_paths():
            page.goto(f"{server.url}{path}?{INTERESTING.get(path, '')}")
            settle(page)
            server.wait_until_idle()
            screen = Image.open(io.BytesIO(page.screenshot()))
            file = FOLDER / f"{path.strip('/') or 'map'}.png"
            screen.quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
            size = file.stat().st_size
            print(f"{file.relative_to(ROOT)}  {size / 1000:.0f} KB{'  too large' if size > MOST_BYTES else ''}")
        page.context.close()


if __name__ == "__main__":
    main()
