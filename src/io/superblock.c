// superblock.c - what a killed writer leaves at the head of an HDF5 file, and taking it back.
//
// Superblock version 3 (HDF5 format specification 3.0, The HDF Group), little-endian:
//
//      0  signature     8      "\211HDF\r\n\032\n"
//      8  version       1      3
//      9  sizes         2      of addresses and of lengths: 8 and 8
//     11  flags         1      1: open for writing; 4: by a single writer with many readers
//     12  base          8      0
//     20  extension     8
//     28  end of file   8
//     36  root group    8
//     44  checksum      4      of the 44 bytes before it
//
// A writer that dies leaves the flags set, and HDF5 then refuses the file to ordinary readers. Its
// metadata are whole all the same: HDF5 orders its writes so that a reader beside it always sees a
// consistent file, and what the kernel was given is not lost with the program. So it is enough to
// clear the flags. The end of file in the superblock may be old, too: it is moved to where the file
// really ends. (h5clear -s -i does the same.)
//
// The checksum is Bob Jenkins' hash `lookup3` (2006).
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "superblock.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SIZE = 48,
    AT_VERSION = 8,
    AT_SIZES = 9,
    AT_FLAGS = 11,
    AT_END = 28,
    AT_CHECKSUM = 44,
    FLAG_WRITE = 1,
    FLAG_STREAM = 4
};

static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

static uint32_t rotate(uint32_t x, int bits) {
    return x << bits | x >> (32 - bits);
}

// three words of the message, the last ones padded with zeros
static void add_words(uint32_t abc[3], const unsigned char *bytes, size_t size) {
    for (size_t k = 0; k < size && k < 12; k++) {
        abc[k / 4] += (uint32_t)bytes[k] << (8 * (k % 4));
    }
}

uint32_t fil_hdf_checksum(const unsigned char *bytes, size_t size) {
    static const int mix[6] = {4, 6, 8, 16, 19, 4};
    static const int last[7] = {14, 11, 25, 16, 4, 14, 24};
    const uint32_t start = 0xdeadbeef + (uint32_t)size;
    uint32_t w[3] = {start, start, start};
    for (; size > 12; bytes += 12, size -= 12) {
        add_words(w, bytes, 12);
        for (int k = 0; k < 6; k++) { // (a, b, c) turn round: a takes c off, c takes b on
            uint32_t *a = &w[k % 3], *b = &w[(k + 1) % 3], *c = &w[(k + 2) % 3];
            *a -= *c;
            *a ^= rotate(*c, mix[k]);
            *c += *b;
        }
    }
    if (size == 0) {
        return w[2];
    }
    add_words(w, bytes, size);
    for (int k = 0; k < 7; k++) { // c from b, a from c, b from a, ...
        uint32_t *to = &w[(k + 2) % 3];
        const uint32_t from = w[(k + 1) % 3];
        *to ^= from;
        *to -= rotate(from, last[k]);
    }
    return w[2];
}

static uint64_t get_number(const unsigned char *bytes, int size) {
    uint64_t value = 0;
    for (int k = size - 1; k >= 0; k--) {
        value = value << 8 | bytes[k];
    }
    return value;
}

static void put_number(unsigned char *bytes, int size, uint64_t value) {
    for (int k = 0; k < size; k++) {
        bytes[k] = (unsigned char)(value >> (8 * k));
    }
}

static FilStatus load(int descriptor, const char *path, unsigned char bytes[SIZE], uint64_t *size,
                      FilError *error) {
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return fil_fail(error, FIL_E_IO, "%s: cannot read it: %s", path, strerror(errno));
    }
    *size = (uint64_t)about.st_size;
    const ssize_t got = pread(descriptor, bytes, SIZE, 0);
    if (got < 0) {
        return fil_fail(error, FIL_E_IO, "%s: cannot read it: %s", path, strerror(errno));
    }
    if (got < (ssize_t)sizeof signature || memcmp(bytes, signature, sizeof signature) != 0) {
        return fil_fail(error, FIL_E_FORMAT, "%s is not an HDF5 file", path);
    }
    if (got < SIZE || bytes[AT_VERSION] != 3 || bytes[AT_SIZES] != 8 || bytes[AT_SIZES + 1] != 8) {
        return fil_fail(error, FIL_E_FORMAT, "%s is an HDF5 file, but no result of a run", path);
    }
    if (get_number(bytes + AT_CHECKSUM, 4) != fil_hdf_checksum(bytes, AT_CHECKSUM)) {
        return fil_fail(error, FIL_E_FORMAT, "%s is damaged: its first bytes do not add up", path);
    }
    return FIL_OK;
}

FilStatus fil_superblock_read(int descriptor, const char *path, FilSuperblock *out,
                              FilError *error) {
    unsigned char bytes[SIZE] = {0};
    uint64_t size = 0;
    FIL_TRY(load(descriptor, path, bytes, &size, error));
    *out = (FilSuperblock){.marked = (bytes[AT_FLAGS] & (FLAG_WRITE | FLAG_STREAM)) != 0,
                           .streaming = (bytes[AT_FLAGS] & FLAG_STREAM) != 0,
                           .end = get_number(bytes + AT_END, 8),
                           .size = size};
    return FIL_OK;
}

FilStatus fil_superblock_mend(int descriptor, const char *path, FilError *error) {
    unsigned char bytes[SIZE] = {0};
    uint64_t size = 0;
    FIL_TRY(load(descriptor, path, bytes, &size, error));
    bytes[AT_FLAGS] &= (unsigned char)~(FLAG_WRITE | FLAG_STREAM);
    const uint64_t end = get_number(bytes + AT_END, 8);
    // what HDF5 has planned but not written is full of zeros, and nothing points there
    if (end < size || (end > size && ftruncate(descriptor, (off_t)end) != 0)) {
        put_number(bytes + AT_END, 8, size);
    }
    put_number(bytes + AT_CHECKSUM, 4, fil_hdf_checksum(bytes, AT_CHECKSUM));
    if (pwrite(descriptor, bytes, SIZE, 0) != SIZE || (fsync(descriptor) != 0 && errno != EINVAL)) {
        return fil_fail(error, FIL_E_IO, "%s: cannot mend it: %s", path, strerror(errno));
    }
    return FIL_OK;
}
