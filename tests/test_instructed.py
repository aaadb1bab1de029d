"""Instructed language models, tiny and random ones of both kinds: likelihoods, prompts, learning, the model folder, errors."""

import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="language models need the extra [train]")

import tiny
import tiny_language
import torch

from empathia import models, tasks
from empathia.encoders import alike
from empathia.errors import InputError, MissingExtra, ModelError
from empathia.models import _language, instructed
from empathia.models._instructions import Asked, Settings, instruction, prompt
from empathia.models._language import Ids, Language, SequenceToSequence
from empathia.models._questions import kinds
from empathia.models.instructed import Instructed, Recipe
from empathia.schema import Answer, ChoiceAnswer, ChoicesAnswer, Dialogue, Example, Label, LevelAnswer, Turn
from empathia.task import Choice, Choices, Level, Rating, Spans, Task

TASK = Task(
    name="all_kinds",
    question="How is the reply?",
    on="reply",
    corpora=(),
    model="",
    outputs={
        "tone": Choice(question="Which tone?", neutral="flat", labels={"flat": "none", "warm": "kind", "unkindly cold": "unkind"}),
        "moves": Choices(question="Which moves?", labels={"ask": "asks something", "advise": "gives advice"}),
        "care": Level(question="How caring?", levels=("not", "a little", "much")),
        "help": Rating(question="How helpful?", ends=("useless", "very useful")),
        "words": Spans(question="Which words?"),
    },
)
ASKED = {"tone", "moves", "care", "help"}


def example(text: str = "I am so sorry. What happened?", *before: str, **labels: Label) -> Example:
    earlier = [Turn(role="anna", content=one) for one in before or ("I feel lost.",)]
    turns = (Turn(role="system", content="Be nice."), *earlier, Turn(role="ben", content=text, labels=labels))
    return Example(dialogue=Dialogue(id="row 1", turns=(*turns, Turn(role="anna", content="It is so."))), index=len(turns) - 1)


def only(*names: str) -> Task:
    return replace(TASK, outputs={name: TASK.outputs[name] for name in names})


def asked(task: Task = TASK) -> list[Asked]:
    return [Asked(task, about, question) for _, kind in kinds(task) for about, question in kind.named().items()]


