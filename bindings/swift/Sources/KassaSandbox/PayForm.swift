import Foundation

extension Sandbox {
    /// Pays on the pay-form, as a payer with that wallet does; the address that the payer is sent back to, if any.
    ///
    /// - Parameters:
    ///   - pageURL: The address of the pay-form.
    ///   - phone: The payer's wallet.
    /// - Throws: ``SandboxError/notPayable(detail:)`` if the form does not take this phone, or is paid already.
    @discardableResult
    public nonisolated func payByForm(_ pageURL: String, phone: TestPhone = .mbankApproved) async throws -> String? {
        guard let wallet = try await submit(pageURL, "provider=\(phone.provider.rawValue)&phone=\(phone.phone)") else {
            throw SandboxError.notPayable(detail: "the pay-form does not take this phone, or is paid already")
        }
        return try await submit(wallet, "otp=\(phone.otp)")
    }

    /// Submits a form as a browser does; the address that it leads to.
    private nonisolated func submit(_ page: String, _ form: String) async throws -> String? {
        guard page.hasPrefix("\(baseURL)/"), let url = URL(string: page), let port = url.port else {
            throw SandboxError.notPayable(detail: "this is no page of the sandbox")
        }
        let target = "POST \(url.path(percentEncoded: true))?\(url.query(percentEncoded: true) ?? "")"
        return try await LoopbackHTTP.exchange(
            port: port, target, headers: ["Content-Type: application/x-www-form-urlencoded"], body: Data(form.utf8)
        ).location
    }
}
