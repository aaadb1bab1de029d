"""Replies in their window: what stands around a turn, the head, and how sets of labels and ratings are scored."""

import random
from pathlib import Path

import pytest
import tiny

from empathia import evaluation, metrics, tasks
from empathia.models._around import PLACES, around, place
from empathia.schema import ChoiceAnswer, ChoicesAnswer, Dialogue, Example, Label, Turn
from empathia.task import Choice, Choices, Task

ROLES = "abababa"


def dialogue(roles: str = ROLES, **labels: Label) -> Dialogue:
    turns = tuple(Turn(role=role, content=f"i feel {'so ' * i}sad", labels=labels if i == 3 else {}) for i, role in enumerate(roles))
    return Dialogue(id="1", turns=turns)


def test_three_before_and_three_after_by_distance() -> None:
    found = list(around(Example(dialogue=dialogue(), index=3)))
    assert [distance for distance, _ in found] == [-3, -2, -1, 1, 2, 3]
    assert [turn.role for _, turn in found] == list("abaaba")


def test_the_live_setting_and_the_edges() -> None:
    assert [distance for distance, _ in around(Example(dialogue=dialogue(), index=3), after=0)] == [-3, -2, -1]
    assert [distance for distance, _ in around(Example(dialogue=dialogue(), index=1))] == [-1, 1, 2, 3]


def test_tools_and_empty_turns_are_passed_over() -> None:
    turns = [Turn(role=role, content=text) for role, text in (("a", "one"), ("tool", "x"), ("b", " "), ("a", "two"))]
    assert [(d, t.content) for d, t in around(Example(dialogue=Dialogue(id="1", turns=tuple(turns)), index=3))] == [(-1, "one")]


def test_each_place_has_its_own_number() -> None:
    places = {tuple(place(distance, same=same)) for distance in (-3, -2, -1, 1, 2, 3) for same in (False, True)}
    assert len(places) == 12 and all(len(one) == PLACES for one in places)


def test_ratings_of_whole_conversations_count_for_a_reply() -> None:
    care = dialogue("ab", sympathy=4).model_copy(update={"labels": {"satisfaction": 2}})
    rated = care.model_copy(update={"turns": (care.turns[0], care.turns[1].model_copy(update={"labels": {"sympathy": 4}}))})
    (found,) = tasks.load("perceived").examples([rated])
    assert (found.index, found.turn.labels) == (1, {"sympathy": 4, "satisfaction": 2})
    chat = Dialogue(
        id="2",
        turns=tuple(Turn(role=role, content="x") for role in ("seeker", "supporter", "seeker", "supporter", "seeker")),
        labels={"seeker_empathy": 5},
    )
    (found,) = tasks.load("perceived").examples([chat])
    assert (found.index, found.turn.labels) == (3, {"empathy": 5})
    assert not list(tasks.load("perceived").examples([dialogue("a").model_copy(update={"labels": {"satisfaction": 2}})]))


GOLD, SAID = [("a",), ("a", "b"), (), ("b",)], [("a",), ("b",), ("a",), ()]


@pytest.mark.parametrize("name", ["precision", "recall", "f1"])
def test_a_mean_over_labels_is_the_mean_of_each_alone(name: str) -> None:
    one = getattr(metrics, f"macro_{name}")
    wanted = [one([label in shown for shown in GOLD], [label in shown for shown in SAID], labels=[False, True]) for label in "ab"]
    assert getattr(metrics, f"mean_macro_{name}")(GOLD, SAID, labels=["a", "b"]) == pytest.approx(sum(wanted) / 2)


def test_accuracy_over_labels_by_hand() -> None:
    assert metrics.mean_accuracy(GOLD, SAID, labels=["a", "b"]) == pytest.approx((2 / 4 + 3 / 4) / 2)


MOVES = Task(
    name="moves", question="?", on="reply", corpora=(), model="window", outputs={"moves": Choices("?", {"a": "", "b": ""}, none="other")}
)


def test_no_label_and_the_corpus_word_for_it_score_alike() -> None:
    examples = [Example(dialogue=dialogue(moves=label), index=3) for label in (("other",), (), ("a",))]
    answers = [{"moves": ChoicesAnswer(labels=labels, scores={"a": 0.5, "b": 0.5})} for labels in ((), (), ("a",))]
    scores = {score.metric: score for score in evaluation.score(MOVES, examples, answers, rounds=20)}
    assert scores["accuracy"].value == 1 and scores["macro_f1 (a)"].value == 1
    assert scores["accuracy"].baselines == {"say none": pytest.approx(5 / 6), "say all": pytest.approx(1 / 6)}


def test_ratings_are_scored_by_rank_and_by_nearest_step() -> None:
    task = tasks.load("perceived")
    examples = [Example(dialogue=dialogue(sympathy=rating), index=3) for rating in (1, 3, 5)]
    scores = evaluation.score(task, examples, [{"sympathy": said} for said in (1.2, 2.6, 5.4)], rounds=0)
    found = {score.metric: score.value for score in scores if score.output == "sympathy"}
    assert found == {"quadratic_kappa": 1, "spearman": pytest.approx(1), "accuracy": 1}


