# SPDX-License-Identifier: Apache-2.0
"""The C reference: kfe.h, section by section, each declaration below the comment above it, as reStructuredText."""
import re

SECTION = re.compile(r"/\* ---- (.*?) -+ \*/")
# A comment, a declaration with braces, a macro over several lines, or a declaration up to its semicolon.
ITEM = re.compile(r"""
    (?P<comment>/\*.*?\*/)
  | (?P<macro>\#(?:[^\n]*\\\n)*[^\n]*)
  | (?P<braced>(?:typedef\s+)?(?:struct|enum)\b[^;{]*\{.*?\}[^;]*;)
  | (?P<plain>\w[^;{]*;(?:[ \t]*/\*[^\n]*?\*/)?)
""", re.DOTALL | re.VERBOSE)


def plain_comment(comment):
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment[2:-2].splitlines()]
    return "\n".join(lines).strip()


class Links:
    """Text of comments as reStructuredText, names of functions in it as links."""

    def __init__(self, header):
        self.functions = set(re.findall(r"KFE_API [^;]*?\b(kfe_\w+)\(", header))

    def __call__(self, comment):
        parts = re.split(r"(`[^`]+`|\bkfe_\w+\b)", plain_comment(comment))
        return "".join(map(self.part, parts))

    def part(self, part):
        if part.startswith("`"):
            return f"`{part}`"
        if part in self.functions:
            return f":c:func:`{part}`"
        escaped = re.sub(r"([*|_\\])", r"\\\1", part)
        return re.sub(r"(?<=\w):(?=\w)", r"\\:", escaped)  # "file:line" would be a link


def indent(text, by="   "):
    return "\n".join(by + line if line else line for line in text.splitlines())


def code(text):
    return ".. code-block:: c\n\n" + indent(text) + "\n"


def one_line(declaration):
    return " ".join(declaration.replace("KFE_API ", "").rstrip(";").split())


def split_trailing(declaration):
    """A declaration and the comment behind it on the same line."""
    found = re.match(r"(.*?;)\s*(/\*.*\*/)?$", declaration, re.DOTALL)
    return found[1], found[2]


class Page:
    def __init__(self, header):
        self.links = Links(header)
        self.lines = []
        self.comment = None
        self.functions = []  # prototypes in a row, which share the comment above them

    def add(self, text):
        self.lines += [text, ""]

    def flush(self):
        """Writes the prototypes collected so far, or a comment that belongs to nothing."""
        if self.functions:
            names = "\n".join([".. c:function:: " + self.functions[0],
                               *(" " * 16 + prototype for prototype in self.functions[1:])])
            self.add(names + ("\n\n" + indent(self.comment) if self.comment else ""))
        elif self.comment:
            self.add(self.comment)
        self.comment, self.functions = None, []

    def function(self, prototype, remark):
        # A comment holds for the prototypes below it up to the next thing to set or to free; a remark, for its line.
        if self.functions and (remark or re.search(r"_free\(|_set_", prototype)):
            self.flush()
        self.functions.append(one_line(prototype))
        if remark:
            self.comment = "\n\n".join(filter(None, [self.comment, self.links(remark)]))
            self.flush()

    def type(self, declaration, directive, name):
        comment, self.comment = self.comment, None
        self.flush()
        body = [indent(comment)] if comment else []
        if "{" in declaration:
            body.append(indent(code(declaration)))
        self.add("\n\n".join([f".. c:{directive}:: {name}", *body]))

    def declaration(self, text):
        if self.functions:
            self.flush()
        if pointer := re.match(r"typedef ([^{]*\(\*\w+\)\([^{]*\));", text):
            self.type("", "type", one_line(pointer[1] + ";"))
        elif opaque := re.match(r"typedef struct (\w+) \w+;", text):
            self.type("", "struct", opaque[1])
        elif named := re.match(r"typedef (struct|enum) (\w+) \{", text):
            self.type(text, named[1], named[2])
        else:
            comment, self.comment = self.comment, None
            self.add("\n\n".join(filter(None, [comment, code(text)])))


def sections(header):
    """(title, text) of each section between the lines that name them."""
    pieces = SECTION.split(header)
    return list(zip(pieces[1::2], pieces[2::2]))


def write_section(page, title, text):
    page.add(f"{title[:1].upper()}{title[1:]}\n{'-' * len(title)}")
    for paragraph in re.split(r"\n\s*\n(?![^{]*\n\})", text):
        for item in ITEM.finditer(paragraph):
            if item["comment"]:
                page.flush()
                page.comment = page.links(item["comment"])
            elif item["macro"]:
                if "STATUS_LIST(X)" in item["macro"]:
                    page.declaration(item["macro"])
            elif item["plain"] and item["plain"].startswith("KFE_API"):
                page.function(*split_trailing(item["plain"]))
            else:
                page.declaration(item[0])
        page.flush()


def body(header):
    return header.split('extern "C" {')[1].rsplit("#ifdef __cplusplus", 1)[0]


def make(header, *others):
    """The page of kfe.h, and below it the sections of further headers."""
    page = Page("".join([header, *others]))
    conventions = re.search(r"/\*\n \* kfe: .*?\*/", header, re.DOTALL)[0]
    page.add("C reference\n===========")
    page.add("``#include <kfe.h>``, from the comments of that header.")
    page.add(page.links(conventions).split("\n\n", 1)[1].replace("\n ", "\n"))
    for title, text in (section for each in [header, *others] for section in sections(body(each))):
        write_section(page, title, text)
    return "\n".join(page.lines)
