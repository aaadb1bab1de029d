"""Contracts of all LLM back ends; the OpenAI protocol is spoken with a real server and a small model."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from empathia import llm, tasks
from empathia.errors import EmpathiaError, LLMError, Refused, UnknownName
from empathia.llm import LLM, Completion, Message, Schema
from empathia.llm._cache import Cached
from empathia.models.prompted import Prompted, Settings
from empathia.schema import Dialogue, Example, Turn

KEY = "a-key-for-the-tests"
ASKED = (Message("system", "You answer with one letter."), Message("user", "Is snow cold? A: yes, B: no. \U0001f600"))
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
SERVE = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, key = sys.argv[1:]
params.port, params.n_ctx, params.n_parallel, params.verbosity, params.api_keys = 0, 4096, 1, -1, [key]
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.model_alias = {"small"}
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
time.sleep(600)
"""
BACK_ENDS = ("echo", "echo:json", "llamacpp", "openai")


@pytest.fixture(scope="session")
def gguf() -> Path:
    """A small model: EMPATHIA_GGUF, or the one that the tool beside the project fetches."""
    if named := os.environ.get("EMPATHIA_GGUF"):
        return Path(named)
    pytest.importorskip("xllamacpp", reason="local models need the extra [llm]")
    folder = Path(tempfile.gettempdir()) / "empathia-gguf"
    tool = Path(__file__).parents[2] / "shared" / "tools" / "get_weights.py"
    if not list(folder.glob("*.gguf")) and tool.is_file():
        folder.mkdir(exist_ok=True)
        subprocess.run([sys.executable, str(tool), "smollm2", str(folder)], capture_output=True, timeout=300)
    if not (found := list(folder.glob("*.gguf"))):
        pytest.skip("no small GGUF model is here: set EMPATHIA_GGUF to one")
    return found[0]


@pytest.fixture(scope="session")
def local(gguf: Path) -> LLM:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # on a machine that does other things too, one thread is quicker than all
        return llm.load(f"llamacpp:{gguf}")


@pytest.fixture(scope="session")
def address(gguf: Path) -> Iterator[str]:
    """A real server with the small model."""
    pytest.importorskip("openai", reason="endpoints need the extra [llm]")
    server = subprocess.Popen([sys.executable, "-c", SERVE, str(gguf), KEY], stdout=subprocess.PIPE, text=True)
    assert server.stdout
    yield server.stdout.readline().strip() + "/v1"
    server.kill()
    server.wait()


@pytest.fixture
def remote(address: str, monkeypatch: pytest.MonkeyPatch) -> LLM:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return llm.load(f"openai:small@{address}")


@pytest.fixture(params=BACK_ENDS)
def model(request: pytest.FixtureRequest) -> LLM:
    fixture = {"llamacpp": "local", "openai": "remote"}.get(request.param)
    found: LLM = request.getfixturevalue(fixture) if fixture else llm.load(request.param)
    return found


def test_every_back_end_is_under_contract() -> None:
    assert set(llm.names()) == {name.partition(":")[0] for name in BACK_ENDS}


def test_a_reply_is_short_counted_and_always_the_same(model: LLM) -> None:
    first, second = model.complete(ASKED, limit=8), model.complete(ASKED, limit=8)
    assert first == second and first.text
    assert first.prompt_tokens > 0 and 0 < first.completion_tokens <= 8


def test_a_schema_is_kept(model: LLM) -> None:
    assert json.loads(model.complete(ASKED, schema=SCHEMA).text)["answer"] in ("yes", "no")


def test_likelihoods_are_shares(model: LLM) -> None:
    found = model.likelihoods(ASKED, ("A", "B"))
    assert (found is None) == (model.name == "echo:json")
    assert found is None or (len(found) == 2 and min(found) >= 0 and sum(found) == pytest.approx(1))


def test_threads_change_nothing(model: LLM) -> None:
    prompts = [(Message("user", f"Name a colour, {word}."),) for word in ("please", "quickly", "now")]
    alone = [model.likelihoods(prompt, ("Red", "Blue")) for prompt in prompts]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda prompt: model.likelihoods(prompt, ("Red", "Blue")), prompts))
    for one, other in zip(alone, together, strict=True):
        assert one == (None if other is None else pytest.approx(other, abs=1e-3))


def test_a_prompt_that_is_too_long_is_refused(model: LLM) -> None:
    if not model.name.startswith("echo"):
        with pytest.raises(Refused):
            model.complete((Message("user", "word " * 12_000),))


def test_options_of_several_tokens_have_true_likelihoods(local: LLM) -> None:
    likely, unlikely = local.likelihoods(ASKED, ("The answer", "zxq zebra crossing")) or (0, 0)
    assert likely > 0.99 and unlikely > 0


