import Foundation
import Kassa

/// One payment that this program has begun.
struct Entry: Codable, Sendable {
    /// Where a payment stands, as far as this program knows.
    enum State: String, Codable {
        /// It may be anywhere between sent and paid: ask.
        case open
        case charged, rejected
        /// The gateway never took it on: nothing happened.
        case notMade = "not_made"
        /// It was made in a sandbox that kept it in memory, and ended with it.
        case gone
    }

    /// This program's own reference, which is in the query of the callback and return URLs.
    let reference: String
    /// The text form of the payment's reference: its numbers, and the amount that was asked for.
    var payment: String
    /// Which gateway it was made with.
    let gateway: String
    /// When it was begun, in seconds since 1970.
    let begun: Int
    var state: State

    func paymentRef() throws -> PaymentRef {
        do {
            return try PaymentRef(payment)
        } catch {
            throw Failure.state("the state file holds \"\(payment)\", which is no PaymentRef")
        }
    }
}

/// The payments this program has begun, in a file: written before anything is sent, marked when it is over.
///
/// The file is replaced in one step (a temporary file, then a rename), and a lock keeps two programs from losing each other's
/// payments. It holds references, numbers and amounts, and no secret. The checkout in Rust writes the same file.
struct Store: Sendable {
    let path: String
    private static let version = 1
    /// How many payments that are over are kept, for people who want to look.
    private static let kept = 100

    private struct Contents: Codable {
        let version: Int
        var payments: [Entry]
    }

    /// Every payment in it, oldest first.
    func entries() throws -> [Entry] { try read().payments }

    /// Puts a payment in. **When this returns, it is on the disk.**
    func add(_ entry: Entry) throws {
        try change { payments in
            payments.append(entry)
            var surplus = max(0, payments.count { $0.state != .open } - Self.kept)
            payments.removeAll { entry in
                guard entry.state != .open, surplus > 0 else { return false }
                surplus -= 1
                return true
            }
        }
    }

    /// Changes the payment with a reference; where there is none, nothing happens.
    func update(_ reference: String, _ change: (inout Entry) -> Void) throws {
        try self.change { payments in
            if let index = payments.lastIndex(where: { $0.reference == reference }) { change(&payments[index]) }
        }
    }

    /// Gives a payment the number that its callback or return has told, unless another payment of the gateway has it: one payment pays
    /// for one order. True where it is given; where it is not, nothing is changed.
    func claim(_ payment: PaymentRef, for reference: String, gateway: String) throws -> Bool {
        var isFree = true
        try change { payments in
            isFree = !payments.contains { entry in
                guard entry.reference != reference, entry.gateway == gateway, let taken = try? entry.paymentRef() else { return false }
                return taken.hasNumber(of: payment)
            }
            if isFree, let index = payments.lastIndex(where: { $0.reference == reference }) {
                payments[index].payment = payment.description
            }
        }
        return isFree
    }

    private func change(_ change: (inout [Entry]) -> Void) throws {
        try reportingFailure {
            let lock = open(path + ".lock", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
            guard lock >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            defer { close(lock) }
            try check(flock(lock, LOCK_EX))
            var contents = try read()
            change(&contents.payments)
            try write(contents)
        }
    }

    private func read() throws -> Contents {
        try reportingFailure {
            let text: Data
            do {
                text = try Data(contentsOf: URL(filePath: path))
            } catch CocoaError.fileReadNoSuchFile {
                return Contents(version: Self.version, payments: [])
            }
            let contents = try JSONDecoder().decode(Contents.self, from: text)
            guard contents.version == Self.version else {
                throw Failure.state("the state file \(path) has version \(contents.version), not \(Self.version)")
            }
            return contents
        }
    }

    private func write(_ contents: Contents) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .withoutEscapingSlashes, .sortedKeys]
        let text = try encoder.encode(contents) + Data("\n".utf8)
        let temporary = path + ".new"
        let file = open(temporary, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        try check(file)
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: text)
        try handle.synchronize()
        try handle.close()
        try check(rename(temporary, path))
        // The rename itself is to outlive a power cut.
        let folder = open(URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
        try check(folder)
        defer { close(folder) }
        try check(fsync(folder))
    }

    private func check(_ result: Int32) throws {
        if result < 0 { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    private func reportingFailure<Answer>(_ work: () throws -> Answer) throws -> Answer {
        do {
            return try work()
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure.state("the state file \(path) cannot be used: \(error.localizedDescription)")
        }
    }
}

extension PaymentRef {
    fileprivate func hasNumber(of other: PaymentRef) -> Bool {
        (orderNumber != nil && orderNumber == other.orderNumber)
            || (transactionID != nil && transactionID == other.transactionID)
    }
}
