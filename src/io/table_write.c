// table_write.c - tables of fields as documentation and as a JSON Schema (draft 2020-12).
#include "table.h"

#include <math.h>
#include <string.h>

#include "io/units.h"

#define PUT(...) ((void)fprintf(__VA_ARGS__))

static const char *type_name(FilFieldType type) {
    static const char *const names[] = {
#define X(code, text, c) [code] = text,
        FIL_FIELD_TYPES(X)
#undef X
    };
    return names[type];
}

// ------------------------------------------------------------------------------------- Markdown

static void write_type(const FilField *field, FILE *out) {
    switch (field->type) {
    case FIL_FIELD_NAME:
    case FIL_FIELD_NAMES:
        PUT(out, field->type == FIL_FIELD_NAME ? "" : "list of ");
        for (int k = 0; field->names[k] != NULL; k++) {
            PUT(out, "%s`%s`", k > 0 ? ", " : "", field->names[k]);
        }
        break;
    case FIL_FIELD_OBJECT:
        PUT(out, "[%s](#%s)", field->table->name, field->table->name);
        break;
    case FIL_FIELD_LIST:
        PUT(out, "list of [%s](#%s)", field->table->name, field->table->name);
        break;
    case FIL_FIELD_MAP:
        PUT(out, "[%s](#%s) by name", field->table->name, field->table->name);
        break;
    case FIL_FIELD_VECTOR:
        PUT(out, "%d numbers", field->size);
        break;
    case FIL_FIELD_COUNTS:
        PUT(out, "%d whole numbers", field->size);
        break;
    case FIL_FIELD_TEXTS:
        PUT(out, "%d texts", field->size);
        break;
    case FIL_FIELD_WORDS:
        PUT(out, "list of texts");
        break;
    case FIL_FIELD_NUMBERS:
        PUT(out, "list of numbers");
        break;
    case FIL_FIELD_VECTORS:
        PUT(out, "list of %d numbers each", field->size);
        break;
    default:
        PUT(out, "%s", type_name(field->type));
    }
}

static void write_range(const FilField *field, FILE *out) {
    if (field->range == FIL_RANGE_POSITIVE) {
        PUT(out, "> 0");
    } else if (field->range == FIL_RANGE_NOT_NEGATIVE) {
        PUT(out, ">= 0");
    } else if (field->range == FIL_RANGE_BETWEEN) {
        PUT(out, "%.10g .. %.10g", field->low, field->high);
    }
}

void fil_table_write_markdown(const FilTable *table, FILE *out) {
    PUT(out, "\n## %s\n\n%s\n\n", table->name, table->text);
    PUT(out, "| field | value | unit | range | default | |\n|---|---|---|---|---|---|\n");
    for (int k = 0; k < table->field_count; k++) {
        const FilField *field = &table->fields[k];
        PUT(out, "| `%s` | ", field->name);
        write_type(field, out);
        PUT(out, " | %s | ", field->unit != NULL ? field->unit : "");
        write_range(field, out);
        if (field->required) {
            PUT(out, " | **required**");
        } else if (field->standard != NULL && strcmp(field->standard, "\"\"") != 0) {
            PUT(out, " | `%s`", field->standard);
        } else {
            PUT(out, " |");
        }
        PUT(out, " | %s |\n", field->text);
    }
}

// --------------------------------------------------------------------------------- JSON Schema

static void write_quoted(const char *text, FILE *out) {
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            (void)fputc('\\', out);
        }
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

static void write_limits(const FilField *field, FILE *out) {
    if (field->range == FIL_RANGE_POSITIVE) {
        PUT(out, ", \"exclusiveMinimum\": 0");
    } else if (field->range == FIL_RANGE_NOT_NEGATIVE) {
        PUT(out, ", \"minimum\": 0");
    } else if (field->range == FIL_RANGE_BETWEEN) {
        PUT(out, ", \"minimum\": %.17g, \"maximum\": %.17g", field->low, field->high);
    }
}

