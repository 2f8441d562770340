// SPDX-License-Identifier: Apache-2.0
#include "producers/python/episodes.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <vector>

#include "producers/pool/episode_pictures.hpp"

namespace nb = nanobind;

namespace feedring::python {
namespace {

// Of the one row, without its axis.
nb::tuple row_of(const contract::TensorEntry& tensor) {
  nb::list shape;
  nb::list strides;
  for (std::uint32_t axis = 1; axis < tensor.dimensions; ++axis) {
    shape.append(tensor.shape[axis]);
    strides.append(tensor.strides[axis]);
  }
  const std::string dtype(name_of(static_cast<Dtype>(tensor.dtype)));
  return nb::make_tuple(tensor.name, dtype, nb::tuple(shape), nb::tuple(strides), tensor.offset);
}

/// (a bytearray, for each tensor its (name, torch's name of its type, shape, strides in elements, offset in bytes)).
nb::tuple make_episode(EpisodePictures& pictures, std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal) {
  std::vector<std::byte> made;
  {
    const nb::gil_scoped_release others_run;
    made = pictures.make({seed, epoch, ordinal});
  }
  PyObject* payload =
      PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(made.data()), static_cast<Py_ssize_t>(made.size()));
  if (payload == nullptr) nb::raise_python_error();
  nb::list tensors;
  const contract::RingShape& shape = pictures.shape();
  for (std::uint32_t i = 0; i < shape.tensors; ++i) tensors.append(row_of(shape.tensor[i]));
  return nb::make_tuple(nb::steal(payload), tensors);
}

}  // namespace

void bind_episodes(nb::module_& module) {
  nb::class_<EpisodePictures>(module, "EpisodePictures", "Episodes of a feed of a running pool, with their pixels.")
      .def(nb::init<const std::string&, const std::string&>(), nb::arg("pool"), nb::arg("feed"),
           nb::call_guard<nb::gil_scoped_release>(), "`pool`: where it listens.")
      .def("make", &make_episode, nb::arg("seed"), nb::arg("epoch"), nb::arg("ordinal"),
           "The row that a batch has for it: (a bytearray, for each tensor (name, element type, shape, strides in "
           "elements, offset in bytes)). `ordinal` is one of the epoch's. Other threads run meanwhile.");
}

}  // namespace feedring::python
