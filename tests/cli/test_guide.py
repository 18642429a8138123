# SPDX-License-Identifier: Apache-2.0
"""The guide "which method?": `kfe methods` prints it, and docs/which-method.md shows the same rows."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "which-method.md"


def printed(text):
    """The rows of the guide as (goal, start, then), with line breaks removed."""
    guide = text[text.index("Which method? By goal:"):]
    rows = []
    for block in guide.split("\n\n")[1:]:
        goal, _, advice = " ".join(block.split()).partition(" start with: ")
        start, _, then = advice.partition(" then: ")
        rows.append((goal, start, then))
    return rows


def test_the_guide_is_printed(kfe):
    rows = printed(kfe.ok("methods", "--guide").out)
    assert len(rows) > 10 and printed(kfe.ok("methods").out) == rows
    assert "By goal" not in kfe.ok("methods", "koc").out
    kfe.refused("methods", "--guide", "koc", says="koc")


def test_the_page_has_the_same_rows(kfe):
    table = PAGE.read_text().partition("## By goal")[2].partition("\n## ")[0]
    rows = [tuple(cell.strip().replace("`", "") for cell in line.strip("|").split("|"))
            for line in re.findall(r"^\|(?!---)(.*)$", table, re.M)][1:]
    assert rows == printed(kfe.ok("methods", "--guide").out)
