#ifndef FIL_IO_SECTION_H
#define FIL_IO_SECTION_H

#include "filum/result.h"

/// Is a rod a ribbon to look at: does its section have a side more than twice as long as the other?
/// Half its sizes along n1 and n2, m.
bool fil_section_is_flat(const FilResultRod *rod, double half[2]);

/// True also where the section is not known.
bool fil_section_is_round(const FilResultRod *rod);

#endif
