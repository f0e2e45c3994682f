// The connection of an SSH session: libssh2 without blocking, each call within a deadline. One thread.
#pragma once
#include <libssh2.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fd.hpp"
#include "core/net/ssh/ssh.hpp"

namespace dash::net {

using Steady = std::chrono::steady_clock;

struct SessionDeleter {
  void operator()(LIBSSH2_SESSION* session) const;
};

// Answers the prompts of a host, RFC 4256, 3.2. libssh2 frees the texts with free(3).
class PromptAnswers {
 public:
  virtual ~PromptAnswers() = default;
  virtual void answer(int count, const LIBSSH2_USERAUTH_KBDINT_PROMPT* prompts,
                      LIBSSH2_USERAUTH_KBDINT_RESPONSE* responses) = 0;
};

// Its address is libssh2's abstract pointer, of which every callback makes a State again.
struct SshSession::State {
  SshAddress address;
  Fd socket;
  mutable const Steady::time_point* deadline = nullptr;  // of the current call; null: none
  mutable PromptAnswers* prompt_answers = nullptr;       // during a login by prompts
  std::unique_ptr<LIBSSH2_SESSION, SessionDeleter> session;

  LIBSSH2_SESSION* raw() const { return session.get(); }
  std::string host_and_port() const { return fmt::format("{}:{}", address.host, address.port); }
  std::string last_error() const;
  Failure connection_error() const;

  void wait(Steady::time_point due) const;
  bool is_past_deadline() const { return deadline && Steady::now() >= *deadline; }

  // Repeats `call` until it is done. Returns its return code, or Code::timeout. The call may extend the
  // deadline.
  template <class Call>
  Result<int> finish(const Steady::time_point& due, Call call) const {
    deadline = &due;
    for (;;) {
      int rc = call();
      bool is_late = is_past_deadline();
      if (rc != LIBSSH2_ERROR_EAGAIN && !(rc < 0 && is_late)) {
        deadline = nullptr;
        return rc;
      }
      if (is_late) {
        deadline = nullptr;
        return fail(Code::timeout, "{} did not answer by SSH in time", host_and_port());
      }
      wait(due);
    }
  }

  // Callbacks of libssh2; `state` is a pointer to the abstract pointer.
  static ssize_t receive(libssh2_socket_t socket, void* buffer, std::size_t size, int flags, void** state);
  static void answer_prompts(const char* name, int name_size, const char* instruction, int instruction_size,
                             int count, const LIBSSH2_USERAUTH_KBDINT_PROMPT* prompts,
                             LIBSSH2_USERAUTH_KBDINT_RESPONSE* responses, void** state);

  Result<void> handshake(const std::vector<std::string>& key_types) const;
  Result<HostKey> host_key() const;
};

// Before 1.11 libssh2 signs and verifies with RSA keys by SHA-1 alone, which servers of today refuse.
bool supports_rsa_sha2();
bool is_disconnected(int return_code);

// Connects and prepares the session; no byte was exchanged.
Result<std::unique_ptr<SshSession::State>> connect_ssh(const SshAddress& address);

}  // namespace dash::net