// A number, or a text that starts with one: "12 cm".
static void write_number(const FilField *field, FILE *out) {
    PUT(out, "\"anyOf\": [{\"type\": \"number\"");
    write_limits(field, out);
    PUT(out, "}, {\"type\": \"string\", \"pattern\": \"^ *[-+]?[0-9.]\"}]");
}

static void write_names(const FilField *field, FILE *out) {
    PUT(out, "\"enum\": [");
    for (int k = 0; field->names[k] != NULL; k++) {
        PUT(out, "%s\"%s\"", k > 0 ? ", " : "", field->names[k]);
    }
    PUT(out, "]");
}

static void write_list(const FilField *field, FILE *out) {
    PUT(out, "\"type\": \"array\", ");
    if (field->size > 0 && field->type != FIL_FIELD_VECTORS) {
        PUT(out, "\"minItems\": %d, \"maxItems\": %d, ", field->size, field->size);
    }
    PUT(out, "\"items\": {");
    switch (field->type) {
    case FIL_FIELD_NAMES:
        write_names(field, out);
        break;
    case FIL_FIELD_TEXTS:
    case FIL_FIELD_WORDS:
        PUT(out, "\"type\": \"string\"");
        break;
    case FIL_FIELD_COUNTS:
        PUT(out, "\"type\": \"integer\"");
        write_limits(field, out);
        break;
    case FIL_FIELD_LIST:
        PUT(out, "\"$ref\": \"#/$defs/%s\"", field->table->name);
        break;
    case FIL_FIELD_VECTORS:
        PUT(out, "\"type\": \"array\", \"minItems\": %d, \"maxItems\": %d, \"items\": {",
            field->size, field->size);
        write_number(field, out);
        PUT(out, "}");
        break;
    default:
        write_number(field, out);
    }
    PUT(out, "}");
}

static void write_value(const FilField *field, FILE *out) {
    switch (field->type) {
    case FIL_FIELD_NUMBER:
        write_number(field, out);
        break;
    case FIL_FIELD_COUNT:
        PUT(out, "\"type\": \"integer\"");
        write_limits(field, out);
        break;
    case FIL_FIELD_FLAG:
        PUT(out, "\"type\": \"boolean\"");
        break;
    case FIL_FIELD_TEXT:
        PUT(out, "\"type\": \"string\"");
        break;
    case FIL_FIELD_NAME:
        write_names(field, out);
        break;
    case FIL_FIELD_OBJECT:
        PUT(out, "\"$ref\": \"#/$defs/%s\"", field->table->name);
        break;
    case FIL_FIELD_MAP:
        PUT(out, "\"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#/$defs/%s\"}",
            field->table->name);
        break;
    default:
        write_list(field, out);
    }
}

void fil_table_write_schema(const FilTable *table, FILE *out) {
    PUT(out, "    \"%s\": {\n      \"description\": ", table->name);
    write_quoted(table->text, out);
    PUT(out, ",\n      \"type\": \"object\", \"additionalProperties\": false,\n");
    PUT(out, "      \"required\": [");
    bool first = true;
    for (int k = 0; k < table->field_count; k++) {
        if (table->fields[k].required) {
            PUT(out, "%s\"%s\"", first ? "" : ", ", table->fields[k].name);
            first = false;
        }
    }
    PUT(out, "],\n      \"properties\": {\n");
    for (int k = 0; k < table->field_count; k++) {
        const FilField *field = &table->fields[k];
        char text[240];
        (void)snprintf(text, sizeof text, "%s%s%s%s", field->text, field->unit != NULL ? " (" : "",
                       field->unit != NULL ? field->unit : "", field->unit != NULL ? ")" : "");
        PUT(out, "        \"%s\": {\"description\": ", field->name);
        write_quoted(text, out);
        PUT(out, ", ");
        write_value(field, out);
        if (field->standard != NULL) {
            PUT(out, ", \"default\": %s", field->standard);
        }
        PUT(out, "}%s\n", k + 1 < table->field_count ? "," : "");
    }
    PUT(out, "      }\n    }");
}
