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


def test_frames_of_a_world_share_one_memory_and_an_old_one_says_that_it_is_old():
    world = falling_rods()
    first = world.frame()
    places = first.position
    before = places.copy()
    for _ in range(20):
        world.step()
    second = world.frame()
    assert address(second.position) == address(places)
    assert np.shares_memory(second.position, places)
    assert np.all(places == second.position) and not np.allclose(places, before)
    with pytest.raises(filum.Error, match=r"copy\(\) makes one that stays"):
        first.position
    stays = second.copy()
    world.step()
    third = world.frame()
    assert not np.shares_memory(stays.position, third.position)
    assert stays.time == pytest.approx(0.02) and third.time == pytest.approx(0.021)


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
    contacts, places = world.contacts, world.frame().position
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
        del world
        gc.collect()
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
