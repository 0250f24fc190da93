#ifndef FIL_CLI_TEMPLATES_H
#define FIL_CLI_TEMPLATES_H

// The scenes of the folder scenes/, which the program carries with it.

#include <stddef.h>

typedef struct CliTemplate {
    const char *name; // of the file, without .json
    const char *text; // no 0 at its end
    size_t size;
} CliTemplate;

extern const CliTemplate cli_templates[];
extern const int cli_template_count;

/// The scene of this name; NULL when there is none.
const CliTemplate *cli_template_find(const char *name);

#endif
