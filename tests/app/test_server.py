"""The app's server: who is let in, what files may be called, how runs go, and that the command line does the work."""

import io
import json
import os
import signal
import socket
import subprocess
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

pytest.importorskip("uvicorn")
from running_app import Client, running
from timelike.app import inputs, jobs, results
from timelike.app.guard import Guard
from timelike.app.results import Results
from timelike.app.serve import serve
from timelike.cli import main
from timelike.exceptions import InputError
from timelike.reading.options import OPTIONS

TABLE = b"gene,0h,1h,2h,4h\n" + b"".join(
    b"g%d,%f,%f,%f,%f\n" % (i, *(((i % 2) * t + 0.1 * ((i * 7 + t * 3) % 5)) for t in (0, 1, 2, 4))) for i in range(12)
)


@pytest.fixture
def client(tmp_path):
    with running(tmp_path) as client:
        yield client


def dropped(client, name="genes.csv", content=TABLE):
    return client.post("/api/files", params={"name": name}, body=content)


def started(client, **wish):
    number = dropped(client).json()["number"]
    return client.post("/api/runs", {"verb": "cluster", "files": [number]} | wish)


def ended(client, name, seconds=120):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        job = next(job for job in client.get("/api/runs").json()["jobs"] if job["name"] == name)
        if job["state"] not in ("waiting", "running"):
            return job
        time.sleep(0.1)
    raise AssertionError(job)


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it has not become so"
        time.sleep(0.05)


# -- who is let in ---------------------------------------------------------------------------------------------------


STRANGER = {"cookie": None}


def test_the_address_gives_a_cookie_and_hides_the_token(client):
    first = client.get(client.guard.address.split(str(client.guard.port))[1], headers=STRANGER | {"origin": None})
    assert (first.status_code, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.get("/", headers={"cookie": cookie.split(";")[0], "origin": None}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/runs", "/api/menus", "/runs/x/report.html", "/nothing", "/?token=guess"])
def test_without_the_token_there_is_nothing(client, path):
    almost = f"{client.guard.cookie}={client.guard.token[:-1]}"
    assert client.get(path, headers=STRANGER).status_code == 403
    assert client.get(path, headers={"cookie": almost}).status_code == 403
    assert client.get("/api/runs", params={"token": client.guard.token}, headers=STRANGER).status_code == 403


@pytest.mark.parametrize("host", ["evil.example:{}", "127.0.0.1", "localhost.evil.example:{}", "127.0.0.1:1", ""])
def test_another_host_is_refused(client, host):
    assert client.get("/", headers={"host": host.format(client.guard.port)}).status_code == 403
    assert client.get("/", headers={"host": f"localhost:{client.guard.port}"}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{}", "http://127.0.0.1:9"])
def test_another_origin_is_refused(client, origin):
    other = {"origin": origin.format(client.guard.port)}
    assert client.get("/api/runs", headers=other).status_code == 403
    assert client.post("/api/runs", headers=other).status_code == 403


def test_a_change_needs_an_origin(client):
    none = {"origin": None}
    assert client.get("/api/runs", headers=none).status_code == 200
    assert client.post("/api/files", params={"name": "a.csv"}, body=TABLE, headers=none).status_code == 403


def test_headers_of_every_answer(client):
    for answer in (client.get("/"), client.get("/nothing"), client.get("/", headers={"host": "evil"})):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    policy = client.get("/").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "../../x.csv",
        "/etc/passwd",
        "C:\\x\\y.csv",
        "a\0b.csv",
        "..",
        "",
        "x" * 5000 + ".csv",
        "\U00020000" * 100 + ".csv",
        "x" * 45 + ". " * 30,
        "nul",
        "con .csv",
        "com¹.csv",
        ".hidden",
        "a\nb.csv",
    ],
)
def test_names_of_files_are_labels(client, tmp_path, name):
    answer = dropped(client, name)
    assert answer.status_code == 200, answer.text
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) == 1
    assert kept[0].parent.parent == tmp_path / "inputs"
    assert kept[0].name == answer.json()["name"]
    assert not kept[0].name.startswith(".")
    assert len(kept[0].name.encode()) <= 204
    assert not kept[0].name.endswith((".", " "))
    assert not kept[0].name.lower().startswith(("nul", "con ", "com¹"))


