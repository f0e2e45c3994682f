#include "core/base/json.hpp"

#include <set>

namespace dash {
namespace {

template <class J>
std::string dump(const J& value, int indent) {
  return value.dump(indent, ' ', false, J::error_handler_t::replace);
}

// Checks the depth and the member names while nlohmann builds the document. nlohmann's own parser callback
// could do the same, but looks through all siblings after each nested value: a list of n objects would take
// n² steps.
class StrictSaxHandler {
 public:
  explicit StrictSaxHandler(Json& document) : builder_(document) {}

  bool null() { return builder_.null(); }
  bool boolean(bool value) { return builder_.boolean(value); }
  bool number_integer(Json::number_integer_t value) { return builder_.number_integer(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return builder_.number_unsigned(value); }
  bool number_float(Json::number_float_t value, const std::string& text) {
    // A whole number beyond 64 bits would become another one.
    if (text.find_first_of(".eE") == std::string::npos) throw std::range_error(text);
    return builder_.number_float(value, text);
  }
  bool string(std::string& value) { return builder_.string(value); }
  bool binary(Json::binary_t& value) { return builder_.binary(value); }
  bool start_object(std::size_t size) { return push_level(), builder_.start_object(size); }
  bool start_array(std::size_t size) { return push_level(), builder_.start_array(size); }
  bool end_object() { return levels_.pop_back(), builder_.end_object(); }
  bool end_array() { return levels_.pop_back(), builder_.end_array(); }
  bool key(std::string& name) {
    if (!levels_.back().insert(name).second) throw std::invalid_argument(name);
    return builder_.key(name);
  }
  template <class Error>
  bool parse_error(std::size_t at, const std::string& token, const Error& error) {
    return builder_.parse_error(at, token, error);
  }

 private:
  void push_level() {
    if (levels_.size() == kMaxJsonDepth) throw std::length_error("nesting");
    levels_.emplace_back();
  }
  nlohmann::detail::json_sax_dom_parser<Json> builder_;
  std::vector<std::set<std::string>> levels_;  // one a level: the members read so far
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  // nlohmann takes a NUL for the end of its input and would ignore what follows.
  if (auto nul = text.find('\0'); nul != text.npos)
    return fail(Code::invalid, "not JSON (error at byte {})", nul + 1);
  try {
    Json document;
    StrictSaxHandler handler(document);
    Json::sax_parse(text.begin(), text.end(), &handler);
    return document;
  } catch (const Json::parse_error& e) {
    return fail(Code::invalid, "not JSON (error at byte {})", e.byte);
  } catch (const std::length_error&) {
    return fail(Code::invalid, "JSON is nested deeper than {} levels", kMaxJsonDepth);
  } catch (const std::range_error& e) {
    return fail(Code::invalid, "the number {} is too large to be kept exactly: write it as text", e.what());
  } catch (const std::invalid_argument& e) {
    return fail(Code::invalid, "JSON object has the member '{}' twice", e.what());
  } catch (const Json::exception& e) {
    return fail(Code::invalid, "not JSON ({})", e.id);
  }
}

std::string dump_json(const Json& value, int indent) { return dump(value, indent); }
std::string dump_json(const OrderedJson& value, int indent) { return dump(value, indent); }

std::optional<std::string> string_member(const Json& object, std::string_view key) {
  auto it = object.find(key);
  if (it == object.end() || !it->is_string()) return std::nullopt;
  return it->get<std::string>();
}

}  // namespace dash
