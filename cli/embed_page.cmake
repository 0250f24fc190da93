# Writes OUT: the file PAGE as an array of bytes, and what it is made of: nothing where it is the
# page INSTEAD of the viewer, else three.js of the version that PACKAGE asks for.
#   cmake -DPAGE=... -DINSTEAD=... -DPACKAGE=... -DOUT=... -P embed_page.cmake
file(READ "${PAGE}" hex HEX)
file(READ "${INSTEAD}" instead HEX)
set(library "no viewer")
if(NOT hex STREQUAL instead)
  file(READ "${PACKAGE}" package)
  string(JSON version GET "${package}" dependencies three)
  set(library "three.js ${version}")
endif()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUT}" "// made by cli/embed_page.cmake\n#include \"live.h\"\n\n"
     "const char cli_page_library[] = \"${library}\";\n"
     "const unsigned char cli_page[] = {${bytes}};\nconst size_t cli_page_size = sizeof cli_page;\n")
