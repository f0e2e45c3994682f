#include "cmd/cli/printer.hpp"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "core/base/environment.hpp"
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

// heading() puts these around its text until the line is printed. They are removed from foreign text.
constexpr char kHeadingStart = '\x0e';
constexpr char kHeadingEnd = '\x0f';

std::string with_headings(std::string_view line) {
  std::string out;
  for (char c : line) {
    if (c == kHeadingStart)
      out += "\033[1m";
    else if (c == kHeadingEnd)
      out += "\033[0m";
    else
      out += c;
  }
  return out;
}

bool shows_headings() { return environment_variable("NO_COLOR").empty() && ::isatty(STDOUT_FILENO); }

constexpr std::size_t kBatchBytes = 64u << 10;

// Sorts the members by name, as in a document from an instance: a command prints the same bytes over the API
// and on a data folder.
OrderedJson with_schema(const OrderedJson& members) {
  OrderedJson out;
  out["schema"] = kOutputSchema;
  const OrderedJson sorted = Json(members);
  for (const auto& [name, value] : sorted.items()) out[name] = value;
  return out;
}

// Returns a value as it stands in a document, `depth` levels deep.
std::string indented(const OrderedJson& value, std::size_t depth) {
  std::string out;
  for (char c : dump_json(value, 2)) {
    out += c;
    if (c == '\n') out.append(2 * depth, ' ');
  }
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

Printer::Printer(Format format, bool is_quiet)
    : format_(format), is_quiet_(is_quiet), has_headings_(format == Format::text && shows_headings()) {
  if (!is_quiet && ::isatty(STDERR_FILENO)) terminal_ = std::make_unique<TerminalProgress>();
}

Printer::~Printer() = default;

Progress& Printer::progress() {
  if (terminal_) return *terminal_;
  return silent_;
}

void Printer::set_activity(std::string what) {
  if (terminal_) terminal_->set_activity(std::move(what));
}

void Printer::document(const OrderedJson& members) {
  if (is_json()) document_ = with_schema(members);
}

void Printer::record(const OrderedJson& members) {
  if (!is_json()) return;
  has_records_ = true;
  raw(dump_json(with_schema(members)) + "\n");
}

void Printer::begin_list(const OrderedJson& members, std::string_view name) {
  if (!is_json()) return;
  list_size_ = 0;
  auto start = dump_json(with_schema(members), 2);
  start.resize(start.size() - std::string_view("\n}").size());
  raw(fmt::format("{},\n  \"{}\": [", start, name));
}

void Printer::list_item(const OrderedJson& item) {
  if (!is_json()) return;
  raw(fmt::format("{}\n    {}", (*list_size_)++ > 0 ? "," : "", indented(Json(item), 2)));
}

void Printer::end_list() {
  raw(*list_size_ > 0 ? "\n  ]" : "]");
  const auto members = document_.value_or(OrderedJson::object());
  for (const auto& [name, value] : members.items())
    if (name != "schema") raw(fmt::format(",\n  \"{}\": {}", name, indented(value, 1)));
  raw("\n}\n");
}

void Printer::raw(std::string_view bytes) {
  if (!is_batched_) return write_stdout(bytes);
  batch_ += bytes;
  if (batch_.size() >= kBatchBytes) flush();
}

void Printer::flush() {
  if (!batch_.empty()) write_stdout(std::exchange(batch_, {}));
}

void Printer::write_stdout(std::string_view bytes) {
  if (is_stdout_closed_ || put(STDOUT_FILENO, bytes)) return;
  is_stdout_closed_ = true;
  // A reader that closed its end (| head) is no error; any other failure is reported.
  if (errno != EPIPE)
    print_stderr(fmt::format("error: cannot write to standard output: {}", ::strerror(errno)));
}

bool Printer::put(int fd, std::string_view bytes) {
  auto write = [&] { return write_all(fd, bytes); };
  return terminal_ ? terminal_->print_over(write) : write();
}

void Printer::print_line(const std::string& text) {
  auto allowed = has_headings_ ? std::string("\t\n") + kHeadingStart + kHeadingEnd : std::string("\t\n");
  raw(with_headings(escape_controls(text, allowed)) + "\n");
}

void Printer::print_stderr(const std::string& text) {
  flush();
  put(STDERR_FILENO, printable(text) + "\n");
}

std::string Printer::heading(std::string_view text) const {
  if (!has_headings_) return std::string(text);
  return fmt::format("{}{}{}", kHeadingStart, text, kHeadingEnd);
}

void Printer::print_error(const Error& error) {
  print_stderr("error: " + without_userinfo(error.message));
  if (!is_json()) return;
  if (!document_) document_ = with_schema(OrderedJson::object());
  (*document_)["error"] = to_json(error);
}

int Printer::finish(const Result<void>& result) {
  set_activity("");
  bool is_answer = !result && result.error().code == Code::differences;
  if (!result && !is_answer) print_error(result.error());
  if (list_size_)
    end_list();
  else if (document_)
    raw(dump_json(*document_, has_records_ ? -1 : 2) + "\n");
  if (!result) return info(result.error().code).exit_code;
  return is_stdout_closed_ ? 1 : 0;
}

std::string printable(std::string_view text) { return escape_controls(text, "\t\n"); }

std::string one_line(std::string_view text) { return escape_controls(text, ""); }

}  // namespace dash::cmd
