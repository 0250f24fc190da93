"""Physics from Python: what the library promises, seen from here."""

import numpy as np
import pytest

import filum
from worlds import cube, falling_rods, floor, rod_def

G = 9.81


def test_a_ball_at_rest_on_a_plane_stays_and_the_plane_carries_its_weight():
    world = floor()
    ball = world.rigid(world.add_rigid(pose={"position": (0, 0, 0.01)}))
    for _ in range(100):
        info = world.step()
    assert info.outcome == filum.FIL_CONVERGED and info.contact_count == 1
    assert np.allclose(ball.pose.position, (0, 0, 0.01), atol=1e-12)
    assert np.abs(ball.rate.velocity).max() < 1e-12
    (contact,) = world.contacts
    assert contact["state"] == filum.FIL_CONTACT_STICK
    assert np.allclose(contact["impulse"], (0, 0, ball.mass * G * 1e-3), rtol=1e-9)
    assert contact["a"]["kind"] == filum.FIL_BODY_RIGID


@pytest.mark.parametrize("push", [1.0, 3.0, 3.9])
def test_stick_means_stick(push):
    world = floor(mu=0.4)
    body = world.rigid(cube(world))
    body.set_load((push, 0, 0))
    for _ in range(100):
        world.step()
    assert np.abs(body.rate.velocity).max() < 1e-9
    assert abs(body.pose.position[0]) < 1e-10
    impulse = world.contacts["impulse"]
    assert impulse[:, 0].sum() == pytest.approx(-push * 1e-3, rel=1e-6)
    assert np.all(np.hypot(impulse[:, 0], impulse[:, 1]) <= 0.4 * impulse[:, 2] + 1e-12)


def test_beyond_the_cone_it_slides_as_newton_and_coulomb_say():
    world = floor(mu=0.4)
    body = world.rigid(cube(world))
    body.set_load((5.0, 0, 0))
    for _ in range(100):
        world.step()
    assert body.rate.velocity[0] == pytest.approx((5.0 - 0.4 * G) * world.time, rel=1e-6)
    pressing = world.contacts[world.contacts["impulse"][:, 2] > 1e-9]
    assert len(pressing) > 0 and np.all(pressing["state"] == filum.FIL_CONTACT_SLIDE)
    tangential = np.hypot(pressing["impulse"][:, 0], pressing["impulse"][:, 1])
    assert np.allclose(tangential, 0.4 * pressing["impulse"][:, 2], rtol=1e-6)


def test_the_floor_carries_the_weight_of_two_rods_that_fell_on_it():
    world = falling_rods()
    while world.time < 0.5:
        info = world.step()
    contacts = world.contacts
    on_floor = contacts[contacts["b"]["kind"] == filum.FIL_BODY_OBSTACLE]
    weight = 2 * np.pi * 2e-3**2 * 0.3 * 1300 * G
    assert on_floor["impulse"][:, 2].sum() / 1e-3 == pytest.approx(weight, rel=1e-3)
    assert info.residual.scaled <= 1e-8
    frame = world.frame()
    assert frame.position.shape == (frame.def_.point_count, 3)
    assert frame.position[:, 2].min() > 2e-3 - 1e-5  # nothing is in the floor
    assert np.abs(np.linalg.norm(frame.quaternion, axis=1) - 1).max() < 1e-9


def test_an_obstacle_follows_a_function_of_python_and_carries_what_lies_on_it():
    def belt(time, pose):
        pose.position[0] = 0.2 * time

    world = filum.World(solver={"thread_count": 1, "tolerance": 1e-10})
    world.add_material()
    world.set_friction(0, 0, 0.8)
    world.add_obstacle(shape={"kind": filum.FIL_SHAPE_PLANE}, motion=belt)
    body = world.rigid(cube(world))
    for _ in range(200):
        world.step()
    assert body.rate.velocity[0] == pytest.approx(0.2, abs=1e-9)
    pose, rate = world.obstacle_at(0)
    assert pose.position[0] == pytest.approx(0.2 * world.time)
    assert rate.velocity[0] == pytest.approx(0.2)


def test_a_motion_of_the_library_drives_the_end_of_a_rod():
    motion = filum.FilMotion(velocity=(0.1, 0, 0), until=np.inf)
    rod = filum.Rod(root_end={"kind": filum.FIL_END_CLAMPED, "motion": motion})
    del motion
    for _ in range(20):
        rod.step(1e-3)
    pose, rate = rod.at(0.0)
    assert pose.position[0] == pytest.approx(0.1 * rod.time)
    assert rate.velocity[0] == pytest.approx(0.1)


