# SPDX-License-Identifier: Apache-2.0
"""What can go wrong: one class per kind, all of them RuntimeErrors, with the words of the C++ side."""

from __future__ import annotations

import re


class Error(RuntimeError):
    """Base of all errors of feedring. The text is one sentence: what happened, to which file, rank or slot, what to do.

    Attributes (None where it is not known, or makes no sense):
        kind: which kind it is, as docs/consumer.md lists them: "usage", "data", "deadline", …
        exit_code: what the commands end with for this kind; a trainer may do the same.
        path: the file that failed, as the data set names it.
        index: the number of the sample in the data set.
        producer: the number of the producer that has the sample in hand.
        deadline: the wait that passed, in seconds.
    """

    kind = "internal"
    exit_code = 70

    def __init__(self, message: str = "", *, path: str | None = None, index: int | None = None,
                 producer: int | None = None, deadline: float | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.index = index
        self.producer = producer
        self.deadline = deadline


class UsageError(Error):
    """Wrong arguments, configuration or environment."""

    kind = "usage"
    exit_code = 2


class DataError(Error):
    """A data set or a file that cannot be used. A loader goes on behind the step that failed."""

    kind = "data"
    exit_code = 3


class InternalError(Error):
    """A broken promise of feedring's own."""


class NotEnoughMemoryError(Error):
    """Not enough memory for what was asked."""

    kind = "memory"
    exit_code = 71


class PoolGoneError(Error):
    """The pool died. Save the state, and end or open another loader."""

    kind = "pool_gone"
    exit_code = 72


class DeadlineError(Error):
    """A wait passed its deadline; it may be tried again."""

    kind = "deadline"
    exit_code = 73


class RefusedError(Error):
    """A state of other data, a pool of another user or another build, a ring that somebody else owns."""

    kind = "refused"
    exit_code = 74


class HeldError(Error):
    """The program holds all slots of its ring and asked for one more."""

    kind = "held"


class ForkedError(Error):
    """A forked child used what belongs to its parent."""

    kind = "forked"


_CLASSES = {cls.kind: cls for cls in (UsageError, DataError, InternalError, NotEnoughMemoryError, PoolGoneError,
                                      DeadlineError, RefusedError, HeldError, ForkedError)}

# The C++ side says in its sentence what these attributes hold (consumers/feed_owner.cpp, consumers/stall.cpp,
# producers/pool/sample_writer.cpp, producers/pool/episode_pictures.cpp).
_SAMPLE = re.compile(r"the first(?: in row \d+)?: (?P<path>.+) \(sample (?P<index>\d+), \d+ bytes\): ", re.DOTALL)
_WITHIN = re.compile(r" within (?P<deadline>[0-9.e+]+) s\b")
_IN_HAND = re.compile(r"producer (?P<producer>\d+) has been \w+ sample (?P<index>\d+) for ")


def of_kind(kind: str, text: str, exit_code: int) -> Error:
    """The error that the C++ side threw."""
    error = _CLASSES.get(kind, InternalError)(text)
    error.exit_code = exit_code
    if isinstance(error, DataError):
        found = _SAMPLE.search(text)
        if found:
            error.path = found["path"]
            error.index = int(found["index"])
    elif isinstance(error, DeadlineError):
        found = _WITHIN.search(text)
        if found:
            error.deadline = float(found["deadline"])
        found = _IN_HAND.search(text)
        if found:
            error.producer = int(found["producer"])
            error.index = int(found["index"])
    return error