def test_too_much_is_refused_and_nothing_of_it_stays(client, tmp_path):
    assert dropped(client, content=b"x" * 60_000).status_code == 200
    large = dropped(client, content=b"x" * 60_000)
    assert large.status_code == 413
    assert "too large" in large.json()["error"]

    def parts():
        yield from [b"x" * 30_000] * 3

    streamed = client.post("/api/files", params={"name": "b.csv"}, body=parts())
    assert streamed.status_code == 413
    assert len(list((tmp_path / "inputs").iterdir())) == 1


def test_many_at_once_are_bounded_as_one_is(client, tmp_path):
    def slow():
        for _ in range(6):
            yield b"x" * 10_000
            time.sleep(0.1)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda i: dropped(client, f"{i}.csv", slow()).status_code, range(4)))
    kept = [path.stat().st_size for path in (tmp_path / "inputs").rglob("*.csv")]
    assert sum(kept) <= 100_000
    assert answers.count(413) >= 3
    assert len(kept) == answers.count(200) == len(list((tmp_path / "inputs").iterdir()))
    if not kept:
        assert dropped(client, content=b"x" * 90_000).status_code == 200, "what did not stay does not count"


def test_so_many_files_and_no_more(client, monkeypatch):
    monkeypatch.setattr(inputs, "MOST", 2)
    assert [dropped(client, content=b"x").status_code for _ in range(3)] == [200, 200, 413]


def test_a_file_whose_sender_goes_away_leaves_nothing(capfd, client, tmp_path):
    sent = "".join(f"{name}: {value}\r\n" for name, value in client.headers.items())
    with socket.create_connection(("127.0.0.1", client.guard.port)) as line:
        line.sendall(f"POST /api/files?name=a.csv HTTP/1.1\r\n{sent}content-length: 5000\r\n\r\nhalf".encode())
        until(lambda: any((tmp_path / "inputs").rglob("a.csv")))
    until(lambda: not list((tmp_path / "inputs").iterdir()))
    assert dropped(client, content=b"x" * 100_000).status_code == 200
    assert capfd.readouterr().err == ""


def test_how_files_are_understood(client):
    number = dropped(client).json()["number"]
    found = client.post("/api/understand", {"files": [number]}).json()
    assert found["lines"][0] == "12 courses, 4 times (0 to 4 h)"
    assert found["table"]["header"] == ["gene", "0h", "1h", "2h", "4h"]
    assert len(found["curves"]) == 12
    wrong = client.post("/api/understand", {"files": [number], "reading": {"course": "name"}}).json()
    assert wrong["error"].startswith("genes.csv: it has no column 'name'")
    times = client.post("/api/understand", {"files": [number], "reading": {"times": "0, 2; 5,9"}}).json()
    assert "(0 to 9" in times["lines"][0]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"files": []}, "there is no table yet"),
        ({"files": ["nothing"]}, "a file is no longer there"),
        ({"verb": "rm"}, "the question 'rm' is unknown"),
        ({"choices": {"out": "elsewhere"}}, "the choices are not those of cluster"),
        ({"reading": {"source": "/etc/passwd"}}, "the options of reading are not those of the page"),
        ({"reading": {"samples": "/etc/passwd"}}, "a file is no longer there"),
        ({"reading": {"times": "soon"}}, "expected numbers with commas between"),
        ({"reading": {"orient": "--help"}}, "orient='--help' is unknown"),
        ({"choices": ["title"]}, "the choices are not those of cluster"),
        ({"choices": {"title": "a\0b"}}, "characters that cannot be typed"),
        ({"choices": {"title": "\ud800"}}, "characters that cannot be typed"),
        ({"choices": {"title": "x" * 60_000}}, "longer than 50,000 characters"),
    ],
)
def test_what_the_page_cannot_ask_is_refused(client, tmp_path, wish, said):
    answer = started(client, **wish)
    assert answer.status_code == 400
    assert said in answer.json()["error"]
    assert {path.name for path in tmp_path.iterdir()} == {"inputs"}


def test_no_json_is_refused(client):
    assert client.post("/api/runs", body=b"[1").status_code == 400
    assert client.post("/api/runs", body=b"[" * 500_000).status_code == 400
    assert client.post("/api/runs", body=b"x" * 2_000_000).status_code == 413


