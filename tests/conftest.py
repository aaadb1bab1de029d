"""What several tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# On a build server the same examples every time, so that a failure can be found again; elsewhere new ones each run.
settings.register_profile("same", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("same")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the real corpora: EMPATHIA_DATA, or ../shared/data beside the project."""
    folder = Path(os.environ.get("EMPATHIA_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("the real corpora are not here: set EMPATHIA_DATA to the folder that holds them")
    return folder
