// The policy directory at one instant: a fingerprint of stat calls, compared before every decision, and the
// bytes, read only when the fingerprint changed. Policy files end in .rego, data files in .json, .yaml or
// .yml. Folders are walked, symbolic links followed. Names that begin with ".." (a ConfigMap's swapped
// folders) or ".#" (editors' locks) are ignored.
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
  // False: it has a link to neither, which may become either without a change of its folder's stamp.
  bool is_plain = true;
  bool operator==(const Fingerprint&) const = default;
  // Returns whether something changed so shortly before `now_ns` (CLOCK_REALTIME) that a later change may
  // have the same stamps.
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
// Returns whether a fingerprint would equal `known`. A name that appears or disappears changes its folder's
// stamp, so only known names are checked and none is listed. Returns false on errors.
bool is_unchanged(const std::string& directory, const Fingerprint& known);
Result<Snapshot> read_snapshot(const std::string& directory);

bool is_rego(std::string_view path);
bool is_test(std::string_view path);  // x_test.rego: never a rule
std::string_view base_name(std::string_view path);

}  // namespace dash::policy
