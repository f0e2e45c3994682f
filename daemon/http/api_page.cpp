#include "daemon/http/api_page.hpp"

#include <array>

#include "daemon/http/api_description.hpp"

namespace dash::daemon {
namespace {

constexpr std::array kMethods = {"get", "post", "put", "patch", "delete"};
constexpr int kMaxDepth = 6;  // of the outline of a schema

std::string escape(std::string_view text) {
  std::string out;
  for (char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string text_of(const OrderedJson& node, const char* member) {
  auto found = node.find(member);
  return found == node.end() || !found->is_string() ? std::string() : escape(found->get<std::string>());
}

// Returns "string or null", "array of User", "one of allow, deny".
std::string type_text(const OrderedJson& schema) {
  if (schema.contains("$ref")) {
    auto reference = schema.at("$ref").get<std::string>();
    auto name = escape(reference.substr(reference.rfind('/') + 1));
    return fmt::format("<a href=\"#schema-{0}\">{0}</a>", name);
  }
  auto join = [](const OrderedJson& list, auto&& text) {
    std::string out;
    for (const auto& item : list) out += (out.empty() ? "" : " or ") + text(item);
    return out;
  };
  auto plain = [](const OrderedJson& item) {
    return escape(item.is_string() ? item.get<std::string>() : dump_json(item));
  };
  for (auto several : {"anyOf", "oneOf", "allOf"})
    if (schema.contains(several)) return join(schema.at(several), type_text);
  if (schema.contains("enum")) return join(schema.at("enum"), plain);
  if (schema.contains("const")) return plain(schema.at("const"));
  if (!schema.contains("type")) return "any";
  auto type = schema.at("type").is_array() ? join(schema.at("type"), plain) : plain(schema.at("type"));
  if (schema.contains("items")) type += " of " + type_text(schema.at("items"));
  if (schema.contains("additionalProperties") && schema.at("additionalProperties").is_object())
    type += " of " + type_text(schema.at("additionalProperties"));
  return type;
}

// The members of a schema as nested lists.
std::string outline(const OrderedJson& schema, int depth = 0) {
  if (depth >= kMaxDepth) return "";
  std::string out;
  for (auto several : {"anyOf", "oneOf", "allOf"})
    if (schema.contains(several))
      for (const auto& one : schema.at(several)) out += outline(one, depth + 1);
  if (schema.contains("items")) out += outline(schema.at("items"), depth + 1);
  if (!schema.contains("properties")) return out;
  auto required = schema.value("required", OrderedJson::array());
  out += "<ul>";
  for (const auto& [name, member] : schema.at("properties").items()) {
    bool is_required = std::find(required.begin(), required.end(), name) != required.end();
    out += fmt::format("<li><code>{}</code>{} <i>{}</i> {}{}</li>", escape(name), is_required ? "" : "?",
                       type_text(member), text_of(member, "description"), outline(member, depth + 1));
  }
  return out + "</ul>";
}

std::string content_of(const OrderedJson& node) {
  std::string out;
  const auto content = node.value("content", OrderedJson::object());
  for (const auto& [type, media] : content.items()) {
    auto schema = media.value("schema", OrderedJson::object());
    out +=
        fmt::format("<p><code>{}</code> <i>{}</i></p>{}", escape(type), type_text(schema), outline(schema));
    if (media.contains("example"))
      out += fmt::format("<pre>{}</pre>", escape(dump_json(media.at("example"), 2)));
  }
  return out;
}

std::string parameters_of(const OrderedJson& path, const OrderedJson& operation) {
  std::string rows;
  for (const auto* owner : {&path, &operation}) {
    const auto parameters = owner->value("parameters", OrderedJson::array());
    for (const auto& one : parameters) {
      const auto& parameter = resolve(one);
      rows += fmt::format("<tr><td><code>{}</code></td><td>{}</td><td><i>{}</i></td><td>{}</td></tr>",
                          text_of(parameter, "name"), text_of(parameter, "in"),
                          type_text(parameter.value("schema", OrderedJson::object())),
                          text_of(parameter, "description"));
    }
  }
  return rows.empty() ? "" : "<table>" + rows + "</table>";
}

std::string responses_of(const OrderedJson& operation) {
  std::string out = "<dl>";
  for (const auto& [status, one] : operation.at("responses").items()) {
    const auto& response = resolve(one);
    bool is_error = status >= "400";
    out += fmt::format("<dt>{}</dt><dd>{}{}</dd>", escape(status), text_of(response, "description"),
                       is_error ? "" : content_of(response));
  }
  return out + "</dl>";
}

std::string operation_section(const std::string& method, const std::string& path, const OrderedJson& item,
                              const OrderedJson& operation) {
  std::string body;
  if (operation.contains("requestBody"))
    body = "<h4>Body</h4>" + content_of(resolve(operation.at("requestBody")));
  return fmt::format(
      "<details id=\"{0}-{1}\"><summary><b>{0}</b> <code>{1}</code> "
      "{2}</summary><p>{3}</p>{4}{5}<h4>Answers</h4>{6}"
      "</details>",
      escape(method), escape(path), text_of(operation, "summary"), text_of(operation, "description"),
      parameters_of(item, operation), body, responses_of(operation));
}

std::string tag_section(const OrderedJson& document, const OrderedJson& tag) {
  auto out = fmt::format("<section id=\"{0}\"><h2>{0}</h2><p>{1}</p>", text_of(tag, "name"),
                         text_of(tag, "description"));
  for (const auto& [path, item] : document.at("paths").items())
    for (auto method : kMethods)
      if (item.contains(method) && item.at(method).at("tags").at(0) == tag.at("name"))
        out += operation_section(method, path, item, item.at(method));
  return out + "</section>";
}

}  // namespace

std::string render_api_page(const OrderedJson& document) {
  std::string links, sections, schemas;
  for (const auto& tag : document.at("tags")) {
    links += fmt::format("<a href=\"#{0}\">{0}</a> ", text_of(tag, "name"));
    sections += tag_section(document, tag);
  }
  for (const auto& [name, schema] : document.at("components").at("schemas").items())
    schemas += fmt::format(
        "<details id=\"schema-{0}\"><summary><code>{0}</code> <i>{1}</i> {2}</summary>{3}</details>",
        escape(name), type_text(schema), text_of(schema, "description"), outline(schema));
  const auto& info = document.at("info");
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}: API</title>"
      "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" "
      "href=\"/console/api.css\"></head>"
      "<body><header><h1>{0}: {1}</h1><p>{2}</p><p><a href=\"/api/openapi.json\">openapi.json</a> "
      "<a href=\"/openapi.yaml\">openapi.yaml</a></p></header><nav>{3}<a "
      "href=\"#schemas\">schemas</a></nav><main>{4}"
      "<section id=\"schemas\"><h2>schemas</h2>{5}</section></main></body></html>\n",
      text_of(info, "title"), text_of(info, "summary"), text_of(info, "description"), links, sections,
      schemas);
}

}  // namespace dash::daemon
