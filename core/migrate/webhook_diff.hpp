// The part of a comparison that concerns webhooks: rows are matched by name; URL and secret are never told,
// so they are compared blindly or stay unknown.
#pragma once
#include "core/migrate/diff.hpp"

namespace dash::migrate {

// Adds to `out.webhooks` and `out.rows`.
Result<void> compare_webhooks(const Bundle& bundle, const std::vector<setup::FullWebhook>& mine,
                              Target& target, bool compare_blindly, Diff& out);

}  // namespace dash::migrate
