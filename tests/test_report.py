"""The reports: counting a stream, the terminal, the page, the tables. Set UPDATE_GOLDEN=1 to write the golden files anew."""

import csv
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from empathia import tasks
from empathia.errors import InputError, MissingExtra
from empathia.report import html, progress, tables, terminal
from empathia.report.excerpt import Gap, excerpt
from empathia.report.highlight import Mark, pieces, visible
from empathia.report.palette import codes, hues
from empathia.report.plots import Bar, Segment, percent, plots
from empathia.report.tally import OTHER_ROLES, PROBLEMS, ROLES, Tally
from empathia.schema import Analysis, ChoiceAnswer, LevelAnswer, ModelId, Problem, ScoredSpan, Span, Summary, TurnAnalysis
from empathia.task import Choice, Level, Task

GOLDEN = Path(__file__).parent / "golden"
DIRECTION, MECHANISMS = tasks.load("direction"), tasks.load("mechanisms")
TASKS = (DIRECTION, MECHANISMS)
MODEL = ModelId(name="example", version="0.1.0", sha256="3f6c1d" * 10 + "abcd")
HOSTILE = "<script>alert('x')</script>\"'><img src=x onerror=alert(1)>"


def choice(task: Task, name: str, label: str, evidence: Span | None = None, score: float = 0.82) -> ChoiceAnswer:
    output = task.outputs[name]
    assert isinstance(output, Choice)
    rest = (1 - score) / (len(output.labels) - 1)
    scores = {other: round(score if other == label else rest, 3) for other in output.labels}
    return ChoiceAnswer(label=label, scores=scores, evidence=evidence)


def find(text: str, part: str) -> Span:
    start = text.index(part)
    return Span(start=start, end=start + len(part))


def said(role: str, content: str, label: str, intent: str, **more: Any) -> TurnAnalysis:
    """A turn; `shows` are (mechanism, level, words) and make it a reply."""
    sentences = tuple(Span(start=m.start(), end=m.end()) for m in re.finditer(r"[^.?!\s][^.?!]*[.?!]*", content))
    shows = more.pop("shows", None)
    outcome = more.pop("outcome", None)
    answers: dict[str, Any] = {
        "direction": choice(DIRECTION, "direction", label, sentences[0], 0.91),
        "intent": choice(DIRECTION, "intent", intent, sentences[-1], 0.64),
        "mechanisms": None,
    }
    if outcome:
        answers["mechanisms"] = {
            name: level(content, *(rest for other, *rest in shows or () if other == name)) for name in MECHANISMS.outputs
        }
    return TurnAnalysis(index=0, role=role, content=content, sentences=sentences, outcome=outcome, **answers, **more)


def level(content: str, *shows: list[Any]) -> LevelAnswer:
    found = max((rank for rank, _ in shows), default=0)
    rationales = tuple(ScoredSpan(**find(content, words).model_dump(), score=0.77) for _, words in shows)
    return LevelAnswer(level=found, scores=tuple(0.8 if i == found else 0.1 for i in range(3)), rationales=rationales)


def talk(name: str, *turns: TurnAnalysis) -> Analysis:
    numbered = tuple(turn.model_copy(update={"index": index}) for index, turn in enumerate(turns))
    counts = {outcome: sum(turn.outcome == outcome for turn in turns) for outcome in ("given", "missed", "not_needed")}
    return Analysis(id=name, model=MODEL, turns=numbered, summary=Summary(**counts))


def stream() -> Iterator[Analysis | Problem]:
    """Written for these tests: given, missed and not needed, overlapping rationales, hostile text, lines set aside."""
    yield talk(
        "garden-club",
        said("ana", "The seed swap moved to Saturday. Does anyone still have bean seeds?", "none", "Questioning"),
        said("tom", "I have two bags of runner beans. See you there!", "none", "Neutral", outcome="not_needed"),
    )
    yield talk(
        "exam-week",
        said(
            "seeker",
            "I studied for three months and still failed the exam. My parents keep asking how it went and I cannot look them in the eye.",
            "seek",
            "Negative",
        ),
        said(
            "supporter",
            "I am so sorry, after three months of work that must feel crushing. What is the hardest part of telling your parents?",
            "provide",
            "Sympathizing",
            outcome="given",
            shows=[
                ("emotional_reactions", 2, "I am so sorry, after three months of work"),
                ("interpretations", 2, "after three months of work that must feel crushing"),
                ("explorations", 2, "What is the hardest part of telling your parents?"),
            ],
        ),
        said(
            "seeker",
            "That I will let them down again. Thank you for asking, nobody else did.",
            "seek",
            "Acknowledging",
            outcome="not_needed",
        ),
        said("supporter", "Results are published again in March, so check the website.", "none", "Neutral", outcome="missed"),
    )
    yield Problem(place="line 3", reason="not a JSON object: the line is cut off after 'messages'")
    yield talk(
        "night-shift",
        said("lena", "My cat died while I was on night shift.\nI keep hearing her at the door 😿", "seek", "Negative"),
        said("ruth", "Shelters have plenty of cats. Just get a new one.", "none", "Neutral", outcome="missed"),
        said(
            "ben",
            "Oh Lena, that hurts. I heard mine for weeks too.",
            "provide",
            "Consoling",
            outcome="given",
            shows=[("emotional_reactions", 1, "Oh Lena, that hurts."), ("interpretations", 2, "I heard mine for weeks too.")],
        ),
    )
    yield talk(
        f"hostile {HOSTILE}",
        said(HOSTILE, f"I feel like nobody reads this {HOSTILE} \x1b[31mat all.", "seek", "Negative"),
        said(
            "helper",
            "I read it, and I am glad that you wrote.",
            "provide",
            "Acknowledging",
            outcome="given",
            shows=[("emotional_reactions", 2, "I am glad that you wrote")],
        ),
    )
    yield Problem(place="line 6", reason="message 2 has no 'content'")


