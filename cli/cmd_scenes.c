// cmd_scenes.c - filum scenes: the scenes that the program carries, a line each.
#include "cli.h"
#include "runs.h"
#include "templates.h"

typedef struct Options {
    bool json;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_FLAG("json", json, "one JSON object a line, not a table"),
};

static CliStatus print_scene(const CliTemplate *from, bool json) {
    const FilSceneOptions options = {.count_only = true};
    FilScene *scene = NULL;
    FilError error;
    if (fil_scene_read_text(from->name, from->text, from->size, &options, NULL, &scene, &error) !=
        FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    if (json) {
        (void)fputs("{\"name\":", stdout);
        cli_print_json_text(from->name);
        (void)fputs(",\"title\":", stdout);
        cli_print_json_text(scene->name);
        (void)fputs(",\"look\":", stdout);
        cli_print_json_text(scene->look);
        cli_print_json_number("rods", (double)scene->estimate.rods);
        cli_print_json_number("bodies", (double)scene->estimate.bodies);
        cli_print_json_number("duration", scene->duration);
        (void)puts("}");
    } else {
        (void)printf("%-18s %5lld %6lld  %s\n", from->name, scene->estimate.rods,
                     scene->estimate.bodies, scene->look);
    }
    fil_scene_destroy(scene);
    return CLI_FINE;
}

static CliStatus run_scenes(const CliVerb *verb, int argc, char **argv) {
    Options options = {.json = false};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count > 0) {
        cli_say("scenes takes no operand, but there is %s", argv[0]);
        return CLI_BAD_COMMAND;
    }
    if (!options.json) {
        (void)printf("%-18s %5s %6s  %s\n", "scene", "rods", "bodies", "what to look at");
    }
    CliStatus status = CLI_FINE;
    for (int k = 0; k < cli_template_count && status == CLI_FINE; k++) {
        status = print_scene(&cli_templates[k], options.json);
    }
    const CliStatus flushed = cli_flush();
    return status != CLI_FINE ? status : flushed;
}

const CliVerb cli_scenes = {
    .name = "scenes",
    .operands = "",
    .summary = "list the scenes that come with Filum",
    .description =
        "Lists the scenes built into the program: name, rods, bodies, and what to watch for. filum "
        "new NAME writes one to a file.",
    .examples = "filum scenes\tall of them",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_scenes,
};
