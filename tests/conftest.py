"""What several tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the real corpora: EMPATHIA_DATA, or ../shared/data beside the project."""
    folder = Path(os.environ.get("EMPATHIA_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("the real corpora are not here: set EMPATHIA_DATA to the folder that holds them")
    return folder
