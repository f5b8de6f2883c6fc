"""The index against what the transcript's own lines say, and over the tool calls of several agents."""

import json

import pytest
from compression_kit import COMPACTED, SHARED, session_of, tool_call

from policyengine.compression.index import ArtefactIndex
from policyengine.sessions import read_text


def lines_of(name):
    with (SHARED / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def independent(name):
    """Paths from the raw lines: tool_use blocks by name, less those whose tool_result is an error."""
    uses, failed = {}, set()
    for line in lines_of(name):
        content = (line.get("message") or {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_use":
                uses.setdefault(block["id"], (block["name"], block["input"]))
            elif block.get("type") == "tool_result" and block.get("is_error"):
                failed.add(block["tool_use_id"])
    made = [use for id, use in uses.items() if id not in failed]
    written = {about["file_path"] for tool, about in made if tool in ("Edit", "Write")}
    seen, created = set(), set()
    for tool, about in made:
        path = about.get("file_path")
        if tool == "Write" and path not in seen:
            created.add(path)
        if tool in ("Read", "Edit", "Write"):
            seen.add(path)
    read = {about["file_path"] for tool, about in made if tool == "Read"}
    commands = {about["command"].strip() for tool, about in uses.values() if tool == "Bash"}
    return written, created, read - written, commands


@pytest.mark.parametrize("name", COMPACTED)
def test_complete_against_the_lines_of_the_file(name, real_session, indexer):
    index = indexer.of(real_session(name))
    written, created, read_only, commands = independent(name)
    by_tool = {path: record for path, record in index.files.items() if "tool" in record.via}
    assert {path for path, record in by_tool.items() if record.writes} == written
    # One of them is deleted again by a shell command, which no tool's arguments show.
    assert {path for path, record in by_tool.items() if record.created} == created
    assert {path for path, record in by_tool.items() if not record.changed} == read_only
    assert set(index.commands) == {command[:2000] for command in commands}
    assert not index.unmapped or set(index.unmapped).isdisjoint({"Edit", "Write", "Read", "Bash"})


@pytest.mark.parametrize("name", COMPACTED)
def test_symbols_of_the_edits_are_found_in_their_texts(name, real_session, indexer):
    session = real_session(name)
    index = indexer.of(session)
    texts = {}
    for item in session.rounds:
        for call in item.calls:
            if call.name in ("Edit", "Write"):
                about = call.arguments
                texts[about["file_path"]] = texts.get(about["file_path"], "") + "".join(
                    about.get(key, "") for key in ("old_string", "new_string", "content")
                )
    found = [(record.path, symbol) for record in index.changed for symbol in record.symbols]
    assert len(found) > 20
    assert all(symbol in texts[path] for path, symbol in found if path in texts)


@pytest.mark.parametrize("name", COMPACTED)
def test_span_after_span_is_the_same_as_all_at_once(name, real_session, indexer):
    session = real_session(name)
    summaries = frozenset(item.round for item in session.recorded_compactions)
    index = ArtefactIndex()
    for start in range(0, len(session.rounds), 7):
        index = ArtefactIndex.from_json(json.loads(json.dumps(index.as_json())))
        index = indexer.extended(index, session.rounds[start : start + 7], summaries)
    assert index.same_as(indexer.of(session))


PATCH = """*** Begin Patch
*** Add File: src/new.py
+def added():
+    pass
*** Update File: src/old.py
@@ def around(x):
-    return 1
+    return 2
*** Delete File: src/gone.py
*** Update File: src/from.py
*** Move to: src/to.py
@@
-A_NAME = 1
+A_NAME = 2
*** End Patch
"""
PATCHED = {
    "src/new.py": ("created", ("added",)),
    "src/old.py": ("modified", ("around",)),
    "src/gone.py": ("deleted", ()),
    "src/from.py": ("deleted", ()),
    "src/to.py": ("created", ("A_NAME",)),
}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("apply_patch", {"input": PATCH}),
        ("apply_patch", PATCH),
        ("shell", {"command": ["apply_patch", PATCH]}),
        ("exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}EOF\n"}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]}),
    ],
    ids=["function", "custom tool", "argument list", "here-document", "inside a shell"],
)
def test_patches_of_codex(name, arguments, indexer):
    index = indexer.of(session_of(((), [tool_call(name, arguments, error=None)])))
    found = {path: (record.status, record.symbols) for path, record in index.files.items()}
    assert found == PATCHED


