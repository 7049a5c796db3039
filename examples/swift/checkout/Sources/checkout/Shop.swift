import Foundation
import Kassa

/// The gateway from the environment, with a journal: each payment and its purpose are on the disk before it is sent.
func openShop() throws -> Gateway {
    let journal = try Journal(folder: URL(filePath: setting("CHECKOUT_JOURNAL")))
    return try Gateway(.fromEnvironment(), journal: journal).withNote("Two coffees")
}

// docs: begin follow
/// Polls a payment until it is final. After an interruption, run `checkout resume`.
func follow(_ payment: PaymentRef, by gateway: Gateway) async throws {
    fflush(nil)  // the payer sees the page, also where a program reads what is printed
    try await act(on: gateway.watch(payment).outcome(), by: gateway)
}

/// Handles a verdict, however it was obtained.
func act(on verdict: Verdict?, by gateway: Gateway) async throws {
    switch verdict {
    case .charged(let payment, _, _): try await deliver(payment, by: gateway)
    case .rejected: print("not paid")
    case .pending: print("still pending: checkout resume asks on")
    case .mismatch, .unverifiable: print("a person should look:", verdict!)
    case nil: print("stopped asking: checkout resume asks on")
    }
}
// docs: end follow

/// Delivers the goods; a shop would mark its cart as paid here. **Make it idempotent**.
func deliver(_ payment: PaymentRef, by gateway: Gateway) async throws {
    guard let entry = try await gateway.journal?.entry(payment) else { return print("no payment of ours:", payment) }
    print("paid, deliver:", entry.note ?? "", entry.id)
    try await gateway.finish(entry)
}

/// A required setting.
func setting(_ name: String) throws -> String {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
        throw PaymentError.misconfigured(detail: "\(name) must be set")
    }
    return value
}

/// Reads a line from the user.
func ask(_ question: String) -> String {
    print("\(question):")
    fflush(nil)
    return readLine() ?? ""
}
