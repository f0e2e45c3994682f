// Checks that an instance can do its work, for /readyz, /metrics and `dashctl doctor`. Each function makes
// one check now; those that may be slow are for a background thread. The messages are public.
#pragma once
#include <string>

#include "core/app/application.hpp"

namespace dash::app {

Result<void> check_database_reads(Application& app);
// Code::integrity when the settings were written with another key. Single damaged settings are another fault.
Result<void> check_key(Application& app);
// Names the settings that cannot be opened.
Result<void> check_settings_readable(Application& app);
// Writes one row.
Result<void> check_database_writes(Application& app);
// Checks that the file system of `folder` is writable and has some free space. Leaves nothing there.
Result<void> check_disk(const std::string& folder);

// Records the key by which the settings are written, where none is recorded or all of them were written
// again. A database that takes no writes stays without the record.
void record_key(Application& app);

}  // namespace dash::app
