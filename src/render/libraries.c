// libraries.c - what draws and writes pictures for us, by name and version.
#include "render.h"

#include <embree3/rtcore.h>
#include <png.h>

const char *fil_render_libraries(void) {
    return "Embree " RTC_VERSION_STRING ", libpng " PNG_LIBPNG_VER_STRING;
}
