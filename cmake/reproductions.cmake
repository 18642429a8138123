# SPDX-License-Identifier: Apache-2.0
# The specifications of the papers' tables and figures, as a source file of the library.
file(GLOB KFE_REPRODUCTIONS CONFIGURE_DEPENDS reproduce/*.json)
set(KFE_EMBEDDED ${CMAKE_CURRENT_BINARY_DIR}/reproductions.c)
add_custom_command(
  OUTPUT ${KFE_EMBEDDED}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${KFE_EMBEDDED} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/reproduce
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${KFE_REPRODUCTIONS} cmake/embed.cmake
  VERBATIM)
