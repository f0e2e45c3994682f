// Files of any size, read and written piece by piece (core/base/file.hpp has the small ones).
#pragma once
#include <memory>

#include "core/base/file.hpp"
#include "core/base/stream.hpp"

namespace dash {

Result<std::unique_ptr<Source>> open_file(const std::string& path);
// write_file() with the bytes that `fill` writes: the file is there whole, or as it was before.
Result<void> write_file(const std::string& path, const std::function<Result<void>(Sink&)>& fill,
                        unsigned mode, IfPresent if_present = IfPresent::replace,
                        Durable durable = Durable::yes);

}  // namespace dash
