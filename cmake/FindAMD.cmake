# Finds AMD, SuiteSparse's approximate minimum degree ordering (BSD-3): the target SuiteSparse::AMD.
# SuiteSparse 5 ships neither a CMake package nor a pkg-config file.
find_path(AMD_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse)
find_library(AMD_LIBRARY amd)
find_library(AMD_CONFIG_LIBRARY suitesparseconfig)
if(AMD_INCLUDE_DIR) # "#define AMD_MAIN_VERSION 2" and so on
  file(STRINGS ${AMD_INCLUDE_DIR}/amd.h AMD_VERSION REGEX "^#define AMD_(MAIN|SUB|SUBSUB)_VERSION ")
  list(TRANSFORM AMD_VERSION REPLACE "^.*VERSION[ \t]+([0-9]+).*$" "\\1")
  list(JOIN AMD_VERSION "." AMD_VERSION)
endif()
mark_as_advanced(AMD_INCLUDE_DIR AMD_LIBRARY AMD_CONFIG_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(AMD
  REQUIRED_VARS AMD_LIBRARY AMD_CONFIG_LIBRARY AMD_INCLUDE_DIR
  VERSION_VAR AMD_VERSION
  REASON_FAILURE_MESSAGE "install SuiteSparse's development files (Debian: libsuitesparse-dev)")

if(AMD_FOUND AND NOT TARGET SuiteSparse::AMD)
  add_library(SuiteSparse::AMD UNKNOWN IMPORTED)
  set_target_properties(SuiteSparse::AMD PROPERTIES
    IMPORTED_LOCATION ${AMD_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${AMD_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${AMD_CONFIG_LIBRARY};m")
endif()
