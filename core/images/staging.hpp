// Where a cloud stages images that are promoted to it: by the settings promote_runner_*, else below
// `promote-staging/` of that cloud's asset bucket.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::images {

struct Staging {
  std::string cloud;        // canonical
  storage::OpenBackend at;  // its prefix is the staging prefix
  std::string bucket;       // bucket or container
  // The hub's bucket when it is of the same account, as InsideCopy names it.
  std::optional<std::string> hub_bucket;
};

// Opens the staging place of a cloud in either spelling. Code::invalid for an unknown cloud, for one without a
// staging place, naming the setting, and for a prefix under which the dashboard stores its own objects.
Result<Staging> open_staging(storage::Stores& stores, const Principal& principal,
                             const storage::OpenBackend& hub, std::string_view cloud);

// Returns what is to happen in the cloud next, with the settings for it: nothing here starts it.
//   {started: false, what, runner_image, settings: {key: value}}
OrderedJson next_step(const config::Values& values, const std::string& cloud);

}  // namespace dash::images
