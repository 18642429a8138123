# SPDX-License-Identifier: Apache-2.0
# Finds the libraries that every build needs, and collects them in KFE_NEEDS. jansson is for kfe-reproduce and the tests only.
pkg_check_modules(JANSSON IMPORTED_TARGET jansson)
# Debian's liblapacke.so brings in the system's default LAPACK beside OpenBLAS's; what we use of the static one is small.
set(KFE_LAPACKE_NAMES lapacke)
if(KFE_STATIC_LAPACKE)
  set(KFE_LAPACKE_NAMES liblapacke.a)
endif()
find_library(LAPACKE_LIBRARY NAMES ${KFE_LAPACKE_NAMES})
if(NOT LAPACKE_LIBRARY) # OpenBLAS may contain LAPACKE, as it does in conda and Homebrew
  include(CheckSymbolExists)
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::OPENBLAS)
  check_symbol_exists(LAPACKE_dpotrf lapacke.h KFE_OPENBLAS_HAS_LAPACKE)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT KFE_OPENBLAS_HAS_LAPACKE)
    message(FATAL_ERROR "LAPACKE was not found, neither by itself (${KFE_LAPACKE_NAMES}) nor inside OpenBLAS")
  endif()
  set(LAPACKE_LIBRARY "" CACHE FILEPATH "LAPACKE, unless it is inside OpenBLAS" FORCE)
endif()
set(KFE_NEEDS OpenMP::OpenMP_C ${LAPACKE_LIBRARY} PkgConfig::OPENBLAS ZLIB::ZLIB m)

# Our code uses SLEEF's functions for x86 only.
if(KFE_WITH_SLEEF AND NOT KFE_PORTABLE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  pkg_check_modules(SLEEF REQUIRED IMPORTED_TARGET sleef)
  list(APPEND KFE_NEEDS PkgConfig::SLEEF)
endif()
