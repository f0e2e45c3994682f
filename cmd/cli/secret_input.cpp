#include "cmd/cli/secret_input.hpp"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <optional>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/printer.hpp"
#include "core/base/file.hpp"

namespace dash::cmd {
namespace {

constexpr std::size_t kMaxSecretBytes = 1u << 20;

// The controlling terminal with its echo switched off; the destructor restores it.
class NoEchoTerminal {
 public:
  NoEchoTerminal() : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
    if (fd_ < 0 || ::tcgetattr(fd_, &before_) != 0) return;
    auto quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_quiet_ = ::tcsetattr(fd_, TCSAFLUSH, &quiet) == 0;
  }
  ~NoEchoTerminal() {
    restore();
    if (fd_ >= 0) ::close(fd_);
  }
  NoEchoTerminal(const NoEchoTerminal&) = delete;
  NoEchoTerminal& operator=(const NoEchoTerminal&) = delete;

  void restore() const {
    if (is_quiet_) ::tcsetattr(fd_, TCSAFLUSH, &before_);
  }
  bool is_open() const { return is_quiet_; }
  void print(const std::string& text) { [[maybe_unused]] auto n = ::write(fd_, text.data(), text.size()); }
  std::string read_line() {
    std::string out;
    char c = 0;
    while (::read(fd_, &c, 1) == 1 && c != '\n') out += c;
    print("\n");
    return out;
  }

 private:
  int fd_;
  bool is_quiet_ = false;
  termios before_{};
};

Result<Secret> prompt_secret(Context& context, const std::string& prompt, const std::string& flag) {
  context.out.set_activity("");
  std::optional<NoEchoTerminal> terminal;
  if (context.can_prompt) terminal.emplace();
  if (!terminal || !terminal->is_open())
    return fail(Code::usage, "{} is needed and no terminal can prompt for it: pass {} FILE, or - for stdin",
                prompt, flag);
  OnInterrupt restore_echo([&] { terminal->restore(); });
  terminal->print(one_line(prompt) + ": ");
  Secret answer(terminal->read_line());
  if (answer.empty()) return fail(Code::usage, "{}: nothing was typed", prompt);
  return answer;
}

}  // namespace

Result<Secret> read_secret_file(const std::string& path) {
  auto read = read_input(path, kMaxSecretBytes);
  if (!read) return fail(Code::usage, "{}", read.error().message);
  std::string text = *std::move(read);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty())
    return fail(Code::usage, "{} is empty where a secret was expected", path == "-" ? "stdin" : path);
  return Secret(std::move(text));
}

Result<Secret> read_secret(Context& context, const std::string& file, const std::string& prompt,
                           const std::string& flag) {
  return file.empty() ? prompt_secret(context, prompt, flag) : read_secret_file(file);
}

Result<Secret> read_new_secret(Context& context, const std::string& file, const std::string& prompt,
                               const std::string& flag) {
  if (!file.empty()) return read_secret_file(file);
  auto first = TRY(prompt_secret(context, prompt, flag));
  auto second = TRY(prompt_secret(context, prompt + " (again)", flag));
  if (first.expose() != second.expose()) return fail(Code::usage, "the two answers differ");
  return first;
}

}  // namespace dash::cmd
