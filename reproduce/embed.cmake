# SPDX-License-Identifier: Apache-2.0
# Writes a C file that contains every specification of a folder. Called by reproduce/CMakeLists.txt.
# cmake -DOUTPUT=FILE.c -DFOLDER=reproduce/specs -P embed.cmake
file(GLOB files ${FOLDER}/*.json)
list(SORT files)

function(literal out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

set(bytes "")
set(rows "")
set(number 0)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  file(READ ${file} hex HEX)
  foreach(key title paper)
    string(JSON ${key} ERROR_VARIABLE problem GET "${text}" ${key})
    if(problem)
      message(FATAL_ERROR "${file}: ${problem}")
    endif()
    literal(${key} "${${key}}")
  endforeach()
  # Bytes as numbers, because string literals are limited in length and need escapes.
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  string(APPEND bytes "static const unsigned char text_${number}[] = {${hex}0};\n")
  string(APPEND rows "    {\"${name}\", ${title}, ${paper}, text_${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${OUTPUT}
     "/* Made from reproduce/specs by reproduce/embed.cmake. */\n#include \"reproduce/src/embedded.h\"\n\n${bytes}\n"
     "const rep_embedded rep_embedded_specs[] = {\n${rows}    {0},\n};\n")
