#include "core/base/json.hpp"

#include <algorithm>

namespace dash {
namespace {

template <class J>
std::string dump(const J& value, int indent) {
  return value.dump(indent, ' ', false, J::error_handler_t::replace);
}

// Builds the document, and checks depth and member names while it does: nlohmann's own builder keeps the last
// of two members with one name, and its parser callback looks through all siblings after each nested value.
class DocumentBuilder {
 public:
  DocumentBuilder(Json& document, const TakeMember& take) : document_(document), take_(take) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string& text) {
    // A whole number beyond 64 bits would become another one.
    if (text.find_first_of(".eE") == std::string::npos) throw std::range_error(text);
    return add(value);
  }
  bool string(std::string& value) { return add(value); }
  bool binary(Json::binary_t& value) { return add(value); }
  bool start_object(std::size_t) { return open(Json::value_t::object); }
  bool start_array(std::size_t) { return open(Json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    auto& level = levels_.back();
    auto& members = level.container->get_ref<Json::object_t&>();
    auto count = members.size();
    level.member = members.emplace_hint(members.end(), name, nullptr);  // most documents are sorted
    if (members.size() == count) throw std::invalid_argument(name);
    return true;
  }
  template <class Error>
  bool parse_error(std::size_t, const std::string&, const Error& error) {
    throw error;
  }

 private:
  struct Level {
    Json* container;
    Json::object_t::iterator member;  // of an object: the one that is being read
    bool has_taken = false;
  };

  bool add(Json value) {
    place(std::move(value));
    offer();
    return true;
  }
  bool open(Json::value_t type) {
    if (levels_.size() == kMaxJsonDepth) throw std::length_error("nesting");
    levels_.push_back({&place(Json(type)), {}});
    return true;
  }
  bool close() {
    auto& level = levels_.back();
    if (level.has_taken)
      std::erase_if(level.container->get_ref<Json::object_t&>(),
                    [](const auto& member) { return member.second.is_discarded(); });
    levels_.pop_back();
    offer();
    return true;
  }
  Json& place(Json value) {
    if (levels_.empty()) return document_ = std::move(value);
    auto& level = levels_.back();
    if (!level.container->is_array()) return level.member->second = std::move(value);
    return level.container->get_ref<Json::array_t&>().emplace_back(std::move(value));
  }
  // The name stays until the object ends, so that a second member with it is found.
  void offer() {
    if (!take_ || levels_.size() != 2 || !document_.is_object() || !levels_[1].container->is_object()) return;
    auto& [name, value] = *levels_[1].member;
    if (!take_(levels_[0].member->first, name, value)) return;
    value = Json(Json::value_t::discarded);
    levels_[1].has_taken = true;
  }

  Json& document_;
  const TakeMember& take_;
  std::vector<Level> levels_;
};

}  // namespace

Result<Json> parse_json(std::string_view text) { return parse_json(text, nullptr); }

Result<Json> parse_json(std::string_view text, const TakeMember& take) {
  // nlohmann takes a NUL for the end of its input and would ignore what follows.
  if (auto nul = text.find('\0'); nul != text.npos)
    return fail(Code::invalid, "not JSON (error at byte {})", nul + 1);
  try {
    Json document;
    DocumentBuilder builder(document, take);
    Json::sax_parse(text.begin(), text.end(), &builder);
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

void append_json(std::string& out, std::string_view text) {
  auto is_plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain)) {
    ((out += '"') += text) += '"';
  } else {
    out += dump_json(Json(text));
  }
}

std::string dump_strings(const std::map<std::string, std::string>& members) {
  std::string out = "{";
  for (const auto& [name, text] : members) {
    if (out.size() > 1) out += ',';
    append_json(out, name);
    out += ':';
    append_json(out, text);
  }
  return out += '}';
}

std::optional<std::string> string_member(const Json& object, std::string_view key) {
  auto it = object.find(key);
  if (it == object.end() || !it->is_string()) return std::nullopt;
  return it->get<std::string>();
}

}  // namespace dash
