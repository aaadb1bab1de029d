"""What an LLM has answered is kept in one SQLite file: a repeated or resumed run makes no call twice."""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from empathia.errors import InputError
from empathia.llm._protocol import LLM, Completion, Message, Schema


@dataclass(frozen=True)
class Cached:
    """An LLM whose answers are kept; the file holds answers under hashed keys, never a prompt."""

    llm: LLM
    store: sqlite3.Connection
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, llm: LLM, path: Path) -> "Cached":
        """The LLM with the cache of a file, which is made if it is not there."""
        try:
            store = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            store.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)")
        except sqlite3.Error as error:
            raise InputError(f"'{path}' cannot be used as a cache ({error}): name a new file in a folder that exists.") from error
        return cls(llm, store)

    @property
    def name(self) -> str:
        """The name of the LLM itself."""
        return self.llm.name

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None, limit: int = 256) -> Completion:
        """The reply that is kept, or else the one that the LLM gives now."""
        key = self._key(messages, schema=schema, limit=limit)
        if (known := self._get(key)) is not None:
            return Completion(**known)
        found = self.llm.complete(messages, schema=schema, limit=limit)
        self._put(key, asdict(found))
        return found

    def likelihoods(self, messages: Sequence[Message], options: Sequence[str]) -> tuple[float, ...] | None:
        """The likelihoods that are kept, or else those that the LLM gives now; that it gives none is not kept."""
        key = self._key(messages, options=list(options))
        if (known := self._get(key)) is not None:
            return tuple(known)
        found = self.llm.likelihoods(messages, options)
        if found is not None:
            self._put(key, found)
        return found

    def _key(self, messages: Sequence[Message], **asked: Any) -> str:
        told = json.dumps([self.llm.name, [asdict(message) for message in messages], asked], sort_keys=True, default=dict)
        return hashlib.sha256(told.encode()).hexdigest()

    def _get(self, key: str) -> Any:
        with self.lock:
            row = self.store.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def _put(self, key: str, answer: Any) -> None:
        with self.lock:
            self.store.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, json.dumps(answer)))
