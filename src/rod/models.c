// models.c - the list of rod models.
#include "rod.h"

#include <stddef.h>

#define NAME(code, name, text) name,
static const char *const names[] = {FIL_ROD_MODEL_TABLE(NAME)};

extern const FilRodTable fil_rod_helix, fil_rod_clothoid, fil_rod_der, fil_rod_corde, fil_rod_chain;

static const FilRodTable *const tables[FIL_ROD_MODEL_COUNT] = {
    [FIL_ROD_HELIX] = &fil_rod_helix,
    [FIL_ROD_CLOTHOID] = &fil_rod_clothoid,
    [FIL_ROD_DER] = NULL,   // &fil_rod_der
    [FIL_ROD_CORDE] = NULL, // &fil_rod_corde
    [FIL_ROD_CHAIN] = NULL, // &fil_rod_chain
};

const FilRodTable *fil_rod_table(FilRodModel model) {
    return tables[model];
}

const char *fil_rod_model_name(FilRodModel model) {
    return (unsigned)model < FIL_ROD_MODEL_COUNT ? names[model] : "unknown";
}
