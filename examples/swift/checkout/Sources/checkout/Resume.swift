import Kassa

/// Recovers everything unfinished, including payments of a crashed process: for the start of a server, and repeatedly.
func resume() async throws {
    let gateway = try openShop()
    for try await recovered in try gateway.recover() {
        switch recovered {
        case .payment(let entry) where entry.state == .charged: try await deliver(entry.payment, by: gateway)
        case .payment(let entry) where entry.state == .rejected: print("not paid:", entry.id, entry.reason ?? "")
        case .payment, .unreadable: print("a person should look:", recovered)
        }
    }
    // Not yet paid, and pages whose payer has not come back.
    for try await case .payment(let entry) in gateway.unfinished() { print("still pending:", entry.id) }
}
