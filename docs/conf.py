# SPDX-License-Identifier: Apache-2.0
"""The site, built by `cmake --build build --target docs` from these pages and those that generate.py makes."""
import os

project = "kfe"
author = "the kfe authors"
project_copyright = "the kfe authors, Apache-2.0"
version = release = os.environ.get("KFE_VERSION", "")

extensions = ["myst_parser"]
myst_heading_anchors = 3
root_doc = "index"

# Blocks without a language are output of programs: nothing to colour. Quotes in them and in the header's comments are
# meant as they are.
highlight_language = "none"
smartquotes = False

primary_domain = "c"
html_theme = "furo"  # search, dark mode, small screens
html_title = f"kfe {version}"
html_theme_options = {"navigation_with_keys": True}
html_show_sourcelink = False
