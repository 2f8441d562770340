# SPDX-License-Identifier: Apache-2.0
# Fixtures that the suites of Python share; tests/python is on the path of all of them.
from pictures import *  # noqa: F401, F403
from episode_pictures import episodes_of, tasks  # noqa: F401
