"""The layers of the design: a module imports only from lines above its own, function-level imports included."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "empathia"
LAYERS = [
    ["schema", "errors"],
    ["findings"],
    ["parts", "task", "segment", "metrics", "comparison", "words", "lexicons", "topics"],
    ["language"],
    ["seeds"],
    ["corpora", "encoders", "llm", "knowledge", "report"],
    ["models"],
    ["tasks"],
    ["labelled"],
    ["analysis", "evaluation", "observation", "labelling"],
    ["training", "seeding", "explanation", "probing", "generation", "relation", "agreement", "annotation", "corpus"],
    ["batch", "seeds_cli", "labels_cli"],
    ["cli"],
]
LINE = {name: number for number, names in enumerate(LAYERS) for name in names}


def imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "empathia":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("empathia."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("empathia.")}
    return found - {"__version__"}


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_upwards(file: Path) -> None:
    own = file.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own in ("__init__", "__main__"):
        return
    for name in imports(file) - {own}:
        assert LINE[name] < LINE[own], f"{own} (line {LINE[own] + 1}) imports {name} (line {LINE[name] + 1})"


def test_the_main_job_needs_no_heavy_library() -> None:
    code = """
import sys, empathia
empathia.analyse([{"role": "a", "content": "I feel lost."}, {"role": "b", "content": "I am sorry."}])
heavy = {"torch", "transformers", "sklearn", "scipy", "onnx", "pyarrow", "interpret", "ray"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_help_loads_little() -> None:
    code = "import sys, empathia.cli; assert not {'numpy', 'pydantic', 'onnxruntime'} & set(sys.modules), sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)
