#include "core/setup/webhooks.hpp"

#include "core/base/shape.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::setup {
namespace {

constexpr std::string_view kColumns =
    R"(id, name, url, fmt, CASE WHEN secret IS NULL THEN 0 ELSE 1 END,
       event_types, enabled, created_at, created_by, last_success_at, last_error)";

std::string url_place(const std::string& id) { return "endpoint/" + id + "/url"; }
std::string secret_place(const std::string& id) { return "endpoint/" + id + "/secret"; }

Result<void> check_url(const Secret& url) {
  const auto& text = url.expose();
  if (text.empty()) return fail(Code::invalid, "A webhook URL is required.");
  if (!text.starts_with("http://") && !text.starts_with("https://"))
    return fail(Code::invalid, "The webhook URL must start with http:// or https://");
  if (has_control_character(text)) return wrong_value("url", "holds a control character");
  auto authority = std::string_view(text).substr(text.find("://") + 3);
  if (authority.substr(0, authority.find_first_of("/?#")).find('@') != text.npos)
    return wrong_value("url",
                       "names a user before its host; leave that out, and sign with the secret instead");
  return {};
}

Result<void> check_fmt(const std::string& fmt) {
  if (fmt != "custom" && fmt != "slack" && fmt != "teams")
    return fail(Code::invalid, "Unknown format '{}'. Expected one of: custom, slack, teams.", fmt);
  return {};
}

Result<void> check_name(const std::string& name) {
  if (name.size() > kMaxWebhookName)
    return fail(Code::invalid, "an endpoint's name has at most {} bytes", kMaxWebhookName);
  if (has_control_character(name)) return wrong_value("name", "holds a control character");
  return {};
}

Result<void> check_event_types(const WebhookInput& input) {
  if (has_control_character(input.event_types.value_or(std::nullopt).value_or("")))
    return wrong_value("event_types", "holds a control character");
  return {};
}

db::Value text_or_null(const std::optional<std::string>& text) {
  if (!text) return nullptr;
  return *text;
}

db::Value blob_or_null(const std::string& bytes) {
  if (bytes.empty()) return nullptr;
  return db::Blob{bytes};
}

}  // namespace

std::string Webhooks::hint_of(const std::string& id, const std::string& sealed_url) {
  auto url = store_.open(url_place(id), sealed_url);
  if (!url || url->find("://") == std::string::npos) return "\u2026";
  return net::origin_of(*url) + "/\u2026";
}

Webhook Webhooks::webhook_of(const db::Row& row) {
  Webhook e;
  e.id = row.text(0);
  e.name = row.text(1);
  e.url_hint = hint_of(e.id, row.blob(2));
  e.fmt = row.text(3);
  e.has_secret = row.flag(4);
  if (!row.is_null(5)) e.event_types = row.text(5);
  e.enabled = row.flag(6);
  e.created_at = from_micros(row.integer(7));
  e.created_by = row.text(8);
  if (!row.is_null(9)) e.last_success_at = from_micros(row.integer(9));
  if (!row.is_null(10)) e.last_error = row.text(10);
  return e;
}

Result<Webhook> Webhooks::read(db::Transaction& tx, const std::string& id) {
  auto rows =
      TRY(tx.query(fmt::format("SELECT {} FROM notification_endpoints WHERE id = $1", kColumns), {id}));
  if (rows.empty()) return fail(Code::not_found, "Endpoint not found");
  return webhook_of(rows[0]);
}

Result<std::vector<Webhook>> Webhooks::list(const Principal& principal) {
  TRY(require_admin(principal));
  return db::read<std::vector<Webhook>>(sql_, [&](db::Transaction& tx) -> Result<std::vector<Webhook>> {
    std::vector<Webhook> out;
    for (const auto& row :
         TRY(tx.query(fmt::format("SELECT {} FROM notification_endpoints ORDER BY name, id", kColumns))))
      out.push_back(webhook_of(row));
    return out;
  });
}

Result<Webhook> Webhooks::add(const Principal& principal, const WebhookInput& input) {
  TRY(require_admin(principal));
  auto url = input.url.value_or(Secret());
  auto fmt = input.fmt.value_or("custom");
  auto name = input.name.value_or("");
  if (name.empty()) name = fmt;
  TRY(check_url(url));
  TRY(check_fmt(fmt));
  TRY(check_name(name));
  TRY(check_event_types(input));
  auto id = crypto::uuid4();
  return db::write<Webhook>(sql_, [&](db::Transaction& tx) -> Result<Webhook> {
    auto count = TRY(tx.query("SELECT COUNT(*) FROM notification_endpoints"))[0].integer(0);
    if (count >= static_cast<std::int64_t>(kMaxWebhooks))
      return fail(Code::invalid, "there are already {} endpoints, the most that there can be", kMaxWebhooks);
    TRY(tx.exec(
        R"(INSERT INTO notification_endpoints
             (id, name, url, fmt, secret, event_types, enabled, created_at, created_by)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9))",
        {id, name, db::Blob{store_.seal(url_place(id), url.expose())}, fmt,
         blob_or_null(store_.seal(secret_place(id), input.secret.value_or(Secret()).expose())),
         text_or_null(input.event_types.value_or(std::nullopt)), std::int64_t{input.enabled.value_or(true)},
         to_micros(clock_.now()), principal.username}));
    TRY(audit_.append(tx, audit::make_event(principal, "notification_endpoint.create", id,
                                            {{"name", name}, {"fmt", fmt}})));
    return read(tx, id);
  });
}

