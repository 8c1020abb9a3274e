// Whether somebody writes to a directory, found out without a lock of one's own.
#pragma once

#include <filesystem>

namespace anesi {

// Whether a DirectoryLock on it is held, by this process or another. Asks the system's list of locks (Linux), so that
// nobody who wants the lock at the same moment is kept from it. False where the system does not tell.
bool is_locked(const std::filesystem::path& directory);

}  // namespace anesi