def test_keys_of_a_motion_are_a_list_of_structs():
    keys = [filum.FilMotionKey(time=t, at=(0, 0, z)) for t, z in ((0, 0), (1, 0.5))]
    motion = filum.FilMotion(keys=keys, between=filum.FIL_MOTION_LINEAR)
    assert motion.key_count == 2
    world = filum.World()
    world.add_material()
    world.add_obstacle(shape={"kind": filum.FIL_SHAPE_SPHERE, "radius": 0.1}, motion=motion)
    del motion, keys
    world.set_friction(0, 0, 0.1)
    while world.time < 0.5:
        world.step()
    assert world.obstacle_at(0)[0].position[2] == pytest.approx(0.25)


def test_a_joint_keeps_a_pendulum_at_its_length():
    world = filum.World(solver={"thread_count": 1, "tolerance": 1e-12})
    world.add_material()
    ball = world.add_rigid(pose={"position": (0.5, 0, 0)})
    joint = world.add_joint(a={"kind": filum.FIL_BODY_RIGID, "index": ball},
                            b={"kind": filum.FIL_BODY_WORLD}, turning=True)
    body = world.rigid(ball)
    for _ in range(100):
        world.step()
    assert np.linalg.norm(body.pose.position) == pytest.approx(0.5, abs=1e-3)
    assert body.pose.position[2] < -0.01
    world.remove_joint(joint)


def test_a_hair_hangs_in_a_stable_equilibrium_and_swings():
    hair = filum.Rod(element_count=8, length=0.25, natural_curvature=(0, 40, 0))
    rest = hair.equilibrium()
    assert rest.converged and rest.stable
    frequencies = hair.frequencies(3)
    assert np.all(np.diff(frequencies) >= 0) and frequencies[0] > 0
    poses, rates = hair.at(np.linspace(0, hair.length, 33))
    assert poses["position"].shape == (33, 3) and poses["axis"].shape == (33, 3, 3)
    assert np.allclose(poses["axis"] @ poses["axis"].swapaxes(1, 2), np.eye(3), atol=1e-12)
    assert np.all(rates["velocity"] == 0)


def test_natural_curvatures_come_as_an_array():
    kappa = np.zeros((10, 3))
    kappa[:, 1] = np.linspace(0, 20, 10)
    rod = filum.Rod(natural_curvatures=kappa, element_count=10)
    got = [rod.natural_at(k, 0.5)[1] for k in range(10)]
    assert np.allclose(got, kappa[:, 1])
    rod.set_natural(np.zeros((10, 3)))  # now its curl costs EI kappa^2 / 2 by length
    bend = 3.9e9 * np.pi / 4 * 5e-5**4
    assert rod.elastic_at(9, 0.5) == pytest.approx(bend * rod.curvature_at(9, 0.5)[1]**2 / 2)


def test_settling_ends_at_rest_and_a_function_may_stop_it():
    world = falling_rods()
    info = world.settle(max_steps=3000)
    assert info.converged and info.residual < 1e-6
    seen = []
    world = falling_rods()
    world.settle(on_step=lambda step, residual: seen.append((step, residual)) or len(seen) < 3)
    assert len(seen) == 3


def test_an_exception_of_a_function_that_the_library_calls_travels_to_the_caller():
    def broken(_time, _pose):
        raise ZeroDivisionError("in the motion")

    world = filum.World()
    world.add_material()
    world.set_friction(0, 0, 0.1)
    with pytest.raises(ZeroDivisionError, match="in the motion"):
        world.add_obstacle(shape={"kind": filum.FIL_SHAPE_PLANE}, motion=broken)
        world.step()


def run_state(threads):
    world = floor(solver={"thread_count": threads})
    for k in range(3):
        world.add_rod(rod_def(root={"position": (-0.15, 0.001 * k, 0.01 + 0.01 * k)}))
    for _ in range(100):
        world.step()
    return world.state


def test_the_same_world_gives_the_same_bits_on_any_number_of_threads():
    assert run_state(1).tobytes() == run_state(2).tobytes()


def test_a_world_goes_on_from_its_state_bit_for_bit():
    world, again = falling_rods(), falling_rods()
    for _ in range(60):
        world.step()
    state = world.state
    for _ in range(20):
        world.step()
    again.state = state
    assert again.time == pytest.approx(0.06)
    for _ in range(20):
        again.step()
    assert again.state.tobytes() == world.state.tobytes()


