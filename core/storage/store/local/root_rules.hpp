// Which folders of this machine may be the root of the local store. A root is readable for every user and its
// files can be deleted by admins. The same rule checks the setting when it is written and the folder when it
// is opened. Called by registry.cpp, folder_tree.cpp and core/setup. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/storage/store/local/folder_position.hpp"

namespace dash::storage::local {

struct RootOptions {
  std::string data_dir;  // absolute; beneath it only `assets` may be a root
  // of rules and executors: refused with everything beneath and above
  std::vector<std::string> program_folders;
  std::vector<std::string> secret_files;  // the folders that hold them, and all above, are refused
  // $DASHCTL_LOCAL_ROOTS: colon-separated; when set, only these are allowed
  std::optional<std::string> allowed;
};

class RootRules {
 public:
  explicit RootRules(RootOptions options) : options_(std::move(options)) {}

  // Checks the folder to which `path` leads now; one that does not exist yet is checked by the nearest folder
  // above it. Code::invalid with a sentence that names the folder and the alternatives.
  Result<void> check(const std::string& path) const;
  // Checks an open folder; `path` is for the message.
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
