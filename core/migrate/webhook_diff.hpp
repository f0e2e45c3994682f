// The part of a comparison for webhooks. Rows are matched by name, and rows of one name by what they hold.
// URL and secret are never shown, so they are compared blindly or stay unknown.
#pragma once
#include "core/migrate/diff.hpp"

namespace dash::migrate {

// Adds to `out.webhooks` and `out.rows`.
Result<void> compare_webhooks(const Bundle& bundle, const std::vector<setup::FullWebhook>& mine,
                              Target& target, bool compare_blindly, Diff& out);

}  // namespace dash::migrate
