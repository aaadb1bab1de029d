"""Language models of two kinds behind one call: how likely is each answer after a prompt?

A sequence-to-sequence model reads the prompt with its encoder and the answer with its decoder; a causal one reads both in a row.
Either way a prompt is read once, whatever the number of answers. The answers of one token then take one more step for all of them
together, as its outcome ranks the whole vocabulary; each longer answer takes a short pass of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from empathia.encoders import alike
from empathia.errors import MissingExtra, ModelError

Ids = tuple[int, ...]
ROOM = 2048  # tokens in one padded batch of prompts
SPARE = 32  # tokens that are left for the answer where a model has a longest input


@dataclass(frozen=True)
class Read:
    """A batch of prompts as a model keeps them: its states, which of them count, (batch, tokens), and the token that answers follow."""

    states: Any
    mask: Tensor
    start: Tensor


class Language(ABC):
    """A language model with its tokenizer."""

    def __init__(self, network: Any, tokenizer: Any, name: str) -> None:
        self.network, self.tokenizer, self.name = network, tokenizer, name
        longest = getattr(network.config, "max_position_embeddings", None)
        self.room: int | None = longest - SPARE if longest else None
        plain, whole = self.ids("a"), tuple(tokenizer("a").input_ids)
        at = next(at for at in range(len(whole)) if whole[at : at + len(plain)] == plain)
        self.first, self.last = whole[:at], whole[at + len(plain) :]  # special tokens around a text

    @abstractmethod
    def prompt(self, ids: Ids) -> Ids:
        """The tokens of a prompt with the special ones that the model expects."""

    @abstractmethod
    def option(self, text: str) -> Ids:
        """The tokens of an answer."""

    @abstractmethod
    def read(self, prompts: Sequence[Ids]) -> Read:
        """Read prompts; what is kept of them serves for any number of answers."""

    @abstractmethod
    def follow(self, read: Read, answers: Tensor) -> Tensor:
        """What may come at each place of answers and after them: (batch, tokens) -> logits (batch, tokens + 1, vocabulary)."""

    def ids(self, text: str) -> Ids:
        """The tokens of a text, no special ones."""
        return tuple(self.tokenizer(text, add_special_tokens=False, verbose=False).input_ids)

    def options(self, texts: Sequence[str]) -> list[Ids]:
        """The tokens of the possible answers; where one begins with all of another, the end of the answer counts too."""
        found = [self.option(text) for text in texts]
        if len(set(found)) < len(found) or () in found:
            raise ModelError(f"To the tokenizer of '{self.name}' some of these answers are the same: {', '.join(texts)}. Rename them.")
        begins = any(one == other[: len(one)] for one, other in permutations(found, 2))
        return [(*one, self.tokenizer.eos_token_id) for one in found] if begins else found

    def likelihoods(self, read: Read, answers: Sequence[Ids]) -> Tensor:
        """The log-likelihood of an answer to each prompt: (batch,)."""
        padded, mask = _pad(answers)
        logs = self.follow(read, padded[:, :-1]).log_softmax(-1)  # (batch, tokens, vocabulary)
        return (logs.gather(2, padded[..., None])[..., 0] * mask).sum(1)

    def rank(self, read: Read, options: Sequence[Ids]) -> Tensor:
        """The log-likelihood of every option after every prompt: (batch, options)."""
        batch = len(read.start)
        first = self.follow(read, read.start.new_empty(batch, 0))[:, 0].log_softmax(-1)  # (batch, vocabulary)
        columns = [first[:, ids[0]] if len(ids) == 1 else self.likelihoods(read, [ids] * batch) for ids in options]
        return torch.stack(columns, 1)

    @torch.no_grad()
    def shares(self, prompts: Sequence[Ids], options: Sequence[Ids]) -> list[list[float]]:
        """How likely each option is after each prompt, the sum over the options being 1."""
        self.network.eval()
        found: dict[int, list[float]] = {}
        for batch in alike([len(ids) for ids in prompts], ROOM):
            rows = self.rank(self.read([prompts[i] for i in batch]), options).double().softmax(1).tolist()
            found |= dict(zip(batch, rows, strict=True))
        return [found[i] for i in range(len(prompts))]

    def save(self, folder: Path) -> None:
        """Write weights and tokenizer into a folder that the usual loaders read."""
        disable_progress_bar()  # type: ignore[no-untyped-call]
        self.network.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


class SequenceToSequence(Language):
    """A model with encoder and decoder, such as Flan-T5."""

    def prompt(self, ids: Ids) -> Ids:
        """The prompt as a text of its own."""
        return (*self.first, *ids, *self.last)

    def option(self, text: str) -> Ids:
        """The answer as a text of its own."""
        return self.ids(text)

    def read(self, prompts: Sequence[Ids]) -> Read:
        """The states of the encoder."""
        ids, mask = _pad(prompts)
        states = self.network.get_encoder()(input_ids=ids, attention_mask=mask)
        return Read(states, mask, ids.new_full((len(ids),), self.network.config.decoder_start_token_id))

    def follow(self, read: Read, answers: Tensor) -> Tensor:
        """The logits of the decoder."""
        ids = torch.cat([read.start[:, None], answers], 1)
        out = self.network(encoder_outputs=read.states, attention_mask=read.mask, decoder_input_ids=ids, use_cache=False)
        logits: Tensor = out.logits
        return logits


class Causal(Language):
    """A model that goes on writing, such as SmolLM2."""

    def prompt(self, ids: Ids) -> Ids:
        """The prompt as the beginning of a text."""
        return (*self.first, *ids)

    def option(self, text: str) -> Ids:
        """The answer as it stands after the colon that ends a prompt."""
        before = self.ids(":")
        whole = self.ids(f": {text}")
        return whole[len(before) :] if whole[: len(before)] == before else self.ids(f" {text}")

    def read(self, prompts: Sequence[Ids]) -> Read:
        """The keys and values of all tokens but the last, which answers follow."""
        ids, mask = _pad([prompt[:-1] for prompt in prompts])
        states = self.network.base_model(input_ids=ids, attention_mask=mask, use_cache=True).past_key_values
        return Read(states, mask, torch.tensor([prompt[-1] for prompt in prompts]))

    def follow(self, read: Read, answers: Tensor) -> Tensor:
        """The logits after the prompt and after each token of the answers; what is kept of the prompts stays as it was."""
        ids = torch.cat([read.start[:, None], answers], 1)
        places = read.mask.sum(1, keepdim=True) + torch.arange(ids.shape[1])  # padding takes no place
        mask = torch.cat([read.mask, torch.ones_like(ids)], 1)
        out = self.network(input_ids=ids, attention_mask=mask, position_ids=places, past_key_values=read.states, use_cache=True)
        read.states.crop(-ids.shape[1])
        logits: Tensor = out.logits
        return logits


def load(where: str) -> Language:
    """The language model of a folder, a GGUF file (or a folder with nothing but one) or a hub id; remote code is never run."""
    disable_progress_bar()  # type: ignore[no-untyped-call]
    folder, options = _place(Path(where))
    if options and not (find_spec("gguf") and find_spec("accelerate")):
        raise MissingExtra("Reading a GGUF file", "gguf")
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, **options)
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, **options)
        kind, auto = (SequenceToSequence, AutoModelForSeq2SeqLM) if config.is_encoder_decoder else (Causal, AutoModelForCausalLM)
        network = auto.from_pretrained(folder, trust_remote_code=False, **options)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"No language model could be loaded from '{where}'. Give a folder with config.json, weights and tokenizer.json, a GGUF file, "
            f"or a Hugging Face id that this machine can reach. ({type(error).__name__})"
        ) from error
    return kind(_plain(network) if options else network.float(), tokenizer, Path(where).name.removesuffix(".gguf"))


def _plain(network: Any) -> Any:
    """The unpacked weights of a GGUF file in a model that can be trained and saved as any other."""
    config = AutoConfig.for_model(**{key: value for key, value in network.config.to_dict().items() if key != "quantization_config"})
    plain = AutoModelForCausalLM.from_config(config).float()  # type: ignore[no-untyped-call]
    plain.load_state_dict(network.state_dict())
    return plain


def _place(path: Path) -> tuple[str, dict[str, str]]:
    """The folder or id to load from, and the GGUF file in it where that is all there is."""
    files = [path] if path.suffix == ".gguf" else sorted(path.glob("*.gguf")) if path.is_dir() else []
    if len(files) != 1 or (path / "config.json").exists():
        return str(path), {}
    return str(files[0].parent), {"gguf_file": files[0].name}


def _pad(rows: Sequence[Ids]) -> tuple[Tensor, Tensor]:
    """Ids and mask, (rows, tokens), padded at the end."""
    ids = [torch.tensor(row) for row in rows]
    return pad_sequence(ids, batch_first=True), pad_sequence([torch.ones_like(one) for one in ids], batch_first=True)
