import Foundation
import Kassa
import KassaStage

/// A folder of its own for a journal, inside a temporary one, so that the journal makes it.
final class JournalFolder: Sendable {
    private let root = FileManager.default.temporaryDirectory.appending(path: "kassa-\(UUID())", directoryHint: .isDirectory)

    var folder: URL { root.appending(path: "journal", directoryHint: .isDirectory) }

    deinit { try? FileManager.default.removeItem(at: root) }

    func open() throws -> Journal { try Journal(folder: folder) }

    /// Writes a file, and the folders above it.
    func write(_ text: String, to path: String) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: false, encoding: .utf8)
    }

    /// Everything in its files.
    func text() throws -> String {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
            .map { folder.appending(path: $0) }
            .filter { try !$0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory! }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    }

    /// A vector's step on files; nil where the name is none of theirs.
    func step(_ name: String, _ input: JSON) throws -> Came? {
        switch name {
        case "write_in_journal": try write(input["text"].text, to: input["path"].text)
        case "lose_journal": try FileManager.default.removeItem(at: folder)
        case "journal_text": return .answer(try text())
        default: return nil
        }
        return .nothing
    }
}

/// All that an iteration yields.
func listed(_ entries: UnfinishedEntries) async throws -> [Unfinished] {
    var all: [Unfinished] = []
    for try await item in entries { all.append(item) }
    return all
}
