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
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxJsonDepth) throw std::length_error("nesting");
    if (event == Json::parse_event_t::object_start) names_.emplace_back();
    if (event == Json::parse_event_t::object_end) names_.pop_back();
    if (event == Json::parse_event_t::key && !names_.back().insert(parsed.get_ref<const std::string&>()).second)
      throw std::invalid_argument(parsed.get_ref<const std::string&>());
    return true;
  }

 private:
  std::vector<std::set<std::string>> names_;
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
