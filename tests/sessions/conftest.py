from pathlib import Path

import pytest

from policyengine.sessions import read

DATA = Path(__file__).parent / "data"
SHARED = Path(__file__).parents[3] / "shared" / "sessions"


@pytest.fixture
def fixture_session():
    return lambda name: read(DATA / name)


@pytest.fixture
def shared_session():
    def find(name):
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"../shared/sessions/{name} is not on this machine")
        return path

    return find
