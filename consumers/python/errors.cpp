// SPDX-License-Identifier: Apache-2.0
#include "consumers/python/errors.hpp"

#include <cstring>
#include <exception>
#include <feedring/error.hpp>

namespace nb = nanobind;

namespace feedring::python {
namespace {

const char* name_of_kind(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kUsage: return "usage";
    case ErrorKind::kData: return "data";
    case ErrorKind::kInternal: return "internal";
    case ErrorKind::kMemory: return "memory";
    case ErrorKind::kPoolGone: return "pool_gone";
    case ErrorKind::kDeadline: return "deadline";
    case ErrorKind::kRefused: return "refused";
    case ErrorKind::kHeld: return "held";
    case ErrorKind::kForked: return "forked";
  }
  return "internal";
}

/// Sets the Python error of an Error. A file's name in a message may be no UTF-8.
void set_python_error(const Error& error) {
  const char* text = error.what();
  PyObject* words = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "surrogateescape");
  if (words == nullptr) return;
  PyObject* module = PyImport_ImportModule("feedring.errors");
  PyObject* made = module == nullptr ? nullptr
                                     : PyObject_CallMethod(module, "of_kind", "sOi", name_of_kind(error.kind()), words,
                                                           exit_code(error.kind()));
  if (made != nullptr) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made)), made);
  Py_XDECREF(made);
  Py_XDECREF(module);
  Py_DECREF(words);
}

}  // namespace

void bind_errors(nb::module_& /*module*/) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      set_python_error(error);
    }
  });
}

}  // namespace feedring::python
