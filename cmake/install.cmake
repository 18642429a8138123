# SPDX-License-Identifier: Apache-2.0
# The rules of `cmake --install`: both libraries, the header, the command, man pages, completion, and the files with
# which other projects find the library by pkg-config or find_package(kfe).
include(CMakePackageConfigHelpers)

install(TARGETS kfe EXPORT kfe_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kfe_static EXPORT kfe_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kfe_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/kfe.h include/kfe_arrow.h include/kfe.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${KFE_MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${KFE_COMPLETION} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${KFE_ZSH_COMPLETION} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${KFE_FISH_COMPLETION} DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The charts of reports exist only if npm could install plotly.js.
install(FILES ${KFE_CHARTS_FILE} ${KFE_CHARTS_LICENSES} DESTINATION ${CMAKE_INSTALL_DATADIR}/kfe OPTIONAL)

# Not in Requires.private: "pkg-config --static" would continue with OpenBLAS's own static requirements (gfortran),
# although OpenBLAS itself stays a shared library.
list(JOIN OPENBLAS_LDFLAGS " " KFE_PC_OPENBLAS)
# Relative to the file's own location, so that the installed tree can be moved (DESTDIR, packages).
file(RELATIVE_PATH KFE_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" KFE_PC_PREFIX "${KFE_PC_PREFIX}")
set(KFE_PC_SLEEF "")
if(SLEEF_FOUND)
  set(KFE_PC_SLEEF sleef)
endif()
configure_file(cmake/kfe.pc.in kfe.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kfe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(KFE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kfe)
set_target_properties(kfe_static PROPERTIES EXPORT_NAME static)
# Two export sets, so that users of the shared library do not need the libraries that it is linked with.
install(EXPORT kfe_shared FILE kfe-shared.cmake NAMESPACE kfe:: DESTINATION ${KFE_PACKAGE_DIR})
install(EXPORT kfe_static FILE kfe-static.cmake NAMESPACE kfe:: DESTINATION ${KFE_PACKAGE_DIR})
configure_package_config_file(cmake/kfe-config.cmake.in kfe-config.cmake INSTALL_DESTINATION ${KFE_PACKAGE_DIR})
write_basic_package_version_file(kfe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kfe-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/kfe-config-version.cmake
        DESTINATION ${KFE_PACKAGE_DIR})

# A wheel contains the library, the command and the charts of reports, next to the modules of the Python package. What goes into bin is a
# script that starts the command.
if(SKBUILD)
  install(FILES $<TARGET_FILE:kfe> DESTINATION kfe COMPONENT python)
  install(PROGRAMS $<TARGET_FILE:kfe_cli> DESTINATION kfe/bin COMPONENT python)
  install(PROGRAMS python/command/kfe DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
  install(FILES ${KFE_CHARTS_FILE} ${KFE_CHARTS_LICENSES} DESTINATION kfe COMPONENT python OPTIONAL)
endif()
