# SPDX-License-Identifier: Apache-2.0
# The package itself: what importing it loads, what it carries, what it says of itself.
import ast
import inspect
import os
import subprocess
import sys

import feedring


def test_importing_loads_neither_numpy_nor_torch(python):
    loaded = python("import sys, feedring; print(' '.join(sys.modules))").split()
    assert "feedring._core" in loaded
    assert not {"numpy", "torch", "multiprocessing", "asyncio", "logging"} & set(loaded)


def test_a_loader_works_where_torch_cannot_be_imported(python, pictures):
    said = python(f"""
import sys
sys.modules["torch"] = None  # importing it is an ImportError, and finding it a ValueError or nothing
import feedring
with feedring.Loader({str(pictures)!r}, batch_size=4, backend="numpy") as loader:
    print(type(next(iter(loader))["images"]).__module__)
""")
    assert said.split() == ["numpy"]


def test_the_command_comes_with_it():
    version = f"feedring {feedring.__version__}"
    for command in ([feedring.command(), "--version"], [sys.executable, "-m", "feedring", "--version"]):
        said = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True, timeout=30).stdout
        assert said.strip() == version


def test_types_are_told():
    folder = os.path.dirname(feedring.__file__)
    for name in ("py.typed", "_core.pyi"):
        assert os.path.exists(os.path.join(folder, name))
    with open(os.path.join(folder, "_core.pyi")) as file:
        assert "class Feed" in file.read()


def test_modules_import_one_another_in_one_direction():
    folder = os.path.dirname(feedring.__file__)
    arrows = {}
    for name in os.listdir(folder):
        if name.endswith(".py") and name != "__init__.py":
            with open(os.path.join(folder, name)) as file:
                tree = ast.walk(ast.parse(file.read()))
            arrows[name[:-3]] = {target for node in tree if isinstance(node, ast.ImportFrom) and node.level == 1
                                 for target in ([node.module] if node.module else [each.name for each in node.names])}
    assert "arguments" in arrows["loader"]
    while done := [name for name, needs in arrows.items() if not needs & set(arrows)]:
        for name in done:
            del arrows[name]
    assert not arrows


def test_everything_public_is_described():
    for name in feedring.__all__:
        thing = getattr(feedring, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    if member not in ("rank", "world_size"):
                        assert inspect.getdoc(value), f"{name}.{member}"
    text = inspect.getdoc(feedring.Loader)
    for parameter in inspect.signature(feedring.Loader).parameters:
        assert parameter == "unsupported" or parameter in text, parameter
