// What Landlock below ABI 3 (Linux before 6.2) lets through, refused by a filter of system calls: truncate(2),
// and open(2) that truncates without the right to write, which alone Landlock checks. A filter cannot read the
// flags of openat2(2) and sees nothing of io_uring(7), so both are refused as unknown. Callers fall back.
#pragma once

namespace dash::net {

// The first ABI whose rules cover truncate.
inline constexpr int kTruncateAbi = 3;

// Filters this process and its children for good; it must have no new privileges (prctl(2)). Returns false,
// with errno, when the kernel refuses, and on a processor that this program has no table for.
bool refuse_truncate();

}  // namespace dash::net
