"""What the sentences of a corpus are like: those that caused empathy (or an emotion) against the others around them.

Compared are the sentences of the turns that labelled replies answer, and of the turns in which their causes stand. A sentence
counts once, however many replies answer it, and as a cause if one of them was caused by some word of it. Without any cause,
all sentences are described together. Intervals and z take sentences and words as independent, which those of one text are not
quite.
"""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from empathia import lexicons
from empathia.errors import InputError, MissingExtra, UnknownName
from empathia.findings import Bin, Described, Measure, Side, Term, Terms, Topic
from empathia.labelled import Labelled
from empathia.schema import NOT_PARTICIPANTS, Cause, Dialogue, Problem, Span, Turn
from empathia.segment import sentences_of
from empathia.words import bigrams, content, log_odds, words

CAUSES = "causes"
NEUTRAL = 0.05  # up to where VADER's authors call a text neutral
LENGTHS = {"1–5": 5, "6–10": 10, "11–15": 15, "16–20": 20, "21–30": 30, "over 30": math.inf}  # noqa: RUF001
PLACES = {"first third": 1 / 3, "middle": 2 / 3, "last third": math.inf}
FEELINGS = {"negative": -NEUTRAL, "neutral": math.nextafter(NEUTRAL, 0), "positive": math.inf}
LEAST = 5  # times that a word must come to be compared
WATCHED = 500  # sentences or turns between two signs of life

Watch = Callable[[str], None]


@dataclass(frozen=True)
class Sentence:
    """A sentence of a turn; `place` runs from 0 (the first) to 1 (the last), and is nothing for the only one."""

    text: str
    words: tuple[str, ...]
    cause: bool
    place: float | None
    group: str


@dataclass
class _Read:
    """A turn as it was read, with the causes that replies found in it; `compared` where it was theirs to find them in."""

    turn: Turn
    group: str
    causes: list[Cause] = field(default_factory=list)
    compared: bool = False


@dataclass
class _Corpus:
    turns: dict[tuple[str, int, str], _Read] = field(default_factory=dict)
    dialogues: int = 0
    labelled: int = 0
    roles: set[str] = field(default_factory=set)


def describe(source: Labelled, *, topics: int = 5, top: int = 15, role: str | None = None, watch: Watch = lambda _: None) -> Described:
    """Words, pairs of words, emotions, measures and topics of cause sentences and of the others.

    With a role, only turns of that participant count. `watch` is told now and then what is being done.
    """
    read = _read(source, watch)
    if role is not None and role not in read.roles:
        raise UnknownName("role", role, read.roles)
    turns = [one for one in read.turns.values() if role in (None, one.turn.role)]
    origin = source.origin(CAUSES) if any(one.causes for one in turns) else None
    turns = [one for one in turns if one.compared or origin is None]
    found = list(_sentences(turns, watch))
    if not found:
        raise InputError(f"{source.name} holds no sentence to describe: it should hold conversations with text.")
    left_out: dict[str, str] = {}
    return Described(
        source=source.name,
        origin=origin,
        dialogues=read.dialogues,
        turns=len(turns),
        labelled=read.labelled,
        cause=sum(one.cause for one in found),
        other=sum(not one.cause for one in found),
        words=_terms(found, words=True, top=top),
        bigrams=_terms(found, words=False, top=top),
        emotions=_emotions(found, left_out),
        measures=(*_shapes(found), *_sentiment(found, left_out, watch)),
        topics=_topics(found, topics, left_out, watch),
        left_out=left_out,
    )


def _read(source: Labelled, watch: Watch) -> _Corpus:
    found = _Corpus()
    for dialogue in source.dialogues():
        group = dialogue.group or dialogue.id
        here = [found.turns.setdefault((group, i, turn.content), _Read(turn, group)) for i, turn in enumerate(dialogue.turns)]
        found.roles |= {turn.role for turn in dialogue.turns}
        found.dialogues += 1
        for index, causes in _labelled(dialogue):
            if not all(_inside(cause, dialogue) for cause in causes):
                reason = f"a cause of turn {index} does not stand in the text: turns and characters are counted from 0"
                source.aside.append(Problem(place=f"conversation {dialogue.id}", reason=reason))
                continue
            found.labelled += 1
            for at in {*dialogue.answered(index), *(cause.turn for cause in causes)}:
                here[at].compared = True
                here[at].causes += [cause for cause in causes if cause.turn == at]
        if found.dialogues % WATCHED == 0:
            watch(f"{found.dialogues:,} conversations read")
    return found


def _labelled(dialogue: Dialogue) -> Iterator[tuple[int, list[Cause]]]:
    """The replies that were asked for their causes, and what these are, if any."""
    for index, turn in enumerate(dialogue.turns):
        label = turn.labels.get(CAUSES)
        if isinstance(label, tuple):
            yield index, [one for one in label if isinstance(one, Cause)]


def _inside(cause: Cause, dialogue: Dialogue) -> bool:
    return 0 <= cause.turn < len(dialogue.turns) and 0 <= cause.start < cause.end <= len(dialogue.turns[cause.turn].content)


def _sentences(turns: Sequence[_Read], watch: Watch) -> Iterator[Sentence]:
    for number, one in enumerate(turns):
        if number % WATCHED == 0:
            watch(f"{number:,} of {len(turns):,} turns cut into sentences")
        if one.turn.role in NOT_PARTICIPANTS:
            continue
        text, spans = one.turn.content, sentences_of(one.turn)
        for rank, span in enumerate(spans):
            yield Sentence(
                text=text[span.start : span.end],
                words=tuple(words(text[span.start : span.end])),
                cause=any(_share_a_word(text, span, cause) for cause in one.causes),
                place=rank / (len(spans) - 1) if len(spans) > 1 else None,
                group=one.group,
            )


