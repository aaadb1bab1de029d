"""The default encoder: an ONNX graph on onnxruntime, without torch.

Every window passes alone: no padding is computed, and a text's states cannot depend on what else is in the batch (a
quantised graph fits its scales to each input as a whole).
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from empathia.encoders import Encoded, Tokens

CORE = "core"  # what the names of the pool's threads begin with
T = TypeVar("T")
R = TypeVar("R")


def session(graph: Path) -> ort.InferenceSession:
    """An onnxruntime session for one thread at a time; it may be run from several."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = False
    slower = ["SkipLayerNormFusion"]  # than what it puts together
    return ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"], disabled_optimizers=slower)


def spread(do: Callable[[T], R], given: Sequence[T]) -> Iterator[R]:
    """What comes of each, in order, done on all processor cores; within work that is spread already, one after another."""
    alone = len(given) < 2 or threading.current_thread().name.startswith(CORE)
    return map(do, given) if alone else _pool().map(do, given)


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    """A thread per processor core that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ThreadPoolExecutor(cores, thread_name_prefix=CORE)


class OnnxEncoder:
    """Token states from an ONNX graph with inputs `input_ids`, `attention_mask` and output `states`."""

    def __init__(self, tokens: Tokens, graph: ort.InferenceSession) -> None:
        self.tokens, self.graph = tokens, graph

    @classmethod
    def load(cls, graph: Path, tokenizer: Path, *, window: int) -> "OnnxEncoder":
        """The encoder of a model folder."""
        return cls(Tokens.load(tokenizer, window), session(graph))

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The token states of each text, whole, whatever its length."""
        windows = self.tokens.windows(texts)
        states = spread(self._run, [window.ids for found in windows for window in found])
        return [
            Encoded(
                states=np.concatenate([next(states) for _ in found]),
                offsets=np.array([offset for window in found for offset in window.offsets]),
            )
            for found in windows
        ]

    def _run(self, ids: tuple[int, ...]) -> NDArray[np.float32]:
        given = np.array([ids])
        states: NDArray[np.float32] = self.graph.run(["states"], {"input_ids": given, "attention_mask": np.ones_like(given)})[0]
        return states[0, 1:-1]  # without the two special tokens
