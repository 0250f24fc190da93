#!/usr/bin/python3
# %% [markdown]
# # A rope around a post
#
# A sailor holds a ship with one hand: a rope that lies around a post by the angle `phi` and slides
# carries, at its far end, `exp(mu phi)` times the force at its near end (Euler and Eytelwein). Here
# a rod is laid around a cylinder, pulled with T1 at its tip, and its root is drawn away slowly. The
# force that this takes is read from the contacts.
#
#     PYTHONPATH=build/python /usr/bin/python3 python/examples/capstan.py capstan.png [--quick]

# %%
import sys

import matplotlib
import numpy as np

import filum

matplotlib.use("Agg")  # no window
import matplotlib.pyplot as plt  # noqa: E402

PICTURE = next((a for a in sys.argv[1:] if not a.startswith("-")), "capstan.png")
QUICK = "--quick" in sys.argv

STEP = 5e-3  # s
RADIUS, THICKNESS = 0.1, 1e-5  # m, of the post and of the rope
FORCE = 1.0  # N, T1
TAIL = 4  # elements of each straight end
RUN_IN, RUN = 100, 400  # steps: to start sliding, and to slide by one element


# %% [markdown]
# ## The rope
# The middles of its edges touch the post, so that each node on the arc turns by the same angle. It
# hardly resists bending; friction alone shall count. Fields have the names that they have in C.

# %%
def rope(phi, elements, speed):
    turn, outer = phi / elements, RADIUS + THICKNESS
    edge = 2 * outer * np.tan(turn / 2)
    count = elements + 2 * TAIL
    start = np.zeros((count + 1, 3))
    start[TAIL:TAIL + elements + 1, 2] = -2 * np.tan(turn / 2) / edge
    bend = 8e-4 * FORCE * outer**2
    along = np.array([1.0, 0.0, 0.0])

    def draw_away(time, pose):
        pose.position[:] -= speed * edge * time * along

    return filum.FilRodDef(
        model=filum.FIL_ROD_DER, element_count=count, length=count * edge,
        section={"kind": filum.FIL_SECTION_GIVEN, "bend": (bend, bend), "twist": bend, "mass": 1e-3,
                 "radius": THICKNESS, "stretch": 1e4 * FORCE},
        root={"position": (-(TAIL + 0.5) * edge, outer, 0)}, start_curvatures=start,
        root_end={"kind": filum.FIL_END_PINNED, "motion": draw_away}, damping=1e-2, drag=1e-2)


# %% [markdown]
# ## One case
# What holds the drawn end balances T1 and all contact forces: a sum over a view of the contacts.

# %%
def ratio(mu, phi, fine):
    """T2 / T1 while the rope slides by one element, and the worst residual of the steps."""
    elements = round(fine * phi / (np.pi / 2))
    world = filum.World(step=STEP, gravity=(0, 0, 0), solver={"tolerance": 1e-8, "thread_count": 1})
    world.add_material()
    world.set_friction(0, 0, mu)
    world.add_obstacle(shape={"kind": filum.FIL_SHAPE_CYLINDER, "radius": RADIUS, "length": 1},
                       pose={"axis": ((0, 0, 1), (1, 0, 0), (0, 1, 0))})
    surface = filum.FilSurface(pieces=1, self=False)
    number = world.add_rod(rope(phi, elements, 1 / (RUN * STEP)), surface)
    pull = FORCE * np.array([np.cos(phi), -np.sin(phi), 0])
    rod = world.rod(number)
    rod.set_loads([filum.FilRodLoad(s=rod.length, force=pull)])
    held, residual = [], 0.0
    for k in range(RUN_IN + RUN):
        residual = max(residual, world.step().residual.scaled)
        if k >= RUN_IN:
            held.append(np.linalg.norm(pull + world.contacts["impulse"].sum(0) / STEP))
    frame = world.frame()
    return np.mean(held) / FORCE, residual, frame.position.copy()


# %% [markdown]
# ## Measured beside exact

# %%
turns = np.array([0.25, 0.5] if QUICK else [0.25, 0.5, 0.75, 1.0])
frictions = [0.3] if QUICK else [0.1, 0.2, 0.3]
measured, worst, shape = {}, 0.0, None
for mu in frictions:
    for turn in turns:
        measured[mu, turn], residual, shape = ratio(mu, 2 * np.pi * turn, 8 if QUICK else 12)
        worst = max(worst, residual)
        exact = np.exp(mu * 2 * np.pi * turn)
        print(f"mu {mu:.1f}, {turn:4.2f} turns: T2/T1 = {measured[mu, turn]:6.3f}, "
              f"exact {exact:6.3f}")
off = max(abs(value / np.exp(mu * 2 * np.pi * turn) - 1) for (mu, turn), value in measured.items())
print(f"all within {100 * off:.2f} % of exp(mu phi); worst residual {worst:.0e}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), width_ratios=(3, 2))
angle = np.linspace(0, turns.max(), 100)
for colour, mu in zip(("tab:blue", "tab:orange", "tab:green"), frictions):
    left.plot(angle, np.exp(mu * 2 * np.pi * angle), color=colour, label=f"exp(μ φ), μ = {mu}")
    left.plot(turns, [measured[mu, turn] for turn in turns], "o", color=colour)
left.set(xlabel="turns around the post", ylabel="T2 / T1", yscale="log",
         title="lines: exact, dots: measured")
left.set_yticks([1, 2, 4, 6], ["1", "2", "4", "6"])
left.minorticks_off()
left.legend(frameon=False)
right.add_patch(plt.Circle((0, 0), 100 * RADIUS, color="0.85"))
right.plot(100 * shape[:, 0], 100 * shape[:, 1], color="tab:brown", lw=2)
for text, end, before in (("T2", 0, 1), ("T1", -1, -2)):  # an arrow along each end
    place, along = 100 * shape[end, :2], shape[end, :2] - shape[before, :2]
    along *= 5 / np.linalg.norm(along)
    right.annotate("", place + along, xytext=place, arrowprops={"arrowstyle": "->", "lw": 1.5})
    right.annotate(text, place + along, xytext=(0, 4), textcoords="offset points", ha="center")
right.set(aspect="equal", xlabel="cm", ylabel="cm", xlim=(-18, 14), ylim=(-13, 15),
          xticks=(-10, 0, 10), yticks=(-10, 0, 10), title="the last rope")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()
figure.savefig(PICTURE, dpi=120)
