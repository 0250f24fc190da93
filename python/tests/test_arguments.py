"""Arguments that mean nothing are refused, with a sentence that names them."""

import types

import numpy as np
import pytest

import filum
from worlds import falling_rods, floor, rod_def

NAN = float("nan")


def refused(use, sentence, kind=filum.Error):
    with pytest.raises(kind, match=sentence):
        use()


def test_places_are_numbers():
    rod = filum.Rod()
    refused(lambda: rod.at([0.1, NAN]), r"^s\[1\] is nan; it must be finite$")
    refused(lambda: rod.at(NAN), "^s is nan; it must be finite$")
    refused(lambda: rod.at([[0.1]]), r"s has the shape \(1, 1\)")
    refused(lambda: rod.at(None), "s must hold numbers, not None", TypeError)
    refused(lambda: rod.at("root"), "s must hold numbers, not 'root'", TypeError)
    for use in (rod.element_at, rod.curvature_at, rod.natural_at, rod.elastic_at):
        refused(lambda use=use: use(0, NAN), "^u is nan; it must be finite$")
        refused(lambda use=use: use(0, 2), "^u is 2; it must be 0 to 1$")
        refused(lambda use=use: use(10, 0.5), "element is 10; the rod has 10")
    assert rod.at([])[0].shape == (0,)
    assert rod.curvature_at(0, [0, 0.5, 1]).shape == (3, 3)
    assert rod.elastic_at(0, [0, 1]).shape == (2,)


def test_a_number_of_threads_is_not_negative():
    scene = filum.Scene.read_text("s.json", '{ "name": "s", "duration": 1, "step": 0.001 }')
    problem = filum.problem_from_dense(np.eye(3), [-1.0, 1, 0], 0.3)
    for use in (lambda: filum.Stage(scene, threads=-5), lambda: scene.overlaps(-5),
                lambda: filum.World(solver={"thread_count": -5}),
                lambda: filum.rods_step([filum.Rod()], 1e-3, threads=-5),
                lambda: filum.thread_count(-5),
                lambda: filum.friction_solve(problem, thread_count=-5)):
        refused(use, "is -5; it must not be negative")
    assert filum.thread_count(3) == 3


def test_settings_of_the_solver_are_checked_when_a_world_is_made():
    refused(lambda: filum.World(solver={"tolerance": -1}),
            "tolerance is -1; it must be positive and finite")
    refused(lambda: filum.World(solver={"max_iterations": -2}),
            "max_iterations is -2; it must not be negative")


def test_a_state_is_finite():
    world = falling_rods()
    for thing in (world, world.rod(0), filum.Rigid()):
        state = thing.state
        state[3] = NAN
        with pytest.raises(filum.Error, match=r"^state\[3\] is nan; it must be finite$"):
            thing.state = state
    with pytest.raises(filum.Error, match="state of 5 numbers does not fit"):
        world.state = np.zeros(5)


def test_what_is_no_definition_is_refused_by_name():
    world = floor()
    rule = "takes a FilRodDef, or a dict of its fields, not "
    refused(lambda: world.add_rod(None), rule + "None", TypeError)
    refused(lambda: world.add_rod(filum.Rod()), rule + "Rod", TypeError)
    refused(lambda: world.add_rod(rod_def(), 5), "surface takes a FilSurface", TypeError)
    refused(lambda: world.set_grab(5), "grab takes a FilGrab", TypeError)
    refused(lambda: filum.Rigid().set_pose(None), "pose takes a FilPose", TypeError)
    refused(lambda: filum.Rod().set_loads([None]), r"loads\[0\] takes a FilRodLoad", TypeError)
    refused(lambda: filum.Rod().set_loads(filum.FilRodLoad()), "takes a list", TypeError)
    refused(lambda: filum.friction_solve(None), "problem takes a FilFrictionProblem", TypeError)
    refused(lambda: filum.Recorder(None), "takes a World", TypeError)
    refused(lambda: filum.Result.create(None, filum.Recorder(world).def_), "PathLike", TypeError)
    refused(lambda: filum.Result.create("r.h5", None), "takes a FilResultDef", TypeError)
    refused(lambda: filum.rods_step([None], 1e-3), r"rods\[0\] is None", TypeError)
    rod = filum.Rod()
    refused(lambda: filum.rods_step([rod, rod], 1e-3), "in the list twice")


def test_a_definition_may_be_a_dict_and_is_never_changed():
    world = floor()
    def_ = rod_def()
    long = world.add_rod(def_, {"self": False}, length=0.5)
    assert world.rod(long).length == 0.5 and def_.length == 0.3
    assert world.rod(world.add_rod({"length": 0.4})).length == 0.4
    rod = filum.Rod()
    rod.set_loads([{"s": 0.1, "force": (0, 0, 1)}])
    body = filum.Rigid()
    body.pose = {"position": (1, 2, 3)}
    assert np.array_equal(body.pose.position, (1, 2, 3))


