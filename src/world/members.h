#ifndef FIL_WORLD_MEMBERS_H
#define FIL_WORLD_MEMBERS_H

// The contacts that matter, listed by body.

#include "rows.h"

typedef struct FilMembers {
    const FilRows *rows;
    const int *active; // contacts, ascending
    int count;
    int *place;   // [contact_count] among the active ones, or -1
    int *start;   // [body_count + 1] of `list`
    int *list;    // incidences of active contacts, by body
    int (*of)[2]; // [count] where in `list` a contact is, for its bodies; or -1
} FilMembers;

/// List the contacts `active` (ascending), in the world's scratch.
FilStatus fil_members_list(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                           const int *active, int count, FilMembers *out, FilError *error);

static inline const FilIncidence *fil_member(const FilMembers *members, int k) {
    return &members->rows->incidences[members->list[k]];
}

/// How many contacts body `index` of the world has.
static inline int fil_members_count(const FilMembers *members, int index) {
    return members->start[index + 1] - members->start[index];
}

/// Numbers of scratch that the two calls below need.
size_t fil_members_room(const FilMembers *members, const FilBody *body, int index);

/// W_body = H P H^T of the k contacts of a body, [3 k][3 k].
void fil_members_matrix(const FilMembers *members, const FilBody *body, int index, double *room,
                        double *W);

/// Its diagonal blocks alone, [k][3][3].
void fil_members_diagonal(const FilMembers *members, const FilBody *body, int index, double *room,
                          double *W);

#endif