ODD = [0, -1, 1.5, True, [], [[]], {}, {"a": 1}, "", "\0", "\ud800", "--help", "x" * 10_000, ["a", "b"], None]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:12])
def test_whatever_is_asked_is_answered(client, odd):
    number = dropped(client).json()["number"]
    readings = [*({name: odd} for name in OPTIONS), odd]
    wishes = [{"files": [number], "reading": reading} for reading in readings] + [{"files": odd}, {"files": [odd]}]
    for wish in wishes:
        assert client.post("/api/understand", wish).status_code in (200, 400, 413), wish
    for wish in ({"verb": odd}, {"choices": odd}, {"choices": {"title": odd}}, {"choices": {"k": odd}}):
        answer = client.post("/api/runs", {"files": [number]} | wish)
        assert answer.status_code in (200, 400), wish
        if answer.status_code == 200:
            client.post(f"/api/runs/{quote(answer.json()['name'], safe='')}/cancel")


def test_a_run_that_cannot_start_leaves_the_queue_alive(client, monkeypatch):
    def refused(*_, **__):
        raise OSError(7, "Argument list too long")

    with monkeypatch.context() as broken:
        broken.setattr(jobs.subprocess, "Popen", refused)
        name = started(client).json()["name"]
        told = ended(client, name)
    assert (told["state"], "Argument list too long" in told["lines"][-1]) == ("failed", True)
    good = started(client).json()["name"]
    assert ended(client, good)["state"] == "done"


# -- terms -----------------------------------------------------------------------------------------------------------

SETS = b"UP\tthat rise\t" + b"\t".join(b"g%d" % i for i in range(1, 12, 2)) + b"\nLOW\tthat do not\tg0\tg2\telsewhere\n"
NAMESPACE = b"default-namespace: biological_process\n\n"
OBO = NAMESPACE + b"[Term]\nid: GO:1\nname: all\n\n[Term]\nid: GO:2\nname: rise\nis_a: GO:1\n"
GAF = b"gene,term\n" + b"".join(b"g%d,GO:%d\n" % (i, 1 + i % 2) for i in range(12))
FILES = {"gmt": ("sets.gmt", SETS), "obo": ("tiny.obo", OBO), "gaf": ("tiny.csv", GAF)}


def with_terms(client, *kinds, **changed):
    """What a page asks for a table with files of terms beside it."""
    numbers = {kind: dropped(client, *changed.get(kind, FILES[kind])).json()["number"] for kind in kinds}
    return {"files": [dropped(client).json()["number"]], "terms": numbers}


def test_how_terms_are_understood(client):
    lines = client.post("/api/understand", with_terms(client, "gmt")).json()["lines"]
    assert lines[0] == "12 courses, 4 times (0 to 4 h)"
    said = "terms for the groups, from sets.gmt: 2 gene sets of 3 to 6 genes, 9 genes in all; 8 of 12 names"
    assert lines[-1] == f"{said} here have terms"
    lines = client.post("/api/understand", with_terms(client, "obo", "gaf")).json()["lines"]
    assert lines[-1].startswith("terms for the groups, from tiny.obo, tiny.csv: 12 statements: ")


@pytest.mark.parametrize(
    ("kinds", "changed", "said"),
    [
        (["gmt"], {"gmt": ("bad.gmt", b"UP\tx\tg1\nLOW\n")}, "bad.gmt, line 2: 1 column, but a GMT line has a set"),
        (
            ["gmt"],
            {"gmt": ("twice.gmt", b"UP\tx\tg1\nUP\tx\tg2\n")},
            "twice.gmt, line 2: the set 'UP' stands in line 1",
        ),
        (["obo", "gaf"], {"gaf": ("bad.gaf", b"!gaf\nx\ty\n")}, "bad.gaf, line 2: 2 columns, but a GAF line has 17"),
        (["obo"], {}, "tiny.obo says which terms there are, but not which gene has which: drop its annotations too"),
        (["gaf"], {}, "tiny.csv says which gene has which term, but not what these are: drop their ontology too"),
        (["gmt", "obo"], {}, "sets.gmt and tiny.obo: gene sets need no ontology"),
    ],
)
def test_what_is_wrong_with_terms_is_said_before_the_run(client, kinds, changed, said):
    found = client.post("/api/understand", with_terms(client, *kinds, **changed)).json()
    assert found["error"].startswith(said)
    assert found["lines"][0] == "12 courses, 4 times (0 to 4 h)", "the table is understood all the same"
    if not changed:
        answer = client.post("/api/runs", with_terms(client, *kinds))
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(said)


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"terms": {"gmt": "/etc/passwd"}}, "a file is no longer there"),
        ({"terms": {"out": "x"}}, "the kinds of terms are not those of the page"),
        ({"terms": ["gmt"]}, "the kinds of terms are not those of the page"),
    ],
)
def test_terms_that_the_page_cannot_ask_about(client, wish, said):
    assert said in started(client, **wish).json()["error"]


