#include "core/net/ssh/ssh_state.hpp"

#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "core/net/ssh/ssh_key.hpp"
#include "core/net/ssh/tcp.hpp"

namespace dash::net {
namespace {

constexpr int kSshPort = 22;
constexpr std::chrono::seconds kConnectTimeout{15};
constexpr std::chrono::milliseconds kDisconnectTimeout{500};
constexpr int kRsaSha2Version = 0x010b00;  // libssh2 1.11.0, RELEASE-NOTES

std::string local_user_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry ? entry->pw_name : "root";
}

}  // namespace

void SessionDeleter::operator()(LIBSSH2_SESSION* session) const {
  // In non-blocking mode it would give up halfway. A host that is gone must not block this thread.
  libssh2_session_set_blocking(session, 1);
  libssh2_session_set_timeout(session, kDisconnectTimeout.count());
  libssh2_session_disconnect(session, "done");
  libssh2_session_free(session);
}

bool supports_rsa_sha2() { return libssh2_version(kRsaSha2Version) != nullptr; }

bool is_disconnected(int return_code) {
  return return_code == LIBSSH2_ERROR_SOCKET_DISCONNECT || return_code == LIBSSH2_ERROR_SOCKET_RECV ||
         return_code == LIBSSH2_ERROR_SOCKET_SEND;
}

std::string SshSession::State::last_error() const {
  char* text = nullptr;
  libssh2_session_last_error(raw(), &text, nullptr, 0);
  return text && *text ? text : "no reason was given";
}

Failure SshSession::State::connection_error() const {
  return fail(Code::unreachable, "the SSH connection to {} broke: {}", host_and_port(), last_error());
}

void SshSession::State::wait(Steady::time_point due) const {
  bool writes = (libssh2_session_block_directions(raw()) & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0;
  poll_fd(socket.get(), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), due);
}

// libssh2 reads on while bytes come, so that an endless banner (RFC 4253, 4.2) would block it past every
// deadline.
ssize_t SshSession::State::receive(libssh2_socket_t socket, void* buffer, std::size_t size, int flags,
                                   void** state) {
  if (static_cast<const State*>(*state)->is_past_deadline()) return -ECONNABORTED;
  auto n = ::recv(socket, buffer, size, flags);
  return n < 0 ? -errno : n;
}

void SshSession::State::answer_prompts(const char*, int, const char*, int, int count,
                                       const LIBSSH2_USERAUTH_KBDINT_PROMPT* prompts,
                                       LIBSSH2_USERAUTH_KBDINT_RESPONSE* responses, void** state) {
  auto* answers = static_cast<const State*>(*state)->prompt_answers;
  if (answers) answers->answer(count, prompts, responses);
}

Result<void> SshSession::State::handshake(const std::vector<std::string>& key_types) const {
  auto types = fmt::format("{}", fmt::join(key_types, ","));
  libssh2_session_method_pref(raw(), LIBSSH2_METHOD_HOSTKEY, types.c_str());
  int rc = TRY(finish(Steady::now() + kConnectTimeout,
                      [&] { return libssh2_session_handshake(raw(), socket.get()); }));
  if (rc == 0) return {};
  if (rc == LIBSSH2_ERROR_KEX_FAILURE && !supports_rsa_sha2())
    return fail(Code::unreachable,
                "{} shares no algorithm with us ({}). Where its only host key is RSA: this libssh2 verifies "
                "those by SHA-1 alone, which servers of today refuse; give the host an ed25519 key "
                "(ssh-keygen -A)",
                host_and_port(), last_error());
  return fail(Code::unreachable, "{} does not speak SSH with us: {}", host_and_port(), last_error());
}

Result<HostKey> SshSession::State::host_key() const {
  std::size_t size = 0;
  int kind = 0;
  const char* blob = libssh2_session_hostkey(raw(), &size, &kind);
  if (!blob) return connection_error();
  return HostKey{key_type({blob, size}), {blob, size}};
}

Result<std::unique_ptr<SshSession::State>> connect_ssh(const SshAddress& address) {
  static std::once_flag once;
  std::call_once(once, [] { libssh2_init(0); });
  auto state = std::make_unique<SshSession::State>();
  state->address = address;
  if (state->address.port == 0) state->address.port = kSshPort;
  if (state->address.user.empty()) state->address.user = local_user_name();
  state->socket = TRY(connect_tcp(address.host, state->address.port, kConnectTimeout));
  state->session.reset(libssh2_session_init_ex(nullptr, nullptr, nullptr, state.get()));
  if (!state->session) return fail(Code::internal, "there is no memory for an SSH session");
  libssh2_session_callback_set(state->raw(), LIBSSH2_CALLBACK_RECV,
                               reinterpret_cast<void*>(&SshSession::State::receive));
  libssh2_session_set_blocking(state->raw(), 0);
  return state;
}

}  // namespace dash::net
