"""The snippets of the README run as they stand, and its commands are those of CI."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet_of_the_readme_runs(number):
    exec(compile(SNIPPETS[number], f"README snippet {number}", "exec"), {})


def test_readme_has_snippets_and_the_two_commands():
    assert len(SNIPPETS) >= 3
    commands = re.findall(r"^python3 -m venv .*$", README, flags=re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("skdiffuse demo")
    assert "pytest" in commands[1]
