#ifndef FIL_CLAIM_H
#define FIL_CLAIM_H

/// Does a scene show what it says? Its claims (FilSceneClaim), measured.
///
/// A claim is looked at in the scene itself, then in its variants: in those of `unless` it must be
/// false by a margin, so that it says something of what they change; in those of `holds_with` it
/// must hold too. Each variant is run once, in memory, for all claims that need it and as long as
/// they do.

#include "filum/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// One table: for what a claim is measured.
#define FIL_CLAIM_ROLES(X)        \
    X(FIL_CLAIM_ITSELF, "itself") \
    X(FIL_CLAIM_UNLESS, "unless") \
    X(FIL_CLAIM_HOLDS_WITH, "holds_with")

#define FIL_CLAIM_ROLE_ENUM(code, name) code,
typedef enum FilClaimRole {
    FIL_CLAIM_ROLES(FIL_CLAIM_ROLE_ENUM) FIL_CLAIM_ROLE_COUNT
} FilClaimRole;

/// A claim in one variant of its scene.
typedef struct FilClaimFigure {
    int claim; ///< of the scene
    FilClaimRole role;
    const char *variant; ///< the changes that make it, beyond those of `with`; "": none
    double value;        ///< in the unit of the measure; NaN: there was nothing to measure
    /// Itself, holds_with: within the bounds. Unless: outside, by the margin at least.
    bool right;
} FilClaimFigure;

/// What came of the claims of a scene.
typedef struct FilVerdict {
    const FilScene *scene;         ///< as read with the changes of the settings
    const FilClaimFigure *figures; ///< by claim; itself, then its variants in their order
    int figure_count, wrong_count;
} FilVerdict;

typedef struct FilClaimSettings {
    const char *const *changes; ///< "rods[3].radius=2 mm", made before those of the claims
    int change_count;
    int threads;       ///< 0: all
    bool itself_alone; ///< leave the variants out
    /// Told now and then how much of all steps is done, 0 .. 1; false ends it. May be NULL.
    bool (*on_step)(void *user, double part);
    void *user;
} FilClaimSettings;

/// Read a scene, as fil_scene_read_text() does, and measure its claims. The caller gives `*out`
/// back with fil_verdict_destroy(). A claim that is false is a result, not an error. Fails when the
/// scene or a variant of it cannot be read, or its world not be stepped, with a sentence that names
/// the claim and the variant; FIL_E_INTERRUPTED when on_step said so.
FIL_API FIL_MUST_CHECK FilStatus fil_claims_judge(const char *name, const char *text, size_t size,
                                                  const FilClaimSettings *settings,
                                                  const FilAllocator *allocator, FilVerdict **out,
                                                  FilError *error);
FIL_API void fil_verdict_destroy(FilVerdict *verdict); ///< NULL is fine

/// Could they be judged? Whether names and variants of the claims are there, without a step.
FIL_API FIL_MUST_CHECK FilStatus fil_claims_check(const char *name, const char *text, size_t size,
                                                  const FilClaimSettings *settings,
                                                  const FilAllocator *allocator, FilError *error);

/// "unless" for FIL_CLAIM_UNLESS; NULL when out of range.
FIL_API const char *fil_claim_role_name(FilClaimRole role);

#ifdef __cplusplus
}
#endif

#endif
