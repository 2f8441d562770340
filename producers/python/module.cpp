// SPDX-License-Identifier: Apache-2.0
// feedring._producer: the life of a producer whose samples a Python function makes. Links no torch and no NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <feedring/producer.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "producers/python/episodes.hpp"
#include "producers/python/pictures.hpp"

namespace nb = nanobind;

namespace feedring::python {
namespace {

/// The exception in one line, as Python's own last line of a traceback has it.
std::string in_words(nb::python_error& error) {
  const nb::str kind(error.type().attr("__name__"));
  const nb::str text(error.value());
  return std::string(kind.c_str()) + (nb::len(text) == 0 ? "" : ": ") + text.c_str();
}

/// The place of a tensor with a transform, while a sample is being made.
class PicturePlace {
 public:
  explicit PicturePlace(const SlotTensor& tensor) : tensor_(&tensor) {}

  /// `pixels`: contiguous bytes of an RGB picture.
  void put(const nb::object& pixels, std::uint32_t height, std::uint32_t width) {
    if (tensor_ == nullptr) throw std::runtime_error("this sample is over: its place belongs to the rank");
    Py_buffer buffer;
    if (PyObject_GetBuffer(pixels.ptr(), &buffer, PyBUF_SIMPLE) != 0) nb::raise_python_error();
    const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&buffer, &PyBuffer_Release);
    if (static_cast<std::uint64_t>(buffer.len) != std::uint64_t{3} * height * width)
      throw std::runtime_error("a picture of " + std::to_string(width) + " x " + std::to_string(height) +
                               " pixels has not " + std::to_string(buffer.len) + " bytes");
    tensor_->put({static_cast<const std::uint8_t*>(buffer.buf), height, width, std::size_t{3} * width});
  }
  void end() noexcept { tensor_ = nullptr; }

 private:
  const SlotTensor* tensor_;
};

/// Calls a function of (sample, epoch, ordinal, random, list of places: writable memoryviews and PicturePlaces).
class PythonFiller : public Filler {
 public:
  explicit PythonFiller(nb::object fill) : fill_(std::move(fill)) {}
  ~PythonFiller() override {
    const nb::gil_scoped_acquire interpreter;
    fill_.reset();
  }

  void fill(const SampleRequest& request, std::span<const SlotTensor> out) override {
    const nb::gil_scoped_acquire interpreter;
    try {
      nb::list views;
      for (const SlotTensor& tensor : out) {
        if (!tensor.spec.transform.empty()) {
          views.append(nb::cast(PicturePlace(tensor)));
          continue;
        }
        PyObject* view = PyMemoryView_FromMemory(reinterpret_cast<char*>(tensor.bytes.data()),
                                                 static_cast<Py_ssize_t>(tensor.bytes.size()), PyBUF_WRITE);
        if (view == nullptr) nb::raise_python_error();
        views.append(nb::steal(view));
      }
      fill_(request.sample, request.epoch, request.ordinal, request.random, views);
      for (nb::handle view : views) {
        if (nb::isinstance<PicturePlace>(view)) nb::cast<PicturePlace&>(view).end();
      }
    } catch (nb::python_error& error) {
      throw std::runtime_error(in_words(error));
    }
  }

 private:
  nb::object fill_;
};

std::unique_ptr<Filler> make_filler(const nb::object& make, const OwnFeed& feed) {
  const nb::gil_scoped_acquire interpreter;
  try {
    const nb::bytes attachment(feed.attachment.data(), feed.attachment.size());
    return std::make_unique<PythonFiller>(make(feed.name, feed.samples, feed.options, attachment));
  } catch (nb::python_error& error) {
    const std::string words = in_words(error);
    error.restore();
    PyErr_Print();  // where in the user's code
    throw std::runtime_error(words);
  }
}

int run(std::vector<std::string> arguments, const nb::object& make) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const nb::gil_scoped_release others_run;
  return run_producer(static_cast<int>(argv.size()), argv.data(),
                      [&make](const OwnFeed& feed) { return make_filler(make, feed); });
}

}  // namespace

NB_MODULE(_producer, module) {
  module.doc() =
      "The life of a producer whose samples Python makes, and pictures without a pool. Programs use "
      "feedring.DatasetLoader and feedring.decode.";
  bind_pictures(module);
  bind_episodes(module);
  nb::class_<PicturePlace>(module, "PicturePlace", "Where a picture goes through its tensor's transform into the slot.")
      .def("put", &PicturePlace::put, nb::arg("pixels"), nb::arg("height"), nb::arg("width"),
           "`pixels`: height * width * 3 contiguous bytes, interleaved RGB; read before this returns. Raises "
           "RuntimeError for a picture that does not fit the transform.");
  module.def(
      "run", &run, nb::arg("arguments"), nb::arg("make"),
      "run_producer() of <feedring/producer.hpp>. `arguments`: the program's, with its name. `make`: called with "
      "(feed name, samples, options as JSON, attachment) for each feed with own samples; gives the function that "
      "is called with (sample, epoch, ordinal, random bits, places) for each sample: a writable memoryview for each "
      "tensor, "
      "a PicturePlace where it has a transform.");
}

}  // namespace feedring::python
