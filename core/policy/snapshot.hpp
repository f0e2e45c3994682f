// The policy directory at one instant: what is there (a fingerprint of stat calls, compared before every
// decision) and what it says (the bytes, read only when the fingerprint moved). Policy files end in .rego,
// data files in .json, .yaml or .yml; folders are walked, symbolic links followed. Names that begin with ".."
// (a ConfigMap's swapped folders) or ".#" (editors' locks) are not ours.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace dash::policy {

inline constexpr std::size_t kMaxPolicyBytes = 16u << 20;  // all files together
inline constexpr std::size_t kMaxPolicyFiles = 10'000;

struct FileStamp {
  std::string path;  // relative, "/" between folders
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t mtime_ns = 0, ctime_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

struct Fingerprint {
  std::vector<FileStamp> files;    // ascending by path
  std::vector<FileStamp> folders;  // likewise; the directory itself is ""
  bool is_plain =
      true;  // false: holds a link to what is neither, which may become either unseen by its folder
  bool operator==(const Fingerprint&) const = default;
  // Something changed so shortly before `now_ns` (CLOCK_REALTIME) that a later change may bear the same
  // stamps.
  bool is_fresh_at(std::int64_t now_ns) const;
};

struct PolicyFile {
  std::string path;
  std::string text;
  bool operator==(const PolicyFile&) const = default;
};

struct Snapshot {
  Fingerprint stamps;
  std::vector<PolicyFile> files;
  bool settled = true;  // false: read while fresh, so equal stamps do not prove equal bytes
};

// Code::policy_unavailable for a missing or unreadable directory or file, naming it.
Result<Fingerprint> fingerprint(const std::string& directory);
// Whether a fingerprint would come out as this one: no name appears or goes without its folder's stamp
// moving, so known names are asked for and none is listed. Errors are a false.
bool is_unchanged(const std::string& directory, const Fingerprint& known);
Result<Snapshot> read_snapshot(const std::string& directory);

bool is_rego(std::string_view path);
bool is_test(std::string_view path);  // x_test.rego: never a rule
std::string_view base_name(std::string_view path);

}  // namespace dash::policy
