// SPDX-License-Identifier: Apache-2.0
#include "producers/hdf5/file.hpp"

#include <stdexcept>

#include "producers/pack/hdf5_pipe.hpp"

namespace feedring::hdf5 {
namespace {

constexpr int kDeepest = 8;             // groups in groups; they may hold each other
constexpr std::size_t kMost = 1 << 18;  // data sets
constexpr std::size_t kLongestName = 4096;

/// The names of a group's members, and whether each is linked there itself.
struct Links {
  std::vector<std::string> names;
  bool too_many = false;
};

extern "C" herr_t note_link(hid_t /*group*/, const char* name, const H5L_info_t* info, void* links) {
  auto& found = *static_cast<Links*>(links);
  if (found.names.size() == kMost) {
    found.too_many = true;
    return 1;
  }
  if (info->type == H5L_TYPE_HARD) found.names.emplace_back(name);
  return 0;
}

/// Whether all of the data lies in this file: others must not be read because this one names them.
bool is_inside(hid_t dataset) {
  const Handle plan(H5Dget_create_plist(dataset), H5Pclose);
  if (!plan) return false;
  const H5D_layout_t layout = H5Pget_layout(plan.get());
  return layout != H5D_VIRTUAL && layout >= 0 && H5Pget_external_count(plan.get()) == 0;
}

bool is_byte(hid_t type) {
  return H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 1 && H5Tget_sign(type) == H5T_SGN_NONE;
}

/// A text attribute; empty where there is none.
std::string text_of(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return "";
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(attribute ? H5Aget_type(attribute.get()) : -1, H5Tclose);
  const Handle space(attribute ? H5Aget_space(attribute.get()) : -1, H5Sclose);
  if (!type || !space || H5Tget_class(type.get()) != H5T_STRING) return "";
  if (H5Sget_simple_extent_npoints(space.get()) != 1) return "";
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute.get(), type.get(), static_cast<void*>(&text)) < 0 || text == nullptr) return "";
    std::string kept(text);
    H5free_memory(text);
    return kept.size() > kLongestName ? "" : kept;
  }
  const std::size_t bytes = H5Tget_size(type.get());
  if (bytes == 0 || bytes > kLongestName) return "";
  std::string kept(bytes, '\0');
  if (H5Aread(attribute.get(), type.get(), kept.data()) < 0) return "";
  return kept.substr(0, std::min(kept.find('\0'), kept.size()));
}

}  // namespace

File::File(const std::string& path) {
  file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file_) throw std::runtime_error("it is no HDF5 file, or a damaged one");
  const Handle root(demand(H5Gopen2(file_.get(), "/", H5P_DEFAULT), "it is damaged"), H5Gclose);
  list(root.get(), "", 0);
}

void File::list(hid_t group, const std::string& before, int depth) {
  Links links;
  hsize_t at = 0;
  demand(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, note_link, &links), "its group " + before + " is damaged");
  if (links.too_many) throw std::runtime_error("it has more members than any data set");
  for (const std::string& link : links.names) {
    const std::string name = before + link;
    if (name.size() > kLongestName) throw std::runtime_error("it has names without an end");
    H5O_info_t info{};
    demand(H5Oget_info_by_name2(group, link.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), name + " is damaged");
    if (info.type == H5O_TYPE_DATASET) add(group, link, name);
    if (info.type != H5O_TYPE_GROUP) continue;
    if (depth == kDeepest) throw std::runtime_error("its groups are nested too deeply");
    const Handle inner(demand(H5Gopen2(group, link.c_str(), H5P_DEFAULT), name + " is damaged"), H5Gclose);
    list(inner.get(), name + '/', depth + 1);
  }
}

void File::add(hid_t group, const std::string& link, const std::string& name) {
  if (datasets_.size() == kMost) throw std::runtime_error("it has more data sets than can be");
  Dataset dataset;
  dataset.name = name;
  dataset.handle = Handle(demand(H5Dopen2(group, link.c_str(), H5P_DEFAULT), name + " is damaged"), H5Dclose);
  const hid_t id = dataset.handle.get();
  const Handle space(demand(H5Dget_space(id), name + " is damaged"), H5Sclose);
  const Handle type(demand(H5Dget_type(id), name + " is damaged"), H5Tclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> shape(rank > 0 ? static_cast<std::size_t>(rank) : 0);
  if (rank > 0) demand(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr), name + " is damaged");
  if (rank > 0) {
    dataset.rows = shape[0];
    dataset.shape.assign(shape.begin() + 1, shape.end());
  }
  if (rank > 0 && is_inside(id)) {
    dataset.superclass = text_of(id, "label_general");
    if (rank == 1 && H5Tget_class(type.get()) == H5T_VLEN) {
      const Handle of(H5Tget_super(type.get()), H5Tclose);
      if (of && is_byte(of.get())) dataset.kind = Kind::kFiles;
    } else if (rank > 1 && is_byte(type.get())) {
      dataset.row_bytes = 1;
      for (const std::uint64_t length : dataset.shape) {
        if (length == 0 || dataset.row_bytes > pack::kLargestFrame / length)
          throw std::runtime_error(name + " has pictures of no size, or above 256 MiB");
        dataset.row_bytes *= length;
      }
      dataset.kind = Kind::kPixels;
    }
  }
  datasets_.push_back(std::move(dataset));
}

void File::read(std::uint64_t number, std::uint64_t row, std::string& bytes) const {
  const Dataset& dataset = datasets_.at(number);
  const std::string what = "row " + std::to_string(row) + " of " + dataset.name + " cannot be read: it is damaged";
  if (row >= dataset.rows || dataset.kind == Kind::kOther) throw std::runtime_error(what);
  const Handle space(demand(H5Dget_space(dataset.handle.get()), what), H5Sclose);
  std::vector<hsize_t> start(dataset.shape.size() + 1, 0), count(1, 1);
  start[0] = row;
  count.insert(count.end(), dataset.shape.begin(), dataset.shape.end());
  demand(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), what);
  const Handle one(demand(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), what), H5Sclose);
  if (dataset.kind == Kind::kPixels) {
    bytes.resize(dataset.row_bytes);
    demand(H5Dread(dataset.handle.get(), H5T_NATIVE_UINT8, one.get(), space.get(), H5P_DEFAULT, bytes.data()), what);
    return;
  }
  const Handle type(demand(H5Tvlen_create(H5T_NATIVE_UINT8), what), H5Tclose);
  hvl_t read{};
  demand(H5Dread(dataset.handle.get(), type.get(), one.get(), space.get(), H5P_DEFAULT, &read), what);
  const bool fits = read.len <= pack::kLargestFrame;
  if (fits) bytes.assign(static_cast<const char*>(read.p), read.len);
  H5Dvlen_reclaim(type.get(), one.get(), H5P_DEFAULT, &read);
  if (!fits) throw std::runtime_error("row " + std::to_string(row) + " of " + dataset.name + " has more than 256 MiB");
}

}  // namespace feedring::hdf5