def test_friction_problems_of_a_step_can_be_watched():
    world = floor()
    cube(world)
    seen = []
    world.watch_problems(lambda problem, r, fresh: seen.append((problem.block_count, r, fresh)))
    world.step()
    world.watch_problems(None)
    world.step()
    assert len(seen) >= 1
    count, r, fresh = seen[0]
    assert count >= 3 and r.shape == (3 * count,) and fresh.shape == (count,)


def test_a_mesh_is_a_solid():
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * 0.1 - 0.05
    triangles = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7),
                 (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    mesh = filum.Mesh(corners, triangles)
    assert mesh.vertices.shape == (8, 3) and mesh.triangles.shape == (12, 3)
    body = filum.Rigid(shape={"kind": filum.FIL_SHAPE_MESH, "mesh": mesh}, density=1000)
    del mesh
    assert body.mass == pytest.approx(1.0)
    world = floor()
    number = world.add_rigid(shape={"kind": filum.FIL_SHAPE_MESH,
                                    "mesh": filum.Mesh(corners, triangles)}, mass=1.0,
                             pose={"position": (0, 0, 0.05)})
    for _ in range(20):
        world.step()
    assert world.rigid(number).pose.position[2] == pytest.approx(0.05, abs=1e-9)
    assert world.frame().def_.meshes[0].vertices.shape == (8, 3)


def test_a_hand_pulls_a_rod_to_where_it_goes_and_lets_go():
    world = filum.World(gravity=(0, 0, 0))
    material = world.add_material()
    world.set_friction(material, material, 0.3)
    rod = world.add_rod(model=filum.FIL_ROD_DER, element_count=10, length=0.2)
    assert np.allclose(world.get_gravity(), 0) and world.get_friction(material, material) == 0.3
    assert world.grab() is None
    grab = world.grab_make(rod, 1.0)
    start = np.array(grab.target)
    grab.target = start + [0, 0, 0.02]
    world.set_grab(grab)
    for _ in range(300):
        world.step()
    force, torque = world.grab()
    assert force[2] > 0 and torque == 0
    world.set_grab()
    assert world.grab() is None


def test_a_rod_tells_what_holds_it_and_how_it_moves():
    rod = filum.Rod(model=filum.FIL_ROD_DER, element_count=8, length=1.0, gravity=(0, 0, -9.81),
                    section={"radius": 0.02})
    assert rod.equilibrium().converged
    weight = 1300 * np.pi * 0.02**2 * 9.81
    force, moment = rod.reaction()
    assert np.allclose(force, [0, 0, weight], rtol=1e-9) and moment[1] < -0.4 * weight
    assert not np.any(rod.reaction(tip=True))
    free = filum.Rod(length=1.0, section={"radius": 0.02}, root_end={"kind": filum.FIL_END_FREE})
    free.launch((1, 2, 3), (0, 0, 4))
    linear, angular = free.momentum(about=(0.5, 0, 0))
    assert np.allclose(linear, np.array([1, 4, 3]) * weight / 9.81, rtol=1e-12)
    assert np.allclose(angular[2], 4 * weight / 9.81 / 12, rtol=1e-12)


def test_a_rod_of_a_world_is_held_against_what_touches_it():
    world = filum.World(gravity=(0, 0, -9.81))
    material = world.add_material()
    world.set_friction(material, material, 0.3)
    number = world.add_rod(filum.FilRodDef(length=0.5, section={"radius": 0.01}))
    world.step()
    force, moment = world.rod(number).reaction()
    assert np.array_equal(force, world.reaction(number)[0])
    frame = world.frame()
    assert frame.reaction_force.shape == (1, 2, 3)
    assert np.array_equal(frame.reaction_force[0, 0], force)
    assert np.array_equal(frame.reaction_moment[0, 0], moment)
    assert not frame.reaction_force[0, 1].any()
    with pytest.raises(filum.Error, match="rod is 3; there are 1"):
        world.reaction(3)


def test_messages_call_a_rod_by_its_name():
    world = filum.World(step=1e-3)
    world.add_material()
    world.add_rod(filum.FilRodDef(length=0.5, section={"radius": 0.01}, root_end={"kind": "free"}))
    world.set_gravity((0, 0, -1e307))
    with pytest.raises(filum.Error, match="rod 0 leaves the range of numbers"):
        world.step()
    world.set_names(lambda kind, index: "fringe" if kind == filum.FIL_BODY_ROD else None)
    with pytest.raises(filum.Error, match='rod "fringe" leaves the range of numbers'):
        world.step()
    world.set_names(None)
    with pytest.raises(filum.Error, match="rod 0 leaves the range of numbers"):
        world.step()