def edit(old, new, **about):
    return {"file_path": "/w/a.py", "old_string": old, "new_string": new, **about}


NESTED = {"file_path": "/w/a.py", "edits": [edit("class A:\n 1", "class A:\n 2"), edit("", "def g(): 0")]}
RUBY = {"path": "/w/a.rb", "old_str": "def a; end", "new_str": "def b; end"}
HERE = {"command": ["bash", "-lc", "cat > a.py <<EOF\nx\nEOF"], "workdir": "/w"}
SED = {"command": "sed -n 1,9p a.py", "directory": "/w"}
GO = "func (s *S) Run() {\n}\ntype S struct{}"
TS = "export const go = () => 1"
EDITS = [
    # (tool, arguments, path, status, symbols)
    ("Edit", edit("def f():\n    1", "def f():\n    2"), "/w/a.py", "modified", ("f",)),
    ("MultiEdit", NESTED, "/w/a.py", "modified", ("A", "g")),
    ("Write", {"file_path": "/w/a.go", "content": GO}, "/w/a.go", "created", ("Run", "S")),
    ("replace", edit("x", TS, file_path="/w/a.ts"), "/w/a.ts", "modified", ("go",)),
    ("write_file", {"file_path": "/w/a.rs", "content": "pub fn run() {}"}, "/w/a.rs", "created", ("run",)),
    ("read_file", {"absolute_path": "/w/a.py"}, "/w/a.py", "read", ()),
    ("read_many_files", {"paths": ["/w/a.py"]}, "/w/a.py", "read", ()),
    ("delete_file", {"path": "/w/a.py"}, "/w/a.py", "deleted", ()),
    ("str_replace", RUBY, "/w/a.rb", "modified", ("a", "b")),
    ("run_shell_command", SED, "/w/a.py", "read", ()),
    ("local_shell", HERE, "/w/a.py", "created", ()),
]


@pytest.mark.parametrize(("tool", "arguments", "path", "status", "symbols"), EDITS, ids=[row[0] for row in EDITS])
def test_tools_of_any_agent(tool, arguments, path, status, symbols, indexer):
    index = indexer.of(session_of(((), [tool_call(tool, arguments)])))
    (record,) = index.files.values()
    assert (record.path, record.status, record.symbols) == (path, status, symbols)


def test_a_move_and_a_copy(indexer):
    calls = [
        tool_call("move_file", {"source": "/w/a", "destination": "/w/b"}),
        tool_call("copy_file", {"source": "/w/c", "destination": "/w/d"}),
    ]
    files = indexer.of(session_of(((), calls))).files
    assert {path: record.status for path, record in files.items()} == {
        "/w/a": "deleted", "/w/b": "created", "/w/c": "read", "/w/d": "created",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("output", "error", "cancelled"), [("no such text", True, False), ("refused", False, True), (None, None, False)]
)
def test_what_failed_or_never_ended_touched_nothing(output, error, cancelled, indexer):
    call = tool_call("Write", {"file_path": "/w/a", "content": "x"}, output, error, cancelled=cancelled)
    index = indexer.of(session_of(((), [call])))
    assert not index.files
    assert index.failed == {"/w/a": 1}


def test_a_file_that_was_read_is_modified_and_not_created(indexer):
    calls = [
        tool_call("Read", {"file_path": "/w/a.py"}, id="1"),
        tool_call("Write", {"file_path": "/w/a.py", "content": "x"}, id="2"),
    ]
    (record,) = indexer.of(session_of(((), calls))).files.values()
    assert (record.status, record.reads, record.writes) == ("modified", 1, 1)


