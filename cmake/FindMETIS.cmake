# Finds METIS 5, nested dissection ordering (Apache-2.0): the target METIS::METIS.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
if(METIS_INCLUDE_DIR) # "#define METIS_VER_MAJOR 5" and so on
  file(STRINGS ${METIS_INCLUDE_DIR}/metis.h METIS_VERSION REGEX "^#define METIS_VER_(MAJOR|MINOR|SUBMINOR)")
  list(TRANSFORM METIS_VERSION REPLACE "^.*_[A-Z]+[ \t]+([0-9]+).*$" "\\1")
  list(JOIN METIS_VERSION "." METIS_VERSION)
endif()
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS
  REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR
  VERSION_VAR METIS_VERSION
  REASON_FAILURE_MESSAGE "install METIS's development files (Debian: libmetis-dev)")

if(METIS_FOUND AND NOT TARGET METIS::METIS)
  add_library(METIS::METIS UNKNOWN IMPORTED)
  set_target_properties(METIS::METIS PROPERTIES
    IMPORTED_LOCATION ${METIS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})
endif()
