#include "core/migrate/apply.hpp"

#include <algorithm>

namespace dash::migrate {
namespace {

using namespace std::chrono_literals;

// The other processes of a Python dashboard may serve values that they read up to 5 s ago.
constexpr int kMaxPeerReadBacks = 7;
constexpr auto kPeerReadBackInterval = 1s;

class Applier {
 public:
  Applier(const Bundle& bundle, const SelectedConfig& selected, const Diff& diff, Target& target,
          const ApplyOptions& options, Progress& progress)
      : bundle_(bundle),
        selected_(selected),
        diff_(diff),
        target_(target),
        options_(options),
        progress_(progress) {}

  Result<ApplyResult> run() {
    out_.not_replaced = diff_.not_replaced;
    if (!diff_.has_differences()) return std::move(out_);
    out_.wrote = true;
    options_.on_stage("writing", out_);
    TRY(write_values());
    options_.on_stage("writing endpoints", out_);
    write_webhooks();
    out_.wrote = out_.webhooks_written > 0 || wrote_values_;
    options_.on_stage("reading back", out_);
    if (auto done = read_back(); !done) out_.not_read_back = std::move(done).error();
    return std::move(out_);
  }

 private:
  Result<void> write_values() {
    const auto& selection = options_.diff.selection;
    TargetWriteRequest request{values_to_write(selected_, diff_), selection.replace_regions,
                               selection.include_on_prem, options_.bootstrap, options_.state};
    if (request.values.empty()) return {};
    auto written = target_.write(request);
    if (!written) return Failure(with_unknown_outcome(std::move(written).error()));
    out_.write_result = *std::move(written);
    wrote_values_ = std::ranges::any_of(request.values, [&](const auto& pair) {
      return !out_.write_result.refused.contains(std::string(pair.first));
    });
    return {};
  }

  // A request whose response was lost may have arrived.
  Error with_unknown_outcome(Error error) const {
    bool is_lost =
        error.code == Code::unreachable || error.code == Code::timeout || error.code == Code::upstream;
    if (is_lost)
      error.message += fmt::format(
          "; so it is not known whether {} took the import: it takes all of it or nothing. Run the same "
          "import again: it writes what is left, or finds everything SAME",
          target_.name());
    return error;
  }

  void write_webhooks() {
    for (const auto& row : diff_.webhooks) {
      if (row.category == Category::same) continue;
      auto done = target_.put_webhook(row.id, row.mine);
      if (done) {
        ++out_.webhooks_written;
      } else {
        out_.failed_webhooks[row.mine.name] = done.error().message;
      }
    }
  }

  // Also reads what was left unwritten, so that a change of the target meanwhile shows.
  Result<void> read_back() {
    auto options = options_.diff;
    options.fingerprints = false;
    for (int reading = 1;; ++reading) {
      auto again = TRY(
          within("reading back what was written", compare(bundle_, selected_, target_, options, progress_)));
      sort_rows(again);
      if (out_.not_as_written.empty() || reading == kMaxPeerReadBacks || !again.target.config().is_peer)
        return {};
      options_.wait(kPeerReadBackInterval);
    }
  }

  void sort_rows(const Diff& again) {
    out_.not_as_written.clear();
    out_.unverified.clear();
    for (const auto& row : again.rows) {
      if (row.category == Category::same || is_reported_already(row.key)) continue;
      (row.category == Category::unknown ? out_.unverified : out_.not_as_written).push_back(row.key);
    }
  }

  // Keys that the server refused, and failed webhooks, are listed on their own.
  bool is_reported_already(const std::string& key) const {
    auto prefix = std::string(kWebhooksName) + ".";
    return out_.write_result.refused.contains(key) ||
           (key.starts_with(prefix) && out_.failed_webhooks.contains(key.substr(prefix.size())));
  }

  const Bundle& bundle_;
  const SelectedConfig& selected_;
  const Diff& diff_;
  Target& target_;
  const ApplyOptions& options_;
  Progress& progress_;
  bool wrote_values_ = false;  // the target accepted at least one
  ApplyResult out_;
};

std::string names(const std::vector<std::string>& keys) { return fmt::format("{}", fmt::join(keys, ", ")); }

}  // namespace

Result<ApplyResult> apply(const Bundle& bundle, const SelectedConfig& selected, const Diff& diff,
                          Target& target, const ApplyOptions& options, Progress& progress) {
  return Applier(bundle, selected, diff, target, options, progress).run();
}

Result<void> check_applied(const ApplyResult& applied) {
  std::vector<std::string> parts;
  if (!applied.write_result.refused.empty()) {
    std::vector<std::string> refused;
    for (const auto& [key, reason] : applied.write_result.refused)
      refused.push_back(fmt::format("{} ({})", key, reason));
    parts.push_back(fmt::format("the target refused {}", names(refused)));
  }
  if (!applied.not_replaced.empty())
    parts.push_back(
        fmt::format("the region sets of {} were not replaced, because the bundle has nothing for them that "
                    "the target can keep",
                    names(applied.not_replaced)));
  if (!applied.not_as_written.empty())
    parts.push_back(
        fmt::format("these do not read back as they were written: {}", names(applied.not_as_written)));
  if (!applied.failed_webhooks.empty()) {
    std::vector<std::string> failed;
    for (const auto& [name, why] : applied.failed_webhooks)
      failed.push_back(fmt::format("{} ({})", name, why));
    parts.push_back(fmt::format("notification endpoints that were not written: {}", names(failed)));
  }
  if (applied.not_read_back)
    parts.push_back(
        fmt::format("it was written, but could not be read back: {}", applied.not_read_back->message));
  if (parts.empty()) return {};
  bool is_left = !applied.not_as_written.empty() || !applied.failed_webhooks.empty() || applied.not_read_back;
  return fail(Code::partial, "{}{}", fmt::join(parts, "; "),
              is_left ? "; run the import again for what is left" : "");
}

OrderedJson to_json(const ApplyResult& a) {
  OrderedJson out{{"wrote", a.wrote},
                  {"keys_written", a.write_result.keys_written},
                  {"regions_merged", a.write_result.regions_merged},
                  {"refused", a.write_result.refused},
                  {"warnings", a.write_result.warnings},
                  {"change_id", a.write_result.change_id},
                  {"iac_state_left", storage::to_json(a.write_result.iac_state_left)},
                  {"endpoints_written", a.webhooks_written},
                  {"failed_endpoints", a.failed_webhooks},
                  {"not_as_written", a.not_as_written},
                  {"unverified", a.unverified},
                  {"not_replaced", a.not_replaced},
                  {"not_read_back", a.not_read_back ? OrderedJson(a.not_read_back->message) : OrderedJson()}};
  return out;
}

}  // namespace dash::migrate
