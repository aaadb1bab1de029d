"""The prompted judge: every kind of output, what counts as no answer, worked examples, estimates, and the command line."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import tiny

from empathia import analysis, evaluation, llm, tasks
from empathia.errors import Refused
from empathia.llm import Completion, Message, Schema
from empathia.models import prompted
from empathia.models.prompted import Prompted, Settings
from empathia.schema import Answer, ChoiceAnswer, ChoicesAnswer, Dialogue, Example, Graded, Label, LevelAnswer, ScoredSpan, Span, Turn
from empathia.task import Choice, Choices, Level, Rating, Spans, Task

TASK = Task(
    name="all_kinds",
    question="How is the reply?",
    on="reply",
    corpora=(),
    model="",
    outputs={
        "tone": Choice(question="Which tone?", neutral="flat", labels={"flat": "none", "warm": "kind", "cold": "unkind"}),
        "moves": Choices(question="Which moves?", labels={"ask": "asks something", "advise": "gives advice"}),
        "care": Level(question="How caring?", levels=("not", "a little", "much")),
        "help": Rating(question="How helpful?", ends=("useless", "very useful")),
        "words": Spans(question="Which words?"),
    },
)
ASKED = {"tone", "moves", "care", "help"}


def example(text: str = "I am so sorry.\nWhat happened?", **labels: Label) -> Example:
    seeker, helper = Turn(role="anna", content="I feel lost."), Turn(role="ben", content=text, labels=labels)
    return Example(dialogue=Dialogue(id="1", turns=(Turn(role="system", content="Be nice."), seeker, helper)), index=2)


@dataclass(frozen=True)
class Says:
    """A back end that says what it is told to say of each prompt."""

    texts: dict[str, str]
    name: str = "says"

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None, limit: int = 256) -> Completion:
        text = next(text for words, text in self.texts.items() if words in messages[-1].content)
        if text == "too long":
            raise Refused("too long")
        return Completion(text, 1, 1)

    def likelihoods(self, messages: Sequence[Message], options: Sequence[str]) -> tuple[float, ...] | None:
        return None


@pytest.mark.parametrize("spec", ["echo", "echo:json"])
def test_every_kind_is_answered_and_batch_equals_one_by_one(spec: str) -> None:
    examples = [example(), example("Go away."), example("\U0001f600 " + "word " * 10_000)]
    judge = prompted.load(spec, [TASK])
    found = judge.answer(examples, [TASK])
    assert found == [judge.answer([one], [TASK])[0] for one in examples]
    assert judge.answer(examples[:1] * 2, [TASK]) == found[:1] * 2
    for answers in found:
        assert answers.keys() == ASKED
        assert isinstance(answers["tone"], ChoiceAnswer) and answers["tone"].label in ("flat", "warm", "cold")
        assert isinstance(answers["moves"], ChoicesAnswer) and set(answers["moves"].labels) <= {"ask", "advise"}
        assert isinstance(answers["care"], LevelAnswer) and answers["care"].level in (0, 1, 2)
        assert isinstance(answers["help"], float) and 1 <= answers["help"] <= 5
    assert not judge.unanswered and judge.answer([], [TASK]) == []


@pytest.mark.parametrize("name", tasks.names())
def test_every_task_can_be_asked(name: str) -> None:
    task = tasks.load(name)
    judge = prompted.load("echo", [task])
    if judge.tasks:
        assert judge.answer([example()], [task])[0]


def test_a_turn_that_answers_nobody_is_not_asked_about_replies() -> None:
    judge = prompted.load("echo", [TASK])
    assert judge.answer([example().model_copy(update={"index": 1})], [TASK]) == [{}] and not judge.asked


SAID: list[tuple[str, str, Answer | None]] = [
    ("tone", '{"answer": "warm"}', ChoiceAnswer(label="warm", scores={"flat": 0, "warm": 1, "cold": 0})),
    ("tone", '{"answer": "hot"}', None),
    ("tone", '{"answer": ["warm"]}', None),
    ("tone", "warm", None),
    ("tone", "It is warm, so: {answer: warm}", None),
    ("tone", '["warm"]', None),
    ("tone", '{"answer": "wa', None),
    ("tone", "", None),
    ("tone", "too long", None),
    ("moves", '{"answer": ["advise", "ask"]}', ChoicesAnswer(labels=("ask", "advise"), scores={"ask": 1, "advise": 1})),
    ("moves", '{"answer": []}', ChoicesAnswer(labels=(), scores={"ask": 0, "advise": 0})),
    ("moves", '{"answer": ["sing"]}', None),
    ("moves", '{"answer": "ask"}', None),
    ("care", '{"answer": 3, "quotes": []}', None),
    ("care", '{"answer": true, "quotes": []}', None),
    ("care", '{"answer": "2"}', None),
    ("help", '{"answer": 4}', 4.0),
    ("help", '{"answer": 6}', None),
]


@pytest.mark.parametrize(("output", "text", "wanted"), SAID)
def test_only_an_allowed_answer_is_one_and_the_rest_is_counted(output: str, text: str, wanted: Answer | None) -> None:
    task = Task(**{**vars(TASK), "outputs": {output: TASK.outputs[output]}})
    judge = Prompted(Says({"": text}), [task])
    assert judge.answer([example()], [task]) == [{} if wanted is None else {output: wanted}]
    assert judge.unanswered[output] == (wanted is None)
    assert ("1 of 1" in judge.told()) == (wanted is None)


def test_quotes_become_offsets() -> None:
    judge = Prompted(Says({"": json.dumps({"answer": 2, "quotes": ["what  HAPPENED?", "I am so sorry", "not there", 7]})}), [TASK])
    task = Task(**{**vars(TASK), "outputs": {"care": TASK.outputs["care"]}})
    answer = judge.answer([example()], [task])[0]["care"]
    assert isinstance(answer, LevelAnswer)
    assert answer.rationales == (ScoredSpan(start=0, end=13, score=1), ScoredSpan(start=15, end=29, score=1))


def test_the_prompt_holds_what_the_task_declares() -> None:
    judge = prompted.load("echo", [TASK], settings=Settings(domain="letters between sailors"))
    ask = judge.asks([example()], [TASK])[0]
    instruction, asked = judge.messages(ask, ask.kind.marked()[0])
    for words in (TASK.question, "Which tone?", "B: warm: kind", "letters between sailors"):
        assert words in instruction.content
    assert "anna: I feel lost.\n>>> ben: I am so sorry. What happened? <<<" in asked.content
    assert "Be nice." not in asked.content


def test_worked_examples_are_one_per_option() -> None:
    shots = [
        example(f"{tone} {n}", tone=tone, care=Graded(level=n, rationales=(Span(start=0, end=4),)))
        for tone in ("warm", "cold")
        for n in (0, 1)
    ]
    judge = prompted.load("echo", [TASK], shots=[example("a mile " * 200, tone="warm"), *shots], settings=Settings(shots=1))
    by_output = {ask.output: ask for ask in judge.asks([example()], [TASK])}
    tone = judge.messages(by_output["tone"], by_output["tone"].kind.marked()[0])
    assert [one.content for one in tone if one.role == "assistant"] == ["B", "C"]
    assert "warm 0" in tone[1].content, "short ones come first"
    care = judge.messages(by_output["care"], by_output["care"].kind.written())
    assert [json.loads(one.content) for one in care if one.role == "assistant"] == [{"answer": n, "quotes": ["warm"]} for n in (0, 1)]
    none = judge.messages(by_output["help"], by_output["help"].kind.marked()[0])
    assert len(none) == 2
    assert judge.id != prompted.load("echo", [TASK]).id


def test_an_estimate_counts_calls(tmp_path: Path) -> None:
    examples = [example(f"Sorry {n}.") for n in range(50)]
    by_mark = prompted.estimate(prompted.load("echo", [TASK], cache=tmp_path / "c.sqlite"), examples, [TASK], price=2.0)
    assert by_mark.calls == 50 * 5 and by_mark.prompt_tokens > 50 * 5 * 50 and by_mark.seconds > 0
    assert by_mark.cost == pytest.approx(by_mark.prompt_tokens * 2e-6)
    assert prompted.estimate(prompted.load("echo:json", [TASK]), examples, [TASK]).calls == 50 * 4
    assert prompted.estimate(prompted.load("echo", [TASK]), [], [TASK]) == prompted.Estimate(0, 0, 0.0)


def test_unanswered_rows_are_in_no_figure() -> None:
    pytest.importorskip("sklearn", reason="evaluation needs the extra [train]")
    task = Task(**{**vars(TASK), "outputs": {"tone": TASK.outputs["tone"]}})
    rows = [example(text, tone="warm") for text in ("I see.", "I am sorry.", "Poor you.")]
    judge = Prompted(Says({"I am sorry": '{"answer": "warm"}', "": "I cannot say."}), [task])
    scores = evaluation.evaluate(judge, task, rows, rounds=0)
    assert {(score.rows, score.unanswered) for score in scores} == {(1, 2)}
    assert {score.value for score in scores if score.metric == "accuracy"} == {1.0}
    assert evaluation.evaluate(Prompted(Says({"": "No."}), [task]), task, rows, rounds=0) == []


def test_an_analysis_goes_on_without_the_answers_that_are_missing() -> None:
    says = Says({"flow": "I cannot say.", "main purpose": '{"answer": "Neutral"}', "warmth": '{"answer": 1, "quotes": []}', "": "No."})
    asked = [tasks.load("direction"), tasks.load("mechanisms")]
    found = analysis.analyse([{"role": "a", "content": "I feel lost."}, {"role": "b", "content": "Oh."}], model=Prompted(says, asked))
    reply = found.turns[1]
    assert reply.outcome is None and reply.answers["direction"] is None and reply.answers["intent"].label == "Neutral"
    assert reply.answers["mechanisms"].keys() == {"emotional_reactions"}


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "empathia", *words], capture_output=True, text=True, cwd=cwd)


def test_the_command_line_tells_what_it_takes_and_what_was_left_out(tmp_path: Path) -> None:
    messages = [{"role": "a", "content": "I feel lost."}, {"role": "b", "content": "I am sorry."}]
    (tmp_path / "chats.jsonl").write_text(json.dumps({"messages": messages}) + "\n", encoding="utf-8")
    words = ("analyse", "chats.jsonl", "--tasks", "direction,mechanisms", "--llm", "echo", "--cache", "c.sqlite", "-o", "out.jsonl")
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "At most 7 calls" in done.stderr and "All 7 questions were answered" in done.stderr
    told = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert told["model"]["name"] == "prompted:echo" and told["turns"][1]["mechanisms"]["explorations"]
    assert b"lost" not in (tmp_path / "c.sqlite").read_bytes()


def test_an_llm_is_scored_on_test_rows(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="evaluation needs the extra [train]")
    data = tiny.corpora(tmp_path / "data")
    words = ("evaluate", "direction", "--data", str(data), "--llm", "echo:json", "--shots", "1", "--limit", "9", "--json")
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "At most 18 calls" in done.stderr and "All 18 questions were answered" in done.stderr
    assert {(one["rows"], one["unanswered"]) for one in json.loads(done.stdout)} == {(9, 0)}


def test_the_back_ends_stay_unloaded_until_named() -> None:
    code = "import sys, empathia.llm, empathia.models.prompted; assert not {'openai', 'xllamacpp'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert llm.uncached(llm.load("echo")).name == "echo"
