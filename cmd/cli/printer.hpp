// Prints the output of a command: data to stdout, messages to stderr. In text mode line() prints, and escapes
// characters that control a terminal. In JSON mode document() holds the one document of the run, or record()
// prints one line of NDJSON each. Calls for the other mode do nothing, so a command makes both. An error
// becomes one document on stdout, or the member "error" of the held one, and one sentence on stderr. One
// thread.
#pragma once
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cmd/cli/terminal_progress.hpp"
#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/progress.hpp"
#include "core/base/shell_word.hpp"

namespace dash::cmd {

inline constexpr int kOutputSchema = 1;  // of every JSON document and record

enum class Format { text, json };

class Printer {
 public:
  Printer(Format format, bool is_quiet);
  ~Printer();
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  bool is_json() const { return format_ == Format::json; }

  template <class... A>
  void line(fmt::format_string<A...> format, A&&... args) {
    if (!is_json()) print_line(fmt::format(format, std::forward<A>(args)...));
  }
  // Sets the document of the run, at most once. The member "schema" is put first.
  void document(const OrderedJson& members);
  void record(const OrderedJson& members);
  // The document of a run whose list is too long to hold: begin_list() prints `members` and opens the array `name`,
  // list_item() prints an item of it, and document() has the members that follow.
  void begin_list(const OrderedJson& members, std::string_view name);
  void list_item(const OrderedJson& item);
  // Writes bytes of data in either mode (export --out -, fetch -o -).
  void raw(std::string_view bytes);

  // Writes to stderr. --quiet suppresses notes, never warnings.
  template <class... A>
  void note(fmt::format_string<A...> format, A&&... args) {
    if (!is_quiet_) print_stderr(fmt::format(format, std::forward<A>(args)...));
  }
  template <class... A>
  void warn(fmt::format_string<A...> format, A&&... args) {
    print_stderr("warning: " + fmt::format(format, std::forward<A>(args)...));
  }

  // While one lives, what goes to stdout is written in large pieces: for many lines at once. Messages stay in
  // their place.
  class Batch {
   public:
    explicit Batch(Printer& printer) : printer_(printer) { printer_.is_batched_ = true; }
    ~Batch() {
      printer_.flush();
      printer_.is_batched_ = false;
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

   private:
    Printer& printer_;
  };

  // Returns bold text in text mode on a terminal (not with NO_COLOR), plain text elsewhere.
  std::string heading(std::string_view text) const;
  // Draws on stderr when that is a terminal and the work takes longer than a second.
  Progress& progress();
  // Names what the next call waits for, in the same line; "" when it is over.
  void set_activity(std::string what);

  // Flushes and returns the exit code. Code::differences is a result, not an error.
  int finish(const Result<void>& result);

 private:
  void flush();
  void write_stdout(std::string_view bytes);
  void print_line(const std::string& text);
  void print_stderr(const std::string& text);
  bool put(int fd, std::string_view bytes);
  void print_error(const Error& error);
  void end_list();
  Format format_;
  bool is_quiet_;
  const bool has_headings_;
  bool is_batched_ = false;
  std::string batch_;
  bool is_stdout_closed_ = false;
  std::optional<OrderedJson> document_;
  bool has_records_ = false;
  std::optional<std::size_t> list_size_;  // set by begin_list()
  NoProgress silent_;
  std::unique_ptr<TerminalProgress> terminal_;  // when stderr is one
};

// Returns one line of the progress bar.
std::string progress_text(std::string_view what, std::uint64_t done, std::uint64_t total, double per_second,
                          Unit unit);

// Makes foreign text safe for a terminal (core/base/utf8.hpp, escape_controls); tabs and line ends stay.
std::string printable(std::string_view text);
// Also escapes line ends: for names, each of which must stay on its line.
std::string one_line(std::string_view text);

}  // namespace dash::cmd
