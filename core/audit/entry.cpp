#include "core/audit/entry.hpp"

#include "core/base/clock.hpp"
#include "core/config/clouds.hpp"
#include "core/crypto/hash.hpp"

namespace dash::audit {
namespace {

constexpr std::uint32_t kAbsent = 0xffffffff;

template <class Integer>
void put_integer(std::string& out, Integer value) {
  for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xff));
}

void put_text(std::string& out, std::string_view text) {
  put_integer(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

Result<std::string> text_of(const Json& line, const char* name) {
  if (auto text = string_member(line, name)) return *text;
  return fail(Code::integrity, "an entry of the audit file has no text '{}'; export the log again", name);
}

Result<std::string> hex_of(const Json& line, const char* name) {
  auto bytes = crypto::from_hex(TRY(text_of(line, name)));
  if (!bytes) return fail(Code::integrity, "'{}' of an entry of the audit file is not hexadecimal", name);
  return *bytes;
}

}  // namespace

std::optional<LogEntry> entry_from_row(const db::Row& row) try {
  return LogEntry{row.integer(0),
                  row.integer(1),
                  row.text(2),
                  row.text(3),
                  row.is_null(4) ? std::nullopt : std::optional(row.text(4)),
                  row.text(5),
                  row.text(6),
                  row.text(7),
                  row.blob(8),
                  row.blob(9)};
} catch (const std::bad_variant_access&) {
  return std::nullopt;
}

std::string genesis_hash() { return std::string(32, '\0'); }

void encode_body(std::string_view prev_hash, const LogEntry& entry, std::string& out) {
  out.assign(1, '\0');
  out += prev_hash;
  put_integer(out, entry.seq);
  put_integer(out, entry.at);
  put_text(out, entry.username);
  put_text(out, entry.action);
  entry.target ? put_text(out, *entry.target) : put_integer(out, kAbsent);
  put_text(out, entry.details);
  put_text(out, entry.address);
  put_text(out, entry.request_id);
}

std::string seal_of(const Secret& seal_key, std::string_view encoded_body) {
  return crypto::hmac_sha256(seal_key.expose(), encoded_body.substr(1)).substr(0, kSealBytes);
}

std::string hash_of(std::string& encoded_body, std::string_view seal) {
  encoded_body += seal;
  return crypto::sha256(encoded_body);
}

OrderedJson to_json(const LogEntry& entry) {
  OrderedJson out;
  out["seq"] = entry.seq;
  out["at"] = format_iso_micros(from_micros(entry.at));
  out["username"] = entry.username;
  out["action"] = entry.action;
  out["target"] = entry.target ? OrderedJson(*entry.target) : OrderedJson(nullptr);
  auto details = parse_json(entry.details);
  bool canonical = details && details->is_object() && dump_json(*details) == entry.details;
  out["details"] = canonical ? OrderedJson(*details) : OrderedJson(entry.details);
  out["ip_address"] = entry.address;
  out["request_id"] = entry.request_id;
  out["seal"] = crypto::to_hex(entry.seal);
  out["entry_hash"] = crypto::to_hex(entry.entry_hash);
  return out;
}

std::string export_line(const LogEntry& entry) {
  OrderedJson line{{"schema", kExportSchema}};
  line.update(to_json(entry));
  return dump_json(line) + "\n";
}

Result<LogEntry> entry_from_json(const Json& line) {
  if (!line.is_object() || !line.contains("seq") || !line["seq"].is_number_integer() ||
      !line.contains("details"))
    return fail(Code::integrity, "a line of the audit file is not an entry; export the log again");
  if (line.value("schema", Json(kExportSchema)) != kExportSchema)
    return fail(Code::integrity, "the audit file has schema {}, this program knows {}; use a newer dashctl",
                dump_json(line["schema"]), kExportSchema);
  LogEntry out;
  out.seq = line["seq"].get<std::int64_t>();
  out.at = to_micros(TRY(parse_iso(TRY(text_of(line, "at")))));
  out.username = TRY(text_of(line, "username"));
  // an instance may write the provider's spelling
  out.action = config::canonical_action(TRY(text_of(line, "action")));
  out.target = string_member(line, "target");
  const auto& details = line["details"];
  out.details = details.is_string() ? details.get<std::string>() : dump_json(details);
  out.address = TRY(text_of(line, "ip_address"));
  out.request_id = TRY(text_of(line, "request_id"));
  out.seal = TRY(hex_of(line, "seal"));
  out.entry_hash = TRY(hex_of(line, "entry_hash"));
  return out;
}

}  // namespace dash::audit