def test_terms_are_for_groups(client):
    answer = client.post("/api/runs", {"verb": "changing"} | with_terms(client, "gmt"))
    assert "terms are looked for where courses are grouped, not by changing" in answer.json()["error"]


@pytest.mark.parametrize("kinds", [["gmt"], ["obo", "gaf"]])
def test_a_run_with_terms_is_what_the_command_line_does(client, tmp_path, kinds):
    job = client.post("/api/runs", with_terms(client, *kinds) | {"choices": {"k": "2", "title": "Sets"}}).json()
    told = ended(client, job["name"])
    assert told["state"] == "done", told
    paths = {kind: next((tmp_path / "inputs").rglob(FILES[kind][0])) for kind in kinds}
    record = json.loads((tmp_path / "Sets" / "run.json").read_text())
    assert record["terms"]["files"] == {kind: str(path) for kind, path in paths.items()}
    (source,) = (tmp_path / "inputs").rglob("genes.csv")
    words = ["cluster", str(source), "-k", "2", *(word for kind in kinds for word in (f"--{kind}", str(paths[kind])))]
    main([*words, f"--out={tmp_path / 'typed'}"], standalone_mode=False)
    tables = [(tmp_path / name / "enrichment.csv").read_bytes() for name in ("Sets", "typed")]
    assert tables[0] == tables[1]
    assert tables[0].count(b"\n") > 1


# -- runs ------------------------------------------------------------------------------------------------------------


def test_a_run_is_what_the_command_line_does(client, tmp_path):
    job = started(client, choices={"k": "2", "title": "Two kinds"}).json()
    assert job["name"] == "Two kinds"
    assert ended(client, "Two kinds")["state"] == "done"
    (source,) = (tmp_path / "inputs").rglob("genes.csv")
    main(["cluster", str(source), "-k", "2", "--title=Two kinds", f"--out={tmp_path / 'typed'}"], standalone_mode=False)
    ours, typed = (json.loads((tmp_path / name / "run.json").read_text()) for name in ("Two kinds", "typed"))
    assert {k: v for k, v in ours.items() if k != "written"} == {k: v for k, v in typed.items() if k != "written"}
    names = [one["name"] for one in client.get("/api/runs").json()["runs"]]
    assert set(names) == {"Two kinds", "typed"}

    page = client.get("/runs/Two kinds/report.html")
    assert page.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in page.headers["content-security-policy"]
    assert (
        client.get("/runs/Two kinds/files/clusters.csv").content == (tmp_path / "typed" / "clusters.csv").read_bytes()
    )
    archive = zipfile.ZipFile(io.BytesIO(client.get("/runs/Two kinds/all.zip").content))
    assert archive.testzip() is None
    assert archive.read("Two kinds/clusters.csv") == (tmp_path / "typed" / "clusters.csv").read_bytes()


def test_names_of_runs_differ_in_more_than_their_case(tmp_path):
    """On some disks, INPUTS is the folder of the files that were given."""
    (tmp_path / "Two kinds").mkdir()
    names = [Results(tmp_path).new(wish, {"third"}) for wish in ("INPUTS", "two KINDS", "Third", "fourth")]
    assert names == ["INPUTS-2", "two KINDS-2", "Third-2", "fourth"]


