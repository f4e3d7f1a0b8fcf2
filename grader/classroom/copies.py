"""Files of a class that are alike: which ones an instructor may want to read side by side. It is never a verdict."""

from __future__ import annotations

import json
import re
import sqlite3
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import log
from typing import Literal

from grader.classroom.own_code import Prints, prints_of, texts_of
from grader.classroom.store.store import COPIES, EARLIER, ResultsStore
from grader.core.json_record import from_json
from grader.core.safe_text import plain_name
from grader.course.course import Course
from grader.course.module import Module, read_text
from grader.submission.submission import SubmissionRef

Alike = Literal["file", "code", "words"]
SHARE = 3  # what more than one in three students has is what the task asks for
FEW = 4  # in a small class, this many students may still have the same by copying
ODD = 50  # a name is unusual if at most one in 50 students chose it; two may in any class
_LESSON_CODE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CACHE = 2048  # kB of the index that stay in memory


@dataclass(frozen=True)
class Threshold:
    """When two files are alike: how much that is rare they share, and which share of what the smaller one has.

    Something that one student has counts 1, what many have counts less.
    """

    least: float
    share: float


CODE, WORDS = Threshold(20, 0.8), Threshold(4, 0.7)
SMALL = 30  # students: in a smaller class, what two have weighs as much as in this one
LINES = 6  # unusual lines, comments and names of two files with the same text: short ones may be the same by chance


@dataclass(frozen=True)
class CopyGroup:
    """Submissions for a module that are alike. `share` is the lowest share of two of them that are."""

    module: str
    alike: Alike
    share: float
    submissions: tuple[str, ...]

    def renamed(self, name: Callable[[str], str]) -> CopyGroup:
        """Return the group with other names of students, in their order."""
        return replace(self, submissions=tuple(sorted(map(name, self.submissions))))

    @property
    def text(self) -> str:
        """What is alike."""
        share = "all" if self.share > 0.995 else f"at least {100 * self.share:.0f} %"
        match self.alike:
            case "file":
                return "the same text"
            case "code":
                return f"{share} of their own code is the same, but for names, comments and layout"
            case "words":
                return f"{share} of the smaller file's unusual comments and names are the same"


def read_copies(store: ResultsStore) -> tuple[CopyGroup, ...]:
    """Return the files that are alike, as the last grading listed them; nothing if none did."""
    for name in (COPIES, f"{EARLIER}/{COPIES}"):
        try:
            return tuple(from_json(CopyGroup, one) for one in json.loads(store.document(name)))
        except (OSError, ValueError, TypeError):  # a list for people: the next grading writes it again
            continue
    return ()


def find_copies(course: Course, work: Iterable[SubmissionRef], before: Iterable[CopyGroup] = ()) -> list[CopyGroup]:
    """Return the groups of submissions that are alike, and those `before` with students who are not in the work."""
    modules: dict[str, set[str]] = {}
    for one in work:
        modules.setdefault(one.module, set()).add(plain_name(one.student))
    groups = [one for one in before if not modules.get(one.module, set()).issuperset(one.submissions)]
    told = {(one.module, one.submissions) for one in groups}
    for name, students in sorted(modules.items()):
        if len(students) > 1:
            index = _Index(name, _given(course, course.module(name)))
            for one in work:
                if one.module == name:
                    index.add(one)
            groups += [one for one in index.groups() if (one.module, one.submissions) not in told]
    return sorted(groups, key=lambda one: (one.module, one.submissions))