Result<Webhook> Webhooks::change(const Principal& principal, const std::string& id,
                                 const WebhookInput& input) {
  TRY(require_admin(principal));
  bool has_url = input.url && !input.url->empty();
  if (has_url) TRY(check_url(*input.url));
  if (input.fmt) TRY(check_fmt(*input.fmt));
  if (input.name) TRY(check_name(*input.name));
  TRY(check_event_types(input));
  return db::write<Webhook>(sql_, [&](db::Transaction& tx) -> Result<Webhook> {
    auto before = TRY(read(tx, id));
    auto set = [&](std::string_view column, db::Value value) -> Result<void> {
      TRY(tx.exec(fmt::format("UPDATE notification_endpoints SET {} = $2 WHERE id = $1", column),
                  {id, std::move(value)}));
      return {};
    };
    if (input.name) TRY(set("name", input.name->empty() ? before.fmt : *input.name));
    if (has_url) TRY(set("url", db::Blob{store_.seal(url_place(id), input.url->expose())}));
    if (input.fmt) TRY(set("fmt", *input.fmt));
    if (input.secret) TRY(set("secret", blob_or_null(store_.seal(secret_place(id), input.secret->expose()))));
    if (input.event_types) TRY(set("event_types", text_or_null(*input.event_types)));
    if (input.enabled) TRY(set("enabled", std::int64_t{*input.enabled}));
    auto after = TRY(read(tx, id));
    TRY(audit_.append(tx, audit::make_event(principal, "notification_endpoint.update", id,
                                            {{"name", after.name}, {"fmt", after.fmt}})));
    return after;
  });
}

Result<void> Webhooks::remove(const Principal& principal, const std::string& id) {
  TRY(require_admin(principal));
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    auto before = TRY(read(tx, id));
    TRY(tx.exec("DELETE FROM notification_endpoints WHERE id = $1", {id}));
    TRY(audit_.append(
        tx, audit::make_event(principal, "notification_endpoint.delete", id, {{"name", before.name}})));
    return {};
  });
}

Result<std::map<std::string, std::string>> Webhooks::hidden_values() {
  using Hidden = std::map<std::string, std::string>;
  return db::read<Hidden>(sql_, [&](db::Transaction& tx) -> Result<Hidden> {
    Hidden out;
    for (const auto& row : TRY(tx.query("SELECT id, url, secret FROM notification_endpoints"))) {
      auto name = "notification_endpoints/" + row.text(0);
      auto url = store_.open(url_place(row.text(0)), row.blob(1));
      auto secret = store_.open(secret_place(row.text(0)), row.is_null(2) ? "" : row.blob(2));
      if (url) out[name + "/url"] = *url;
      if (secret) out[name + "/secret"] = *secret;
    }
    return out;
  });
}

Result<std::vector<FullWebhook>> Webhooks::export_all(const Principal& principal) {
  TRY(require_admin(principal));
  return db::read<std::vector<FullWebhook>>(
      sql_, [&](db::Transaction& tx) -> Result<std::vector<FullWebhook>> {
        std::vector<FullWebhook> out;
        auto rows = TRY(tx.query(R"(SELECT id, name, url, fmt, secret, event_types, enabled
                                    FROM notification_endpoints
                                    ORDER BY name, id)"));
        for (const auto& row : rows) {
          const auto& id = row.text(0);
          auto url = store_.open(url_place(id), row.blob(2));
          auto secret = store_.open(secret_place(id), row.is_null(4) ? "" : row.blob(4));
          if (!url || !secret)
            return fail(Code::integrity,
                        "the notification endpoint '{}' was written with another key and cannot be read",
                        row.text(1));
          out.push_back({row.text(1), Secret(*url), row.text(3), Secret(*secret), std::nullopt, row.flag(6)});
          if (!row.is_null(5)) out.back().event_types = row.text(5);
        }
        return out;
      });
}

OrderedJson to_json(const Webhook& e) {
  auto time = [](const std::optional<Time>& t) {
    return t ? OrderedJson(format_iso_micros(*t)) : OrderedJson();
  };
  auto text = [](const std::optional<std::string>& t) { return t ? OrderedJson(*t) : OrderedJson(); };
  return {{"id", e.id},
          {"name", e.name},
          {"fmt", e.fmt},
          {"url_hint", e.url_hint},
          {"has_secret", e.has_secret},
          {"enabled", e.enabled},
          {"event_types", text(e.event_types)},
          {"created_at", format_iso_micros(e.created_at)},
          {"created_by", e.created_by},
          {"last_success_at", time(e.last_success_at)},
          {"last_error", text(e.last_error)}};
}

Result<WebhookInput> read_webhook_input(const Json& body) {
  if (!body.is_object()) return wrong_type("endpoint", "object");
  WebhookInput input;
  for (auto member : {"name", "url", "fmt", "secret"}) {
    auto it = body.find(member);
    if (it == body.end() || it->is_null()) continue;
    if (!it->is_string()) return wrong_type(member, "string");
    auto text = it->get<std::string>();
    if (member == std::string_view("name")) input.name = text;
    if (member == std::string_view("url")) input.url = Secret(text);
    if (member == std::string_view("fmt")) input.fmt = text;
    if (member == std::string_view("secret")) input.secret = Secret(text);
  }
  if (auto it = body.find("event_types"); it != body.end()) {
    if (!it->is_null() && !it->is_string()) return wrong_type("event_types", "string");
    input.event_types = it->is_null() ? std::nullopt : std::optional(it->get<std::string>());
  }
  if (auto it = body.find("enabled"); it != body.end()) {
    if (!it->is_boolean()) return wrong_type("enabled", "boolean");
    input.enabled = it->get<bool>();
  }
  return input;
}

}  // namespace dash::setup
