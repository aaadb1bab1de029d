"""Every reader on lines written for the test, contracts over all of them, and the counts of the real corpora where they are."""

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora_samples import MESSAGES, SAMPLES, write_parquet

from empathia import corpora, parts
from empathia.corpora import Found
from empathia.errors import InputError, UnknownName
from empathia.schema import Cause, Dialogue, Graded, Inference, Problem, SystemReply, Turn


@pytest.fixture
def sample(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The sample of the reader that the test names: its folder, or its file for the formats of single files."""
    name: str = request.param
    folder = SAMPLES[name].write(tmp_path / (corpora.card(name).folder or "given"))
    if name == "parquet":
        write_parquet([MESSAGES, MESSAGES | {"id": "c2"}], folder / "chats.parquet")
    if corpora.card(name).kind == "corpus" or name == "convokit":
        return folder
    return next(folder.iterdir())


def sampled(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("sample", [name], indirect=True)


def records(name: str, path: Path) -> list[Found]:
    return [found for found in corpora.read(name, path) if not isinstance(found, Problem)]


def read_dialogues(name: str, path: Path) -> list[Dialogue]:
    return [found for found in corpora.read(name, path) if isinstance(found, Dialogue)]


def causes(turn: Turn) -> list[Cause]:
    found = turn.labels.get("causes", ())
    assert isinstance(found, tuple)
    return [cause for cause in found if isinstance(cause, Cause)]


def problems(name: str, path: Path) -> Counter[str]:
    return Counter(found.reason for found in corpora.read(name, path) if isinstance(found, Problem))


every_reader = pytest.mark.parametrize("sample, name", [(name, name) for name in corpora.names()], indirect=["sample"])


def test_every_reader_has_a_sample() -> None:
    assert set(SAMPLES) == set(corpora.names())


@every_reader
def test_reads_its_sample(name: str, sample: Path) -> None:
    assert len(records(name, sample)) == SAMPLES[name].records


@every_reader
def test_is_lazy_and_repeatable(name: str, sample: Path) -> None:
    found = corpora.read(name, sample)
    assert isinstance(found, Iterator)
    assert list(found) == list(corpora.read(name, sample))


@every_reader
def test_records_are_sound(name: str, sample: Path) -> None:
    found = read_dialogues(name, sample)
    assert all(dialogue.turns and dialogue.group and all(turn.role for turn in dialogue.turns) for dialogue in found)
    if corpora.card(name).kind == "corpus":
        assert len({dialogue.id for dialogue in found}) == len(found)
    for dialogue in found:
        for turn in dialogue.turns:
            assert all(0 <= cause.start < cause.end <= len(dialogue.turns[cause.turn].content) for cause in causes(turn))
        assert Dialogue.model_validate_json(dialogue.model_dump_json()).model_dump_json() == dialogue.model_dump_json()


@pytest.mark.parametrize("name", corpora.names())
def test_says_what_it_is(name: str) -> None:
    module, card = parts.load("corpora", name), corpora.card(name)
    doc = inspect.getdoc(module) or ""
    assert "Layout: " in doc and "icence" in doc and "itation" in doc
    assert card.title and card.licence and card.source
    assert (card.kind == "corpus") == bool(card.folder and card.files)
    assert card.silver == ("silver" in card.title)


def test_unknown_names_are_corrected() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'esconv'"):
        corpora.read("escon", Path())


@pytest.mark.parametrize("name", corpora.names("corpus"))
def test_a_missing_corpus_says_what_it_needs(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(next(iter(corpora.card(name).files)))):
        list(corpora.read(name, tmp_path))


@pytest.mark.parametrize("name", corpora.names("corpus"))
@pytest.mark.parametrize("junk", [b"\xff\xfe\x00", b"", b"{}\n[1]\nnull\n", b"a,b\n1,2\n", b'"\n', b"emotion:x\n?\n[" + b"[" * 5000])
def test_junk_is_never_a_crash(name: str, junk: bytes, tmp_path: Path) -> None:
    for file in corpora.card(name).files:
        (tmp_path / file).write_bytes(junk)
    try:
        found = list(corpora.read(name, tmp_path))
    except InputError:
        return
    assert all(isinstance(one, Problem) for one in found) or name in ("empathetic_intents",)


@sampled("epitome")
def test_epitome(sample: Path) -> None:
    first, _ = read_dialogues("epitome", sample)
    reply = first.turns[1]
    warm, asks = reply.labels["emotional_reactions"], reply.labels["explorations"]
    assert isinstance(warm, Graded) and isinstance(asks, Graded)
    assert [reply.content[s.start : s.end] for s in warm.rationales] == ["Sorry to hear."]
    assert [reply.content[s.start : s.end] for s in asks.rationales] == ["Where did you &gt; look?"]
    assert problems("epitome", sample) == {"a rationale does not stand in the response": 1}
    (sample / "explorations-reddit.csv").write_text("sp_id,rp_id,seeker_post,response_post,level,rationales\nq,q,a,b,0,\n")
    assert sum(problems("epitome", sample).values()) == 2
    (sample / "explorations-reddit.csv").unlink()
    with pytest.raises(InputError, match="missing beside the other files"):
        records("epitome", sample)


@sampled("epitome_causes")
def test_epitome_causes(sample: Path) -> None:
    (pair,) = read_dialogues("epitome_causes", sample)
    (cause,) = causes(pair.turns[1])
    assert pair.turns[cause.turn].content[cause.start : cause.end] == "My cat ran away."
    assert [pair.turns[0].content[s.start : s.end] for s in pair.turns[0].metadata["sentences"]] == ["Hello all.", "My cat ran away."]


@sampled("esconv")
def test_esconv(sample: Path) -> None:
    kept, failed = read_dialogues("esconv", sample)
    assert [turn.role for turn in kept.turns] == [turn.role for turn in failed.turns] == ["seeker", "supporter"]
    assert kept.labels == {"seeker_initial_emotion_intensity": 4, "seeker_empathy": 5, "supporter_relevance": 3}
    assert kept.metadata["split"] == "train" and kept.turns[0].content == "I cannot sleep."
    assert failed.turns[0].labels == {"feedback": 2}
    assert failed.turns[1].labels["strategies"] == ("Providing Suggestions",)
    assert failed.turns[1].metadata["strategy"] == "Direct Guidance"


@sampled("empatheticdialogues")
def test_empatheticdialogues(sample: Path) -> None:
    first, *_ = found = read_dialogues("empatheticdialogues", sample)
    assert [turn.content for turn in first.turns] == ['I "baked, bread', "How nice!"]
    assert first.labels == {"emotion": "proud"} and first.metadata == {"split": "train", "situation": "baking, bread"}
    assert [dialogue.metadata["split"] for dialogue in found] == ["train", "train", "valid", "test"]
    assert problems("empatheticdialogues", sample) == {"4 fields instead of 8: the turn is left out of its dialogue": 1}
    assert len(read_dialogues("empatheticdialogues", sample / "test.csv")) == 1


@sampled("comet_contexts")
def test_comet_contexts(sample: Path) -> None:
    (context,) = read_dialogues("comet_contexts", sample)
    assert [turn.role for turn in context.turns] == ["speaker", "listener"] * 2
    assert context.metadata["inferences"]["xReact"] == ("happy", "full")


@sampled("peers")
def test_peers(sample: Path) -> None:
    found = [reply for reply in records("peers", sample) if isinstance(reply, SystemReply)]
    by_system = {reply.system: reply for reply in found}
    assert (
        len(by_system) == 9 and {reply.reference for reply in found} == {"well done ."} and {reply.emotion for reply in found} == {"proud"}
    )
    assert by_system["MIME"].reply == by_system["CEM"].reply == "z" and by_system["MIME"].metadata["beam"] == "y"
    assert by_system["MIME"].metadata["predicted_emotion"] == "sad"
    assert by_system["MoEL with the true emotion"].reply == "d" and by_system["MoEL"].metadata["item"] == 2
    assert not problems("peers", sample)


@sampled("reccon")
def test_reccon(sample: Path) -> None:
    first, *_ = read_dialogues("reccon", sample / "dailydialog_train.json")
    assert first.turns[0].labels["emotion"] == "happiness" and "causes" not in first.turns[1].labels
    (cause,) = causes(first.turns[0])
    assert first.turns[cause.turn].content[cause.start : cause.end] == "won the cup"
    assert problems("reccon", sample)["a cause outside the text (evidence b) is dropped"] == 3


@sampled("event2mind")
def test_event2mind(sample: Path) -> None:
    found = records("event2mind", sample / "dev.csv")
    assert [(i.relation, i.tail) for i in found if isinstance(i, Inference)] == [
        ("xIntent", "to eat"),
        ("xIntent", "fun"),
        ("xReact", "proud"),
    ]


@sampled("cskb")
def test_cskb(sample: Path) -> None:
    assert [i.plausible for i in records("cskb", sample) if isinstance(i, Inference)] == [True, False]


@sampled("atomic2020")
def test_atomic2020(sample: Path) -> None:
    found = [(i.relation, i.tail) for i in records("atomic2020", sample) if isinstance(i, Inference)]
    assert found == [("xWant", "to eat it"), ("xReact", "proud"), ("xNeed", "to buy flour"), ("xNeed", "none")]


@sampled("edos")
def test_edos(sample: Path) -> None:
    found = read_dialogues("edos", sample)
    assert [dict(dialogue.turns[-1].labels) for dialogue in found] == [{"emotion": "surprised"}, {"response_intent": "Agreeing"}, {}, {}]
    assert [turn.role for turn in found[0].turns] == ["A", "B"] and not found[0].turns[0].labels
    assert sum(problems("edos", sample).values()) == 1


@sampled("empathetic_exchanges")
def test_empathetic_exchanges(sample: Path) -> None:
    found = read_dialogues("empathetic_exchanges", sample)
    assert [dialogue.id for dialogue in found] == ["c1", "c2", "c1#2"] and found[2].group == "c1"
    assert [(turn.role, turn.labels["empathy"]) for turn in found[0].turns] == [("speaker", 2), ("listener", 5)]


@sampled("care")
def test_care(sample: Path) -> None:
    (target,) = read_dialogues("care", sample)
    assert target.turns[1].labels["service"] == ("express_apology", "ask_details") and target.turns[1].labels["sympathy"] == 4
    assert not target.turns[0].labels and target.labels == {"satisfaction": 3} and target.group == "x"


@sampled("iempathize")
def test_iempathize(sample: Path) -> None:
    found = read_dialogues("iempathize", sample)
    assert [dict(d.turns[0].labels) for d in found] == [{"direction": "seek", "intent": "Negative"}, {"direction": "provide"}]
    assert sum(problems("iempathize", sample).values()) == 1


@sampled("empathic_reactions")
def test_empathic_reactions(sample: Path) -> None:
    (message,) = read_dialogues("empathic_reactions", sample)
    assert message.turns[0].labels == {"empathy": 5.667, "distress": 1.0} and message.group == "12"


def test_check_counts_what_is_there(tmp_path: Path) -> None:
    for name in ("esconv", "peers", "epitome", "empatheticdialogues"):
        SAMPLES[name].write(tmp_path / corpora.card(name).folder)
    (tmp_path / "esconv" / "FailedESConv.json").unlink()
    (tmp_path / "epitome" / "explorations-reddit.csv").write_text("nothing,here\n")
    checked = {(one.corpus, one.file): one for one in corpora.check(tmp_path)}
    assert (checked["esconv", "ESConv.json"].found, checked["esconv", "ESConv.json"].expected) == (1, 1300)
    assert checked["esconv", "FailedESConv.json"].missing
    assert checked["peers", "MoEL.txt"].found == 8
    assert checked["empatheticdialogues", "train.csv"].skipped == {"4 fields instead of 8: the turn is left out of its dialogue": 1}
    assert "lacks the columns" in next(iter(checked["epitome", "emotional-reactions-reddit.csv"].skipped))
    assert [one.found for one in corpora.check(tmp_path / "esconv") if not one.missing] == [1]
    with pytest.raises(InputError, match="No corpus found"):
        list(corpora.check(tmp_path / "nowhere"))


COUNTS = {
    "iempathize": 4508,
    "epitome": 2782,
    "epitome_causes": 1166,
    "comet_contexts": 5255,
    "cskb": 31731,
    "edos": 10245,
    "empathetic_intents": 506,
    "empathic_reactions": 1701,
    "care": 753,
    "probe": 2000,
}


@pytest.mark.parametrize("name, count", COUNTS.items())
def test_real_counts(name: str, count: int, data: Path) -> None:
    found = list(corpora.read(name, data / corpora.card(name).folder))
    assert sum(not isinstance(one, Problem) for one in found) == count
    assert not [one for one in found if isinstance(one, Problem) and one.kind == "skipped"]


def test_real_dialogues(data: Path) -> None:
    assert Counter(dialogue.id.split("-")[0] for dialogue in corpora.dialogues("esconv", data)) == {"ESConv": 1183, "FailedESConv": 183}
    told = Counter(dialogue.metadata["split"] for dialogue in corpora.dialogues("empatheticdialogues", data))
    assert told == {"train": 19553, "valid": 2762, "test": 2027}
    assert sum(len(dialogue.turns) for dialogue in corpora.dialogues("empathetic_exchanges", data)) == 1573


def test_real_causes(data: Path) -> None:
    found = corpora.dialogues("reccon", data)
    assert Counter(dialogue.metadata["split"] for dialogue in found) == {"train": 834, "valid": 47, "test": 186}
    emotions = {turn.labels["emotion"] for dialogue in found for turn in dialogue.turns}
    assert emotions == {"anger", "disgust", "fear", "happiness", "neutral", "sadness", "surprise"}
    for dialogue in [*found, *corpora.dialogues("epitome_causes", data)]:
        for turn in dialogue.turns:
            assert all(dialogue.turns[cause.turn].content[cause.start : cause.end].strip() for cause in causes(turn))


def test_real_knowledge(data: Path) -> None:
    queries = {
        name: {(i.head, i.relation) for i in corpora.read(name, data / "atomic2020") if isinstance(i, Inference)}
        for name in ("atomic2020", "comet_bart")
    }
    assert len(queries["atomic2020"]) == 5000 and queries["atomic2020"] == queries["comet_bart"]
    minds = [i.metadata for i in corpora.read("event2mind", data / "event2mind") if isinstance(i, Inference)]
    assert len({(about["split"], about["row"]) for about in minds}) == 57094
    assert sum(bool(i.plausible) for i in corpora.read("cskb", data / "cskb") if isinstance(i, Inference)) == 16376


def test_real_peers(data: Path) -> None:
    found = Counter(r.system if isinstance(r, SystemReply) else "" for r in corpora.read("peers", data / "empatheticdialogues" / "peers"))
    assert found.pop("Transformer") == found.pop("EmpDG") == 2713
    assert set(found.values()) == {5255} and len(found) == 7


def test_real_folder_is_whole(data: Path) -> None:
    checked = list(corpora.check(data / "esconv"))
    assert [(one.file, one.found, one.missing) for one in checked] == [("ESConv.json", 1183, False), ("FailedESConv.json", 183, False)]
