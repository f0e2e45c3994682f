#include "core/net/ssh/ssh_login.hpp"

#include <string.h>
#include <unistd.h>

#include <optional>

#include "core/base/file.hpp"
#include "core/net/ssh/ssh_host.hpp"
#include "core/net/ssh/ssh_key.hpp"

namespace dash::net {
namespace {

constexpr std::chrono::seconds kLoginTimeout{60};
constexpr std::size_t kMaxKeyFile = 1u << 20;

struct AgentDeleter {
  void operator()(LIBSSH2_AGENT* a) const {
    libssh2_agent_disconnect(a);
    libssh2_agent_free(a);
  }
};

class Login final : public PromptAnswers {
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
      state_.prompt_answers = this;
      auto answered = state_.finish(due_, [&] {
        return libssh2_userauth_keyboard_interactive_ex(state_.raw(), user_.c_str(),
                                                        static_cast<unsigned>(user_.size()),
                                                        &SshSession::State::answer_prompts);
      });
      state_.prompt_answers = nullptr;
      int rc = TRY(std::move(answered));
      if (prompt_error_) return tl::unexpected(*prompt_error_);
      if (rc == 0) return true;
      if (is_disconnected(rc)) return state_.connection_error();
    }
    refused_.emplace_back("the answers to its questions");
    return false;
  }

  // A prompt without an answer leaves the others without one, and the host refuses the login.
  void answer(int count, const LIBSSH2_USERAUTH_KBDINT_PROMPT* prompts,
              LIBSSH2_USERAUTH_KBDINT_RESPONSE* responses) override {
    for (int i = 0; i < count && !prompt_error_; ++i) {
      std::string prompt(reinterpret_cast<const char*>(prompts[i].text), prompts[i].length);
      auto answer = request_secret(options_.password, local_prompt(prompt));
      if (!answer) {
        prompt_error_ = answer.error();
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

}  // namespace

Result<void> log_in(const SshSession::State& state, const SshOptions& options) {
  return Login(state, options).run();
}

}  // namespace dash::net
