// Whether an instance can do its work: what /readyz, /metrics and `dashctl doctor` report. Each function
// makes one check now; those that may be slow are for a background thread. Messages are for anybody.
#pragma once
#include <string>

#include "core/app/services.hpp"

namespace dash::app {

Result<void> check_database_reads(Services& s);
// Code::integrity when the settings were written with another key; single damaged ones are not the key's
// fault.
Result<void> check_key(Services& s);
// Names the settings that cannot be opened.
Result<void> check_settings_open(Services& s);
// Writes one row.
Result<void> check_database_writes(Services& s);
// Whether the file system of `folder` has room for a little more and may be written. Leaves nothing there.
Result<void> check_disk(const std::string& folder);

// Records by which key the settings are written, where none is recorded or all of them were written anew.
// A database that takes no writes goes without.
void record_key(Services& s);

}  // namespace dash::app
