// Bundles on disk: ~/.dashboard-migrate/bundle-<timestamp>.json, folder 0700, file 0600 from its first byte,
// written whole or not at all, never through a symbolic link. A bundle holds live credentials: shred it after
// the cutover.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace dash::migrate {

// Returns .dashboard-migrate in the user's home folder.
std::string default_bundle_folder();

// Returns the path for the bundle (or for the rollback snapshot: `kind`). With `out` empty it makes the
// default folder and chooses a name there. Call it before the source is read, so that a bad path costs
// nothing. Code::invalid when the path is a folder, Code::integrity for a default folder that is a link or
// has another owner.
Result<std::string> choose_bundle_path(const std::string& out, Time now, std::string_view kind = "bundle");

// Writes to a path of choose_bundle_path(). In the default folder a taken name gets a number; elsewhere the
// file is replaced. Returns the path of the file.
Result<std::string> write_bundle_file(const std::string& path, std::string_view text);

struct BundleText {
  std::string text;
  bool others_can_read = false;
};
// Code::integrity with the path when the file is missing or cannot be read.
Result<BundleText> read_bundle_file(const std::string& path);

// Returns the bundles of the default folder that are older than a day.
std::vector<std::string> stale_bundles(Time now);

// Overwrites the bytes and removes the file; a link or a folder is refused. On copy-on-write and flash
// storage old blocks may survive.
Result<void> shred_file(const std::string& path);

}  // namespace dash::migrate
