"""Sentences: the promises about offsets on any text, the habits of forum posts, and the time long texts take."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.segment import agreement, boundaries, gold
from empathia.schema import Span
from empathia.segment import sentences

PIECES = st.sampled_from(
    ["me", "I", "Dr.", "etc.", "1.", ".", "...", "!!", "?!", "…", " ", "  ", "\n", "\r\n", ":)", "<3", "😢", "❤️", '"', "(", "a", "\ud83d"]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))


def parts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@given(TEXTS)
def test_spans_are_ordered_trimmed_and_cover_every_character_once(text: str) -> None:
    found = sentences(text)
    edges = [edge for span in found for edge in (span.start, span.end)]
    assert edges == sorted(edges)
    assert all(part and part == part.strip() for part in parts(text))
    covered = {index for span in found for index in range(span.start, span.end)}
    assert all(index in covered for index, char in enumerate(text) if not char.isspace())


@given(TEXTS)
def test_no_sentence_crosses_a_line_break(text: str) -> None:
    assert all(len(part.splitlines()) == 1 for part in parts(text))


@example("!…\r")
@given(TEXTS)
def test_lines_are_split_independently(text: str) -> None:
    assert parts(text) == [part for line in text.splitlines() for part in parts(line)]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t \r\n\u2028"])
def test_blank_text_has_no_sentence(text: str) -> None:
    assert sentences(text) == ()


@pytest.mark.parametrize(
    "marked",
    [
        "I am tired. |i want to sleep.",
        "He shouted at me. |I left.",
        "Really?! |I had no idea!!! |Wow.. |Okay.",
        "It went well! 🎉 |Thank you all.",
        "Hang in there :) |You can do it.",
        "I just... do not know.",
        "I waited... |Then I left.",
        "Dr. Patel moved to the U.S. last year.",
        "It costs 3.50 at www.example.org/a.html today.",
        "1. Breathe out.",
        "It got worse.|Now I stay at home.",
        "Try a walk, a bath, etc. |It helps.",
        "☀️ Be kind to yourself",
    ],
)
def test_habits_of_forum_posts(marked: str) -> None:
    wanted = [part.strip() for part in marked.split("|")]
    assert parts(marked.replace("|", "")) == wanted


def test_offsets_count_characters_not_bytes() -> None:
    assert sentences("😢 é. Next") == (Span(start=0, end=4), Span(start=5, end=9))


def test_another_splitter_can_take_the_place() -> None:
    assert sentences("a b. c", starts=lambda line: [2]) == (Span(start=0, end=1), Span(start=2, end=6))


@pytest.mark.parametrize("piece", ["I am so tired. ", "word ", ".", "“a. ", "'", "a) b) ", "😢", "😢 ", "<", ":(", "?!", " ", "me. I "])
def test_time_grows_with_length_only(piece: str) -> None:
    def seconds(length: int) -> float:
        text = (piece * length)[:length]
        began = time.perf_counter()
        sentences(text)
        return time.perf_counter() - began

    assert min(seconds(200_000) for _ in range(2)) < 16 * max(seconds(50_000), 0.05)  # four times the text; quadratic would be sixteen


@pytest.mark.parametrize("part", ["tuning", "test", "fresh"])
def test_gold_posts_are_split_as_well_as_reported(part: str) -> None:
    posts = gold()[part]
    score = agreement([boundaries(spans) for _, spans in posts], [boundaries(sentences(text)) for text, _ in posts])
    assert len(posts) >= 40
    assert score > 0.95