def tallied(*, keep: int = 50, chosen: tuple[Task, ...] = TASKS) -> Tally:
    tally = Tally(chosen, keep=keep)
    for found in stream():
        tally.add(found)
    return tally


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def printed(tally: Tally, width: int, **console: Any) -> str:
    file = io.StringIO()
    Console(file=file, width=width, legacy_windows=False, _environ={}, **console).print(terminal.summary(tally))
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


class Page(HTMLParser):
    """The tags of a page, its text, and every attribute."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


VOID = {"meta", "input", "br"}


def test_tally_counts() -> None:
    tally = tallied()
    assert (tally.conversations, tally.turns, tally.replies) == (4, 11, 7)
    assert tally.outcomes == {"given": 3, "missed": 2, "not_needed": 2}
    assert tally.conversations_with == {"given": 3, "missed": 2, "not_needed": 2}
    assert tally.counts["direction"] == {"none": 4, "seek": 4, "provide": 3}
    assert tally.counts["emotional_reactions"] == {0: 4, 1: 1, 2: 2}
    assert tally.roles["seeker"] == {"seek": 2}
    assert tally.models == [MODEL]
    assert tally.problem_kinds == {"skipped": 2}


@pytest.mark.parametrize("keep", [0, 1, 2, 3, 50])
def test_examples_are_those_that_matter(keep: int) -> None:
    expected = ["exam-week", "night-shift", f"hostile {HOSTILE}", "garden-club"]
    assert [analysis.id for analysis in tallied(keep=keep).examples] == expected[:keep]


def test_tally_stays_small() -> None:
    tally = Tally(TASKS, keep=3)
    for i in range(2 * ROLES):
        tally.add(talk(str(i), said(f"writer {i}", "It rained.", "none", "Neutral")))
        tally.add(Problem(place=f"line {i}", reason="empty"))
    assert (len(tally.examples), len(tally.roles), len(tally.problems)) == (3, ROLES + 1, PROBLEMS)
    assert tally.roles[OTHER_ROLES].total() == ROLES
    assert tally.problem_kinds["skipped"] == 2 * ROLES
    (by_role,) = (plot for plot in plots(tally) if plot.title == "Direction by role")
    assert sum(bar.total for bar in by_role.bars) == tally.turns


def test_watch_passes_on_what_it_counts() -> None:
    tally = Tally(TASKS)
    assert [analysis.id for analysis in tally.watch(stream())] == [found.id for found in stream() if isinstance(found, Analysis)]
    assert (tally.conversations, tally.problem_kinds["skipped"]) == (4, 2)


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(-2, 32), st.integers(-2, 32)), max_size=6))
@settings(max_examples=60, deadline=None)
def test_pieces_are_the_text(text: str, spans: list[tuple[int, int]]) -> None:
    found = pieces(text, [Mark(start, end, "x", "") for start, end in spans])
    assert "".join(piece.text for piece in found) == text
    for mark in (Mark(start, end, "x", "") for start, end in spans if start < end):
        covered = "".join(piece.text for piece in found if mark in piece.marks)
        assert covered == text[max(0, mark.start) : max(0, mark.end)]


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_visible_keeps_offsets_and_commands_nothing(text: str) -> None:
    assert len(visible(text)) == len(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", visible(text))


def test_long_conversations_are_cut_around_what_matters() -> None:
    small_talk = [said("ab"[i % 2], f"Turn {i}.", "none", "Neutral", outcome="not_needed" if i else None) for i in range(40)]
    small_talk[30] = said("a", "I cannot sleep.", "seek", "Negative", outcome="not_needed")
    small_talk[31] = said("b", "Noted.", "none", "Neutral", outcome="missed")
    shown = excerpt(talk("long", *small_talk), 4)
    assert [turn.turns if isinstance(turn, Gap) else turn.content for turn in shown] == [
        "Turn 0.", "Turn 1.", 28, "I cannot sleep.", "Noted.", 8,
    ]  # fmt: skip


def test_unknown_names_have_a_look_of_their_own() -> None:
    names = ["emotional_reactions", "warmth", "warm_words", "warp"]
    assert len(set(hues(names).values())) == len(set(codes(names).values())) == 4


@pytest.mark.parametrize(
    ("count", "whole", "text"), [(0, 0, "0 %"), (1, 3, "33 %"), (1, 999, "<1 %"), (998, 999, ">99 %"), (5, 5, "100 %")]
)
def test_percent(count: int, whole: int, text: str) -> None:
    assert percent(count, whole) == text


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=5), st.integers(10, 80))
@settings(max_examples=60, deadline=None)
def test_bars_fill_their_width(counts: list[int], width: int) -> None:
    bar = Bar("", tuple(Segment(str(i), count, "teal") for i, count in enumerate(counts)), sum(counts))
    cells = terminal.cells(bar, width)
    assert sum(cells) == (width if sum(counts) else 0)
    assert [cell > 0 for cell in cells] == [count > 0 for count in counts]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_terminal_with_large_counts(width: int) -> None:
    tally = tallied()
    counters: list[Counter[Any]] = [*tally.counts.values(), *tally.roles.values(), tally.outcomes]
    for counter in counters:
        counter.update({label: 1_234_566 * count for label, count in counter.items()})
    lines = printed(tally, width).splitlines()
    assert max(map(len, lines)) <= width
    assert any("2,469,134" in line and line[-1] in "░▒█" for line in lines)


@pytest.mark.parametrize("width", [80, 120])
def test_terminal_without_colour(width: int) -> None:
    text = printed(tallied(), width)
    assert "[ER: I am so sorry,] [ER+IP: after three months of work] [IP: that must feel" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= width
    golden(f"terminal-{width}.txt", text)


def test_terminal_in_colour() -> None:
    golden("terminal-colour.txt", printed(tallied(), 80, force_terminal=True, color_system="standard"))


def test_no_color_marks_by_characters() -> None:
    assert "[ER: " in printed(tallied(), 80, force_terminal=True, color_system="standard", no_color=True)


@pytest.mark.parametrize("chosen", [(), (DIRECTION,), (MECHANISMS,)], ids=["nothing", "direction", "mechanisms"])
def test_reports_of_some_tasks(chosen: tuple[Task, ...]) -> None:
    bare = Tally(chosen)
    for found in tallied().examples:
        kept = set().union(*(Task.keys(task) for task in chosen))
        turns = [
            TurnAnalysis(
                index=t.index, role=t.role, content=t.content, sentences=t.sentences, **{k: v for k, v in t.answers.items() if k in kept}
            )
            for t in found.turns
        ]
        bare.add(talk(found.id, *turns))
    text, shown = printed(bare, 80), html.page(bare)
    for report in (text, Page(shown).text):
        assert "exam-week" in report
        assert ("Outcomes" in report) is False
        assert ("Intent" in report) is (DIRECTION in chosen)
        assert ("Mechanisms" in report) is (MECHANISMS in chosen)


def test_reports_of_nothing() -> None:
    assert printed(Tally(TASKS), 80) == "0 conversations · 0 turns\n"
    assert "There is no conversation to show." in html.page(Tally(TASKS))


def test_a_new_task_is_drawn_as_declared(tmp_path: Path) -> None:
    weather = Task(
        name="weather",
        question="How is the weather?",
        on="turn",
        corpora=(),
        model="none",
        nested=True,
        outputs={"wind": Level(question="Does it blow?", levels=("calm", "breeze", "gale", "storm"))},
    )
    tone = Task(
        name="tone",
        question="What tone?",
        on="turn",
        corpora=(),
        model="none",
        outputs={"tone": Choice(question="What tone?", neutral="cold", labels={"warm": "kind words", "cold": "no kind words"})},
    )
    wind = LevelAnswer(level=3, scores=(0.1, 0.1, 0.1, 0.7), rationales=(ScoredSpan(start=0, end=5, score=0.5),))
    asked: dict[str, Any] = {"weather": {"wind": wind}, "tone": ChoiceAnswer(label="warm", scores={"warm": 0.9})}
    turn = TurnAnalysis(index=0, role="a", content="Storm again", sentences=(), **asked)
    tally = Tally((weather, tone))
    tally.add(talk("w", turn))
    assert "[WI: Storm] again" in printed(tally, 80)
    shown = Page(html.page(tally)).text
    assert all(words in shown for words in ("How is the weather?", "gale", "kind words"))
    tables.write(tally.examples, tmp_path / "out.csv", tasks=tally.tasks)
    (row,) = csv.DictReader((tmp_path / "out.csv").open(encoding="utf-8"))
    assert (row["wind"], row["wind_3"], row["tone"], row["tone_warm"], row["tone_cold"]) == ("3", "0.7", "warm", "0.9", "")


def test_page() -> None:
    text = html.page(tallied(), title="chats.jsonl")
    golden("report.html", text)
    page = Page(text)
    assert page.open == []
    assert MODEL.sha256 in page.text
    assert "4 of 4 conversations" in page.text
    assert "message 2 has no 'content'" in page.text


def test_page_is_self_contained_and_escapes() -> None:
    tally = tallied()
    tally.add(Problem(place=HOSTILE, reason=HOSTILE))
    page = Page(html.page(tally, title=HOSTILE))
    assert not {"script", "img", "link", "iframe", "object", "base", "form"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert all((value or "").startswith("#") for name, value in page.attributes if name == "href")
    assert not re.search(r"url\(|@import|https?://", html.page(tally))
    assert page.text.count(HOSTILE) >= 6  # title, heading, id, role, content, place, reason: all there, as text


def test_page_shows_overlaps() -> None:
    text = html.page(tallied())
    both = text[: text.index("after three months of work</span>")].rpartition("<span title=")[2]
    assert "emotional reactions: level 2" in both
    assert "interpretations: level 2" in both
    assert both.count('<span class="mark') == 2
    words = re.sub(r"<[^>]*>", "", text)
    assert "I am so sorry, after three months of work that must feel crushing. What is the hardest" in words


def test_page_says_how_many_are_shown() -> None:
    assert "Shown in full: 1 of 4 conversations" in html.page(tallied(keep=1))


def analyses() -> Iterator[Analysis]:
    return (found for found in stream() if isinstance(found, Analysis))


def test_jsonl(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    tables.write(analyses(), path, tasks=TASKS)
    assert [Analysis.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()] == list(analyses())


def test_jsonl_keeps_what_was_done_before_a_failure(tmp_path: Path) -> None:
    def failing() -> Iterator[Analysis]:
        yield next(analyses())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tables.write(failing(), tmp_path / "out.jsonl", tasks=TASKS)
    assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    for name in ("out.csv", "out.parquet"):
        with pytest.raises(KeyboardInterrupt):
            tables.write(failing(), tmp_path / name, tasks=TASKS)
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    tables.write(analyses(), path, tasks=TASKS)
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    turns = [turn for analysis in analyses() for turn in analysis.turns]
    assert [row["content"] for row in found] == [turn.content for turn in turns]
    assert list(found[0]) == list(tables.columns(TASKS))
    reply = found[3]
    assert (reply["id"], reply["index"], reply["outcome"], reply["direction"], reply["direction_provide"]) == (
        "exam-week",
        "1",
        "given",
        "provide",
        "0.91",
    )
    assert reply["emotional_reactions"] == "2"
    (span,) = json.loads(reply["emotional_reactions_rationales"])
    assert reply["content"][span["start"] : span["end"]] == "I am so sorry, after three months of work"
    assert found[2]["emotional_reactions"] == ""  # not a reply: the question was not asked


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(tables, "ROWS", 4)  # several row groups
    tables.write(analyses(), tmp_path / "out.parquet", tasks=TASKS)
    assert parquet.read_table(tmp_path / "out.parquet").to_pylist() == list(tables.rows(analyses(), TASKS))
    tables.write([], tmp_path / "empty.parquet", tasks=TASKS)
    assert parquet.read_table(tmp_path / "empty.parquet").column_names == list(tables.columns(TASKS))


def test_paths_are_checked_before_any_work(tmp_path: Path) -> None:
    def untouched() -> Iterator[Analysis]:
        raise AssertionError("work was done")
        yield

    for name, words in {"out.xlsx": r"\.jsonl, \.csv, \.parquet", "no/out.csv": "does not exist", ".": "must end in"}.items():
        with pytest.raises(InputError, match=words):
            tables.write(untouched(), tmp_path / name, tasks=TASKS)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        tables.check_path(tmp_path / "folder.csv")
    with pytest.raises(InputError, match="is the input"):
        tables.check_path(tmp_path / "in.jsonl", sources=[tmp_path / "folder.csv" / ".." / "in.jsonl"])


def test_parquet_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"empathia\[parquet\]"):
        tables.check_path(tmp_path / "out.parquet")


def test_a_training_in_a_log_says_where_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.steps("Training") as watch:
        for done in (1, 2):
            watch(SimpleNamespace(done=(done, 2), told="epoch 1/1"))
    assert capsys.readouterr().err == "Training · epoch 1/1 · 2/2\n"
