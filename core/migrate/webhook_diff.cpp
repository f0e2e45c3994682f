#include "core/migrate/webhook_diff.hpp"

#include <algorithm>

namespace dash::migrate {
namespace {

// Return the names under which a row's hidden members are compared.
std::string url_name(const setup::Webhook& row) { return fmt::format("{}/{}/url", kWebhooksName, row.id); }
std::string secret_name(const setup::Webhook& row) {
  return fmt::format("{}/{}/secret", kWebhooksName, row.id);
}

bool shows_a_difference(const setup::FullWebhook& mine, const setup::Webhook& theirs) {
  auto events = [](const std::optional<std::string>& text) { return text.value_or(""); };
  return mine.fmt != theirs.fmt || mine.enabled != theirs.enabled ||
         mine.secret.empty() == theirs.has_secret || events(mine.event_types) != events(theirs.event_types);
}

// Of two rows with one name the later counts, as in the deployed dashboards.
const setup::Webhook* find_named(const std::vector<setup::Webhook>& rows, const std::string& name) {
  const setup::Webhook* found = nullptr;
  for (const auto& row : rows)
    if (row.name == name) found = &row;
  return found;
}

Category hidden_category(const setup::FullWebhook& mine, const setup::Webhook& theirs,
                         const std::map<std::string, setup::ValueMatch>& results) {
  auto category_of = [&](const std::string& name) {
    auto it = results.find(name);
    return it == results.end()                     ? Category::unknown
           : it->second == setup::ValueMatch::same ? Category::same
                                                   : Category::change;
  };
  auto url = category_of(url_name(theirs));
  auto secret = mine.secret.empty() ? Category::same : category_of(secret_name(theirs));
  if (url == Category::change || secret == Category::change) return Category::change;
  return url == Category::same && secret == Category::same ? Category::same : Category::unknown;
}

}  // namespace

Result<void> compare_webhooks(const Bundle& bundle, const std::vector<setup::FullWebhook>& mine,
                              Target& target, bool compare_blindly, Diff& out) {
  auto theirs = TRY(within("the target's notification endpoints", target.webhooks()));
  config::Values hidden;
  for (const auto& row : mine) {
    const auto* other = find_named(theirs, row.name);
    if (!other) continue;
    hidden[url_name(*other)] = row.url.expose();
    if (!row.secret.empty()) hidden[secret_name(*other)] = row.secret.expose();
  }
  std::map<std::string, setup::ValueMatch> results;
  if (compare_blindly && !hidden.empty()) results = TRY(target.compare(hidden)).value_or(results);
  for (const auto& row : mine) {
    const auto* other = find_named(theirs, row.name);
    WebhookRow found{row, std::nullopt, Category::add};
    if (other) {
      found.id = other->id;
      found.category =
          shows_a_difference(row, *other) ? Category::change : hidden_category(row, *other, results);
    }
    out.rows.push_back({fmt::format("{}.{}", kWebhooksName, row.name), found.category,
                        code_points(row.url.expose()), fingerprint(bundle, row.url.expose())});
    out.webhooks.push_back(std::move(found));
  }
  std::ranges::sort(out.rows, {}, &DiffRow::key);
  return {};
}

}  // namespace dash::migrate
