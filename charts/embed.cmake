# SPDX-License-Identifier: Apache-2.0
# Writes a C file that contains the template, the style and the script of reports. Called by cmake/charts.cmake.
# cmake -DOUTPUT=FILE.c -DFOLDER=charts -P embed.cmake
set(text "/* Made from charts/page.* by charts/embed.cmake. */\n#include \"report/page/embedded.h\"\n\n")
foreach(name html css js)
  file(READ ${FOLDER}/page.${name} hex HEX)
  # Bytes as numbers, because string literals are limited in length and need escapes.
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  string(APPEND text "const unsigned char kfe_i_page_${name}[] = {${hex}0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
