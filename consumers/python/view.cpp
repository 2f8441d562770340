// SPDX-License-Identifier: Apache-2.0
#include "consumers/python/view.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "consumers/python/dlpack.hpp"

namespace nb = nanobind;

namespace feedring::python {
namespace {

dlpack::DataType to_dlpack(Dtype dtype) noexcept {
  const auto bits = static_cast<std::uint8_t>(8 * bytes_of(dtype));
  switch (dtype) {
    case Dtype::kUint8: return {dlpack::kUint, bits, 1};
    case Dtype::kInt8:
    case Dtype::kInt16:
    case Dtype::kInt32:
    case Dtype::kInt64: return {dlpack::kInt, bits, 1};
    case Dtype::kFloat64:
    case Dtype::kFloat32:
    case Dtype::kFloat16: return {dlpack::kFloat, bits, 1};
    case Dtype::kBfloat16: return {dlpack::kBfloat, bits, 1};
    case Dtype::kBool: return {dlpack::kBool, bits, 1};
  }
  return {dlpack::kUint, bits, 1};
}

dlpack::Device to_dlpack(DeviceTag device) noexcept { return {static_cast<std::int32_t>(device.type), device.index}; }

/// The struct module's letter; nullptr: it has none.
const char* to_format(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::kUint8: return "B";
    case Dtype::kInt64: return "q";
    case Dtype::kFloat32: return "f";
    case Dtype::kFloat16: return "e";
    case Dtype::kFloat64: return "d";
    case Dtype::kInt8: return "b";
    case Dtype::kInt16: return "h";
    case Dtype::kInt32: return "i";
    case Dtype::kBool: return "?";
    case Dtype::kBfloat16: break;
  }
  return nullptr;
}

/// What a DLPack tensor points into; freed by its consumer, on any thread, with or without the GIL.
struct Handed {
  dlpack::ManagedTensor managed{};
  TensorView tensor;
  Keeper keeper;
};

void free_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, dlpack::kFresh) == 0) return;  // a consumer has it
  auto* managed = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, dlpack::kFresh));
  managed->deleter(managed);
}

struct BufferShape {
  std::array<Py_ssize_t, 5> sizes{};
  std::array<Py_ssize_t, 5> steps{};  // in bytes
};

int get_buffer(PyObject* self, Py_buffer* buffer, int flags) {
  const View& view = *nb::inst_ptr<View>(self);
  const TensorView& tensor = view.tensor();
  const char* format = to_format(tensor.dtype);
  buffer->obj = nullptr;
  if (tensor.device.type != DeviceType::kCpu) {
    PyErr_SetString(PyExc_BufferError,
                    "the batch lies on a device, which the CPU cannot read: use DLPack, as torch does");
    return -1;
  }
  if (format == nullptr) {
    PyErr_SetString(PyExc_BufferError, "bfloat16 has no form in the buffer protocol: use DLPack, as torch does");
    return -1;
  }
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "a batch is for reading: copy it to change it");
    return -1;
  }
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
    PyErr_SetString(PyExc_BufferError, "a batch can only be seen with strides");
    return -1;
  }
  auto* shape = new (std::nothrow) BufferShape;
  if (shape == nullptr) {
    PyErr_NoMemory();
    return -1;
  }
  for (std::uint32_t d = 0; d < tensor.dimensions; ++d) {
    shape->sizes[d] = static_cast<Py_ssize_t>(tensor.sizes[d]);
    shape->steps[d] = static_cast<Py_ssize_t>(tensor.steps[d] * bytes_of(tensor.dtype));
  }
  buffer->buf = tensor.data;
  buffer->len = static_cast<Py_ssize_t>(tensor.bytes);
  buffer->itemsize = bytes_of(tensor.dtype);
  buffer->readonly = 1;
  buffer->ndim = static_cast<int>(tensor.dimensions);
  buffer->format = const_cast<char*>(format);
  buffer->shape = shape->sizes.data();
  buffer->strides = shape->steps.data();
  buffer->suboffsets = nullptr;
  buffer->internal = shape;
  buffer->obj = self;
  Py_INCREF(self);
  return 0;
}

void release_buffer(PyObject* /*self*/, Py_buffer* buffer) { delete static_cast<BufferShape*>(buffer->internal); }

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                       {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                       {0, nullptr}};

