// Keeps file descriptors 0, 1 and 2 from becoming files and sockets. Called first by every process of this binary.
#pragma once

namespace dash {

// Where the caller closed a standard stream, its number is taken by one that only fails: reading standard input and
// writing the others is EBADF, and nothing that is opened later is read as input or overwritten by messages.
void hold_standard_streams();

}  // namespace dash
