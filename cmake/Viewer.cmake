# FILUM_VIEWER_PAGE: the page that the program serves, one file. It is built by npm from a copy of
# viewer/, so that the source tree stays clean. Where there is no npm, or it fails (no network), the
# program is built all the same, with a page that says so.
option(FILUM_VIEWER "Build the web viewer with npm, and embed it in the program" ON)
set(FILUM_VIEWER_PAGE ${PROJECT_SOURCE_DIR}/cli/no-viewer.html)
if(NOT FILUM_VIEWER)
  message(STATUS "Viewer: left out (FILUM_VIEWER is OFF)")
  return()
endif()
find_program(FILUM_NPM npm NO_CACHE)
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/viewer/package-lock.json)
  message(NOTICE "Viewer: left out (there is no viewer/)")
elseif(NOT FILUM_NPM)
  message(NOTICE "Viewer: left out (npm is not installed)")
else()
  file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/src/*)
  list(APPEND viewer_sources ${PROJECT_SOURCE_DIR}/viewer/package.json
       ${PROJECT_SOURCE_DIR}/viewer/package-lock.json ${PROJECT_SOURCE_DIR}/viewer/build.mjs)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/viewer/index.html
                     COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/viewer
                             -DBUILD=${PROJECT_BINARY_DIR}/viewer -DNPM=${FILUM_NPM}
                             -DINSTEAD=${FILUM_VIEWER_PAGE}
                             -P ${PROJECT_SOURCE_DIR}/cmake/build_viewer.cmake
                     DEPENDS ${viewer_sources} ${FILUM_VIEWER_PAGE}
                             ${PROJECT_SOURCE_DIR}/cmake/build_viewer.cmake
                     COMMENT "Building the viewer with npm" VERBATIM)
  set(FILUM_VIEWER_PAGE ${PROJECT_BINARY_DIR}/viewer/index.html)
  if(EXISTS ${PROJECT_BINARY_DIR}/viewer/failed.txt) # last time; what was wrong may be mended
    file(REMOVE ${FILUM_VIEWER_PAGE} ${PROJECT_BINARY_DIR}/viewer/failed.txt)
  endif()
endif()
