# Makes BUILD/index.html from the viewer in SOURCE, with npm; when that fails, from INSTEAD, and
# BUILD/failed.txt, for which the next configure has it tried again.
#   cmake -DSOURCE=... -DBUILD=... -DNPM=... -DINSTEAD=... -P build_viewer.cmake
set(work ${BUILD}/work)
file(REMOVE_RECURSE ${work}/src)
file(COPY ${SOURCE}/ DESTINATION ${work} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)
file(SHA256 ${SOURCE}/package-lock.json lock)
set(installed "")
if(EXISTS ${work}/installed.txt)
  file(READ ${work}/installed.txt installed)
endif()
set(result 0)
if(NOT installed STREQUAL lock)
  file(REMOVE ${work}/installed.txt)
  execute_process(COMMAND ${NPM} ci --no-audit --no-fund --no-update-notifier --fetch-retries=1
                          --fetch-timeout=30000
                  WORKING_DIRECTORY ${work} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output TIMEOUT 300)
  if(result EQUAL 0)
    file(WRITE ${work}/installed.txt ${lock})
  endif()
endif()
if(result EQUAL 0)
  execute_process(COMMAND ${NPM} run --silent build
                  WORKING_DIRECTORY ${work} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output TIMEOUT 300)
endif()
if(result EQUAL 0 AND EXISTS ${work}/dist/index.html)
  configure_file(${work}/dist/index.html ${BUILD}/index.html COPYONLY)
  file(TOUCH ${BUILD}/index.html)
else()
  message(WARNING "The viewer could not be built, and is left out of the program; `make build` tries "
                  "again. npm said: ${output}")
  file(WRITE ${BUILD}/failed.txt "${output}")
  configure_file(${INSTEAD} ${BUILD}/index.html COPYONLY)
  file(TOUCH ${BUILD}/index.html)
endif()
