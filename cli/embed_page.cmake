# Writes OUT: the file PAGE as an array of bytes.
#   cmake -DPAGE=... -DOUT=... -P embed_page.cmake
file(READ "${PAGE}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUT}" "// made by cli/embed_page.cmake\n#include \"live.h\"\n\n"
     "const unsigned char cli_page[] = {${bytes}};\nconst size_t cli_page_size = sizeof cli_page;\n")
