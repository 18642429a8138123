# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows happens as it is shown."""
import doctest
import os
import re

import pages
import pytest

SANITIZED = bool(os.environ.get("KFE_SANITIZE"))


def follow(page, folder):
    count = 0
    for kind, *content in pages.blocks(page):
        if kind == "file":
            (folder / content[0]).write_text(content[1], encoding="utf-8")
        else:
            for step in content[0]:
                pages.run(step, folder)
                count += 1
    return count


@pytest.mark.parametrize("page, least", [("docs/index.md", 3), ("docs/tutorial-cli.md", 15), ("docs/views.md", 13), ("docs/local-views.md", 12),
                                         ("docs/which-method.md", 2), ("docs/data.md", 4), ("docs/prepare.md", 4), ("docs/formats.md", 5),
                                         ("docs/tuning.md", 9), ("docs/landmarks.md", 5), ("docs/large.md", 5), ("docs/gpu.md", 3),
                                         ("docs/report.md", 10), ("docs/explain.md", 9), ("docs/diagnostics.md", 5), ("docs/intervals.md", 3), ("docs/probabilities.md", 5), ("docs/chemometrics.md", 15), ("docs/omics.md", 17), ("docs/transfer.md", 9), ("docs/weights.md", 5), ("docs/blocks.md", 10)])
def test_commands(page, least, tmp_path):
    assert follow(page, tmp_path) >= least


@pytest.mark.skipif(SANITIZED, reason="programs that are not built with sanitizers cannot use this library")
def test_c_tutorial(tmp_path):
    assert follow("docs/tutorial-c.md", tmp_path) >= 6


def test_readme(tmp_path):
    count = 0
    for step in pages.indented_steps("README.md"):
        pages.run(step, tmp_path)
        count += 1
    assert count >= 4


@pytest.mark.skipif(SANITIZED, reason="Python cannot load a library that was built with sanitizers")
@pytest.mark.parametrize("page", ["docs/index.md", "docs/tutorial-python.md", "docs/views.md", "docs/landmarks.md", "docs/large.md", "docs/report.md",
                                  "docs/gpu.md", "docs/explain.md", "docs/diagnostics.md", "docs/intervals.md", "docs/probabilities.md", "docs/chemometrics.md", "docs/omics.md", "docs/transfer.md",
                                  "docs/weights.md"])
def test_python(page, tmp_path, monkeypatch):
    pages.need_package()
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    done = doctest.testfile(str(pages.ROOT / page), module_relative=False, optionflags=flags, encoding="utf-8",
                            parser=PageParser())
    assert done.attempted >= 3 and done.failed == 0


class PageParser(doctest.DocTestParser):
    """The fence that ends a block is no output."""

    def parse(self, string, name="<string>"):
        return super().parse(re.sub(r"^```\w*$", "", string, flags=re.MULTILINE), name)


# ---- links ----


def links(page):
    """What a page links to, without code, addresses on the web and places inside of the page."""
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:|#", target):
            yield target.split("#")[0]


@pytest.mark.parametrize("page", sorted(p.relative_to(pages.ROOT).as_posix() for folder in
                                        (".", "docs", "bench", "src", "cli", "tests", "reproduce", "python", "examples")
                                        for p in (pages.ROOT / folder).glob("*.md" if folder == "." else "**/*.md")))
def test_links_lead_somewhere_in_the_repository(page):
    page = pages.ROOT / page
    dead = [target for target in links(page) if not (page.parent / target).exists()]
    assert not dead


def test_every_page_is_on_the_site():
    listed = re.findall(r"^([\w-]+)$", (pages.ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {p.stem for p in (pages.ROOT / "docs").glob("*.md")} - {"index"} <= set(listed)


# ---- the comparison itself ----


@pytest.mark.parametrize("shown, got, equal", [
    ("accuracy 0.915", "accuracy 0.9133", True),
    ("accuracy 0.915", "accuracy 0.85", False),
    ("accuracy 0.915", "f1 0.915", False),
    ("3 features, 0.02 s, written", "3 features, 1.57 s, written", True),
    ("3 features, 0.02 s, written", "4 features, 0.02 s, written", False),
    ("m   accuracy   seconds\nkoc  0.88  0.01", "m accuracy seconds\nkoc 0.88 7.5", True),
    ("m   accuracy   seconds\nkoc  0.88  0.01", "m accuracy seconds\nkoc 0.5 0.01", False),
    ("split accuracy seconds chosen\n1 0.88 0.01 C=1", "split accuracy seconds chosen\n1 0.88 7.5 C=1", True),
    ("split accuracy seconds chosen\n1 0.88 0.01 C=1", "split accuracy seconds chosen\n1 0.5 0.01 C=1", False),
    ("chosen gamma=0.01 ridge=10", "chosen gamma=0.01 ridge=1", False),
    ("one\n\ntwo", "one\ntwo", True),
    ("one", "one\ntwo", False),
])
def test_compare(shown, got, equal):
    assert (pages.compare(shown, got) is None) == equal
