"""The main job on the default model: the output contract, and the same answers whatever the way."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import empathia
from empathia import analysis, corpora, models, tasks
from empathia.errors import InputError, UnknownName
from empathia.schema import Analysis, Dialogue, Example, Turn

TALKS = [
    [
        ("maya", "I cry before every shift. I don't know how long I can do this."),
        ("jonas", "I'm so sorry. What happened?"),
        ("maya", "Thanks."),
    ],
    [("lee", "Which week do you plant tomatoes?"), ("sam", "Mid May, once the nights are mild.")],
    [
        ("a", "My dog died this morning 😢"),
        ("b", "Oh no"),
        ("b", "I know how much that hurts, I lost mine last year."),
        ("c", "Sending you a hug"),
    ],
    [
        ("system", "Be kind."),
        ("user", "i feel so alone lately... nobody calls"),
        ("assistant", "That sounds really lonely. Do you want to tell me more?"),
    ],
    [("solo", "I passed my exam!")],
]


def dialogue(number: int) -> Dialogue:
    return Dialogue(id=str(number), turns=tuple(Turn(role=role, content=content) for role, content in TALKS[number]))


def everything() -> list[Dialogue]:
    return [dialogue(number) for number in range(len(TALKS))]


def numbers(value: Any) -> Iterator[float]:
    """All scores in a JSON value, in order."""
    if isinstance(value, dict):
        for one in value.values():
            yield from numbers(one)
    elif isinstance(value, list):
        for one in value:
            yield from numbers(one)
    elif isinstance(value, int | float):
        yield value


def same(one: Analysis, other: Analysis) -> None:
    a, b = json.loads(one.to_json()), json.loads(other.to_json())
    assert list(numbers(a)) == pytest.approx(list(numbers(b)), abs=1e-4)
    assert [turn.outcome for turn in one.turns] == [turn.outcome for turn in other.turns]
    assert [turn.answers["direction"] and turn.answers["direction"].label for turn in one.turns] == [
        turn.answers["direction"] and turn.answers["direction"].label for turn in other.turns
    ]


def test_batch_equals_one_by_one_in_any_order() -> None:
    alone = {d.id: empathia.analyse(d) for d in everything()}
    shuffled = everything() * 3
    random.Random(1).shuffle(shuffled)
    for size in (1, 7, 1000):
        for found in empathia.analyse_all(shuffled, batch=size):
            same(found, alone[found.id])


def test_the_contract() -> None:
    told = json.loads(empathia.analyse(dialogue(0)).to_json())
    assert told["schema"] == "empathia/1"
    assert set(told) == {"schema", "id", "model", "turns", "summary", "metadata"}
    first, second, _ = told["turns"]
    assert set(first["direction"]["scores"]) == {"none", "seek", "provide"}
    assert sum(first["direction"]["scores"].values()) == pytest.approx(1, abs=1e-5)
    assert first["mechanisms"] is None and first["outcome"] is None
    assert set(second["mechanisms"]) == {"emotional_reactions", "interpretations", "explorations"}
    for answer in second["mechanisms"].values():
        assert answer["level"] in (0, 1, 2) and len(answer["scores"]) == 3
        assert all(0 <= span["start"] < span["end"] <= len(second["content"]) for span in answer["rationales"])
        assert bool(answer["rationales"]) <= (answer["level"] > 0)
    assert second["outcome"] in ("given", "missed", "not_needed")
    assert sum(told["summary"][name] for name in ("given", "missed", "not_needed")) == sum(
        turn["outcome"] is not None for turn in told["turns"]
    )
    assert json.loads(Analysis.model_validate_json(json.dumps(told)).to_json()) == told


def test_it_finds_what_is_plain() -> None:
    sought, reply, _ = empathia.analyse(dialogue(0)).turns
    assert sought.answers["direction"].label == "seek"
    assert reply.outcome == "given"
    assert reply.answers["mechanisms"]["explorations"].level > 0
    assert [turn.outcome for turn in empathia.analyse(dialogue(1)).turns] == [None, "not_needed"]


def test_what_a_turn_answers() -> None:
    several = dialogue(2)
    assert several.answered(0) == ()
    assert several.answered(1) == several.answered(2) == (0,)
    assert several.answered(3) == (0, 1, 2)
    assert dialogue(3).answered(1) == () and dialogue(3).answered(2) == (1,)


def test_instructions_to_a_bot_are_no_participant() -> None:
    system, _, assistant = empathia.analyse(dialogue(3)).turns
    assert system.answers["direction"] is None
    assert assistant.outcome is not None


def test_only_the_tasks_asked_for() -> None:
    turn = empathia.analyse(dialogue(0), tasks=["mechanisms"]).turns[1]
    assert set(turn.answers) == {"mechanisms"} and turn.outcome is None
    assert set(empathia.analyse(dialogue(0), tasks=["direction"]).turns[1].answers) == {"direction", "intent"}
    with pytest.raises(UnknownName, match="Did you mean 'mechanisms'"):
        empathia.analyse(dialogue(0), tasks=["mechanism"])


def test_other_keys_come_back() -> None:
    found = empathia.analyse([{"role": "a", "content": "Hello", "at": 5}])
    assert found.turns[0].metadata == {"at": 5}


def test_a_very_long_message_is_read_to_its_end() -> None:
    filler = "The bus leaves at nine and the shop is open. " * 2300  # over 100,000 characters
    turn = empathia.analyse([{"role": "a", "content": filler + "I feel so sad and hopeless, please help me."}]).turns[0]
    assert turn.answers["direction"].label == "seek"
    assert turn.answers["direction"].evidence.start >= len(filler) - 1
    kind = "I am so sorry that you feel so sad. I know how you feel. What happened? Why do you feel so sad?"
    reply = empathia.analyse([{"role": "b", "content": "I feel so sad."}, {"role": "a", "content": filler + kind}]).turns[1]
    rationales = [span for answer in reply.answers["mechanisms"].values() for span in answer.rationales]
    assert max(span.end for span in rationales) > len(filler)


@pytest.mark.parametrize(
    "text", ["😢", "\u200b", "...", "a" * 5000, "?!", "e\u0301", "מה שלומך", "\U0001f468\u200d\U0001f469\u200d\U0001f467 ok", "a\nb\r\nc"]
)
def test_odd_texts_get_an_answer(text: str) -> None:
    for turn in empathia.analyse([{"role": "a", "content": text}, {"role": "b", "content": text}]).turns:
        evidence = turn.answers["direction"].evidence
        assert 0 <= evidence.start < evidence.end <= len(text)


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(lambda text: bool(text.strip())))
def test_any_text_gets_an_answer_within_its_offsets(text: str) -> None:
    turn = empathia.analyse([{"role": "a", "content": "hi"}, {"role": "b", "content": text}]).turns[1]
    spans = [span for answer in turn.answers["mechanisms"].values() for span in answer.rationales]
    assert all(0 <= span.start < span.end <= len(text) for span in [*spans, turn.answers["direction"].evidence])


def test_bad_messages_are_named() -> None:
    with pytest.raises(InputError, match="message 2"):
        empathia.analyse([{"role": "a", "content": "Hello"}, {"role": "b"}])


def test_every_task_of_the_model_is_declared() -> None:
    model = models.load()
    assert set(model.tasks) <= set(tasks.names())
    (found,) = model.answer([Example(dialogue=dialogue(0), index=1)], analysis.choose(None, model))
    assert set(found) == {name for task in analysis.choose(None, model) for name in task.outputs}


def test_no_answer_without_a_dialogue() -> None:
    assert list(empathia.analyse_all([])) == []
    assert corpora.dialogue([{"role": "a", "content": "x"}]).id == "1"
