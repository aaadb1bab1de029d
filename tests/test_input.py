"""The border: what users bring, in every format, good and bad; the text of a message never stands in a problem's reason."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora_samples import MESSAGES, SAMPLES, lines, write_parquet
from hypothesis import given, settings
from hypothesis import strategies as st

from empathia import corpora
from empathia.corpora._json import CHUNK, items
from empathia.errors import InputError, MissingExtra
from empathia.schema import Dialogue, Problem

SECRET = "SECRET-WORDS"
GOOD = json.dumps(MESSAGES)
REPLY = {"role": "b", "content": "Yes."}


def opened(path: Path, format: str | None = None) -> tuple[list[Dialogue], list[Problem]]:  # noqa: A002
    found = list(corpora.open_dialogues(path, format))
    return [one for one in found if isinstance(one, Dialogue)], [one for one in found if isinstance(one, Problem)]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return folder / name


def said(*messages: object) -> str:
    return json.dumps({"messages": messages})


BAD = {
    "not JSON": (f'{{"id": "{SECRET}', "not JSON"),
    "not an object": (f'"{SECRET}"', "not an object"),
    "null": ("null", "not an object"),
    "no messages": (json.dumps({"chat": [], f"{SECRET} and more": 1}), "no `messages` (keys here: chat)"),
    "messages not a list": (json.dumps({"messages": SECRET}), "not a list"),
    "empty list": (said(), "is empty"),
    "message not an object": (said(SECRET), "message 1 is not an object"),
    "no role": (said(REPLY, {"content": SECRET}), "message 2 has no `role`"),
    "blank role": (said(REPLY, {"role": " ", "content": SECRET}), "message 2 has no `role`"),
    "no content": (said(REPLY, {"role": "a"}), "message 2 has no `content`"),
    "null content": (said({"role": "a", "content": None}), "message 1 has no `content`"),
    "number": (said({"role": "a", "content": 5}), "not text but int"),
    "not a number": ('{"messages": [{"role": "a", "content": NaN}]}', "not text but float"),
    "image": (said({"role": "a", "content": [{"type": "image_url", "image_url": SECRET}]}), "part that is not text"),
    "no parts": (said({"role": "a", "content": []}), "message 1 is empty"),
    "white space": (said(REPLY, {"role": "a", "content": " \n\t "}), "message 2 is empty"),
    "NUL": (said({"role": "a", "content": f"{SECRET}\0"}), "message 1 has a NUL"),
    "lone surrogate": (said(REPLY, {"role": "a", "content": f"{SECRET}\ud800"}), "message 2 has a character that is no text"),
    "surrogate in role": (said({"role": "\udc00", "content": "x"}), "`role` of message 1"),
    "only a system": (said({"role": "system", "content": SECRET}), "no message of a participant"),
    "id is a list": (json.dumps(MESSAGES | {"id": [SECRET]}), "`id` is neither"),
    "id is true": (json.dumps(MESSAGES | {"id": True}), "`id` is neither"),
    "infinite metadata": ('{"k": 1e999, "messages": [{"role": "a", "content": "x"}]}', "not finite"),
    "surrogate in metadata": (said({"role": "a", "content": "x", "k": "\ud800"}), "further key of message 1"),
    "too deep": ("[" * 100_000, "not JSON"),
    "too long a number": ("9" * 5000, "not JSON"),
    "UTF-16": (GOOD.encode("utf-16-le"), "not JSON"),
    "cp1252": (b'{"messages": [{"role": "a", "content": "caf\xe9 SECRET-WORDS"}]}', "iconv"),
}


@pytest.mark.parametrize("line, reason", BAD.values(), ids=BAD)
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_bad_line_is_named_and_the_others_go_on(line: str | bytes, reason: str, at: int, tmp_path: Path) -> None:
    chats = [json.dumps(MESSAGES | {"id": str(number)}).encode() for number in (8, 9)]
    chats.insert(at - 1, line if isinstance(line, bytes) else line.encode())
    dialogues, (problem,) = opened(written(tmp_path, "chats.jsonl", b"\n".join(chats) + b"\n"), "messages")
    assert [dialogue.id for dialogue in dialogues] == ["8", "9"]
    assert problem.place == f"chats.jsonl:{at}" and problem.kind == "skipped"
    assert reason in problem.reason and SECRET not in problem.reason


OUTSIDE = (
    "not JSON",
    "not an object",
    "null",
    "no messages",
    "id is a list",
    "id is true",
    "infinite metadata",
    "too deep",
    "too long a number",
)
INSIDE = {name: line for name, (line, _) in BAD.items() if isinstance(line, str) and name not in OUTSIDE}


@pytest.mark.parametrize("line", INSIDE.values(), ids=INSIDE)
def test_the_library_refuses_the_same(line: str) -> None:
    with pytest.raises(InputError) as error:
        corpora.dialogue(json.loads(line)["messages"], "c")
    assert SECRET not in str(error.value)


def test_what_is_accepted(tmp_path: Path) -> None:
    long = "word " * 20_000
    path = written(
        tmp_path,
        "chats.jsonl",
        "\ufeff"
        + lines(
            {"messages": [{"role": "a", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}, REPLY]},
            {
                "messages": [
                    {"role": "a", "content": "call", "n": {"x": [1]}},
                    {"role": "b", "content": None, "tool_calls": [{"id": "t"}]},
                ],
                "k": 1,
            },
            [{"role": "a", "content": long}, {"role": "b", "content": "🙂 👩‍👩‍👧"}],
            {"id": 5, "messages": [{"role": "system", "content": ""}, {"role": "a", "content": "x"}, REPLY]},
        )
        + "\r\n\n"
        + GOOD,
    )
    dialogues, problems = opened(path)
    assert not problems and [dialogue.id for dialogue in dialogues] == ["1", "2", "3", "5", "c1"]
    assert dialogues[0].turns[0].content == "one\ntwo"
    assert dialogues[1].turns[0].metadata == {"n": {"x": [1]}} and dialogues[1].metadata == {"k": 1} and dialogues[1].turns[1].content == ""
    assert len(dialogues[2].turns[0].content) == 100_000


def test_notes_do_not_hold_a_conversation_back(tmp_path: Path) -> None:
    alone = {"id": "z", "messages": [{"role": "a", "content": "x"}, {"role": "system", "content": "y"}]}
    dialogues, problems = opened(written(tmp_path, "chats.jsonl", lines(MESSAGES, MESSAGES, alone)))
    assert len(dialogues) == 3 and {problem.kind for problem in problems} == {"note"}
    assert [problem.place for problem in problems] == ["chats.jsonl:2", "chats.jsonl:3"]
    assert "id came before" in problems[0].reason and "only one participant" in problems[1].reason


def test_a_stream_of_lines() -> None:
    for stream in ([GOOD + "\n", "oops\n"], [GOOD.encode() + b"\n", b"\xff\n"]):
        one, problem = corpora.open_dialogues(stream)
        assert isinstance(one, Dialogue) and isinstance(problem, Problem) and problem.place == "stdin:2"
    with pytest.raises(InputError, match="JSON lines"):
        list(corpora.open_dialogues([GOOD], "turns_csv"))


def test_a_huge_file_is_not_held_in_memory() -> None:
    def endless() -> Iterator[str]:
        while True:
            yield GOOD

    assert isinstance(next(corpora.open_dialogues(endless())), Dialogue)


ARRAYS: dict[str, tuple[Any, int]] = {
    "conversations": ([MESSAGES, MESSAGES | {"id": "c2"}], 2),
    "bare messages": (MESSAGES["messages"], 1),
    "bare conversations": ([MESSAGES["messages"], MESSAGES["messages"]], 2),
    "one object": (MESSAGES, 1),
}


@pytest.mark.parametrize("value, count", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("indent", [None, 0, 2])
def test_json_files(value: Any, count: int, indent: int | None, tmp_path: Path) -> None:
    path = written(tmp_path, "chats.json", json.dumps(value, indent=indent))
    assert corpora.sniff(path) == "messages"
    dialogues, problems = opened(path)
    assert len(dialogues) == count and not problems


@pytest.mark.parametrize("broken", ["oops", '{"id": "x', '{"id": "x",', "[", '{"messages": ['])
def test_a_broken_start_does_not_hide_the_rest(broken: str, tmp_path: Path) -> None:
    dialogues, problems = opened(written(tmp_path, "chats.jsonl", f"{broken}\n{GOOD}\noops\n{GOOD}\n"))
    assert len(dialogues) == 2 or broken == "["
    assert all(problem.place for problem in problems)


def test_one_conversation_over_several_lines(tmp_path: Path) -> None:
    opening, closing = '{"id": "c", "messages": [\n', "]}\n"
    body = ",\n".join(f"  {json.dumps(message)}" for message in MESSAGES["messages"])
    assert len(opened(written(tmp_path, "chat.json", opening + body + closing))[0]) == 1


def test_json_lines_in_a_json_file(tmp_path: Path) -> None:
    assert len(opened(written(tmp_path, "chats.json", lines(MESSAGES, MESSAGES | {"id": "d"})))[0]) == 2


def test_a_long_array_is_read_in_pieces(tmp_path: Path) -> None:
    long = {"messages": [{"role": "a", "content": "x" * (CHUNK + 5)}, REPLY]}
    path = written(tmp_path, "long.json", json.dumps([MESSAGES, long, MESSAGES | {"id": "c2"}]))
    assert [len(dialogue.turns[0].content) for dialogue in opened(path)[0]] == [15, CHUNK + 5, 15]
    *good, broken = items(written(tmp_path, "cut.json", f"[{GOOD}, {GOOD[:20]}"))
    assert len(good) == 1 and isinstance(broken, Problem) and broken.place == "cut.json item 2"


@pytest.mark.parametrize("name", ["messages", "sharegpt", "turns_csv", "pairs_csv", "labelstudio", "convokit", "results"])
def test_sniffs_every_format(name: str, tmp_path: Path) -> None:
    folder = SAMPLES[name].write(tmp_path / "x")
    path = folder if name == "convokit" else next(folder.iterdir())
    assert corpora.sniff(path) == name
    assert list(corpora.open_dialogues(path)) == list(corpora.read(name, path))


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("empty.jsonl", "", "is empty"),
        ("blank.csv", "\ufeff \n\n", "is empty"),
        ("chats.docx", "x", "none of the extensions"),
        ("wide.jsonl", GOOD.encode("utf-16"), "iconv -f UTF-16"),
        ("odd.csv", f"when,what is it {SECRET}\n1,2\n", r"columns of 'odd.csv' \(when\)"),
        ("fake.parquet", "x", "not a Parquet file"),
    ],
)
def test_files_that_cannot_be_used(name: str, content: str | bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said) as error:
        list(corpora.open_dialogues(written(tmp_path, name, content)))
    assert SECRET not in str(error.value)


def test_paths_that_cannot_be_used(tmp_path: Path) -> None:
    written(tmp_path, "chats.jsonl", GOOD)
    with pytest.raises(InputError, match=r"Did you mean 'chats\.jsonl'"):
        corpora.sniff(tmp_path / "chat.jsonl")
    with pytest.raises(InputError, match="not a ConvoKit corpus"):
        corpora.sniff(tmp_path)
    with pytest.raises(InputError, match="Check the path"):
        corpora.sniff(tmp_path / "no" / "where.csv")
    with pytest.raises(InputError, match="There is no file"):
        list(corpora.open_dialogues(tmp_path / "chat.jsonl", "messages"))
    with pytest.raises(InputError, match="read from one file"):
        list(corpora.open_dialogues(tmp_path, "messages"))
    with pytest.raises(InputError, match="holds no conversations"):
        list(corpora.open_dialogues(SAMPLES["cskb"].write(tmp_path / "c"), "cskb"))
    for name in ("turns_csv", "pairs_csv"):
        with pytest.raises(InputError, match="not a table of"):
            list(corpora.read(name, written(tmp_path, "odd.csv", "a,b\n1,2\n")))


def test_turns_csv(tmp_path: Path) -> None:
    dialogues, problems = opened(next(SAMPLES["turns_csv"].write(tmp_path / "x").iterdir()))
    assert [dialogue.id for dialogue in dialogues] == ["c1", "c2", "c1"]
    assert dialogues[0].turns[0].content == "Hi,\nthere" and dialogues[0].turns[0].metadata == {"mood": "1"}
    assert [(problem.place, problem.kind) for problem in problems] == [("turns.csv:7", "note")] and "sort the rows" in problems[0].reason


def test_pairs_csv(tmp_path: Path) -> None:
    dialogues, problems = opened(next(SAMPLES["pairs_csv"].write(tmp_path / "x").iterdir()))
    assert [(turn.role, turn.content) for turn in dialogues[0].turns] == [("Post", "Bad, bad day"), ("Reply", "Oh")]
    assert dialogues[0].metadata == {"score": "3"} and dialogues[0].id == "1" and not problems


def test_csv_rows_that_cannot_be_read(tmp_path: Path) -> None:
    rows = [
        b"post,reply",
        b"caf\xe9 " + SECRET.encode() + b",x",
        b"a,b,c",
        b'"a"b,c',
        b"good,one",
        b",empty",
        b'"open ' + SECRET.encode(),
        b"x,y",
    ]
    dialogues, problems = opened(written(tmp_path, "p.csv", b"\n".join(rows)))
    assert [dialogue.turns[0].content for dialogue in dialogues] == ["good"]
    assert [problem.place for problem in problems] == [f"p.csv:{line}" for line in (2, 3, 4, 6, 7)]
    for problem, said in zip(problems, ("iconv", "3 fields", "quotes", "message 1 is empty", "quotes"), strict=True):
        assert said in problem.reason and SECRET not in problem.reason


def test_csv_with_long_messages(tmp_path: Path) -> None:
    dialogues, _ = opened(written(tmp_path, "p.csv", f"post,reply\n{'x' * 300_000},y\n"))
    assert len(dialogues[0].turns[0].content) == 300_000


def test_sharegpt_names_its_own_keys(tmp_path: Path) -> None:
    value = [{"conversations": [{"from": "human", "value": "x"}, {"from": "gpt"}]}]
    _, (problem,) = opened(written(tmp_path, "s.json", json.dumps(value)))
    assert "message 2 has no `value`" in problem.reason and problem.place == "s.json item 1"


def test_labelstudio(tmp_path: Path) -> None:
    path = next(SAMPLES["labelstudio"].write(tmp_path / "x").iterdir())
    full, minimal = opened(path)[0]
    assert full.id == "7" and full.turns[0].role == "a" and full.metadata == {"data": {"page": 2}, "annotations": [{"result": []}]}
    assert minimal.metadata == {"annotator": 1, "choice": "good"}
    _, (problem,) = opened(written(tmp_path, "e.json", json.dumps([{"id": 1, "data": {"text": SECRET}}])), "labelstudio")
    assert "no dialogue in the task" in problem.reason


def test_convokit_orders_turns(tmp_path: Path) -> None:
    folder = SAMPLES["convokit"].write(tmp_path / "x")
    chain, timed = opened(folder)[0]
    assert [turn.content for turn in chain.turns] == ["I am tired.", "Me too."] and chain.metadata["meta"] == {"title": "t"}
    assert [turn.content for turn in timed.turns] == ["First.", "Second."]
    forum = [
        {"id": str(n), "conversation_id": "0", "speaker": "ab"[n % 2], "text": str(n), "reply-to": up}
        for n, up in ((0, None), (2, "0"), (1, "0"))
    ]
    written(folder, "utterances.jsonl", lines(*forum, {"id": "9"}) + "oops\n")
    (threaded,), problems = opened(folder)
    assert [turn.content for turn in threaded.turns] == ["0", "2", "1"]
    assert [problem.place for problem in problems] == ["utterances.jsonl:4", "utterances.jsonl:5"]


@pytest.mark.parametrize(
    "rows",
    [
        [MESSAGES, {"id": "c2", "messages": [{"role": "a", "content": "x"}, REPLY]}],
        [{"id": "s", "conversations": [{"from": "a", "value": "x"}, {"from": "b", "value": "y"}]}] * 2,
        [{"conv_id": c, "speaker": who, "text": "x", "score": float("nan")} for c in (1, 2) for who in "ab"],
        [{"question": "x", "answer": "y"}] * 2,
    ],
)
def test_parquet(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    dialogues, problems = opened(write_parquet(rows, tmp_path / "t.parquet"))
    assert len(dialogues) == 2 and all(problem.kind == "note" for problem in problems)


def test_parquet_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"empathia\[parquet\]"):
        list(corpora.open_dialogues(written(tmp_path, "t.parquet", "x")))


text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip)
kept = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | text, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=4
)
message = st.builds(
    lambda role, content, more: more | {"role": role, "content": content}, text, text, st.dictionaries(text, kept, max_size=2)
)
conversation = st.fixed_dictionaries({"id": text, "messages": st.lists(message, min_size=1, max_size=4), "kept": kept})


@given(st.lists(conversation, min_size=1, max_size=3))
@settings(max_examples=50, deadline=None)
def test_messages_round_trip(conversations: list[dict[str, Any]]) -> None:
    stream = [json.dumps(one, ensure_ascii=False) + "\n" for one in conversations]
    found = [one for one in corpora.open_dialogues(line.encode() for line in stream) if isinstance(one, Dialogue)]
    again = [
        {"id": one.id, **one.metadata, "messages": [{"role": t.role, "content": t.content, **t.metadata} for t in one.turns]}
        for one in found
    ]
    assert again == conversations


@given(st.binary(max_size=200))
@settings(max_examples=50, deadline=None)
def test_no_bytes_crash_the_border(line: bytes) -> None:
    assert all(isinstance(one, Dialogue | Problem) for one in corpora.open_dialogues([line + b"\n", GOOD.encode()]))
