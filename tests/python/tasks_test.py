# SPDX-License-Identifier: Apache-2.0
# Regression tasks: their functions and ranges are TorchMeta's, found out from the points alone.
import numpy as np
import pytest

import feedring


@pytest.fixture
def tasks():
    made = []

    def make(kind, *positional, **arguments):
        loader = feedring.TaskLoader(kind, *positional, **{"num_workers": 1, "timeout": 30, "backend": "numpy", "dtype": "float64",
                                                           "batch_size": 16, "num_tasks": 64, **arguments})
        made.append(loader)
        return loader

    yield make
    for loader in made:
        loader.close()


def all_of(loader):
    """x and y of all points of each task of an epoch."""
    for batch in loader:
        x = np.concatenate([batch["train"][0], batch["test"][0]], 1)
        y = np.concatenate([batch["train"][1], batch["test"][1]], 1)
        yield from zip(x[..., 0].copy(), y[..., 0].copy())


def fit(columns, y):
    """(coefficients, largest residual) of the least squares."""
    matrix = np.stack(columns, 1)
    found = np.linalg.lstsq(matrix, y, rcond=None)[0]
    return found, np.abs(matrix @ found - y).max()


def test_sinusoids_have_the_ranges_of_torchmeta(tasks):
    loader = tasks("sinusoid", 5, 15)
    assert len(loader) == 4
    amplitudes, phases, points = [], [], []
    for x, y in all_of(loader):
        (sine, cosine), error = fit([np.sin(x), np.cos(x)], y)  # a sin(x - p) = a cos p sin x - a sin p cos x
        assert error < 1e-9
        amplitudes.append(np.hypot(sine, cosine))
        phases.append(np.arctan2(-cosine, sine))
        points.extend(x)
    assert 0.1 <= min(amplitudes) < 0.6 and 4.5 < max(amplitudes) <= 5
    assert 0 <= min(phases) < 0.3 and np.pi - 0.3 < max(phases) <= np.pi
    assert -5 <= min(points) < -4.9 and 4.9 < max(points) <= 5
    assert abs(np.mean(points)) < 0.5


def test_a_task_keeps_its_function_and_gets_new_points(tasks):
    loader = tasks("sinusoid", 5, shuffle=False)
    epochs = [list(all_of(loader)) for _ in range(2)]
    for (x, y), (other_x, other_y) in zip(*epochs):
        coefficients, _ = fit([np.sin(x), np.cos(x)], y)
        assert not np.isin(x, other_x).any()
        assert np.abs(np.stack([np.sin(other_x), np.cos(other_x)], 1) @ coefficients - other_y).max() < 1e-9
    other = [list(all_of(tasks("sinusoid", 5, shuffle=False, feed="val", tasks_seed=1)))][0]
    assert np.abs(fit([np.sin(other[0][0]), np.cos(other[0][0])], other[0][1])[0] - coefficients).max() > 1e-3


def test_sinusoids_and_lines_come_equally_often(tasks):
    lines, slopes = 0, []
    for x, y in all_of(tasks("sinusoid_and_line", 5, 15, num_tasks=256)):
        sinusoid_error = fit([np.sin(x), np.cos(x)], y)[1]
        (intercept, slope), line_error = fit([np.ones_like(x), x], y)
        assert min(sinusoid_error, line_error) < 1e-9
        if line_error < 1e-9:
            lines += 1
            slopes += [slope, intercept]
    assert 96 < lines < 160  # of 256, four standard deviations
    assert -3 <= min(slopes) < -2.8 and 2.8 < max(slopes) <= 3


def test_harmonics_are_two_sines_of_which_one_is_twice_as_fast(tasks):
    centres, amplitudes = [], []
    for x, y in all_of(tasks("harmonic", 40, num_tasks=32)):
        def at(f):
            return fit([np.sin(f * x), np.cos(f * x), np.sin(2 * f * x), np.cos(2 * f * x)], y)

        grid = np.linspace(5, 7, 2001)
        best = grid[np.argmin([at(f)[1] for f in grid])]
        for width in 10.0 ** -np.arange(3, 12):
            near = best + np.linspace(-width, width, 21)
            best = near[np.argmin([at(f)[1] for f in near])]
        found, error = at(best)
        assert error < 1e-6 and 5 <= best <= 7
        centres.append(x.mean())
        amplitudes += [np.hypot(*found[:2]), np.hypot(*found[2:])]
        assert 0.6 < x.std() < 1.5
    assert min(centres) < -2 and max(centres) > 2 and -4.6 < min(centres) and max(centres) < 4.6
    assert 0.6 < np.sqrt(np.mean(np.square(amplitudes))) < 1.4  # of N(0, 1)


def test_noise_has_its_standard_deviation(tasks):
    residuals = []
    for x, y in all_of(tasks("sinusoid", 100, noise_std=0.5)):
        coefficients, _ = fit([np.sin(x), np.cos(x)], y)
        residuals.extend(y - np.stack([np.sin(x), np.cos(x)], 1) @ coefficients)
    assert 0.47 < np.std(residuals) < 0.53


def test_numbers_and_shapes(tasks):
    batch = next(iter(feedring.sinusoid(5, test_shots=3, num_workers=1, backend="numpy", batch_size=4, num_tasks=8)))
    assert [array.shape for part in batch.values() for array in part] == [(4, 5, 1), (4, 5, 1), (4, 3, 1), (4, 3, 1)]
    assert batch["train"][0].dtype == np.float32
    assert len(tasks("harmonic", 2, num_tasks=None, batch_size=5000)) == 1
    for arguments, words in (({"dtype": "int8"}, "neither 'float32' nor 'float64'"), ({"transform": []}, "no meaning"),
                             ({"shots": 0}, "no whole number from 1 on")):
        with pytest.raises(feedring.UsageError, match=words):
            feedring.TaskLoader(**{"kind": "sinusoid", "shots": 1, **arguments})
    with pytest.raises(feedring.UsageError, match="none of 'sinusoid'"):
        feedring.TaskLoader("cosine", 1)
