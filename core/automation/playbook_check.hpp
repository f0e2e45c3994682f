// The check of an asset that is a playbook, when its run is requested.
#pragma once
#include "core/automation/playbook_become.hpp"
#include "core/base/principal.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::automation {

// Judges the asset (judge_playbook). Code::conflict when it was changed since `found`.
Result<bool> check_playbook(storage::Assets& assets, const Principal& principal,
                            const storage::FindResult& found, const PlaybookCheck& check);

}  // namespace dash::automation
