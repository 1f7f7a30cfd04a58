"""What the engine's thread holds of one connection's documents, and how it's let go."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from specls.service.completion import Request, parts_of
from specls.service.exclude import Exclusion
from specls.service.heads import Choice, Heads
from specls.service.interface import Runtime
from specls.service.models import Models
from specls.service.parts import Context, is_shown
from specls.service.worker import Priority, Worker
from specls.service.workspace import View


class Held:
    """The documents' parts of the cache, their prompts, and what is told of other files.

    Used from the event loop, but for :attr:`runtime`; the work is done on the worker.
    """

    def __init__(
        self,
        worker: Worker,
        models: Models,
        view: Callable[[Runtime], Runtime],
        around: Callable[[], View],
    ) -> None:
        """``view`` makes of what is loaded what this connection uses, on the worker.

        ``around`` tells what is open now, and where somebody was.
        """
        self._worker = worker
        self._models = models
        self._view = view
        self._around = around
        self._heads = Heads()
        """Of the worker alone."""

    @property
    def runtime(self) -> Runtime | None:
        """What is loaded, as this connection uses it; on the worker."""
        runtime = self._models.runtime
        return None if runtime is None else self._view(runtime)

    def context(self, request: Request) -> Future[Context]:
        """What the model would be given for a request now; nothing if none is loaded."""

        def look() -> Context:
            runtime = self.runtime
            return Context() if runtime is None else Context(parts_of(runtime, request))

        return self._worker.submit(Priority.REQUEST, look)

    def choice(self, request: Request) -> Choice:
        """How it's found out what should stand before a document, with what is open now."""
        return partial(self._heads.choose, request, self._around())

    def forget(self, uri: str, *, kept: bool) -> None:
        """Free what a document takes; what was read of it may be ``kept`` outside the cache."""

        def forget() -> None:
            self._heads.forget(uri)
            if (runtime := self.runtime) is not None:
                (runtime.engine.close if kept else runtime.engine.drop)(uri)
                runtime.prompts.forget(uri)

        self._worker.submit(Priority.CLOSE, forget)

    def forget_excluded(self, exclusion: Exclusion) -> None:
        """Forget what was read of documents that show something excluded."""

        def forget() -> None:
            self._heads.clear()
            if (runtime := self.runtime) is None:
                return
            for uri, head in runtime.prompts.heads.items():
                if not is_shown(head, exclusion):
                    runtime.engine.drop(uri)
                    runtime.prompts.forget(uri)

        self._worker.submit(Priority.CLOSE, forget)

    def forget_kept(self) -> None:
        """Forget what was read of closed documents, of which nobody knows the names.

        Some of them may be excluded now.
        """

        def forget() -> None:
            if (runtime := self.runtime) is not None:
                runtime.engine.forget_kept()

        self._worker.submit(Priority.CLOSE, forget)
