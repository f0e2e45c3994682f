// A comparison with, and an import into, a dashboard of this process.
#pragma once
#include "core/migrate/apply.hpp"
#include "core/migrate/http_target.hpp"
#include "core/net/http/api_client.hpp"
#include "tests/support/fake_dashboard.hpp"
#include "tests/support/must.hpp"

namespace dash::migrate {

class Migration {
 public:
  explicit Migration(FakeDashboard& dashboard)
      : api(must(net::ApiClient::open(dashboard, {"http://t.example", {}, {}}))), target(api, Secret()) {}

  Diff diff(std::string_view text) {
    bundle = must(parse_bundle(text, "b.json"));
    selected = must(select(bundle, options.diff.selection, "b.json"));
    return must(compare(bundle, selected, target, options.diff, progress));
  }
  ApplyResult apply(std::string_view text) {
    auto found = diff(text);
    return must(migrate::apply(bundle, selected, found, target, options, progress));
  }

  net::ApiClient api;
  HttpTarget target;
  Bundle bundle;
  SelectedConfig selected;
  NoProgress progress;
  ApplyOptions options{
      {}, {}, {}, [](std::string_view, const ApplyResult&) {}, [](std::chrono::milliseconds) {}};
};

inline std::string keys(const Diff& diff, Category category) {
  std::string out;
  for (const auto& row : diff.rows)
    if (row.category == category) out += (out.empty() ? "" : " ") + row.key;
  return out;
}

}  // namespace dash::migrate
