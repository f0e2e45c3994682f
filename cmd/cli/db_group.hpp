// The group `dashctl db`.
#pragma once
#include "cmd/cli/tree.hpp"

namespace dash::cmd {

Group db_group();

}  // namespace dash::cmd
