"""Odd and malformed files as people really have them: each is understood, or gets a message that says what to do."""

import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import timelike as tl
from timelike.reading import read_table, understand

FUZZ = int(os.environ.get("TIMELIKE_FUZZ", "1"))
"""How many times more random files than usual: make fuzz."""


def zipped(name):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr(name, "gene,0,1\na,1,2\n")
    return memory.getvalue()


def write(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


REFUSED = {
    "an empty file": ("", "there are 0 lines: expected a header and at least one row."),
    "empty lines": ("\n\n \n", "there are 0 lines: expected a header and at least one row."),
    "a header alone": ("gene,0,1\n", "there is 1 line: expected a header and at least one row."),
    "one column": ("gene\na\nb\n", "the header 'gene' has one column. Separate columns by comma, semicolon or tab"),
    "a row too short": ("gene,0,1\na,1,2\nb,1\n", "line 3: 2 cells, but the header has 3 columns."),
    "a row too short, with a delimiter in quotes": (
        'gene,0,1\na,1,2\n"b,c",1\n',
        "line 3: 2 cells, but the header has 3 columns.",
    ),
    "a row too long": ("gene,0,1\na,1,2\nb,1,2,3\n", "line 3: 4 cells, but the header has 3 columns."),
    "decimal commas between commas": (
        "gene,0,1\na,1,5,2,5\nb,1,5,2,5\n",
        "line 2: 5 cells, but the header has 3 columns. Decimal commas? Write decimals with a point, or separate "
        "columns by semicolons.",
    ),
    "a quote that is not closed": (
        'gene,0,1\n"a,1,2\nb,3,4\nc,5,6\n',
        "line 2: 1 cell, but the header has 3 columns. The row goes on to line 4: is a quote not closed?",
    ),
    "a huge cell": (f'gene,0,1\na,1,2\n"{"x" * 200_000}\n', "line 3: field larger than field limit"),
    "a word among numbers": (
        "gene,0,1\n# remark\na,1,2\n\nb,x,3\n",
        "line 5, column '0': 'x' is not a number. Leave the cell empty if nothing was measured.",
    ),
    "two decimal marks": (
        "gene;0h;2h\na;1,5;2\nb;0.25;3,5\n",
        "line 2, column '0h': '1,5' has a decimal comma, but '0.25' (line 3, column '0h') has a decimal point.",
    ),
    "decimal comma or thousands": (
        "gene;0h;2h\na;1,500;2\nb;4,250;3\n",
        "line 2, column '0h': '1,500' can be read with a decimal comma (1.500) or with a thousands separator (1500). "
        "Give decimal=',' (--decimal ,), or remove them.",
    ),
    "thousands by commas": (
        'gene,0h,2h\na,"1,234,567",2\n',
        "'1,234,567' is not a number: it seems to have thousands sep",
    ),
    "thousands by points": (
        "gene;0h;2h\na;1.234,5;2\n",
        "'1.234,5' is not a number: it seems to have thousands separators",
    ),
    "thousands by apostrophes": ("gene,0h,2h\na,1'234,2\n", '"1\'234" is not a number: it seems to have thousands sep'),
    "thousands by underscores": ("gene,0h,2h\na,1_234,2\n", "'1_234' is not a number: it seems to have thousands sep"),
    "infinity": ("gene,0,1\na,1,inf\n", "line 2, column '1': 'inf' is not finite. Leave the cell empty"),
    "a huge number": ("gene,0,1\na,1e200,2\n", "line 2, column '0': '1e200' is larger than 1e+150"),
    "more than a float holds": ("gene,0,1\na,1e999,2\n", "line 2, column '0': '1e999' is larger than 1e+150"),
    "percent signs": ("gene,0,1\na,12%,2\n", "'12%' is not a number. Remove the percent signs."),
    "units in cells": (
        "gene,0,1\na,3.2 mg,2\n",
        "'3.2 mg' is not a number alone. Put units and remarks into the header",
    ),
    "limits": ("gene,0,1\na,<0.5,2\n", "'<0.5' is a limit, not a number."),
    "true and false": ("gene,0,1\na,TRUE,2\nb,FALSE,1\n", "line 2, column '0': 'TRUE' is not a number."),
    "a name twice": (
        "gene,0,1\na,1,2\nb,1,2\na,3,4\n",
        "the name 'a' stands for two courses, line 2 and line 4. Give duplicates='number' (--duplicates number) to "
        "call it 'a-2', or name another column of names with course= (--course).",
    ),
    "an empty name": ("gene,0,1\na,1,2\n,3,4\n", "line 3: the name is empty. Give duplicates='number'"),
    "no value at all": ("gene,0,1\na,,NA\n", "no course has a value."),
    "no names": ("0,1,2\n1,2,3\n", "the header '0', '1', '2' has no column for names."),
    "no times": ("gene,early,late\na,1,2\n", "the header 'gene', 'early', 'late' has no times."),
    "a commented header": (
        "#gene,0h,2h\na,1,2\nb,1,2\n",
        "line 1 looks like the header, but it is a comment: '#gene,0h,2h'. Remove the # at its start",
    ),
    "a column twice": ("gene,0h_1,0h_1,2h_1,2h_2\na,1,2,3,4\n", "the column '0h_1' stands twice."),
    "latin-1": (
        "gene,0h\ngr\xfcn,1\n".encode("latin-1"),
        "not a text table in UTF-8: line 2 has the byte 0xfc. Save it as",
    ),
    "UTF-16 cut short": ("gene\t0h\t2h\na\t1\t2\n".encode("utf-16")[:-1], "it is not a text table in UTF-16: line 2"),
    "zero bytes": (b"\x00\x01\x02\xff" * 10, "it is not a text table: it has zero bytes. Save it as CSV in UTF-8."),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00", "it is a PNG picture file, not a table. Save the table as CSV."),
    "a zip archive": (zipped("genes.csv"), "it is a zip archive. Unpack it and give the table inside."),
    "half an Excel file": (zipped("xl/workbook.xml"), "the workbook cannot be read: "),
    "an old Excel file": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99,
        "it is an old Excel file (.xls). Save it as",
    ),
    "half a Parquet file": (b"PAR1" + b"\0" * 20, "the Parquet file cannot be read: "),
    "half an HDF5 file": (b"\x89HDF\r\n\x1a\n" + b"\0" * 20, "it is not an AnnData file that can be read: "),
    "half a gzip file": (gzip.compress(b"gene,0,1\na,1,2\n" * 99)[:30], "cannot read it: "),
    "a gzip file with a scratch": (gzip.compress(b"gene,0,1\na,1,2\n")[:10] + b"\0" * 9, "cannot read it: "),
    "a web page": ("<!DOCTYPE html><html>\n<body>Log in</body></html>", "it is a web page or XML, not a table."),
    "samples or times": ("gene,GSM100,GSM101\na,1,2\n", "are 'GSM100', 'GSM101' numbered samples, or times?"),
    "conditions in the header": (
        "gene,wt_0h,wt_2h,ko_0h,ko_2h\na,1,2,3,4\n",
        "'wt_0h', 'wt_2h' could be times too, but are written unlike 'ko_0h'. Say which headers are times: "
        "header='{condition}_{time}h_{replicate}' or the like (--header), or give a sample sheet",
    ),
    "time or replicate": (
        "gene,1_1,1_2,2_1,2_2\na,1,2,3,4\n",
        "can be read as {time}_{replicate} or as {replicate}_{time}. Say which: header='{time}_{replicate}' or "
        "header='{replicate}_{time}' (--header), or give a sample sheet (samples=, --samples).",
    ),
    "replicate or dose": (
        "gene,2h_10,2h_50,4h_10,4h_50\na,1,2,3,4\n",
        "can be read as {time}h_{replicate} or as {time}h_{condition}.",
    ),
    "replicates that pandas renamed, or times": (
        "gene,0,0.1,2,2.1\na,1,2,3,4\n",
        "'0.1', '2.1' can be times, or times with the number of a replicate after the point. Say which: "
        "header='{time}' or header='{time}.{replicate}' (--header).",
    ),
    "replicates after a point, or times": (
        "gene,0.1,0.2,4.1,4.2\na,1,2,3,4\n",
        "or times with the number of a replicate",
    ),
    "three numbers": (
        "gene,1_1_5,1_2_6,2_1_7,2_2_8\na,1,2,3,4\n",
        "have 3 numbers that change. Say what the headers mean",
    ),
    "replicates without a time": (
        "gene,rep1,rep2\na,1,2\n",
        "'rep1', 'rep2' number replicates, but no header has a time.",
    ),
    "times written in two ways": ("gene,E14.5,E15.5,P0\na,1,2,3\n", "'P0' could be times too, but are written unlike"),
    "months and days": (
        "gene,5days,9days,2months\na,1,2,3\n",
        "the headers have times in different units (days, months)",
    ),
    "a course a row or a column": (
        "time,0,6\n1,5,6\n2,7,8\n",
        "the first column is called 'time', but the other headers are times too: '0', '6'. Give orient='rows' "
        "(--orient rows) if each row is a course, orient='columns' if each column is one.",
    ),
    "names under time": (
        "time,g1,g2\na,5,6\nb,7,8\n",
        "the column 'time' seems to hold names. Is the table transposed?",
    ),
    "a time missing down the side": ("time,a,b\n0,1,2\nNA,3,4\n", "line 3: the time (column 'time') is missing."),
    "dates in the header": ("gene,2024-01-01,2024-01-08\na,1,2\n", "are dates. Give dates='common' (--dates common)"),
    "dates in a tidy table": (
        "patient,date,value\np,2024-01-31,1\nq,2024-02-10,3\n",
        "the times are dates. Give dates='own' (--dates own) for days since the first date of each course, or "
        "dates='common' for days since the first date of all.",
    ),
    "a tidy table without known values": (
        "id,day,mmHg\na,0,1\na,6,2\n",
        "no column is known to hold the values. Say which: value= (--value). The columns: 'id', 'day', 'mmHg'.",
    ),
    "a tidy table with two times": (
        "id,day,age,value\na,0,50,1\n",
        "'day' and 'age' could hold the times. Say which: time= (--time).",
    ),
    "a measurement without a time": ("course,time,value\na,,2\n", "line 2: the time (column 'time') is missing."),
    "a measurement of nobody": ("course,time,value\n,1,2\n", "line 2: the course (column 'course') is empty."),
    "a time in words": ("course,time,value\na,soon,2\n", "line 2, column 'time': 'soon' is not a number."),
    "merged cells in the header": (
        "gene,0h,,2h,\na,1,2,3,4\n",
        "column 3 has numbers but no header. Merged cells? Repeat the time above each replicate, or remove the column.",
    ),
    "thousands in the header": (
        'gene,100,500,"1,000"\na,1,2,3\n',
        "the time '1,000' can be read with a decimal comma or with a thousands separator. Give decimal=',' "
        "(--decimal ,), or remove the separators.",
    ),
    "replicate or micromolar": (
        "gene,0h_0uM,0h_1uM,24h_0uM,24h_1uM\na,1,2,3,4\n",
        "can be read as {time}h_{replicate}uM or as {time}h_{condition}uM.",
    ),
    "replicate or per cent": (
        "gene,0h_0%,0h_1%,24h_0%,24h_1%\na,1,2,3,4\n",
        "can be read as {time}h_{replicate}% or as {time}h_{condition}%.",
    ),
    "a number at a word, or another": (
        "gene,X1_1,X1_2,X2_1,X2_2\na,1,2,3,4\n",
        "can be read as X{time}_{replicate} or as X{replicate}_{time}.",
    ),
    "a dose before the time": (
        "gene,dose0_0h,dose1_0h,dose0_24h,dose1_24h\na,1,2,3,4\n",
        "can be read as dose{replicate}_{time}h or as dose{condition}_{time}h.",
    ),
    "clusters of cells": (
        "gene,0h_cluster1,0h_cluster2,2h_cluster1,2h_cluster2\na,1,2,3,4\n",
        "can be read as {time}h_cluster{replicate} or as {time}h_cluster{condition}.",
    ),
    "two columns of conditions": (
        "gene,time,value,treatment,genotype\na,0,1,no,wt\na,0,2,no,ko\na,0,3,yes,wt\na,0,4,yes,ko\n",
        "'treatment' and 'genotype' both tell conditions. Merge them into one column, or remove one.",
    ),
    "dates with a time zone": (
        "patient,date,value\np,2024-01-31T08:00:00Z,1\np,2024-02-10T08:00:00Z,3\n",
        "line 2, column 'date': '2024-01-31T08:00:00Z' has a time zone. Write dates without it: 2024-03-31 14:30.",
    ),
    "dates with an offset": (
        "patient,date,value\np,2024-01-31 08:00+00:00,1\np,2024-02-10 08:00+00:00,3\n",
        "'2024-01-31 08:00+00:00' has a time zone.",
    ),
    "a row of cells that a # begins, where a number should be": (
        "gene,0h,2h\na,1,2\n#b,2,x\n",
        "line 3, column '2h': 'x' is not a number.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_word(tmp_path, case):
    content, message = REFUSED[case]
    path = write(tmp_path, content)
    with pytest.raises(tl.InputError) as caught:
        tl.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


TWO_HOURS = "1 course, 2 times (0 to 2 h)"
UNDERSTOOD = {
    "a byte-order mark": ("\ufeffgene,0h,2h\na,1,2\n", {}, TWO_HOURS),
    "Excel's Unicode text": ("gene\t0h\t2h\r\na\t1\t2\r\n".encode("utf-16"), {}, TWO_HOURS),
    "Windows line ends": (b"gene,0h,2h\r\na,1,2\r\n", {}, TWO_HOURS),
    "old Mac line ends": (b"gene,0h,2h\ra,1,2\r", {}, TWO_HOURS),
    "no line end at the end": ("gene,0h,2h\na,1,2", {}, TWO_HOURS),
    "comments": ("# a\n# b, c\ngene,0h,2h\n# d\na,1,2\n", {}, TWO_HOURS),
    "gzip without the ending": (gzip.compress(b"gene,0h,2h\na,1,2\n"), {}, TWO_HOURS),
    "spaces around cells": ('gene, 0h , 2h\n"a", 1 , 2\n', {}, TWO_HOURS),
    "delimiters in quotes": ('gene,0h,2h\n"a, the ""first""",1,2\n', {}, TWO_HOURS),
    "delimiters at the ends": ("gene,0h,2h,,\na,1,2,,\n", {}, TWO_HOURS),
    "delimiters at the ends of rows": ("gene,0h,2h\na,1,2,\n", {}, TWO_HOURS),
    "a delimiter at the end of the header": ("gene,0h,2h,\na,1,2\n", {}, TWO_HOURS),
    "rows of nothing": ("gene,0h,2h\na,1,2\n,,\n , , \n", {}, TWO_HOURS),
    "R's table without a name for names": ('"0h"\t"2h"\n"a"\t1\t2\n', {}, TWO_HOURS),
    "R's table with spaces": ('"0h" "2h"\n"a" 1 2\n', {}, TWO_HOURS),
    "columns aligned by spaces": ("gene   0h   2h\na      1    2\n", {}, TWO_HOURS),
    "decimal commas": ("gene;0h;2h\na;1,5;2,25\n", {}, TWO_HOURS),
    "decimal commas in the header": ("gene;0,5h;2h\na;1,5;2,25\n", {}, "1 course, 2 times (0.5 to 2 h)"),
    "a decimal comma by option": ("gene;0h;2h\na;1,500;2,250\n", {"decimal": ","}, TWO_HOURS),
    "units of two kinds": ("gene,0min,30min,1h,2h\na,1,2,3,4\n", {}, "1 course, 4 times (0 to 120 min)"),
    "days before": ("gene,-5,0,5\na,1,2,3\n", {}, "1 course, 3 times (-5 to 5)"),
    "a course a column": ("time (h),a,b\n0,1,2\n6,3,4\n6,5,6\n", {}, "2 courses, 2 times (0 to 6 h), some replicated"),
    "a course a column, times with units": ("time,a,b\n0h,1,2\n6h,3,4\n", {}, "2 courses, 2 times (0 to 6 h)"),
    "times that the user gives": ("gene,early,late\na,1,2\n", {"times": [0, 6]}, "1 course, 2 times (0 to 6)"),
    "dates of the header": (
        "gene,2024-01-01,2024-01-08\na,1,2\n",
        {"dates": "common"},
        "1 course, 2 times (0 to 7 days)",
    ),
    "remarks among rows": (
        "gene,0h,2h\na,1,2\n# b, c, d\n# e,,\n#\n# 1 remark, 2 cells\n",
        {},
        TWO_HOURS,
    ),
    "minus signs": (
        "gene,\u22125h,\u22123h,\u22121h\na,1,2,3\n",
        {},
        "1 course, 3 times (-5 to -1 h)",
    ),
    "decimal commas of three digits": (
        "gene;0,5;1,125\na;1;2\n",
        {},
        "1 course, 2 times (0.5 to 1.125)",
    ),
    "a decimal comma in the header by option": (
        "gene;1,125;2,250\na;1;2\n",
        {"decimal": ","},
        "1 course, 2 times (1.125 to 2.25)",
    ),
    "thousands in the header, with other times": (
        'gene,"1,000","2,000"\na,1,2\n',
        {"times": [0, 6]},
        "1 course, 2 times (0 to 6)",
    ),
    "a column that tells all conditions": (
        "gene,time,value,treatment,genotype,group\na,0,1,no,wt,1\na,0,2,no,ko,2\na,0,3,yes,wt,3\n",
        {},
        "3 courses, 1 time (0 to 0)",
    ),
    "usual names": ("Gene_ID,Time (h),Expression\na,0,1\na,2,2\n", {}, TWO_HOURS),
}


@pytest.mark.parametrize("case", UNDERSTOOD)
def test_understood(tmp_path, case):
    content, options, summary = UNDERSTOOD[case]
    found = understand(write(tmp_path, content), **options)
    assert found.lines()[0] == summary
    assert found.notes == ()


def test_numbers_survive_decimal_commas_and_thousands_that_were_decided(tmp_path):
    path = write(tmp_path, "gene;0h;2h\na;1,500;2,250\n")
    np.testing.assert_array_equal(tl.read(path, decimal=",").values, [1.5, 2.25])
    with pytest.raises(tl.InputError, match=r"'1,500' is not a number"):
        tl.read(path, decimal=".")


def test_names_that_a_spreadsheet_turned_into_dates(tmp_path):
    with pytest.warns(tl.DataWarning, match="1-Mar, Sep-02 look like gene names that a spreadsheet turned into dates"):
        tl.read(write(tmp_path, "gene,0,1\n1-Mar,1,2\nSep-02,3,4\nHLA-A,5,6\n"))


def test_folders_and_forbidden_files(tmp_path):
    with pytest.raises(tl.InputError, match="it is a folder"):
        tl.read(tmp_path)
    path = write(tmp_path, "gene,0,1\na,1,2\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # the super-user may read everything
        assert len(tl.read(path)) == 1
    else:
        with pytest.raises(tl.InputError, match="you may not read it"):
            tl.read(path)


@pytest.mark.parametrize("read", [tl.read, lambda path: read_table(Path(path))])
def test_pipes_and_devices_are_refused(read):
    """A pipe is read only once: who looks at its beginning first has lost it."""
    with pytest.raises(tl.InputError, match=f"{os.devnull} is a pipe or a device. Save the table as a file first"):
        read(os.devnull)


@pytest.mark.parametrize("content", ["gene,0h,2h\na,1,2\n#b,2,\n", "gene,time,value\na,0,1\n#b,0,2\n#b,2,3\n"])
def test_a_row_whose_name_begins_like_a_remark_is_kept_with_a_word(tmp_path, content):
    path = write(tmp_path, content)
    with pytest.warns(tl.DataWarning, match="'#b' begins like a remark, but its row has numbers: it is a course"):
        assert tl.read(path).names == ("a", "#b")
    assert read_table(path).texts([0])[0][:2] == ["a", "#b"]


HEADLESS = "YAL001C,1.0,0.25,3.5\nYAL002W,2,3,4\n"


def test_a_table_without_a_header_is_refused_with_the_way_out(tmp_path):
    with pytest.raises(tl.InputError, match=r"look like values\. Say so.*--no-header --times"):
        tl.read(write(tmp_path, HEADLESS))
    assert list(tl.read(write(tmp_path, HEADLESS), header="{time}").names) == ["YAL002W"]


def test_a_table_without_a_header_is_read_when_it_is_said(tmp_path):
    courses = tl.read(write(tmp_path, HEADLESS), no_header=True, times=[0, 0, 6])
    assert courses.names == ("YAL001C", "YAL002W")
    np.testing.assert_array_equal(courses.grid, [0, 0, 6])
    np.testing.assert_array_equal(courses["YAL001C"].values, [1, 0.25, 3.5])


def test_a_sheet_without_a_header_is_read_when_it_is_said(tmp_path):
    path = tmp_path / "table.xlsx"
    pd.DataFrame([["a", 1.0, 2.0], ["b", 3.0, 4.0]]).to_excel(path, header=False, index=False)
    courses = tl.read(path, no_header=True, times=[0, 6])
    assert courses.names == ("a", "b")
    np.testing.assert_array_equal(courses["a"].values, [1, 2])


def test_a_tidy_table_without_a_header(tmp_path):
    text = "a,0,1.5\na,6,2.5\nb,0,3.5\n"
    columns = {"course": "name", "time": "column 2", "value": "column 3"}
    courses = tl.read(write(tmp_path, text), no_header=True, **columns)
    assert courses.names == ("a", "b")
    np.testing.assert_array_equal(courses["a"].values, [1.5, 2.5])


def test_mistakes_about_headers(tmp_path):
    with pytest.raises(tl.InputError, match="without a header nothing tells the times of its 3 columns of values"):
        tl.read(write(tmp_path, HEADLESS), no_header=True)
    with pytest.raises(tl.InputError, match="line 2: 3 cells, but the first line has 4"):
        tl.read(write(tmp_path, "a,1.5,2,3\nb,1,2\n"), no_header=True, times=[0, 1, 2])
    with pytest.raises(tl.InputError, match="no_header= has no meaning here: this is a pandas table"):
        tl.read(pd.DataFrame({"gene": ["a"], "0h": [1.0]}), no_header=True)


@pytest.mark.parametrize(
    "header",
    ["YAL001C,0.5,1,2.5", "YAL001C,8,4,2.5", "gene,2.5,1,4", ",2.5,1,4", "orf,1,10,2", "orf,2.5h,1h,4h", "o,1.5,1,1.5"],
)
def test_usual_headers_do_not_look_like_values(tmp_path, header):
    assert understand(write(tmp_path, f"{header}\na,2,3,4\n")).notes == ()


def test_what_else_cannot_be_read():
    with pytest.raises(tl.InputError, match="the int: it cannot be read: expected a path"):
        tl.read(5)


# -- whatever comes: courses, or an InputError ---------------------------------------------------------------

PIECES = [
    "gene",
    "time",
    "value",
    "0h",
    "12h",
    "1",
    "2.5",
    "1,5",
    "NA",
    "",
    " ",
    "a",
    "rep 1",
    "0h_1",
    "2024-01-31",
    "inf",
]
PIECES += [",", ",", ";", "\t", "\n", "\n", '"', "#", "'", "\r", "-", "1e400", "\ufeff", "\u00fc", "<", "T1R1", "T2R1"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
TABLE = "gene,phase,0h_1,0h_2,2h_1,2h_2\na,M,1,2,3,4\nb,S,NA,2.5,1e-3,0\nc,,5,6,7,8\n"


def check_reads_or_refuses(path, content):
    path.write_bytes(content)
    try:
        found = understand(path)
    except tl.InputError:
        return
    assert np.isfinite(found.courses.values).all()
    assert len(found.lines()) == 3


@settings(max_examples=40 * FUZZ)
@given(data=st.binary(max_size=80))
def test_random_bytes(tmp_path_factory, data):
    check_reads_or_refuses(tmp_path_factory.getbasetemp() / "bytes.csv", data)


@settings(max_examples=200 * FUZZ)
@given(text=TEXTS)
def test_random_tables(tmp_path_factory, text):
    check_reads_or_refuses(tmp_path_factory.getbasetemp() / "table.csv", text.encode())


@settings(max_examples=200 * FUZZ)
@given(where=st.integers(0, len(TABLE)), cut=st.integers(0, 3), piece=st.sampled_from([*PIECES, "\0", "\x89", "%"]))
def test_damaged_tables(tmp_path_factory, where, cut, piece):
    damaged = TABLE[:where] + piece + TABLE[where + cut :]
    check_reads_or_refuses(tmp_path_factory.getbasetemp() / "damaged.csv", damaged.encode("utf-8"))