def test_a_relative_path_is_the_absolute_one_it_ends(indexer):
    calls = [
        tool_call("Bash", {"command": "cat src/a.py"}, id="1"),
        tool_call("Edit", {"file_path": "/w/src/a.py", "old_string": "1", "new_string": "2"}, id="2"),
    ]
    (record,) = indexer.of(session_of(((), calls))).files.values()
    assert (record.path, record.status, record.reads) == ("/w/src/a.py", "modified", 1)


def test_errors_with_their_codes_and_whether_they_were_resolved(indexer):
    failing = {"command": "mix test"}
    rounds = [
        ((), [tool_call("Bash", failing, "Exit code 2\n** (RuntimeError) no key\n", error=True, id="1")]),
        ((), [tool_call("Bash", {"command": "cargo build"}, "error[E0308]: mismatched types", error=True, id="2")]),
        ((), [tool_call("Bash", failing, "ok", id="3")]),
    ]
    found = {error.message: error for error in indexer.of(session_of(*rounds)).errors.values()}
    assert found["** (RuntimeError) no key"].codes == ("2", "RuntimeError")
    assert found["** (RuntimeError) no key"].resolved
    assert "E0308" in found["error[E0308]: mismatched types"].codes
    assert not found["error[E0308]: mismatched types"].resolved


def test_words_in_a_good_result_are_no_error(indexer):
    call = tool_call("Read", {"file_path": "/w/a.log"}, "Error: this is only text in a file")
    assert not indexer.of(session_of(((), [call]))).errors


def test_decisions_from_commits_answers_and_sentences(indexer):
    commit = "git add . && git commit -m \"$(cat <<'EOF'\nfeat: cache the index\n\nbody\nEOF\n)\""
    rounds = [
        (["Fine. We will use SQLite instead of Postgres."], [tool_call("Bash", {"command": commit}, id="1")]),
        ((), [tool_call("ask_user_question", {"question": "Which port?"}, "8080", id="2")]),
        ((), [tool_call("Bash", {"command": "git commit -m broken"}, "hook failed", error=True, id="3")]),
    ]
    index = indexer.of(session_of(*rounds))
    assert {(row.source, row.text) for row in index.decisions.values()} == {
        ("statement", "We will use SQLite instead of Postgres."),
        ("commit", "feat: cache the index"),
        ("answer", "Which port? → 8080"),
    }
    assert index.last_commit == 1


def test_the_plan_is_the_one_written_down_last(indexer):
    first = {"plan": [{"step": "read", "status": "in_progress"}, {"step": "write", "status": "pending"}]}
    last = {"plan": [{"step": "read", "status": "completed"}, {"step": "write", "status": "pending"}]}
    index = indexer.of(session_of(((), [tool_call("update_plan", first)]), ((), [tool_call("update_plan", last)])))
    assert [(step.text, step.done) for step in index.plan] == [("read", True), ("write", False)]


def test_unknown_tools_are_counted(indexer):
    index = indexer.of(session_of(((), [tool_call("mcp__x__y", {"a": 1}), tool_call("mystery", {"b": 1})])))
    assert index.unmapped == {"mcp__x__y": 1, "mystery": 1}


def test_what_a_product_writes_is_no_request(indexer):
    index = indexer.of(session_of((["hello"], []), prompt="<task-notification>done</task-notification>"))
    assert not index.requests


def test_openai_and_qwen_transcripts(indexer):
    messages = [
        {"role": "user", "content": "add a file"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "write_file", "arguments": '{"file_path":"/w/n.py","content":"def n(): 0"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "written"},
        {"role": "assistant", "content": "Done."},
    ]
    index = indexer.of(read_text(json.dumps({"messages": messages})))
    (record,) = index.files.values()
    assert (record.path, record.status, record.symbols) == ("/w/n.py", "created", ("n",))
    assert [row.text for row in index.requests.values()] == ["add a file"]