def test_fields_name_what_they_take():
    refused(lambda: filum.FilRodDef(model=None), "model takes 'helix', .* or 'chain', not None",
            TypeError)
    refused(lambda: filum.FilRodDef(length="1 m"), "length takes a number, not '1 m'", TypeError)
    refused(lambda: filum.FilRodDef(element_count=2.5), "element_count takes a whole number",
            TypeError)
    refused(lambda: filum.FilRodDef(element_count=2**40), "element_count takes", OverflowError)
    refused(lambda: filum.FilRodDef(quasistatic_twist="no"), "takes True or False", TypeError)
    refused(lambda: filum.FIL_ROD_DEER, "did you mean FIL_ROD_DER", AttributeError)
    refused(lambda: falling_rods().frame().rod("beard"), "there is no rod 'beard'")


def test_members_of_enums_may_be_words():
    """Those of scenes, wherever an enum is taken."""
    rod = filum.FilRodDef(model="der", section={"kind": "elliptic", "radii": (1e-3, 2e-3)},
                          root_end={"kind": "free"}, tip_end={"kind": "sliding"})
    assert rod.model is filum.FIL_ROD_DER and rod.model.word == "der"
    assert rod.section.kind is filum.FIL_SECTION_ELLIPTIC
    assert (rod.root_end.kind, rod.tip_end.kind) == (filum.FIL_END_FREE, filum.FIL_END_SLIDING)
    world = filum.World(solver={"solver": "gauss-seidel", "local": "hybrid-newton"}, law="exact")
    world.add_material()
    ball = world.add_rigid(shape={"kind": "sphere", "radius": 0.01})
    assert world.rigid(ball).shape.kind is filum.FIL_SHAPE_SPHERE
    assert not world.is_asleep("rigid", ball)
    world.wake("rigid", ball)
    problem = filum.problem_from_dense(np.eye(3), [-1.0, 1, 0], 0.3, kinds=["unilateral"])
    assert problem.kinds[0] == filum.FIL_BLOCK_UNILATERAL
    assert filum.Generated("tower", contact_count=4).problem.block_count > 0
    outcome, r = filum.local_solve(np.eye(3), [-1.0, 0, 0], 0.3, solver="enum", kind="free")
    assert outcome.word == "converged" and np.array_equal(r, np.zeros(3))
    assert filum.FilMotion(between="linear").between is filum.FIL_MOTION_LINEAR


def test_words_that_nobody_knows_are_told_those_that_there_are():
    shapes = "'plane', 'sphere', 'capsule', 'cylinder', 'box' or 'mesh'"
    refused(lambda: filum.FilShape(kind="spere"),
            f"^kind is 'spere'; it must be {shapes}; did you mean 'sphere'\\?$")
    refused(lambda: filum.FilShape(kind=""), f"^kind is ''; it must be {shapes}$")
    refused(lambda: filum.FilShape(kind="FIL_SHAPE_BOX"), f"it must be {shapes}")
    refused(lambda: filum.FilShape(kind=6), f"^kind is 6; it must be {shapes}$")
    refused(lambda: filum.FilShape(kind=True), f"^kind takes {shapes}, not True$", TypeError)
    refused(lambda: filum.World(solver={"solver": "newtn"}), "did you mean 'newton'")
    refused(lambda: filum.problem_from_dense(np.eye(3), np.zeros(3), 0.3, kinds=["colomb"]),
            r"^kinds\[0\] is 'colomb'; it must be 'coulomb', ")
    refused(lambda: filum.problem_from_dense(np.eye(3), np.zeros(3), 0.3, kinds="coulomb"),
            "^kinds takes a list of 'coulomb', ", TypeError)
    refused(lambda: filum.World().is_asleep("beard", 0), "kind is 'beard'; it must be 'world', ")
    refused(lambda: filum.Generated("fibers"), "did you mean 'fibres'")


def test_every_word_is_that_of_the_headers():
    """And every enum that a struct holds has words."""
    for name, words in filum._structs.WORDS.items():
        made = filum._structs.ENUMS[name]
        members = [one for key, one in made.__members__.items() if not key.endswith("_COUNT")]
        assert sorted(words) == sorted(int(one) for one in members), name
        assert len(set(words.values())) == len(words), name
    assert filum.FIL_ROD_CLOTHOID.word == filum.ffi.string(
        filum.lib.fil_rod_model_name(filum.FIL_ROD_CLOTHOID)).decode()
    for k in range(filum.FIL_SHAPE_COUNT):
        assert filum.FilShapeKind(k).word == filum.ffi.string(filum.lib.fil_shape_name(k)).decode()


