"""Shell command lines taken apart: the simple commands, their words, and where their output goes.

This is no shell. It follows quotes, here-documents, separators and `cd`, and leaves what it would have to run
(variables, substitutions, globs) as it is written.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

MAX_CHARS = 200_000
"""Length of a command line that is looked at; the rest is not."""

_SEPARATORS = frozenset(";&|\n(){}")


@dataclass(slots=True)
class Simple:
    """One simple command. `redirects` are (operator, file) pairs; `folder` is where an earlier `cd` led, else empty."""

    words: list[str] = field(default_factory=list)
    redirects: list[tuple[str, str]] = field(default_factory=list)
    folder: str = ""

    def path(self, word: str) -> str:
        """A path that the command names, seen from where the command line starts."""
        return word if word.startswith(("/", "~")) or not self.folder else posixpath.join(self.folder, word)


def simple_commands(text: str) -> list[Simple]:
    """The simple commands of a command line, in order. Never raises; what is unfinished ends at the end."""
    found = _Reader(text[:MAX_CHARS]).read()
    folder = ""
    for command in found:
        command.folder = folder
        if len(command.words) == 2 and command.words[0] == "cd":
            folder = command.path(command.words[1])
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.commands: list[Simple] = []
        self.current = Simple()
        self.word: list[str] | None = None
        self.operator: str | None = None
        self.here: list[tuple[str, bool]] = []

    def read(self) -> list[Simple]:
        while self.at < len(self.text):
            self._step()
        self._end_command()
        return self.commands

    def _step(self) -> None:
        char = self.text[self.at]
        if char in " \t\r":
            self._end_word()
            self.at += 1
        elif char == "\n":
            self._end_command()
            self.at += 1
            self._skip_here()
        elif char == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif char in "<>":
            self._redirect(char)
        elif char == "&" and self.text.startswith("&>", self.at):
            self.at += 1
        elif char in _SEPARATORS and not (char in "{}" and self.word is not None):
            self._end_command()
            self.at += 1
        else:
            self._take_piece(char)

    def _take_piece(self, char: str) -> None:
        """A piece of a word: quoted, substituted, escaped or plain."""
        self.word = self.word if self.word is not None else []
        if char == "'":
            self._until("'", 1)
        elif char == '"':
            self._double()
        elif char == "`":
            self._until("`", 0)
        elif char == "$" and self.text.startswith("$(", self.at):
            end = self._closing(self.at + 1)
            self.word.append(self.text[self.at : end])
            self.at = end
        elif char == "\\":
            if self.text[self.at + 1 : self.at + 2] != "\n":
                self.word.append(self.text[self.at + 1 : self.at + 2])
            self.at += 2
        else:
            self.word.append(char)
            self.at += 1

    def _until(self, quote: str, drop: int) -> None:
        end = self.text.find(quote, self.at + 1)
        end = len(self.text) if end < 0 else end
        assert self.word is not None
        self.word.append(self.text[self.at + 1 : end] if drop else self.text[self.at : end + 1])
        self.at = end + 1

    def _double(self) -> None:
        assert self.word is not None
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            if self.text[self.at] == "\\" and self.text[self.at + 1 : self.at + 2] in ('"', "\\", "$", "`"):
                self.word.append(self.text[self.at + 1])
                self.at += 2
            elif self.text.startswith("$(", self.at):
                end = self._closing(self.at + 1)
                self.word.append(self.text[self.at : end])
                self.at = end
            else:
                self.word.append(self.text[self.at])
                self.at += 1
        self.at += 1

    def _closing(self, at: int) -> int:
        """Where the bracket that opens at `at` is closed: one past it."""
        depth = 0
        quote = ""
        while at < len(self.text):
            char = self.text[at]
            if quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char == "(":
                depth += 1
            elif char == ")":
                depth -= 1
                if depth == 0:
                    return at + 1
            at += 1
        return at

    def _redirect(self, char: str) -> None:
        if self.text.startswith("<<<", self.at):
            self._end_word()
            self.at += 3
            return
        if self.text.startswith("<<", self.at):
            self._end_word()
            self.at += 2
            strip = self.text.startswith("-", self.at)
            self.at += strip
            self._here_word(strip)
            return
        if self.word is not None and "".join(self.word).isdigit():
            self.word = None  # 2> and the like
        self._end_word()
        length = 2 if self.text.startswith(">>", self.at) or self.text.startswith(">|", self.at) else 1
        self.operator = ">>" if self.text.startswith(">>", self.at) else char
        self.at += length
        if self.text.startswith("&", self.at):
            self.at += 1
            self.operator = "&"

    def _here_word(self, strip: bool) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in " \t\n;&|<>()":
            self.at += 1
        self.here.append((self.text[start : self.at].strip("'\"\\"), strip))

    def _skip_here(self) -> None:
        for end, strip in self.here:
            while self.at < len(self.text):
                stop = self.text.find("\n", self.at)
                stop = len(self.text) if stop < 0 else stop
                line = self.text[self.at : stop]
                self.at = min(stop + 1, len(self.text))
                if (line.lstrip("\t") if strip else line) == end:
                    break
        self.here = []

    def _end_word(self) -> None:
        if self.word is None:
            return
        word = "".join(self.word)
        self.word = None
        if self.operator is None:
            self.current.words.append(word)
        else:
            if self.operator in (">", ">>"):
                self.current.redirects.append((self.operator, word))
            self.operator = None

    def _end_command(self) -> None:
        self._end_word()
        self.operator = None
        if self.current.words or self.current.redirects:
            self.commands.append(self.current)
        self.current = Simple()
