// hdf.c - HDF5 files in memory, without a word on stderr.
#include "hdf.h"

#include <stdio.h>
#include <string.h>

enum { IMAGE_STEP = 1 << 16 }; // by how much an image in memory grows

FilHdfQuiet fil_hdf_quiet_begin(void) {
    FilHdfQuiet quiet = {0};
    (void)H5Eget_auto2(H5E_DEFAULT, &quiet.print, &quiet.data);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void fil_hdf_quiet_end(FilHdfQuiet quiet) {
    (void)H5Eclear2(H5E_DEFAULT);
    (void)H5Eset_auto2(H5E_DEFAULT, quiet.print, quiet.data);
}

// The first entry upwards is where the trouble began. Only printable ASCII is let through: the text
// may quote names from the file.
static herr_t keep_first(unsigned depth, const H5E_error2_t *entry, void *context) {
    FilHdfReason *reason = context;
    if (depth == 0 && entry->desc != NULL) {
        (void)snprintf(reason->text, sizeof reason->text, "%s", entry->desc);
        for (char *c = reason->text; *c != '\0'; c++) {
            *c = (char)(*c >= 32 && *c < 127 ? *c : '?');
        }
    }
    return 0;
}

FilHdfReason fil_hdf_reason(void) {
    FilHdfReason reason = {.text = "no reason given"};
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
    return reason;
}

static hid_t make_access(void) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && (H5Pset_fapl_core(access, IMAGE_STEP, 0) < 0 ||
                        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0)) {
        (void)H5Pclose(access);
        return -1;
    }
    return access;
}

hid_t fil_hdf_open_image(const void *bytes, size_t size) {
    const hid_t access = make_access();
    if (access < 0) {
        return -1;
    }
    hid_t file = -1;
    if (H5Pset_file_image(access, (void *)bytes, size) >= 0) { // it only reads them
        file = H5Fopen("filum-image", H5F_ACC_RDONLY, access);
    }
    const hid_t stack = file < 0 ? H5Eget_current_stack() : -1; // closing would clear the reason
    (void)H5Pclose(access);
    if (stack >= 0) {
        (void)H5Eset_current_stack(stack);
    }
    return file;
}

hid_t fil_hdf_create_image(void) {
    const hid_t access = make_access();
    if (access < 0) {
        return -1;
    }
    const hid_t file = H5Fcreate("filum-image", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    (void)H5Pclose(access);
    return file;
}

void fil_hdf_close(hid_t id) {
    if (id >= 0) {
        (void)H5Idec_ref(id);
    }
}