def test_a_material_is_named_beside_the_fields():
    """That of the surface: a rod on ice slides, and sticks where it is rough."""
    for slides in (True, False):
        world = filum.World(gravity=(2.0, 0, -9.81))
        ice, rough = world.add_material(), world.add_material()
        world.set_friction(ice, ice, 0.05)
        world.set_friction(rough, ice, 0.9)
        world.add_obstacle(shape={"kind": "plane"}, material=ice)
        world.add_rigid(shape={"kind": "box", "size": (0.1, 0.1, 0.02)}, mass=1,
                        pose={"position": (0, 0, 0.01)}, material=ice if slides else rough)
        for _ in range(100):
            world.step()
        assert (world.rigid(0).rate.velocity[0] > 0.1) == slides
    refused(lambda: world.add_rod(material=7), "material is 7")
    refused(lambda: world.add_rod(material="hair"), "material takes a whole number", TypeError)


def test_objects_say_what_they_are():
    world = falling_rods()
    assert repr(world) == "<world at 0 s: 2 rods, 0 bodies, 1 obstacles>"
    assert repr(world.rod(0)) == "<rod of 20 elements, 0.3 m long>"
    assert repr(filum.FrictionWorkspace()) == "<workspace>"
    world.destroy()
    assert repr(world) == "<this world was destroyed>"


def test_a_list_that_changes_after_it_was_given_changes_nothing():
    sections = [filum.FilSection()] * 3
    def_ = filum.FilRodDef(sections=sections, element_count=3)
    sections.append(filum.FilSection())
    def_.element_count = 4
    refused(lambda: filum.Rod(def_), r"sections holds 3 numbers; it must hold element_count \(4\)")


@pytest.mark.parametrize("good", [
    np.ones((10, 3), np.float32), np.ones((20, 6))[::2, ::2], np.ones((3, 10)).T,
    np.ones((10, 3), ">f8"), np.broadcast_to(1.0, (10, 3)), np.ones((10, 3), int),
    [[1, 1, 1]] * 10], ids=str)
def test_arrays_of_any_layout_mean_the_same(good):
    assert np.array_equal(filum.Rod(natural_curvatures=good).natural_at(9, 0.5), (1, 1, 1))
    rod = filum.Rod()
    rod.set_natural(good)
    assert np.array_equal(rod.natural_at(9, 0.5), (1, 1, 1))


def test_arrays_that_numpy_would_bend_are_refused():
    rod = filum.FilRodDef()
    refused(lambda: filum.Rod(gravity=9.81), r"gravity has the shape \(\); it must be \(3,\)")
    refused(lambda: filum.Rod(gravity=(0, 0, None)), "gravity must hold numbers", TypeError)
    refused(lambda: setattr(rod, "natural_curvatures", np.ones((10, 3), complex)),
            "must hold numbers, not an array of complex128", TypeError)
    refused(lambda: filum.Rod().set_natural([[1, 2, 3], [1, 2]]), "curvatures is no array")
    refused(lambda: filum.Mesh(np.zeros((4, 3)), [[0.5, 1, 2]]), "whole numbers", TypeError)
    refused(lambda: filum.problem_from_blocks([0, 2**32], [0], np.eye(3), np.zeros(3), 0.3),
            "do not fit 32 bits")
    refused(lambda: filum.problem_from_dense(np.eye(3), [0, 0, 0], 0.3, block_size=0),
            "block_size is 0; it must be 1 to 6")
    problem = filum.problem_from_dense(np.eye(6), np.zeros(6), 0.3)
    refused(lambda: filum.friction_solve(problem, r=[1.0]), "r holds 1 numbers; it must hold 6")


def test_dir_shows_what_is_for_users():
    assert set(filum.__all__) <= set(dir(filum))
    assert "World" in dir(filum) and "FIL_ROD_DER" in dir(filum)
    for name in ("Any", "Dict", "List", "STRUCTS", "VERSION", "_export"):
        assert name not in dir(filum)
    assert not hasattr(filum, "Any") and not hasattr(filum, "STRUCTS")
    for name in set(dir(filum)) - {"lib"}:
        assert not isinstance(getattr(filum, name), types.ModuleType)
    assert "position" in dir(falling_rods().frame())


def test_the_problems_of_the_library_are_arrays():
    made = filum.Generated(filum.FIL_GENERATE_FIBRES, contact_count=20, seed=3)
    problem, other = made.problem, made.global_
    assert problem.b.shape == (60,) and problem.mu.shape == (20,)
    bodies = problem.bodies
    W = np.zeros((60, 60))
    H = [(bodies.body[e], bodies.H[e], bodies.HA[e]) for e in range(len(bodies.body))]
    for i in range(20):
        for j in range(20):
            W[3 * i:3 * i + 3, 3 * j:3 * j + 3] = sum(
                HA @ K.T for a, _, HA in H[bodies.start[i]:bodies.start[i + 1]]
                for b, K, _ in H[bodies.start[j]:bodies.start[j + 1]] if a == b)
    _, u = filum.friction_residual(problem, made.r)
    assert np.allclose(W @ made.r + problem.b, u)
    M, N = other.global_.M, other.global_.H
    assert len(M.index) == len(M.value) == M.start[-1] and len(N.start) == 61
    with pytest.raises(ValueError):
        problem.b[0] = 1.0