torch = pytest.importorskip("torch", reason="the head needs the extra [train]")


def test_the_temperature_makes_scores_as_sure_as_they_are_right() -> None:
    from empathia.training._choosing import temperatures

    examples = [Example(dialogue=dialogue(tone="warm" if i < 7 else "cold"), index=3) for i in range(10)]
    task = Task(
        name="tone",
        question="?",
        on="turn",
        corpora=(),
        model="window",
        outputs={"tone": Choice("?", {"warm": "", "cold": ""}, neutral="cold")},
    )

    def chosen(sure: float) -> float:
        answer = ChoiceAnswer(label="warm", scores={"warm": sure, "cold": 1 - sure})
        return temperatures(task, examples, [{"tone": answer}] * 10)["tone"]

    assert chosen(0.7) == 1.0 and chosen(0.99) > 3 and chosen(0.6) < 1


@pytest.mark.parametrize("loss", ["cross-entropy", "focal", "ldam"])
def test_every_loss_teaches_and_rows_without_a_label_do_not_count(loss: str, tmp_path: Path) -> None:
    from empathia.encoders.huggingface import HuggingFaceEncoder
    from empathia.models.window import Window

    torch.manual_seed(0)
    encoder = HuggingFaceEncoder.load(str(tiny.encoder(tmp_path)), window=64)
    head = Window(MOVES, encoder.width, loss=loss, dropout=0.0)  # type: ignore[arg-type]
    rows = [Example(dialogue=dialogue(moves=labels), index=3) for labels in (("a",), ("b",), ("other",))]
    head.prepare(rows, tmp_path, 0)
    optimiser = torch.optim.AdamW(head.parameters(), lr=1e-2)
    first = head.step(encoder, rows[:1], random.Random(0)).item()
    for _ in range(20):
        optimiser.zero_grad()
        head.step(encoder, rows[:1], random.Random(0)).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert head.step(encoder, rows[:1], random.Random(0)).item() < first / 2
    assert head.step(encoder, [Example(dialogue=dialogue(), index=3)], random.Random(0)).item() == 0


def test_rarer_answers_have_wider_margins(tmp_path: Path) -> None:
    from empathia.models.window import MARGIN, Window

    rows = [Example(dialogue=dialogue(moves=("a",) if i == 0 else ()), index=3) for i in range(16)]
    head = Window(MOVES, 16, loss="ldam")
    head.prepare(rows, tmp_path, 0)
    no, yes = head.get_buffer("margins_moves")
    assert yes[0] == pytest.approx(MARGIN) and no[0] < yes[0]


def test_padding_of_a_window_changes_nothing() -> None:
    from empathia.models.window import Window

    torch.manual_seed(1)
    head = Window(tasks.load("perceived"), 16).eval()
    target, near = torch.randn(2, 6, 16), torch.randn(2, 9, 16 + PLACES)
    target_mask, near_mask = torch.ones(2, 6), torch.ones(2, 9)
    target_mask[0, 4:], near_mask[0, 5:] = 0, 0
    together = head(target, target_mask, near, near_mask)
    alone = head(target[:1, :4], target_mask[:1, :4], near[:1, :5], near_mask[:1, :5])
    for name in alone:
        assert torch.allclose(together[name][0], alone[name][0], atol=1e-5)


def test_a_lone_turn_has_an_emotion(tmp_path: Path) -> None:
    from empathia.encoders.huggingface import HuggingFaceEncoder
    from empathia.models._network import Network

    task = tasks.load("emotion")
    network = Network(HuggingFaceEncoder.load(str(tiny.encoder(tmp_path)), window=64), [task])
    alone = Example(dialogue=Dialogue(id="1", turns=(Turn(role="speaker", content="i am so sad", labels={"emotion": "sad"}),)), index=0)
    (found,) = network.model({"emotion": {"after": 3}}).answer([alone], [task])
    assert isinstance(found["emotion"], ChoiceAnswer) and len(found["emotion"].scores) == 32
    assert network.heads["emotion"].step(network.encoder, [alone], random.Random(0)).item() > 0  # type: ignore[operator]


def test_training_and_asking_read_the_same_window(tmp_path: Path) -> None:
    from empathia.encoders.huggingface import HuggingFaceEncoder
    from empathia.models._asks import windows
    from empathia.models.window import Window

    encoder = HuggingFaceEncoder.load(str(tiny.encoder(tmp_path)), window=64).eval()
    example, head = Example(dialogue=dialogue(), index=3), Window(MOVES, encoder.width)
    taught = head.read(encoder, [example])
    texts = [turn.content for turn in example.dialogue.turns]
    (asked,) = windows.units(example, MOVES, {"after": 3}, dict(zip(texts, encoder.encode(texts), strict=True)))
    assert torch.allclose(taught[0][0], torch.from_numpy(asked.arrays["target"]), atol=1e-5)
    assert torch.allclose(taught[2][0], torch.from_numpy(asked.arrays["around"]), atol=1e-5)