def _given(course: Course, module: Module) -> Prints:
    """Return what no student wrote: stub, lesson, solution, misconceptions, and the solutions it builds on."""
    lesson = read_text(module.lesson)
    solution = course.solution(module)
    files = [solution, solution.with_name("misconceptions.py")]
    files += [course.solution(course.module(name)) for name in module.requires]
    texts = [course.stub_text(module), *_LESSON_CODE.findall(lesson)]
    texts += [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    found = [prints_of([text]) for text in texts]
    return Prints(
        code=frozenset().union(*(one.code for one in found)),
        texts=texts_of(lesson).union(*(one.texts for one in found)),
        names=frozenset().union(*(one.names for one in found)),
        lines=frozenset().union(*(one.lines for one in found)),
    )


class _Index:
    """The prints of a module's submissions, in a temporary file: which files have a print, and which prints a file."""

    def __init__(self, module: str, given: Prints) -> None:
        self._module = module
        self._given = given
        self._students: set[str] = set()
        self._numbers: dict[str, int] = {}  # of a file that is graded for each member of a group
        self._who: list[tuple[str, ...]] = []  # by number of the file
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("pragma journal_mode = off")
        self._db.execute(f"pragma cache_size = -{_CACHE}")
        self._db.execute("create table file (number integer primary key, text integer)")
        self._db.execute("create table print (kind text, value integer, number integer, who text)")
        weakref.finalize(self, self._db.close)

    def add(self, one: SubmissionRef) -> None:
        """Add a submission that can be read."""
        student, origin = plain_name(one.student), one.piece.location.origin
        self._students.add(student)
        if (number := self._numbers.get(origin)) is not None:
            self._who[number] = tuple(dict.fromkeys((*self._who[number], student)))
            return
        source = one.read().sources.get(one.piece.module.slug)
        if source is None:
            return
        number = self._numbers[origin] = len(self._who)
        self._who.append((student,))
        found = prints_of(source.cells)
        self._db.execute("insert into file values (?, ?)", (number, found.file))
        for kind in ("code", "texts", "names", "lines"):
            values = getattr(found, kind) - getattr(self._given, kind)
            rows = ((kind, value, number, student) for value in values)
            self._db.executemany("insert into print values (?, ?, ?, ?)", rows)

    def groups(self) -> Iterator[CopyGroup]:
        """Yield the groups of files that are alike. Files that are alike with a third one are in one group."""
        self._leave_out_common()
        groups = _Groups(len(self._who))
        self._same_files(groups)
        self._similar(groups, "code", ("code",), CODE)
        self._similar(groups, "words", ("texts", "names"), WORDS)
        for members, alike, share in groups.found():
            who = sorted({name for number in members for name in self._who[number]})
            yield CopyGroup(self._module, alike, round(share, 3), tuple(who))

    def _leave_out_common(self) -> None:
        """Forget what many students have, and weigh the rest."""
        count = len(self._students)
        many, odd = max(FEW, count // SHARE), max(2, count // ODD)
        size = max(count, SMALL)
        self._db.create_function("weight", 1, lambda who: log(size / who) / log(size), deterministic=True)
        self._db.execute(
            "create table own as select print.kind, print.value, number, weight from print join "
            "(select kind, value, count(distinct who) as rank, weight(count(distinct who)) as weight "
            "from print group by kind, value) as counted "
            "on print.kind = counted.kind and print.value = counted.value "
            "where rank <= case when print.kind in ('names', 'lines') then ? else ? end",
            (odd, many),
        )
        self._db.execute("drop table print")
        self._db.execute("create index by_value on own (kind, value)")
        self._db.execute("create index by_file on own (number, kind, weight)")

    def _same_files(self, groups: _Groups) -> None:
        query = "select group_concat(number) from file group by text having count(*) > 1"
        unusual = "select count(*) from own where number = ? and kind <> 'code'"
        for (numbers,) in self._db.execute(query).fetchall():
            first, *others = map(int, numbers.split(","))
            if self._db.execute(unusual, (first,)).fetchone()[0] >= LINES:
                for other in others:
                    if self._are_of_others(first, other):
                        groups.join(first, other, "file", 1.0)

    def _similar(self, groups: _Groups, alike: Alike, kinds: tuple[str, ...], threshold: Threshold) -> None:
        """Join files that share enough.

        Two files that share so much share some of the rarer half of what the smaller one has. So only those files are
        compared, and not each file with each other.
        """
        for number in range(len(self._who)):
            mine = self._own(number, kinds)
            total = sum(mine.values())
            least = max(threshold.least, threshold.share * total)
            if total < least:
                continue
            for other in self._sharing(mine, total - least):
                if other == number or groups.are_joined(number, other) or not self._are_of_others(number, other):
                    continue
                theirs = self._own(other, kinds)
                both = sum(weight for part, weight in mine.items() if part in theirs)
                if sum(theirs.values()) >= total and both >= least:
                    groups.join(number, other, alike, both / total)

    def _own(self, number: int, kinds: tuple[str, ...]) -> dict[tuple[str, int], float]:
        """Return the own parts of a file with their weights, the rarest first."""
        query = f"select kind, value, weight from own where number = ? and kind in ({','.join('?' * len(kinds))})"
        rows = self._db.execute(f"{query} order by weight desc", (number, *kinds))
        return {(kind, value): weight for kind, value, weight in rows}

    def _sharing(self, parts: Mapping[tuple[str, int], float], rest: float) -> list[int]:
        """Return the files that may have all of these parts but some that weigh no more than `rest`."""
        rarer = list(_rarest(parts, max(rest, sum(parts.values()) / 2)))
        least = sum(parts[part] for part in rarer) - rest - 1e-9  # sums in another order
        shared: dict[int, float] = {}
        query = "select number from own where kind = ? and value = ?"
        for part in rarer:
            for (number,) in self._db.execute(query, part):
                shared[number] = shared.get(number, 0.0) + parts[part]
        return sorted(number for number, weight in shared.items() if weight >= least)

    def _are_of_others(self, first: int, second: int) -> bool:
        return not set(self._who[first]) & set(self._who[second])


def _rarest(parts: Mapping[tuple[str, int], float], least: float) -> Iterator[tuple[str, int]]:
    """Yield the first parts that weigh more than this together."""
    total = 0.0
    for part, weight in parts.items():
        if total > least:
            return
        total += weight
        yield part


class _Groups:
    """Files that are joined with each other: for each file a file of the same group, and how they are alike."""

    def __init__(self, count: int) -> None:
        self._next = array("l", range(count))
        self._links: dict[int, tuple[Alike, float]] = {}  # of the first file of a group

    def _first(self, number: int) -> int:
        while (above := self._next[number]) != number:
            self._next[number] = self._next[above]
            number = above
        return number

    def are_joined(self, first: int, second: int) -> bool:
        """Whether two files are in one group."""
        return self._first(first) == self._first(second)

    def join(self, first: int, second: int, alike: Alike, share: float) -> None:
        """Put two groups together. What is said of them is the weakest link."""
        one, two = sorted((self._first(first), self._first(second)))
        known = [self._links[each] for each in (one, two) if each in self._links]
        order = ("words", "code", "file")
        self._links.pop(two, None)
        self._next[two] = one
        self._links[one] = min([*known, (alike, share)], key=lambda link: (order.index(link[0]), link[1]))

    def found(self) -> Iterator[tuple[list[int], Alike, float]]:
        """Yield each group of several files with its weakest link."""
        members: dict[int, list[int]] = {}
        for number in range(len(self._next)):
            first = self._first(number)
            if first in self._links:
                members.setdefault(first, []).append(number)
        for first, numbers in members.items():
            yield (numbers, *self._links[first])
