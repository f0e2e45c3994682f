#include "core/db/backup_file.hpp"

#include "core/base/json.hpp"
#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"

namespace dash::db {
namespace {

constexpr std::string_view kMagic = "dashctl backup\n";
constexpr std::string_view kKeyText = "dashctl backup key";
constexpr std::size_t kPieceBytes = 1u << 20;
constexpr std::size_t kSealBytes = 12 + 16;  // nonce and tag
constexpr std::size_t kMaxHeadBytes = 64u << 10;
constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kMaxColumns = 256;
// PostgreSQL takes no value of 1 GiB.
constexpr std::size_t kMaxValueBytes = 1u << 30;

std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t out = 0;
  for (char c : bytes) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

Failure damaged() {
  return fail(Code::integrity, "the backup is damaged or incomplete; nothing was written, take another one");
}

// Binds a piece to its file, its place and whether it is the last.
std::string piece_aad(std::string_view head_hash, std::uint64_t number, bool is_last) {
  return std::string(head_hash) + big_endian(number, 8) + (is_last ? '\1' : '\0');
}

}  // namespace

BackupWriter::BackupWriter(Sink& out, const Secret& key, const BackupHead& head) : out_(out), key_(key) {
  auto json = dump_json(OrderedJson{{"format", kBackupFormat},
                                    {"schema", head.schema},
                                    {"made_at", head.made_at},
                                    {"made_by", head.made_by},
                                    {"engine", head.engine},
                                    {"key", crypto::to_base64(crypto::seal(key, kKeyText, kKeyText))},
                                    {"settings_key", crypto::to_base64(head.settings_key)}});
  head_ = std::string(kMagic) + big_endian(json.size(), 4) + json;
  head_hash_ = crypto::sha256(head_);
}

Result<void> BackupWriter::start() { return out_.write(head_ + head_hash_); }

Result<void> BackupWriter::begin(const Table& table) {
  plain_ += 'T' + big_endian(table.name.size(), 4) + table.name + big_endian(table.columns.size(), 4);
  for (const auto& column : table.columns) plain_ += big_endian(column.size(), 4) + column;
  rows_ = 0;
  return {};
}

Result<void> BackupWriter::row(Params values) {
  plain_ += 'R';
  encode_row(values, plain_);
  ++rows_;
  ++all_rows_;
  return flush(/*is_last=*/false);
}

Result<void> BackupWriter::end() {
  plain_ += 'E' + big_endian(static_cast<std::uint64_t>(rows_), 8);
  return {};
}

Result<void> BackupWriter::finish() {
  plain_ += 'Z';
  return flush(/*is_last=*/true);
}

// The last piece is marked as such, also when it is full.
Result<void> BackupWriter::flush(bool is_last) {
  std::string_view rest = plain_;
  while (rest.size() > kPieceBytes || is_last) {
    bool ends = is_last && rest.size() <= kPieceBytes;
    auto piece = rest.substr(0, kPieceBytes);
    rest.remove_prefix(piece.size());
    auto sealed = crypto::seal(key_, piece, piece_aad(head_hash_, pieces_++, ends));
    TRY(out_.write(big_endian(sealed.size(), 4) + sealed));
    if (ends) break;
  }
  plain_.erase(0, plain_.size() - rest.size());
  return {};
}

Result<void> BackupReader::read_exactly(std::string& into, std::size_t size) {
  into.resize(size);
  if (TRY(read_full(in_, into)) != size) return damaged();
  return {};
}

Result<std::uint64_t> BackupReader::read_number() {
  std::string bytes;
  TRY(read_exactly(bytes, 4));
  return from_big_endian(bytes);
}

Result<BackupHead> BackupReader::start() {
  std::string magic, text, hash;
  if (!read_exactly(magic, kMagic.size()) || magic != kMagic)
    return fail(Code::integrity, "the file is no backup of dashctl");
  auto size = TRY(read_number());
  if (size > kMaxHeadBytes) return damaged();
  TRY(read_exactly(text, size));
  TRY(read_exactly(hash, 32));
  head_hash_ = crypto::sha256(magic + big_endian(size, 4) + text);
  if (hash != head_hash_) return damaged();
  auto json = parse_json(text);
  if (!json || !json->is_object()) return damaged();
  if (json->value("format", Json()) != Json(kBackupFormat))
    return fail(Code::integrity,
                "another version of dashctl made this backup, in a format that this one does not read");
  try {
    auto sealed = crypto::from_base64(json->at("key").get<std::string>());
    auto settings_key = crypto::from_base64(json->at("settings_key").get<std::string>());
    if (!sealed || !settings_key) return damaged();
    if (!crypto::open(key_, *sealed, kKeyText))
      return fail(Code::conflict,
                  "another signing key made this backup; give the instance the key that belongs to it");
    return BackupHead{json->at("schema").get<std::int64_t>(), json->at("made_at").get<std::string>(),
                      json->at("made_by").get<std::string>(), json->at("engine").get<std::string>(),
                      *std::move(settings_key)};
  } catch (const Json::exception&) {
    return damaged();
  }
}

Result<void> BackupReader::next_piece() {
  if (is_last_) return damaged();
  auto size = TRY(read_number());
  if (size < kSealBytes || size > kPieceBytes + kSealBytes) return damaged();
  std::string sealed;
  TRY(read_exactly(sealed, size));
  auto number = pieces_++;
  auto opened = crypto::open(key_, sealed, piece_aad(head_hash_, number, /*is_last=*/false));
  if (!opened) {
    opened = crypto::open(key_, sealed, piece_aad(head_hash_, number, /*is_last=*/true));
    if (!opened) return damaged();
    is_last_ = true;
  }
  plain_.erase(0, std::exchange(at_, 0));
  plain_ += *opened;
  return {};
}

Result<std::string> BackupReader::plain(std::size_t size) {
  while (plain_.size() - at_ < size) TRY(next_piece());
  auto out = plain_.substr(at_, size);
  at_ += size;
  return out;
}

Result<std::uint64_t> BackupReader::plain_number(int bytes) {
  return from_big_endian(TRY(plain(static_cast<std::size_t>(bytes))));
}

Result<std::string> BackupReader::plain_text() {
  auto size = TRY(plain_number(4));
  if (size > kMaxNameBytes) return damaged();
  return plain(size);
}

Result<Table> BackupReader::plain_table() {
  Table table{TRY(plain_text()), {}};
  auto columns = TRY(plain_number(4));
  if (columns > kMaxColumns) return damaged();
  for (std::uint64_t i = 0; i < columns; ++i) table.columns.push_back(TRY(plain_text()));
  return table;
}

Result<Value> BackupReader::plain_value(char kind) {
  if (kind == 'n') return Value(nullptr);
  if (kind == 'i') return Value(static_cast<std::int64_t>(TRY(plain_number(8))));
  auto size = TRY(plain_number(4));
  if (size > kMaxValueBytes) return damaged();
  if (kind == 't') return Value(TRY(plain(size)));
  if (kind == 'b') return Value(Blob{TRY(plain(size))});
  return damaged();
}

Result<void> BackupReader::read_rows(const Table& table, TableSink& sink) {
  TRY(sink.begin(table));
  std::uint64_t rows = 0;
  for (;;) {
    auto kind = TRY(plain(1));
    if (kind == "E") break;
    if (kind != "R") return damaged();
    Params values;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      values.push_back(TRY(plain_value(TRY(plain(1))[0])));
    TRY(sink.row(std::move(values)));
    ++rows;
  }
  if (TRY(plain_number(8)) != rows) return damaged();
  return sink.end();
}

Result<void> BackupReader::read(TableSink& sink) {
  for (;;) {
    auto kind = TRY(plain(1));
    if (kind == "Z") break;
    if (kind != "T") return damaged();
    auto table = TRY(plain_table());
    TRY(read_rows(table, sink));
  }
  std::string more(1, '\0');
  if (!is_last_ || at_ != plain_.size() || TRY(read_full(in_, more)) != 0) return damaged();
  return {};
}

}  // namespace dash::db
