// ImportPacker: sorts the input into packs, and distributes these to lanes.
//
// Layer:   tools.
// Threads: one.

#pragma once

#include "codec/json/document.h"
#include "core/interactions/history_bundle_entry.h"
#include "tools/commands/import_lane.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace annals::tools {

/// Takes resources, history entries and Bundles of every type.
///
/// Resources with the same id go to the same lane, in order. History keeps the order of the input, on the first
/// lane, after everything read before it. A Bundle of type batch, transaction or history is carried out;
/// of a collection, searchset or response, the contained resources are taken; a document or message is stored
/// as a Bundle.
class ImportPacker {
  public:
    /// Lifetime: lanes and report outlive the packer.
    ImportPacker(std::vector<std::unique_ptr<ImportLane>>& lanes, ImportReport& report);

    /// Takes one text. `bundles_are_resources`: store Bundles as they are, for an exported Bundle.ndjson.
    void take(std::string_view text, const Origin& origin, bool bundles_are_resources);

    /// Pushes incomplete packs, and waits until everything is answered.
    void finish();

  private:
    void take_bundle(json::Value bundle, const Origin& origin);
    void take_history_bundle(json::Value bundle, const Origin& origin);
    void take_resource(json::Value resource, const Origin& origin);
    void take_history_entry(std::string entry, const Origin& origin);
    void add(std::size_t lane, Pack::Kind kind, std::string text, const Origin& origin);
    void push(std::size_t lane);
    void leave_history(bool history);

    std::vector<std::unique_ptr<ImportLane>>& lanes_;
    ImportReport& report_;
    json::Parser parser_{core::kLineDepthMax};
    std::vector<Pack> open_;
    std::size_t next_lane_ = 0;
    std::string last_instant_;                     ///< of the versions in history Bundles
    std::unordered_set<std::uint64_t> deletions_;  ///< in history Bundles: hashes of their entries
    bool in_history_ = false;
};

}  // namespace annals::tools