def test_a_run_that_goes_while_runs_are_listed_is_not_one(tmp_path, monkeypatch):
    """The page asks while folders are put in place and removed; it was told of a file that is not there."""
    for name in ("gone", "stays"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")

    def removed(run, files=results.files_of):
        found = files(run)
        if run.name == "gone":
            (run / "run.json").unlink()
        return found

    monkeypatch.setattr(results, "files_of", removed)
    assert [run["name"] for run in Results(tmp_path).runs()] == ["stays"]


def test_paths_lead_nowhere_else(client, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    (run / "link.txt").symlink_to("/etc/passwd")
    (tmp_path / "secret.txt").write_text("secret")
    for path in (
        "run/files/../../secret.txt",
        "run/files/..%2F..%2Fsecret.txt",
        "run/files/%2Fetc%2Fpasswd",
        "run/files/link.txt",
    ):
        assert client.get(f"/runs/{path}").status_code in (400, 404)
    for name in ("..", "%2e%2e", "inputs", "run%2F..%2Frun", "nothing"):
        assert client.get(f"/runs/{name}/all.zip").status_code in (400, 404)
    assert client.get("/runs/run/files/run.json").status_code == 200


def test_an_archive_leads_nowhere_else(client, tmp_path):
    run, elsewhere = tmp_path / "run", tmp_path.parent / f"{tmp_path.name}-elsewhere"
    run.mkdir()
    elsewhere.mkdir()
    (elsewhere / "secret.txt").write_text("secret")
    (run / "run.json").write_text("{}")
    (run / "report.html").symlink_to(elsewhere / "secret.txt")
    (run / "folder").symlink_to(elsewhere)
    (run / "a\\..\\x.txt").write_text("a name of Windows")
    names = zipfile.ZipFile(io.BytesIO(client.get("/runs/run/all.zip").content)).namelist()
    assert sorted(names) == ["run/a_.._x.txt", "run/run.json"]
    assert client.get("/runs/run/report.html").status_code == 400
    assert client.get("/runs/run/files/folder/secret.txt").status_code == 400


def test_every_answer_is_for_the_owner_alone(client, tmp_path):
    """No way in without the cookie, from another host or another page, whatever the method."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    (tmp_path / "run" / "report.html").write_text("mine")
    paths = [
        "/",
        "/api/menus",
        "/api/files",
        "/api/understand",
        "/api/runs",
        "/api/runs/run/cancel",
        "/runs/run/report.html",
        "/runs/run/all.zip",
        "/runs/run/files/run.json",
    ]
    rebound = {"host": f"evil.example:{client.guard.port}", "origin": f"http://evil.example:{client.guard.port}"}
    for path in paths:
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
            for wrong in (STRANGER, rebound, {"origin": "http://evil.example"}, {"origin": "null"}):
                answer = client.ask(method, path, headers=wrong)
                assert (answer.status_code, b"mine" in answer.content) == (403, False), (method, path, wrong)


def test_a_mistake_in_the_file_is_told(client, tmp_path):
    number = dropped(client, "bad.csv", b"gene,0h,1h\na,1,x\n").json()["number"]
    assert "'x'" in client.post("/api/understand", {"files": [number]}).json()["error"]
    job = client.post("/api/runs", {"files": [number]}).json()
    told = ended(client, job["name"])
    assert told["state"] == "failed"
    assert any("line 2, column '1h': 'x'" in line for line in told["lines"])
    assert not (tmp_path / job["name"]).exists()


def test_cancel_ends_the_process_and_leaves_nothing(client, tmp_path):
    first, second = started(client).json()["name"], started(client).json()["name"]
    assert second != first
    waiting = next(job for job in client.get("/api/runs").json()["jobs"] if job["name"] == second)
    assert waiting["state"] == "waiting"
    client.post(f"/api/runs/{second}/cancel")
    client.post(f"/api/runs/{first}/cancel")
    assert ended(client, first)["state"] == ended(client, second)["state"] == "cancelled"
    time.sleep(0.5)
    assert {path.name for path in tmp_path.iterdir()} == {"inputs"}
    assert client.post("/api/runs/nothing/cancel").status_code == 400


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="tells processes by /proc")
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_an_app_that_is_stopped_takes_its_run_along(tmp_path, which):
    command = [*jobs.COMMAND, "app", "--folder", str(tmp_path / "out"), "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as app:
        address = urlsplit(app.stdout.readline().split()[1])
        client = Client(Guard(address.port, token=address.query.removeprefix("token=")))
        name = started(client).json()["name"]
        until(lambda: client.get("/api/runs").json()["jobs"][0]["state"] == "running")
        until(lambda: len(mentioning(tmp_path)) == 2)
        app.send_signal(which)
        app.wait(60)
    until(lambda: not mentioning(tmp_path))
    assert not (tmp_path / "out" / name).exists()


def mentioning(folder):
    """The processes whose command line has a folder in it."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it may have just ended
            found += [place] if str(folder).encode() in place.read_bytes() else []
    return found


def test_a_port_in_use_is_said(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InputError, match="cannot be used: Address"):
        serve(tmp_path, taken.getsockname()[1], print, show=False)