def test_a_reused_prefix_hardly_changes_likelihoods(local: LLM, gguf: Path) -> None:
    reusing = llm.load(f"llamacpp:{gguf}@reuse")
    assert reusing.name != local.name
    reusing.likelihoods((ASKED[0], Message("user", "Is it late?")), ("A", "B"))
    assert reusing.likelihoods(ASKED, ("A", "B")) == pytest.approx(local.likelihoods(ASKED, ("A", "B")), abs=0.02)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_mistakes_with_an_endpoint_are_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UnknownName, match="Did you mean 'small'"):
        llm.load(f"openai:smal@{address}").complete(ASKED)
    with pytest.raises(LLMError, match="Start the server"):
        llm.load(f"openai:small@http://127.0.0.1:{free_port()}/v1").complete(ASKED)
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    with pytest.raises(LLMError, match="OPENAI_API_KEY"):
        llm.load(f"openai:small@{address}").complete(ASKED)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("opanai:x", "Did you mean 'openai'"),
        ("openai:", "Which model"),
        ("openai:x", "OPENAI_API_KEY"),
        ("llamacpp:nowhere.gguf", "no file"),
        (f"llamacpp:{__file__}", "GGUF"),
        ("echo:loud", "echo:json"),
    ],
)
def test_mistakes_in_the_name_are_named(spec: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    pytest.importorskip("xllamacpp")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EmpathiaError, match=says):
        llm.load(spec)


@dataclass
class Endpoint:
    """A server on this machine whose replies are scripted; it keeps what it was sent."""

    replies: list[tuple[int, dict[str, Any]]]
    sent: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def endpoint() -> Iterator[Callable[..., Endpoint]]:
    servers: list[HTTPServer] = []

    def start(*replies: tuple[int, dict[str, Any]]) -> Endpoint:
        one = Endpoint(list(replies))

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._say(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in ("large", "small")]})

            def do_POST(self) -> None:
                one.sent.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self._say(*one.replies.pop(0))

            def _say(self, status: int, body: dict[str, Any]) -> None:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_: object) -> None:
                pass

        servers.append(HTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        one.url = f"http://127.0.0.1:{servers[-1].server_port}/v1"
        return one

    pytest.importorskip("openai")
    yield start
    for server in servers:
        server.shutdown()


def said(text: str) -> tuple[int, dict[str, Any]]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
    return 200, {"id": "1", "object": "chat.completion", "created": 0, "model": "small", "choices": [choice], "usage": usage}


def refused(status: int, param: str | None = None) -> tuple[int, dict[str, Any]]:
    return status, {"error": {"message": "no", "type": "invalid_request_error", "param": param, "code": None}}


def test_a_busy_endpoint_is_asked_again(endpoint: Callable[..., Endpoint]) -> None:
    busy = endpoint(refused(429), refused(503), said("yes"))
    assert llm.load(f"openai:small@{busy.url}").complete(ASKED) == Completion("yes", 5, 1)
    assert len(busy.sent) == 3


def test_settings_that_an_endpoint_refuses_are_spared(endpoint: Callable[..., Endpoint]) -> None:
    picky = endpoint(refused(400, "temperature"), refused(400, "max_tokens"), said("yes"), said("no"), said("A"))
    found = llm.load(f"openai:small@{picky.url}")
    assert [found.complete(ASKED, limit=9).text for _ in range(2)] == ["yes", "no"]
    assert picky.sent[-1].keys() == {"model", "messages", "max_completion_tokens"}
    assert found.likelihoods(ASKED, ("A", "B")) is None  # it tells no likelihoods, and is not asked for them again
    assert found.likelihoods(ASKED, ("A", "B")) is None and len(picky.sent) == 5


def test_an_unknown_model_and_a_refused_prompt(endpoint: Callable[..., Endpoint]) -> None:
    strict = endpoint(refused(404), refused(400, "messages"))
    found = llm.load(f"openai:smal@{strict.url}")
    with pytest.raises(UnknownName, match="Did you mean 'small'"):
        found.complete(ASKED)
    with pytest.raises(Refused):
        found.complete(ASKED)


def test_the_cache_spares_every_second_call_and_holds_no_prompt(address: str, remote: LLM, tmp_path: Path) -> None:
    file = tmp_path / "answers.sqlite"
    asked: list[Callable[[LLM], object]] = [
        lambda one: one.complete(ASKED, limit=4),
        lambda one: one.complete(ASKED, schema=SCHEMA),
        lambda one: one.likelihoods(ASKED, ("A", "B")),
    ]
    found = [ask(llm.load(f"openai:small@{address}", cache=file)) for ask in asked]
    offline = Cached.open(Offline(remote.name), file)
    assert [ask(offline) for ask in asked] == found == [ask(remote) for ask in asked]
    with pytest.raises(LLMError, match="offline"):
        asked[0](Cached.open(Offline("another"), file))
    assert b"snow" not in b"".join(part.read_bytes() for part in tmp_path.iterdir())


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmpathiaError, match="cache"):
        llm.load("echo", cache=tmp_path / "nowhere" / "answers.sqlite")


@dataclass(frozen=True)
class Offline:
    """An LLM that must not be called."""

    name: str

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None, limit: int = 256) -> Completion:
        raise LLMError("offline")

    def likelihoods(self, messages: Sequence[Message], options: Sequence[str]) -> tuple[float, ...] | None:
        raise LLMError("offline")


def test_a_judge_behind_a_real_server(remote: LLM) -> None:
    turns = (Turn(role="a", content="I feel lost."), Turn(role="b", content="I am so sorry."))
    task, example = tasks.load("mechanisms"), Example(dialogue=Dialogue(id="1", turns=turns), index=1)
    judge = Prompted(remote, [task])
    (found,) = judge.answer([example], [task])
    assert found.keys() == task.outputs.keys() and not judge.unanswered
    cut = Prompted(remote, [task], settings=Settings(by="json", limit=2))  # JSON that is cut off is no answer
    assert cut.answer([example], [task]) == [{}]
    assert cut.unanswered == cut.asked == dict.fromkeys(task.outputs, 1)
