#include "cmd/cli/output.hpp"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/redact.hpp"
#include "core/base/utf8.hpp"

namespace dash::cmd {
namespace {

std::string amount(double value, Unit unit) {
  if (unit == Unit::items) return fmt::format("{:.0f}", value);
  for (auto name : {"B", "KiB", "MiB"}) {
    if (value < 1024) return fmt::format("{:.1f} {}", value, name);
    value /= 1024;
  }
  return fmt::format("{:.1f} GiB", value);
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// What heading() puts around its text until the line is printed: no text from elsewhere keeps them.
constexpr char kHeadingBegins = '\x0e';
constexpr char kHeadingEnds = '\x0f';

std::string with_headings(std::string_view line) {
  std::string out;
  for (char c : line) {
    if (c == kHeadingBegins)
      out += "\033[1m";
    else if (c == kHeadingEnds)
      out += "\033[0m";
    else
      out += c;
  }
  return out;
}

// Members in the order of their names, as a document that came from an instance has them: both doors of a
// command print the same bytes.
OrderedJson with_schema(const OrderedJson& members) {
  OrderedJson out;
  out["schema"] = kOutputSchema;
  const OrderedJson sorted = Json(members);
  for (const auto& [name, value] : sorted.items()) out[name] = value;
  return out;
}

OrderedJson to_json(const Error& error) {
  OrderedJson out;
  out["code"] = info(error.code).word;
  out["message"] = without_userinfo(error.message);
  if (error.retry_after) out["retry_after_seconds"] = error.retry_after->count();
  if (error.body) out["detail"] = *error.body;
  return out;
}

}  // namespace

std::string progress_text(std::string_view what, std::uint64_t done, std::uint64_t total, double per_second,
                          Unit unit) {
  auto text = fmt::format("{} {}", what, amount(static_cast<double>(done), unit));
  if (total > 0)
    text += fmt::format("/{} ({}%)", amount(static_cast<double>(total), unit), done * 100 / total);
  if (unit == Unit::bytes) text += fmt::format(", {}/s", amount(per_second, unit));
  if (unit == Unit::bytes && total > done && per_second >= 1)
    text += fmt::format(", {:.0f} s left", static_cast<double>(total - done) / per_second);
  return text;
}

Output::Output(Format format, bool is_quiet) : format_(format), is_quiet_(is_quiet) {
  if (!is_quiet && ::isatty(STDERR_FILENO)) terminal_ = std::make_unique<TerminalProgress>();
}

Output::~Output() = default;

Progress& Output::progress() {
  if (terminal_) return *terminal_;
  return silent_;
}

void Output::wait_for(std::string what) {
  if (terminal_) terminal_->wait_for(std::move(what));
}

void Output::document(const OrderedJson& members) {
  if (is_json()) held_ = with_schema(members);
}

void Output::record(const OrderedJson& members) {
  if (!is_json()) return;
  has_records_ = true;
  raw(dump_json(with_schema(members)) + "\n");
}

void Output::raw(std::string_view bytes) {
  if (stdout_is_lost_ || put(STDOUT_FILENO, bytes)) return;
  stdout_is_lost_ = true;
  // A reader that closed its end (| head) has what it wanted; anything else is worth a word.
  if (errno != EPIPE) talk(fmt::format("error: cannot write to standard output: {}", ::strerror(errno)));
}

bool Output::put(int fd, std::string_view bytes) {
  auto write = [&] { return write_all(fd, bytes); };
  return terminal_ ? terminal_->say(write) : write();
}

void Output::put_line(const std::string& text) {
  auto allowed = has_headings() ? std::string("\t\n") + kHeadingBegins + kHeadingEnds : std::string("\t\n");
  raw(with_headings(escape_controls(text, allowed)) + "\n");
}

void Output::talk(const std::string& text) { put(STDERR_FILENO, printable(text) + "\n"); }

bool Output::has_headings() const {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && !is_json() && ::isatty(STDOUT_FILENO);
}

std::string Output::heading(std::string_view text) const {
  if (!has_headings()) return std::string(text);
  return fmt::format("{}{}{}", kHeadingBegins, text, kHeadingEnds);
}

void Output::tell_error(const Error& error) {
  talk("error: " + without_userinfo(error.message));
  if (!is_json()) return;
  if (!held_) held_ = with_schema(OrderedJson::object());
  (*held_)["error"] = to_json(error);
}

int Output::finish(const Result<void>& result) {
  wait_for("");
  bool is_answer = !result && result.error().code == Code::differences;
  if (!result && !is_answer) tell_error(result.error());
  if (held_) raw(dump_json(*held_, has_records_ ? -1 : 2) + "\n");
  if (!result) return info(result.error().code).exit_code;
  return stdout_is_lost_ ? 1 : 0;
}

std::string printable(std::string_view text) { return escape_controls(text, "\t\n"); }

std::string one_line(std::string_view text) { return escape_controls(text, ""); }

}  // namespace dash::cmd
