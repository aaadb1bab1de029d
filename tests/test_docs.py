"""The documents keep their word: examples run, tables equal the results, every public name and option is documented."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import empathia

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_the_first_command_of_the_readme_prints_what_it_shows() -> None:
    command, shown = re.findall(r"```(?:sh)?\n(.*?)```", README, re.DOTALL)[:2]
    install, _, job = command.strip().partition(" && ")
    assert install == "pip install ."
    words = shlex.split(job)
    assert words[0] == "empathia"
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=ROOT, check=True)
    got = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    parts = [part.strip("\n") for part in shown.split("…\n") if part.strip()]  # what is left out in between
    places = [got.find(part) for part in parts]
    assert -1 not in places and places == sorted(places)


def test_the_python_example_of_the_readme_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_second_command_of_the_readme_is_what_ci_runs() -> None:
    (line,) = [line for line in README.splitlines() if "'.[dev]'" in line]
    wanted = line.replace("pip install ", "").split(" && ")
    ran = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert all(part in ran for part in wanted)


def test_tables_equal_the_results() -> None:
    from benchmarks.tables import FILES, filled

    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert filled(text) == text, f"{file.name}: run `python -m benchmarks.tables`"


def test_public_names_are_few_and_documented() -> None:
    assert len(empathia.__all__) <= 12
    assert all(getattr(empathia, name).__doc__ for name in empathia.__all__)


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT / "src")))
def test_everything_public_has_a_docstring(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "the module says nothing"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and node in _outer(tree):
            assert ast.get_docstring(node), node.name


def _outer(tree: ast.Module) -> list[ast.AST]:
    """Functions and classes of the module, and methods of its public classes."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    return [*tree.body, *(method for one in classes for method in one.body)]


def test_every_option_has_help() -> None:
    import typer.main

    from empathia.cli import app

    def options(command: object, path: str = "") -> None:
        for name, inner in getattr(command, "commands", {}).items():
            options(inner, f"{path} {name}")
        for option in getattr(command, "params", []):
            assert getattr(option, "help", None) or option.name == "help", f"{path} {option.name}"
        assert getattr(command, "help", None), path

    options(typer.main.get_command(app))


def test_the_project_speaks_of_itself_alone() -> None:
    files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=True).stdout.split("\n")
    for name in filter(None, files):
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".html", ".json", ""} and path.is_file() and path.name != "tokenizer.json":
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not re.search(r"/(work|root|home)/\w", text), name
