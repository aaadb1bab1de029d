"""Seeds: files that a person can read and edit, what they find, and the commands on them."""

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cli import GOOD, run

from empathia import analysis, models, seeds
from empathia.errors import InputError, UnknownName
from empathia.models.seeded import Finder
from empathia.schema import Dialogue, Example, Graded, Span, Turn
from empathia.seeds import SeedSet

THANKS = (
    "# Does the turn express thanks?\n# threshold: 0.8\n# a remark\n\nThank you so much.\n  Thanks   for your help. \nThank you so much.\n"
)


@pytest.fixture
def thanks(tmp_path: Path) -> Path:
    file = tmp_path / "gratitude.txt"
    file.write_text(THANKS, encoding="utf-8")
    return file


def row(number: str, content: str, *parts: str, post: str = "") -> Example:
    spans = tuple(Span(start=content.index(part), end=content.index(part) + len(part)) for part in parts)
    reply = Turn(role="b", content=content, labels={"warmth": Graded(level=1 if spans else 0, rationales=spans)})
    return Example(dialogue=Dialogue(id=number, group=post, turns=(Turn(role="a", content="I am lost."), reply)), index=1)


def test_a_file_is_a_set(thanks: Path) -> None:
    found = seeds.read(thanks)
    assert found == SeedSet("gratitude", ("Thank you so much.", "Thanks for your help."), "Does the turn express thanks?", 0.8)


text = st.text(max_size=30).map(seeds.tidy)


