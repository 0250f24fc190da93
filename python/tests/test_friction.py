"""Friction problems from NumPy arrays."""

import numpy as np
import pytest

import filum


def fibres(contacts=60, seed=3):
    return filum.Generated(filum.FIL_GENERATE_FIBRES, contact_count=contacts, seed=seed)


def dense(seed=1, contacts=12, dofs=60, mu=0.5):
    """W = H^T M^-1 H with M diagonal, b: a problem that has a solution (dofs > 3 contacts)."""
    random = np.random.default_rng(seed)
    H = random.normal(size=(dofs, 3 * contacts))
    mass = random.uniform(1, 10, dofs)
    W = H.T @ (H / mass[:, None])
    b = random.normal(size=3 * contacts)
    return H, mass, W, b, np.full(contacts, mu)


def check_law(r, u, mu, tolerance):
    """Coulomb's law, contact by contact: nothing of the library."""
    r, u = r.reshape(-1, 3), u.reshape(-1, 3)
    scale = np.abs(r).max() + np.abs(u).max()
    slip = np.linalg.norm(u[:, 1:], axis=1)
    grip = np.linalg.norm(r[:, 1:], axis=1)
    assert np.all(grip <= mu * r[:, 0] + tolerance * scale)  # inside the cone
    assert np.all(u[:, 0] >= -tolerance * scale)  # nothing penetrates
    assert np.all(np.minimum(np.abs(r[:, 0]), np.abs(u[:, 0])) <= tolerance * scale)
    sliding = (r[:, 0] > 1e-3 * scale) & (slip > 1e-3 * scale)
    along = (r[:, 1:] * u[:, 1:]).sum(1)
    assert np.allclose(along[sliding], -(grip * slip)[sliding], atol=tolerance * scale**2)
    assert np.allclose(grip[sliding], (mu * r[:, 0])[sliding], atol=tolerance * scale)
    return sliding


def test_a_block_slides_as_in_the_example_in_c():
    problem = filum.problem_from_dense(np.eye(3) / 2.0, [-0.981, 3.0, 0.0], 0.4)
    r, u, v, info = filum.friction_solve(problem)
    assert info.outcome == filum.FIL_CONVERGED and v is None
    assert np.allclose(r, (1.962, -0.7848, 0), atol=1e-9)
    assert np.allclose(u, (0, 2.6076, 0), atol=1e-9)


def test_a_problem_is_solved_to_its_residual_and_obeys_the_law():
    _, _, W, b, mu = dense()
    solution = filum.friction_solve(filum.problem_from_dense(W, b, mu), tolerance=1e-12)
    assert solution.info.outcome == filum.FIL_CONVERGED
    assert solution.info.residual.scaled <= 1e-12
    assert np.allclose(solution.u, W @ solution.r + b, atol=1e-12)
    sliding = check_law(solution.r, solution.u, mu, 1e-9)
    assert sliding.sum() >= 1


def test_hard_fibres_are_solved_and_keep_to_the_cone():
    made = fibres()
    solution = filum.friction_solve(made.problem, tolerance=1e-10, thread_count=1)
    assert solution.info.outcome == filum.FIL_CONVERGED
    residual, u = filum.friction_residual(made.problem, solution.r)
    assert residual.scaled <= 1e-10 and np.allclose(u, solution.u, atol=1e-9)
    check_law(solution.r, solution.u, made.problem.mu, 1e-7)


def test_a_lawful_pair_has_no_residual():
    made = fibres()
    residual, u = filum.friction_residual(made.problem, made.r)
    assert residual.scaled < 1e-9
    assert np.allclose(u, made.u, atol=1e-9 * np.abs(made.u).max())


def test_the_four_forms_have_the_same_solution():
    H, mass, W, b, mu = dense()
    n = len(mu)
    want = filum.friction_solve(filum.problem_from_dense(W, b, mu), tolerance=1e-12).u
    blocks = W.reshape(n, 3, n, 3).swapaxes(1, 2)
    by_rows = filum.problem_from_blocks(np.arange(n + 1) * n, np.tile(np.arange(n), n), blocks, b,
                                        mu)
    f, w = np.zeros(len(mass)), b
    M = (np.arange(len(mass) + 1), np.arange(len(mass)), mass)
    columns = (np.arange(3 * n + 1) * len(mass), np.tile(np.arange(len(mass)), 3 * n), H.T)
    by_bodies = filum.problem_from_global(M, columns, f, w, mu)
    diagonal = [blocks[i, i] for i in range(n)]
    by_product = filum.problem_from_product(lambda r: W @ r, diagonal, b, mu)
    for problem, tolerance in ((by_rows, 1e-12), (by_bodies, 1e-12), (by_product, 1e-6)):
        solution = filum.friction_solve(problem, tolerance=tolerance)
        assert solution.info.outcome == filum.FIL_CONVERGED
        assert np.allclose(solution.u, want, atol=max(1e-8, 100 * tolerance))
    solution = filum.friction_solve(by_bodies, tolerance=1e-12)
    assert np.allclose(H.T @ solution.v + w, solution.u, atol=1e-9)


def test_not_converged_is_a_result():
    solution = filum.friction_solve(fibres(200).problem, solver=filum.FIL_SOLVER_GAUSS_SEIDEL,
                                    max_iterations=2, tolerance=1e-12)
    assert solution.info.outcome == filum.FIL_LIMIT
    assert np.all(np.isfinite(solution.r)) and solution.info.residual.scaled > 1e-12


