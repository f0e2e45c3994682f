#include "core/net/ssh/ssh.hpp"

#include <libssh2.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "core/base/file.hpp"
#include "core/net/ssh/ssh_host.hpp"
#include "core/net/ssh/ssh_key.hpp"
#include "core/net/ssh/tcp.hpp"

namespace dash::net {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kSshPort = 22;
constexpr std::chrono::seconds kConnectTimeout{15};
constexpr std::chrono::seconds kLoginTimeout{60};
constexpr std::chrono::milliseconds kDisconnectTimeout{500};
constexpr std::size_t kMaxKeyFile = 1u << 20;
constexpr int kRsaSha2Version = 0x010b00;  // libssh2 1.11.0, RELEASE-NOTES

struct SessionDeleter {
  void operator()(LIBSSH2_SESSION* s) const {
    // In non-blocking mode it would give up halfway. A host that is gone must not block this thread.
    libssh2_session_set_blocking(s, 1);
    libssh2_session_set_timeout(s, kDisconnectTimeout.count());
    libssh2_session_disconnect(s, "done");
    libssh2_session_free(s);
  }
};
struct ChannelDeleter {
  void operator()(LIBSSH2_CHANNEL* c) const { libssh2_channel_free(c); }
};
struct AgentDeleter {
  void operator()(LIBSSH2_AGENT* a) const {
    libssh2_agent_disconnect(a);
    libssh2_agent_free(a);
  }
};

std::string local_user_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry ? entry->pw_name : "root";
}

bool supports_rsa_sha2() { return libssh2_version(kRsaSha2Version) != nullptr; }

bool is_disconnected(int rc) {
  return rc == LIBSSH2_ERROR_SOCKET_DISCONNECT || rc == LIBSSH2_ERROR_SOCKET_RECV ||
         rc == LIBSSH2_ERROR_SOCKET_SEND;
}

}  // namespace

// --- the connection ---

struct SshSession::State {
  SshAddress address;
  Fd socket;
  mutable const Steady::time_point* deadline = nullptr;  // of the current call; null: none
  std::unique_ptr<LIBSSH2_SESSION, SessionDeleter> session;

  LIBSSH2_SESSION* raw() const { return session.get(); }
  std::string host_and_port() const { return fmt::format("{}:{}", address.host, address.port); }

  std::string last_error() const {
    char* text = nullptr;
    libssh2_session_last_error(raw(), &text, nullptr, 0);
    return text && *text ? text : "no reason was given";
  }
  Failure connection_error() const {
    return fail(Code::unreachable, "the SSH connection to {} broke: {}", host_and_port(), last_error());
  }

  void wait(Steady::time_point due) const {
    bool writes = (libssh2_session_block_directions(raw()) & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0;
    poll_fd(socket.get(), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), due);
  }

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

  // libssh2 reads on while bytes come, so that an endless banner (RFC 4253, 4.2) would block it past every
  // deadline.
  static ssize_t receive(libssh2_socket_t socket, void* buffer, std::size_t size, int flags, void** state) {
    if (static_cast<const State*>(*state)->is_past_deadline()) return -ECONNABORTED;
    auto n = ::recv(socket, buffer, size, flags);
    return n < 0 ? -errno : n;
  }

  Result<void> handshake(const std::vector<std::string>& key_types) const {
    auto types = fmt::format("{}", fmt::join(key_types, ","));
    libssh2_session_method_pref(raw(), LIBSSH2_METHOD_HOSTKEY, types.c_str());
    int rc = TRY(finish(Steady::now() + kConnectTimeout,
                        [&] { return libssh2_session_handshake(raw(), socket.get()); }));
    if (rc == 0) return {};
    return fail(Code::unreachable, "{} does not speak SSH with us: {}", host_and_port(), last_error());
  }

  Result<HostKey> host_key() const {
    std::size_t size = 0;
    int kind = 0;
    const char* blob = libssh2_session_hostkey(raw(), &size, &kind);
    if (!blob) return connection_error();
    return HostKey{key_type({blob, size}), {blob, size}};
  }
};

// --- logging in ---

namespace {

class Login {
 public:
  Login(const SshSession::State& state, const SshOptions& options)
      : state_(state), options_(options), user_(state.address.user) {}

  Result<void> run() {
    due_ = Steady::now() + kLoginTimeout;
    methods_ = TRY(allowed_methods());
    if (libssh2_userauth_authenticated(state_.raw()) != 0) return {};
    if (allows("publickey") && !options_.only_password && TRY(try_keys())) return {};
    if (options_.key_file.empty() && options_.private_key.empty()) {
      if (allows("password")) {
        if (TRY(try_password())) return {};
      } else if (allows("keyboard-interactive") && TRY(try_keyboard_interactive())) {
        return {};
      }
    }
    return refusal_error();
  }

