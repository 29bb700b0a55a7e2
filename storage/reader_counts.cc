#include "storage/reader_counts.h"

#include <thread>

namespace annals::storage {

void ReaderCounts::await_none() const noexcept {
    // One after the other: a reader that counts itself in from here on finds the replacement.
    for (const Count& count : counts_) {
        while (count.readers.load() != 0) {
            std::this_thread::yield();
        }
    }
}

}  // namespace annals::storage
