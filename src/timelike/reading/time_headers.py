"""Headers of wide tables: what they say about time, replicate and condition, decided by the whole header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats
from timelike.exceptions import InputError

UNITS = {
    "ms": "ms",
    **dict.fromkeys(["s", "sec", "secs", "second", "seconds"], "s"),
    **dict.fromkeys(["min", "mins", "minute", "minutes"], "min"),
    **dict.fromkeys(["h", "hr", "hrs", "hour", "hours", "hpi", "hpf"], "h"),
    **dict.fromkeys(["d", "day", "days", "dpi", "dpf"], "days"),
    **dict.fromkeys(["w", "wk", "wks", "week", "weeks"], "weeks"),
    **dict.fromkeys(["mo", "month", "months"], "months"),
    **dict.fromkeys(["y", "yr", "yrs", "year", "years"], "years"),
}
"""Words that are units of time -> how we write the unit."""
SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "days": 86400.0, "weeks": 604800.0}
TIME_WORDS = frozenset({"time", "times", "timepoint", "tp", "t", "age", "visit"})
REPLICATE_WORDS = frozenset({"rep", "reps", "replicate", "replicates", "repl", "r", "biorep", "br"})
NUMBERED_THINGS = frozenset(
    {"sample", "samples", "s", "gsm", "srr", "err", "drr", "srx", "subject", "patient", "gene", "probe", "protein"}
    | {"cell", "column", "col", "v", "var", "unnamed"}
)
"""Words before a number that counts things and is no time."""
HOW_TO_SAY = (
    "Say what the headers mean: header='{time}h_{replicate}' or the like (--header; {condition} and {any} may stand in "
    "it too), or give a sample sheet (samples=, --samples)."
)
MINUS = "\u2212"
_COMMA_OR_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?!\d)")
_CLOCK = r"\d{1,3}:[0-5]\d(?::[0-5]\d)?(?![\d:.,])"
_EXPONENT = rf"[eE][-+]?\d+(?:(?![^\W_])|(?=(?i:{'|'.join(UNITS)})(?![A-Za-z])))"
_NUMBER = re.compile(
    rf"((?:(?<![^\s(])[-+])?(?:(?<![\d:.,]){_CLOCK}|\d+(?:[.,]\d+)?|(?<![\w.])\.\d+)(?:{_EXPONENT})?)"
)  # a sign stands first or after a space; a point first in a number follows no letter


@dataclass(frozen=True)
class TimeColumns:
    """The columns of a wide table that hold values, and what is known of each.

    Attributes
    ----------
    positions
        Where they stand in the table.
    times
        Time of each, (k,).
    conditions
        Condition of each, or empty: there is only one.
    unit
        Unit of the times, if the header says it.
    remarks
        How the times were found, where that is not plain.
    notes
        Sentences that deserve a warning.
    subjects
        Whose sample each is, or empty: nobody said.
    unused
        Columns of the sample sheet that play no part.
    """

    positions: tuple[int, ...]
    times: Floats
    conditions: tuple[str, ...] = ()
    unit: str | None = None
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parts:
    """A header cell taken apart: words around numbers, and the unit that follows each number."""

    words: tuple[str, ...]
    numbers: tuple[float, ...]
    units: tuple[str | None, ...]


def apart(cell: str) -> Parts:
    """A header cell taken apart.

    Examples
    --------
    >>> apart("day 3 rep 2")
    Parts(words=('day', 'rep', ''), numbers=(3.0, 2.0), units=(None, None))
    >>> apart("12.5h_1")
    Parts(words=('', '_', ''), numbers=(12.5, 1.0), units=('h', None))
    """
    pieces = _NUMBER.split(cell.replace(MINUS, "-"))
    words, units = [pieces[0]], []
    for word in pieces[2::2]:
        match = re.match(r"\s*([A-Za-z]+)(?![A-Za-z])", word)
        unit = UNITS.get(match[1].lower()) if match else None
        units.append(unit)
        words.append(word[match.end() :] if match and unit else word)
    plain = tuple(word.strip().lower() for word in words)
    return Parts(plain, tuple(number_in(text) for text in pieces[1::2]), tuple(units))


def number_in(text: str) -> float:
    """A number as headers have it: with a decimal comma, or as on a clock.

    Examples
    --------
    >>> number_in("2,5"), number_in("1:30"), number_in("-1e3")
    (2.5, 1.5, -1000.0)
    """
    whole, *sixtieths = text.replace(",", ".").replace(MINUS, "-").split(":")
    beyond = sum(float(part) / 60**k for k, part in enumerate(sixtieths, 1))
    return float(whole) + (-beyond if whole.startswith("-") else beyond)


def time_columns(header: Sequence[str]) -> TimeColumns:
    """The columns whose headers are times: those that share the words around their numbers with most others.

    Examples
    --------
    >>> found = time_columns(["gene", "0h_1", "0h_2", "12h_1", "12h_2"])
    >>> found.times, found.unit
    (array([ 0.,  0., 12., 12.]), 'h')
    """
    parts, positions = _alike(_unlettered(_unrenamed(header)))
    if not positions:
        return TimeColumns((), np.zeros(0))
    chosen, names = [parts[k] for k in positions], [header[k] for k in positions]
    _refuse_dates(names)
    time = _time_position(chosen, names)
    _refuse_composed(chosen, names, time)
    times, unit, converted = _in_one_unit(chosen, time)
    remarks = (*_counted_replicates(chosen, time), *converted, *_clocked(names, times), *_indices(times, unit))
    return TimeColumns(positions, times, unit=unit, remarks=remarks)


def _alike(header: Sequence[str]) -> tuple[list[Parts], tuple[int, ...]]:
    """All headers taken apart, and the positions of those that share their words with most others."""
    parts = _signed([apart(cell) for cell in header])
    shapes = Counter(part.words for part in parts if part.numbers)
    if not shapes:
        return parts, ()
    shape = max(sorted(shapes), key=lambda words: (shapes[words], -len(words)))
    return parts, tuple(k for k, part in enumerate(parts) if part.words == shape)


def _counted_replicates(parts: list[Parts], time: int) -> list[str]:
    """A word about a number that is taken for the replicate though no word says so."""
    others = [p for p in _changing(parts) if p != time and _evidence(parts, p) != "replicate"]
    return ["a number beside the time counts replicates"] if others else []


def _indices(times: Floats, unit: str | None) -> list[str]:
    """A word about times that may be no more than numbers 1, 2, 3, ..."""
    distinct = np.unique(times)
    if unit is not None or len(distinct) < 4 or not np.array_equal(distinct, np.arange(1, len(distinct) + 1)):
        return []
    return [f"the times are the numbers 1 to {len(distinct)} of the headers; give others with times= (--times)"]


def _clocked(names: list[str], times: Floats) -> list[str]:
    """A word about times like 1:30; raises where they seem to pass midnight."""
    found = [name for name in names if re.search(rf"(?<![\d:.,]){_CLOCK}", name)]
    if found and (np.diff(times[np.sort(np.unique(times, return_index=True)[1])]) < 0).any():
        raise InputError(
            f"{some(found)} are times as on a clock, but in no order. If a midnight lies between them, give the times "
            "since the start (times=, --times), or a sample sheet (samples=, --samples)."
        )
    return [f"{found[0]!r} was read as on a clock, with sixtieths after the colon"] if found else []


# -- several numbers that are one time -----------------------------------------------------------------------

_YEAR, _MONTH_OR_DAY = r"(?:19|20)\d\d", r"(?:0?[1-9]|[12]\d|3[01])"
_DATE = re.compile(
    rf"(?<!\d)(?:{_YEAR}(?P<one>[-./_]){_MONTH_OR_DAY}(?P=one){_MONTH_OR_DAY}|"
    rf"{_MONTH_OR_DAY}(?P<two>[-./_]){_MONTH_OR_DAY}(?P=two){_YEAR}|"
    rf"{_MONTH_OR_DAY}(?P<three>[./]){_MONTH_OR_DAY}(?P=three)\d\d)(?!\d)"
)
COMPOSING = (":", "/", "^", ".")
"""Between two numbers, what can make one quantity of them: 1/2, 10^3, 3/15 in March."""


def _refuse_dates(names: list[str]) -> None:
    """Raise if headers have dates in them: their numbers are no times."""
    found = [name for name in names if _DATE.search(name)]
    if found:
        raise InputError(
            f"{some(found)} have dates in them. Write them as year-month-day alone, 2024-03-31, and give "
            "dates='common' (--dates common), or tell the times of the columns in a sample sheet (samples=, --samples) "
            "or by times= (--times)."
        )


def _refuse_composed(parts: list[Parts], names: list[str], time: int) -> None:
    """Raise if the time stands beside a number in a way that can make one quantity of both, or a year and a month."""
    for before in (time - 1, time):
        if 0 <= before < len(parts[0].numbers) - 1 and parts[0].units[before] is None:
            sign = parts[0].words[before + 1]
            if sign in COMPOSING:
                raise InputError(
                    f"two numbers with {sign!r} between them, as in {some(names)}, can be one time (a fraction, a "
                    f"date), or a time and a replicate. {HOW_TO_SAY}"
                )
    others = [p for p in _changing(parts) if p != time and _evidence(parts, p) != "replicate"]
    years = all(re.fullmatch(_YEAR, f"{p.numbers[time]:g}") and p.units[time] in (None, "years") for p in parts)
    if years and others and max(part.numbers[others[0]] for part in parts) <= 12:
        raise InputError(f"{some(names)} can be years with months, or with replicates. {HOW_TO_SAY}")


def refuse_numbered_things(names: Sequence[str]) -> None:
    """Raise if the numbers of headers count samples, genes or the like, and are no times."""
    part = apart(names[0])
    if len(part.numbers) == 1 and part.units[0] is None and _last_word(part.words[0]) in NUMBERED_THINGS:
        pattern = _NUMBER.sub("{time}", names[0])
        raise InputError(
            f"are {some(names)} numbered samples, or times? Give a sample sheet (samples=, --samples), the times of "
            f"the columns (times=, --times), or header={pattern!r} (--header) if the numbers are times."
        )


def refuse_thousands(cells: Sequence[str], decimal: str | None) -> None:
    """Raise if the commas in times can be decimal commas or thousands separators, and `decimal` does not say."""
    commas = [cell for cell in cells if re.search(r"\d,\d", cell)]
    if decimal != "," and commas and all(_COMMA_OR_THOUSANDS.search(cell) for cell in commas):
        raise InputError(
            f"the time {commas[0]!r} can be read with a decimal comma or with a thousands separator. Give decimal=',' "
            "(--decimal ,), or remove the separators."
        )


# -- replicates that have no number yet --------------------------------------------------------------------


def _unrenamed(header: Sequence[str]) -> list[str]:
    """Headers without the numbers by which pandas tells repeated names apart ("0h.1")."""
    stems = _stems(header)
    decimals = [k for k in stems if re.fullmatch(r"[-+]?\d+\.\d+", header[k])]
    doubtful = [header[k] for k in decimals]
    numbered = sum(_NUMBER.search(cell) is not None for cell in header)
    if (len(doubtful) > 1 and 2 * len(doubtful) >= numbered) or (doubtful := _dotted_replicates(header)):
        words = re.split(r"\d+\.\d+", doubtful[0].lstrip("+-"), maxsplit=1)
        raise InputError(
            f"{some(doubtful)} can be times, or times with the number of a replicate after the point. Say which: "
            f"header='{words[0]}{{time}}{words[1]}' or header='{words[0]}{{time}}.{{replicate}}{words[1]}' (--header)."
        )
    return [stems[k] if k in stems and k not in decimals else cell for k, cell in enumerate(header)]


def _stems(header: Sequence[str]) -> dict[int, str]:
    """Position -> name before the renaming, for names like "0h.1" beside "0h", "0h.2" beside "0h.1" and so on."""
    known = set(header)
    matches = {k: m for k, cell in enumerate(header) if (m := re.fullmatch(r"(.*\d.*)\.([1-9]\d*)", cell))}
    whole = {k: m for k, m in matches.items() if m[1] in known}
    return {k: m[1] for k, m in whole.items() if m[2] == "1" or f"{m[1]}.{int(m[2]) - 1}" in known}


def _dotted_replicates(header: Sequence[str]) -> list[str]:
    """Headers like 0.1, 0.2, 4.1, 4.2, where the digits after the point count from 1 for each number before it."""
    dotted = {cell: m for cell in header if (m := re.fullmatch(r"(\D*\d+)\.(\d+)(\D*)", cell))}
    after: dict[tuple[str, str], set[str]] = {}
    for match in dotted.values():
        after.setdefault((match[1], match[3]), set()).add(match[2])
    counts = [found == {str(k + 1) for k in range(len(found))} and len(found) > 1 for found in after.values()]
    whole = any(re.fullmatch(r"\D*\d+\D*", cell) for cell in header)
    return list(dotted) if len(counts) > 1 and all(counts) and not whole else []


def _unlettered(header: list[str]) -> list[str]:
    """Headers with numbers for the letters of replicates ("0h_a"), if they start with a and several share a time."""
    form = re.compile(r"(.*\d[^A-Za-z]*|.*\d.*[_\-. ])(?:rep(?:licate)?[_\-. ]?)?([A-Za-z])")
    matches = {k: m for k, cell in enumerate(header) if (m := form.fullmatch(cell)) and not _is_unit(cell)}
    stems = {k: m[1].rstrip("_-. ") for k, m in matches.items()}
    letters = sorted({m[2].lower() for m in matches.values()})
    if len(letters) < 2 or letters != [chr(ord("a") + k) for k in range(len(letters))]:
        return header
    if max(Counter(stems.values()).values()) < 2:
        return header
    return [f"{stems[k]} rep {ord(matches[k][2].lower()) - 96}" if k in stems else c for k, c in enumerate(header)]


def _is_unit(cell: str) -> bool:
    """Whether a header ends in its number and a unit, like "12h"."""
    parts = apart(cell)
    return bool(parts.units) and parts.units[-1] is not None and not parts.words[-1]


def _signed(parts: list[Parts]) -> list[Parts]:
    """A dash before a number is a sign where the same header stands without it too: "t-5" beside "t0"."""
    shapes = {part.words for part in parts if part.numbers}
    return [signed if (signed := _with_sign(part)).words in shapes else part for part in parts]


def _with_sign(part: Parts) -> Parts:
    """A header cell whose first dash is the sign of its first number."""
    if not part.numbers or not part.words[0].endswith("-"):
        return part
    words = (part.words[0][:-1].strip(), *part.words[1:])
    return Parts(words, (-part.numbers[0], *part.numbers[1:]), part.units)


# -- which number is the time ------------------------------------------------------------------------------


def _last_word(text: str) -> str:
    match = re.search(r"([A-Za-z]+)[^A-Za-z]*$", text)
    return match[1] if match else ""


def _evidence(parts: list[Parts], position: int) -> str:
    """What the words say about a number: "time", "replicate" or nothing."""
    before = _last_word(parts[0].words[position])
    if before in REPLICATE_WORDS:
        return "replicate"
    if parts[0].units[position] is not None or before in TIME_WORDS or before in UNITS:
        return "time"
    return ""


def _changing(parts: list[Parts]) -> list[int]:
    """Which numbers of the headers are not the same in all."""
    count = len(parts[0].numbers)
    return [p for p in range(count) if len({(part.numbers[p], part.units[p]) for part in parts}) > 1]


def _time_position(parts: list[Parts], names: list[str]) -> int:
    """Which number of the headers is the time."""
    count = len(parts[0].numbers)
    changing = _changing(parts)
    says = [_evidence(parts, p) for p in range(count)]
    if count == 1:
        if says[0] == "replicate":
            raise InputError(f"{some(names)} number replicates, but no header has a time. {HOW_TO_SAY}")
        return 0
    if len(changing) == 2:
        return _time_of_two(parts, names, changing, says)
    if len(changing) > 2:
        raise InputError(f"{some(names)} have {len(changing)} numbers that change. {HOW_TO_SAY}")
    candidates = [p for p in range(count) if says[p] == "time"] or [p for p in changing if says[p] != "replicate"]
    others = [p for p in changing if p not in candidates and says[p] != "replicate"]
    if len(candidates) == 1 and all(_counts(parts, p, (0, 1)) and not _is_named(parts[0], p) for p in others):
        return candidates[0]
    raise InputError(f"it is not clear which number of {some(names)} is the time. {HOW_TO_SAY}")


def _time_of_two(parts: list[Parts], names: list[str], changing: list[int], says: list[str]) -> int:
    first, second = changing
    found = [p for p in (first, second) if says[p] == "replicate"]
    times = [p for p in (first, second) if says[p] == "time"]
    if len(found) != 1 and len(times) == 1:
        other = second if times[0] == first else first
        found = [other] if _counts(parts, other, (0, 1)) else []
    elif not found and not times:
        found = [p for p in (first, second) if _counts(parts, p, (1,))]
    if len(found) == 1 and says[found[0]] != "replicate" and _is_named(parts[0], found[0]):
        found = []
    pairs = {(part.numbers[first], part.numbers[second]) for part in parts}
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"the column {twice[0]!r} stands twice. Give each column its own time and replicate.")
    if len(found) != 1 or len(pairs) < len(parts):
        raise InputError(_two_readings(names, changing, times))
    return second if found[0] == first else first


def _is_named(part: Parts, position: int) -> bool:
    """Whether a word or a unit stands at a number: "dose1", "cluster 1", "1uM", "1 %"."""
    before, after = part.words[position], part.words[position + 1]
    return before[-1:].isalpha() or after[:1].isalpha() or after.startswith("%")


def _counts(parts: list[Parts], position: int, starts: tuple[int, ...]) -> bool:
    """Whether a number runs from 0 or 1 upwards without a gap, as replicates do."""
    seen = sorted({part.numbers[position] for part in parts})
    return seen[0] in starts and seen == [seen[0] + k for k in range(len(seen))]


def _two_readings(names: list[str], changing: list[int], times: list[int]) -> str:
    first, second = changing
    one = _pattern(names[0], {first: "{time}", second: "{replicate}"})
    other = _pattern(names[0], {first: "{replicate}", second: "{time}"})
    if len(times) == 1:
        rest = second if times[0] == first else first
        one, other = (_pattern(names[0], {times[0]: "{time}", rest: hole}) for hole in ("{replicate}", "{condition}"))
    return (
        f"{some(names)} can be read as {one} or as {other}. Say which: header={one!r} or header={other!r} "
        "(--header), or give a sample sheet (samples=, --samples)."
    )


def _pattern(name: str, roles: dict[int, str]) -> str:
    pieces = _NUMBER.split(name)
    return "".join(roles.get(k // 2, piece) if k % 2 else piece for k, piece in enumerate(pieces))


def some(names: Sequence[str], most: int = 5) -> str:
    """The first few names, for a sentence."""
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")


# -- units ---------------------------------------------------------------------------------------------------


def words_of(name: str) -> list[str]:
    """The words of a column's name, in lower case: "Gene_ID" -> gene, id."""
    return re.findall(r"[a-z]+", name.lower())


