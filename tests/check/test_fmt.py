"""fmt changes layout and nothing else."""

import random

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policyengine.check.fmt import fmt, settled
from policyengine.source.resources import policies_folder
from policyengine.source.yaml import parse_documents
from tests.conftest import examples

UGLY = """\
#head

apiVersion:   policyengine/v1
kind :  Ladder   # x
spec:
    # about list
    list:
    - a
    -   b: 1
        c:
            - x
            -  - y
               - z
    - |
        text
          more

    - last\x20\x20


    flow: [a,b , {x: 1,"y":2 } ]
    multi:
          [
            a, b,   # c
            d
          ]
    anchored:   &one   {a: 1}
    again: *one
    block: >-   # note
        folded
        text

        x
    # trailing
    q: "a
      b"
# end
"""
NEAT = """\
#head

apiVersion: policyengine/v1
kind: Ladder   # x
spec:
  # about list
  list:
    - a
    - b: 1
      c:
        - x
        - - y
          - z
    - |
        text
          more

    - last

  flow: [a, b, {x: 1, "y": 2}]
  multi:
    [
      a, b,   # c
      d
    ]
  anchored: &one {a: 1}
  again: *one
  block: >-  # note
      folded
      text

      x
  # trailing
  q: "a
    b"
# end
"""


def values(text):
    documents, findings = parse_documents(text, "x.yaml")
    assert not findings
    return [document.data for document in documents]


def test_an_ugly_file():
    assert fmt(UGLY, "x.yaml").text == NEAT
    assert fmt(NEAT, "x.yaml").text == NEAT


@pytest.mark.parametrize("file", sorted(policies_folder().rglob("*.yaml")), ids=lambda file: file.name)
def test_the_default_bundle_is_in_our_layout(file):
    text = file.read_text(encoding="utf-8")
    assert fmt(text, file.name).text == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("a: 1", "a: 1\n"),
        ("a: 1\r\nb: 2\r\n", "a: 1\nb: 2\n"),
        ("\ufeffa:  1\n", "a: 1\n"),
        ("---\na: 1\n---\nb:\n- 1\n...\n", "---\na: 1\n---\nb:\n  - 1\n...\n"),
        ("a:\n    b:\n        c: 1\n", "a:\n  b:\n    c: 1\n"),
        ("a:\n      long\n", "a:\n  long\n"),
        ("- a\n-   - b\n    - c\n", "- a\n- - b\n  - c\n"),
        ("a: |+\n    x\n\n\nb: 1\n", "a: |+\n    x\n\n\nb: 1\n"),
        ("a: |2\n    x\n", "a: |2\n    x\n"),
        ("a: !!str  1\n", "a: !!str 1\n"),
        ("a: [ ]\nb: { }\n", "a: []\nb: {}\n"),
        ("a: 1 #c\n", "a: 1  #c\n"),
        ("a:\n# one\n- x\n# two\n- y\n", "a:\n  # one\n  - x\n  # two\n  - y\n"),
        ("a:\n    b: 1\n    # of a\n# of the end\n", "a:\n  b: 1\n  # of a\n# of the end\n"),
        ("a: |\n  no break at the end", "a: |\n  no break at the end"),
    ],
)  # fmt: skip
def test_small_texts(before, after):
    assert fmt(before, "x.yaml").text == after
    assert fmt(after, "x.yaml").text == after


def test_a_file_that_cannot_be_read_stays_and_says_why():
    done = fmt("a:\n\t- b\n", "x.yaml")
    assert done.text == "a:\n\t- b\n"
    assert [finding.code for finding in done.findings] == ["yaml"]


TEXTS = ["a", "b: c", "# not", "x #y", "two\nlines\n", "trail\n\n\n", "  lead", "", "null", "1.5", "- d", "k: v\n  z\n"]
TEXTS += ["long " * 20, "'q'", '"d"', "末尾", "a\n\n b\n", " \n x", "*s", "&a", "[x]", "{y}", "a,b", "|", ">-", "? x"]
VALUES = st.recursive(
    st.sampled_from([1, -3, 2.5, True, None, *TEXTS]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcdefgh"), inner, max_size=4),
    max_leaves=25,
)


def written(value, chance):
    """A value as YAML in a layout that nobody would choose."""

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data):
            return True

    Dumper.add_representer(
        str,
        lambda dumper, text: dumper.represent_scalar(
            "tag:yaml.org,2002:str", text, style=chance.choice([None, "|", ">", '"', "'"])
        ),
    )
    for kind, tag in ((list, "seq"), (dict, "map")):
        represent = f"represent_{'sequence' if kind is list else 'mapping'}"
        Dumper.add_representer(
            kind,
            lambda dumper, data, represent=represent, tag=tag: getattr(dumper, represent)(
                f"tag:yaml.org,2002:{tag}",
                data.items() if isinstance(data, dict) else data,
                flow_style=chance.random() < 0.3,
            ),
        )
    text = yaml.dump(
        value, Dumper=Dumper, indent=chance.choice([2, 3, 4, 7]), width=chance.choice([20, 80]), allow_unicode=True
    )
    lines = text.split("\n")
    for number in range(chance.randint(0, 4)):
        at = chance.randrange(len(lines))
        kind = chance.random()
        if kind < 0.4:
            lines.insert(at, f"{' ' * chance.randint(0, 6)}# comment{number}")
        elif kind < 0.6:
            lines.insert(at, "")
        elif kind < 0.8:
            lines[at] += " " * chance.randint(0, 3)
        else:
            lines[at] += f"   # comment{number}"
    return "\n".join(lines)


@settings(max_examples=examples(120), deadline=None)
@given(VALUES, st.integers(0, 2**32))
def test_values_and_comments_stay_and_twice_is_once(value, seed):
    text = written(value, random.Random(seed))
    documents, findings = parse_documents(text, "x.yaml")
    if findings:  # a comment in a place where YAML takes none
        assert fmt(text, "x.yaml").text == text
        return
    once = fmt(text, "x.yaml").text
    assert values(once) == [document.data for document in documents]
    assert fmt(once, "x.yaml").text == once
    for number in range(4):
        assert once.count(f"# comment{number}") == text.count(f"# comment{number}")
    assert settled(text) is not None, "the layout settles; no text is given up"
    assert once in (settled(text), settled(text).removesuffix("\n"))
