"""A local GGUF file, run in this process by llama.cpp.

`llamacpp:FILE.gguf` reads every prompt from its beginning, so that an answer does not depend on what was asked before.
`llamacpp:FILE.gguf@reuse` keeps what prompts have in common: several times faster, but scores change a little with the order.
"""

import hashlib
import json
import math
import os
import secrets
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xllamacpp

from empathia.errors import LLMError, Refused
from empathia.llm import _chat, _shares
from empathia.llm._protocol import Completion, Message, Schema

CONTEXT = 8192  # tokens that a prompt and its reply may have
TOP = 1000  # first tokens among which the options are looked for; one that is not there costs a call of its own
LONGEST = 64  # tokens of an option
PLAIN = {"chat_template_kwargs": {"enable_thinking": False}}  # the first token is to be the answer
TAIL = 1 << 20  # bytes at the end of the file, all weights, that tell it from others


@dataclass(frozen=True)
class LlamaCpp:
    """One GGUF file."""

    name: str
    server: Any
    reuse: bool = False

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None, limit: int = 256) -> Completion:
        """The likeliest reply; a JSON schema becomes a grammar that the reply cannot leave."""
        return _chat.completion(self._send(_chat.completing(messages, schema=schema, limit=limit)))

    def likelihoods(self, messages: Sequence[Message], options: Sequence[str]) -> tuple[float, ...] | None:
        """How likely each option is as the beginning of the reply, whatever its length."""
        tokens = _chat.first_tokens(self._send(_chat.weighing(messages, top=TOP))) or ()
        values = _shares.found(options, tokens)
        return _shares.normalised([value or self._forced(messages, option) for value, option in zip(values, options, strict=True)])

    def _forced(self, messages: Sequence[Message], option: str) -> float:
        """The likelihood of an option of several tokens: a grammar lets nothing else be written, and leaves likelihoods as they are."""
        grammar = {"grammar": f"root ::= {json.dumps(option, ensure_ascii=False)}", "max_tokens": LONGEST}
        written = self._send({**_chat.weighing(messages, top=1), **grammar})["choices"][0]["logprobs"]["content"]
        return math.exp(sum(one["logprob"] for one in written if one["token"]))  # the end of a reply has no text and does not count

    def _send(self, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            reply: dict[str, Any] = self.server.handle_chat_completions({**body, **PLAIN, "cache_prompt": self.reuse})
        except (ValueError, RuntimeError) as error:
            raise Refused(f"{self.name} refuses this prompt ({type(error).__name__}).") from error
        if problem := reply.get("error"):
            raise Refused(f"{self.name} refuses this prompt ({problem.get('type')}).")
        return reply


def load(rest: str) -> LlamaCpp:
    """The model of `FILE.gguf` or `FILE.gguf@reuse`, read into memory."""
    reuse = rest.endswith("@reuse")
    path = Path(rest.removesuffix("@reuse"))
    if not path.is_file():
        raise LLMError(f"There is no file '{path}'. Name a GGUF file: llamacpp:/path/to/model.gguf.")
    return LlamaCpp(f"llamacpp:{path.name}#{_fingerprint(path)}{'@reuse' * reuse}", _serve(path), reuse)


def _serve(path: Path) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.verbosity = CONTEXT, 1, -1
    params.cache_ram_mib = 0  # only the last prompt is kept, for @reuse
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(os.environ.get("OMP_NUM_THREADS", -1))  # -1: all cores
    params.port, params.api_keys = 0, [secrets.token_hex()]  # it also listens on this computer; nobody else knows the key
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise LLMError(f"'{path}' cannot be read as a model. Is it a complete GGUF file?") from error
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):  # llama.cpp takes them; Ctrl-C shall stop Python again
            signal.signal(number, signal.getsignal(number))
    return server


def _fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        return hashlib.sha256(f"{size} ".encode() + file.read()).hexdigest()[:8]