def _share_a_word(text: str, one: Span, other: Span) -> bool:
    return any(map(str.isalnum, text[max(one.start, other.start) : min(one.end, other.end)]))


def _terms(found: Sequence[Sentence], *, words: bool, top: int) -> Terms:
    """The words, or pairs of words, that stand out on each side, and the most frequent among causes (or in all)."""
    cause, other = Counter[str](), Counter[str]()
    of = [0, 0]
    for one in found:
        some = content(one.words) if words else bigrams(one.words)
        (cause if one.cause else other).update(some)
        of[not one.cause] += len(one.words) if words else len(some)
    names = sorted(cause.keys() | other.keys())
    tests = sum(cause[name] + other[name] >= LEAST for name in names)
    terms = [_term(name, cause[name], other[name], of=(of[0], of[1]), tests=tests) for name in names]
    often = [one for one in terms if one.cause + one.other >= LEAST]
    return Terms(
        cause=of[0],
        other=of[1],
        among_causes=_first(often, top, lambda one: one.z or 0),
        among_others=_first(often, top, lambda one: -(one.z or 0)),
        frequent=_first(terms, top, lambda one: one.cause if of[0] else one.other),
    )


def _first(terms: Iterable[Term], top: int, value: Callable[[Term], float]) -> tuple[Term, ...]:
    return tuple(sorted((one for one in terms if value(one) > 0), key=lambda one: (-value(one), one.text))[:top])


def _term(name: str, cause: int, other: int, *, of: tuple[int, int], tests: int) -> Term:
    ratio, error = log_odds(cause, other, of=of) if cause + other and all(of) else (0.0, math.inf)
    if math.isinf(error):
        return Term(text=name, cause=cause, other=other)
    low, high = math.exp(ratio - 1.96 * error), math.exp(ratio + 1.96 * error)
    p = min(1.0, tests * math.erfc(abs(ratio / error) / math.sqrt(2)))
    return Term(text=name, cause=cause, other=other, times=math.exp(ratio), low=low, high=high, z=ratio / error, p=p)


def _emotions(found: Sequence[Sentence], left_out: dict[str, str]) -> tuple[Term, ...]:
    """How many words go with each emotion, out of all words."""
    try:
        lexicon = lexicons.emotions()
    except ModuleNotFoundError:
        left_out["emotions"] = str(MissingExtra("This part", "corpus"))
        return ()
    counts, of = Counter[tuple[bool, str]](), Counter[bool]()
    for one in found:
        of[one.cause] += len(one.words)
        counts.update((one.cause, name) for word in one.words for name in lexicon.get(word, ()))
    names = lexicons.EMOTIONS
    return tuple(_term(name, counts[True, name], counts[False, name], of=(of[True], of[False]), tests=len(names)) for name in names)


def _shapes(found: Sequence[Sentence]) -> Iterator[Measure]:
    yield _measure("words", [(one.cause, float(len(one.words))) for one in found], LENGTHS)
    placed = [(one.cause, one.place) for one in found if one.place is not None]
    if any(cause for cause, _ in placed):  # all sentences together stand everywhere
        yield _measure("place", placed, PLACES)


def _sentiment(found: Sequence[Sentence], left_out: dict[str, str], watch: Watch) -> Iterator[Measure]:
    try:
        score = lexicons.sentiment()
    except ModuleNotFoundError:
        left_out["sentiment"] = str(MissingExtra("This part", "corpus"))
        return
    watch("sentiment")
    yield _measure("sentiment", [(one.cause, score(one.text)) for one in found], FEELINGS)


def _measure(name: str, values: Sequence[tuple[bool, float]], limits: Mapping[str, float]) -> Measure:
    bins = Counter((cause, next(label for label, limit in limits.items() if value <= limit)) for cause, value in values)
    return Measure(
        name=name,
        cause=_side([value for cause, value in values if cause]),
        other=_side([value for cause, value in values if not cause]),
        bins=tuple(Bin(label=label, cause=bins[True, label], other=bins[False, label]) for label in limits),
    )


def _side(values: Sequence[float]) -> Side:
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return Side(rows=len(values), mean=statistics.fmean(values) if values else None, error=error)


def _topics(found: Sequence[Sentence], count: int, left_out: dict[str, str], watch: Watch) -> tuple[Topic, ...]:
    if not count:
        return ()
    try:
        from empathia.topics import topics
    except ModuleNotFoundError:
        left_out["topics"] = str(MissingExtra("This part", "corpus"))
        return ()
    watch("topics")
    texts = [content(one.words) for one in found]
    documents: dict[str, list[str]] = {}
    for one, text in zip(found, texts, strict=True):
        documents.setdefault(one.group, []).extend(text)
    made = topics(list(documents.values()), texts, count=count)
    if made is None:
        left_out["topics"] = f"There are too few words for {count} topics: ask for fewer with --topics, or give more conversations."
        return ()
    sides = [made.words[[one.cause is side for one in found]].sum(axis=0) for side in (True, False)]
    cause, other = ([float(part / side.sum()) if side.sum() else None for part in side] for side in sides)
    rows = [Topic(words=name, cause=cause[at], other=other[at]) for at, name in enumerate(made.names)]
    return tuple(sorted(rows, key=_lean))


def _lean(topic: Topic) -> tuple[float, tuple[str, ...]]:
    """What topics are ordered by: those of causes first; without causes, the largest."""
    return (topic.other or 0) - (topic.cause or 0) if topic.cause is not None else -(topic.other or 0), topic.words