@given(st.lists(text.filter(bool), min_size=1, max_size=5, unique=True), text, st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, lines: list[str], question: str, threshold: float) -> None:
    if seeds._THRESHOLD.fullmatch(f"# {question}") or any(0xD800 <= ord(char) < 0xE000 for line in (*lines, question) for char in line):
        return
    wanted = SeedSet("own", tuple(lines), question, round(threshold, 3))
    file = tmp_path_factory.mktemp("seeds") / "own.txt"
    seeds.write(wanted, file)
    assert seeds.read(file) == wanted


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "nothing, no seeds"),
        (b"# only\n\n# comments\n", "only 3 lines of comments"),
        (b"one\ncaf\xe9\n", "bad.txt:2: not UTF-8"),
        (b"# threshold: high\nx\n", "bad.txt:1: the threshold 'high'"),
        (b"x\n# threshold: 7\n", "bad.txt:2: the threshold '7'"),
    ],
)
def test_mistakes_in_a_file_are_named(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(InputError, match=says):
        seeds.read(tmp_path / "bad.txt")


def test_missing_files_and_empty_folders_are_named(tmp_path: Path, thanks: Path) -> None:
    with pytest.raises(InputError, match="no seed file"):
        seeds.read(tmp_path / "nowhere.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no seed files"):
        seeds.read_all([tmp_path / "empty"])
    assert seeds.read_all([tmp_path]) == [seeds.read(thanks)]
    with pytest.raises(InputError, match="Two seed files"):
        seeds.read_all([tmp_path, thanks])


def test_nothing_is_overwritten(tmp_path: Path, thanks: Path) -> None:
    for write in (lambda: seeds.write(SeedSet("x", ("y",)), thanks), lambda: seeds.write_all([SeedSet("gratitude", ("y",))], tmp_path)):
        with pytest.raises(InputError, match="would be lost"):
            write()
    assert thanks.read_text(encoding="utf-8") == THANKS


def test_seeds_are_made_of_rationales_and_know_where_they_come_from() -> None:
    rows = [
        row("1", "I am sorry. Go home.", "I am sorry.", post="p"),
        row("2", "i am SORRY. A hug to you", "i am SORRY.", "A hug to you", post="q"),
        row("3", "A hug to you", "A hug to you", post="q"),
        row("4", "# no words", "#", post="r"),
    ]
    made = seeds.make(rows, "warmth", "Is it warm?")
    assert made.seeds == ("I am sorry.", "A hug to you")
    assert seeds.own(made, rows) == {"q": [1]}  # what two posts say is nobody's own
    assert seeds.own(SeedSet("warmth", ("written by hand",)), rows) == {}
    with pytest.raises(InputError, match="no seeds can be made"):
        seeds.make(rows[3:], "warmth", "")


def test_the_most_useful_seeds_are_kept() -> None:
    some = SeedSet("x", ("a", "b", "c"))
    assert seeds.prune(some, 2, {"c": 3, "b": 1}).seeds == ("c", "b")
    assert seeds.prune(some, 9, {}).seeds == some.seeds
    with pytest.raises(InputError, match="at least 1"):
        seeds.prune(some, 0, {})


@pytest.mark.parametrize("name", ["direction", "intent", "mechanisms", "explorations", "outcome", "content", "a/b"])
def test_a_name_that_is_taken_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        seeds.check_names([SeedSet(name, ("x",))], ["direction", "intent", "mechanisms", "explorations", "outcome", "content"])
    if "/" not in name:
        (tmp_path / f"{name}.txt").write_text("x\n", encoding="utf-8")
        with pytest.raises(InputError, match="cannot be called"):
            analysis.with_seeds(models.load(), [tmp_path])


TALK = [
    {"role": "a", "content": "I feel lost and alone."},
    {"role": "b", "content": "The bus was late. Thank you so much. What happened?"},
    {"role": "system", "content": "Thank you so much."},
]


def test_own_seeds_are_a_task_beside_the_others(thanks: Path) -> None:
    model = analysis.with_seeds(models.load(), [thanks])
    found, plain = analysis.analyse(TALK, model=model), analysis.analyse(TALK)
    spans = [turn.answers["gratitude"] for turn in found.turns]
    assert [one and [TALK[i]["content"][s.start : s.end] for s in one.spans] for i, one in enumerate(spans)] == [
        [],
        ["Thank you so much."],
        None,
    ]
    assert spans[1].spans[0].seed == "Thank you so much."
    assert spans[1].spans[0].score == pytest.approx(1, abs=1e-5)  # word for word: whatever stands around it
    for turn, other in zip(found.turns, plain.turns, strict=True):
        assert {key: value for key, value in turn.answers.items() if key != "gratitude"} == other.answers
    assert set(analysis.analyse(TALK, model=model, tasks=["direction"]).turns[0].answers) == {"direction", "intent", "gratitude"}
    with pytest.raises(UnknownName, match="gratitude"):
        analysis.analyse(TALK, model=model, tasks=["gratitud"])
    assert analysis.with_seeds(models.load(), []) is models.load()


@pytest.mark.parametrize("text", ["", " ", "😢", "\u200b", "word " * 3000, "\n\n.\n"])
def test_any_text_can_be_searched(thanks: Path, text: str) -> None:
    finder = Finder.of([seeds.read(thanks)])
    (alone,), many = finder.spans([text]), list(finder.spans([text, "Thank you so much.", text]))
    assert [one["gratitude"] for one in many] == [alone["gratitude"], many[1]["gratitude"], alone["gratitude"]]
    assert len(many[1]["gratitude"].spans) == 1


def test_analyse_with_seeds_on_the_command_line(thanks: Path, tmp_path: Path) -> None:
    chats = GOOD.replace("I am so sorry to hear that.", "Thank you so much. <b>It helped.</b>") + "\n"
    for out in ("o.jsonl", "o.csv"):
        done = run("analyse", "-", "--seeds", str(thanks), "-o", out, "--report", "r.html", given=chats, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "Does the turn express thanks?" in done.stdout and "GR: Thank you so much." in done.stdout
    told = json.loads((tmp_path / "o.jsonl").read_text(encoding="utf-8"))["turns"]
    assert told[0]["gratitude"] == {"spans": []}
    assert told[1]["gratitude"]["spans"] == [{"start": 0, "end": 18, "score": 1.0, "seed": "Thank you so much."}]
    rows = list(csv.DictReader((tmp_path / "o.csv").open(encoding="utf-8")))
    assert json.loads(rows[1]["gratitude"]) == told[1]["gratitude"]["spans"]
    assert "like &#34;Thank you so much.&#34;: 1.00" in (tmp_path / "r.html").read_text(encoding="utf-8")
    (tmp_path / "direction.txt").write_text("x\n", encoding="utf-8")
    done = run("analyse", "-", "--seeds", str(tmp_path / "direction.txt"), given=chats)
    assert done.returncode == 1 and "cannot be called 'direction'" in done.stderr


def test_show_and_try_seeds(thanks: Path, tmp_path: Path) -> None:
    assert "2 seeds, threshold 0.8" in run("seeds", "show", str(thanks)).stdout
    found = run("seeds", "test", str(thanks), "--text", "It rained. Thank you so much.").stdout
    assert "1.00" in found and "It rained" not in found
    assert "No sentence is like a seed" in run("seeds", "test", str(thanks), "--text", "It rained.").stdout
    chats = tmp_path / "chats.jsonl"
    chats.write_text(GOOD.replace("I am so sorry", "Thank you so much. I am so sorry") + "\nbroken\n", encoding="utf-8")
    assert "g [1]" in run("seeds", "test", str(thanks), "--chats", str(chats)).stdout
    for words, says in (([], "one of --text"), (["--text", "x", "--chats", str(chats)], "one of --text"), (["--data", "."], "gratitude")):
        done = run("seeds", "test", str(thanks), *words)
        assert done.returncode and says in done.stderr and "Traceback" not in done.stderr, done.stderr
