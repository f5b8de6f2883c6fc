"""The report in a real browser: every chart drawn, nothing on the console, nothing asked of a network."""

import json
import re
import shutil
import subprocess

import pytest
from random_log import random_records, write

CHARTS = ["session-0", "split", "vetoes", "fallback", "cache", "wasted", "ladder"]
BROWSER = ("google", "gvt1.com")
"""What the browser asks for itself, whatever page is open: dictionaries, time, updates."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def log(tmp_path_factory, sample_log):
    path = tmp_path_factory.mktemp("report") / "log.jsonl"
    sample = [json.loads(line) for line in sample_log.read_text(encoding="utf-8").splitlines()]
    write(path, [*random_records(3, sessions=30), *sample])
    return path


@pytest.fixture
def report(run, log, tmp_path):
    pytest.importorskip("plotly", reason="the extra report is not installed")
    path = tmp_path / "report.html"
    found = run("report", "--log", log, "--session", "sample-session", "-o", path)
    assert (found.status, found.out) == (0, f"report written to {path}\n")
    return path


def browse(page, folder, *options):
    """Open a page in headless Chromium: its final document, what the console said, and the addresses asked for."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    net = folder / "net.json"
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=10000",
        "--enable-logging=stderr", "--v=0", f"--log-net-log={net}", "--net-log-capture-mode=Everything",
        f"--user-data-dir={folder / 'profile'}", "--disable-background-networking", "--disable-component-update",
        *options, page.as_uri(),
    ]  # fmt: skip
    found = subprocess.run(command, capture_output=True, timeout=120)
    said = [line for line in found.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    # Of a page opened from a file, only requests over the network are in this log.
    asked = set(re.findall(r'"url":"(https?://[^"]*)"', net.read_text(errors="replace")))
    return found.stdout.decode(), said, asked


@pytest.mark.parametrize(
    ("theme", "scheme", "width"),
    [
        ("light", "1", 1100),
        ("dark", "0", 500),
        pytest.param("light", "1", 500, marks=pytest.mark.soak),
        pytest.param("dark", "0", 1100, marks=pytest.mark.soak),
    ],
)
def test_the_report_in_a_browser(report, tmp_path, theme, scheme, width):
    document, said, asked = browse(
        report, tmp_path, "--dump-dom", f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={width},3000"
    )
    assert said == []
    assert not [address for address in asked if not any(host in address for host in BROWSER)], asked
    assert f'data-drawn="{len(CHARTS)}"' in document
    for name in CHARTS:
        part = document.split(f'id="{name}"')[1].split("</section>")[0]
        assert "main-svg" in part, name
        assert "<details" in part, name
        assert "<td" in part, name
    text = {"light": "rgb(27, 31, 36)", "dark": "rgb(232, 235, 238)"}[theme]
    assert text in document
    widths = [int(one) for one in re.findall(r'class="main-svg"[^>]* width="(\d+)"', document)]
    assert widths
    assert max(widths) <= width


@pytest.mark.soak
def test_the_report_can_be_printed(report, tmp_path):
    pdf = tmp_path / "report.pdf"
    browse(report, tmp_path, f"--print-to-pdf={pdf}")
    assert pdf.stat().st_size > 20_000


def test_the_page_allows_itself_no_network(report):
    text = report.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    head = text.partition("<script")[0]
    assert "http://" not in head
    assert "https://" not in head
    assert not re.search(r"<(?:img|link|iframe|script)[^>]* (?:src|href)=", head + text.rpartition("</script>")[2])


def test_names_in_a_log_cannot_become_markup(run, tmp_path):
    pytest.importorskip("plotly", reason="the extra report is not installed")
    bad = "</script><script>alert(1)</script>"
    record = {
        "kind": "Ladder", "policy": "floor", "policy_version": "1.0.0", "time": "2026-03-01T00:00:00.000+00:00",
        "session_id": bad, "round": 1, "source": "runtime", "rules": [], "outcome": {"tier": "none"}, "errors": [],
        "input": {"tokens": 5, "window": 200_000},
    }  # fmt: skip
    write(tmp_path / "log.jsonl", [record])
    assert run("report", "--log", tmp_path / "log.jsonl", "-o", tmp_path / "report.html").status == 0
    assert "<script>alert" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_what_cannot_be_reported_is_one_line(run, log, tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    for args in (
        ("--log", empty, "-o", tmp_path / "r.html"),
        ("--log", log, "--session", "sample-sesion", "-o", tmp_path / "r.html"),
        ("--log", log, "-o", tmp_path / "no" / "r.html"),
    ):
        found = run("report", *args)
        assert found.status == 2
        assert len(found.err.splitlines()) == 1
