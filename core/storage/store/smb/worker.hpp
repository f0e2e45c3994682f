// The child that runs SMB: `dashctl smb-worker` (hidden). It reads requests from stdin and writes responses
// to stdout (frame.hpp), one at a time. It ends with its stdin, even in the middle of a call that hangs.
// Called by cmd/cli/run.cpp.
#pragma once
#include <string_view>

namespace dash::storage::smb {

inline constexpr std::string_view kSmbWorker = "smb-worker";

// Returns the exit code.
int run_worker();

}  // namespace dash::storage::smb
