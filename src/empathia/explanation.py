"""Which words speak for a label: by leaving each out (occlusion), or by gradients (integrated gradients, Captum).

Occlusion asks the model again without each word, so it works for every model; integrated gradients need the torch weights
of a model folder. The two rest on different ideas: where their ranks agree, believe them more.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from empathia import tasks
from empathia.errors import InputError
from empathia.models import DEFAULT, Model, load, read_card
from empathia.schema import Analysis, Attribution, ChoiceAnswer, Dialogue, Example, Turn
from empathia.task import Choice, Task

WORD = re.compile(r"\S+")
WHOLE = 60  # words of a turn that is explained as a whole in a report


def occlusion(model: Model, task: Task, output: str, text: str) -> Attribution:
    """How much each word adds to the score of each label: the score with it less the score without it."""
    words = list(WORD.finditer(text))
    shorter = [text[: word.start()] + text[word.end() :].lstrip() for word in words]
    asked = [text, *(one if one.strip() else "." for one in shorter)]  # a text of one word is asked against a mere full stop
    answers = model.answer([_example(one) for one in asked], [task])
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


def explain(task: str, text: str, *, model: Path | None = None, gradients: bool = False) -> list[Attribution]:
    """For each output of a task on turns, which words speak for which label: by occlusion, and on request by gradients."""
    asked = tasks.load(task)
    outputs = [name for name, output in asked.outputs.items() if isinstance(output, Choice)]
    if not outputs:
        raise InputError(f"The words of {task} are its rationales: see `empathia analyse`. Tasks to explain: direction.")
    found = [occlusion(load(model), asked, name, text) for name in outputs]
    if gradients:
        found += [compared(integrated_gradients(model or DEFAULT, asked, one.output, text), one) for one in found]
    return found


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
    assert isinstance(answer, ChoiceAnswer)
    return answer.scores


def _example(text: str) -> Example:
    return Example(dialogue=Dialogue(id="1", turns=(Turn(role="writer", content=text),)), index=0)
