# SPDX-License-Identifier: Apache-2.0
"""The gallery: runs the scripts of examples/ and shows the picture, the description and the source of each."""
import ast
import os
import subprocess
import sys


def describe(script):
    """The title and the description in a script's docstring, without the line on its usage."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if not part.startswith("usage:")]
    return paragraphs[0].rstrip("."), " ".join(paragraphs[1:])


def draw(script, folder, environment):
    done = subprocess.run([sys.executable, "-B", str(script), str(folder)], env=environment, capture_output=True,
                          encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{script.name} failed:\n{done.stderr}")


def make(root, library, folder):
    """The text of the page; pictures go to FOLDER/pictures."""
    pictures = folder / "pictures"
    pictures.mkdir()
    environment = {**os.environ, "KFE_LIBRARY": str(library),
                   "PYTHONPATH": os.pathsep.join([str(root / "python"), os.environ.get("PYTHONPATH", "")])}
    lines = ["# Gallery", "", "Pictures made by the scripts of `examples/`, which run whenever this site is built.", ""]
    for script in sorted((root / "examples").glob("*.py")):
        title, description = describe(script)
        draw(script, pictures, environment)
        lines += [f"## {title}", "", description, "", f"![{title}](pictures/{script.stem}.png)", "",
                  f"`examples/{script.name}`:", "", "```python",
                  script.read_text(encoding="utf-8").rstrip("\n"), "```", ""]
    return "\n".join(lines)
