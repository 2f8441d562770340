// SPDX-License-Identifier: Apache-2.0
// A classifier small enough to learn letters in a minute on one core.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace feedring::demo {

/// Three strided convolutions and a linear layer over a 6 x 6 summary, so that any picture from about 48 pixels a side
/// works. Group norms instead of batch norms: they keep no running statistics that the ranks would have to agree on.
/// The norm of the input itself makes a picture's own colours and contrast count for nothing.
struct NetImpl : torch::nn::Module {
  explicit NetImpl(std::int64_t classes) : layers(register_module("layers", torch::nn::Sequential())) {
    layers->push_back(torch::nn::GroupNorm(torch::nn::GroupNormOptions(3, 3).affine(false)));
    add_convolution(3, 24, 5);
    add_convolution(24, 48, 3);
    add_convolution(48, 96, 3);
    layers->push_back(torch::nn::AdaptiveAvgPool2d(6));
    layers->push_back(torch::nn::Flatten());
    layers->push_back(torch::nn::Linear(96 * 6 * 6, classes));
  }
  at::Tensor forward(const at::Tensor& images) { return layers->forward(images); }

  torch::nn::Sequential layers;

 private:
  void add_convolution(std::int64_t from, std::int64_t to, std::int64_t side) {
    layers->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(from, to, side).stride(2).padding(side / 2)));
    layers->push_back(torch::nn::GroupNorm(8, to));
    layers->push_back(torch::nn::ReLU());
  }
};
TORCH_MODULE(Net);

/// Bytes of pixels as the network wants them. A copy, after which the images' slot can go.
inline at::Tensor to_input(const at::Tensor& images) { return images.to(at::kFloat); }

/// All parameters' gradients as one tensor, so that averaging them is one message a step.
inline at::Tensor flat_gradients(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> pieces;
  for (const auto& parameter : parameters) pieces.push_back(parameter.grad().reshape({-1}));
  return at::cat(pieces);
}

inline void set_gradients(const std::vector<at::Tensor>& parameters, const at::Tensor& flat) {
  std::int64_t at = 0;
  for (const auto& parameter : parameters) {
    parameter.grad().copy_(flat.narrow(0, at, parameter.numel()).view_as(parameter));
    at += parameter.numel();
  }
}

}  // namespace feedring::demo
