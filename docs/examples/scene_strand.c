// A strand of hair, 20 cm long, that hangs from its root, from a scene: what does the root carry?
#include <filum/filum.h>

#include <stdio.h>
#include <string.h>

static const char text[] =
    "{ \"name\": \"strand\", \"duration\": \"0.1 s\", \"step\": \"1 ms\","
    "  \"materials\": { \"hair\": { \"young\": \"3.9 GPa\", \"density\": 1300 } },"
    "  \"friction\": [ { \"between\": [\"hair\", \"hair\"], \"mu\": 0.3 } ],"
    "  \"rods\": [ { \"model\": \"helix\", \"elements\": 5, \"material\": \"hair\","
    "              \"length\": \"20 cm\", \"radius\": \"50 um\","
    "              \"root\": { \"at\": [0, 0, 0], \"along\": [0, 0, -1] } } ] }";

// Run the scene, and look at its last frame: the tension of every recorded point.
static FilStatus watch(FilStage *stage, double until, FilRecorder **recorder, FilError *error) {
    FilWorld *world = fil_stage_world(stage);
    FilStepInfo info;
    FilFrame frame;
    FilStatus status = fil_recorder_create(world, NULL, recorder, error);
    while (status == FIL_OK && fil_world_time(world) < until) {
        status = fil_stage_step(stage, &info, error); // fil_world_step(), and the scene's events
    }
    if (status == FIL_OK) {
        status = fil_recorder_frame(*recorder, &frame, error); // fil_result_append() would keep it
    }
    if (status == FIL_OK) {
        double tension[64];
        const FilResultDef def = fil_recorder_def(*recorder);
        if (def.point_count <= 64 && fil_field_is_known(FIL_FIELD_TENSION, &frame)) {
            fil_field_compute(FIL_FIELD_TENSION, &def, &frame, tension);
            (void)printf("%d points at %.1f s, the root carries %.2f uN\n", def.point_count,
                         frame.time, 1e6 * tension[0]);
        }
    }
    return status;
}

int main(void) {
    FilScene *scene = NULL;
    FilStage *stage = NULL;
    FilRecorder *recorder = NULL;
    FilError error;
    FilStatus status = fil_scene_read_text("strand.json", text, strlen(text), NULL, NULL, &scene,
                                           &error); // fil_scene_read() reads a file
    if (status == FIL_OK) {
        status = fil_stage_create(scene, 0, NULL, NULL, &stage, &error);
    }
    if (status == FIL_OK) {
        status = watch(stage, scene->duration, &recorder, &error);
    }
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    fil_recorder_destroy(recorder);
    fil_stage_destroy(stage); // before the scene, which it looks at
    fil_scene_destroy(scene);
    return status == FIL_OK ? 0 : 1;
}
