"""One request on its way: who waits for it, and whether anybody still does."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from specls.core import CancelToken
from specls.service.completion import Completion, Request


@dataclass(eq=False)
class Running:
    """A request that the engine works on. ``superseded`` is done once nobody wants its answer."""

    request: Request
    cancel: CancelToken
    answer: asyncio.Future[Completion]
    superseded: asyncio.Future[None]
    waiting: int = 0
    """How many wait for the answer: an editor may ask twice at the same place."""

    def serves(self, request: Request) -> bool:
        """Whether the answer to this request is one to another, which needn't stop it then.

        Who asked explicitly gets more than who didn't.
        """
        mine = self.request
        # The same text is the same object; a notebook's is wrapped anew for each request.
        same = mine.snapshot.text is request.snapshot.text and mine.position == request.position
        return same and mine.settings == request.settings and mine.explicit >= request.explicit

    async def wait(self) -> None:
        """Wait until there's an answer, or nobody wants it."""
        ends = (self.answer, self.superseded)
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)

    def supersede(self) -> None:
        """A newer request, or a change, made this one pointless."""
        self.cancel.cancel()
        if not self.superseded.done():
            self.superseded.set_result(None)
