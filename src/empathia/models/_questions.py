"""How each kind of output is put to an LLM, and how its answer is read: by the likelihoods of options, or as JSON."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Protocol, TypeGuard, cast

from empathia.corpora import align
from empathia.llm import Question, Schema
from empathia.models._candidates import candidates, moved
from empathia.models._labels import labels_of, level_of, quotes_of, rating_of
from empathia.schema import Answer, Cause, ChoiceAnswer, ChoicesAnswer, Example, FlagAnswer, FoundCause, LevelAnswer, ScoredSpan
from empathia.task import Causes, Choice, Choices, Flag, Level, Output, Rating, Task

DIGITS = 6
LETTERS = ascii_uppercase + ascii_lowercase
QUOTES = 3
QUOTED = "quotes"
Shares = Sequence[float]


class Kind(Protocol):
    """One output of a task as questions."""

    def about(self, example: Example) -> "Kind":
        """The questions as they are put about one example."""
        ...

    def marked(self) -> tuple[Question, ...]:
        """Questions that are answered by one short option each; none where there are too many options."""
        ...

    def named(self) -> Mapping[str, Question]:
        """Questions that are answered by the words of one option each, by what they are about; none where they differ by example."""
        ...

    def written(self) -> Question:
        """One question that is answered by JSON."""
        ...

    def weigh(self, shares: Sequence[Shares]) -> Answer:
        """The answer from the likelihoods of the options, one row per marked or named question."""
        ...

    def read(self, said: Mapping[str, Any], text: str) -> Answer | None:
        """The answer from JSON, or nothing where it is not one of those allowed."""
        ...


def kind(name: str, output: Output) -> Kind | None:
    """The questions of an output; nothing for a kind that an LLM is not asked about."""
    found = KINDS.get(type(output))
    return found(name, output) if found else None


def kinds(task: Task) -> Iterator[tuple[str, Kind]]:
    """The outputs of a task that a language model can be asked about, each as questions."""
    for name, output in task.outputs.items():
        if found := kind(name, output):
            yield name, found


class _Same:
    """Questions that are the same for every example."""

    def about(self, example: Example) -> Any:
        """These questions."""
        return self


@dataclass(frozen=True)
class OneOf(_Same):
    """A choice: each label has a letter."""

    name: str
    output: Choice

    def marked(self) -> tuple[Question, ...]:
        """One question, answered by a letter."""
        labels = self.output.labels
        if len(labels) > len(LETTERS):
            return ()
        letters = dict(zip(labels, LETTERS, strict=False))
        options = {letters[label]: f"{label}: {meaning}" for label, meaning in labels.items()}
        return (_by_mark(self.output.question, options, lambda example: letters.get(str(example.turn.labels[self.name]), "")),)

    def named(self) -> dict[str, Question]:
        """One question, answered by the label."""
        return {self.name: _by_mark(self.output.question, self.output.labels, lambda example: str(example.turn.labels[self.name]))}

    def written(self) -> Question:
        """One question, answered by the label."""
        schema = _schema(answer={"type": "string", "enum": list(self.output.labels)})
        return _by_json(self.output.question, self.output.labels, schema, lambda e: {"answer": e.turn.labels[self.name]})

    def weigh(self, shares: Sequence[Shares]) -> ChoiceAnswer:
        """The likeliest label."""
        scores = dict(zip(self.output.labels, _rounded(shares[0]), strict=True))
        return ChoiceAnswer(label=max(scores, key=scores.__getitem__), scores=scores)

    def read(self, said: Mapping[str, Any], text: str) -> ChoiceAnswer | None:
        """The label that was named."""
        label, labels = said.get("answer"), list(self.output.labels)
        return ChoiceAnswer(label=label, scores={one: float(one == label) for one in labels}) if label in labels else None


@dataclass(frozen=True)
class AnyOf(_Same):
    """Any number of labels: a yes or no to each, or a list."""

    name: str
    output: Choices

    def marked(self) -> tuple[Question, ...]:
        """One question per label, answered by yes or no."""
        return tuple(self.named().values())

    def named(self) -> dict[str, Question]:
        """The same, by label."""
        return {label: self._yes_or_no(label, meaning) for label, meaning in self.output.labels.items()}

    def _yes_or_no(self, label: str, meaning: str) -> Question:
        text = f"{self.output.question} Does this apply: {label} ({meaning})?"
        options = {"yes": "it applies", "no": "it does not apply"}
        return _by_mark(text, options, lambda example: "yes" if label in labels_of(example, self.name) else "no")

    def written(self) -> Question:
        """One question, answered by a list of labels."""
        schema = _schema(answer={"type": "array", "items": {"type": "string", "enum": list(self.output.labels)}})
        return _by_json(self.output.question, self.output.labels, schema, lambda e: {"answer": self._shown(e)})

    def _shown(self, example: Example) -> list[str]:
        return [label for label in labels_of(example, self.name) if label != self.output.none]

    def weigh(self, shares: Sequence[Shares]) -> ChoicesAnswer:
        """The labels whose yes is likelier than their no."""
        scores = dict(zip(self.output.labels, _rounded([row[0] for row in shares]), strict=True))
        return ChoicesAnswer(labels=tuple(label for label, score in scores.items() if score > 0.5), scores=scores)

    def read(self, said: Mapping[str, Any], text: str) -> ChoicesAnswer | None:
        """The labels that were listed."""
        listed, labels = said.get("answer"), list(self.output.labels)
        if not isinstance(listed, list) or any(one not in labels for one in listed):
            return None
        kept = tuple(label for label in labels if label in listed)
        return ChoicesAnswer(labels=kept, scores={label: float(label in kept) for label in labels})


@dataclass(frozen=True)
class OneLevel(_Same):
    """A level: its number is the option; JSON also quotes the words that show it."""

    name: str
    output: Level

    def marked(self) -> tuple[Question, ...]:
        """One question, answered by the number of the level."""
        return tuple(self.named().values())

    def named(self) -> dict[str, Question]:
        """The same, by the name of the output."""
        return {self.name: _by_mark(self.output.question, self._options(), lambda e: str(level_of(e, self.name)))}

    def written(self) -> Question:
        """One question, answered by the level and quotes."""
        quotes = {"type": "array", "items": {"type": "string"}, "maxItems": QUOTES}
        schema = _schema(answer={"type": "integer", "enum": list(range(len(self.output.levels)))}, quotes=quotes)
        text = f"{self.output.question} Quote the words that show it, exactly as they stand; none for level 0."
        return _by_json(
            text, self._options(), schema, lambda e: {"answer": level_of(e, self.name), "quotes": quotes_of(e, self.name)[:QUOTES]}
        )

    def weigh(self, shares: Sequence[Shares]) -> LevelAnswer:
        """The likeliest level."""
        scores = _rounded(shares[0])
        return LevelAnswer(level=scores.index(max(scores)), scores=tuple(scores))

    def read(self, said: Mapping[str, Any], text: str) -> LevelAnswer | None:
        """The level that was named, with those of its quotes that stand in the text."""
        level, quotes = said.get("answer"), said.get("quotes")
        if not _whole(level, 0, len(self.output.levels) - 1):
            return None
        spans = [align(quote, text) for quote in quotes if isinstance(quote, str)] if isinstance(quotes, list) and level else []
        rationales = {(span.start, span.end): ScoredSpan(start=span.start, end=span.end, score=1.0) for span in spans if span}
        scores = tuple(float(one == level) for one in range(len(self.output.levels)))
        return LevelAnswer(level=level, scores=scores, rationales=tuple(rationales[place] for place in sorted(rationales)))

    def _options(self) -> dict[str, str]:
        return {str(level): meaning for level, meaning in enumerate(self.output.levels)}


@dataclass(frozen=True)
class OneRating(_Same):
    """A rating: by likelihoods the expected one, in JSON a whole number."""

    name: str
    output: Rating

    def marked(self) -> tuple[Question, ...]:
        """One question, answered by a number."""
        return tuple(self.named().values())

    def named(self) -> dict[str, Question]:
        """The same, by the name of the output."""
        return {self.name: _by_mark(self.output.question, self._options(), lambda e: str(rating_of(e, self.name)))}

    def written(self) -> Question:
        """One question, answered by a number."""
        schema = _schema(answer={"type": "integer", "enum": self._steps()})
        return _by_json(self.output.question, self._options(), schema, lambda e: {"answer": rating_of(e, self.name)})

    def weigh(self, shares: Sequence[Shares]) -> float:
        """The mean of the ratings, each by its likelihood."""
        return round(sum(step * share for step, share in zip(self._steps(), shares[0], strict=True)), DIGITS)

    def read(self, said: Mapping[str, Any], text: str) -> float | None:
        """The rating that was named."""
        rating = said.get("answer")
        return float(rating) if _whole(rating, self.output.low, self.output.high) else None

    def _steps(self) -> list[int]:
        return list(range(self.output.low, self.output.high + 1))

    def _options(self) -> dict[str, str]:
        ends = {self.output.low: self.output.ends[0], self.output.high: self.output.ends[1]}
        return {str(step): ends.get(step, "") for step in self._steps()}


@dataclass(frozen=True)
class YesOrNo(_Same):
    """A flag: yes or no."""

    name: str
    output: Flag

    def marked(self) -> tuple[Question, ...]:
        """One question, answered by yes or no."""
        return tuple(self.named().values())

    def named(self) -> dict[str, Question]:
        """The same, by the name of the output."""
        options = {"yes": self.output.raised, "no": "anything else"}
        return {self.name: _by_mark(self.output.question, options, lambda e: "yes" if e.turn.labels[self.name] else "no")}

    def written(self) -> Question:
        """One question, answered by true or false."""
        options = {"true": self.output.raised, "false": "anything else"}
        return _by_json(
            self.output.question, options, _schema(answer={"type": "boolean"}), lambda e: {"answer": bool(e.turn.labels[self.name])}
        )

    def weigh(self, shares: Sequence[Shares]) -> FlagAnswer:
        """Raised where yes is likelier than no."""
        (score,) = _rounded(shares[0][:1])
        return FlagAnswer(flag=score > 0.5, score=score)

    def read(self, said: Mapping[str, Any], text: str) -> FlagAnswer | None:
        """What was said."""
        flag = said.get("answer")
        return FlagAnswer(flag=flag, score=float(flag)) if isinstance(flag, bool) else None


@dataclass(frozen=True)
class MovedBy:
    """Causes: a yes or no to each candidate of an example, or the words of the candidates."""

    name: str
    output: Causes
    example: Example | None = None

    def about(self, example: Example) -> "MovedBy":
        """The questions about the candidates of one example."""
        return replace(self, example=example)

    def marked(self) -> tuple[Question, ...]:
        """One question per candidate, answered by yes or no."""
        return tuple(self._yes_or_no(one) for one in self._candidates())

    def named(self) -> dict[str, Question]:
        """None: the questions differ by example."""
        return {}

    def _yes_or_no(self, one: Cause) -> Question:
        text = f'{self.output.question} Is this one of them: "{self._words(one)}"?'
        return _by_mark(text, {"yes": "it is", "no": "it is not"}, lambda example: "")  # no worked example has the same candidate

    def written(self) -> Question:
        """One question, answered by quotes."""
        schema = _schema(answer={"type": "array", "items": {"type": "string"}})
        options = {QUOTED: f"each {self.output.unit} of the conversation that is one of them, exactly as it stands; none if there is none"}
        form = "Answer with a JSON object and nothing else, with the key answer: a list."
        return Question(self.output.question, options, form, lambda _: QUOTED, self._reply, schema)

    def _reply(self, example: Example) -> str:
        causes = [one for one in cast(Any, example.turn.labels[self.name]) if isinstance(one, Cause)]
        return json.dumps({"answer": [self.about(example)._words(one) for one in causes]}, ensure_ascii=False)

    def weigh(self, shares: Sequence[Shares]) -> tuple[FoundCause, ...]:
        """The candidates whose yes is likelier than their no."""
        scored = zip(self._candidates(), _rounded([row[0] for row in shares]), strict=True)
        return tuple(FoundCause(**dict(one), score=score) for one, score in scored if score > 0.5)

    def read(self, said: Mapping[str, Any], text: str) -> tuple[FoundCause, ...] | None:
        """The candidates that were quoted; quotes that stand nowhere are passed over."""
        quotes = said.get("answer")
        if not isinstance(quotes, list) or self.example is None:
            return None
        turns = {one.turn: self.example.dialogue.turns[one.turn].content for one in self._candidates()}
        spans = [(i, align(quote, content)) for quote in quotes if isinstance(quote, str) for i, content in turns.items()]
        causes = [Cause(turn=i, start=span.start, end=span.end) for i, span in spans if span]
        return tuple(FoundCause(**dict(one), score=1.0) for one in self._candidates() if moved(one, causes))

    def _candidates(self) -> list[Cause]:
        return candidates(self.example, self.output) if self.example else []

    def _words(self, one: Cause) -> str:
        assert self.example is not None
        return " ".join(self.example.dialogue.turns[one.turn].content[one.start : one.end].split())


KINDS: Mapping[type, Callable[[str, Any], Kind]] = {
    Choice: OneOf,
    Choices: AnyOf,
    Level: OneLevel,
    Rating: OneRating,
    Causes: MovedBy,
    Flag: YesOrNo,
}


def _by_mark(text: str, options: Mapping[str, str], option: Callable[[Example], str]) -> Question:
    form = f"Answer with one of {', '.join(options)} and nothing else."
    return Question(text, options, form, option, option)


def _by_json(text: str, options: Mapping[str, str], schema: Schema, said: Callable[[Example], dict[str, Any]]) -> Question:
    form = f"Answer with a JSON object and nothing else, with the keys {' and '.join(schema['properties'])}."
    return Question(text, options, form, lambda e: _first(said(e)["answer"]), lambda e: json.dumps(said(e), ensure_ascii=False), schema)


def _schema(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _first(answer: Any) -> str:
    """The option that a worked example stands for: of a list the first; an empty one stands for none."""
    return str(next(iter(answer), "")) if isinstance(answer, list) else str(answer)


def _whole(value: Any, low: int, high: int) -> TypeGuard[int]:
    return type(value) is int and low <= value <= high


def _rounded(shares: Shares) -> list[float]:
    return [round(share, DIGITS) for share in shares]
