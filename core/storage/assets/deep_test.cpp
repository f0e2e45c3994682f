#include "core/storage/assets/deep_test.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/settings/versioning.hpp"

namespace dash::storage {
namespace {

constexpr std::chrono::seconds kBufferTimeout{10};
// AWS and Oracle refuse requests whose clock is off by more (15 and 5 minutes). From a minute on the report
// notes it.
constexpr std::chrono::seconds kMaxClockSkew{60};

class DeepTest {
 public:
  DeepTest(const OpenBackend& at, const Clock& clock, Buffer buffer)
      : store_(*at.store), prefix_(at.prefix), clock_(clock), buffer_(std::move(buffer)) {
    // A remote agent takes only the names of assets.
    key_ = fmt::format("{}dashctl-test-{}.yml", prefix_, crypto::random_hex(8));
    std::memset(buffer_.data(), 'x', kPartBytes);
  }

  Versioning versioning() const { return versioning_; }
  std::vector<DeepTestStep> run() {
    step("list", [&] { return list(); });
    step("write", [&] { return write(); });
    step("range", [&] { return range(); });
    step("replace", [&] { return replace(); });
    versioning_ = find_versioning();
    if (store_.capabilities().takes_parts) {
      step("multipart", [&] { return multipart(); });
      step("abort", [&] { return abort(); });
    }
    step("clock", [&] { return clock(); });
    step("clean up", [&] { return clean_up(); });
    return std::move(checks_);
  }

 private:
  void step(std::string name, const std::function<Result<std::string>()>& run_step) {
    auto note = run_step();
    checks_.push_back({std::move(name), note ? "" : note.error().message, note ? *note : ""});
  }

  std::string_view whole_part() { return {buffer_.data(), kPartBytes}; }

  Result<std::string> list() {
    auto page = TRY(store_.list(prefix_, ""));
    return fmt::format("{} objects on the first page", page.objects.size());
  }

  Result<std::string> write() {
    auto object = TRY(store_.put(key_, "dashctl", {}));
    if (object.size != 7)
      return fail(Code::integrity, "7 bytes were written, the store reports {}", object.size);
    written_ = TRY(store_.head(key_)).modified;
    return "7 bytes, visible at once";
  }

  Result<std::string> read(std::uint64_t offset, std::size_t size) {
    std::string bytes(size, '\0');
    bytes.resize(TRY(store_.read(key_, offset, "", bytes)));
    return bytes;
  }

  Result<std::string> range() {
    auto bytes = TRY(read(4, 3));
    if (bytes != "ctl") return fail(Code::integrity, "bytes 4 to 6 came back as something else");
    return std::string("bytes from the middle");
  }

  Result<std::string> replace() {
    auto before = TRY(store_.head(key_)).etag;
    TRY(store_.put(key_, "another", {}));
    if (TRY(store_.head(key_)).etag == before)
      return fail(Code::integrity, "the etag did not change with the content");
    return std::string("the etag changed");
  }

  // The object was replaced just now, so the store knows.
  Versioning find_versioning() {
    auto kept = store_.versions(key_);
    return kept ? kept->versioning : Versioning::unknown;
  }

  Result<std::string> multipart() {
    auto size = std::uint64_t{kPartBytes} + 1;
    auto before = TRY(store_.head(key_)).size;
    auto upload = TRY(store_.begin(key_, size));
    TRY(store_.put_part(upload, 1, whole_part(), false));
    TRY(store_.put_part(upload, 2, "y", true));
    if (TRY(store_.head(key_)).size != before)
      return fail(Code::integrity, "parts were visible before the commit");
    auto staged = TRY(store_.staged_parts(upload));
    std::ranges::sort(staged, {}, &StagedPart::n);
    if (staged.size() != 2)
      return fail(Code::integrity, "2 parts were staged, the store lists {}", staged.size());
    auto object = TRY(store_.commit(upload, staged, {}));
    if (object.size != size)
      return fail(Code::integrity, "{} bytes were committed, the store reports {}", size, object.size);
    if (TRY(read(kPartBytes - 1, 2)) != "xy")
      return fail(Code::integrity, "the border between two parts came back wrong");
    return std::string("2 parts, invisible until commit");
  }

  Result<std::string> abort() {
    auto size = TRY(store_.head(key_)).size;
    auto upload = TRY(store_.begin(key_, kPartBytes));
    TRY(store_.put_part(upload, 1, whole_part(), true));
    auto aborted = store_.abort(upload);
    if (!aborted && aborted.error().code != Code::not_found) return Failure(std::move(aborted).error());
    if (TRY(store_.head(key_)).size != size)
      return fail(Code::integrity, "the aborted upload replaced the object");
    return std::string("nothing was left to see");
  }

  Result<std::string> clock() {
    if (written_ == Time{}) return std::string("the store does not report the time");
    auto skew = std::chrono::duration_cast<std::chrono::seconds>(clock_.now() - written_);
    auto off = std::chrono::abs(skew);
    if (off > kMaxClockSkew)
      return fail(Code::upstream, "this clock is {} s {} the store's; set it by NTP", off.count(),
                  skew.count() > 0 ? "ahead of" : "behind");
    return fmt::format("{} s apart", off.count());
  }

  Result<std::string> clean_up() {
    TRY(store_.remove(key_));
    auto gone = store_.head(key_);
    if (gone || gone.error().code != Code::not_found)
      return fail(Code::integrity, "'{}' is still there after its deletion", key_);
    return std::string("deleted");
  }

  ObjectStore& store_;
  std::string prefix_;
  const Clock& clock_;
  Buffer buffer_;
  std::string key_;
  Time written_{};
  Versioning versioning_ = Versioning::unknown;
  std::vector<DeepTestStep> checks_;
};

}  // namespace

bool DeepTestReport::has_passed() const {
  return std::ranges::all_of(checks, [](const DeepTestStep& check) { return check.problem.empty(); });
}

Result<DeepTestReport> deep_test(const OpenBackend& at, BufferPool& buffers, const Clock& clock) {
  auto buffer = TRY(buffers.acquire(kBufferTimeout));
  DeepTest test(at, clock, std::move(buffer));
  DeepTestReport report{at.display_id(), at.store->place(), test.run()};
  report.versioning = test.versioning();
  report.is_object_store = at.descriptor->is_object_store;
  return report;
}

OrderedJson to_json(const DeepTestReport& report) {
  auto checks = OrderedJson::array();
  for (const auto& check : report.checks)
    checks.push_back({{"name", check.name},
                      {"ok", check.problem.empty()},
                      {"detail", check.problem.empty() ? check.note : check.problem}});
  return {{"ok", report.has_passed()},
          {"backend", report.backend},
          {"place", report.place},
          {"checks", std::move(checks)},
          {"versioning", versioning_word(report.versioning)},
          {"message", versioning_text(report.versioning, report.is_object_store)}};
}

}  // namespace dash::storage
