// Limits of what one client may cost. Every number has its reason here; tests make them tiny.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace dash::daemon {

struct Limits {
  // 16 KiB holds a 4 KiB token, a long cookie and a proxy's additions; nginx's default is 8 KiB a line.
  std::size_t head_bytes = 16u << 10;
  std::chrono::milliseconds head_time{30'000};
  // The caller is authenticated by the header section, and once more when the body took longer than this to
  // arrive: a session may end meanwhile.
  std::chrono::milliseconds caller_age{1'000};
  // Between requests of a kept connection: nginx keeps upstream connections 60 s.
  std::chrono::milliseconds idle_time{60'000};
  // Without a byte of a body or of a response for so long, the other side is gone.
  std::chrono::milliseconds stall_time{30'000};
  // A slow client must not hold a buffer for hours: at least this much in each window, both ways.
  std::uint64_t floor_bytes_per_second = 1024;
  // A part holds one of few buffers: 8 MiB take nine minutes at the slowest, not two hours.
  std::uint64_t part_floor_bytes_per_second = 16u << 10;
  std::chrono::milliseconds floor_window{30'000};
  // Small bodies of all requests together: a few imports of 60,000 keys at once, not 900 of them. One user
  // may send a large import and go on working; many users may share one network.
  std::uint64_t small_bodies_bytes = 256u << 20;
  std::uint64_t small_bodies_per_user = 96u << 20;
  std::uint64_t small_bodies_per_network = 192u << 20;
  // Logins and claims of unknown callers: as much as all connections could send, so that none can exhaust it.
  std::uint64_t sign_in_bodies_bytes = 64u << 20;
  // Bodies of agents: the logs of a dozen at once. Many agents may share one network.
  std::uint64_t agent_bodies_bytes = 64u << 20;
  std::uint64_t agent_bodies_per_network = 48u << 20;
  // A part waits so long for a buffer with its socket unread, then it gets 503.
  std::chrono::milliseconds part_timeout{10'000};
  // A client that reads nothing of a download for so long loses its buffer to other downloads.
  std::chrono::milliseconds release_time{1'000};
  // After an early refusal the server reads and drops so much, for so long, so that the client reads the
  // status and not a reset. Many clients look for the status only when they have sent their whole body.
  std::uint64_t drop_bytes = 256u << 20;
  std::chrono::milliseconds drop_time{5'000};
  // A connection costs a few KiB when idle, and 64 KiB more while a request is read.
  std::size_t connections = 2'000;
  // Beside them: 2,000 leases of agents and as many followers of event streams that wait. Each costs a descriptor
  // and a few KiB.
  std::size_t parked_connections = 4000;
  // Above them, for /livez and /readyz. Each must send its header section within this time.
  std::size_t extra_connections = 16;
  std::chrono::milliseconds extra_head_time{2'000};
  // At the end, a client that has connected and sent nothing yet gets so long: its request may be on its way.
  std::chrono::milliseconds first_request_time{1'000};
  // SIGTERM to exit: systemd kills after 90 s, container runtimes often after 30 s.
  std::chrono::milliseconds drain_time{25'000};
};

}  // namespace dash::daemon
