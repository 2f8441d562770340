# SPDX-License-Identifier: Apache-2.0
"""From a folder or a file, and a loader's arguments, to the configuration from which a pool starts."""

from __future__ import annotations

import json
import os

from .errors import UsageError

# What `feedring run --data DIR` runs, too.
FOLDER_TRANSFORM = [{"name": "RandomResizedCrop", "size": 224}, {"name": "RandomHorizontalFlip"}]


class Source:
    """Where a loader's batches come from.

    `said` holds the keys of the feed's table that the user gave, by argument or file: a pool that somebody else started
    must agree with them. `whole` is the configuration to start a pool from, None where the file at `path` is that as it
    stands; without either, somebody else's pool is meant. `folder_transform` is that of a plain folder.
    """

    def __init__(self, name: str | None, feed: str, given: dict,
                 folder_transform: list[dict] = FOLDER_TRANSFORM) -> None:
        self.feed = feed
        self.said = dict(given)
        self.path: str | None = None
        self.attachment: bytes | None = None  # of the feed
        self._document: dict = {}
        self._changed = False
        if name is None and not os.environ.get("FEEDRING_POOL"):
            name = os.environ.get("FEEDRING_CONFIG")
        if not name:
            return
        path = os.path.abspath(name)
        if name.endswith(".toml") and not os.path.isdir(path):
            self.path = path
            self._read(given)
        else:
            self.said["data"] = path
            table = {"data": path, "transform": folder_transform, "remainder": "pad"}
            _update(table, given)
            self._document = {"feed": {feed: table}}
            self._changed = True

    @classmethod
    def without_data(cls, feed: str, table: dict, producer: list[str] | None = None,
                     attachment: bytes | None = None) -> Source:
        """A feed whose samples are made: by the program `producer`, or by feedring's own."""
        source = cls("", feed, {})
        source.path, source.attachment, source._changed = None, attachment, True
        source.said = dict(table)
        source._document = {"pool": {"producer": producer} if producer else {}, "feed": {feed: table}}
        return source

    @property
    def whole(self) -> dict | None:
        return self._document if self._changed else None

    def _read(self, given: dict) -> None:
        self._document = _load(self.path)
        feeds = self._document.get("feed")
        table = feeds.get(self.feed) if isinstance(feeds, dict) else None
        if not isinstance(table, dict):
            known = ", ".join(feeds) if isinstance(feeds, dict) and feeds else "none"
            raise UsageError(f"{self.path} describes no feed '{self.feed}'; it describes: {known}")
        for each in feeds.values():
            _make_absolute(each, "data", self.path)
            _make_absolute(each, "classes", self.path)
            _make_absolute(each, "files", self.path)
            for part in each.get("mix", []) if isinstance(each, dict) and isinstance(each.get("mix"), list) else []:
                for key in ("data", "classes", "files"):
                    _make_absolute(part, key, self.path)
            if isinstance(each, dict):
                for key in ("only", "file"):
                    _make_absolute(each.get("episodes"), key, self.path)
        _make_absolute(self._document.get("pool"), "failures", self.path)
        written = table.get("episodes")
        _update(table, given)
        # A file says all there is to say of its episodes.
        if isinstance(written, dict) and "episodes" in given and "file" not in given["episodes"]:
            table["episodes"] = {**written, **given["episodes"]}
        self.said = dict(table)
        self._changed = bool(given)

    def set_producers(self, producers: int) -> None:
        """[pool] producers; no effect where somebody else's pool is meant."""
        if self._document:
            self._document.setdefault("pool", {})["producers"] = producers
            self._changed = True

    def text(self, **more: object) -> str:
        """`whole` as TOML, with further keys of the feed."""
        tables = [("pool", self._document.get("pool", {}))]
        tables += [(f"feed.{_key(name)}", {**table, **more} if name == self.feed else table)
                   for name, table in self._document["feed"].items()]
        lines = []
        for title, table in tables:
            lines.append(f"[{title}]")
            lines += [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
        return "\n".join(lines) + "\n"


class ConfigurationFile:
    """A configuration that exists only while a pool reads it: a memory file, which leaves nothing behind.

    `path` is what the command is given; `key` tells pools of different configurations apart.
    """

    def __init__(self, source: Source) -> None:
        import hashlib

        self._fds: list[int] = []
        if source.whole is not None:
            content = source.text().encode()
            text = content
            if source.attachment is not None:
                text = source.text(attachment=self._keep(source.attachment)).encode()
                content += source.attachment
            self.path = self._keep(text)
        elif source.path is not None:
            with open(source.path, "rb") as file:
                content = os.fsencode(source.path) + b"\0" + file.read()
            self.path = source.path
        else:
            content = b""
            self.path = ""
        self.key = hashlib.sha256(content).hexdigest()[:16] if content else ""

    def __enter__(self) -> ConfigurationFile:
        return self

    def __exit__(self, *exc: object) -> None:
        while self._fds:
            os.close(self._fds.pop())

    def _keep(self, content: bytes) -> str:
        self._fds.append(os.memfd_create("feedring-config", os.MFD_CLOEXEC))
        with open(self._fds[-1], "wb", closefd=False) as file:
            file.write(content)
        return f"/proc/{os.getpid()}/fd/{self._fds[-1]}"


def contradictions(said: dict, running: dict) -> list[str]:
    """Where a running feed is not what was said of it, a phrase each."""
    found = []
    for key, value in said.items():
        if key not in running and key != "background":
            continue
        here = running.get(key)
        if key == "data":
            same = os.path.realpath(value) == os.path.realpath(here)
        elif key == "transform":
            same = [_plain(step) for step in value] == [_plain(step) for step in here]
        elif key == "views":
            same = _plain([{"name": name, **view} for name, view in value.items()]) == here
        elif key == "columns":
            same = [{"name": name, "kind": kind} for name, kind in value.items()] == here
        elif key == "weights":
            same = _plain_weights(value) == here
        elif key == "mix":
            same = [part.get("weight", 1) for part in value] == here
        elif key == "episodes":
            found += [f"episodes.{phrase}" for phrase in contradictions(_spelled_out(value), here)]
            continue
        else:
            same = value == here or (key == "classes" and isinstance(value, str))  # a list in a file
        if not same:
            found.append(f"{key} is {'none' if here is None else _value(here)} there and {_value(value)} here")
    return found


def _update(table: dict, given: dict) -> None:
    """Keys of a feed's table, of which views and transform take each other's place."""
    for key, other in (("views", "transform"), ("transform", "views")):
        if key in given:
            table.pop(other, None)
    table.update(given)


def _spelled_out(episodes: dict) -> dict:
    """As a feed describes its episodes: numbers are pairs. What a feed says in another form is left out."""
    plain = {}
    for key, value in episodes.items():
        if key in ("ways", "shots", "queries"):
            plain[key] = list(value) if isinstance(value, (list, tuple)) else [value, value]
        elif isinstance(value, (bool, int, str)) and key != "only":
            plain[key] = value
    return plain


def _plain_weights(weights: object) -> dict:
    """As a feed describes its weights."""
    if isinstance(weights, str):
        return {"classes": []} if weights == "balanced" else {"column": weights}
    return {"classes": [[name, weights[name]] for name in sorted(weights)]}


def _plain(value: object) -> object:
    return json.loads(json.dumps(value))


def _load(path: str) -> dict:
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        import tomli as tomllib
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise UsageError(f"cannot read the configuration {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from error


def _make_absolute(table: object, key: str, path: str) -> None:
    if isinstance(table, dict) and isinstance(table.get(key), str) and not table[key].startswith("builtin:"):
        table[key] = os.path.normpath(os.path.join(os.path.dirname(path), table[key]))


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _value(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{value!r} is no UTF-8, and a configuration is: name a folder above it") from None
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    raise UsageError(f"a configuration holds no {type(value).__name__}: {value!r}")
