"""Which words speak for a label: by leaving each out (occlusion), or by gradients (integrated gradients, Captum).

Occlusion asks the model again without each word, so it works for every model; integrated gradients need the torch weights
of a model folder. The two rest on different ideas: where their ranks agree, believe them more. A glass box needs neither:
its answers carry their reasons.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from empathia import tasks
from empathia.errors import InputError, UnknownName
from empathia.findings import Attribution, Reasons
from empathia.models import DEFAULT, Model, load, read_card
from empathia.models._candidates import EVERYTHING
from empathia.models.shared import Shared
from empathia.schema import Analysis, ChoiceAnswer, ChoicesAnswer, Dialogue, Example, FlagAnswer, FoundCause, GlassAnswer, LevelAnswer, Turn
from empathia.task import Causes, Choice, Choices, Flag, Level, Rating, Task

WORD = re.compile(r"\S+")
EXPECTED, RATING, RAISED = "expected level", "rating", "raised"
WHOLE = 60  # words of a turn that is explained as a whole in a report


def occlusion(model: Model, task: Task, output: str, text: str, *, context: str | None = None) -> Attribution:
    """How much each word adds to the score of each label, to the expected level or to the rating: with it less without it."""
    words = list(WORD.finditer(text))
    shorter = [text[: word.start()] + text[word.end() :].lstrip() for word in words]
    asked = [text, *(one if one.strip() else "." for one in shorter)]  # a text of one word is asked against a mere full stop
    answers = model.answer([_example(one, context) for one in asked], [task])
    scores = [_scores(found[output]) for found in answers]
    weights = {label: tuple(scores[0][label] - without[label] for without in scores[1:]) for label in scores[0]}
    return _attribution(output, "occlusion", text, scores[0], weights)


def integrated_gradients(folder: Path, task: Task, output: str, text: str, *, steps: int = 32) -> Attribution:
    """How much each word adds to the score of each label along a path from blank word vectors to the real ones."""
    import torch
    from captum.attr import LayerIntegratedGradients  # type: ignore[import-untyped]

    network = _network(folder)
    window = network.encoder.tokens.windows([text])[0][0]
    ids = torch.tensor([window.ids])
    blank = torch.full_like(ids, int(network.encoder.network.config.pad_token_id or 0))
    blank[:, [0, -1]] = ids[:, [0, -1]]

    def scores(given: torch.Tensor) -> torch.Tensor:
        states = network.encoder(given, torch.ones_like(given))[:, 1:-1]
        return torch.softmax(network.heads[task.name](states, torch.ones(states.shape[:2]))[output], dim=-1)

    labels = list(_choice(task, output).labels)
    method = LayerIntegratedGradients(scores, network.encoder.network.get_input_embeddings())
    found = dict(zip(labels, scores(ids)[0].tolist(), strict=True))
    weights = {}
    for i, label in enumerate(labels):
        tokens = method.attribute(ids, blank, target=i, n_steps=steps).sum(-1)[0, 1:-1].tolist()
        weights[label] = _per_word(text, window.offsets, tokens)
    return _attribution(output, "integrated gradients", text, found, weights)


def compared(one: Attribution, other: Attribution) -> Attribution:
    """The first explanation with its rank correlation with the other, label by label."""
    from empathia import metrics

    agreement = {label: metrics.spearman(weights, other.weights[label]) for label, weights in one.weights.items()}
    return one.model_copy(update={"agreement": agreement})


def explain(task: str, text: str, *, model: Path | None = None, gradients: bool = False, context: str | None = None) -> list[Attribution]:
    """For each output of a task, which words speak for which label or level: by occlusion, and on request by gradients.

    A task on replies needs the `context`: what the text answers.
    """
    asked, asked_of = _ready(task, model, context)
    names = [name for name, output in asked.outputs.items() if isinstance(output, Choice | Choices | Level | Rating | Flag)]
    if gradients and asked.on == "reply":
        raise InputError(f"Gradients explain the labels of single turns; {task} is explained by leaving words out.")
    if any(isinstance(output, Causes) for output in asked.outputs.values()):
        return [_moved(asked_of, asked, _example(text, context))]
    found = [occlusion(asked_of, asked, name, text, context=context) for name in names]
    if gradients:
        found += [compared(integrated_gradients(model or DEFAULT, asked, one.output, text), one) for one in found]
    return found


def _moved(model: Model, task: Task, example: Example) -> Attribution:
    """How far each sentence (or turn) that comes into question moved the text, whether or not it is enough to be called a cause."""
    if not isinstance(model, Shared):
        raise InputError(f"{task.name} can be explained by a model that was trained with `empathia train` only.")
    settings = {**model.settings, task.name: {**model.settings[task.name], **EVERYTHING}}
    (found,) = replace(model, settings=settings).answer([example], [task])
    ((output, causes),) = found.items()
    parts = cast(tuple[FoundCause, ...], causes)
    words = tuple(example.dialogue.turns[one.turn].content[one.start : one.end].strip() for one in parts)
    scores = tuple(one.score for one in parts)
    return Attribution(output=output, method="co-attention", words=words, scores={"moved": max(scores)}, weights={"moved": scores})


def reasons(task: str, text: str, *, model: Path | None = None, context: str | None = None) -> list[Reasons]:
    """All reasons of a glass box for each output of a task; nothing where the model is none."""
    asked, asked_of = _ready(task, model, context)
    (answers,) = asked_of.answer([_example(text, context)], [asked])
    levels = {name: output.levels for name, output in asked.outputs.items() if isinstance(output, Level)}
    found = {name: answer for name, answer in answers.items() if isinstance(answer, GlassAnswer)}
    return [Reasons(output=name, text=text, answer=answer, levels=levels[name]) for name, answer in found.items()]


def _ready(name: str, folder: Path | None, context: str | None) -> tuple[Task, Model]:
    """The task and the model, if the one can be asked of the other."""
    task, model = tasks.load(name), load(folder)
    if name not in model.tasks:
        raise UnknownName("task of this model", name, model.tasks)
    if task.on == "reply" and not (context or "").strip():
        raise InputError(f"{name} is asked of replies: say with --context what the text answers.")
    return task, model


def explain_all(analyses: Iterable[Analysis], *, model: Path | None = None) -> dict[tuple[str, int], list[Attribution]]:
    """Which words decided the direction and intent of each turn that has one, by conversation and index.

    Of a long turn only the sentence that decided is explained. Gradients stand beside where the model has torch weights.
    """
    gradients = "network.safetensors" in read_card(model or DEFAULT)["files"] and find_spec("captum") is not None
    neutral = _choice(tasks.load("direction"), "direction").neutral
    found = {}
    for analysis in analyses:
        for turn in analysis.turns:
            said = turn.answers.get("direction")
            if isinstance(said, ChoiceAnswer) and said.label != neutral and said.evidence:
                whole = len(turn.content.split()) <= WHOLE
                text = turn.content if whole else turn.content[said.evidence.start : said.evidence.end]
                found[analysis.id, turn.index] = explain("direction", text, model=model, gradients=gradients)
    return found


@lru_cache(maxsize=1)
def _network(folder: Path) -> Any:
    from empathia.models._network import Network

    return Network.load(folder, [tasks.load(name) for name in read_card(folder)["tasks"]])


def _per_word(text: str, offsets: Sequence[tuple[int, int]], tokens: Sequence[float]) -> tuple[float, ...]:
    return tuple(
        sum(weight for (start, _), weight in zip(offsets, tokens, strict=True) if word.start() <= start < word.end())
        for word in WORD.finditer(text)
    )


def _choice(task: Task, output: str) -> Choice:
    found = task.outputs[output]
    assert isinstance(found, Choice)
    return found


def _attribution(output: str, method: str, text: str, scores: Mapping[str, float], weights: Mapping[str, tuple[float, ...]]) -> Attribution:
    words = tuple(word.group() for word in WORD.finditer(text))
    return Attribution(output=output, method=method, words=words, scores=scores, weights=weights)


def _scores(answer: Any) -> Mapping[str, float]:
    if isinstance(answer, LevelAnswer):
        return {EXPECTED: answer.expected}
    if isinstance(answer, float):
        return {RATING: answer}
    if isinstance(answer, FlagAnswer):
        return {RAISED: answer.score}
    assert isinstance(answer, ChoiceAnswer | ChoicesAnswer)
    return answer.scores


def _example(text: str, context: str | None = None) -> Example:
    said = (Turn(role="writer", content=text),)
    before = (Turn(role="other", content=context),) if context else ()
    return Example(dialogue=Dialogue(id="1", turns=before + said), index=len(before))
