"""What a shell command line touches."""

import pytest
from compression_kit import session_of, tool_call
from hypothesis import given
from hypothesis import strategies as st

from policyengine.compression.shell import simple_commands

LINES = [
    ("cat a.txt b.md", {"a.txt": "read", "b.md": "read"}),
    ("cat src/a.py | grep x > out.txt 2>&1", {"src/a.py": "read", "out.txt": "created"}),
    ("cd sub && cat a.py; ls", {"sub/a.py": "read"}),
    ("cd /w/sub && sed -i 's/a/b/' a.py", {"/w/sub/a.py": "modified"}),
    ("sed -n '1,20p' 'my file.py'", {}),
    ("head -n 20 a.log >> all.log", {"a.log": "read", "all.log": "modified"}),
    ("FOO=1 sudo rm -rf build/x.o", {"build/x.o": "deleted"}),
    ("git mv a.py b.py", {"a.py": "deleted", "b.py": "created"}),
    ("git -C /w rm a.py", {"a.py": "deleted"}),
    ("mv a.py b.py && touch c.py", {"a.py": "deleted", "b.py": "created", "c.py": "created"}),
    ("cp a.py b.py", {"b.py": "created"}),
    ("cat <<'EOF' > new.py\nrm other.py\nEOF\ncat x.py", {"new.py": "created", "x.py": "read"}),
    ("bash -lc 'cat in.py'", {"in.py": "read"}),
    ("echo hi >/dev/null; tee out.md", {"out.md": "modified"}),
    ('cat *.py $FILE "$(ls a.py)"', {}),
    ("echo 'cat a.py'; # cat b.py", {}),
    ("python run.py", {}),
    ("perl -pi -e s/a/b/ a.pl", {"a.pl": "modified"}),
    ("cat 'unfinished.py", {"unfinished.py": "read"}),
]


@pytest.mark.parametrize(("command", "files"), LINES, ids=[line[:30] for line, _ in LINES])
def test_files(command, files, indexer):
    index = indexer.of(session_of(((), [tool_call("Bash", {"command": command})])))
    assert {path: record.status for path, record in index.files.items()} == files


@given(st.text(alphabet="ab /.'\"`$(){}<>|&;\n\\#-EOF", max_size=60))
def test_nothing_makes_it_fail(text):
    for command in simple_commands(text):
        assert all(isinstance(word, str) for word in command.words)


def test_a_long_line_is_read_in_linear_time():
    assert len(simple_commands("cat a.txt; " * 20_000)) > 1000
