"""Links outside the site are asked only where a network answers; without one, that is said once."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import requests
from sphinx.application import Sphinx
from sphinx.builders.linkcheck import CheckExternalLinksBuilder
from sphinx.util import logging

PATIENCE = 10  # seconds

logger = logging.getLogger(__name__)


def hosts(addresses: Iterable[str]) -> set[str]:
    """Return the hosts that addresses lead to, each as an address such as https://host/."""
    parts = map(urlsplit, addresses)
    return {f"{part.scheme}://{part.netloc}/" for part in parts if part.scheme in ("http", "https")}


def answers(host: str) -> bool:
    """Return whether a host answers at all, even if only with an error."""
    try:
        requests.head(host, timeout=PATIENCE)
    except requests.exceptions.SSLError:
        return True
    except requests.RequestException:
        return False
    return True


class Links(CheckExternalLinksBuilder):
    """Sphinx's own check of links, given up where no host answers."""

    def finish(self) -> None:
        asked = hosts(self.hyperlinks)
        with ThreadPoolExecutor(max(1, len(asked))) as pool:
            reached = any(list(pool.map(answers, asked)))
        if reached or not asked:
            super().finish()
        else:
            logger.error(
                "No link was checked: none of the %d hosts that links lead to answers. "
                "Connect this machine to a network, and run this again.",
                len(asked),
            )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_builder(Links, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
