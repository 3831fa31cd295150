"""The record of a question: what was asked about which files, how, and what came out."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict, Unpack

from timelike.base import checks
from timelike.base.files import atomic_write, read_json
from timelike.exceptions import InputError
from timelike.gp.fit import check_clock
from timelike.questions.telling import is_rate
from timelike.reporting.subject import Naming
from timelike.runs import record as runs
from timelike.runs.recipe import Clock
from timelike.runs.record import Source, versions

FORMAT = "timelike question 1"
COMPARE, CHANGING = "compare", "changing"
QUESTIONS = (COMPARE, CHANGING)


class Wishes(TypedDict, total=False):
    """Choices by name, any of them left out: the fields of :class:`Wish`."""

    between: tuple[str, ...] | None
    fdr: float
    check: int
    top: int
    kernel: str
    clock: Clock
    title: str | None
    time_unit: str | None
    value_name: str | None


@dataclass(frozen=True)
class Wish:
    """How a question is asked and its answer written.

    Attributes
    ----------
    between
        The conditions that are compared, in this order: a difference is the later one less the earlier; None: all of
        them, as they come.
    fdr
        Expected false discovery rate of what is called.
    check
        How often the same is asked of permuted samples, see :meth:`timelike.Compared.check`; 0: not at all.
    top
        Courses that the figure of panels shows.
    kernel, clock
        Of the model that is fitted, see :func:`timelike.fit`.
    title, time_unit, value_name
        What figures and report call the data, and their axes; by default what the file says.

    Examples
    --------
    >>> Wish(fdr=0.01).top
    24
    """

    between: tuple[str, ...] | None = None
    fdr: float = 0.05
    check: int = 0
    top: int = 24
    kernel: str = "se"
    clock: Clock = "auto"
    title: str | None = None
    time_unit: str | None = None
    value_name: str | None = None

    def __post_init__(self) -> None:
        is_rate(self.fdr)
        checks.whole(self.check, "check", 0)
        checks.whole(self.top, "top")
        check_clock(self.clock)
        checks.instance(self.kernel, str, "kernel")
        Naming.of(self.title, self.time_unit, self.value_name)
        if self.between is not None:
            object.__setattr__(self, "between", tuple(map(str, self.between)))

    @classmethod
    def of(cls, **wishes: Unpack[Wishes]) -> Wish:
        """A wish from named choices, or an error about a name that is none."""
        known = [one.name for one in fields(cls)]
        unknown = [name for name in wishes if name not in known]
        if unknown:
            raise InputError(f"there is no choice {unknown[0]!r}: expected {', '.join(known)}.")
        return cls(**wishes)


@dataclass(frozen=True)
class QuestionRecord:
    """All that is needed to ask again, and to see that the answer is the same.

    Attributes
    ----------
    question
        "compare" or "changing".
    sources
        Condition -> where its courses came from; the condition is "" for one source with all of them.
    wish
    model_sha256
        Of the ``model.json`` that was written, where the model was given; None where it was fitted.
    outputs
        File name -> SHA-256 of what was written so far.
    notes
        Warnings.
    versions
        Package -> version.
    answer
        How many were called, in a sentence.
    """

    question: str
    sources: dict[str, Source]
    wish: Wish
    model_sha256: str | None = None
    outputs: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=versions)
    answer: str = ""

    @property
    def naming(self) -> Naming:
        """What the user calls the data and their axes, else what the files say."""
        paths = [Path(source.path).name for source in self.sources.values() if source.path]
        units = [source.time_unit for source in self.sources.values() if source.time_unit]
        title = self.wish.title or " and ".join(paths) or None
        values = [source.value_name for source in self.sources.values() if source.value_name]
        unit, value = self.wish.time_unit or next(iter(units), None), self.wish.value_name or next(iter(values), None)
        return Naming.of(title, unit, value)

    def settings(self) -> dict[str, Any]:
        """The choices that were made and the versions that worked, by name, as the report lists them."""
        read = {name or "file": _of_source(source) for name, source in self.sources.items()}
        chosen = {name.replace("_", " "): value for name, value in asdict(self.wish).items()}
        known = {name: value for name, value in chosen.items() if value not in (None, "")}
        return {"question": self.question, **read, **known, "versions": self.versions}

    def save(self, path: Path) -> None:
        """Write the record as JSON."""
        data = {"format": FORMAT, "written": datetime.now(UTC).isoformat(timespec="seconds")} | asdict(self)
        with atomic_write(path) as file:
            file.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> QuestionRecord:
        """Read a record, checking every entry: the file may come from anybody."""
        data = read_json(path, "the record of a question", FORMAT)
        try:
            if data.get("question") not in QUESTIONS:
                raise InputError(
                    f"the entry 'question' is {data.get('question')!r}: expected {' or '.join(QUESTIONS)}."
                )
            return cls(
                data["question"],
                _sources(data),
                Wish.of(**runs._entries(data, "wish", tuple(Wish.__dataclass_fields__))),
                runs._text(data, "model_sha256"),
                runs._outputs(data),
                runs._list_of_texts(data, "notes"),
                runs._texts(data, "versions"),
                runs._text(data, "answer") or "",
            )
        except (InputError, TypeError) as problem:
            raise InputError(f"{path}: {problem}") from None


def _of_source(source: Source) -> dict[str, str]:
    known = {"path": source.path, "SHA-256": source.sha256, "read": "; ".join(source.understood)}
    return {name: value for name, value in known.items() if value}


def _sources(data: dict[str, Any]) -> dict[str, Source]:
    given = data.get("sources")
    if not isinstance(given, dict) or not given:
        raise InputError("the entry 'sources' is not what timelike writes: expected a source for each condition.")
    known = tuple(Source.__dataclass_fields__)
    return {name: runs._source(runs._entries({"source": one}, "source", known)) for name, one in given.items()}


def is_question(path: Path) -> bool:
    """Whether a record is of a question, not of clusters."""
    try:
        read_json(path, "the record of a question", FORMAT)
    except InputError:
        return False
    return True
