# SPDX-License-Identifier: Apache-2.0
# The page of reports: its template, embedded in the library, and its charts, a data file beside the library.
set(KFE_PAGE_SOURCE ${CMAKE_CURRENT_BINARY_DIR}/page_embedded.c)
add_custom_command(
  OUTPUT ${KFE_PAGE_SOURCE}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${KFE_PAGE_SOURCE} -DFOLDER=${PROJECT_SOURCE_DIR}/charts
          -P ${PROJECT_SOURCE_DIR}/charts/embed.cmake
  DEPENDS charts/page.html charts/page.css charts/page.js charts/embed.cmake
  VERBATIM)

option(KFE_CHARTS "Build the interactive charts of reports with npm, if it is installed" ON)
set(KFE_CHARTS_FILE ${CMAKE_CURRENT_BINARY_DIR}/share/kfe/kfe-charts.js.gz)
set(KFE_CHARTS_LICENSES ${CMAKE_CURRENT_BINARY_DIR}/share/kfe/kfe-charts.LICENSES.txt)
find_program(KFE_NPM npm)
if(KFE_CHARTS AND KFE_NPM AND NOT KFE_SANITIZE)
  set(KFE_CHARTS_STAMP ${CMAKE_CURRENT_BINARY_DIR}/charts/stamp)
  add_custom_command(
    OUTPUT ${KFE_CHARTS_STAMP}
    COMMAND ${PROJECT_SOURCE_DIR}/charts/build.sh ${CMAKE_CURRENT_BINARY_DIR}/charts ${KFE_CHARTS_FILE} ${KFE_CHARTS_LICENSES}
    COMMAND ${CMAKE_COMMAND} -E touch ${KFE_CHARTS_STAMP}
    DEPENDS charts/build.sh charts/build.mjs charts/charts.js charts/package.json charts/package-lock.json
    COMMENT "Bundling the charts of reports"
    VERBATIM)
  add_custom_target(kfe_charts ALL DEPENDS ${KFE_CHARTS_STAMP})
else()
  add_custom_target(kfe_charts)
endif()
