"""Views: no copies, and nothing dangles."""

import gc

import numpy as np
import pytest

import filum
from worlds import cube, falling_rods, floor, rod_def


def address(array):
    return array.__array_interface__["data"][0]


def test_contacts_are_the_librarys_own_memory():
    world = floor()
    cube(world)
    world.step()
    count = filum.ffi.new("int *")
    first = filum.lib.fil_world_contacts(world._pointer, count)
    contacts = world.contacts
    assert len(contacts) == count[0] > 0
    assert address(contacts) == int(filum.ffi.cast("uintptr_t", first))
    assert contacts.strides == (filum.ffi.sizeof("FilContact"),)
    assert np.shares_memory(contacts["impulse"], world.contacts["impulse"])
    for k, contact in enumerate(contacts):
        assert contact["gap"] == first[k].gap
        assert tuple(contact["b"]["point"]) == tuple(first[k].b.point)


def test_the_library_memory_cannot_be_written_by_accident():
    world = floor()
    cube(world)
    world.step()
    with pytest.raises(ValueError):
        world.contacts["gap"][0] = 1.0
    with pytest.raises(AttributeError, match="read only"):
        filum.Generated(filum.FIL_GENERATE_RIGID, contact_count=4).problem.block_count = 3


def test_frames_stay_while_somebody_looks_at_them():
    world = falling_rods()
    heights, places = [], []
    for _ in range(10):
        world.step()
        heights.append(float(world.frame().position[0, 2]))
        places.append(world.frame().position)
    assert [x[0, 2] for x in places] == heights and heights[0] > heights[-1]
    frame = world.frame()
    world.step()
    assert frame.time == pytest.approx(0.01) and world.frame().time == pytest.approx(0.011)
    assert not any(np.shares_memory(world.frame().position, x) for x in places)
    recorder = filum.Recorder(world)
    frames = []
    for _ in range(4):
        world.step()
        frames.append(recorder.frame())
    assert [round(frame.time, 4) for frame in frames] == [0.012, 0.013, 0.014, 0.015]
    assert len({float(frame.position[0, 2]) for frame in frames}) == 4


def test_the_memory_of_frames_that_nobody_holds_is_used_again():
    world = falling_rods()
    seen = set()
    for _ in range(20):
        world.step()
        frame = world.frame()  # the one before it is held until now
        seen.add(address(frame.position))
    assert len(seen) == 2 and len(world._recorders) == 2


def test_the_contacts_of_a_frame_stay_with_it():
    world = falling_rods()
    while len(world.contacts) == 0:
        world.step()
    frame = world.frame()
    kept, force = frame.contacts.copy(), frame.field("force")
    assert np.array_equal(kept, world.contacts)
    for _ in range(50):
        world.step()
    assert np.array_equal(frame.contacts, kept) and np.array_equal(frame.field("force"), force)
    world.destroy()
    assert np.array_equal(frame.contacts, kept)


def test_a_frame_outlives_the_world_and_the_result():
    world = falling_rods()
    frame, want = world.frame(), world.frame().position.copy()
    world.destroy()
    churn = [np.full(k, 7.0) for k in range(2000)]
    assert np.array_equal(frame.position, want) and len(churn) == 2000
    assert frame.field("speed").shape == (frame.def_.point_count,)


def test_frames_are_the_rods_as_rods_say_themselves():
    world = falling_rods()
    for _ in range(50):
        world.step()
    frame = world.frame()
    for number in range(2):
        part = frame.rod(number)
        points = frame.def_.points[part]
        poses, rates = world.rod(number).at(points["s"])
        assert np.allclose(poses["position"], frame.position[part], atol=1e-12)
        assert np.allclose(rates["velocity"], frame.velocity[part], atol=1e-9)
        w, x, y, z = frame.quaternion[part].T
        tangent = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], 1)
        assert np.allclose(tangent, poses["axis"][:, 0], atol=1e-9)


def test_a_rod_that_is_added_shows_in_the_next_frame():
    world = falling_rods()
    recorder = filum.Recorder(world)
    assert world.frame().def_.rod_count == 2
    world.add_rod(rod_def(root={"position": (-0.15, 0.1, 0.05)}))
    assert world.frame().def_.rod_count == 3
    with pytest.raises(filum.Error, match="added"):
        recorder.frame()


def test_views_outlive_the_world_that_was_destroyed():
    world = falling_rods()
    for _ in range(60):
        world.step()
    contacts, places = world.contacts, world.contacts["gap"]
    kept = contacts.copy(), places.copy()
    memory = world._memory
    world.destroy()
    gc.collect()
    churn = [np.ones(1000) for _ in range(2000)]  # what was freed would be overwritten
    assert np.array_equal(contacts, kept[0]) and np.array_equal(places, kept[1])
    assert memory.bytes == 0 and len(memory.kept) > 0
    del contacts, churn
    assert len(memory.kept) > 0  # one view still lives
    del places
    gc.collect()
    assert memory.leases == 0 and len(memory.kept) == 0


def test_views_outlive_a_world_that_nobody_holds():
    world = floor()
    cube(world)
    world.step()
    impulse = world.contacts["impulse"][:, 2]
    value = impulse.copy()
    del world
    gc.collect()
    assert np.array_equal(impulse, value)


def test_a_stale_view_can_be_read_while_the_world_grows():
    world = floor()
    views = []
    for k in range(40):
        cube(world, at=(0.2 * k, 0))
        world.step()
        views.append(world.contacts)
    total = sum(float(view["gap"].sum()) for view in views)  # stale numbers, but numbers
    assert np.isfinite(total)
    assert len(world._memory.kept) > 0
    views.clear()
    assert len(world._memory.kept) == 0


def test_memory_is_given_back():
    for _ in range(3):
        world = falling_rods()
        world.step()
        world.frame()
        memory = world._memory
        assert memory.bytes > 0
        del world  # at once, not when the garbage is collected
        assert memory.bytes == 0 and memory.leases == 0 and not memory.kept


def test_arrays_of_a_struct_are_its_own_memory():
    rod = filum.FilRodDef()
    gravity = rod.gravity
    gravity[2] = -1.6
    assert rod._c.gravity[2] == -1.6
    rod.root.axis[0] = (0, 1, 0)
    assert rod._c.root.axis[0][1] == 1.0
    section = rod.section
    del rod
    gc.collect()
    section.radius = 3e-3  # the definition lives as long as a part of it
    assert section.radius == 3e-3 and gravity[2] == -1.6


def test_arrays_that_fit_are_lent_to_the_library_without_a_copy():
    b = np.array([-1.0, 0.5, 0.0])
    problem = filum.problem_from_dense(np.eye(3), b, 0.4)
    assert int(filum.ffi.cast("uintptr_t", problem._c.b)) == address(b)
    b[1] = 0.0  # and so the problem changes with it
    assert np.allclose(filum.friction_solve(problem).r, (1, 0, 0))
