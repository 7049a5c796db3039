import Kassa

/// Queries a payment once by its stored reference: for a support desk, which delivers nothing.
func check(_ stored: String) async throws {
    switch try await openShop().check(PaymentRef(stored)) {
    case .charged(let payment, _, _): print("charged:", payment)
    case .rejected(_, let report): print("not paid:", report.reason ?? "")
    case .pending: print("still pending")
    case .mismatch(_, let fields, _): print("a person should look, these differ:", fields)
    case .unverifiable(_, let why, _): print("a person should look:", why)
    }
}
