#include "core/client/send.hpp"

#include <atomic>
#include <filesystem>

#include "core/client/journal.hpp"
#include "core/client/open_file.hpp"
#include "core/client/parallel.hpp"
#include "core/client/retry.hpp"
#include "core/config/clouds.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/names.hpp"
#include "core/storage/store/part_layout.hpp"

namespace dash::client {
namespace {

constexpr std::size_t kSendWorkers = 2;  // with a buffer each: one part is read while the other is sent

// Returns a member of an instance's response; empty when it has none, or is no object at all.
Json list_of(const Json& status, const char* name) {
  auto it = status.find(name);
  return it != status.end() && it->is_array() ? *it : Json::array();
}

// Returns the ref of a part with a lost response, where the instance still has it.
std::optional<std::string> recent_ref(const Json& status, std::size_t n) {
  for (const auto& part : list_of(status, "refs"))
    if (auto it = part.find("part"); it != part.end() && *it == n) return string_member(part, "ref");
  return std::nullopt;
}

Result<Json> send_inline(const SendPlan& plan, const SendDeps& deps) {
  auto file = TRY(OpenFile::open(plan.path));
  if (file.identity().size != plan.size) return file.changed_error();
  auto answer = TRY(transfer_retry().run([&](int) {
    std::uint64_t at = 0;
    FunctionSource content([&](std::span<char> into) -> Result<std::size_t> {
      into = into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), plan.size - at)));
      TRY(file.fill(at, into));
      at += into.size();
      if (at == plan.size) TRY(file.check_unchanged());
      return into.size();
    });
    return deps.client.upload(plan.name, plan.size, content);
  }));
  deps.moved(plan.size);
  return answer;
}

// One chunked upload: its staged parts and its record on disk.
class ChunkedSend {
 public:
  ChunkedSend(const SendPlan& plan, const ChunkedSendDeps& deps, OpenFile source)
      : plan_(plan),
        deps_(deps),
        source_(std::move(source)),
        journal_(deps_.journal_folder, deps_.client.name(), deps_.user, source_.identity()) {}

  Result<Json> run() {
    TRY(resume_or_begin());
    auto sent = send_parts();
    if (!sent) return abandon(std::move(sent).error());
    auto answer = commit();
    if (!answer) return abandon(std::move(answer).error());
    journal_.remove();
    if (resumed_ > 0) (*answer)["resumed_parts"] = resumed_;
    return answer;
  }

 private:
  // An upload that the instance no longer accepts is begun again.
  Result<void> resume_or_begin() {
    sequence_ = TRY(deps_.client.sequence());
    if (auto saved = journal_.read()) {
      auto status = deps_.client.status(saved->handle);
      if (!status && status.error().code != Code::invalid) return Failure(std::move(status).error());
      if (status && string_member(*status, "filename") == plan_.name) {
        open_ = std::move(*saved);
        resume_after(*status);
        return {};
      }
    }
    auto begun = TRY(deps_.client.begin(plan_.name, plan_.size));
    open_ = {string_member(begun, "handle").value_or(""), {}};
    return journal_.write(open_);
  }

  // A staged part without a known ref is sent again, which returns its ref. In ordered uploads this is
  // allowed for the last one only.
  void resume_after(const Json& status) {
    auto staged = list_of(status, "staged").size();
    while (auto ref = recent_ref(status, open_.refs.size() + 1)) open_.refs.push_back(*std::move(ref));
    auto known = open_.refs.size();
    resumed_ = sequence_ == storage::Sequence::parallel ? std::min(staged, known)
               : staged == known + 1                    ? known
                                                        : staged;
    open_.refs.resize(resumed_);
    deps_.moved(std::min<std::uint64_t>(plan_.size, resumed_ * kPartBytes));
  }

  Result<void> send_parts() {
    next_ = static_cast<std::uint32_t>(resumed_ + 1);
    auto left = storage::part_count(plan_.size) - resumed_;
    run_workers(std::min(kSendWorkers, left), [this](std::size_t worker) { send_parts_in_worker(worker); });
    if (failed_) return Failure(*std::move(failed_));
    return source_.check_unchanged();
  }

  // The work of one thread. It takes a number only with a buffer, so the smallest number never waits for one.
  void send_parts_in_worker(std::size_t worker) {
    auto buffer = worker == 0 ? deps_.buffers.acquire(kTransferBufferTimeout)
                              : Result<Buffer>(deps_.buffers.try_acquire());
    if (!buffer) return stop(std::move(buffer).error());
    if (!*buffer) return;  // the other threads do it
    for (auto n = next_++; n <= storage::part_count(plan_.size) && !is_stopped_; n = next_++)
      if (auto sent = send_part(n, buffer->span().first(storage::part_length(plan_.size, n))); !sent)
        return stop(std::move(sent).error());
  }

  Result<void> send_part(std::uint32_t n, std::span<char> bytes) {
    TRY(source_.fill(storage::part_offset(n), bytes));
    auto sha256 = crypto::sha256({bytes.data(), bytes.size()});
    storage::Payload part{{bytes.data(), bytes.size()}, sha256};
    if (sequence_ == storage::Sequence::parallel) {
      TRY(record_ref(n, TRY(put_with_retry(n, part))));
    } else if (!TRY(send_ordered(n, part))) {
      return {};
    }
    deps_.moved(bytes.size());
    return {};
  }

