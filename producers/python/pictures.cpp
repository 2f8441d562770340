// SPDX-License-Identifier: Apache-2.0
#include "producers/python/pictures.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <feedring/decode.hpp>
#include <memory>
#include <span>
#include <string>

namespace nb = nanobind;

namespace feedring::python {
namespace {

/// (a bytearray of the pixels, torch's name of their type, their shape, whether that is (3, height, width)).
nb::tuple decode_bytes(const PictureSpec& how, const nb::object& file, std::uint64_t seed, std::uint64_t epoch,
                       std::uint64_t ordinal, std::uint32_t number) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(file.ptr(), &buffer, PyBUF_SIMPLE) != 0) nb::raise_python_error();
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&buffer, &PyBuffer_Release);
  Picture picture;
  {
    const nb::gil_scoped_release others_run;
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(buffer.buf),
                                           static_cast<std::size_t>(buffer.len));
    picture = decode(bytes, how, {seed, epoch, ordinal, number});
  }
  PyObject* pixels = PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(picture.bytes.data()),
                                                   static_cast<Py_ssize_t>(picture.bytes.size()));
  if (pixels == nullptr) nb::raise_python_error();
  const std::string dtype(name_of(picture.dtype));
  return nb::make_tuple(nb::steal(pixels), dtype, nb::make_tuple(picture.shape[0], picture.shape[1], picture.shape[2]),
                        picture.planar);
}

}  // namespace

// An Error becomes Python's by what feedring._core registered, which the package imports first.
void bind_pictures(nb::module_& module) {
  nb::class_<PictureSpec>(module, "PictureSpec", "How files become pictures, as a feed of a configuration says.")
      .def_static(
          "of_feed",
          [](const std::string& configuration, const std::string& feed, const std::string& view) {
            return PictureSpec::of_feed(configuration, feed, view);
          },
          nb::arg("configuration"), nb::arg("feed") = "", nb::arg("view") = "")
      .def(
          "decode", &decode_bytes, nb::arg("file"), nb::arg("seed") = 0, nb::arg("epoch") = 0, nb::arg("ordinal") = 0,
          nb::arg("number") = 0,
          "The picture in the bytes of a file: (a bytearray, its element type, its shape, whether it is planar). Other "
          "threads run meanwhile.");
}

}  // namespace feedring::python
