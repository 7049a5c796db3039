import Foundation
import Kassa

/// Remembers the payment that is open, also where the system kills the app without a word.
public protocol OpenPayment: Sendable {
    /// The payment that was not over when it was last heard of.
    ///
    /// - Throws: Where something is stored and cannot be read. Nothing may be paid then: it could be a payment.
    func read() throws -> PaymentEntry?

    /// When this returns, it is on the disk.
    func write(_ payment: PaymentEntry?) throws
}

/// In a file, such as one in the app's folder for application support. A `PaymentEntry` has no secret in it, but the
/// address of the bank's page, which is nobody else's business.
public struct StoredPayment: OpenPayment {
    private let file: URL

    public init(in file: URL) {
        self.file = file
    }

    public func read() throws -> PaymentEntry? {
        do {
            let text = try String(contentsOf: file, encoding: .utf8)
            return text.isEmpty ? nil : try PaymentEntry(text)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }

    public func write(_ payment: PaymentEntry?) throws {
        let text = Data((payment?.description ?? "").utf8)
        try text.write(to: file, options: .atomic)
        // UserDefaults would be written some time later.
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        try handle.synchronize()
    }
}
