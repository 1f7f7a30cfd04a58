"""Which models there are, and loading them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pygls.lsp.server import LanguageServer

from specls.lsp.custom import MODELS, RELOAD
from specls.service.service import CompletionService


def register(
    server: LanguageServer, service: CompletionService, reload: Callable[[], None]
) -> None:
    """Bind the request and the command, which calls ``reload``."""

    @server.feature(MODELS)
    async def models(_params: Any) -> dict[str, Any]:
        return {"models": await service.models.listing()}

    @server.command(RELOAD)
    def load_again() -> None:
        reload()
