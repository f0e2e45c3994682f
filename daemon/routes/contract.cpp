#include "daemon/routes/contract.hpp"

#include <algorithm>
#include <mutex>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "daemon/http/api_description.hpp"

namespace dash::daemon {
namespace {

constexpr std::string_view kJson = "application/json";

// Members that say nothing about the shape, or that the library reads differently.
bool is_annotation(const std::string& name) {
  static const std::set<std::string> kNames = {"description", "example", "examples", "default", "format"};
  return kNames.contains(name);
}

std::string open_reference(std::string reference) {
  constexpr std::string_view kSchemas = "#/components/schemas/";
  return reference.replace(0, kSchemas.size(), "#/components/open/");
}

// `closed`: an object has no members but those that are described, so that a new one is described too. What is put
// together by allOf is open, since each of its parts describes some members only.
Json prepare(const OrderedJson& schema, bool closed, bool is_schema = true) {
  if (schema.is_array()) {
    auto out = Json::array();
    for (const auto& item : schema) out.push_back(prepare(item, closed));
    return out;
  }
  if (!schema.is_object()) return Json(schema);
  auto out = Json::object();
  for (const auto& [name, member] : schema.items()) {
    if (is_schema && is_annotation(name)) continue;
    bool is_map = is_schema && name == "properties";
    out[name] = prepare(member, closed && name != "allOf", !is_map);
    if (name == "$ref" && !closed) out[name] = open_reference(member.get<std::string>());
  }
  if (is_schema && closed && out.contains("properties") && !out.contains("additionalProperties"))
    out["additionalProperties"] = false;
  return out;
}

// "schemas" are closed, "open" are not.
const Json& components() {
  static const Json both = [] {
    const auto& schemas = api_description().at("components").at("schemas");
    return Json{{"schemas", prepare(schemas, true, false)}, {"open", prepare(schemas, false, false)}};
  }();
  return both;
}

class Shape {
 public:
  Shape(const OrderedJson& schema, bool closed) : document_(prepare(schema, closed)) {
    document_["components"] = components();
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document_), schema_);
  }
  // Returns what is wrong with the value, empty when nothing is.
  std::string fault_of(const Json& value) const {
    valijson::Validator validator;
    valijson::ValidationResults results;
    if (validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(value), &results)) return "";
    std::string out;
    for (valijson::ValidationResults::Error error; results.popError(error);)
      out += fmt::format("{}: {}; ", fmt::join(error.context, ""), error.description);
    return out;
  }

 private:
  Json document_;
  valijson::Schema schema_;
};

// One operation of the description. Shapes are read when they are needed first. Thread-safe.
class Operation {
 public:
  Operation(std::string name, const OrderedJson& description)
      : name_(std::move(name)), description_(description) {}

  Result<Response> check(const Request& request, const std::string& body, Result<Response> outcome) {
    if (outcome && outcome->deferred) return outcome;
    auto fault = fault_of(request, body, outcome);
    if (fault.empty()) return outcome;
    log::error("contract.violation",
               {{"operation", name_}, {"fault", fault}, {"request_id", request.request_id}});
    return fail(Code::internal, "contract: {}: {}", name_, fault);
  }

 private:
  std::string fault_of(const Request& request, const std::string& body, const Result<Response>& outcome) {
    auto refusal = outcome ? Response() : error_response(outcome.error());
    const auto& response = outcome ? *outcome : refusal;
    auto status = std::to_string(response.status);
    if (!description_.at("responses").contains(status)) return fmt::format("{} is not described", status);
    if (auto fault = response_fault(status, response); !fault.empty())
      return fmt::format("the body of {}: {}", status, fault);
    if (response.status >= 300 || !request.header("Content-Type").value_or("").starts_with(kJson)) return "";
    return request_fault(body);
  }

  std::string response_fault(const std::string& status, const Response& response) {
    const auto& described = resolve(description_.at("responses").at(status));
    auto type = response.content_type.substr(0, response.content_type.find(';'));
    bool has_body = response.source || !response.body.empty();
    if (!has_body || response.status == 304) return "";
    auto media = media_type(described, type);
    if (!media) return type + " is not described";
    if (response.source || type != kJson) return "";
    auto value = parse_json(response.body);
    if (!value) return "it is no JSON";
    return shape(status, media->value("schema", OrderedJson::object()), true).fault_of(*value);
  }

  std::string request_fault(const std::string& body) {
    if (body.empty() || !description_.contains("requestBody")) return "";
    auto media = media_type(resolve(description_.at("requestBody")), std::string(kJson));
    auto value = parse_json(body);
    if (!media || !value) return "";
    auto fault = shape("request", media->value("schema", OrderedJson::object()), false).fault_of(*value);
    return fault.empty() ? "" : "it accepts a request that goes against the description: " + fault;
  }

  static const OrderedJson* media_type(const OrderedJson& described, const std::string& type) {
    auto content = described.find("content");
    if (content == described.end()) return nullptr;
    auto media = content->find(type);
    return media == content->end() ? nullptr : &*media;
  }

  const Shape& shape(const std::string& name, const OrderedJson& schema, bool closed) {
    std::lock_guard lock(mutex_);
    auto& known = shapes_[name];
    if (!known) known = std::make_unique<Shape>(schema, closed);
    return *known;
  }

  const std::string name_;
  const OrderedJson& description_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Shape>> shapes_;
};

Handler checked(Handler handler, std::shared_ptr<Operation> operation) {
  return [handler = std::move(handler), operation = std::move(operation)](Request& request) {
    std::string body(request.buffer ? std::string_view() : request.body);
    return operation->check(request, body, handler(request));
  };
}

// Returns nullptr without a description.
std::shared_ptr<Operation> find_operation(const Route& route) {
  auto path = route.pattern;
  if (auto dots = path.find("...}"); dots != path.npos) path.erase(dots, 3);
  const auto& paths = api_description().at("paths");
  auto item = paths.find(path);
  if (item == paths.end()) return nullptr;
  auto operation = item->find(lower(route.method));
  if (operation == item->end()) return nullptr;
  return std::make_shared<Operation>(route.method + " " + path, *operation);
}

}  // namespace

std::vector<Route> check_contract(std::vector<Route> routes) {
  for (auto& route : routes) {
    auto operation = find_operation(route);
    if (!operation) continue;
    if (route.handler) route.handler = checked(std::move(route.handler), operation);
    if (!route.admit) continue;
    route.admit = [admit = std::move(route.admit), operation](Request& request) -> Result<Handler> {
      return checked(TRY(admit(request)), operation);
    };
  }
  return routes;
}

}  // namespace dash::daemon