def unit_in(text: str) -> str | None:
    """The unit that the name of a column tells: "time (h)", "Hours", "age_years".

    Examples
    --------
    >>> unit_in("time (h)"), unit_in("Day"), unit_in("time")
    ('h', 'days', None)
    """
    found = [UNITS[word] for word in words_of(text) if word in UNITS]
    return found[0] if len(set(found)) == 1 else None


def _unit_before(text: str) -> str | None:
    """The unit that stands before a number: "day 3", "D3". An s there is a sample, no second."""
    word = _last_word(text)
    return None if word in NUMBERED_THINGS else UNITS.get(word)


def _in_one_unit(parts: list[Parts], time: int) -> tuple[Floats, str | None, list[str]]:
    """The times, their unit, and a word where some were converted."""
    times = np.array([part.numbers[time] for part in parts])
    units = [part.units[time] or _unit_before(part.words[time]) for part in parts]
    if len(set(units)) == 1:
        return times, units[0], []
    found = Counter(units).most_common(1)[0][0]
    if found not in SECONDS or not all(unit in SECONDS for unit in units):
        shown = ", ".join(sorted({str(unit or "none") for unit in units}))
        raise InputError(f"the headers have times in different units ({shown}). {HOW_TO_SAY}")
    factors = np.array([SECONDS[str(unit)] for unit in units]) / SECONDS[found]
    return times * factors, found, [f"times in {', '.join(sorted(set(map(str, units))))} were converted to {found}"]


