// The check of an asset that is a playbook, when its run is requested.
#pragma once
#include <string>

#include "core/base/principal.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::automation {

struct PlaybookCheck {
  bool has_local_host = false;  // a host of the run has connection local
  bool becomes_always = false;  // variables of the request turn become on
};

// Returns whether the playbook may take another user's rights on its hosts. Code::invalid where it would on the
// machine of this server; with a host of connection local also when it cannot be judged: longer than 1 MiB, no
// YAML, or in several files. Code::conflict when it was changed since `found`.
Result<bool> check_playbook(storage::Assets& assets, const Principal& principal,
                            const storage::FindResult& found, const PlaybookCheck& check);

}  // namespace dash::automation
