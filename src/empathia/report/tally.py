"""What a report needs of a stream of analyses, in bounded memory: counts, and a few conversations in full."""

import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from empathia.report.answers import DIRECTION, answers, said
from empathia.schema import Analysis, ModelId, Problem, TurnAnalysis
from empathia.task import Task

ROLES = 200  # names told apart; in forum data every writer may be a role of its own
PROBLEMS = 20  # of each kind, told in full
OTHER_ROLES = "(all other roles)"


class Tally:
    """Counts a stream as it goes by, and keeps at most `keep` conversations: with a missed reply first, then with a given one."""

    def __init__(self, tasks: Sequence[Task], *, keep: int = 50) -> None:
        self.tasks = tuple(tasks)
        self.keep = keep
        self.conversations = 0
        self.turns = 0
        self.foreign = 0
        self.outcomes: Counter[str] = Counter()
        self.conversations_with: Counter[str] = Counter()
        self.counts: dict[str, Counter[str | int]] = {}
        self.roles: dict[str, Counter[str]] = {}
        self.models: list[ModelId] = []
        self.problems: list[Problem] = []
        self.problem_kinds: Counter[str] = Counter()
        self._kept: list[tuple[int, int, Analysis]] = []

    def add(self, found: Analysis | Problem) -> None:
        """Counts one analysed conversation, or one line that was set aside."""
        if isinstance(found, Problem):
            self.problem_kinds[found.kind] += 1
            if self.problem_kinds[found.kind] <= PROBLEMS:
                self.problems.append(found)
            return
        self.conversations += 1
        if found.model not in self.models:
            self.models.append(found.model)
        for turn in found.turns:
            self._count(turn)
        self.conversations_with.update({turn.outcome for turn in found.turns if turn.outcome})
        self._keep(found)

    def watch(self, stream: Iterable[Analysis | Problem]) -> Iterator[Analysis]:
        """The analyses of a stream, each counted as it passes; problems are counted and go no further."""
        for found in stream:
            self.add(found)
            if isinstance(found, Analysis):
                yield found

    @property
    def examples(self) -> tuple[Analysis, ...]:
        """The conversations kept in full, in the order in which they deserve attention."""
        return tuple(analysis for _, _, analysis in self._kept)

    @property
    def replies(self) -> int:
        """The turns that answer somebody, as far as an outcome was decided for them."""
        return self.outcomes.total()

    @property
    def status(self) -> int:
        """The exit status that tells how it went: 0 all was analysed, 3 some lines were set aside, 1 nothing was analysed."""
        if self.problem_kinds["skipped"]:
            return 3 if self.conversations else 1
        return 0

    def _count(self, turn: TurnAnalysis) -> None:
        self.turns += 1
        self.foreign += not turn.english
        if turn.outcome:
            self.outcomes[turn.outcome] += 1
        for given in answers(turn, self.tasks):
            self.counts.setdefault(given.name, Counter()).update(said(given.answer))
            if given.name == DIRECTION:
                role = turn.role if turn.role in self.roles or len(self.roles) < ROLES else OTHER_ROLES
                self.roles.setdefault(role, Counter()).update(map(str, said(given.answer)))

    def _keep(self, analysis: Analysis) -> None:
        rank = 0 if analysis.summary.missed else 1 if analysis.summary.given else 2
        bisect.insort(self._kept, (rank, self.conversations, analysis))  # the count is unique: analyses are never compared
        del self._kept[self.keep :]