def times_of(texts: Sequence[str]) -> list[tuple[float, str | None]]:
    """The time that each cell tells, as a number or with words around it, and its unit; a dash is a sign as in headers.

    Examples
    --------
    >>> times_of(["day-7", "day0", "12h", "soon"])
    [(-7.0, 'days'), (0.0, 'days'), (12.0, 'h'), (nan, None)]
    """
    nothing = (float("nan"), None)
    parts = _signed([apart(text.strip()) for text in texts])
    return [(p.numbers[0], p.units[0] or _unit_before(p.words[0])) if len(p.numbers) == 1 else nothing for p in parts]


# -- a pattern that the user gives ---------------------------------------------------------------------------

_HOLES = {
    "{time}": rf"(?P<time>[-+\u2212]?(?:{_CLOCK}|\d+[.,]?\d*|\.\d+)(?:[eE][-+]?\d+)?)",
    "{replicate}": r"(?P<replicate>.+?)",
    "{condition}": r"(?P<condition>.+?)",
    "{any}": r".*?",
}


def matching_columns(header: Sequence[str], pattern: str) -> TimeColumns:
    """The columns whose headers have the form of `pattern`.

    Examples
    --------
    >>> found = matching_columns(["gene", "wt_2_a", "ko_2_a"], "{condition}_{time}_{replicate}")
    >>> found.times, found.conditions
    (array([2., 2.]), ('wt', 'ko'))
    """
    if pattern.endswith(".{replicate}") and (stems := _stems(header)):  # the first of each has no number
        return matching_columns([stems.get(k, c) for k, c in enumerate(header)], pattern.removesuffix(".{replicate}"))
    matches = {k: match for k, cell in enumerate(header) if (match := _compiled(pattern).fullmatch(cell))}
    if not matches:
        raise InputError(f"no header has the form {pattern!r}. The headers: {some(header)}.")
    times = np.array([number_in(match["time"]) for match in matches.values()])
    after = re.match(r"\s*([A-Za-z]+)", pattern.partition("{time}")[2])
    unit = UNITS.get(after[1].lower()) if after else None
    before = _unit_before(pattern.partition("{time}")[0].lower())
    conditions = tuple(m["condition"] for m in matches.values()) if "{condition}" in pattern else ()
    return TimeColumns(tuple(matches), times, conditions, unit or before)


