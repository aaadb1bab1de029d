"""Causes against other sentences: hand-computed odds and shares, properties, what is missing, the page, and real corpora."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from empathia import corpus, labelled, lexicons
from empathia.errors import InputError, UnknownName
from empathia.findings import Described, Measure, Term
from empathia.labelled import Labelled
from empathia.report import described, described_page
from empathia.schema import Cause, Dialogue, Span, Turn
from empathia.words import bigrams, content, log_odds, words

POST = "My dog died. It rains today. I feel so sad and alone."


def pair(name: str, *causes: tuple[int, int], post: str = POST, group: str = "", labelled: bool = True) -> Dialogue:
    """A post and a reply to it, with causes in the post."""
    label = {"causes": tuple(Cause(turn=0, start=start, end=end) for start, end in causes)} if labelled else {}
    turns = (Turn(role="seeker", content=post), Turn(role="supporter", content="I am sorry.", labels=label))
    return Dialogue(id=name, group=group, turns=turns)


def describe(*dialogues: Dialogue, **options: object) -> Described:
    return corpus.describe(Labelled("here", dialogues), topics=0, **options)  # type: ignore[arg-type]


def measure(found: Described, name: str) -> Measure:
    return next(one for one in found.measures if one.name == name)


def test_words_stop_words_and_pairs() -> None:
    text = "I don't leave the house: see https://x.org/a. I'M 30, dont ask; it ’ s fine, and they're here!"  # noqa: RUF001
    assert words(text) == "i don't leave the house see i'm don't ask it's fine and they're here".split()
    assert content(words(text)) == ["don't", "leave", "house", "see", "don't", "ask", "fine"]
    assert bigrams(words("Leave the house. X")) == ["leave house"]
    assert bigrams(words("alone")) == [] == words("… 42 !")


def test_log_odds_by_hand() -> None:
    # 4 of 10 words here, 1 of 20 there; the prior adds a tenth of both: 0.5 of 3 to each side
    ratio, error = log_odds(4, 1, of=(10, 20))
    assert ratio == pytest.approx(math.log((4.5 / 8.5) / (1.5 / 21.5)))
    assert error == pytest.approx(math.sqrt(1 / 4.5 + 1 / 1.5))
    assert log_odds(4, 1, of=(10, 20), prior=0) == pytest.approx((math.log((4 / 6) / (1 / 19)), math.sqrt(1 / 4 + 1)))
    assert log_odds(10, 20, of=(10, 20)) == (0.0, math.inf)


COUNTS = st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(1, 500), st.integers(1, 500)).filter(
    lambda some: some[0] + some[1] > 0
)


@given(COUNTS)
def test_swapping_the_sides_turns_the_odds_round_and_a_prior_pulls_towards_none(some: tuple[int, int, int, int]) -> None:
    here, there, rest_here, rest_there = some
    of = (here + rest_here, there + rest_there)
    ratio, error = log_odds(here, there, of=of)
    assert log_odds(there, here, of=of[::-1]) == pytest.approx((-ratio, error))
    assert abs(log_odds(here, there, of=of, prior=10)[0]) <= abs(ratio) + 1e-9
    assert math.isfinite(ratio) and error > 0


def test_sentences_of_a_post_count_once_and_as_a_cause_if_one_reply_takes_them_so() -> None:
    found = describe(pair("a", (0, 12), group="p"), pair("b", (29, 35), group="p"), pair("c", group="p"))
    assert (found.origin, found.dialogues, found.turns, found.labelled) == ("human", 3, 1, 3)
    assert (found.cause, found.other) == (2, 1)
    length = measure(found, "words")
    assert length.cause.mean == pytest.approx((3 + 6) / 2) and length.other.mean == 3 and length.other.error is None
    assert [(one.label, one.cause, one.other) for one in length.bins if one.cause or one.other] == [("1–5", 1, 1), ("6–10", 1, 0)]  # noqa: RUF001
    place = measure(found, "place")
    assert (place.cause.mean, place.other.mean) == (0.5, 0.5)
    assert {one.text for one in found.words.frequent} == {"dog", "died", "feel", "sad", "alone"}
    assert (found.words.cause, found.words.other, found.bigrams.cause) == (9, 3, 1 + 2)


def test_a_cause_shares_a_word_with_its_sentence() -> None:
    assert describe(pair("a", (0, 13))).cause == 1  # a space too many
    assert describe(pair("a", (11, 15))).cause == 1  # a full stop, a space and a word of the next
    assert describe(pair("a", (7, 15))).cause == 2


def test_the_sentences_of_annotators_are_taken() -> None:
    dialogue = pair("a", (0, 28))
    post = dialogue.turns[0].model_copy(update={"metadata": {"sentences": (Span(start=0, end=28), Span(start=29, end=53))}})
    found = describe(dialogue.model_copy(update={"turns": (post, dialogue.turns[1])}))
    assert (found.cause, found.other) == (1, 1)


def test_turns_that_nobody_labelled_do_not_count_but_all_do_without_causes() -> None:
    assert describe(pair("a", (0, 12)), pair("b", post="Hello there.", labelled=False)).other == 2
    none = describe(pair("a"), pair("b", post="Hello there.", labelled=False))
    assert (none.origin, none.cause, none.other, none.turns) == (None, 0, 3 + 1 + 1 + 1, 4)
    assert none.words.frequent[0].text == "sorry" and none.words.frequent[0].times is None and not none.words.among_causes
    assert [one.name for one in none.measures] == ["words", "sentiment"]
    assert describe(pair("a"), role="seeker").other == 3


def test_a_cause_in_an_earlier_turn_brings_its_turn_in() -> None:
    turns = [Turn(role=role, content=text) for role, text in (("a", "I lost my job."), ("b", "Oh."), ("a", "Yes. And my flat."))]
    reply = Turn(role="b", content="How awful!", labels={"causes": (Cause(turn=0, start=0, end=14),)})
    found = describe(Dialogue(id="d", turns=(*turns, reply)))
    assert (found.cause, found.other, found.turns) == (1, 2, 2)


def test_a_cause_outside_the_text_is_set_aside_and_told() -> None:
    source = Labelled("here", [pair("a", (0, 12)), pair("b", (0, 99))])
    found = corpus.describe(source, topics=0)
    assert (found.cause, found.labelled) == (1, 1)
    assert "1 set aside, the first at conversation b" in source.told()


def test_who_gave_the_causes() -> None:
    assert describe(pair("a", (0, 12))).origin == "human"
    assert corpus.describe(Labelled("r", [pair("a", (0, 12))], ours=True), topics=0).origin == "ours"
    assert corpus.describe(Labelled("e", [pair("a", (0, 12))], corpus="epitome_causes"), topics=0).origin == "silver"


def test_causes_of_our_own_results(tmp_path: Path) -> None:
    turn = {"index": 0, "role": "a", "content": POST, "sentences": []}
    reply = turn | {"index": 1, "role": "b", "content": "So sorry.", "causes": [{"turn": 0, "start": 0, "end": 12, "score": 0.9}]}
    model = {"name": "m", "version": "1", "sha256": ""}
    path = tmp_path / "results.jsonl"
    line = {"schema": "empathia/1", "id": "c", "model": model, "turns": [turn, reply], "summary": {}}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    found = corpus.describe(labelled.opened(str(path)), topics=0)
    assert (found.origin, found.cause, found.other) == ("ours", 1, 2) and "our own answers" in printed(found)


def test_nothing_to_describe_is_an_error() -> None:
    with pytest.raises(InputError, match="no sentence"):
        describe()
    with pytest.raises(UnknownName, match="Did you mean 'seeker'"):
        describe(pair("a"), role="seker")


def stand_out() -> Described:
    """Ten posts in which "lonely" is a word of causes, "rain" of others, and "day" of both."""
    post = "A lonely day. The rain of the day."
    return describe(*(pair(str(i), (0, 13), post=post) for i in range(10)))


def test_what_stands_out() -> None:
    found = stand_out()
    assert [one.text for one in found.words.among_causes] == ["lonely", "day"]  # ten of 30 words, and of 50
    assert [one.text for one in found.words.among_others] == ["rain"]
    lonely = found.words.among_causes[0]
    assert (lonely.cause, lonely.other) == (10, 0) and lonely.times == pytest.approx((11 / (20 + 7)) / (1 / (50 + 7)))
    ratio, error = math.log(lonely.times or 0), math.sqrt(1 / 11 + 1)
    assert lonely.z == pytest.approx(ratio / error) and lonely.high == pytest.approx(math.exp(ratio + 1.96 * error))
    assert lonely.p == pytest.approx(min(1, 3 * math.erfc(ratio / error / math.sqrt(2))))
    assert [(one.text, one.cause) for one in found.bigrams.among_causes] == [("lonely day", 10)]


def test_sentiment_and_emotions() -> None:
    pytest.importorskip("vaderSentiment")
    pytest.importorskip("nrclex")
    found = stand_out()
    feeling = measure(found, "sentiment")
    assert feeling.cause.mean is not None and feeling.cause.mean < -0.05 and feeling.other.mean == 0
    assert [(one.label, one.cause, one.other) for one in feeling.bins] == [("negative", 10, 0), ("neutral", 0, 10), ("positive", 0, 0)]
    sadness = next(one for one in found.emotions if one.text == "sadness")
    assert (sadness.cause, sadness.other) == (10, 0) and len(found.emotions) == 10


@pytest.mark.parametrize(("value", "label"), [(-0.05, "negative"), (-0.049, "neutral"), (0.049, "neutral"), (0.05, "positive")])
def test_the_limits_of_neutral(value: float, label: str) -> None:
    assert next(name for name, limit in corpus.FEELINGS.items() if value <= limit) == label


def test_without_the_extra_words_and_lengths_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nrclex", "nrclex.data", "vaderSentiment", "vaderSentiment.vaderSentiment", "empathia.topics"):
        monkeypatch.setitem(sys.modules, name, None)
    for lexicon in (lexicons.sentiment, lexicons.emotions):
        lexicon.cache_clear()
    found = corpus.describe(Labelled("here", [pair("a", (0, 12))]))
    assert set(found.left_out) == {"sentiment", "emotions", "topics"}
    assert all("empathia[corpus]" in reason for reason in found.left_out.values())
    assert found.words.frequent and [one.name for one in found.measures] == ["words", "place"]
    assert "No topics: " in printed(found) and "empathia[corpus]" in described_page.page(found)


def test_topics_tell_two_worlds_apart_the_same_each_time() -> None:
    topics = pytest.importorskip("empathia.topics").topics
    garden, sea = "rose bed soil seed leaf root".split(), "ship wave harbour sail wind salt".split()
    documents = [[*world, *world] for world in (garden, sea) for _ in range(30)]
    found = topics(documents, [garden, sea, [], ["unknown"]], count=2)
    assert {frozenset(name[:6]) for name in found.names} == {frozenset(garden), frozenset(sea)}
    assert found.words.sum(axis=1).tolist() == pytest.approx([6, 6, 0, 0], abs=0.01)
    assert sorted(found.words[0].round()) == [0, 6]
    assert (topics(documents, [garden, sea, [], ["unknown"]], count=2).words == found.words).all()
    assert topics([["rose"]], [["rose"]], count=2) is None and topics([[]], [[]], count=2) is None


def test_topics_as_shares() -> None:
    pytest.importorskip("sklearn")
    posts = ["The rose has a root and a leaf and soil. The ship has a sail and wind and a wave."] * 20
    found = corpus.describe(Labelled("here", [pair(str(i), (0, 40), post=post) for i, post in enumerate(posts)]), topics=2)
    assert sum(one.cause or 0 for one in found.topics) == pytest.approx(1) == sum(one.other or 0 for one in found.topics)
    few = corpus.describe(Labelled("here", [pair("a", (0, 12))]))
    assert not few.topics and "too few words" in few.left_out["topics"]


def printed(found: Described) -> str:
    console = Console(width=100, no_color=True)
    with console.capture() as caught:
        console.print(described.table(found))
    return caught.get()


def test_table_and_json_say_which_labels() -> None:
    text = printed(stand_out())
    assert "20 sentences of 10 turns" in text and "10 of them (50 %) are causes of 10 labelled turns; human labels" in text
    assert re.search(r"lonely +333\.3 +0\.0 +×", text) and "lonely 10" in text  # noqa: RUF001
    assert Described.model_validate_json(described.as_json(stand_out())) == stand_out()
    alone = printed(describe(pair("a")))
    assert "No turn carries causes" in alone and "difference" not in alone


def test_the_page_is_self_contained_and_escapes() -> None:
    found = stand_out()
    page = described_page.page(found)
    assert page.count("<circle") == sum(len(one.among_causes) + len(one.among_others) for one in (found.words, found.bigrams))
    assert not re.search(r"https?://|<script|src=", page) and "human labels" in page
    nasty = found.model_copy(update={"source": "<b>x", "origin": "silver", "words": found.words.model_copy(
        update={"frequent": (Term(text="<i>", cause=1, other=0),)})})  # fmt: skip
    page = described_page.page(nasty)
    assert "<b>x" not in page and "<i>" not in page and "silver labels" in page
    assert "No turn carries causes" in described_page.page(describe(pair("a")))


def test_the_command_line(tmp_path: Path) -> None:
    def run(*given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "empathia", "corpus", *given], capture_output=True, text=True, cwd=tmp_path)

    reply = {"role": "b", "content": "So sorry.", "labels": {"causes": [{"turn": 0, "start": 0, "end": 12}]}}
    line = {"id": "c", "messages": [{"role": "a", "content": POST}, reply]}
    (tmp_path / "chats.jsonl").write_text(json.dumps(line) + "\nnot json\n", encoding="utf-8")
    (tmp_path / "pairs.csv").write_text(f'post,reply\n"{POST}",So sorry.\n', encoding="utf-8")
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    done = run("chats.jsonl", "--json", "--report", "r.html", "--topics", "0", "--top", "2")
    told = json.loads(done.stdout)
    assert (told["origin"], told["cause"], told["other"], len(told["words"]["frequent"])) == ("human", 1, 2, 2)
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8") and "1 set aside" in done.stderr
    assert "No turn carries causes" in " ".join(run("pairs.csv").stdout.split())
    for bad_words, says in (
        (["empty.jsonl"], "is empty"),
        (["nothing.jsonl"], "There is no file"),
        (["chats.jsonl", "--role", "x"], "Known: a, b"),
    ):
        bad = run(*bad_words)
        assert bad.returncode == 1 and says in bad.stderr and "Traceback" not in bad.stderr


def test_the_real_corpora(data: Path) -> None:
    found = corpus.describe(labelled.opened("epitome_causes", data=data), topics=0)
    assert found.origin == "silver" and (found.dialogues, found.turns) == (1166, 1157) and found.cause + found.other == 5257
    assert found.words.among_causes[0].text == "feel"
    length = measure(found, "words")
    assert (length.cause.mean or 0) > (length.other.mean or 0)
    assert corpus.describe(labelled.opened("reccon", data=data), topics=0).origin == "human"