 private:
  // Returns the methods that the host allows.
  Result<std::string> allowed_methods() {
    const char* methods = nullptr;
    TRY(state_.finish(due_, [&] {
      methods = libssh2_userauth_list(state_.raw(), user_.c_str(), static_cast<unsigned>(user_.size()));
      return methods ? 0 : libssh2_session_last_errno(state_.raw());
    }));
    if (!methods && libssh2_userauth_authenticated(state_.raw()) == 0) return state_.connection_error();
    return std::string(methods ? methods : "");
  }
  bool allows(std::string_view method) const {
    return fmt::format(",{},", methods_).find(fmt::format(",{},", method)) != std::string::npos;
  }

  // RSA last: the host may not accept it, and allows only some attempts.
  Result<bool> try_keys() {
    if (!options_.private_key.empty()) return try_private_key();
    if (!options_.key_file.empty()) return try_key_file(options_.key_file);
    if (TRY(try_agent("", /*rsa=*/false))) return true;
    for (auto name : {"id_ed25519", "id_ecdsa"})
      if (TRY(try_default_file(name))) return true;
    if (TRY(try_agent("", /*rsa=*/true))) return true;
    return try_default_file("id_rsa");
  }

  // Tries the agent's RSA keys, or its others. `only_blob` is the public key to use.
  Result<bool> try_agent(const std::string& only_blob, bool rsa) {
    std::unique_ptr<LIBSSH2_AGENT, AgentDeleter> agent(libssh2_agent_init(state_.raw()));
    if (!agent || libssh2_agent_connect(agent.get()) != 0 || libssh2_agent_list_identities(agent.get()) != 0)
      return false;
    libssh2_agent_publickey* key = nullptr;
    while (libssh2_agent_get_identity(agent.get(), &key, key) == 0) {
      std::string blob(reinterpret_cast<char*>(key->blob), key->blob_len);
      bool is_rsa = key_type(blob) == "ssh-rsa";
      if (is_rsa != rsa || (!only_blob.empty() && blob != only_blob)) continue;
      int rc =
          TRY(state_.finish(due_, [&] { return libssh2_agent_userauth(agent.get(), user_.c_str(), key); }));
      if (rc == 0) return true;
      TRY(remember_refusal(rc, fmt::format("the agent's key {}", key->comment ? key->comment : ""), is_rsa));
    }
    return false;
  }

  Result<bool> try_default_file(const std::string& name) {
    auto path = ssh_file(name);
    return ::access(path.c_str(), R_OK) == 0 ? try_key_file(path) : Result<bool>(false);
  }

  Result<bool> try_key_file(const std::string& path) {
    auto key_info = read_key_info(TRY(within("the SSH key", read_file(path, kMaxKeyFile))));
    bool is_rsa = key_info.type == "ssh-rsa";
    // The agent may have the unlocked key.
    if (!key_info.public_blob.empty() && TRY(try_agent(key_info.public_blob, is_rsa))) return true;
    int attempts = key_info.is_locked ? options_.passphrase_attempts : 1;
    for (int left = attempts; left > 0; --left) {
      Secret passphrase;
      if (key_info.is_locked) passphrase = TRY(request_secret(options_.passphrase, "Passphrase of " + path));
      int rc = TRY(state_.finish(due_, [&] {
        return libssh2_userauth_publickey_fromfile_ex(state_.raw(), user_.c_str(),
                                                      static_cast<unsigned>(user_.size()), nullptr,
                                                      path.c_str(), passphrase.expose().c_str());
      }));
      if (rc == 0) return true;
      bool is_unreadable = rc == LIBSSH2_ERROR_FILE || rc == LIBSSH2_ERROR_KEYFILE_AUTH_FAILED;
      if (is_unreadable && !key_info.is_locked) return unreadable_key(path);
      if (!is_unreadable) {
        TRY(remember_refusal(rc, "the key " + path, is_rsa));
        return false;
      }
    }
    return fail(Code::unauthenticated, "the passphrase does not open {}", path);
  }

  Result<bool> try_private_key() {
    const auto& text = options_.private_key.expose();
    int rc = TRY(state_.finish(due_, [&] {
      return libssh2_userauth_publickey_frommemory(state_.raw(), user_.c_str(), user_.size(), nullptr, 0,
                                                   text.c_str(), text.size(), nullptr);
    }));
    if (rc == 0) return true;
    if (rc == LIBSSH2_ERROR_FILE || rc == LIBSSH2_ERROR_KEYFILE_AUTH_FAILED) return unreadable_key("the key");
    TRY(remember_refusal(rc, "the key", read_key_info(text).type == "ssh-rsa"));
    return false;
  }

