#include "core/base/json.hpp"

#include <set>

namespace dash {
namespace {

template <class J>
std::string dump(const J& value, int indent) {
  return value.dump(indent, ' ', false, J::error_handler_t::replace);
}

// Watches the depth and the member names while nlohmann builds the document.
class Watch {
 public:
  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (names_.size() == kMaxJsonDepth) throw std::length_error("nesting");
      names_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      names_.pop_back();
    } else if (event == Event::key && !names_.back().insert(parsed.get_ref<const std::string&>()).second) {
      throw std::invalid_argument(parsed.get_ref<const std::string&>());
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> names_;  // one a level: the members seen so far
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  try {
    Watch watch;
    return Json::parse(text.begin(), text.end(), std::ref(watch));
  } catch (const Json::parse_error& e) {
    return fail(Code::invalid, "not JSON (error at byte {})", e.byte);
  } catch (const std::length_error&) {
    return fail(Code::invalid, "JSON is nested deeper than {} levels", kMaxJsonDepth);
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