/// What __dlpack__(stream=…) says for CUDA; nothing for -1, with which the consumer orders its work itself.
std::optional<StreamHandle> stream_of(const nb::object& said) {
  constexpr std::int64_t kUnordered = -1, kLegacyDefault = 1, kPerThread = 2;
  if (said.is_none()) return nullptr;
  std::int64_t number = 0;
  if (!nb::try_cast(said, number)) number = 0;
  if (number == kUnordered) return std::nullopt;
  if (number == kLegacyDefault) return nullptr;
  if (number > kPerThread) return reinterpret_cast<StreamHandle>(number);
  // The end of a batch is marked on the streams that used it, by whichever thread drops it: "the thread's" is none.
  throw nb::buffer_error(
      "this stream is none that every thread knows: give 1 for the default stream, or the handle of another");
}

nb::object to_capsule(const View& view, const nb::kwargs& wishes) {
  const dlpack::Device where = to_dlpack(view.tensor().device);
  if (wishes.contains("dl_device") && !wishes["dl_device"].is_none() &&
      !nb::make_tuple(where.type, where.id).equal(wishes["dl_device"])) {
    throw nb::buffer_error("a batch stays on its device: copy it with the array library");
  }
  if (view.tensor().device.type != DeviceType::kCpu) {
    const nb::object said = wishes.contains("stream") ? nb::object(wishes["stream"]) : nb::none();
    if (const auto stream = stream_of(said)) view.use_on(*stream);
  }
  return view.capsule();
}

nb::tuple to_tuple(std::span<const std::int64_t> numbers) {
  nb::list list;
  for (const std::int64_t number : numbers) list.append(number);
  return nb::tuple(list);
}

}  // namespace

TensorView first_rows(TensorView tensor, std::uint32_t rows) noexcept {
  const auto all = static_cast<std::uint64_t>(tensor.sizes[0]);
  tensor.bytes = tensor.bytes / all * rows;
  tensor.sizes[0] = rows;
  return tensor;
}

void View::use_on(StreamHandle stream) const {
  if (batch_ != nullptr && tensor_.device.type != DeviceType::kCpu) batch_->use_on(stream);
}

nb::object View::capsule() const {
  auto handed = std::make_unique<Handed>();
  handed->tensor = tensor_;
  handed->keeper = keeper_;
  handed->managed = {{tensor_.data, to_dlpack(tensor_.device), static_cast<std::int32_t>(tensor_.dimensions),
                      to_dlpack(tensor_.dtype), handed->tensor.sizes.data(), handed->tensor.steps.data(), 0},
                     handed.get(),
                     [](dlpack::ManagedTensor* self) { delete static_cast<Handed*>(self->context); }};
  PyObject* capsule = PyCapsule_New(&handed->managed, dlpack::kFresh, free_capsule);
  if (capsule == nullptr) throw nb::python_error();
  (void)handed.release();  // the capsule has it
  return nb::steal(capsule);
}

void bind_view(nb::module_& module) {
  nb::class_<View>(
      module, "View", nb::type_slots(slots),
      "One tensor of a batch, without a copy: give it to numpy.asarray() or torch.from_dlpack(). Its memory "
      "stays in use until this object and everything made from it are gone. For reading.")
      .def(
          "__dlpack__", &to_capsule,
          "A DLPack capsule over the same memory. On a device `stream` (a handle, or DLPack's numbers) is made to wait "
          "until it is filled, and the memory is not used again before what that stream then does with it.")
      .def(
          "__dlpack_device__",
          [](const View& self) {
            const dlpack::Device where = to_dlpack(self.tensor().device);
            return nb::make_tuple(where.type, where.id);
          },
          "DLPack's type and number of the device: (1, 0) is main memory, (2, n) is cuda:n.")
      .def_prop_ro("shape", [](const View& self) { return to_tuple(self.tensor().shape()); })
      .def_prop_ro(
          "strides", [](const View& self) { return to_tuple(self.tensor().strides()); }, "In elements.")
      .def_prop_ro(
          "dtype", [](const View& self) { return name_of(self.tensor().dtype); },
          "torch's name of the element type, such as 'uint8' or 'float32'.")
      .def_prop_ro("nbytes", [](const View& self) { return self.tensor().bytes; })
      .def_prop_ro(
          "data_ptr", [](const View& self) { return reinterpret_cast<std::uintptr_t>(self.tensor().data); },
          "Address of the first element.");
}

}  // namespace feedring::python