  Result<bool> try_password() {
    for (int left = options_.password_attempts; left > 0; --left) {
      auto password = TRY(request_secret(options_.password,
                                         fmt::format("Password of {} at {}", user_, state_.host_and_port())));
      const auto& text = password.expose();
      int rc = TRY(state_.finish(due_, [&] {
        return libssh2_userauth_password_ex(state_.raw(), user_.c_str(), static_cast<unsigned>(user_.size()),
                                            text.c_str(), static_cast<unsigned>(text.size()), nullptr);
      }));
      if (rc == 0) return true;
      if (is_disconnected(rc)) return state_.connection_error();
    }
    refused_.emplace_back("the password");
    return false;
  }

  // The prompts of PAM on many hosts in place of a password, RFC 4256, in the host's words.
  Result<bool> try_keyboard_interactive() {
    for (int left = options_.password_attempts; left > 0; --left) {
      prompt_error_.reset();
      *libssh2_session_abstract(state_.raw()) = this;
      int rc = TRY(state_.finish(due_, [&] {
        return libssh2_userauth_keyboard_interactive_ex(
            state_.raw(), user_.c_str(), static_cast<unsigned>(user_.size()), &Login::answer_questions);
      }));
      if (prompt_error_) return tl::unexpected(*prompt_error_);
      if (rc == 0) return true;
      if (is_disconnected(rc)) return state_.connection_error();
    }
    refused_.emplace_back("the answers to its questions");
    return false;
  }

  // A prompt without an answer leaves the others without one, and the host refuses the login.
  static void answer_questions(const char*, int, const char*, int, int count,
                               const LIBSSH2_USERAUTH_KBDINT_PROMPT* prompts,
                               LIBSSH2_USERAUTH_KBDINT_RESPONSE* responses, void** login) {
    auto& self = *static_cast<Login*>(*login);
    for (int i = 0; i < count && !self.prompt_error_; ++i) {
      std::string prompt(reinterpret_cast<const char*>(prompts[i].text), prompts[i].length);
      auto answer = self.request_secret(self.options_.password, self.local_prompt(prompt));
      if (!answer) {
        self.prompt_error_ = answer.error();
        return;
      }
      responses[i].text = ::strdup(answer->expose().c_str());
      responses[i].length = static_cast<unsigned>(answer->expose().size());
    }
  }

  // Foreign text for our terminal: without the characters that move the cursor.
  std::string local_prompt(std::string prompt) const {
    std::erase_if(prompt, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    prompt.erase(prompt.find_last_not_of(": ") + 1);
    return fmt::format("{} of {} at {}", prompt.empty() ? "Password" : prompt, user_, state_.host_and_port());
  }

  // The time that a user needs for an answer does not count.
  Result<Secret> request_secret(const std::function<Result<Secret>(const std::string&)>& question,
                                const std::string& text) {
    auto answer = question(text);
    due_ = Steady::now() + kLoginTimeout;
    if (answer || refused_.empty()) return answer;
    return within(fmt::format("{} refused {}", state_.host_and_port(), fmt::join(refused_, ", ")),
                  std::move(answer));
  }

  Result<void> remember_refusal(int rc, std::string what, bool is_rsa) {
    refused_rsa_ = refused_rsa_ || is_rsa;
    refused_.push_back(std::move(what));
    if (!is_disconnected(rc)) return {};
    return fail(Code::unauthenticated,
                "{} hung up after {}: it takes only some attempts, so name one key with --ssh-key FILE",
                state_.host_and_port(), fmt::join(refused_, ", "));
  }

  Failure unreadable_key(const std::string& path) const {
    return fail(Code::unauthenticated,
                "{} is not a private key that libssh2 reads ({}): make an ed25519 one with `ssh-keygen`, or "
                "use --ssh-transport program",
                path, state_.last_error());
  }

  Failure refusal_error() const {
    auto what =
        refused_.empty() ? "us before any key was shown" : fmt::format("{}", fmt::join(refused_, ", "));
    bool is_sha1 = refused_rsa_ && !supports_rsa_sha2();
    return fail(Code::unauthenticated, "{} does not let {} in; it refused {}. {}", state_.host_and_port(),
                user_, what,
                is_sha1 ? "An RSA key was among them: this libssh2 signs with those by SHA-1 only, which "
                          "servers of today refuse. Use an ed25519 or ecdsa key (--ssh-key FILE), or "
                          "--ssh-transport program"
                        : fmt::format("It takes {}: pass --ssh-key FILE or --ssh-password-file FILE, or use "
                                      "--ssh-transport program",
                                      methods_));
  }

  const SshSession::State& state_;
  const SshOptions& options_;
  const std::string& user_;
  Steady::time_point due_;
  std::optional<Error> prompt_error_;
  std::string methods_;
  std::vector<std::string> refused_;  // what the host refused, for the user
  bool refused_rsa_ = false;
};

// --- one command ---

class RemoteCommand {
 public:
  RemoteCommand(const SshSession::State& state, Steady::time_point due, std::size_t max_output)
      : state_(state), due_(due), max_output_(max_output) {}

