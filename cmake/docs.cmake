# SPDX-License-Identifier: Apache-2.0
# The target `docs` builds the site into docs/html of the build folder, with warnings as errors. Its reference pages
# come from the tables of the library just built. It uses Debian's Python, which has Sphinx.
set(KFE_DOCS_SOURCE ${CMAKE_BINARY_DIR}/docs/source)
add_custom_target(docs
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 KFE_LIBRARY=$<TARGET_FILE:kfe>
          /usr/bin/python3 ${PROJECT_SOURCE_DIR}/docs/generate.py $<TARGET_FILE:kfe_cli> $<TARGET_FILE:kfe>
          ${KFE_DOCS_SOURCE}
  COMMAND ${CMAKE_COMMAND} -E env KFE_VERSION=${PROJECT_VERSION}
          /usr/bin/python3 -m sphinx -q -W --keep-going -b html -d ${CMAKE_BINARY_DIR}/docs/doctrees
          ${KFE_DOCS_SOURCE} ${CMAKE_BINARY_DIR}/docs/html
  COMMENT "Building the site in ${CMAKE_BINARY_DIR}/docs/html"
  USES_TERMINAL VERBATIM)
add_dependencies(docs kfe kfe_cli)
if(TARGET kfe_reproduce_cli)
  add_dependencies(docs kfe_reproduce_cli) # the page on commands asks it for its help
endif()
