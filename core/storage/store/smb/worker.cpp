#include "core/storage/store/smb/worker.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <thread>

#include "core/storage/store/smb/frame.hpp"
#include "core/storage/store/smb/messages.hpp"
#include "core/storage/store/smb/session.hpp"

namespace dash::storage::smb {
namespace {

struct WorkerRequest {
  Json json;
  std::string bytes;
  std::string text(std::string_view key) const { return string_member(json, key).value_or(""); }
  std::uint64_t number(std::string_view key) const { return json.value(std::string(key), std::uint64_t{0}); }
};
struct WorkerReply {
  OrderedJson json = OrderedJson::object();
  std::string bytes = {};
};

bool read_all(char* out, std::size_t size) {
  while (size > 0) {
    auto n = ::read(STDIN_FILENO, out, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    out += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    auto n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Returns nullopt at the end of stdin, or when the input is no request.
std::optional<WorkerRequest> read_request() {
  std::string head(kFrameHead, '\0');
  if (!read_all(head.data(), head.size())) return std::nullopt;
  auto sizes = read_frame_head(head);
  if (!sizes) return std::nullopt;
  std::string json(sizes->json, '\0');
  WorkerRequest request{Json(), std::string(sizes->bytes, '\0')};
  if (!read_all(json.data(), json.size()) || !read_all(request.bytes.data(), request.bytes.size()))
    return std::nullopt;
  auto parsed = parse_json(json);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  request.json = *std::move(parsed);
  return request;
}

bool send(const WorkerReply& answer) {
  auto json = dump_json(answer.json);
  return write_all(write_frame_head(
             {static_cast<std::uint32_t>(json.size()), static_cast<std::uint32_t>(answer.bytes.size())})) &&
         write_all(json) && write_all(answer.bytes);
}

Result<WorkerReply> read_folder(SmbSession& session, const WorkerRequest& q) {
  WorkerReply answer{{{"entries", OrderedJson::array()}}};
  for (const auto& entry : TRY(session.read_folder(q.number("reading"))))
    answer.json["entries"].push_back(write_entry(entry));
  return answer;
}

Result<WorkerReply> read(SmbSession& session, const WorkerRequest& q) {
  WorkerReply answer;
  answer.bytes.resize(std::min<std::size_t>(q.number("size"), kMaxFrameBytes));
  answer.bytes.resize(
      TRY(session.read(q.text("path"), q.number("offset"), q.text("must_match"), answer.bytes)));
  return answer;
}

using Operation = Result<WorkerReply> (*)(SmbSession&, const WorkerRequest&);
const std::map<std::string_view, Operation> kOperations{
    {"stat",
     [](SmbSession& session, const WorkerRequest& q) -> Result<WorkerReply> {
       return WorkerReply{write_entry(TRY(session.stat(q.text("path"))))};
     }},
    {"open_folder",
     [](SmbSession& session, const WorkerRequest& q) -> Result<WorkerReply> {
       TRY(session.open_folder(q.number("reading"), q.text("path")));
       return WorkerReply{};
     }},
    {"read_folder", read_folder},
    {"close_folder",
     [](SmbSession& session, const WorkerRequest& q) -> Result<WorkerReply> {
       session.close_folder(q.number("reading"));
       return WorkerReply{};
     }},
    {"read", read},
    {"write",
     [](SmbSession& session, const WorkerRequest& q) -> Result<WorkerReply> {
       TRY(session.write(q.text("path"), q.number("offset"), q.bytes));
       return WorkerReply{};
     }},
    {"make_folder",
     [](SmbSession& session, const WorkerRequest& q) -> Result<WorkerReply> {
       TRY(session.make_folder(q.text("path")));
       return WorkerReply{};
     }},
    {"rename",
     [](SmbSession& session, const WorkerRequest& q) -> Result<WorkerReply> {
       TRY(session.rename(q.text("path"), q.text("to"), q.number("may_replace") != 0));
       return WorkerReply{};
     }},
    {"remove",
     [](SmbSession& session, const WorkerRequest& q) -> Result<WorkerReply> {
       TRY(session.remove(q.text("path")));
       return WorkerReply{};
     }},
    {"remove_folder",
     [](SmbSession& session, const WorkerRequest& q) -> Result<WorkerReply> {
       TRY(session.remove_folder(q.text("path")));
       return WorkerReply{};
     }},
};

// The first request opens the session, the others use it.
Result<WorkerReply> handle(std::unique_ptr<SmbSession>& session, const WorkerRequest& request) {
  auto op = request.text("op");
  if (op == "open") {
    session = TRY(SmbSession::open(TRY(read_share(request.json))));
    return WorkerReply{};
  }
  auto found = kOperations.find(op);
  if (!session || found == kOperations.end())
    return fail(Code::internal, "the SMB child does not know '{}'", op);
  return found->second(*session, request);
}

// A call of the library can hang for long; this process must still end with its parent.
void end_with_stdin() {
  pollfd p{STDIN_FILENO, 0, 0};
  while (::poll(&p, 1, -1) < 0 && errno == EINTR) {
  }
  ::_exit(0);
}

}  // namespace

int run_worker() {
  std::thread(end_with_stdin).detach();
  std::unique_ptr<SmbSession> session;
  while (auto request = read_request()) {
    auto result = handle(session, *request);
    if (!send(result ? *std::move(result) : WorkerReply{write_error(result.error())})) break;
  }
  ::_exit(0);  // the library's own clean-up may call the server
}

}  // namespace dash::storage::smb
