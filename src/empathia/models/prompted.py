"""An LLM as a judge: each output is a question, answered by the likelihoods of its options or by JSON that is checked.

An answer that is not one of those allowed is no answer: it is left out and counted, never guessed from prose.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from empathia import __version__, llm
from empathia.errors import Refused
from empathia.llm import LLM, Message, Question
from empathia.models._questions import Kind, kinds
from empathia.schema import Answer, Example, ModelId
from empathia.task import Task

TIMED = 3  # calls that an estimate is made from, or one per worker where there are more


@dataclass(frozen=True)
class Settings:
    """How an LLM is asked. `json` gives levels with quotes, `likelihood` gives scores, and JSON where the LLM has no likelihoods."""

    by: Literal["likelihood", "json"] = "likelihood"
    shots: int = 1  # worked examples per option, as far as there are examples
    workers: int = 4  # calls under way at once
    limit: int = 256  # tokens of a JSON answer
    domain: str = llm.DOMAIN


@dataclass(frozen=True)
class Ask:
    """One output of one task, asked of one example, which has a place among others."""

    place: int
    example: Example
    task: Task
    output: str
    kind: Kind


class Prompted:
    """An LLM that answers tasks; `asked` and `unanswered` count by output."""

    def __init__(self, model: LLM, tasks: Sequence[Task], *, shots: Sequence[Example] = (), settings: Settings | None = None) -> None:
        self.llm, self.shots, self.settings = model, tuple(shots), settings or Settings()
        self.tasks = tuple(task.name for task in tasks if any(kinds(task)))
        self.asked: Counter[str] = Counter()
        self.unanswered: Counter[str] = Counter()
        self._worked: dict[tuple[str, str], tuple[Example, ...]] = {}

    @cached_property
    def id(self) -> ModelId:
        """The LLM, and a sum over all that shapes its prompts."""
        shots = [shot.model_dump(mode="json") for shot in self.shots]
        whole = json.dumps([__version__, self.llm.name, asdict(self.settings), shots], sort_keys=True)
        return ModelId(name=f"prompted:{self.llm.name}", version=__version__, sha256=hashlib.sha256(whole.encode()).hexdigest())

    def answer(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[dict[str, Answer]]:
        """For each example its answers by output name; what does not apply or was not answered is left out."""
        answers: list[dict[str, Answer]] = [{} for _ in examples]
        asks = self.asks(examples, tasks)
        with ThreadPoolExecutor(self.settings.workers) as pool:
            for ask, found in zip(asks, pool.map(self.ask, asks), strict=True):
                self.asked[ask.output] += 1
                if found is None:
                    self.unanswered[ask.output] += 1
                else:
                    answers[ask.place][ask.output] = found
        return answers

    def asks(self, examples: Sequence[Example], tasks: Sequence[Task]) -> list[Ask]:
        """All that there is to ask, output by output, so that prompts that begin alike follow each other."""
        return [
            Ask(place, example, task, name, found.about(example))
            for task in tasks
            for name, found in kinds(task)
            for place, example in enumerate(examples)
            if task.on == "turn" or example.context
        ]

    def ask(self, ask: Ask) -> Answer | None:
        """The answer to one question, or nothing where the LLM gives none that is allowed."""
        try:
            if self.settings.by == "likelihood" and (shares := self._likelihoods(ask)):
                return ask.kind.weigh(shares)
            question = ask.kind.written()
            said = self.llm.complete(self.messages(ask, question), schema=question.schema, limit=self.settings.limit)
        except Refused:
            return None
        return ask.kind.read(_object(said.text), ask.example.turn.content)

    def _likelihoods(self, ask: Ask) -> list[tuple[float, ...]]:
        rows = []
        for question in ask.kind.marked():
            row = self.llm.likelihoods(self.messages(ask, question), tuple(question.options))
            if row is None:
                return []
            rows.append(row)
        return rows

    def told(self) -> str:
        """How many questions were left unanswered, in words."""
        left = [f"{name} {count:,} of {self.asked[name]:,}" for name, count in self.unanswered.items() if count]
        return f"Unanswered, and in no figure: {', '.join(left)}." if left else f"All {self.asked.total():,} questions were answered."

    def messages(self, ask: Ask, question: Question) -> tuple[Message, ...]:
        """The prompt for one question."""
        key = (ask.output, question.text + question.form)
        if key not in self._worked:
            labelled = [shot for shot in self.shots if ask.output in shot.turn.labels]
            self._worked[key] = llm.pick(question, labelled, self.settings.shots)
        return llm.messages(ask.task, question, ask.example, shots=self._worked[key], domain=self.settings.domain)


def load(
    spec: str, tasks: Sequence[Task], *, shots: Sequence[Example] = (), cache: Path | None = None, settings: Settings | None = None
) -> Prompted:
    """The LLM of a string such as `llamacpp:model.gguf` as a judge; worked examples are taken from `shots`."""
    return Prompted(llm.load(spec, cache=cache), tasks, shots=shots, settings=settings)


@dataclass(frozen=True)
class Estimate:
    """What a run takes at most, as far as a few calls can tell; the cost where a price was given."""

    calls: int
    prompt_tokens: int
    seconds: float
    cost: float | None = None

    def told(self) -> str:
        """The estimate in words."""
        cost = "" if self.cost is None else f", {self.cost:.2f} at the price given"
        return f"At most {self.calls:,} calls, about {self.prompt_tokens:,} prompt tokens and {self.seconds:,.0f} seconds{cost}."


def estimate(model: Prompted, examples: Sequence[Example], tasks: Sequence[Task], *, price: float | None = None) -> Estimate:
    """What it takes to ask all this, from a few timed calls past the cache; `price` is that of a million prompt tokens."""
    asks = model.asks(examples, tasks)
    if not asks:
        return Estimate(0, 0, 0.0, None if price is None else 0.0)
    fresh = Prompted(llm.uncached(model.llm), (), shots=model.shots, settings=model.settings)
    by_mark = model.settings.by == "likelihood" and bool(fresh._likelihoods(asks[0]))
    count = min(len(asks), max(TIMED, model.settings.workers))
    sample = [asks[place * len(asks) // count] for place in range(count)]
    start = time.perf_counter()
    with ThreadPoolExecutor(model.settings.workers) as pool:
        list(pool.map(fresh.ask, sample))
    seconds = (time.perf_counter() - start) / count * len(asks)
    calls = sum(len(ask.kind.marked()) if by_mark else 1 for ask in asks)
    tokens = round(calls * _tokens(fresh, sample, by_mark=by_mark))
    return Estimate(calls, tokens, seconds, None if price is None else tokens * price / 1e6)


def _tokens(model: Prompted, sample: Sequence[Ask], *, by_mark: bool) -> float:
    """The tokens of a prompt on average: one is counted by the LLM, the others are measured by their characters."""
    prompts = [model.messages(ask, ask.kind.marked()[0] if by_mark else ask.kind.written()) for ask in sample]
    sizes = [sum(len(message.content) for message in prompt) for prompt in prompts]
    shortest = sizes.index(min(sizes))
    try:
        counted = model.llm.complete(prompts[shortest], limit=1).prompt_tokens
    except Refused:
        return 0.0
    return counted / sizes[shortest] * sum(sizes) / len(sizes)


def _object(text: str) -> dict[str, Any]:
    """The JSON object that a text is, or an empty one."""
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