@pytest.fixture(scope="module", params=sorted(tiny_language.KINDS))
def where(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_language.KINDS[request.param](tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def model(where: str) -> Instructed:
    return instructed.start(where, [TASK])


@torch.no_grad()
def slowly(language: Language, prompt: Ids, answer: Ids) -> float:
    """The log-likelihood of one answer, token by token, with nothing kept, padded or batched."""
    total = 0.0
    for place, token in enumerate(answer):
        written = torch.tensor([answer[:place]], dtype=torch.long)
        if isinstance(language, SequenceToSequence):
            begun = torch.cat([torch.tensor([[language.network.config.decoder_start_token_id]]), written], 1)
            logits = language.network(input_ids=torch.tensor([prompt]), decoder_input_ids=begun).logits
        else:
            logits = language.network(input_ids=torch.cat([torch.tensor([prompt]), written], 1)).logits
        total += float(logits[0, -1].log_softmax(-1)[token])
    return total


@torch.no_grad()
def test_likelihoods_equal_the_slow_way(model: Instructed) -> None:
    language = model.language
    for one in asked():
        prompts = [model.prompt(one, row) for row in (example(), example("Go away."), example("so " * 40))]
        options = language.options(list(one.question.options))
        wanted = torch.tensor([[slowly(language, prompt, option) for option in options] for prompt in prompts])
        read = language.read(prompts)
        for _ in range(2):  # what was read serves again
            assert torch.allclose(language.rank(read, options), wanted, atol=1e-4)
        answers = [options[place % len(options)] for place in range(len(prompts))]
        chosen = torch.stack([row[place % len(options)] for place, row in enumerate(wanted)])
        assert torch.allclose(language.likelihoods(read, answers), chosen, atol=1e-4)
        assert torch.allclose(torch.tensor(language.shares(prompts, options)), wanted.softmax(1), atol=1e-4)


@torch.no_grad()
def test_the_first_token_ranks_options_of_one_token_as_full_passes_do(model: Instructed) -> None:
    language = model.language
    options = language.options(["yes", "no", "warm"])
    assert {len(ids) for ids in options} == {1}
    read = language.read([model.prompt(asked()[0], row) for row in (example(), example("Go away."))])
    full = torch.stack([language.likelihoods(read, [ids, ids]) for ids in options], 1)
    assert torch.allclose(language.rank(read, options), full, atol=1e-5)


def test_the_end_counts_where_one_option_begins_like_another(model: Instructed) -> None:
    language = model.language
    assert [len(ids) for ids in language.options(["warm", "cold"])] == [1, 1]
    assert [ids[-1] for ids in language.options(["warm", "warm reply"])] == [language.tokenizer.eos_token_id] * 2
    with pytest.raises(ModelError, match="the same: yes, YES"):
        language.options(["yes", "YES"])


def same(one: Answer, other: Answer) -> bool:
    if isinstance(one, ChoiceAnswer | ChoicesAnswer) and isinstance(other, ChoiceAnswer | ChoicesAnswer):
        return dict(one.scores) == pytest.approx(dict(other.scores), abs=1e-4)
    if isinstance(one, LevelAnswer) and isinstance(other, LevelAnswer):
        return one.scores == pytest.approx(other.scores, abs=1e-4)
    return one == pytest.approx(other, abs=1e-3)


def test_every_kind_is_answered_and_batch_equals_one_by_one(model: Instructed) -> None:
    examples = [example(), example("Go away."), example("\U0001f600 " + "word " * 10_000)]
    found = model.answer(examples, [TASK])
    for answers, row in zip(found, examples, strict=True):
        (alone,) = model.answer([row], [TASK])
        assert answers.keys() == ASKED and all(same(answers[name], alone[name]) for name in ASKED)
        assert isinstance(answers["tone"], ChoiceAnswer) and answers["tone"].label in ("flat", "warm", "unkindly cold")
        assert isinstance(answers["moves"], ChoicesAnswer) and answers["moves"].scores.keys() == {"ask", "advise"}
        assert isinstance(answers["care"], LevelAnswer) and sum(answers["care"].scores) == pytest.approx(1, abs=1e-5)
        assert isinstance(answers["help"], float) and 1 <= answers["help"] <= 5
    assert model.answer([], [TASK]) == []
    assert model.answer([example().model_copy(update={"index": 1})], [TASK]) == [{}]
    assert model.tasks == ("all_kinds",) and model.answer(examples[:1], [])[0] == {}


@pytest.mark.parametrize("name", tasks.names())
def test_every_task_can_be_asked(model: Instructed, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model.language, "room", None)  # its tokenizer spells most words, so that prompts are long
    wide, task = replace(model, settings=Settings(room=5000)), tasks.load(name)
    assert set(wide.answer([example()], [task])[0]) == {output for output, kind in kinds(task) if kind.named()}


def test_prompts_of_like_length_go_together() -> None:
    assert list(alike([3, 9, 4, 5], room=10)) == [[0, 2], [3], [1]]
    assert list(alike([], room=10)) == [] and list(alike([50], room=10)) == [[0]]


def letters(text: str) -> Ids:
    return tuple(map(ord, text))


def shown(row: Example, settings: Settings, one: Asked | None = None) -> str:
    return "".join(map(chr, prompt(one or asked()[0], row, settings, letters)))


def test_an_instruction_tells_domain_intent_question_and_options() -> None:
    told = instruction(asked()[0], "letters to a doctor")
    for words in (
        "letters to a doctor",
        "How is the reply?",
        "Which tone?",
        "flat (none), warm (kind), unkindly cold (unkind)",
        "the reply",
    ):
        assert words in told
    assert "the message after" in instruction(replace(asked()[0], task=replace(TASK, on="turn")), "")
    assert "Does this apply: ask (asks something)?" in instruction(asked()[1], "")
    assert "1 (useless), 2, 3, 4, 5 (very useful)" in instruction(asked()[-1], "")


def test_without_an_instruction_there_is_only_the_text_and_what_is_asked_about() -> None:
    bare = Settings(instruction=False, room=10_000)
    assert shown(example(), bare) == "Before (anna): I feel lost.\nJudge (ben): I am so sorry. What happened?\ntone:"
    assert shown(example("Oh."), replace(bare, before=0), asked()[1]) == "Judge (ben): Oh.\nask:"


def test_turns_around_are_shown_up_to_the_numbers_set() -> None:
    row = example("Oh.", "one", "two", "three", "four")
    text = shown(row, Settings(instruction=False, after=3, room=10_000))
    assert text.startswith("Before (anna): two\nBefore (anna): three\nBefore (anna): four\nJudge (ben): Oh.\nAfter (anna): It is so.\n")
    assert "Before" not in shown(row, Settings(before=0, room=10_000)) and "After" not in shown(row, Settings(room=10_000))
    assert "Be nice." not in shown(row, Settings(before=9, room=10_000))


def test_where_there_is_no_room_the_oldest_turns_go_first_and_the_judged_one_is_kept() -> None:
    row = example("Oh, I am so sorry.", "first " * 50, "second " * 20, "third")
    settings = Settings(instruction=False, room=140)
    text = shown(row, settings)
    assert len(text) == settings.room and text.endswith("Before (anna): third\nJudge (ben): Oh, I am so sorry.\ntone:")
    assert text.startswith("Before (anna): second") and "first" not in text
    long = shown(example("begin " + "middle " * 500 + "end"), settings)
    assert len(long) == settings.room and long.startswith("Judge (ben): begin") and long.endswith("end\ntone:")
    with pytest.raises(InputError, match="give more `room`"):
        shown(row, Settings(room=100))


@dataclass(frozen=True)
class Halves:
    train: list[Example]
    valid: list[Example]


def rows(*names: str) -> Halves:
    """A toy rule: who is sorry is warm, asks and cares; who says to go away is cold."""
    warm: dict[str, Label] = {"tone": "warm", "moves": ("ask",), "care": 2, "help": 5.0}
    cold: dict[str, Label] = {"tone": "unkindly cold", "moves": (), "care": 0, "help": 1.0}
    said = [("I am so sorry", warm), ("go away", cold), ("sorry , what happened ?", warm), ("not helpful , go", cold)]
    made = {n: [example(f"{text}{' .' * n}", **{name: labels[name] for name in names}) for text, labels in said] for n in range(7)}
    return Halves([row for n in (0, 1, 3, 5, 6) for row in made[n]], [row for n in (2, 4) for row in made[n]])


RECIPE = Recipe(epochs=8, rows=8, rate=5e-3)
BARE = Settings(instruction=False, before=1)


@pytest.fixture(scope="module")
def trained(where: str) -> Instructed:
    return instructed.train(TASK, rows(*ASKED), where, recipe=RECIPE, settings=BARE)


def test_a_toy_rule_is_learnt(trained: Instructed) -> None:
    warm, cold = trained.answer([example("I am so sorry . . . ."), example("go away . . . .")], [TASK])
    assert isinstance(warm["tone"], ChoiceAnswer) and isinstance(cold["tone"], ChoiceAnswer)
    assert (warm["tone"].label, cold["tone"].label) == ("warm", "unkindly cold")
    assert isinstance(warm["moves"], ChoicesAnswer) and isinstance(cold["moves"], ChoicesAnswer)
    assert (warm["moves"].labels, cold["moves"].labels) == (("ask",), ())
    assert isinstance(warm["care"], LevelAnswer) and isinstance(cold["care"], LevelAnswer)
    assert (warm["care"].level, cold["care"].level) == (2, 0)
    assert isinstance(warm["help"], float) and isinstance(cold["help"], float) and cold["help"] < 2.5 < 3.5 < warm["help"]


def test_the_same_recipe_gives_the_same_model_and_the_best_epoch_is_kept(where: str) -> None:
    task, some = only("tone"), rows("tone")
    said: list[str] = []
    one = instructed.train(task, some, where, recipe=replace(RECIPE, epochs=3), tell=said.append)
    other = instructed.train(task, some, where, recipe=replace(RECIPE, epochs=3))
    assert one.answer(some.valid, [task]) == other.answer(some.valid, [task])
    assert len(said) == 3 and said[0].startswith("epoch 1/3 · loss ")
    best = max(float(line.rpartition(" ")[2]) for line in said)
    assert instructed._headline(one, task, some.valid) == pytest.approx(best, abs=6e-4)


def test_no_epochs_and_no_validation_rows_will_do(where: str, model: Instructed) -> None:
    task, some = only("tone"), rows("tone")
    untouched = instructed.train(task, some, where, recipe=Recipe(epochs=0))
    assert untouched.answer(some.valid, [task]) == model.answer(some.valid, [task])
    last = instructed.train(task, Halves(some.train, []), where, recipe=Recipe(epochs=1, rate=1e-2))
    assert last.answer(some.valid, [task]) != model.answer(some.valid, [task])


def test_a_model_folder_gives_the_same_answers(trained: Instructed, tmp_path: Path) -> None:
    trained.save(tmp_path / "model", {"scores": {"note": "none"}})
    loaded = models.load(tmp_path / "model")
    examples = [example(), example("go away")]
    assert loaded.answer(examples, [TASK]) == trained.answer(examples, [TASK])
    assert loaded.tasks == ("all_kinds",) and len(loaded.id.sha256) == 64 and loaded.id.name == trained.id.name
    assert isinstance(loaded, Instructed) and loaded.settings == BARE and models.recipe(tmp_path / "model")["seed"] == 0
    card = tiny.card(tmp_path / "model")
    assert card["kind"] == "instructed" and {"model.safetensors", "tokenizer.json", "config.json"} <= set(card["files"])  # type: ignore[call-overload]
    with pytest.raises(InputError, match="already holds a model"):
        trained.save(tmp_path / "model")


WITHOUT_TORCH = """
import sys
class Hidden:
    def find_spec(self, name, *_):
        if name == "torch":
            raise ModuleNotFoundError("hidden", name="torch")
sys.meta_path.insert(0, Hidden())
from empathia.cli import main
main()
"""


def test_a_model_folder_works_on_the_command_line(where: str, tmp_path: Path) -> None:
    instructed.start(where, [tasks.load("direction")]).save(tmp_path / "model")
    words = ["evaluate", "direction", "--data", str(tiny.corpora(tmp_path / "data")), "--model", str(tmp_path / "model"), "--json"]
    done = subprocess.run([sys.executable, "-m", "empathia", *words], capture_output=True, text=True)
    assert done.returncode == 0 and '"output": "direction"' in done.stdout, done.stderr
    missing = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, *words], capture_output=True, text=True)
    assert missing.returncode == 1 and "pip install 'empathia[train]'" in missing.stderr and "Traceback" not in missing.stderr


def test_rows_that_teach_nothing_are_named(where: str) -> None:
    with pytest.raises(InputError, match=r"Row row 1: 'hot' is no tone\. Known: flat, warm, unkindly cold"):
        instructed.train(TASK, Halves([example(tone="hot")], []), where)
    with pytest.raises(InputError, match="No row to learn from has a label for tone, care"):
        instructed.train(only("tone", "care"), Halves([example(moves=("ask",))], []), where)


def test_what_is_no_language_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="No language model could be loaded from"):
        instructed.start(str(tmp_path), [TASK])
    (tmp_path / "some.gguf").write_bytes(b"")
    monkeypatch.setattr(_language, "find_spec", lambda name: None)
    for place in (tmp_path, tmp_path / "some.gguf"):
        with pytest.raises(MissingExtra, match=r"GGUF.*empathia\[gguf\]"):
            instructed.start(str(place), [TASK])
