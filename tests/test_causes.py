"""What moved a turn: candidates, the head, the answers, and how they are shown and scored."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

from empathia import evaluation, tasks
from empathia.corpora import results
from empathia.models._asks import causes as asking
from empathia.models._asks._unit import Unit
from empathia.models._candidates import PLACES, candidates, moved, output_of, place, readings
from empathia.models._questions import kinds
from empathia.report import html
from empathia.report.highlight import links
from empathia.report.tally import Tally
from empathia.schema import Analysis, Cause, Dialogue, Example, FoundCause, Graded, Label, ModelId, Span, Summary, Turn, TurnAnalysis

POST, REPLY = "I went to work. My dog died. I am lost.", "I am so sorry. What was its name?"
TASK, EMOTIONS = tasks.load("causes"), tasks.load("emotion_causes")


def example(reply: str = REPLY, post: str = POST, **labels: Label) -> Example:
    turns = (Turn(role="a", content=post), Turn(role="b", content=reply, labels=labels))
    return Example(dialogue=Dialogue(id="1", turns=turns), index=1)


def test_candidates_are_the_sentences_that_a_reply_answers() -> None:
    found = candidates(example(), output_of(TASK))
    assert [POST[one.start : one.end].strip() for one in found] == ["I went to work.", "My dog died.", "I am lost."]
    assert {one.turn for one in found} == {0}


def test_sentences_that_a_corpus_tells_count_before_ours() -> None:
    spans = (Span(start=0, end=28), Span(start=29, end=39))
    given = Turn(role="a", content=POST, metadata={"sentences": spans})
    found = candidates(Example(dialogue=Dialogue(id="1", turns=(given, Turn(role="b", content=REPLY))), index=1), output_of(TASK))
    assert [(one.start, one.end) for one in found] == [(0, 28), (29, 39)]


def test_a_turn_can_be_the_cause_of_its_own_emotion() -> None:
    found = candidates(example(), output_of(EMOTIONS))
    assert [(one.turn, one.end) for one in found] == [(0, len(POST)), (1, len(REPLY))]
    places = [place(example(), one) for one in found]
    assert all(len(one) == PLACES for one in places) and not np.array_equal(places[0], places[1])


def test_overlap_decides() -> None:
    cause = Cause(turn=0, start=16, end=28)
    assert moved(cause, [Cause(turn=0, start=20, end=22)])
    assert not moved(cause, [Cause(turn=0, start=0, end=16)]) and not moved(cause, [Cause(turn=1, start=16, end=28)])


def test_replies_without_empathy_teach_that_nothing_moved_them() -> None:
    none, some = (example(emotional_reactions=Graded(level=0), explorations=Graded(level=level)) for level in (0, 1))
    assert [e.turn.labels["causes"] for e in TASK.examples([none.dialogue])] == [()]
    assert not list(TASK.examples([some.dialogue]))


def test_scores_count_candidates() -> None:
    gold = (Cause(turn=0, start=16, end=28), Cause(turn=0, start=29, end=39))
    said = (FoundCause(turn=0, start=16, end=28, score=0.9), FoundCause(turn=0, start=0, end=15, score=0.8))
    scores = {one.metric: one for one in evaluation.score(TASK, [example(causes=gold)], [{"causes": said}], rounds=0)}
    assert scores["positive_f1"].value == pytest.approx(0.5) and scores["accuracy"].value == pytest.approx(1 / 3)
    assert scores["positive_f1"].baselines == {"say none": 0, "say all": pytest.approx(0.8)}


def test_an_answer_names_the_sentence_that_reacts_and_nothing_is_forced() -> None:
    asked, found = example(), candidates(example(), output_of(TASK))
    pairs = np.array([[[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]]], np.float32)
    outputs = {"causes": np.array([[-3, 3, 0.0]], np.float32), "any": np.array([0], np.float32), "pairs": pairs}
    unit, settings = Unit({}, found), {"threshold": 0.6, "moved_from": 0.4, "pool": "mean"}
    scores = {name: values[0] for name, values in asking.scored(outputs, TASK, settings).items()}
    (said,) = asking.answers(asked, TASK, settings, [(unit, scores)]).values()
    assert isinstance(said, tuple)
    (one,) = said
    assert POST[one.start : one.end].strip() == "My dog died." and one.reaction and REPLY[: one.reaction.end].strip() == "I am so sorry."
    for stricter in ({"threshold": 0.99}, {"moved_from": 0.6}):
        assert asking.answers(asked, TASK, settings | stricter, [(unit, scores)]) == {"causes": ()}


def test_a_language_model_is_asked_of_each_candidate_or_quotes_them() -> None:
    ((_, kind),) = kinds(TASK)
    about = kind.about(example())
    assert ['"My dog died."' in question.text for question in about.marked()] == [False, True, False]
    weighed = about.weigh([(0.2, 0.8), (0.9, 0.1), (0.4, 0.6)])
    quoted = about.read({"answer": ["My dog died.", "nowhere said"]}, REPLY)
    for found in (weighed, quoted):
        assert isinstance(found, tuple) and [POST[one.start : one.end].strip() for one in found] == ["My dog died."]
    assert about.read({"answer": []}, REPLY) == () and about.read({"answer": "My dog died."}, REPLY) is None
    shown = example(causes=(Cause(turn=0, start=16, end=28),))
    assert json.loads(about.written().reply(shown)) == {"answer": ["My dog died."]}


def analysis() -> Analysis:
    cause = FoundCause(turn=0, start=16, end=28, score=0.9, reaction=Span(start=0, end=14))
    turns = (
        TurnAnalysis.model_validate({"index": 0, "role": "a", "content": POST, "sentences": (), "causes": None}),
        TurnAnalysis.model_validate({"index": 1, "role": "b", "content": REPLY, "sentences": (), "causes": (cause,)}),
    )
    return Analysis(id="c", model=ModelId(name="m", version="0", sha256=""), turns=turns, summary=Summary())


def test_results_with_causes_can_be_read_again() -> None:
    again = Analysis.model_validate_json(analysis().to_json())
    assert again == analysis()
    assert results.dialogue(again).turns[1].labels["causes"] == (Cause(turn=0, start=16, end=28),)


def test_cause_and_reaction_lead_to_each_other() -> None:
    found = links(analysis(), [TASK])
    assert (found[0][0].key, found[0][0].link) == (found[1][0].link, found[1][0].key)
    tally = Tally([TASK])
    tally.add(analysis())
    page = html.page(tally)
    for mark in (*found[0], *found[1]):
        assert f'id="1-{mark.key}"' in page and f'href="#1-{mark.link}"' in page


torch = pytest.importorskip("torch", reason="the head needs the extra [train]")


@pytest.mark.parametrize("options", [{}, {"attention": "none"}, {"pool": "first", "positive": 3.0}])
def test_padding_changes_nothing(options: dict[str, object]) -> None:
    from empathia.models.coattention import Coattention

    torch.manual_seed(1)
    head = Coattention(TASK, 16, **options).eval()  # type: ignore[arg-type]
    post, reply = torch.randn(2, 6, 16 + PLACES), torch.randn(2, 4, 16)
    post_mask, reply_mask = torch.ones(2, 6), torch.ones(2, 4)
    post_mask[0, 3:], reply_mask[0, 2:] = 0, 0
    together = head(post, post_mask, reply, reply_mask)
    alone = head(post[:1, :3], post_mask[:1, :3], reply[:1, :2], reply_mask[:1, :2])
    assert torch.allclose(together["causes"][0, :3], alone["causes"][0], atol=1e-5)
    assert torch.allclose(together["pairs"][0, :3, :2], alone["pairs"][0], atol=1e-5)


@pytest.mark.parametrize("reading", ["apart", "together"])
def test_a_post_of_300_sentences_and_the_same_vectors_in_training_and_asking(tmp_path: Path, reading: Any) -> None:
    from empathia.encoders.huggingface import HuggingFaceEncoder
    from empathia.models.coattention import Coattention

    encoder = HuggingFaceEncoder.load(str(tiny.encoder(tmp_path)), window=64).eval()
    head = Coattention(TASK, encoder.width, reading=reading).eval()
    settings = {**head.settings, "threshold": 0.5}

    def asked(one: Example) -> Any:
        texts = list(asking.reads(one, TASK, settings))
        (unit,) = asking.units(one, TASK, settings, dict(zip(texts, encoder.encode(texts), strict=True)))
        return unit.arrays

    arrays = asked(example(post="I feel sad. " * 300))
    assert len(arrays["post"]) == 300
    feed = (arrays["post"], np.ones(300, np.float32), arrays["reply"], np.ones(2, np.float32))
    assert head(*(torch.from_numpy(one)[None] for one in feed))["causes"].shape == (1, 300)
    short, some = example(), candidates(example(), output_of(TASK))
    where = readings(short, some, reading)
    texts = list(dict.fromkeys(text for text, _ in where.values()))
    read = encoder.read(texts)
    known = {text: (read.states[i], read.offsets[i]) for i, text in enumerate(texts)}
    for name, taught in (("post", head._post(short, some, where, known)), ("reply", head._reply(short, where, known))):
        assert torch.allclose(taught, torch.from_numpy(asked(short)[name]), atol=1e-5)


def test_read_together_each_turn_stands_where_it_is_said_to() -> None:
    dialogue = Dialogue(id="d", turns=tuple(Turn(role=role, content=text) for role, text in (("a", POST), ("a", "More."), ("b", REPLY))))
    one = Example(dialogue=dialogue, index=2)
    where = readings(one, candidates(one, output_of(TASK)), "together")
    assert all(text[start:].startswith(dialogue.turns[i].content) for i, (text, start) in where.items()) and set(where) == {0, 1, 2}


def test_rows_without_a_cause_teach_that_nothing_moved_and_nothing_else(tmp_path: Path) -> None:
    from empathia.encoders.huggingface import HuggingFaceEncoder
    from empathia.models.coattention import Coattention

    encoder = HuggingFaceEncoder.load(str(tiny.encoder(tmp_path)), window=64)
    head = Coattention(TASK, encoder.width)
    loss = head.step(encoder, [example(causes=())], random.Random(0))
    torch.autograd.backward(loss)
    assert torch.isfinite(loss) and head.any.weight.grad is not None and head.any.weight.grad.any()
    assert all(weight.grad is None or not weight.grad.any() for weight in head.decode.parameters())
