"""Running again when something changes."""

from policyengine.check.policy_tests.request import Request, watched
from policyengine.check.policy_tests.watching import watch


def test_it_runs_at_once_and_again_after_a_change(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("a", encoding="utf-8")
    runs, waits = [], []

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            file.write_text("longer", encoding="utf-8")
        if len(waits) == 5:
            file.unlink()

    watch(lambda: runs.append(len(waits)), lambda: [file], wait=wait, runs=3)
    assert runs == [0, 3, 5]


def test_policies_and_tests_are_watched(good):
    names = {file.name for file in watched(Request(bundle=good))}
    assert names == {"light.yaml", "meter.yaml", "good.test.yaml"}
