# SPDX-License-Identifier: Apache-2.0
# Builds the shared and the static library from the same objects.
add_library(kfe SHARED $<TARGET_OBJECTS:kfe_objects>)
add_library(kfe_static STATIC $<TARGET_OBJECTS:kfe_objects>)
foreach(target kfe kfe_static)
  target_link_libraries(${target} PRIVATE ${KFE_NEEDS})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
if(KFE_SANITIZE)
  target_link_options(kfe PUBLIC -fsanitize=${KFE_SANITIZE})
  target_link_options(kfe_static PUBLIC -fsanitize=${KFE_SANITIZE})
endif()
target_link_libraries(kfe PRIVATE kfe_hardening) # the objects have it already, and the static library is linked by others
set_target_properties(kfe PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${KFE_RUNPATH}")
if(SKBUILD) # a wheel has one file, libkfe.so on every system
  set_target_properties(kfe PROPERTIES SUFFIX .so)
else()
  set_target_properties(kfe PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endif()
include(CheckLinkerFlag)
set(KFE_SYMBOL_VERSIONS ${CMAKE_CURRENT_LIST_DIR}/kfe.map)
check_linker_flag(C "-Wl,--version-script=${KFE_SYMBOL_VERSIONS}" KFE_HAS_VERSION_SCRIPT) # not on macOS
if(KFE_HAS_VERSION_SCRIPT)
  target_link_options(kfe PRIVATE "-Wl,--version-script=${KFE_SYMBOL_VERSIONS}")
  set_target_properties(kfe PROPERTIES LINK_DEPENDS ${KFE_SYMBOL_VERSIONS})
endif()
if(KFE_STATIC_LAPACKE AND NOT APPLE) # else the library would export what it contains of others
  target_link_options(kfe PRIVATE -Wl,--exclude-libs,ALL)
endif()
set_target_properties(kfe_static PROPERTIES OUTPUT_NAME kfe)
