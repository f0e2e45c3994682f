// Whether an instance can do its work: what /readyz, /metrics and `dashctl doctor` report. Each function
// makes one check now; those that may be slow are for a background thread. Messages are for anybody.
#pragma once
#include <string>

#include "core/app/application.hpp"

namespace dash::app {

Result<void> check_database_reads(Application& app);
// Code::integrity when the settings were written with another key; single damaged ones are not the key's
// fault.
Result<void> check_key(Application& app);
// Names the settings that cannot be opened.
Result<void> check_settings_readable(Application& app);
// Writes one row.
Result<void> check_database_writes(Application& app);
// Whether the file system of `folder` has room for a little more and may be written. Leaves nothing there.
Result<void> check_disk(const std::string& folder);

// Records by which key the settings are written, where none is recorded or all of them were written anew.
// A database that takes no writes goes without.
void record_key(Application& app);

}  // namespace dash::app
