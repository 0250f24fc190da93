"""Small worlds that several tests share."""

import filum


def floor(mu=0.4, **fields):
    """A world with one material and a floor."""
    fields.setdefault("solver", {"tolerance": 1e-10, "thread_count": 1})
    world = filum.World(**fields)
    material = world.add_material()
    world.set_friction(material, material, mu)
    world.add_obstacle(shape={"kind": filum.FIL_SHAPE_PLANE})
    return world


def cube(world, mass=1.0, size=0.1, at=(0, 0)):
    """A cube that lies on the floor; its number."""
    return world.add_rigid(shape={"kind": filum.FIL_SHAPE_BOX, "size": (size, size, size)},
                           mass=mass, pose={"position": (at[0], at[1], size / 2)})


def rod_def(**fields):
    """A soft rod along x, free at both ends."""
    return filum.FilRodDef(**{"model": filum.FIL_ROD_DER, "element_count": 20, "length": 0.3,
                              "section": {"radius": 2e-3, "young": 1e7}, "damping": 1e-3,
                              "root_end": {"kind": filum.FIL_END_FREE}, **fields})


def falling_rods():
    """The two rods of docs/examples/falling_rods.c."""
    world = floor(solver={"thread_count": 1})
    world.add_rod(rod_def(root={"position": (-0.15, 0, 0.01)}))
    world.add_rod(rod_def(root={"position": (0, -0.15, 0.02),
                                "axis": ((0, 1, 0), (-1, 0, 0), (0, 0, 1))}))
    return world
