// Landlock (landlock(7)): this process and its children reach only named paths, and no process outside. Below
// ABI 3 it does not cover truncate, so a filter of system calls (seccomp(2)) refuses that.
#pragma once
#include <string>
#include <vector>

namespace dash::net {

struct LandlockRules {
  std::vector<std::string> read;     // files and folders: read
  std::vector<std::string> run;      // likewise: read and execute
  std::vector<std::string> write;    // folders: everything but execute
  std::vector<std::string> work;     // folders: everything
  std::vector<std::string> devices;  // files, and folders of files: read and write what exists
  bool allows_tcp = false;
  bool filters_truncate = false;  // refuse what a kernel below ABI 3 does not confine
};

// Returns the ABI of the kernel's Landlock; 0 without one.
int landlock_abi();
// Returns whether this kernel can filter system calls.
bool has_seccomp();
// Restricts this process with the features of `abi`, at most those of the kernel. A path that does not exist
// needs no permission. Returns false, with errno, when the kernel refuses; true without doing anything for ABI 0.
bool apply_landlock(const LandlockRules& rules, int abi);

}  // namespace dash::net
