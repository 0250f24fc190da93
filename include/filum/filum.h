#ifndef FIL_FILUM_H
#define FIL_FILUM_H

/// All of Filum: every public header, one per concept.

#include "filum/base.h"
#include "filum/checkpoint.h"
#include "filum/claim.h"
#include "filum/curve.h"
#include "filum/export.h"
#include "filum/fclib.h"
#include "filum/friction.h"
#include "filum/generate.h"
#include "filum/hair.h"
#include "filum/look.h"
#include "filum/matrix.h"
#include "filum/mesh.h"
#include "filum/motion.h"
#include "filum/pose.h"
#include "filum/record.h"
#include "filum/result.h"
#include "filum/rigid.h"
#include "filum/rod.h"
#include "filum/scene.h"
#include "filum/shape.h"
#include "filum/stage.h"
#include "filum/world.h"

#endif
