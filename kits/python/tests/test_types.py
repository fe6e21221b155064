import ast
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Iterator, List

KIT = Path(__file__).resolve().parent.parent
PACKAGE = KIT / "src" / "spool_device"


def without_types(source: str) -> List[str]:
    """Parameters and results of a source's functions that have no type, as `line: name`."""

    def found() -> Iterator[str]:
        tree = ast.parse(source)
        methods = {function for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for function in node.body}
        for node in ast.walk(tree):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            given = node.args.posonlyargs + node.args.args
            is_static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list)
            named = given[1:] if node in methods and not is_static else given
            more = [one for one in (node.args.vararg, node.args.kwarg) if one is not None]
            for argument in named + node.args.kwonlyargs + more:
                if argument.annotation is None:
                    yield f"{argument.lineno}: {argument.arg}"
            if node.returns is None:
                yield f"{node.lineno}: {node.name}"

    return list(found())


class Types(unittest.TestCase):
    def test_every_function_says_what_it_takes_and_gives(self) -> None:
        sources = sorted(PACKAGE.glob("*.py"))
        self.assertGreater(len(sources), 10)
        for source in sources:
            self.assertEqual(without_types(source.read_text("utf8")), [], source.name)

    def test_a_missing_type_is_noticed(self) -> None:
        self.assertEqual(without_types("def f(a, b: int) -> None: ...\n"), ["1: a"])
        self.assertEqual(without_types("def f(a: int): ...\n"), ["1: f"])
        self.assertEqual(without_types("class C:\n  def f(self, *a) -> int: ...\n"), ["2: a"])
        self.assertEqual(without_types("class C:\n  def f(self, a: int) -> int: ...\n"), [])

    def test_type_checkers_are_told_that_there_are_types(self) -> None:
        self.assertTrue((PACKAGE / "py.typed").exists())
        self.assertIn('spool_device = ["py.typed"]', (KIT / "pyproject.toml").read_text("utf8"))

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_mypy_finds_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "mypy", "--cache-dir", cache]
            done = subprocess.run(command, cwd=KIT, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
