"""The command line: what a person types, what they see, and what bad input gives."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import empathia
from empathia import models

GOOD = (
    '{"id": "g", "messages": [{"role": "a", "content": "I feel lost and alone."}, {"role": "b", "content": "I am so sorry to hear that."}]}'
)


def run(*words: str, given: str | bytes = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    stdin = given if isinstance(given, bytes) else given.encode()
    done = subprocess.run([sys.executable, "-m", "empathia", *words], input=stdin, capture_output=True, cwd=cwd)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    path.write_text(GOOD + "\n", encoding="utf-8")
    return path


def test_library_and_command_line_give_equal_records(chats: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    done = run("analyse", str(chats), "-o", str(out))
    assert done.returncode == 0, done.stderr
    messages = json.loads(GOOD)["messages"]
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["turns"] == json.loads(empathia.analyse(messages).to_json())["turns"]


def test_standard_input_report_and_tables(tmp_path: Path) -> None:
    done = run("analyse", "-", "-o", "r.csv", "--report", "r.html", given=GOOD + "\n", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 conversation" in done.stdout
    assert (tmp_path / "r.csv").read_text(encoding="utf-8").count("\n") >= 3
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")


BAD = {
    b"not json": "JSON",
    b'{"id": "x"}': "messages",
    b'{"messages": []}': "empty",
    b'{"messages": [{"role": "a"}]}': "content",
    b'{"messages": [{"role": "a", "content": "  "}]}': "empty",
    b'{"messages": [{"role": "a", "content": "x\\u0000y"}]}': "NUL",
    b'{"messages": [{"role": "a", "content": "x\\ud800y"}]}': "surrogate",
    b'{"messages": [{"role": "a", "content": "caf\xe9"}]}': "UTF-8",
}


def test_bad_lines_are_set_aside_and_good_ones_analysed(tmp_path: Path) -> None:
    path, out, errors = tmp_path / "chats.jsonl", tmp_path / "out.jsonl", tmp_path / "errors.jsonl"
    path.write_bytes(b"\n".join([GOOD.encode(), *BAD, GOOD.replace('"g"', '"h"').encode()]) + b"\n")
    done = run("analyse", str(path), "-o", str(out), "--errors", str(errors))
    assert done.returncode == 3, done.stderr
    assert [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()] == ["g", "h"]
    told = [json.loads(line) for line in errors.read_text(encoding="utf-8").splitlines()]
    assert [one["place"] for one in told] == [f"chats.jsonl:{number}" for number in range(2, 2 + len(BAD))]
    for one, word in zip(told, BAD.values(), strict=True):
        assert word.lower() in one["reason"].lower(), one
    assert "8 lines set aside" in done.stdout


def test_one_participant_only_is_analysed_with_a_note(tmp_path: Path) -> None:
    done = run("analyse", "-", "-o", "o.jsonl", given='{"messages": [{"role": "a", "content": "I feel sad."}]}\n', cwd=tmp_path)
    assert done.returncode == 0
    assert "only one participant" in done.stdout
    assert json.loads((tmp_path / "o.jsonl").read_text(encoding="utf-8"))["turns"][0]["mechanisms"] is None


def test_nothing_good_is_status_1(tmp_path: Path) -> None:
    assert run("analyse", "-", given="nonsense\n").returncode == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["analyse", "nowhere.jsonl"], "nowhere.jsonl"),
        (["analyse", "."], "folder"),
        (["analyse", "chats.jsonl", "--tasks", "directoin"], "Did you mean 'direction'"),
        (["analyse", "chats.jsonl", "--model", "no-model"], "no model folder"),
        (["analyse", "chats.jsonl", "--model", "."], "model.json"),
        (["analyse", "chats.jsonl", "-o", "out.xlsx"], ".jsonl, .csv, .parquet"),
        (["analyse", "chats.jsonl", "-o", "nowhere/out.jsonl"], "does not exist"),
        (["analyse", "chats.jsonl", "--report", "nowhere/r.html"], "does not exist"),
        (["analyse", "chats.jsonl", "-o", "chats.jsonl"], "input"),
        (["analyse", "chats.jsonl", "--format", "message"], "Did you mean 'messages'"),
        (["evaluate", "emotoin", "--data", "."], "Unknown task"),
        (["data", "check", "."], "No corpus found"),
    ],
)
def test_mistakes_are_named_without_a_traceback(words: list[str], says: str, chats: Path) -> None:
    done = run(*words, cwd=chats.parent)
    assert done.returncode in (1, 2)
    assert says in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_errors_hold_no_message_text(tmp_path: Path) -> None:
    secret = "my secret is xyzzy"
    done = run(
        "analyse", "-", "--errors", "e.jsonl", given=f'{{"messages": [{{"role": "a", "content": ["{secret}"]}}]}}\n{secret}\n', cwd=tmp_path
    )
    assert "xyzzy" not in done.stdout + done.stderr + (tmp_path / "e.jsonl").read_text(encoding="utf-8")


def test_evaluate_reproduces_the_card(data: Path) -> None:
    pytest.importorskip("sklearn", reason="evaluation needs the extra [train]")
    done = run("evaluate", "direction", "--data", str(data), "--json")
    assert done.returncode == 0, done.stderr
    told = {(one["output"], one["metric"]): one["value"] for one in json.loads(done.stdout)}
    for score in models.scores():
        if score.output in ("direction", "intent"):
            assert told[score.output, score.metric] == pytest.approx(score.value, abs=2e-3)


def test_data_list_names_every_corpus() -> None:
    from empathia import corpora

    done = run("data", "list")
    assert all(name in done.stdout for name in corpora.names("corpus"))


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == empathia.__version__
    for command in ([], ["analyse"], ["train"], ["evaluate"], ["data"]):
        assert "Usage" in run(*command, "--help").stdout
