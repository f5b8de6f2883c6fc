import pytest
from compression_kit import SHARED

from policyengine.compression.compressor import Compressor
from policyengine.kinds.bundle import load
from policyengine.kinds.loop import Loop
from policyengine.sessions import read


@pytest.fixture(scope="session")
def loop():
    return Loop(load())


@pytest.fixture(scope="session")
def compressor(loop):
    return Compressor(loop)


@pytest.fixture(scope="session")
def indexer(compressor):
    return compressor.indexer


@pytest.fixture(scope="session")
def real_session():
    found = {}

    def find(name):
        if name not in found:
            if not (SHARED / name).exists():
                pytest.skip(f"../shared/sessions/{name} is not on this machine")
            found[name] = read(SHARED / name)
        return found[name]

    return find
