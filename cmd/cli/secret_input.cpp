#include "cmd/cli/secret_input.hpp"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <optional>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/output.hpp"
#include "core/base/file.hpp"

namespace dash::cmd {
namespace {

constexpr std::size_t kMaxSecretBytes = 1u << 20;

// The controlling terminal with its echo switched off, put back as it was.
class QuietTerminal {
 public:
  QuietTerminal() : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
    if (fd_ < 0 || ::tcgetattr(fd_, &before_) != 0) return;
    auto quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_quiet_ = ::tcsetattr(fd_, TCSAFLUSH, &quiet) == 0;
  }
  ~QuietTerminal() {
    restore();
    if (fd_ >= 0) ::close(fd_);
  }
  QuietTerminal(const QuietTerminal&) = delete;
  QuietTerminal& operator=(const QuietTerminal&) = delete;

  void restore() const {
    if (is_quiet_) ::tcsetattr(fd_, TCSAFLUSH, &before_);
  }
  bool is_open() const { return is_quiet_; }
  void say(const std::string& text) { [[maybe_unused]] auto n = ::write(fd_, text.data(), text.size()); }
  std::string read_line() {
    std::string out;
    char c = 0;
    while (::read(fd_, &c, 1) == 1 && c != '\n') out += c;
    say("\n");
    return out;
  }

 private:
  int fd_;
  bool is_quiet_ = false;
  termios before_{};
};

Result<Secret> ask(Context& context, const std::string& question, const std::string& flag) {
  context.out.wait_for("");
  std::optional<QuietTerminal> terminal;
  if (context.may_ask) terminal.emplace();
  if (!terminal || !terminal->is_open())
    return fail(Code::usage, "{} is needed and there is nobody to ask: pass {} FILE, or - for stdin",
                question, flag);
  UndoAtInterrupt echo([&] { terminal->restore(); });
  terminal->say(one_line(question) + ": ");
  Secret answer(terminal->read_line());
  if (answer.empty()) return fail(Code::usage, "{}: nothing was typed", question);
  return answer;
}

std::string read_stdin() {
  std::string out;
  std::string piece(4096, '\0');
  for (;;) {
    auto n = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (n <= 0 || out.size() > kMaxSecretBytes) return out;
    out.append(piece, 0, static_cast<std::size_t>(n));
  }
}

}  // namespace

Result<Secret> read_secret_file(const std::string& path) {
  std::string text;
  if (path == "-") {
    text = read_stdin();
  } else {
    auto read = read_file(path, kMaxSecretBytes);
    if (!read) return fail(Code::usage, "{}", read.error().message);
    text = *std::move(read);
  }
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty())
    return fail(Code::usage, "{} is empty where a secret was expected", path == "-" ? "stdin" : path);
  return Secret(std::move(text));
}

Result<Secret> secret_from(Context& context, const std::string& file, const std::string& question,
                           const std::string& flag) {
  return file.empty() ? ask(context, question, flag) : read_secret_file(file);
}

Result<Secret> new_secret_from(Context& context, const std::string& file, const std::string& question,
                               const std::string& flag) {
  if (!file.empty()) return read_secret_file(file);
  auto first = TRY(ask(context, question, flag));
  auto second = TRY(ask(context, question + " (again)", flag));
  if (first.expose() != second.expose()) return fail(Code::usage, "the two answers differ");
  return first;
}

}  // namespace dash::cmd
