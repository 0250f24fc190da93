#ifndef FIL_ROD_LENGTHS_H
#define FIL_ROD_LENGTHS_H

/// Move the nodes of a polygon of `n` edges, r [n + 1][3], so that its ends come to `first` and
/// `last` and its edges keep the given lengths as far as that goes: the gaps are spread over the
/// nodes, then the edges corrected with the least displacement. A straight polygon that is too long
/// is bent to one side. `scratch` has 5 n places.
void fil_lengths_fit(int n, const double *lengths, const double first[3], const double last[3],
                     double *r, double *scratch);

#endif
