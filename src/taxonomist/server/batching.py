"""Join concurrent single requests into batches, which a model scores much faster.

There is no waiting for company: a request that comes while nothing is scored starts a batch of its
own. Requests that come meanwhile form the next one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from taxonomist.errors import TaxonomistError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Question = TypeVar("Question")
Answer = TypeVar("Answer")

__all__ = ["Batcher", "OverloadedError"]

MOST_QUESTIONS = 64
"""Questions in a batch: larger ones are hardly faster, and others wait longer."""


class OverloadedError(TaxonomistError, RuntimeError):
    """Too many requests are waiting."""


class _Failed(NamedTuple):
    """An error instead of an answer."""

    error: Exception


class Batcher(Generic[Question, Answer]):
    """Answers questions in a thread, many at a time.

    Parameters
    ----------
    answer
        Returns the answer to each question.
    most_waiting
        How many questions may wait; more are refused at once.
    on_batch
        Called with the size of each batch.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Question]], Sequence[Answer]],
        most_waiting: int,
        on_batch: Callable[[int], object] | None = None,
    ) -> None:
        self._answer = answer
        self._most_waiting = most_waiting
        self._on_batch = on_batch
        self._waiting: deque[tuple[Question, asyncio.Future[Answer]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scoring")
        self._work: asyncio.Task[None] | None = None

    @property
    def n_waiting(self) -> int:
        """The number of questions that wait."""
        return len(self._waiting)

    async def ask(self, question: Question) -> Answer:
        """Return the answer to a question.

        Raises
        ------
        OverloadedError
            If too many questions are waiting.
        """
        if len(self._waiting) >= self._most_waiting:
            raise OverloadedError("Too many requests are waiting. Try again later.")
        loop = asyncio.get_running_loop()
        promise: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((question, promise))
        if self._work is None or self._work.done():
            self._work = loop.create_task(self._answer_all())
        return await promise

    async def _answer_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            n_questions = min(MOST_QUESTIONS, len(self._waiting))
            taken = [self._waiting.popleft() for _ in range(n_questions)]
            # Whoever gave up is not answered.
            batch = [(question, promise) for question, promise in taken if not promise.done()]
            if not batch:
                continue
            if self._on_batch is not None:
                self._on_batch(len(batch))
            questions = [question for question, _ in batch]
            answers = await loop.run_in_executor(self._thread, self._answers, questions)
            for (_, promise), answer in zip(batch, answers, strict=True):
                if promise.done():
                    continue
                if isinstance(answer, _Failed):
                    promise.set_exception(answer.error)
                else:
                    promise.set_result(answer)

    def _answers(self, questions: Sequence[Question]) -> Sequence[Answer | _Failed]:
        """Answer a batch; a question that fails does not let the others fail."""
        try:
            return self._answer(questions)
        except Exception as error:  # noqa: BLE001, passed on to whoever asked
            if len(questions) == 1:
                return [_Failed(error)]
            return [self._answers([question])[0] for question in questions]

    async def close(self) -> None:
        """Answer what was accepted, then end the thread."""
        if self._work is not None:
            await self._work
        self._thread.shutdown()
