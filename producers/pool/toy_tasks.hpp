// SPDX-License-Identifier: Apache-2.0
// Few-shot regression from nothing: each sample of the feed is a task, a function at a few random points.
//
// Functions and ranges are those of TorchMeta's toy data sets. Sinusoid (Finn, Abbeel, Levine, ICML 2017): a sin(x -
// p), a in [0.1, 5], p in [0, pi], x in [-5, 5]. Harmonic (Lacoste et al., 2018, arXiv 1806.07528): a1 sin(f x + p1) +
// a2 sin(2 f x
// + p2), f in [5, 7], p1 and p2 in [0, 2 pi], a1 and a2 of N(0, 1), x of N(m, 1), m in [-4, 4]. Sinusoid and line
// (Finn, Xu, Levine, 2018, arXiv 1806.02817): with equal chances a sinusoid as above or b + s x, s and b in [-3, 3]. To
// the targets, noise of N(0, noise_std).
#pragma once

#include <feedring/producer.hpp>
#include <memory>

#include "producers/config/feed_spec.hpp"

namespace feedring {

/// A task's function is a pure function of (tasks.seed, sample), so that a task is the same in every epoch; its points
/// are drawn anew each time. Writes the four tensors of read_tasks().
[[nodiscard]] std::unique_ptr<Filler> make_toy_tasks(const TasksSpec& spec);

}  // namespace feedring
