#include "core/agent/remote/done_jobs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/fd.hpp"
#include "core/base/file.hpp"

namespace dash::agent {
namespace {

constexpr std::size_t kMaxFileBytes = 8u << 20;
constexpr std::size_t kRewriteAtLines = 2 * kKeptJobIds;

}  // namespace

void DoneJobs::remember(std::string id) {
  if (!known_.insert(id).second) return;
  order_.push_back(std::move(id));
  if (order_.size() <= kKeptJobIds) return;
  known_.erase(order_.front());
  order_.pop_front();
}

Result<DoneJobs> DoneJobs::open(const std::string& state_folder) {
  DoneJobs out(state_folder + "/jobs.done");
  auto text = read_file(out.path_, kMaxFileBytes);
  if (!text && text.error().code == Code::not_found) return out;
  if (!text) return fail(Code::usage, "{}", text.error().message);
  std::string_view rest = *text;
  for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
    if (end > 0) out.remember(std::string(rest.substr(0, end)));
    rest.remove_prefix(end + 1);
  }
  TRY(out.rewrite());
  return out;
}

Result<void> DoneJobs::rewrite() {
  TRY(write_file(path_, order_.empty() ? "" : fmt::format("{}\n", fmt::join(order_, "\n")), 0600));
  lines_ = order_.size();
  return {};
}

Result<void> DoneJobs::add(const std::string& id) {
  if (lines_ >= kRewriteAtLines) TRY(rewrite());
  Fd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  auto line = id + "\n";
  bool is_written = file.get() >= 0 && ::write(file.get(), line.data(), line.size()) == std::ssize(line) &&
                    ::fsync(file.get()) == 0;
  if (!is_written) {
    lines_ = kRewriteAtLines;  // half a line may be there
    return fail(Code::internal, "cannot write {}: {}", path_, std::strerror(errno));
  }
  ++lines_;
  remember(id);
  return {};
}

}  // namespace dash::agent
