#include "core/deploy/hcl.hpp"

#include <algorithm>
#include <vector>

#include "core/base/json.hpp"
#include "core/base/text.hpp"

namespace dash::deploy {
namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || (c >= '0' && c <= '9') || c == '-'; }

class HclScanner {
 public:
  explicit HclScanner(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  Result<Variables> variables() {
    for (TRY(skip_blanks()); !is_end(); TRY(skip_blanks())) {
      char c = text_[at_];
      if (c == '"') {
        add_word(TRY(skip_string()));
      } else if (is_here_document()) {
        TRY(skip_here_document());
      } else if (starts_name(c)) {
        add_word(name());
      } else if (c == '{' || c == '[' || c == '(') {
        open_bracket(c);
      } else if (c == '}' || c == ']' || c == ')') {
        TRY(close_bracket());
      } else {
        add_word(std::string(1, c));
        ++at_;
      }
    }
    if (depth_ > 0) return broken("it ends inside of a block");
    return std::move(found_);
  }

 private:
  bool is_end() const { return at_ >= text_.size(); }
  bool sees(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  // `words_` are those of this line, at the top or inside of a variable's block.
  void add_word(std::string word) {
    if (depth_ > 1 || (depth_ == 1 && !variable_)) return;
    words_.push_back(std::move(word));
    if (depth_ == 0 || words_.size() < 2 || words_[1] != "=") return;
    if (words_[0] == "default") variable_->has_default = true;
    if (words_[0] == "sensitive" && words_.size() == 3) variable_->is_sensitive = words_[2] == "true";
  }

  void open_bracket(char c) {
    if (c == '{' && depth_ == 0 && words_.size() == 2 && words_[0] == "variable")
      variable_ = &found_[words_[1]];
    words_.clear();
    ++depth_, ++at_;
  }

  Result<void> close_bracket() {
    if (--depth_ < 0) return broken("a bracket closes that none opened");
    if (depth_ == 0) variable_ = nullptr;
    words_.clear();
    ++at_;
    return {};
  }

  Failure broken(std::string_view why) const {
    auto line = 1 + std::ranges::count(text_.substr(0, std::min(at_, text_.size())), '\n');
    return fail(Code::invalid, "line {}: {}", line, why);
  }

  std::string name() {
    auto start = at_;
    while (!is_end() && continues_name(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  // Skips blanks and comments. A new line ends the words of a block's head.
  Result<void> skip_blanks() {
    while (!is_end()) {
      if (sees("#") || sees("//")) {
        skip_line();
      } else if (sees("/*")) {
        auto end = text_.find("*/", at_ + 2);
        if (end == text_.npos) return broken("a comment is not closed");
        at_ = end + 2;
      } else if (is_blank(text_[at_])) {
        if (text_[at_] == '\n') words_.clear();
        ++at_;
      } else {
        break;
      }
    }
    return {};
  }

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  // Skips a string and returns its text as it is written.
  Result<std::string> skip_string() {
    auto start = ++at_;
    while (!is_end() && text_[at_] != '"') {
      if (text_[at_] == '\n') return broken("a string is not closed");
      if (sees("$${") || sees("%%{")) {
        at_ += 3;
      } else if (sees("${") || sees("%{")) {
        at_ += 2;
        TRY(skip_template());
      } else {
        at_ += text_[at_] == '\\' ? 2 : 1;
      }
    }
    if (is_end()) return broken("a string is not closed");
    auto out = std::string(text_.substr(start, at_ - start));
    ++at_;
    return out;
  }

  // Skips the expression of ${…}, whose strings may hold further ones.
  Result<void> skip_template() {
    if (++nesting_ > kMaxNesting) return broken("its templates are nested too deeply");
    for (int depth = 1; depth > 0;) {
      TRY(skip_blanks());
      if (is_end()) return broken("a template is not closed");
      char c = text_[at_];
      if (c == '"') {
        TRY(skip_string());
      } else if (is_here_document()) {
        TRY(skip_here_document());
      } else {
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        ++at_;
      }
    }
    --nesting_;
    return {};
  }

  bool is_here_document() const {
    auto at = at_ + 2 + (text_.substr(at_).starts_with("<<-") ? 1u : 0u);
    return sees("<<") && at < text_.size() && starts_name(text_[at]);
  }

  Result<void> skip_here_document() {
    at_ += sees("<<-") ? 3 : 2;
    auto mark = name();
    for (skip_line(); !is_end(); skip_line()) {
      auto end = std::min(text_.find('\n', ++at_), text_.size());
      if (trim(text_.substr(at_, end - at_)) != mark) continue;
      at_ = end;
      return {};
    }
    return broken(fmt::format("the here document {} is not closed", mark));
  }

  static constexpr int kMaxNesting = 64;
  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;  // of templates
  int depth_ = 0;    // of brackets
  Variables found_;
  Variable* variable_ = nullptr;  // whose block this is
  std::vector<std::string> words_;
};

}  // namespace

void merge_variables(Variables& into, const Variables& more) {
  for (const auto& [name, variable] : more) {
    auto& merged = into[name];
    merged.has_default |= variable.has_default;
    merged.is_sensitive |= variable.is_sensitive;
  }
}

Result<Variables> hcl_variables(std::string_view text) { return HclScanner(text).variables(); }

// "variable" is an object of names, or a list of such objects.
Result<Variables> json_variables(std::string_view text) {
  auto json = TRY(parse_json(text));
  Variables found;
  if (!json.is_object()) return fail(Code::invalid, "it is no JSON object");
  auto member = json.find("variable");
  if (member == json.end()) return found;
  auto blocks = member->is_array() ? *member : Json::array({*member});
  for (const auto& block : blocks) {
    if (!block.is_object()) return fail(Code::invalid, "its member variable is no object");
    for (const auto& [name, value] : block.items()) {
      bool is_object = value.is_object();
      merge_variables(found, {{name,
                               {is_object && value.contains("default"),
                                is_object && value.value("sensitive", Json()) == Json(true)}}});
    }
  }
  return found;
}

}  // namespace dash::deploy
