# Language, warnings, floating point and sanitizers: what all targets of the project share.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo (with assertions) or Debug" FORCE)
endif()
# CMake's own RelWithDebInfo defines NDEBUG; ours keeps the assertions
if(CMAKE_C_FLAGS_RELWITHDEBINFO STREQUAL "-O2 -g -DNDEBUG")
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
endif()

# Link to filum_flags whatever is ours. The same bits everywhere: no contraction to fused
# operations and no -ffast-math; errno after sqrt() is of no use to us and costs a branch.
add_library(filum_flags INTERFACE)
target_compile_options(filum_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       -Wmissing-prototypes $<$<BOOL:${FILUM_WERROR}>:-Werror>
                       -ffp-contract=off -fno-math-errno)

if(FILUM_SANITIZE STREQUAL "address")
  set(filum_sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(FILUM_SANITIZE STREQUAL "thread")
  set(filum_sanitize -fsanitize=thread)
elseif(FILUM_SANITIZE STREQUAL "fuzzer")
  set(filum_sanitize -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
elseif(FILUM_SANITIZE)
  message(FATAL_ERROR "FILUM_SANITIZE is '${FILUM_SANITIZE}'; it must be address, thread, fuzzer or empty")
endif()
if(FILUM_SANITIZE)
  if(NOT FILUM_SANITIZE STREQUAL "address" AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    # gcc's OpenMP runtime gives false races, and gcc has no fuzzer
    message(FATAL_ERROR "FILUM_SANITIZE=${FILUM_SANITIZE} needs clang: -DCMAKE_C_COMPILER=clang")
  endif()
  add_compile_options(${filum_sanitize} -fno-omit-frame-pointer)
  add_link_options(${filum_sanitize})
endif()
