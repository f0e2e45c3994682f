// Small files that must be right: read whole with a bound, written whole or not at all. Errors name the path.
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash {

// Code::not_found when there is none, Code::too_large above `max_bytes`.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);
// Reads standard input, which no path opens where it is a socket. Code::too_large above `max_bytes`.
Result<std::string> read_stdin(std::size_t max_bytes);
// Reads the file that a command line names, where "-" is standard input.
Result<std::string> read_input(const std::string& path, std::size_t max_bytes);

enum class IfPresent { replace, keep };
// Whether a write outlives a crash of the machine, which takes two waits for the disk.
enum class Durable { yes, no };
// Writes a temporary file beside it with `mode` from its first byte, then fsync, rename, fsync of the folder.
// A symbolic link at `path` is replaced, never followed. With IfPresent::keep an existing file stays
// (Code::conflict). A device or a pipe (/dev/stdout, a FIFO) is written into and never replaced.
Result<void> write_file(const std::string& path, std::string_view bytes, unsigned mode,
                        IfPresent if_present = IfPresent::replace, Durable durable = Durable::yes);

// Returns $HOME, else the home of the system's account, else the current folder.
std::string home_folder();
// Returns the home of the system's account; "" when this user has none.
std::string account_home();

// Makes the folder and its parents. The last one gets `mode`; an existing one keeps its own.
Result<void> make_folder(const std::string& path, unsigned mode);

}  // namespace dash