def test_a_function_sees_the_iterations_and_stops_them():
    seen = []

    def watch(progress):
        seen.append((progress.iteration, progress.scaled, progress.phase))
        return len(seen) < 3

    solution = filum.friction_solve(fibres(200).problem, solver=filum.FIL_SOLVER_GAUSS_SEIDEL,
                                    tolerance=1e-14, on_iteration=watch, thread_count=1)
    assert solution.info.outcome == filum.FIL_LIMIT and seen[0][2] == "gauss-seidel"


def test_the_answer_is_a_start_for_the_next_solve_and_a_workspace_is_used_again():
    made, workspace = fibres(), filum.FrictionWorkspace()
    first = filum.friction_solve(made.problem, workspace=workspace, tolerance=1e-10)
    size = workspace._memory.bytes
    again = filum.friction_solve(made.problem, workspace=workspace, r=first.r, tolerance=1e-10)
    assert again.info.iterations <= first.info.iterations
    assert workspace._memory.bytes == size > 0
    workspace.destroy()
    with pytest.raises(filum.Error, match="workspace was destroyed"):
        filum.friction_solve(made.problem, workspace=workspace)


def test_arrays_that_are_too_short_are_refused_before_the_library_reads_them():
    with pytest.raises(filum.Error, match="b holds 5 numbers; it must hold 6"):
        filum.problem_from_dense(np.eye(6), np.zeros(5), 0.3)
    with pytest.raises(filum.Error, match="blocks.value holds 9 numbers; it must hold 18"):
        filum.problem_from_blocks([0, 1, 2], [0, 1], np.eye(3), np.zeros(6), 0.3)
    with pytest.raises(filum.Error, match="blocks.column must be 0 to 1"):
        filum.problem_from_blocks([0, 1, 2], [0, 9], np.zeros((2, 3, 3)), np.zeros(6), 0.3)
    with pytest.raises(filum.Error, match="never fall"):
        filum.problem_from_blocks([0, 2, 1], [0, 1], np.zeros((2, 3, 3)), np.zeros(6), 0.3)
    with pytest.raises(filum.Error, match=r"mu holds 1 numbers; it must hold block_count \(2\)"):
        problem = filum.problem_from_dense(np.eye(6), np.zeros(6), 0.3)
        problem.mu = [0.3]
        filum.friction_solve(problem)
    with pytest.raises(filum.Error, match="W has the shape"):
        filum.problem_from_dense(np.zeros((4, 5)), np.zeros(4), 0.3)
    with pytest.raises(filum.Error, match="r holds 2 numbers"):
        filum.friction_residual(filum.problem_from_dense(np.eye(3), np.zeros(3), 0.3), [1, 2])


def test_the_library_names_what_is_wrong_with_a_problem():
    with pytest.raises(filum.Error, match="mu"):
        filum.friction_check(filum.problem_from_dense(np.eye(3), np.zeros(3), -1.0))
    with pytest.raises(filum.Error, match="b"):
        filum.friction_solve(filum.problem_from_dense(np.eye(3), [np.nan, 0, 0], 0.3))


def test_an_exception_in_the_product_is_raised():
    def broken(_):
        raise RuntimeError("no product today")

    problem = filum.problem_from_product(broken, np.eye(3)[None], [-1.0, 1, 0], 0.3)
    with pytest.raises(RuntimeError, match="no product today"):
        filum.friction_solve(problem, tolerance=1e-6)


def test_blocks_of_other_kinds_and_sizes():
    kinds = [filum.FIL_BLOCK_EQUALITY, filum.FIL_BLOCK_UNILATERAL]
    problem = filum.problem_from_blocks([0, 1, 2], [0, 1], [2.0, 0, 0, 2.0, 4.0], [1.0, -2.0, -1.0],
                                        None, block_sizes=[2, 1], kinds=kinds)
    solution = filum.friction_solve(problem)
    assert np.allclose(solution.r, (-0.5, 1.0, 0.25))


def test_one_contact_alone():
    outcome, r = filum.local_solve(np.eye(3), [-1.0, 2.0, 0.0], 0.5)
    assert outcome == filum.FIL_CONVERGED and np.allclose(r, (1, -0.5, 0))
    with pytest.raises(filum.Error, match="solver is 99; it must be .hybrid., "):
        filum.local_solve(np.eye(3), [-1.0, 2.0, 0.0], 0.5, solver=99)


def test_files_of_fclib_are_written_and_read(tmp_path):
    _, _, W, b, mu = dense()
    problem = filum.problem_from_dense(W, b, mu)
    solution = filum.friction_solve(problem)
    path = tmp_path / "problem.hdf5"
    filum.fclib_write(path, problem, solution.r, solution.u, title="from Python")
    with pytest.raises(filum.Error, match="exists"):
        filum.fclib_write(path, problem)
    file = filum.Fclib(path)
    assert file.title == "from Python" and file.contact_count == len(mu)
    again = filum.friction_solve(file.problem)
    assert np.allclose(again.u, solution.u, atol=1e-6)


def test_a_curve_of_constant_curvature_is_a_circle():
    s = np.linspace(0, 2 * np.pi, 50)
    poses, info = filum.curve_evaluate(s, coefficients=[[0, 0, 1.0]], length=2 * np.pi)
    assert np.allclose(info.end.position, 0, atol=1e-14)
    assert np.allclose(poses["position"][:, 0], np.sin(s), atol=1e-14)
    with pytest.raises(filum.Error, match="coefficients hold 3 numbers"):
        filum.curve_evaluate(s, degree=1, coefficients=[[0, 0, 1.0]], length=2 * np.pi)
