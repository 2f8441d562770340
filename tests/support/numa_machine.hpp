// SPDX-License-Identifier: Apache-2.0
// A machine of two NUMA nodes, one core each, told to hwloc by its own XML format (hwloc's manual, "Importing and
// exporting topologies"): what a process and its children see while the object lives. Cores 0 and 1 are the real ones.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedring::test {

/// An environment variable, set until the end of the scope.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) before_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class NumaMachine {
 public:
  /// A PCI device: "domain:bus:device.function class [vendor:device]".
  using Devices = std::vector<std::string>;
  struct Parts {
    Devices node0;
    Devices node1;
  };
  static std::string nvidia(const std::string& address) { return address + " 0302 [10de:20b0]"; }

  explicit NumaMachine(const Parts& parts)
      : file_(std::filesystem::temp_directory_path() / fmt::format("feedring-numa-{}.xml", ::getpid())),
        written_(write(parts)),
        xml_("HWLOC_XMLFILE", file_.string()),
        real_("HWLOC_THISSYSTEM", "1") {}
  NumaMachine(const NumaMachine&) = delete;
  NumaMachine& operator=(const NumaMachine&) = delete;
  ~NumaMachine() { std::filesystem::remove(file_); }

 private:
  bool write(const Parts& parts) {
    std::ofstream out(file_);
    out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
           "<topology version=\"2.0\">\n"
        << fmt::format("<object type=\"Machine\" os_index=\"0\" {} gp_index=\"1\">\n", sets("0x3"));
    int index = 2;
    int node = 0;
    for (const Devices* devices : {&parts.node0, &parts.node1}) {
      const std::string mask = node == 0 ? "0x1" : "0x2";
      out << fmt::format("<object type=\"Group\" {} gp_index=\"{}\" kind=\"1001\" subkind=\"0\">\n", sets(mask),
                         index++);
      out << fmt::format("<object type=\"NUMANode\" os_index=\"{}\" {} gp_index=\"{}\" local_memory=\"1073741824\"/>\n",
                         node, sets(mask), index++);
      out << fmt::format("<object type=\"PU\" os_index=\"{}\" {} gp_index=\"{}\"/>\n", node, sets(mask), index++);
      out << fmt::format(
          "<object type=\"Bridge\" gp_index=\"{}\" bridge_type=\"0-1\" depth=\"0\" "
          "bridge_pci=\"0000:[{}]\">\n",
          index++, node == 0 ? "00-7f" : "80-ff");
      for (const std::string& device : *devices) {
        const std::size_t space = device.find(' ');
        out << fmt::format(
            "<object type=\"PCIDev\" gp_index=\"{}\" pci_busid=\"{}\" pci_type=\"{} [0000:0000] 00\" "
            "pci_link_speed=\"0.0\"/>\n",
            index++, device.substr(0, space), device.substr(space + 1));
      }
      out << "</object>\n</object>\n";
      ++node;
    }
    out << "</object>\n</topology>\n";
    return out.flush().good();
  }
  static std::string sets(const std::string& mask) {
    return fmt::format(
        "cpuset=\"{0}\" complete_cpuset=\"{0}\" allowed_cpuset=\"{0}\" nodeset=\"{0}\" "
        "complete_nodeset=\"{0}\" allowed_nodeset=\"{0}\"",
        mask);
  }

  std::filesystem::path file_;
  bool written_;
  Environment xml_;
  Environment real_;
};

}  // namespace feedring::test
