// Which folders of this machine may be the root of the local store: whoever names one lets every user read
// what lies in it and lets admins delete it. One rule for the setting when it is written and for the folder
// when it is opened. Called by registry.cpp, folder_tree.cpp and what writes settings. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/storage/store/local/folder_position.hpp"

namespace dash::storage::local {

struct RootOptions {
  std::string data_dir;                      // absolute; beneath it only `assets` may be a root
  std::vector<std::string> program_folders;  // of rules and executors: refused with all beneath and above
  std::vector<std::string> secret_files;     // the folders that hold them, and all above, are refused
  std::optional<std::string> allowed;        // $DASHCTL_LOCAL_ROOTS: colon-separated, all that may be named
};

class RootRules {
 public:
  explicit RootRules(RootOptions options) : options_(std::move(options)) {}

  // The folder to which `path` leads now; one that is not there yet is judged by the nearest folder above it.
  // Code::invalid with a sentence that names the folder and what to choose.
  Result<void> check(const std::string& path) const;
  // The folder that is open; `path` is for the message.
  Result<void> check_opened(int folder, const std::string& path) const;

 private:
  Result<void> check_positions(const std::vector<Position>& positions, const std::string& path) const;
  std::string refusal(const Position& root) const;
  std::string system_refusal(const Position& root) const;
  std::string own_refusal(const Position& root) const;
  bool is_allowed(const Position& root) const;
  RootOptions options_;
};

}  // namespace dash::storage::local