  Result<ProcessResult> run(const std::string& command) {
    TRY(start(command));
    while (libssh2_channel_eof(channel_.get()) == 0) {
      TRY(read_all(0, output_.out));
      TRY(read_all(SSH_EXTENDED_DATA_STDERR, output_.err));
      if (Steady::now() >= due_)
        return fail(Code::timeout, "the command at {} did not end in time", state_.host_and_port());
      if (libssh2_channel_eof(channel_.get()) == 0) state_.wait(due_);
    }
    TRY(end());
    return std::move(output_);
  }

 private:
  Result<void> must(Result<int> rc) const {
    if (TRY(std::move(rc)) != 0) return state_.connection_error();
    return {};
  }

  Result<void> start(const std::string& command) {
    TRY(state_.finish(due_, [&] {
      channel_.reset(libssh2_channel_open_session(state_.raw()));
      return channel_ ? 0 : libssh2_session_last_errno(state_.raw());
    }));
    if (!channel_) return state_.connection_error();
    TRY(must(state_.finish(due_, [&] { return libssh2_channel_exec(channel_.get(), command.c_str()); })));
    return must(state_.finish(due_, [&] { return libssh2_channel_send_eof(channel_.get()); }));
  }

  // Reads what is available, without waiting.
  Result<void> read_all(int stream, std::string& into) {
    for (;;) {
      auto n = libssh2_channel_read_ex(channel_.get(), stream, buffer_.data(), buffer_.size());
      if (n == 0 || n == LIBSSH2_ERROR_EAGAIN) return {};
      if (n < 0) return state_.connection_error();
      into.append(buffer_.data(), static_cast<std::size_t>(n));
      if (into.size() > max_output_)
        return fail(Code::too_large, "the command at {} wrote more than {} bytes", state_.host_and_port(),
                    max_output_);
    }
  }

  // The exit status comes before the close.
  Result<void> end() {
    TRY(must(state_.finish(due_, [&] { return libssh2_channel_close(channel_.get()); })));
    TRY(must(state_.finish(due_, [&] { return libssh2_channel_wait_closed(channel_.get()); })));
    output_.exit.code = libssh2_channel_get_exit_status(channel_.get());
    char* signal = nullptr;
    libssh2_channel_get_exit_signal(channel_.get(), &signal, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (!signal) return {};
    std::string name = signal;
    libssh2_free(state_.raw(), signal);
    return fail(Code::unreachable, "the command at {} was ended by SIG{}", state_.host_and_port(), name);
  }

  const SshSession::State& state_;
  Steady::time_point due_;
  std::size_t max_output_;
  std::unique_ptr<LIBSSH2_CHANNEL, ChannelDeleter> channel_;
  std::array<char, 32768> buffer_{};
  ProcessResult output_;
};

}  // namespace

SshSession::SshSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
SshSession::SshSession(SshSession&&) noexcept = default;
SshSession& SshSession::operator=(SshSession&&) noexcept = default;
SshSession::~SshSession() = default;

namespace {

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

// The handshake, and the check of the host's key.
Result<void> verify_host(const SshSession::State& s, const SshOptions& options) {
  if (options.check_host_key) {
    TRY(s.handshake(offered_key_types({options.preferred_key_type})));
    return options.check_host_key(TRY(s.host_key()));
  }
  KnownHosts known_hosts(options.known_hosts_file);
  TRY(s.handshake(known_hosts.key_types(s.address)));
  return known_hosts.check(s.address, TRY(s.host_key()), options.accept_new_host, options.note);
}

}  // namespace

Result<void> check_ssh_host(const SshAddress& address, const SshOptions& options) {
  auto state = TRY(connect_ssh(address));
  return verify_host(*state, options);
}

Result<SshSession> SshSession::open(const SshAddress& address, const SshOptions& options) {
  SshSession out(TRY(connect_ssh(address)));
  const auto& s = *out.state_;
  TRY(verify_host(s, options));
  TRY(Login(s, options).run());
  return out;
}

Result<ProcessResult> SshSession::run(const std::string& command, std::chrono::milliseconds deadline,
                                      std::size_t max_output) {
  return RemoteCommand(*state_, Steady::now() + deadline, max_output).run(command);
}

}  // namespace dash::net