def _compiled(pattern: str) -> re.Pattern[str]:
    pieces = re.split(r"(\{\w*\})", pattern)
    holes = [piece for piece in pieces if piece.startswith("{")]
    known = ", ".join(_HOLES)
    if unknown := [hole for hole in holes if hole not in _HOLES]:
        raise InputError(f"the pattern {pattern!r} has {unknown[0]}: expected some of {known}.")
    if holes.count("{time}") != 1 or any(holes.count(h) > 1 for h in _HOLES if h != "{any}"):
        raise InputError(f"the pattern {pattern!r} must have {{time}} once, and others of {known} at most once.")
    return re.compile("".join(_HOLES.get(piece, re.escape(piece)) for piece in pieces))


# -- times that the user gives -------------------------------------------------------------------------------


def columns_for(header: Sequence[str], times: Sequence[float]) -> TimeColumns:
    """The columns for times that the user gives: numbered, where the header can mean several times, one for each.

    Examples
    --------
    >>> columns_for(["gene", "1/2", "1/9"], [0, 7]).times
    array([0., 1.])
    """
    try:
        return time_columns(header)
    except InputError:
        positions = _alike(header)[1]
        if len(times) != len(positions):
            raise
        return TimeColumns(positions, np.arange(len(positions), dtype=float))


def with_times(found: TimeColumns, times: Sequence[float]) -> TimeColumns:
    """The columns at other times: one for each different time of the header, ascending, or one for each column.

    Examples
    --------
    >>> with_times(time_columns(["T1R1", "T1R2", "T2R1", "T2R2"]), [0, 5]).times
    array([0., 0., 5., 5.])
    """
    real = np.ravel(np.asarray(times, dtype=float))
    distinct, which = np.unique(found.times, return_inverse=True)
    disordered = (np.diff(found.times) < 0).any() and (np.diff(real) > 0).all()
    if disordered and len(real) == len(distinct) == len(found.times):
        raise InputError("the columns do not stand in the order of their times: give a sample sheet instead of times=.")
    if len(real) not in (len(found.times), len(distinct)):
        raise InputError(
            f"times= has {len(real)} times, but the header has {len(distinct)} different ones in {len(found.times)} "
            "columns: give one for each."
        )
    each = real if len(real) == len(found.times) else real[which.ravel()]
    return TimeColumns(found.positions, each, found.conditions)
