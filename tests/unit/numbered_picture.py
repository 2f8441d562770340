# SPDX-License-Identifier: Apache-2.0
"""Pictures of the fixtures with arrays: what a test expects of them is worked out by hand."""
import numpy as np


def picture(number, shape=(2, 4, 3)):
    return (np.arange(np.prod(shape)).reshape(shape) + 40 * number).astype(np.uint8)
