#include "core/migrate/apply.hpp"

#include <algorithm>

namespace dash::migrate {
namespace {

using namespace std::chrono_literals;

// A peer's other processes may serve what they read up to 5 s ago.
constexpr int kPeerReadings = 7;
constexpr auto kPeerPause = 1s;

class Application {
 public:
  Application(const Bundle& bundle, const Staged& staged, const Diff& diff, Instance& target,
              const ApplyOrder& order, Progress& progress)
      : bundle_(bundle), staged_(staged), diff_(diff), target_(target), order_(order), progress_(progress) {}

  Result<Applied> run() {
    out_.not_replaced = diff_.not_replaced;
    if (!diff_.has_differences()) return std::move(out_);
    out_.wrote = true;
    order_.stage("writing", out_);
    TRY(write_values());
    order_.stage("writing endpoints", out_);
    write_endpoints();
    out_.wrote = out_.endpoints_written > 0 || std::ranges::any_of(diff_.to_write, [&](const auto& pair) {
                   return !out_.written.refused.contains(pair.first);
                 });
    order_.stage("reading back", out_);
    if (auto done = read_back(); !done) out_.not_read_back = std::move(done).error();
    return std::move(out_);
  }

 private:
  Result<void> write_values() {
    if (diff_.to_write.empty()) return {};
    const auto& selection = order_.diff.selection;
    auto written = target_.write(
        {diff_.to_write, selection.replace_regions, selection.include_on_prem, order_.claim, order_.state});
    if (!written) return Failure(told_what_is_known(std::move(written).error()));
    out_.written = *std::move(written);
    return {};
  }

  // A request whose answer was lost may have arrived.
  Error told_what_is_known(Error error) const {
    bool is_lost =
        error.code == Code::unreachable || error.code == Code::timeout || error.code == Code::upstream;
    if (is_lost)
      error.message += fmt::format(
          "; so it is not known whether {} took the import: it takes all of it or nothing. Run the same "
          "import again: it writes what is left, or finds everything SAME",
          target_.name());
    return error;
  }

  void write_endpoints() {
    for (const auto& row : diff_.endpoints) {
      if (row.category == Category::same) continue;
      auto done = target_.put_endpoint(row.id, row.mine);
      if (done) {
        ++out_.endpoints_written;
      } else {
        out_.failed_endpoints[row.mine.name] = done.error().message;
      }
    }
  }

  // Also what was left unwritten is read: a target that moved meanwhile shows.
  Result<void> read_back() {
    for (int reading = 1;; ++reading) {
      auto again = TRY(within("reading back what was written",
                              compare(bundle_, staged_, target_, order_.diff, progress_)));
      sort_rows(again);
      if (out_.not_as_written.empty() || reading == kPeerReadings || !again.told.is_peer) return {};
      order_.wait(kPeerPause);
    }
  }

  void sort_rows(const Diff& again) {
    out_.not_as_written.clear();
    out_.unverified.clear();
    for (const auto& row : again.rows) {
      if (row.category == Category::same || is_told_already(row.key)) continue;
      (row.category == Category::unknown ? out_.unverified : out_.not_as_written).push_back(row.key);
    }
  }

  // Refused by the server, or a webhook that failed: named on their own.
  bool is_told_already(const std::string& key) const {
    auto prefix = std::string(kEndpointsName) + ".";
    return out_.written.refused.contains(key) ||
           (key.starts_with(prefix) && out_.failed_endpoints.contains(key.substr(prefix.size())));
  }

  const Bundle& bundle_;
  const Staged& staged_;
  const Diff& diff_;
  Instance& target_;
  const ApplyOrder& order_;
  Progress& progress_;
  Applied out_;
};

std::string names(const std::vector<std::string>& keys) { return fmt::format("{}", fmt::join(keys, ", ")); }

}  // namespace

Result<Applied> apply(const Bundle& bundle, const Staged& staged, const Diff& diff, Instance& target,
                      const ApplyOrder& order, Progress& progress) {
  return Application(bundle, staged, diff, target, order, progress).run();
}

Result<void> verdict(const Applied& applied) {
  std::vector<std::string> parts;
  if (!applied.written.refused.empty()) {
    std::vector<std::string> refused;
    for (const auto& [key, reason] : applied.written.refused)
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
  if (!applied.failed_endpoints.empty()) {
    std::vector<std::string> failed;
    for (const auto& [name, why] : applied.failed_endpoints)
      failed.push_back(fmt::format("{} ({})", name, why));
    parts.push_back(fmt::format("notification endpoints that were not written: {}", names(failed)));
  }
  if (applied.not_read_back)
    parts.push_back(
        fmt::format("it was written, but could not be read back: {}", applied.not_read_back->message));
  if (parts.empty()) return {};
  bool is_left =
      !applied.not_as_written.empty() || !applied.failed_endpoints.empty() || applied.not_read_back;
  return fail(Code::partial, "{}{}", fmt::join(parts, "; "),
              is_left ? "; run the import again for what is left" : "");
}

OrderedJson to_json(const Applied& a) {
  OrderedJson out{{"wrote", a.wrote},
                  {"keys_written", a.written.keys_written},
                  {"regions_merged", a.written.regions_merged},
                  {"refused", a.written.refused},
                  {"warnings", a.written.warnings},
                  {"change_id", a.written.change_id},
                  {"endpoints_written", a.endpoints_written},
                  {"failed_endpoints", a.failed_endpoints},
                  {"not_as_written", a.not_as_written},
                  {"unverified", a.unverified},
                  {"not_replaced", a.not_replaced},
                  {"not_read_back", a.not_read_back ? OrderedJson(a.not_read_back->message) : OrderedJson()}};
  return out;
}

}  // namespace dash::migrate
