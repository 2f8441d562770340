# SPDX-License-Identifier: Apache-2.0
# The fixtures are those of tests/python, which is on the path.
import importlib.util
import sys
from pathlib import Path

_path = Path(__file__).parent.parent / "python" / "conftest.py"
_spec = importlib.util.spec_from_file_location("pictures", _path)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
sys.modules["pictures"] = _module
globals().update({name: value for name, value in vars(_module).items() if not name.startswith("__")})
