#include "core/storage/settings/state_document.hpp"

namespace dash::storage {
namespace {

std::string index_text(const Json& instance) {
  auto key = instance.is_object() ? instance.value("index_key", Json()) : Json();
  if (key.is_string() || key.is_number_integer()) return fmt::format("[{}]", dump_json(key));
  return "";
}

void add_resource(const Json& resource, std::vector<StateResource>& out) {
  auto type = string_member(resource, "type").value_or("");
  auto module = string_member(resource, "module").value_or("");
  auto address = fmt::format("{}{}{}{}.{}", module, module.empty() ? "" : ".",
                             string_member(resource, "mode").value_or("") == "data" ? "data." : "", type,
                             string_member(resource, "name").value_or(""));
  auto instances = resource.find("instances");
  if (instances == resource.end() || !instances->is_array()) {
    out.push_back({address, type});
    return;
  }
  for (const auto& instance : *instances) out.push_back({address + index_text(instance), type});
}

OrderedJson shown_outputs(const Json& state) {
  auto out = OrderedJson::object();
  auto outputs = state.find("outputs");
  if (outputs == state.end() || !outputs->is_object()) return out;
  for (const auto& [name, output] : outputs->items()) {
    bool is_clear = output.is_object() && output.value("sensitive", Json()) != Json(true);
    out[name] = is_clear ? OrderedJson(output.value("value", Json())) : OrderedJson();
  }
  return out;
}

}  // namespace

std::optional<StateDocument> parse_state(std::string_view text) {
  auto json = parse_json(text);
  if (!json || !json->is_object()) return std::nullopt;
  auto serial = json->find("serial");
  auto lineage = string_member(*json, "lineage");
  if (serial == json->end() || !serial->is_number_integer() || !lineage) return std::nullopt;
  StateDocument state{serial->get<std::int64_t>(), *lineage, {}, shown_outputs(*json)};
  auto resources = json->find("resources");
  if (resources != json->end() && resources->is_array())
    for (const auto& resource : *resources)
      if (resource.is_object()) add_resource(resource, state.resources);
  return state;
}

StateRelation relation_of(std::string_view source, std::string_view target) {
  if (source == target) return StateRelation::same_bytes;
  if (target.empty()) return StateRelation::older;
  auto from = parse_state(source);
  auto to = parse_state(target);
  bool is_older = from && to && from->lineage == to->lineage && to->serial < from->serial;
  return is_older ? StateRelation::older : StateRelation::newer_or_other;
}

std::string conflict_text(std::string_view source, std::string_view target) {
  auto from = parse_state(source);
  auto to = parse_state(target);
  if (!from || !to) return "the two cannot be compared";
  if (from->lineage != to->lineage)
    return fmt::format("its lineage is {}, and that of the copy is {}", to->lineage, from->lineage);
  if (from->serial == to->serial) return fmt::format("both have serial {} and other contents", to->serial);
  return fmt::format("its serial is {}, and that of the copy is {}", to->serial, from->serial);
}

}  // namespace dash::storage
