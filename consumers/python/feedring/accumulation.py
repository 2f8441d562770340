# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation: W x B x A samples between two steps of the optimizer, whatever becomes of W and B."""

from __future__ import annotations

from .errors import RefusedError


class Groups:
    """Batches between two steps of the optimizer.

    Group g of an epoch covers the ordinals from g x W x B x A on, so that its end can be told from the step alone.
    """

    def __init__(self, accumulate: int) -> None:
        self.accumulate = accumulate
        self.ends = False
        self.size = accumulate

    def advance(self, step: int, steps: int) -> None:
        """The batch of `step` (of `steps` in an epoch) was handed out."""
        self.ends = (step + 1) % self.accumulate == 0 or step + 1 == steps
        first = step - step % self.accumulate
        self.size = min(self.accumulate, steps - first)

    def load(self, state: dict, samples_per_step: int) -> int:
        """How many batches make a group now, so that a group stays what it was where the state was saved. Raises
        RefusedError where no whole number does, and where the state stands inside of one of the new batches."""
        if "accumulate" not in state and self.accumulate == 1:
            return 1
        group = state["G"] * state.get("accumulate", 1)
        if group % samples_per_step != 0:
            raise RefusedError(f"the state was saved with {group} samples between two steps of the optimizer, and this "
                               f"job takes {samples_per_step} at a time, of which no whole number makes that: choose "
                               "another batch_size")
        if state["next_ordinal"] % samples_per_step != 0:
            raise RefusedError(f"the state stands at sample {state['next_ordinal']} of the epoch, which is inside of a "
                               f"step of {samples_per_step}: save states behind the last batch of a group")
        return group // samples_per_step
