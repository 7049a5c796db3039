import Kassa

/// Four payments, from request to final status.
enum AllCommand {
    /// Runs them one after the other, so that each can be read. What cannot even begin ends the run, and hides nothing of what was
    /// paid before.
    static func run(_ shop: Shop, _ given: Given) async throws -> Ended {
        try refuseRobotsAbroad(shop)
        shop.introduce()
        let given = given.without(PaymentOptions.otp)
        let flows: [(String, () async throws -> Report)] = [
            ("Card with 3DS", { try await CardFlow.run(shop, given) }),
            ("MBank with a one-time password", { try await MbankFlow.run(shop, given) }),
            // The phone is the MBank payer's, and the pay-form's option has the same name.
            ("Pay-form: the payer picks how to pay", { try await PayFormFlow.run(shop, given.without(MbankOptions.phone)) }),
            ("Dynamic QR code", { try await QrFlow.run(shop, given) }),
        ]
        var reports: [Report] = []
        var failure: (any Error)?
        for (place, (title, flow)) in flows.enumerated() where failure == nil {
            shop.narrator.title("\(place + 1)/\(flows.count)  \(title)")
            do {
                reports.append(try await flow())
            } catch {
                if reports.isEmpty { throw error }
                shop.narrator.warn("error", "\(error.kind): \(error.localizedDescription)")
                failure = error
            }
        }
        let failed = failure.map { max(ExitCode.notAsExpected, $0.exitCode == ExitCode.notKnown ? ExitCode.notKnown : 0) }
        let code = ExitCode.worst(reports.map(exitCode) + [failed].compactMap { $0 })
        shop.narrator.print("\n\(Table.of(reports))")
        shop.narrator.print(
            code == ExitCode.asExpected
                ? "\nAll four payments ended as expected: charged, each with a callback that was checked."
                : "\nNot every payment ended as expected.")
        var body: [String: JSON] = ["flows": JSON(reports.map { .object(Output.report($0)) })]
        body["error"] = failure.map(Output.error)
        return Ended(code, body)
    }

    /// On a real gateway only a person can be the payer.
    private static func refuseRobotsAbroad(_ shop: Shop) throws {
        if !shop.payer.isRobot, !shop.isInteractive {
            throw Failure.usage(
                "`all` on a gateway that is not on this machine needs a person to be the payer: add --interactive, and give your own "
                    + "test card and phone")
        }
        _ = try shop.requiredCallbackURL("")
    }

    /// Charged is not enough here: the callback must have arrived and been checked.
    private static func exitCode(of report: Report) -> Int32 {
        guard report.exitCode == ExitCode.asExpected else { return report.exitCode }
        return report.outcome == .charged && report.hasGoodCallback ? ExitCode.asExpected : ExitCode.notAsExpected
    }
}