  // Returns false when another part failed for good. At most two parts are under way, each after the one
  // before it. The instance keeps the order: a part that overtook another, or whose predecessor was lost, is
  // sent again after that one is stored.
  Result<bool> send_ordered(std::uint32_t n, const storage::Payload& part) {
    auto place = n - resumed_ - 1;
    if (!send_sequencer_.wait_for(place) || (place > 0 && !answer_sequencer_.wait_for(place - 1)))
      return false;
    bool has_left = false;
    auto leave = [&] {
      if (!std::exchange(has_left, true)) send_sequencer_.advance();
    };
    auto ref = put(n, part, leave);
    if (!answer_sequencer_.wait_for(place)) return false;
    if (!ref) ref = retry_put(n, part);
    TRY(record_ref(n, TRY(std::move(ref))));
    leave();
    answer_sequencer_.advance();
    return true;
  }

  // When the next part is stored, this one is too, and only its response was lost.
  Result<std::string> retry_put(std::uint32_t n, const storage::Payload& part) {
    auto ref = put_with_retry(n, part);
    if (ref || ref.error().code != Code::invalid) return ref;
    auto status = deps_.client.status(open_.handle);
    if (status && list_of(*status, "staged").size() >= n) return recent_ref(*status, n).value_or("");
    return ref;
  }

  Result<std::string> put_with_retry(std::uint32_t n, const storage::Payload& part) {
    return transfer_retry().run([&](int) { return put(n, part, [] {}); });
  }

  Result<std::string> put(std::uint32_t n, const storage::Payload& part, const std::function<void()>& left) {
    return string_member(TRY(deps_.client.put_part(open_.handle, n, part, left)), "ref").value_or("");
  }

  // The journal has the refs up to the first missing one.
  Result<void> record_ref(std::uint32_t n, std::string ref) {
    std::lock_guard lock(mutex_);
    arrived_.emplace(n, std::move(ref));
    for (auto it = arrived_.begin(); it != arrived_.end() && it->first == open_.refs.size() + 1;
         it = arrived_.erase(it))
      open_.refs.push_back(std::move(it->second));
    return journal_.write(open_);
  }

  void stop(Error error) {
    std::lock_guard lock(mutex_);
    if (!failed_) failed_ = std::move(error);
    is_stopped_ = true;
    send_sequencer_.close();
    answer_sequencer_.close();
  }

  Result<Json> commit() {
    auto parts = Json::array();
    for (std::size_t i = 0; i < open_.refs.size(); ++i) {
      Json part{{"part", i + 1}};
      if (!open_.refs[i].empty()) part["ref"] = open_.refs[i];
      parts.push_back(std::move(part));
    }
    return transfer_retry().run([&](int) { return deps_.client.commit(open_.handle, parts); });
  }

  // After a transient failure the record stays for the next run. After any other the upload is discarded in
  // the store too.
  Failure abandon(Error error) {
    if (net::is_transient(error)) {
      error.message += "; run the same command again to go on where it stopped";
      return Failure(std::move(error));
    }
    if (auto aborted = deps_.client.abort(open_.handle); aborted) journal_.remove();
    return Failure(std::move(error));
  }

  const SendPlan& plan_;
  const ChunkedSendDeps& deps_;
  OpenFile source_;
  Journal journal_;
  storage::Sequence sequence_ = storage::Sequence::in_order;
  std::size_t resumed_ = 0;
  std::atomic<std::uint32_t> next_ = 1;
  std::atomic<bool> is_stopped_ = false;
  Sequencer send_sequencer_, answer_sequencer_;
  std::mutex mutex_;  // guards the members below
  JournalEntry open_;
  std::map<std::uint32_t, std::string> arrived_;  // refs beyond the first missing one
  std::optional<Error> failed_;
};

}  // namespace

Result<UploadTarget> active_target(const Json& backends, const std::string& wanted) {
  for (const auto& row : backends.value("backends", Json::array())) {
    if (!row.value("active", false)) continue;
    auto id = row.value("id", "");
    if (!wanted.empty() && config::canonical_backend(wanted) != config::canonical_backend(id))
      return fail(Code::invalid, "uploads go to the active backend, which is '{}' and not '{}'", id, wanted);
    return UploadTarget{
        id, row.value("chunked_upload", false), row.value("inline_upload_bytes", storage::kMaxInlineBytes),
        row.value("max_upload_bytes", storage::kMaxInlineBytes), row.value("upload_limit_reason", "")};
  }
  return fail(Code::invalid, "No active storage backend. Configure one and select it as active.");
}

Result<SendPlan> plan_send(const std::string& path, const UploadTarget& target) {
  auto source = TRY(OpenFile::open(path));
  SendPlan plan{path, std::filesystem::path(path).filename().string(), source.identity().size, "inline"};
  TRY(storage::check_upload_name(plan.name));
  if (plan.size > target.ceiling)
    return fail(Code::too_large, "{} has {} bytes; '{}' takes {}. {}", path, plan.size, target.backend,
                target.ceiling, target.limit_reason);
  // A file of one part costs one request inline and three chunked.
  if (target.is_chunked && plan.size > kPartBytes) plan.lane = "chunked";
  return plan;
}

Result<Json> send_file(const SendPlan& plan, const SendDeps& deps) {
  if (plan.lane == "inline") return send_inline(plan, deps);
  return send_chunked(plan,
                      {deps.client.uploads(), deps.buffers, deps.moved, deps.journal_folder, deps.user});
}

Result<Json> send_chunked(const SendPlan& plan, const ChunkedSendDeps& deps) {
  return ChunkedSend(plan, deps, TRY(OpenFile::open(plan.path))).run();
}

}  // namespace dash::client
