#include "core/migrate/webhook_diff.hpp"

#include <algorithm>
#include <ranges>
#include <set>

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

// Finds for each row of the bundle the target's row that it stands for. Several rows may have one name: then
// rows that are the same come together first, and the later of the others, as in the deployed dashboards.
class Matcher {
 public:
  Matcher(const std::vector<setup::FullWebhook>& mine, const std::vector<setup::Webhook>& theirs)
      : mine_(mine), partners_(mine.size(), nullptr), categories_(mine.size()) {
    for (std::size_t i = 0; i < mine.size(); ++i) groups_[mine[i].name].mine.push_back(i);
    for (const auto& row : theirs)
      if (auto group = groups_.find(row.name); group != groups_.end()) group->second.theirs.push_back(&row);
  }

  // Compares the hidden members of every pair that could be the same, a row at most once in a request.
  Result<void> find_same(Target& target) {
    std::size_t rounds = 0;
    for (const auto& [name, group] : groups_)
      if (!group.theirs.empty()) rounds = std::max({rounds, group.mine.size(), group.theirs.size()});
    for (std::size_t round = 0; round < rounds; ++round) TRY(compare_round(target, round));
    return {};
  }

  void pair_the_rest() {
    for (const auto& [name, group] : groups_)
      for (bool may_differ : {false, true})
        for (auto i : std::views::reverse(group.mine)) pair_with_last(group, i, may_differ);
  }

  const setup::Webhook* partner(std::size_t i) const { return partners_[i]; }
  Category category(std::size_t i) const { return categories_[i]; }

 private:
  struct Group {
    std::vector<std::size_t> mine;
    std::vector<const setup::Webhook*> theirs;
  };
  using Results = std::map<std::string, setup::ValueMatch>;

  Result<void> compare_round(Target& target, std::size_t round) {
    std::vector<std::pair<std::size_t, const setup::Webhook*>> pairs;
    config::Values hidden;
    for (const auto& [name, group] : groups_) {
      auto places = std::max(group.mine.size(), group.theirs.size());
      for (std::size_t k = 0; k < group.mine.size(); ++k) {
        auto place = (k + round) % places;
        const auto* other = place < group.theirs.size() ? group.theirs[place] : nullptr;
        auto i = group.mine[k];
        if (!other || partners_[i] || taken_.contains(other) || shows_a_difference(mine_[i], *other))
          continue;
        pairs.emplace_back(i, other);
        hidden[url_name(*other)] = mine_[i].url.expose();
        if (!mine_[i].secret.empty()) hidden[secret_name(*other)] = mine_[i].secret.expose();
      }
    }
    if (pairs.empty()) return {};
    auto results = TRY(target.compare(hidden)).value_or(Results());
    for (auto [i, other] : pairs) {
      auto category = hidden_category(mine_[i], *other, results);
      compared_[{i, other}] = category;
      if (category == Category::same) pair(i, other, category);
    }
    return {};
  }

  void pair_with_last(const Group& group, std::size_t i, bool may_differ) {
    if (partners_[i]) return;
    for (const auto* other : std::views::reverse(group.theirs)) {
      bool differs = shows_a_difference(mine_[i], *other);
      if (taken_.contains(other) || (differs && !may_differ)) continue;
      auto compared = compared_.find({i, other});
      auto category = compared == compared_.end() ? Category::unknown : compared->second;
      return pair(i, other, differs ? Category::change : category);
    }
  }

  void pair(std::size_t i, const setup::Webhook* other, Category category) {
    partners_[i] = other;
    taken_.insert(other);
    categories_[i] = category;
  }

  const std::vector<setup::FullWebhook>& mine_;
  std::map<std::string, Group> groups_;  // by name
  std::vector<const setup::Webhook*> partners_;
  std::vector<Category> categories_;  // of what has a partner
  std::set<const setup::Webhook*> taken_;
  std::map<std::pair<std::size_t, const setup::Webhook*>, Category> compared_;
};

}  // namespace

Result<void> compare_webhooks(const Bundle& bundle, const std::vector<setup::FullWebhook>& mine,
                              Target& target, bool compare_blindly, Diff& out) {
  auto theirs = TRY(within("the target's notification endpoints", target.webhooks()));
  Matcher matcher(mine, theirs);
  if (compare_blindly) TRY(matcher.find_same(target));
  matcher.pair_the_rest();
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto& row = mine[i];
    WebhookRow found{row, std::nullopt, Category::add};
    if (const auto* other = matcher.partner(i)) {
      found.id = other->id;
      found.category = matcher.category(i);
    }
    out.rows.push_back({fmt::format("{}.{}", kWebhooksName, row.name), found.category,
                        code_points(row.url.expose()), fingerprint(bundle, row.url.expose())});
    out.webhooks.push_back(std::move(found));
  }
  std::ranges::sort(out.rows, {}, &DiffRow::key);
  return {};
}

}  // namespace dash::migrate
