"""Builds the sdist and the wheel, looks into them, installs the wheel into an empty environment, and uses it.

Run from the repository: ``python tests/compat/wheel.py [folder for the two files]``. Ends with an error at the first
thing that is wrong.
"""

import os
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "timelike"
LARGEST_FILE, LARGEST_WHEEL, LARGEST_SDIST = 1_000_000, 2_000_000, 12_000_000
"""Bytes. The sdist holds the documentation's pictures too."""
TABLE = """gene,0,6,12,24,48
up1,0.1,1.0,2.1,3.0,4.1
up2,0.0,1.1,1.9,3.1,3.9
up3,0.2,0.9,2.0,2.9,4.0
down1,0.1,-1.0,-2.1,-3.0,-4.1
down2,0.0,-1.1,-1.9,-3.1,-3.9
down3,0.2,-0.9,-2.0,-2.9,-4.0
"""
TRIAL = """
import pathlib, sys, timelike as tl
home = pathlib.Path(tl.__file__).resolve()
assert home.is_relative_to(pathlib.Path(sys.prefix).resolve()), f"another timelike was imported: {home}"
assert (home.parent / "py.typed").exists()
courses = tl.read("genes.csv")
gp = tl.GP.se(length_scale=20, signal_sd=3, noise_sd=0.2)
S = tl.similarity(courses, gp).values
assert S[0, 1] > 0 > S[0, 3], S
print(tl.__version__)
"""


def main(target: Path | None = None) -> None:
    with TemporaryDirectory() as folder:
        built = target or Path(folder, "dist")
        sdist, wheel = build(Path(folder), built)
        check_wheel(wheel)
        check_sdist(sdist)
        use(wheel, Path(folder))
    print(f"{wheel.name} and {sdist.name}: built, checked, installed and used.")


def build(folder: Path, built: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is made from it."""
    python = environment(folder / "builder", "build")
    run(python, "-m", "build", "--outdir", built, ROOT)
    (sdist,), (wheel,) = (sorted(built.glob(ending))[-1:] for ending in ("*.tar.gz", "*.whl"))
    return sdist, wheel


def check_wheel(path: Path) -> None:
    """The wheel has every file of the package, and nothing else."""
    with ZipFile(path) as wheel:
        sizes = {info.filename: info.file_size for info in wheel.infolist()}
    inside = {name for name in sizes if ".dist-info/" not in name}
    wrong = inside ^ {file.relative_to(PACKAGE.parent).as_posix() for file in package_files()}
    check(not wrong, f"{path.name}: missing or too much: {sorted(wrong)}")
    check(any(name.endswith("licenses/LICENSE") for name in sizes), f"{path.name} has no licence")
    check_sizes(path, sizes, LARGEST_WHEEL)


def package_files() -> list[Path]:
    """All that belongs to the package: modules, the type marker, and the report's HTML, CSS and JavaScript."""
    return [p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts]


def check_sdist(path: Path) -> None:
    """The sdist can be built and tested from, and has no data and nothing hidden."""
    with tarfile.open(path) as sdist:
        sizes = {m.name.partition("/")[2]: m.size for m in sdist.getmembers() if m.isfile()}
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile", "tests/oracle.py"}
    needed |= {file.relative_to(ROOT).as_posix() for file in package_files()}
    check(needed <= sizes.keys(), f"{path.name} lacks {sorted(needed - sizes.keys())}")
    hidden = [n for n in sizes if any(part.startswith(".") for part in Path(n).parts) and n != ".gitignore"]
    check(not hidden, f"{path.name} has hidden files: {hidden}")
    check_sizes(path, sizes, LARGEST_SDIST)


def check_sizes(path: Path, sizes: dict[str, int], largest: int) -> None:
    heavy = {name: size for name, size in sizes.items() if size > LARGEST_FILE}
    check(not heavy, f"{path.name} has large files: {heavy}")
    check(path.stat().st_size < largest, f"{path.name} has {path.stat().st_size:,} bytes, more than {largest:,}")
    print(f"{path.name}: {len(sizes)} files, {path.stat().st_size:,} bytes")


def use(wheel: Path, folder: Path) -> None:
    """Import it, and run the command on a small table, in an environment that has nothing else."""
    python = environment(folder / "empty", str(wheel))
    work = folder / "work"
    work.mkdir()
    (work / "genes.csv").write_text(TABLE, encoding="utf-8")
    version = run(python, "-W", "error", "-c", TRIAL, cwd=work).strip()
    command = python.with_name("timelike" + python.suffix)
    check(version in run(command, "--version", cwd=work), "timelike --version says another version")
    run(command, "cluster", "genes.csv", "--out", "result", cwd=work)
    made = {path.name for path in (work / "result").iterdir()}
    needed = {"clusters.csv", "model.json", "run.json"} | (
        {"report.html"} if (PACKAGE / "reporting").is_dir() else set()
    )
    check(needed <= made, f"timelike cluster left {sorted(made)}, expected {sorted(needed)}")
    print(*(work / "result" / "clusters.csv").read_text(encoding="utf-8").splitlines()[:3], sep="\n")


def environment(folder: Path, *packages: str) -> Path:
    """Python of a new environment with these packages."""
    venv.create(folder, with_pip=True, clear=True)
    windows = os.name == "nt"
    python = folder / ("Scripts" if windows else "bin") / ("python.exe" if windows else "python")
    run(python, "-m", "pip", "install", "--quiet", *packages)
    return python


def run(*command: object, cwd: Path | None = None) -> str:
    """What a command prints; its errors end the program."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=clean, capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(holds: bool, problem: str) -> None:
    if not holds:
        sys.exit(f"WRONG: {problem}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
