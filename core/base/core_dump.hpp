// Keeps secrets in memory out of core files. Called first by every process of this binary.
#pragma once

namespace dash {

// No core file is written of this process, nor of a program that it executes, and processes of the same user may
// not read its memory. A debugger needs root.
void forbid_core_dumps();

}  // namespace dash
