#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/audit/anchor.hpp"
#include "core/base/file.hpp"

namespace dash::audit {
namespace {

constexpr std::size_t kMaxAnchorBytes = 256u << 20;  // a million checkpoints

Failure file_error(std::string_view what, const std::string& path) {
  return fail(Code::internal, "cannot {} the audit anchor {}: {}", what, path, strerror(errno));
}

Result<void> append_file(const std::string& path, std::string_view text) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
  if (fd < 0) return file_error("open", path);
  auto written = ::write(fd, text.data(), text.size());
  bool good = written == static_cast<ssize_t>(text.size()) && ::fdatasync(fd) == 0;
  auto result = good ? Result<void>() : Result<void>(file_error("write", path));
  ::close(fd);
  return result;
}

class FileAnchor : public Anchor {
 public:
  explicit FileAnchor(std::string path) : path_(std::move(path)) {}
  std::string name() const override { return path_; }
  Result<std::string> newest() override {
    auto text = dash::read_file(path_, kMaxAnchorBytes);
    if (!text && text.error().code == Code::not_found) return std::string();
    return text;
  }
  Result<void> add(const Checkpoint& checkpoint) override {
    return append_file(path_, (TRY(newest()).empty() ? "" : "\n") + checkpoint.note);
  }

 protected:
  const std::string path_;
};

class LocalAnchor final : public FileAnchor {
 public:
  using FileAnchor::FileAnchor;
  Result<void> add(const Checkpoint& checkpoint) override {
    return dash::write_file(path_, checkpoint.note, 0600);
  }
  std::int64_t interval() const override { return 1; }
};

}  // namespace

std::unique_ptr<Anchor> local_anchor(std::string path) {
  return std::make_unique<LocalAnchor>(std::move(path));
}

std::unique_ptr<Anchor> file_anchor(std::string path) {
  return std::make_unique<FileAnchor>(std::move(path));
}

}  // namespace dash::audit
